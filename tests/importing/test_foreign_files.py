"""Brokers' files in other currencies come into pounds: by the file's rate, a recorded one, or HMRC's, which is told."""

import csv
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

import gatewayd.ledger
from tests.importing import broker_files as files
from tests.importing.brokerage import Brokerage, Open, opener
from tests.importing.conftest import ORG


@pytest.fixture
def open_brokerage(database_image: bytes, tmp_path: Path) -> Open:
    return opener(database_image, tmp_path)


MULTI = """\
Trade Date,Action,Ticker,Quantity,Price,Amount,Currency
13/01/2025,Buy,ABC,10,100.00,1000.00,USD
20/02/2025,Buy,DEF,5,100.00,500.00,EUR
21/02/2025,Buy,GHI,5,100.00,500.00,GBP
25/02/2025,Buy,JKL,1,100.00,100.00,USD
26/02/2025,Buy,MNO,1,100.00,100.00,VUV
"""


def published() -> Mapping[tuple[str, str], Decimal]:
    """What HMRC published: units of a currency for 1 pound, by month and currency."""
    path = Path(gatewayd.ledger.__file__).with_name("exchange") / "hmrc_rates.tsv"
    lines = [line for line in path.read_text("ascii").splitlines() if not line.startswith("#")]
    found = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        period = row.pop("period")
        found |= {(period, currency): Decimal(units) for currency, units in row.items() if units}
    return found


def pounds(amount: str, month: str, currency: str) -> str:
    """An amount in pounds, at the rate of its month."""
    return str((Decimal(amount) / published()[month, currency]).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))


async def in_pounds(one: Brokerage, account: str) -> dict[str, str]:
    """The gross amounts in pounds, by day."""
    return {row["tradeDate"]: row["grossBase"] for row in await one.listed(account) if row["grossBase"] is not None}


async def test_what_has_no_rate_takes_that_which_hmrc_published(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        preview = await one.bring(account, MULTI, preview=True)
        run = await one.importing.apply(ORG, preview.id, "broker")
        assert (run.rows, run.added, run.refused_rows) == (5, 4, 1)
        assert await in_pounds(one, account) == {
            "2025-01-13": pounds("1000", "2025-01", "USD"),
            "2025-02-20": pounds("500", "2025-02", "EUR"),
            "2025-02-21": "500.00",
            "2025-02-25": pounds("100", "2025-02", "USD"),
        }
        assert [(said.field, said.value, said.reason) for said in run.supposed] == [
            ("fxRate", "EUR/GBP", "1 row has no rate from EUR to GBP: HMRC's of the month is taken, of 2025-02."),
            (
                "fxRate",
                "USD/GBP",
                "2 rows have no rate from USD to GBP: HMRC's of the month is taken, of 2025-01 to 2025-02.",
            ),
        ]
        assert preview.supposed == run.supposed
        assert [(line.line, "VUV" in line.reason) for line in run.refused] == [(6, True)]  # HMRC has none: it is asked


async def test_an_account_of_trading_212_in_euros(open_brokerage: Open) -> None:
    """Its rate is that from euros to the currency of the price, and none to pounds."""
    async with open_brokerage() as one:
        account = await one.account(currency="EUR")
        run = await one.bring(account, files.TRADING_212.replace("GBP", "EUR").replace("GBX", "USD"))
        assert (run.added, run.refused_rows, run.ignored_rows) == (8, 1, 1)
        found = await in_pounds(one, account)
        assert found["2024-05-01"] == pounds("10000", "2024-05", "EUR")
        assert found["2024-05-02"] == pounds("1200", "2024-05", "EUR")
        assert [said.value for said in run.supposed] == ["EUR/GBP"]
        assert "7 rows have no rate" in run.supposed[0].reason


async def test_a_recorded_rate_goes_before_and_is_told(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        await one.record_rate("USD", "0.75", "2025-01-10")
        run = await one.bring(account, MULTI)
        assert (await in_pounds(one, account))["2025-01-13"] == "750.00"
        assert [said.reason for said in run.supposed if said.value == "USD/GBP"] == [
            "1 row has no rate from USD to GBP: HMRC's of the month is taken, of 2025-02.",
            "1 row has no rate from USD to GBP: the recorded one is taken, of 2025-01-10.",
        ]


async def test_what_has_a_rate_of_its_own_is_not_told(open_brokerage: Open) -> None:
    async with open_brokerage() as one:
        account = await one.account()
        run = await one.bring(account, files.FLEX, file_name="flex.xml")
        assert (run.added, run.supposed) == (5, [])
        pounds_alone = await one.account(name="Pounds")
        assert (await one.bring(pounds_alone, files.FREETRADE)).supposed == []
