"""`gatewayd invoice`: the moves of invoices from the command line, on a store in a file."""

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gatewayd.areas.accounting.invoices.operations import create_invoice
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.books import invoices
from gatewayd.cli.context import Context
from gatewayd.clock import SettableClock
from gatewayd.errors import Problem
from tests.support.store import START, make_caller


class InvoiceCommands:
    """One data directory, and the commands run on it."""

    def __init__(self, config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.context = Context(str(config_file), {}, SettableClock(START))
        self._parser = argparse.ArgumentParser()
        invoices.add_commands(self._parser.add_subparsers(required=True))

    def run(self, *words: str) -> Any:
        """Run `invoice ...` and return the one document it prints."""
        arguments = self.parsed(*words, "--json")
        assert arguments.run(arguments, self.context) == 0
        return json.loads(self._capsys.readouterr().out)

    def parsed(self, *words: str) -> argparse.Namespace:
        return self._parser.parse_args(["invoice", *words])

    def draft(self, org_id: str, **fields: object) -> str:
        line = {"description": "a", "unitPrice": "90"}
        body = {"client": {"name": "Ann", "allowDuplicate": True}, "lines": [line], **fields}
        request = msgspec.convert(body, CreateInvoice)
        caller = make_caller(org_id)
        rendered = self.context.write(lambda tx: create_invoice(tx, caller, request), org_id)
        return str(msgspec.json.decode(rendered)["id"])


@pytest.fixture
def commands(config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> InvoiceCommands:
    return InvoiceCommands(config_file, capsys)


def test_issue_send_pay_unpay_and_show(commands: InvoiceCommands, org_id: str) -> None:
    invoice_id = commands.draft(org_id)
    assert commands.run("issue", invoice_id)["number"] == "INV-000001"
    assert commands.run("mark-sent", invoice_id)["status"] == "sent"
    part = commands.run(
        "pay", invoice_id, "--amount", "40", "--date", "2026-11-01", "--method", "card", "--reference", "r"
    )
    assert (part["status"], part["balanceDue"]) == ("part_paid", "50.00")
    assert commands.run("pay", invoice_id)["status"] == "paid"
    assert commands.run("unpay", invoice_id, "--payment", "1")["balanceDue"] == "40.00"
    shown = commands.run("show", invoice_id)
    assert [payment["amount"] for payment in shown["payments"]] == ["50.00"]
    assert shown["lines"][0]["gross"] == "90.00"


def test_a_foreign_draft_is_issued_at_a_rate(commands: InvoiceCommands, org_id: str) -> None:
    invoice_id = commands.draft(org_id, currency="EUR")
    issued = commands.run("issue", invoice_id, "--fx-rate", "0.8410")
    assert (issued["status"], issued["fxRate"], issued["vatTotalBase"]) == ("issued", "0.841", "0.00")


def test_what_an_issued_invoice_lacks_is_told(
    commands: InvoiceCommands, org_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entity = {
        "name": "Oak",
        "type": "sole_trader",
        "vatNumber": "980780684",
        "address": {"line1": "12 Oak Street", "countryCode": "GB"},
    }
    request = msgspec.convert(entity, CreateLegalEntity)
    commands.context.write(lambda tx: create_legal_entity(tx, make_caller(org_id), request), org_id)
    invoice_id = commands.draft(org_id)
    arguments = commands.parsed("issue", invoice_id)
    assert arguments.run(arguments, commands.context) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["grossTotal"] == "108.00"
    assert said.err == "gatewayd: A VAT invoice prints the client's address: the client has no `billingAddress`.\n"


def test_void(commands: InvoiceCommands, org_id: str) -> None:
    invoice_id = commands.draft(org_id)
    commands.run("issue", invoice_id)
    voided = commands.run("void", invoice_id, "--reason", "made twice")
    assert (voided["status"], voided["voidReason"]) == ("void", "made twice")


def test_delete_and_list(commands: InvoiceCommands, org_id: str) -> None:
    kept, dropped = commands.draft(org_id), commands.draft(org_id)
    commands.run("issue", kept)
    assert commands.run("delete", dropped) == {"id": dropped}
    assert [invoice["id"] for invoice in commands.run("list", "--org", org_id)] == [kept]
    assert commands.run("list", "--org", org_id, "--status", "draft") == []


@pytest.mark.parametrize("words", [("issue",), ("pay",), ("void", "--reason", "x"), ("show",), ("delete",)])
def test_an_unknown_invoice_is_not_found(commands: InvoiceCommands, words: tuple[str, ...]) -> None:
    with pytest.raises(Problem) as caught:
        commands.run(words[0], "inv_none", *words[1:])
    assert caught.value.code == "not_found"


def test_an_unknown_organization_is_not_found(commands: InvoiceCommands) -> None:
    with pytest.raises(Problem) as caught:
        commands.run("list", "--org", "org_none")
    assert caught.value.code == "not_found"


@pytest.mark.parametrize("date", ["2026-13-01", "tomorrow"])
def test_a_date_that_is_none_is_wrong_usage(
    commands: InvoiceCommands, date: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        commands.run("pay", "inv_1", "--date", date)
    assert caught.value.code == 2
    assert "YYYY-MM-DD" in capsys.readouterr().err


def test_numbering(commands: InvoiceCommands, org_id: str) -> None:
    before = commands.run("numbering", "--org", org_id)
    assert (before["nextNumber"], before["legalEntityId"]) == ("INV-000001", None)
    set_ = commands.run("numbering", "--org", org_id, "--pattern", "{yyyy}/{001}", "--next", "57")
    assert set_["nextNumber"] == "2026/057"
    assert commands.run("issue", commands.draft(org_id))["number"] == "2026/057"
    assert commands.run("numbering", "--org", org_id)["nextCount"] == 58
    notes = commands.run("numbering", "--org", org_id, "--kind", "credit_note", "--next", "9")
    assert notes["nextNumber"] == "CN-000009"
    for entity in (org_id, "ent_unknown"):
        arguments = commands.parsed("numbering", "--org", org_id, "--entity", entity, "--next", "99")
        with pytest.raises(Problem) as caught:
            arguments.run(arguments, commands.context)
        assert [error.code for error in caught.value.errors] == ["unknown_reference"]
    assert commands.run("numbering", "--org", org_id)["nextCount"] == 58
