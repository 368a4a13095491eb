"""`gatewayd bill` on a store in a file: entered, listed and paid."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.clients.shapes import CreateClient
from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.books import bills
from gatewayd.cli.context import Context
from gatewayd.clock import SettableClock
from gatewayd.errors import Problem
from gatewayd.store import WriteTx
from tests.support.store import START, make_caller

BOUGHT = ("--description", "Oak boards", "--category", "costOfGoods", "--vat-code", "standard", "--date", "2026-11-02")


class BillCommands:
    """One data directory with a business and a supplier, and the commands run on it."""

    def __init__(self, config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> None:
        self._capsys, self._org_id = capsys, org_id
        self.context = Context(str(config_file), {}, SettableClock(START))
        self._parser = argparse.ArgumentParser()
        bills.add_commands(self._parser.add_subparsers(required=True))
        self.supplier = self.context.write(self._prepare, org_id)

    def _prepare(self, tx: WriteTx) -> str:
        caller = make_caller(self._org_id)
        owner = create_legal_entity(tx, caller, CreateLegalEntity(name="Oak", type="sole_trader"))
        create_business(tx, caller, CreateBusiness(legal_entity_id=owner.id, type="self_employment", name="Joinery"))
        return clients.add(tx, CreateClient(name="Sawmill Ltd"), "").id

    def run(self, *words: str) -> str:
        """Run `bill ...`; answers what it prints."""
        arguments = self._parser.parse_args(["bill", *words])
        assert arguments.run(arguments, self.context) == 0
        return self._capsys.readouterr().out

    def add(self, *words: str) -> Any:
        return json.loads(self.run("add", "--org", self._org_id, *BOUGHT, *words, "--json"))


@pytest.fixture
def commands(config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> BillCommands:
    return BillCommands(config_file, capsys, org_id)


def test_a_bill_is_added_listed_and_paid(commands: BillCommands, org_id: str) -> None:
    of = ("--supplier", commands.supplier, "--gross", "120.00", "--number", "SI-1", "--due", "2026-11-10")
    bill = commands.add(*of)
    assert (bill["netTotal"], bill["vatTotal"], bill["dueDate"]) == ("100.00", "20.00", "2026-11-10")
    with pytest.raises(Problem) as caught:
        commands.add(*of)
    assert caught.value.code == "possible_duplicate"
    commands.add(*of, "--allow-duplicate")
    assert len(json.loads(commands.run("list", "--org", org_id, "--status", "overdue", "--json"))) == 2
    table = commands.run("list", "--org", org_id, "--limit", "1")
    assert "SI-1" in table
    assert "overdue" in table
    part = commands.run("pay", bill["id"], "--amount", "20", "--date", "2026-11-12", "--method", "cash", "--json")
    assert json.loads(part)["status"] == "part_paid"
    paid = json.loads(commands.run("pay", bill["id"], "--reference", "R", "--json"))
    assert (paid["status"], paid["payments"][1]["reference"]) == ("paid", "R")


def test_a_claim_is_owed_to_who_paid(commands: BillCommands, capsys: pytest.CaptureFixture[str]) -> None:
    claim = commands.add("--claimant", "Ash", "--gross", "12.00", "--currency", "EUR")
    assert (claim["kind"], claim["claimant"], claim["currency"]) == ("expense_claim", "Ash", "EUR")


def test_who_is_owed_is_listed_by_age(commands: BillCommands, org_id: str) -> None:
    commands.add("--supplier", commands.supplier, "--gross", "120.00", "--due", "2026-11-10")
    commands.add("--claimant", "Ash", "--gross", "12.00", "--due", "2026-12-01")
    assert commands.run("aged", "--org", org_id).splitlines() == [
        "to\tcurrency\tnot due\t1-30\t31-60\t61-90\t91+\tcredit\tbalance",
        "Ash\tGBP\t12.00\t0.00\t0.00\t0.00\t0.00\t0.00\t12.00",
        "Sawmill Ltd\tGBP\t0.00\t120.00\t0.00\t0.00\t0.00\t0.00\t120.00",
        "all\tGBP\t12.00\t120.00\t0.00\t0.00\t0.00\t0.00\t132.00",
    ]
    day = json.loads(commands.run("aged", "--org", org_id, "--as-of", "2026-11-01", "--currency", "GBP", "--json"))
    assert (day["asOfDate"], day["creditors"]) == ("2026-11-01", [])
