"""`gatewayd business pnl` and `what-if`, and `gatewayd obligation sync`: on a store in a file."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.ledger.allocating.allocations import Entry
from gatewayd.store import WriteTx
from gatewayd.store.files.directory import locked
from tests.cli.conftest import Run
from tests.support.store import make_caller

Json = dict[str, Any]


@pytest.fixture
def ids(config_file: Path, org_id: str) -> tuple[str, str]:
    """A person and their trade, which took 100.00 and spent 30.00 in the tax year 2025-26."""
    caller = make_caller(org_id)

    def make(tx: WriteTx) -> tuple[str, str]:
        person = create_legal_entity(tx, caller, CreateLegalEntity(name="Ash", type="sole_trader", nino="AA123456A"))
        body = {"legalEntityId": person.id, "type": "self_employment", "name": "Joinery"}
        trade = create_business(tx, caller, msgspec.convert(body, CreateBusiness))
        sale = Part("turnover", business_id=trade.id, direction="in", amount=100_00, description="Sold")
        bill = sale._replace(category="adminCosts", direction="out", amount=30_00, document_date="2024-05-01")
        allocations.enter(tx, [sale, bill], Entry("2025-05-01", "GBP"))
        return person.id, trade.id

    return Context(str(config_file), {}, SystemClock()).write(make, org_id)


def rows(out: str) -> dict[str, list[str]]:
    return {line.split("\t")[0]: line.split("\t")[1:] for line in out.splitlines()}


def test_profit_and_loss_is_a_table(run: Run, ids: tuple[str, str]) -> None:
    shown = rows(run("business", "pnl", ids[1], "--tax-year", "2025-26").out)
    assert shown["line"] == ["2025-04-06 to 2026-04-05"]
    assert [shown[name] for name in ("turnover", "adminCosts", "income", "netProfit")] == [
        ["100.00"],
        ["30.00"],
        ["100.00"],
        ["70.00"],
    ]
    found = run("business", "pnl", ids[1], "--from", "2025-04-06", "--to", "2026-04-05", "--json").document
    assert found["totals"]["netProfit"] == "70.00"


def test_buckets_and_the_year_before_are_columns(run: Run, ids: tuple[str, str]) -> None:
    words = ("--group-by", "quarter", "--compare", "previous_year")
    shown = rows(run("business", "pnl", ids[1], "--tax-year", "2025-26", *words).out)
    assert shown["line"][1] == "2025-04-06 to 2025-07-05"
    assert shown["line"][-1] == "2024-04-06 to 2025-04-05"
    assert shown["turnover"] == ["100.00", "100.00", "", "", "", ""]


def test_a_period_names_the_days(run: Run, ids: tuple[str, str], org_id: str) -> None:
    listed = run("period", "list", "--org", org_id, "--entity", ids[0], "--type", "month", "--json").document
    may = next(one for one in listed if one["label"] == "2025-05")
    assert run("business", "pnl", ids[1], "--period", may["id"], "--json").document["totals"]["income"] == "100.00"


def test_what_if_shows_the_difference(run: Run, ids: tuple[str, str]) -> None:
    done = run("business", "what-if", ids[1], "--tax-year", "2025-26", "--basis", "accruals")
    shown = rows(done.out)
    assert shown["line"] == ["as it is", "what if", "difference"]
    assert shown["adminCosts"] == ["30.00", "", ""]
    assert shown["netProfit"] == ["70.00", "100.00", "30.00"]
    assert "keeps its books on cash basis" in done.err
    found = run("business", "what-if", ids[1], "--tax-year", "2025-26", "--basis", "accruals", "--json").document
    assert found["difference"]["netProfit"] == "30.00"


def test_mistakes_are_told(run: Run, ids: tuple[str, str]) -> None:
    assert run("business", "pnl", ids[1]).code == 1
    assert run("business", "pnl", "biz_none", "--tax-year", "2025-26").code == 1
    assert run("business", "pnl", ids[1], "--from", "May").code == 2


@pytest.fixture
def sandboxed(config_file: Path) -> None:
    config_file.write_text(config_file.read_text() + '[tax]\nmode = "sandbox"\nfraud_headers = "off"\n')


@pytest.mark.usefixtures("sandboxed")
def test_obligations_are_compared_with_the_authority(run: Run, ids: tuple[str, str]) -> None:
    """The sandbox knows another business than ours, and so tells of a source that is unknown."""
    tried = run("obligation", "sync", "--entity", ids[0], "--dry-run")
    assert tried.code == 0
    assert "obligations would be as the authority has them" in tried.err
    assert "is no business here" in tried.err
    found = run("obligation", "sync", "--entity", ids[0], "--tax", "income_tax", "--json").document
    assert {one["kind"] for one in found["obligations"]} == {"itsa_final_declaration"}
    again = run("obligation", "sync", "--entity", ids[0], "--json").document
    assert again["differences"] == []


@pytest.mark.usefixtures("sandboxed")
def test_headers_of_a_file_go_with_the_question(run: Run, ids: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "headers.txt"
    file.write_text("Gov-Test-Scenario: NOT_A_SCENARIO_AT_ALL\n")
    asked = run("obligation", "sync", "--entity", ids[0], "--headers", str(file))
    assert (asked.code, "The tax authority" in asked.err) == (1, True)


def test_beside_a_daemon_it_comes_as_far(run: Run, ids: tuple[str, str], config_file: Path) -> None:
    """Which of both refreshes a connection is told in tests/tax/test_bearer_tokens.py."""
    config_file.write_text(config_file.read_text() + '[tax]\nmode = "hmrc"\nclient_id = "x"\nfraud_headers = "off"\n')
    alone = run("obligation", "sync", "--entity", ids[0])
    with locked(config_file.parent / "data", "gatewayd/test"):
        asked = run("obligation", "sync", "--entity", ids[0])
    assert (asked.code, asked.err) == (1, alone.err)
    assert "connect" in asked.err
