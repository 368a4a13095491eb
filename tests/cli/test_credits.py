"""`gatewayd credits`, `plan` and `cost`: on a store in a file, at the time that it is."""

from pathlib import Path

import apsw
import pytest

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.ledger.credits import charging
from gatewayd.ledger.credits.charging import Charge
from gatewayd.money import MICRO
from gatewayd.store import WriteTx
from tests.cli.conftest import Run
from tests.support import purses

_ENTRIES = "UPDATE credit_entries SET {} WHERE org_id = :org_id AND sequence = 2"
_GRANTS = "UPDATE credit_grants SET {} WHERE org_id = :org_id"
_SPOILT = {
    "the balance is the sum": (_ENTRIES.format("amount = amount - 1"), "entry 2 leaves 1 of 3 and -2.000001"),
    "no number is missing": (_ENTRIES.format("sequence = 3"), "entry 3 follows entry 1"),
    "a grant adds up": (_GRANTS.format("used = used + 1"), "doesn't add up"),
    "what has expired": (
        _GRANTS.format("expired = 1, used = used - 1"),
        "0.000001 expired, by its entries and holds 0",
    ),
    "what was voided": (_GRANTS.format("voided = 1, used = used - 1"), "0.000001 voided, by its entries and holds 0"),
    "the grants have the balance": (
        _GRANTS.format("used = used - 1, remaining = remaining + 1"),
        "what grants have left is 1.000001, the balance 1",
    ),
    "entries stay": (_ENTRIES.format("operation = 'tax.forward'"), "the usage of vault.parse in the quarter"),
    "it is charged once": (_ENTRIES.format("part = 2"), "op_1 was charged twice"),
}


def test_credits_are_given_used_and_given_back(run: Run, org_id: str, tmp_path: Path) -> None:
    granted = run("credits", "grant", "--org", org_id, "--amount", "100", "--expires", "2099-03-31").document
    assert (granted["amount"], granted["expiresAt"]) == ("100", "2099-03-31T23:00:00.000Z")
    file = tmp_path / "entries.csv"
    file.write_text(
        "occurredAt,type,amount,description,externalId\n"
        "2026-01-02T00:00:00Z,purchase,20,Moved,a\n"
        "2026-01-03T00:00:00Z,usage,-5.5,,b\n"
    )
    assert run("credits", "import", str(file), "--org", org_id).document["added"] == 2
    assert run("credits", "import", str(file), "--org", org_id).document["duplicates"] == 2
    (used,) = run("credits", "ledger", "--org", org_id, "--type", "usage", "--json").document
    refund = run("credits", "refund", used["id"], "--amount", "1.5").document
    assert (refund["amount"], refund["balanceAfter"]) == ("1.5", "116")
    assert run("credits", "adjust", "--org", org_id, "--amount", "-6", "--description", "x").code == 0
    assert run("credits", "void", granted["id"]).document["status"] == "voided"
    assert run("credits", "balance", "--org", org_id).document["available"] == "20"
    days = run("credits", "usage", "--org", org_id, "--from", "2026-01-03", "--to", "2026-01-04", "--json").document
    assert [day["credits"] for day in days] == ["4", "0"]


def test_what_is_not_there_is_told(run: Run, org_id: str) -> None:
    absent = {"void": "There is no such grant.", "refund": "There is no such ledger entry."}
    for command, told in absent.items():
        refused = run("credits", command, "gra_00000000000000000000000000")
        assert (refused.code, refused.err) == (1, f"gatewayd: {told}\n")


@pytest.mark.parametrize("text", ["when,amount\n1,2\n", 'occurredAt,type,amount\n"2026'])
def test_a_file_that_is_no_list_of_entries_is_told(run: Run, org_id: str, tmp_path: Path, text: str) -> None:
    file = tmp_path / "entries.csv"
    file.write_text(text)
    refused = run("credits", "import", str(file), "--org", org_id)
    assert refused.code != 0
    assert str(file) in refused.err
    assert run("credits", "import", str(tmp_path / "none.csv"), "--org", org_id).code == 1


def test_a_plan_is_made_set_and_retired(run: Run, org_id: str) -> None:
    options = ("--included", "50", "--rollover", "full", "--documents", "10", "--feature", "vectorSearch")
    made = run("plan", "create", "studio", "--name", "Studio", *options).document
    assert (made["limits"]["documents"], made["features"], made["softLimit"]) == (10, {"vectorSearch": True}, False)
    assert run("plan", "set", "studio", "--org", org_id).document["current"] is True
    assert run("credits", "balance", "--org", org_id).document["available"] == "50"
    assert run("plan", "retire", "studio").document["status"] == "retired"
    assert [one["code"] for one in run("plan", "list", "--org", org_id, "--json").document] == ["studio"]
    assert run("plan", "set", "none", "--org", org_id).document is None
    assert run("plan", "list", "--json").document == []
    assert len(run("plan", "list", "--retired", "--json").document) == 1


def test_a_cost_is_set_from_a_day_on(run: Run, org_id: str) -> None:
    cost = run("cost", "set", "vault.parse", "--credits", "0.5", "--unit", "page", "--from", "2099-01-01").document
    assert (cost["credits"], cost["effectiveFrom"]) == ("0.5", "2099-01-01")
    assert run("cost", "list", "--json").document == []
    misspelt = run("cost", "set", "crm.createleads", "--credits", "1")
    assert misspelt.code == 1
    assert "crm.createLead" in misspelt.err
    for name in ("vault.search.vector", "tax.forward", "obligations.sync"):
        assert run("cost", "set", name, "--credits", "1", "--from", "2099-01-01").code == 0
    later = run("cost", "list", "--at", "2099-01-01", "--json").document
    assert [one["unit"] for one in later] == ["call", "call", "page", "call"]


def test_a_cost_that_another_version_knew_is_listed_as_unknown_and_taken_out(
    run: Run, org_id: str, config_file: Path
) -> None:
    Context(str(config_file), {}, SystemClock()).write(lambda tx: purses.price(tx, "vault.transcribe", 1))
    assert run("cost", "set", "tax.forward", "--credits", "2").code == 0
    assert [line.split("\t")[::5] for line in run("cost", "list").out.splitlines()] == [
        ["operation", "known"],
        ["tax.forward", "yes"],
        ["vault.transcribe", "no"],
    ]
    assert run("cost", "set", "vault.transcribe", "--credits", "0").code == 0
    assert [one["operation"] for one in run("cost", "list", "--json").document] == ["tax.forward"]


def test_plans_need_an_organization(run: Run) -> None:
    assert run("migrate").code == 0
    refused = run("plan", "create", "studio", "--name", "Studio")
    assert refused.code == 1
    assert "org create" in refused.err


def test_verify_names_what_is_wrong_with_a_ledger_and_nothing_else(run: Run, org_id: str, config_file: Path) -> None:
    """Each invariant of Domain C8 is broken in an organization of its own; the ledger of Acme is good."""
    context = Context(str(config_file), {}, SystemClock())
    work = Charge(operation="vault.parse", amount=2 * MICRO, operation_id="op_1")

    def fill(tx: WriteTx) -> str:
        purses.put_on_plan(tx)
        purses.grant(tx, 3 * MICRO)
        charging.charge(tx, work)
        return tx.org_id

    def begin(tx: WriteTx) -> str:
        tx.bind(organizations.create(tx, "Birch", audit.OPERATOR).id)
        return fill(tx)

    context.write(fill, org_id)
    spoilt = {context.write(begin): invariant for invariant in _SPOILT}
    clean = run("verify")
    assert (clean.code, clean.err) == (0, "")
    with apsw.Connection(str(config_file.parent / "data" / "gatewayd.db")) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
        for spoilt_id, invariant in spoilt.items():
            connection.execute(_SPOILT[invariant][0], {"org_id": spoilt_id})
    found = run("verify")
    assert found.code == 1
    for spoilt_id, invariant in spoilt.items():
        assert any(f"{spoilt_id}: " in line and _SPOILT[invariant][1] in line for line in found.err.splitlines())
    assert org_id not in found.err
