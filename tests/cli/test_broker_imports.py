"""`gatewayd import broker`: a broker's file comes into an account from the command line, and goes again."""

from pathlib import Path

import pytest

from gatewayd.areas import assets, legal_entities
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import SystemClock
from tests.cli.conftest import Run
from tests.importing.broker_files import HARGREAVES_LANSDOWN


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trades.csv"
    path.write_bytes(HARGREAVES_LANSDOWN.encode("cp1252"))
    return path


@pytest.fixture
def portfolio(config_file: Path, org_id: str) -> str:
    """A person's."""
    context = Context(str(config_file), {}, SystemClock())
    person = {"name": "M Lee", "type": "individual"}
    create = operation_of(legal_entities.AREA, "legalEntity.createLegalEntity")
    entity = run_operation(context, create, org_id, person)["id"]
    create = operation_of(assets.AREA, "assets.createPortfolio")
    return str(run_operation(context, create, org_id, {"name": "Savings", "legalEntityId": entity})["id"])


def test_a_file_makes_an_account_and_fills_it(run: Run, org_id: str, file: Path, portfolio: str) -> None:
    new = ("--new-account", "General", "--portfolio", portfolio)
    made = run("import", "broker", str(file), "--org", org_id, *new, "--json").document
    assert made == {
        "importId": made["importId"],
        "accountId": made["accountId"],
        "format": "csv",
        "rows": 5,
        "added": 5,
        "duplicates": 0,
        "replaced": 0,
        "ignored": [],
        "refused": [],
        "supposed": [],
        "otherAccounts": [],
        "firstImportedAt": None,
        "balance": "34975.92",
    }
    assert made["accountId"].startswith("acc_")
    arguments = ("import", "broker", str(file), "--org", org_id, "--account", made["accountId"])
    file.write_bytes(file.read_bytes() + b"\n")
    preview = run(*arguments, "--preview", "--json").document
    assert (preview["added"], preview["duplicates"]) == (0, 5)
    assert "are of a bank's file" in run("import", "undo", made["importId"], "--preview").err
    undone = run("import", "undo", made["importId"], "--json").document
    assert (undone["id"], undone["status"], undone["kind"]) == (made["importId"], "reverted", "broker")


def test_a_new_account_needs_its_portfolio(run: Run, org_id: str, file: Path) -> None:
    told = run("import", "broker", str(file), "--org", org_id, "--new-account", "General")
    assert (told.code, told.err) == (1, "gatewayd: a new account is of a portfolio: give --portfolio\n")
