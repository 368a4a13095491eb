"""`gatewayd allocation`: what bank transactions are for, from the command line."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from gatewayd.areas.accounting.invoices.operations import create_invoice
from gatewayd.areas.accounting.invoices.shapes import CreateInvoice
from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Part
from gatewayd.store import WriteTx
from tests.cli.conftest import CommandResult, Run
from tests.ledger import bank_books
from tests.support.store import make_caller


class Bank(NamedTuple):
    """An organization with a business, an account that names it, and another account."""

    context: Context
    org_id: str
    business: str
    account: str
    saving: str

    def line(self, amount: int, account: str | None = None, **fields: object) -> str:
        account_id = account or self.account
        return self.context.write(lambda tx: bank_books.insert_line(tx, account_id, amount, **fields), self.org_id)

    def choose(self, times: int) -> None:
        """Let so many lines be administrative costs."""

        def work(tx: WriteTx) -> None:
            for _ in range(times):
                line = bank_lines.get(tx, bank_books.insert_line(tx, self.account, -1200))
                allocations.allocate(tx, line, [Part("adminCosts")])

        self.context.write(work, self.org_id)


@pytest.fixture
def bank(config_file: Path, org_id: str) -> Bank:
    context = Context(str(config_file), {}, SystemClock())
    caller = make_caller(org_id)

    def make(tx: WriteTx) -> tuple[str, str, str]:
        entity = create_legal_entity(tx, caller, CreateLegalEntity(name="Oak", type="sole_trader")).id
        business = create_business(
            tx, caller, CreateBusiness(legal_entity_id=entity, type="self_employment", name="Joinery")
        ).id
        return business, bank_books.insert_account(tx, entity, business), bank_books.insert_account(tx, entity)

    return Bank(context, org_id, *context.write(make, org_id))


def test_add_prints_the_row(run: Run, bank: Bank) -> None:
    line = bank.line(-12000)
    words = ("--business", bank.business, "--category", "adminCosts", "--amount", "60", "--vat", "10")
    row = run("allocation", "add", line, *words, "--disallowable", "6", "--json").document
    assert (row["sourceId"], row["businessId"], row["category"]) == (line, bank.business, "adminCosts")
    assert (row["amount"], row["vatAmount"], row["disallowableAmount"]) == ("60.00", "10.00", "6.00")
    rest = run("allocation", "add", line, "--business", bank.business, "--category", "advertisingCosts").document
    assert (rest["amount"], rest["category"]) == ("60.00", "advertisingCosts")
    listed = run("allocation", "list", "--org", bank.org_id, "--bank-transaction", line, "--json").document
    assert [one["id"] for one in listed] == [rest["id"], row["id"]]
    assert run("allocation", "list", "--org", bank.org_id, "--category", "turnover", "--json").document == []
    assert run("allocation", "list", "--org", bank.org_id, "--limit", "1", "--json").document == [rest]
    removed = run("allocation", "remove", row["id"], "--json").document
    assert removed["removedIds"] == [row["id"]]
    ran = run("allocation", "list", "--org", bank.org_id)
    assert ran.out.splitlines()[1:] == [
        f"{rest['id']}\t2026-11-02\tout\t60.00\tGBP\tadvertisingCosts\tCARD PAYMENT TESCO STORES 3017"
    ]


def test_add_fails_with_its_reason_in_one_line(run: Run, bank: Bank) -> None:
    line = bank.line(-1000)

    def failed(ran: CommandResult, *words: str) -> None:
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert all(word in ran.err for word in words), ran.err

    failed(run("allocation", "add", "btx_nothing", "--category", "adminCosts"), "no such bank transaction")
    failed(run("allocation", "add", line, "--category", "adminCosts", "--amount", "10.01"), "parts", "10.00 GBP")
    failed(run("allocation", "add", line, "--category", "rent"), "parts[0].category")
    failed(run("allocation", "add", line, "--category", "adminCosts", "--property", "prop_x"), "propertyId")
    for place in ("tenancy", "unit", "mortgage"):
        failed(run("allocation", "add", line, "--category", "adminCosts", f"--{place}", "xyz_1"), f"{place}Id")
    failed(run("allocation", "remove", "alc_nothing"), "no such allocation")
    failed(run("allocation", "rule", "remove", "rule_nothing"), "no such rule")
    failed(run("allocation", "rule", "learn", line), "Nothing was chosen")


def test_a_vat_code_says_the_vat(run: Run, bank: Bank) -> None:
    words = ("--business", bank.business, "--category", "adminCosts", "--vat-code")
    row = run("allocation", "add", bank.line(-12000), *words, "standard", "--external-id", "bill-7", "--json").document
    assert (row["vatCode"], row["vatAmount"], row["externalId"]) == ("standard", "20.00", "bill-7")
    ran = run("allocation", "add", bank.line(-12000), *words, "export_goods_zero")
    assert (ran.code, "vatCode" in ran.err) == (1, True)


def test_match_splits_a_line_by_habit(run: Run, bank: Bank) -> None:
    parts = (("not_pnl", "50.00", "--purpose", "loan_capital"), ("interestOnBankOtherLoans", "10.00"))
    for _ in range(2):
        line = bank.line(-6000)
        for category, amount, *more in parts:
            business = () if category == "not_pnl" else ("--business", bank.business)
            words = ("--category", category, "--amount", amount, *business, *more)
            assert run("allocation", "add", line, *words, "--json").document
    line = bank.line(-6000)
    of = ("--org", bank.org_id, "--bank-transaction", line)
    (found,) = run("allocation", "match", *of, "--apply", "60", "--json").document
    assert (found["applied"]["kind"], found["refusal"]) == ("split", None)
    listed = run("allocation", "list", *of, "--json").document
    assert {(row["category"], row["amount"]) for row in listed} == {part[:2] for part in parts}


def test_what_is_neither_income_nor_expense(run: Run, bank: Bank) -> None:
    words = ("--category", "not_pnl", "--purpose", "drawings", "--description", "Cash")
    row = run("allocation", "add", bank.line(-1000), *words, "--json").document
    assert (row["purpose"], row["businessId"], row["description"]) == ("drawings", None, "Cash")


def test_rules(run: Run, bank: Bank) -> None:
    lines = [bank.line(-1200), bank.line(-90000)]
    words = ("--text", "tesco", "--direction", "out", "--max", "50", "--category", "adminCosts", "--vat", "standard")
    words = ("--name", "Tesco", "--mode", "apply", "--priority", "3", "--account", bank.account, *words)
    made = run("allocation", "rule", "add", "--org", bank.org_id, *words, "--json").document
    assert (made["mode"], made["priority"], made["conditions"]["maxAmount"]) == ("apply", 3, "50")
    assert run("allocation", "rule", "list", "--org", bank.org_id, "--json").document == [made]
    applied = run("allocation", "rule", "apply", "--org", bank.org_id, "--dry-run", "--json").document
    assert [one["bankTransactionId"] for one in applied] == lines[:1]
    assert run("allocation", "list", "--org", bank.org_id, "--json").document == []
    applied = run("allocation", "rule", "apply", "--org", bank.org_id, "--rule", made["id"], "--json").document
    (row,) = run("allocation", "list", "--org", bank.org_id, "--json").document
    assert (row, row["matchedBy"], row["vatAmount"]) == (applied[0]["allocation"], "rule", "2.00")
    assert run("allocation", "rule", "remove", made["id"], "--json").document == {"id": made["id"], "deleted": True}
    assert run("allocation", "rule", "list", "--org", bank.org_id).out == "id\tname\tmode\tpriority\tcategory\n"


def test_a_rule_is_learned(run: Run, bank: Bank) -> None:
    bank.choose(2)
    line = bank.line(-1000)
    rule = run("allocation", "rule", "learn", line, "--mode", "apply", "--name", "Groceries", "--json").document
    assert rule["learnedFrom"].startswith("2 of 2 lines of TESCO STORES were adminCosts")
    assert (rule["name"], rule["mode"]) == ("Groceries", "apply")


def invoice(bank: Bank) -> str:
    line = {"description": "a", "unitPrice": "90"}
    body = {"client": {"name": "Harbour Joiners"}, "lines": [line], "status": "issued", "issueDate": "2026-10-01"}
    request = msgspec.convert(body, CreateInvoice, strict=False)
    caller = make_caller(bank.org_id)
    rendered = bank.context.write(lambda tx: create_invoice(tx, caller, request), bank.org_id)
    return str(msgspec.json.decode(rendered)["id"])


def test_match_shows_and_does_what_is_sure_enough(run: Run, bank: Bank) -> None:
    bank.choose(9)
    due = invoice(bank)
    known = bank.line(-500)
    paid = bank.line(9000, description="FPS", counterparty_name="HARBOUR JOINERS", match_key="harbour joiners")
    out, into = bank.line(-77700, match_key=""), bank.line(77700, bank.saving, match_key="", type="transfer")
    strange = bank.line(-1, match_key="")

    def match(*words: str) -> dict[str, Any]:
        words = ("--org", bank.org_id, "--account", bank.account, *words)
        found = run("allocation", "match", *words, "--json").document
        return {line["bankTransactionId"]: line for line in found}

    shown = match()
    best = {line: found["proposals"][0] for line, found in shown.items() if found["proposals"]}
    assert {line: one["kind"] for line, one in best.items()} == {known: "history", paid: "invoice", out: "transfer"}
    assert (best[paid]["invoiceId"], best[out]["counterpartId"], shown[strange]["proposals"]) == (due, into, [])
    assert not any(line["applied"] for line in shown.values())
    done = match("--apply", "91")
    assert [line for line, found in done.items() if found["applied"]] == [out, paid]
    done = match("--apply", "85", "--limit", "100")
    assert done[known]["applied"]["kind"] == "history"
    assert run("invoice", "show", due).document["status"] == "paid"
    assert list(match()) == [strange]
    ran = run("allocation", "match", "--org", bank.org_id, "--bank-transaction", strange)
    assert ran.out.splitlines()[1].split("\t")[:3] == [strange, "2026-11-02", "-0.01"]


def test_what_cannot_be_done_any_more_is_told(run: Run, bank: Bank) -> None:
    invoice(bank)
    text = {"description": "FPS HARBOUR JOINERS", "match_key": ""}
    bank.line(9000, **text)
    bank.line(9000, **text)
    words = ("--org", bank.org_id, "--account", bank.account, "--apply", "90", "--json")
    later, first = run("allocation", "match", *words).document
    assert (later["applied"] is not None, later["refusal"]) == (True, None)
    assert first["applied"] is None
    assert first["refusal"] == "An invoice that is paid cannot be paid: only one that is issued, sent or part_paid."
