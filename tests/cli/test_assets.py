"""`gatewayd asset`: on a store in a file, at the time that it is."""

from pathlib import Path

import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from tests.cli.conftest import Run
from tests.support.store import make_caller


@pytest.fixture
def entity_id(config_file: Path, org_id: str) -> str:
    """A person."""
    request = CreateLegalEntity(name="Ash", type="individual")
    context = Context(str(config_file), {}, SystemClock())
    return context.write(lambda tx: create_legal_entity(tx, make_caller(org_id), request), org_id).id


@pytest.fixture
def portfolio_id(run: Run, org_id: str, entity_id: str) -> str:
    made = run("asset", "portfolio", "create", "--org", org_id, "--entity", entity_id, "--name", "Savings", "--json")
    return str(made.document["id"])


@pytest.fixture
def account_id(run: Run, portfolio_id: str) -> str:
    return str(run("asset", "account", "create", portfolio_id, "--name", "Broker", "--json").document["id"])


def test_portfolios_and_accounts_are_made_and_listed(run: Run, org_id: str, portfolio_id: str, account_id: str) -> None:
    (portfolio,) = run("asset", "portfolio", "list", "--org", org_id, "--json").document
    assert (portfolio["id"], portfolio["baseCurrency"]) == (portfolio_id, "GBP")
    made = run("asset", "account", "create", portfolio_id, "--name", "ISA", "--wrapper", "isa", "--allow-short")
    assert (made.document["taxWrapper"], made.document["allowShort"]) == ("isa", True)
    found = run("asset", "account", "list", "--org", org_id, "--portfolio", portfolio_id, "--json").document
    assert [account["id"] for account in found] == [made.document["id"], account_id]
    text = run("asset", "account", "list", "--org", org_id).out
    assert text.splitlines()[0].split("\t") == ["id", "name", "type", "wrapper", "currency", "status"]


def test_what_a_distribution_and_a_stock_dividend_are_is_told(run: Run, account_id: str) -> None:
    add = ("asset", "transaction", "add", account_id)
    of = ("--date", "2026-05-01", "--symbol", "VOD", "--mic", "XLON")
    run(*add, "buy", *of, "--quantity", "500", "--price", "10")
    untold = run(*add, "return_of_capital", *of, "--amount", "3500")
    assert [one["code"] for one in untold.document["warnings"]] == ["distribution_value_unknown"]
    assert "needs remainingValue" in untold.err
    told = run(*add, "return_of_capital", *of, "--amount", "3500", "--remaining-value", "500").document
    assert (told["remainingValue"], told["warnings"]) == ("500.00", untold.document["warnings"][:0])
    told = run(*add, "return_of_capital", *of, "--amount", "35", "--small-distribution", "yes").document
    assert told["smallDistribution"] is True
    shares = ("--quantity", "1", "--price", "10")
    told = run(*add, "stock_dividend", *of, *shares, "--taxed-as-dividend", "no").document
    assert told["taxedAsDividend"] is False


def test_trades_are_entered_listed_and_reversed(run: Run, org_id: str, account_id: str) -> None:
    identified = ("--symbol", "VOD", "--mic", "XLON", "--instrument-name", "Vodafone Group")
    bought = run(
        *("asset", "transaction", "add", account_id, "buy", "--date", "2026-04-07", *identified),
        *("--quantity", "500", "--price", "0.72", "--fees", "5.95"),
    ).document
    assert (bought["grossAmount"], bought["netAmount"], bought["source"]) == ("360.00", "-365.95", "manual")
    split = run(
        *("asset", "transaction", "add", account_id, "split", "--date", "2026-05-01"),
        *("--instrument", bought["instrumentId"], "--ratio", "1:10"),
    ).document
    assert split["splitRatio"] == {"numerator": 1, "denominator": 10}
    listed = run("asset", "transaction", "list", "--org", org_id, "--type", "buy", "--type", "split", "--json").document
    assert [row["id"] for row in listed] == [split["id"], bought["id"]]
    reversal = run("asset", "transaction", "reverse", split["id"], "--notes", "Never came").document
    assert (reversal["reversesTransactionId"], reversal["notes"]) == (split["id"], "Never came")
    listed = run("asset", "transaction", "list", "--org", org_id, "--account", account_id, "--json").document
    assert [row["id"] for row in listed] == [bought["id"]]
    listed = run("asset", "transaction", "list", "--org", org_id, "--reversed", "--limit", "2", "--json").document
    assert [row["id"] for row in listed] == [reversal["id"], split["id"]]


def test_positions_are_listed_as_of_a_day(run: Run, org_id: str, account_id: str, entity_id: str) -> None:
    named = ("--instrument-name", "Vodafone Group")
    for date, quantity in (("2026-04-07", "500"), ("2026-05-07", "100")):
        words = ("--date", date, *named, "--quantity", quantity, "--price", "0.72")
        assert run("asset", "transaction", "add", account_id, "buy", *words).code == 0
    of = ("--org", org_id, "--entity", entity_id)
    (position,) = run("asset", "positions", *of, "--json").document
    assert (position["quantity"], position["costBasisBase"]) == ("600", "432.00")
    (position,) = run("asset", "positions", *of, "--date", "2026-05-06", "--json").document
    assert position["quantity"] == "500"
    header, line = run("asset", "positions", "--org", org_id, "--account", account_id).out.splitlines()
    assert header.split("\t")[3] == "quantity"
    assert line.split("\t")[1:5] == ["Vodafone Group", account_id, "600", "432.00"]


def test_gains_are_added_up_and_written(run: Run, org_id: str, account_id: str, entity_id: str, tmp_path: Path) -> None:
    """600 of 1,000 that cost 4.00 each are sold at 5.00."""
    named = ("--instrument-name", "Larch Group")
    for kind, date, quantity, price in (("buy", "2024-05-01", "1000", "4"), ("sell", "2024-06-03", "600", "5")):
        words = ("--date", date, *named, "--quantity", quantity, "--price", price)
        assert run("asset", "transaction", "add", account_id, kind, *words).code == 0
    of = ("--org", org_id, "--entity", entity_id, "--tax-year", "2024-25")
    file = tmp_path / "gains.csv"
    report = run("asset", "gains", *of, "--csv", str(file), "--json").document
    assert (report["chargeable"]["proceeds"], report["chargeable"]["net"]) == ("3000.00", "600.00")
    assert "Larch Group" in file.read_text("utf-8")
    refused = run("asset", "gains", *of, "--csv", str(file))
    assert (refused.code, "File exists" in refused.err) == (1, True)
    assert run("asset", "gains", *of[:-1], "2025-26", "--json").document["chargeable"]["disposals"] == 0


def test_what_is_wrong_with_a_trade_is_told(run: Run, account_id: str) -> None:
    refused = run("asset", "transaction", "add", account_id, "sell", "--date", "2026-04-07")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "grossAmount: A sell needs it" in refused.err
    assert "(2 more)" in refused.err


@pytest.mark.parametrize("ratio", ["2", "2:", "a:1", "2:1:1", "-2:1"])
def test_a_ratio_is_two_whole_numbers(run: Run, ratio: str) -> None:
    refused = run("asset", "transaction", "add", "acc_1", "split", "--date", "2026-04-07", f"--ratio={ratio}")
    assert (refused.code, "is not a ratio such as 2:1" in refused.err) == (2, True)


def test_an_unknown_account_and_transaction_are_told(run: Run, org_id: str) -> None:
    for words in (("add", "acc_none", "buy", "--date", "2026-04-07"), ("reverse", "txn_none")):
        refused = run("asset", "transaction", *words)
        assert (refused.code, "There is no such" in refused.err) == (1, True)


def test_verify_compares_holdings_with_their_transactions(
    run: Run, org_id: str, account_id: str, entity_id: str, config_file: Path
) -> None:
    """A trade, a balance and a sum of income that somebody changed in the database."""
    words = ("--date", "2026-04-07", "--instrument-name", "Vodafone Group")
    bought = run("asset", "transaction", "add", account_id, "buy", *words, "--quantity", "500", "--price", "1").document
    instrument = bought["instrumentId"]
    run("asset", "transaction", "add", account_id, "dividend", *words, "--amount", "20")
    assert run("verify").code == 0
    context = Context(str(config_file), {}, SystemClock())
    for sql in (
        "UPDATE asset_transactions SET quantity = '400' WHERE type = 'buy'",
        "UPDATE asset_cash SET balance = balance + 1",
        "UPDATE asset_income_years SET gross = gross + 1",
    ):
        context.write(lambda tx, sql=sql: tx.run(sql), org_id)
    faults = [
        f"what {account_id} holds of {instrument} is not what its transactions bring from 2026-04-07 on",
        f"what {entity_id} holds of {instrument} is not what its transactions bring from 2026-04-07 on",
        f"the cash of {account_id} in GBP is not what its transactions come to",
        f"the income of {account_id} since 6 April 2026 is not that of its transactions",
    ]
    found = run("verify")
    assert (found.code, [fault for fault in faults if fault not in found.err]) == (1, [])
    assert run("verify", "--repair").err.count(" anew") == 4
    assert run("verify").code == 0
    (position,) = run("asset", "positions", "--org", org_id, "--account", account_id, "--json").document
    assert (position["quantity"], position["costBasisBase"]) == ("400", "500.00")
