"""`gatewayd quote`, `invoice send`, `invoice link` and `invoice recur`, on a store in a file."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas.accounting import AREA, handlers
from gatewayd.cli.books import invoices, quotes
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import SettableClock
from gatewayd.errors import Problem
from gatewayd.mail.notices import Mailing
from tests.support.store import START

MAIL = '\n[mail]\nhost = "smtp.example"\nfrom = "books@gatewayd.example"\n'
LINE = {"description": "Joinery", "unitPrice": "100.00"}
Json = dict[str, Any]


class Desk:
    """The commands over one data directory."""

    def __init__(self, config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> None:
        self._capsys = capsys
        self.org_id = org_id
        self.context = Context(str(config_file), {}, SettableClock(START))
        self._parser = argparse.ArgumentParser()
        subparsers = self._parser.add_subparsers(required=True)
        invoices.add_commands(subparsers)
        quotes.add_commands(subparsers)

    def run(self, *words: str) -> Any:
        arguments = self._parser.parse_args([*words, "--json"])
        assert arguments.run(arguments, self.context) == 0
        return json.loads(self._capsys.readouterr().out)

    def do(self, name: str, /, **values: object) -> Json:
        given = handlers("https://books.example", Mailing("https://books.example"))
        return run_operation(self.context, operation_of(AREA, f"accounting.{name}", given), self.org_id, values)

    def client(self) -> str:
        return str(self.do("createClient", name="Harbour", email="ap@harbour.example", allowDuplicate=True)["id"])

    def quote(self) -> str:
        return str(self.do("createQuote", clientId=self.client(), lines=[LINE])["id"])


@pytest.fixture
def desk(config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> Desk:
    config_file.write_text(config_file.read_text() + MAIL)
    return Desk(config_file, capsys, org_id)


def test_a_quote_goes_its_way(desk: Desk) -> None:
    quote_id = desk.quote()
    sent = desk.run("quote", "send", quote_id, "--issue", "--cc", "a@b.example", "--subject", "S", "--message", "M")
    assert [mail["recipient"] for mail in sent["mails"]] == ["a@b.example", "ap@harbour.example"]
    assert [mail["subject"] for mail in sent["mails"]] == ["S", "S"]
    assert desk.run("quote", "accept", quote_id, "--date", "2026-11-20")["acceptedDate"] == "2026-11-20"
    deposit = desk.run("quote", "invoice", quote_id, "--percent", "30", "--issue")
    assert (deposit["grossTotal"], deposit["status"]) == ("30.00", "issued")
    assert desk.run("quote", "invoice", quote_id, "--amount", "20.00")["grossTotal"] == "20.00"
    assert desk.run("quote", "show", quote_id)["status"] == "accepted"
    [listed] = desk.run("quote", "list", "--org", desk.org_id, "--status", "accepted")
    assert listed["id"] == quote_id
    assert desk.run("quote", "list", "--org", desk.org_id, "--limit", "1", "--status", "draft") == []


def test_a_quote_is_issued_declined_or_deleted(desk: Desk) -> None:
    first, second = desk.quote(), desk.quote()
    issued = desk.run("quote", "issue", first)
    assert (issued["status"], issued["validUntil"]) == ("sent", "2026-12-20")
    assert desk.run("quote", "decline", first, "--reason", "Too dear")["declineReason"] == "Too dear"
    assert desk.run("quote", "delete", second) == {"id": second}


def test_an_invoice_is_mailed_and_its_link_printed(desk: Desk) -> None:
    made = desk.do("createInvoice", clientId=desk.client(), lines=[LINE])["id"]
    sent = desk.run("invoice", "send", made, "--issue", "--to", "ann@harbour.example")
    assert (sent["number"], sent["status"]) == ("INV-000001", "sent")
    assert [mail["recipient"] for mail in sent["mails"]] == ["ann@harbour.example"]
    assert desk.run("invoice", "link", made)["link"] == sent["link"]
    assert desk.run("invoice", "link", made, "--replace")["link"] != sent["link"]
    assert desk.run("invoice", "sendings", made)["mails"][0]["status"] == "queued"


def test_without_a_server_it_says_how(config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> None:
    desk = Desk(config_file, capsys, org_id)
    made = desk.do("createInvoice", clientId=desk.client(), lines=[LINE], status="issued")["id"]
    with pytest.raises(Problem, match="names no server"):
        desk.run("invoice", "send", made)
    assert desk.run("invoice", "link", made)["link"].startswith("http")


def test_recurring_invoices_are_looked_at_and_stopped(desk: Desk) -> None:
    made = desk.do(
        "createRecurring", clientId=desk.client(), lines=[LINE], startDate="2026-11-20", unit="month", makes="sent"
    )["id"]
    [listed] = desk.run("invoice", "recur", "list", "--org", desk.org_id, "--status", "active", "--limit", "5")
    assert (listed["id"], listed["makes"]) == (made, "sent")
    assert desk.run("invoice", "recur", "pause", made)["status"] == "paused"
    assert desk.run("invoice", "recur", "resume", made, "--missed", "skip")["status"] == "active"
    assert desk.run("invoice", "recur", "show", made)["status"] == "active"
    assert desk.run("invoice", "recur", "end", made)["status"] == "ended"
