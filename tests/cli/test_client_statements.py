"""`gatewayd statement`: what clients owe, from the command line."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from gatewayd.areas.accounting import AREA
from gatewayd.cli.books import client_statements
from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, run_operation
from gatewayd.clock import SettableClock
from gatewayd.errors import Problem
from tests.support.store import START

Json = dict[str, Any]


class Commands:
    """One data directory with an organization that sells, and the commands run on it."""

    def __init__(self, config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> None:
        self._capsys = capsys
        self.context = Context(str(config_file), {}, SettableClock(START))
        self._parser = argparse.ArgumentParser()
        client_statements.add_commands(self._parser.add_subparsers(required=True))
        self.org_id = org_id

    def call(self, operation_id: str, **values: object) -> Json:
        return run_operation(self.context, operation_of(AREA, operation_id), self.org_id, values)

    def sold(self, client: str, amount: str, on: str, **fields: object) -> Json:
        line = {"description": "Joinery", "unitPrice": amount}
        terms = {"status": "issued", "issueDate": on, "supplyDate": on, "lines": [line]}
        return self.call("accounting.createInvoice", clientId=client, **terms, **fields)

    def run(self, *words: str) -> Any:
        return json.loads(self.told(*words, "--json"))

    def told(self, *words: str) -> str:
        arguments = self._parser.parse_args(["statement", *words])
        assert arguments.run(arguments, self.context) == 0
        return self._capsys.readouterr().out


@pytest.fixture
def commands(config_file: Path, capsys: pytest.CaptureFixture[str], org_id: str) -> Commands:
    return Commands(config_file, capsys, org_id)


def test_an_account_is_shown(commands: Commands) -> None:
    client = commands.call("accounting.createClient", name="Harbour Ltd")["id"]
    commands.sold(client, "40", "2026-09-01")
    made = commands.sold(client, "100", "2026-11-01")
    commands.call("accounting.recordPayment", invoiceId=made["id"], amount="30", date="2026-11-05")
    assert commands.told("show", client).splitlines() == [
        "currency\tdate\twhat\tnumber\tamount\tbalance",
        "GBP\t\tbalance before\t\t\t40.00",
        "GBP\t2026-11-01\tinvoice\tINV-000002\t100.00\t140.00",
        "GBP\t2026-11-05\tpayment\tINV-000002\t-30.00\t110.00",
    ]
    shown = commands.run("show", client, "--from", "2026-11-02", "--to", "2026-11-20", "--currency", "GBP")
    assert (shown["fromDate"], shown["toDate"], shown["currencies"][0]["openingBalance"]) == (
        "2026-11-02",
        "2026-11-20",
        "140.00",
    )
    assert len(commands.run("show", client, "--kind", "outstanding")["currencies"][0]["lines"]) == 2
    with pytest.raises(Problem) as caught:
        commands.run("show", client, "--entity", "ent_01k00000000000000000000000")
    assert caught.value.code == "validation_failed"


def test_who_owes_is_listed_by_age(commands: Commands) -> None:
    client = commands.call("accounting.createClient", name="Harbour Ltd")["id"]
    commands.sold(client, "40", "2026-09-01", dueDate="2026-09-10")
    commands.sold(client, "100", "2026-11-01")
    cells = "GBP\t100.00\t0.00\t0.00\t40.00\t0.00\t0.00\t140.00"
    assert commands.told("aged", "--org", commands.org_id).splitlines() == [
        "client\tcurrency\tnot due\t1-30\t31-60\t61-90\t91+\tcredit\tbalance",
        f"Harbour Ltd\t{cells}",
        f"all\t{cells}",
    ]
    day = commands.run("aged", "--org", commands.org_id, "--as-of", "2026-10-01", "--currency", "GBP")
    assert (day["asOfDate"], day["totals"][0]["balance"]) == ("2026-10-01", "40.00")


def test_an_account_is_mailed(commands: Commands, config_file: Path) -> None:
    client = commands.call("accounting.createClient", name="Harbour Ltd", email="ap@harbour.example")["id"]
    commands.sold(client, "40", "2026-09-01")
    with pytest.raises(Problem) as caught:
        commands.run("send", client)
    assert (caught.value.status, "`[mail]`" in caught.value.message) == (409, True)
    config_file.write_text(
        f'{config_file.read_text()}\n[mail]\nhost = "smtp.example"\nfrom = "books@gatewayd.example"\n'
    )
    commands.context = Context(str(config_file), {}, SettableClock(START))
    days = ("--from-date", "2026-09-01", "--to-date", "2026-09-30", "--currency", "GBP")
    sent = commands.run("send", client, *days, "--cc", "a@b.example", "--subject", "S", "--message", "M")
    assert (sent["fromDate"], sent["toDate"]) == ("2026-09-01", "2026-09-30")
    assert [mail["subject"] for mail in sent["mails"]] == ["S", "S"]
    again = commands.run("send", client, "--kind", "outstanding", "--to", "ann@harbour.example")
    assert again["fromDate"] is None
    assert {mail["recipient"] for mail in again["mails"]} == {
        "ap@harbour.example",
        "a@b.example",
        "ann@harbour.example",
    }


def test_of_nobody_there_is_no_account(commands: Commands) -> None:
    with pytest.raises(Problem) as caught:
        commands.told("show", "cli_01k00000000000000000000000")
    assert caught.value.code == "not_found"
