"""Further brokers' exports come into an account: what is held and in cash is known to the penny."""

from pathlib import Path

import pytest

from gatewayd.importing.operations import mapping_of
from tests.importing import more_broker_files as files
from tests.importing.brokerage import Open, opener


@pytest.fixture
def open_brokerage(database_image: bytes, tmp_path: Path) -> Open:
    return opener(database_image, tmp_path)


async def test_an_export_of_schwab(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account(currency="USD")
        run = await one.bring(account, files.SCHWAB)
        assert (run.profile, run.rows, run.added, run.ignored_rows) == ("schwab", 11, 9, 1)
        assert [(kind.kind, kind.first_line) for kind in run.ignored] == [("total", 13)]
        assert [line.line for line in run.refused] == [9]  # how many there were before is not told
        # 5000 - 30 + 1.63 - 1500 + 2.50 - 0.38 + 28.50 - 28.50 + 799
        assert await one.cash(account) == {"USD": "4272.75"}
        assert (await one.positions(account)).keys() == {"AAPL", "SPY"}
        listed = {row["type"]: row for row in await one.listed(account)}
        assert (listed["buy"]["tradeDate"], listed["withdrawal"]["netAmount"]) == ("2024-08-14", "-30.00")
        assert (listed["sell"]["grossAmount"], listed["sell"]["fees"]) == ("800.00", "1.00")
        assert [said.value for said in run.supposed] == ["USD/GBP"]


async def test_an_export_of_investengine(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.INVESTENGINE)
        assert (run.profile, run.rows, run.added, run.from_date) == ("investengine", 2, 2, "2025-03-04")
        assert await one.positions(account) == {"Foo All-World": ("6", "600.00")}
        assert await one.cash(account) == {"GBP": "-560.00"}
        listed = await one.listed(account)
        assert {row["settlementDate"] for row in listed} == {"2025-03-06", "2025-05-02"}


async def test_an_export_of_degiro(open_brokerage: Open) -> None:
    """With decimal commas, an id under no heading that fills of one order share, and costs in what was paid."""
    async with open_brokerage() as one:
        account = await one.account(currency="EUR")
        run = await one.bring(account, files.DEGIRO)
        assert (run.profile, run.rows, run.added, run.refused_rows) == ("degiro_transactions", 4, 4, 0)
        # -924.30 - 401 - 100 + 179
        assert await one.cash(account) == {"EUR": "-1246.30"}
        bought = [row for row in await one.listed(account) if row["type"] == "buy"]
        assert [(row["grossAmount"], row["fees"], row["currency"]) for row in bought] == [
            ("100.00", "0.00", "EUR"),
            ("400.00", "1.00", "EUR"),
            ("920.00", "4.30", "EUR"),
        ]


async def test_an_earlier_export_of_degiro_in_pence(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.DEGIRO_BEFORE)
        assert (run.profile, run.added) == ("degiro_transactions", 1)
        assert await one.positions(account) == {"FOO PLC": ("100", "72.00")}
        (bought,) = await one.listed(account)
        assert (bought["unitPrice"], bought["grossAmount"], bought["currency"]) == ("0.7", "70.00", "GBP")


async def test_an_export_of_etoro(open_brokerage: Open) -> None:
    """What is of a contract for difference is refused: nobody owns anything by it."""
    async with open_brokerage() as one:
        account = await one.account(currency="USD")
        run = await one.bring(account, files.ETORO)
        assert (run.profile, run.rows, run.added) == ("etoro", 8, 6)
        assert [(line.line, line.reason) for line in run.refused] == [
            (6, "It is of a contract for difference, which is not kept."),
            (7, "It is of a contract for difference, which is not kept."),
        ]
        # 1000 - 500 + 0.17 + 150 - 100 + 0.08
        assert await one.cash(account) == {"USD": "550.25"}
        assert (await one.positions(account))["AMD"][0] == "3"


async def test_an_export_of_coinbase(open_brokerage: Open) -> None:
    """What was staked, exchanged or sent is told; what it was, the person says."""
    async with open_brokerage() as one:
        account = await one.account(type="crypto")
        run = await one.bring(account, files.COINBASE)
        assert (run.profile, run.rows, run.added) == ("coinbase", 6, 3)
        assert [(line.line, line.reason.partition(":")[0]) for line in run.refused] == [
            (7, "It is not known what 'Staking Income' is"),
            (9, "It is not known what 'Convert' is"),
            (10, "It is not known what 'Send' is"),
        ]
        # 1000 - 345 + 158.50
        assert await one.cash(account) == {"GBP": "813.50"}
        assert await one.positions(account) == {"BTC": ("0.006", "207.00")}
        words = mapping_of('{"words":{"Staking Income":"interest","Send":"excluded"}}')
        again = await one.bring(account, files.COINBASE, mapping=words)
        assert (again.added, again.duplicates, again.ignored_rows, again.refused_rows) == (1, 3, 1, 1)
        assert await one.cash(account) == {"GBP": "817.50"}


async def test_what_was_said_of_words_is_remembered_for_the_profile(open_brokerage: Open) -> None:
    """What is said later of other words stands beside it, and other brokers' files know nothing of it."""
    async with open_brokerage() as one:
        staking = mapping_of('{"words":{"Staking Income":"interest"}}')
        await one.bring(await one.account(), files.COINBASE, mapping=staking)
        later = await one.bring(await one.account(name="Later"), files.COINBASE)
        assert (later.added, later.refused_rows) == (4, 2)
        assert later.mapping is not None
        assert later.mapping.words == {"Staking Income": "interest"}
        sent = mapping_of('{"words":{"Send":"excluded"}}')
        both = await one.bring(await one.account(name="Both"), files.COINBASE, mapping=sent)
        assert (both.added, both.ignored_rows, both.refused_rows) == (4, 1, 1)
        last = await one.bring(await one.account(name="Last"), files.COINBASE)
        assert (last.added, last.ignored_rows, last.refused_rows) == (4, 1, 1)
        other = await one.bring(await one.account(name="Other"), files.INVESTENGINE)
        assert other.mapping is not None
        assert other.mapping.words == {}


async def test_a_flex_query_as_csv(open_brokerage: Open) -> None:
    """The same rows as the XML has come to the same."""
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FLEX_CSV)
        assert (run.format, run.profile, run.added) == ("csv", "ibkr_flex", 3)
        assert [(line.line, line.reason) for line in run.refused] == [
            (12, "'n/a' does not say which is the day: have the query write dates as yyyy-MM-dd."),
        ]
        # (1502.50 + 1.50) x 0.8
        assert await one.positions(account) == {"AAPL": ("10", "1203.20")}
        assert await one.cash(account) == {"GBP": "3000.00", "USD": "-1501.50"}
        kinds = {kind.kind: (kind.rows, kind.first_line) for kind in run.ignored}
        assert kinds == {"total": (1, 5), "heading": (7, 7), "list": (1, 14)}
        assert run.rows == run.added + run.refused_rows + run.ignored_rows == 13
        assert run.supposed == []


async def test_a_flex_query_as_csv_that_does_not_tell_the_base_currency(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FLEX_CSV_OF_TRADES)
        assert (run.rows, run.added, [line.line for line in run.refused]) == (3, 2, [4])
        assert [said.value for said in run.supposed] == ["USD/GBP"]
        other = files.FLEX_CSV.replace('"GBP","1"', '"USD","1"')
        told = await one.bring(await one.account(name="Other"), other)
        assert "USD/GBP" in [said.value for said in told.supposed]  # its base is the dollar, and 1 is no rate to pounds
