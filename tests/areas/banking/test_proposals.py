"""Proposals: what a bank line probably is, how sure that is, and why."""

from collections.abc import Iterator
from typing import Any

import pytest

from gatewayd.areas.banking.proposals.operations import list_proposals
from gatewayd.store import ReadTx
from tests.areas.accounting.books import LINE, fields_of
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_allocations import refused
from tests.areas.banking.test_rules import chosen, rule
from tests.support.store import MemoryStore


def proposed(trading: Trading, line: str) -> list[dict[str, Any]]:
    ((found,), cursor) = trading.get("listProposals", f"bankTransactionId={line}")
    assert cursor is None
    proposals: list[dict[str, Any]] = found["proposals"]
    assert [one["score"] for one in proposals] == sorted((one["score"] for one in proposals), reverse=True)
    return proposals


def test_a_line_is_told_with_what_is_left_of_it(trading: Trading) -> None:
    line = trading.line(trading.current, -1200)
    trading.part(line, amount="2")
    ((found,), _) = trading.get("listProposals", f"bankTransactionId={line}")
    assert found == {
        "bankTransactionId": line,
        "accountId": trading.current,
        "date": "2026-11-02",
        "description": "CARD PAYMENT TESCO STORES 3017",
        "matchKey": "tesco stores",
        "unallocatedAmount": "-10.00",
        "currency": "GBP",
        "proposals": [],
    }


def test_what_a_rule_says(trading: Trading) -> None:
    made = rule(trading, mode="propose", outcome={"category": "adminCosts", "vatCode": "standard"})
    (proposal,) = proposed(trading, trading.line(trading.current, -1200))
    nothing = ("purpose", "disallowableAmount", "propertyId", "unitId", "tenancyId", "mortgageId")
    vat = {"vatCode": "standard", "vatAmount": "2.00"}
    allocation = {"category": "adminCosts", "businessId": trading.trade, **vat, **dict.fromkeys(nothing)}
    assert proposal == {
        "kind": "rule",
        "score": 95,
        "reason": 'The rule "Tesco": the text contains "Tesco".',
        "amount": "12.00",
        "currency": "GBP",
        "ruleId": made["id"],
        "allocation": allocation,
        **dict.fromkeys(("parts", "invoiceId", "billId", "counterpartId", "counterpartAmount", "counterpartCurrency")),
        "impliedRate": None,
    }


def test_what_was_chosen_before(trading: Trading) -> None:
    trading.part(trading.line(trading.current, -1200, date="2026-10-03"))
    chosen(trading, 1, "advertisingCosts")
    for day in range(4, 15):
        trading.part(trading.line(trading.current, -1000, date=f"2026-09-{day:02}"))
    (proposal,) = proposed(trading, trading.line(trading.current, -500))
    assert proposal["reason"] == "12 of 13 lines of TESCO STORES were adminCosts, last on 3 Oct 2026."
    assert (proposal["kind"], proposal["score"]) == ("history", 85)
    assert proposal["allocation"]["businessId"] == trading.trade


def test_money_the_other_way_is_another_matter(trading: Trading) -> None:
    chosen(trading, 3)
    assert proposed(trading, trading.line(trading.current, 1200)) == []


def test_an_archived_business_is_not_proposed(trading: Trading) -> None:
    chosen(trading, 3)
    rule(trading, outcome={"category": "adminCosts", "businessId": trading.trade})
    line = trading.line(trading.current, -1200)
    assert len(proposed(trading, line)) == 2
    trading.write(lambda tx: tx.run("UPDATE businesses SET archived_at = :now WHERE org_id = :org_id"))
    assert proposed(trading, line) == []


# -- bills


def bill(trading: Trading, amount: str = "100.00", **fields: Any) -> Any:
    line = {"description": "Timber", "amount": amount, "category": "costOfGoods", "vatCode": "zero"}
    of = {"billDate": "2026-10-20", "lines": [line], "businessId": trading.trade, "allowDuplicate": True}
    if "claimant" not in fields:
        of["supplierId"] = trading.client("Rowan Timber Ltd")
    return trading.post("createBill", **{**of, **fields})


def test_money_that_goes_out_pays_a_bill(trading: Trading) -> None:
    owed = bill(trading, number="RT-3301")
    other = bill(trading, "55.00", claimant="Ash Larch", kind="expense_claim")
    bill(trading, status="draft")
    (proposal,) = proposed(trading, trading.line(trading.current, -100_00))
    assert (proposal["kind"], proposal["billId"], proposal["score"], proposal["amount"]) == (
        "bill",
        owed["id"],
        60,
        "100.00",
    )
    assert proposal["reason"] == "Bill RT-3301: the amount is what is due."
    assert proposed(trading, trading.line(trading.current, 100_00)) == []
    (named,) = proposed(trading, trading.line(trading.current, -40_00, description="ROWAN TIMBER RT-3301"))
    assert (named["score"], named["amount"], named["reason"]) == (
        82,
        "40.00",
        "Bill RT-3301: the amount is a part of the 100.00 that is due, its number is in the text, Rowan Timber Ltd is"
        " named.",
    )
    (claim,) = proposed(trading, trading.line(trading.current, -55_00, description="ASH LARCH"))
    assert (claim["billId"], claim["score"]) == (other["id"], 92)
    assert claim["reason"] == "Bill of 2026-10-20: the amount is what is due, Ash Larch is named."
    line = trading.line(trading.current, -100_00)
    trading.post("recordBillPayment", billId=owed["id"], bankTransactionId=line)
    assert proposed(trading, trading.line(trading.current, -100_00)) == []
    ((part,), _) = trading.get("listAllocations", f"billId={owed['id']}")
    assert part["sourceId"] == line


def test_a_bill_beyond_the_latest_is_found_by_its_amount(trading: Trading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewayd.areas.banking.proposals.invoices.LOOKED_AT", 1)
    old = bill(trading, "77.00", dueDate="2026-10-21")
    bill(trading, "78.00", dueDate="2026-12-21")
    assert [one["billId"] for one in proposed(trading, trading.line(trading.current, -77_00))] == [old["id"]]


# -- invoices


def invoice(trading: Trading, price: str = "100.00", client: str = "Harbour Joiners Ltd", **fields: Any) -> Any:
    lines = [{**LINE, "unitPrice": price}]
    return trading.invoice(clientId=trading.client(client), lines=lines, issueDate="2026-10-20", **fields)


def incoming(trading: Trading, amount: int, text: str = "FASTER PAYMENT", **fields: Any) -> str:
    return trading.line(trading.current, amount, description=text, match_key="", **fields)


def paying(trading: Trading, line: str) -> list[tuple[str, int, str]]:
    return [(one["invoiceId"], one["score"], one["amount"]) for one in proposed(trading, line)]


def test_the_amount_that_is_due(trading: Trading) -> None:
    due = invoice(trading)
    (proposal,) = proposed(trading, incoming(trading, 12000))
    assert (proposal["kind"], proposal["invoiceId"], proposal["score"]) == ("invoice", due["id"], 60)
    assert proposal["reason"] == f"Invoice {due['number']}: the amount is what is due."


def test_its_number_in_the_text(trading: Trading) -> None:
    due = invoice(trading)
    text = f"FPS {due['number'].replace('-', ' ')} THANKS"
    assert paying(trading, incoming(trading, 12000, text)) == [(due["id"], 98, "120.00")]
    assert paying(trading, incoming(trading, 5000, text)) == [(due["id"], 82, "50.00")]
    assert paying(trading, incoming(trading, 20000, text)) == [(due["id"], 66, "120.00")]
    assert paying(trading, incoming(trading, 9900)) == []


def test_its_reference_and_its_client(trading: Trading) -> None:
    due = invoice(trading, reference="PO 77/12")
    by_reference = incoming(trading, 12000, reference="po77 12")
    assert paying(trading, by_reference) == [(due["id"], 98, "120.00")]
    by_client = incoming(trading, 12000, counterparty_name="HARBOUR JOINERS")
    assert paying(trading, by_client) == [(due["id"], 92, "120.00")]
    (proposal,) = proposed(trading, by_client)
    assert proposal["reason"] == (f"Invoice {due['number']}: the amount is what is due, Harbour Joiners Ltd is named.")


def test_what_a_contractor_withholds(trading: Trading) -> None:
    """120.00 of which 20 % of the net of 100.00 is withheld (Domain C4.5)."""
    due = invoice(trading)
    ((found, score, amount),) = paying(trading, incoming(trading, 10000, due["number"]))
    assert (found, score, amount) == (due["id"], 84, "100.00")
    (proposal,) = proposed(trading, incoming(trading, 9000, due["number"]))
    assert "less 30 % of the net, as CIS withholds" in proposal["reason"]


def test_money_from_before_the_invoice_is_less_likely(trading: Trading) -> None:
    due = invoice(trading)
    assert paying(trading, incoming(trading, 12000, date="2026-10-19")) == [(due["id"], 40, "120.00")]


def test_what_is_not_open_or_not_ours_is_not_proposed(trading: Trading) -> None:
    elm = trading.entity(name="Elm", vatNumber="434031494")
    invoice(trading, legalEntityId=elm)
    invoice(trading, legalEntityId=trading.owner, currency="EUR", fxRate="0.85")
    invoice(trading, legalEntityId=trading.owner, status="draft")
    paid = invoice(trading, legalEntityId=trading.owner)
    trading.post("recordPayment", invoiceId=paid["id"])
    assert paying(trading, incoming(trading, 12000)) == []
    assert paying(trading, trading.line(trading.current, -12000, match_key="")) == []


def test_an_invoice_beyond_the_latest_is_found_by_its_amount(trading: Trading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatewayd.areas.banking.proposals.invoices.LOOKED_AT", 1)
    old = invoice(trading, "77.00", dueDate="2026-10-21")
    invoice(trading, dueDate="2026-12-21")
    assert [found for found, _, _ in paying(trading, incoming(trading, 9240))] == [old["id"]]


# -- transfers


def test_the_other_end_of_a_transfer(trading: Trading) -> None:
    saving = trading.account(trading.owner)
    into = trading.line(saving, 50000, date="2026-11-04", match_key="", type="transfer")
    out = trading.line(trading.current, -50000, match_key="")
    (proposal,) = proposed(trading, out)
    assert (proposal["kind"], proposal["counterpartId"], proposal["score"]) == ("transfer", into, 88)
    assert proposal["reason"] == "The same amount came into another of your accounts, 2 days apart."
    (back,) = [one for one in proposed(trading, into) if one["kind"] == "transfer"]
    assert back["counterpartId"] == out


@pytest.mark.parametrize("date", ["2026-10-27", "2026-11-08"])
def test_six_days_are_too_far(trading: Trading, date: str) -> None:
    trading.line(trading.account(trading.owner), 50000, date=date)
    assert proposed(trading, trading.line(trading.current, -50000)) == []


def test_what_is_no_other_end(trading: Trading) -> None:
    saving = trading.account(trading.owner)
    trading.line(trading.current, 50000)
    trading.line(saving, 50001)
    trading.line(saving, 50000, status="pending")
    trading.line(trading.account(trading.owner, currency="EUR"), 50000, currency="EUR")
    trading.line(trading.account(trading.unregistered_entity(name="Elm")), 50000)
    trading.part(trading.line(saving, 50000), "turnover", businessId=trading.trade, amount="1")
    assert proposed(trading, trading.line(trading.current, -50000)) == []


def test_two_that_could_be_it_are_less_sure(trading: Trading) -> None:
    saving = trading.account(trading.owner)
    both = {trading.line(saving, 50000), trading.line(saving, 50000)}
    found = proposed(trading, trading.line(trading.current, -50000))
    assert {one["counterpartId"] for one in found} == both
    assert {one["score"] for one in found} == {59}


# -- the list


def test_the_lines_of_an_account_latest_first(trading: Trading) -> None:
    days = ("2026-11-05", "2026-11-01", "2026-11-09")
    lines = [trading.line(trading.current, -100, date=day) for day in days]
    trading.part(trading.line(trading.current, -100))
    trading.line(trading.current, -100, status="pending")
    trading.line(trading.account(), -100)
    walked = trading.walk("listProposals", f"accountId={trading.current}&limit=1")
    assert [found["bankTransactionId"] for found in walked] == [lines[2], lines[0], lines[1]]


def test_what_is_allocated_or_not_booked_has_no_proposals(trading: Trading) -> None:
    done = trading.line(trading.current, -100)
    trading.part(done)
    for line in (done, trading.line(trading.current, -100, status="pending")):
        assert trading.get("listProposals", f"bankTransactionId={line}") == ([], None)


def test_one_of_both_is_asked_for(store: MemoryStore, trading: Trading) -> None:
    line = trading.line(trading.current, -100)
    for query in ("", f"accountId={trading.current}&bankTransactionId={line}"):
        assert fields_of(refused(trading.get, "listProposals", query)) == [("accountId", "required")]
    other = Trading(store)
    for name, id_ in (("accountId", trading.current), ("bankTransactionId", line)):
        assert fields_of(refused(other.get, "listProposals", f"{name}={id_}")) == [(name, "unknown_reference")]


def test_no_statement_scans_and_the_work_is_bounded(trading: Trading) -> None:
    saving = trading.account(trading.owner)
    trading.line(trading.account(trading.owner, currency="EUR"), 1100, currency="EUR", type="transfer")
    chosen(trading, 2)
    invoice(trading)
    for account, amount in ((trading.current, -900), (saving, 900), (trading.current, 12000)):
        trading.line(account, amount)
    asked: list[tuple[str, dict[str, object]]] = []

    class Watching(ReadTx):
        def rows(self, sql: str, /, **values: object) -> list[tuple[Any, ...]]:
            asked.append((sql, values))
            return super().rows(sql, **values)

    def explain(tx: ReadTx) -> Iterator[tuple[str, str]]:
        watching = object.__new__(Watching)
        watching.__dict__.update(tx.__dict__)
        list_proposals(
            watching, trading.caller, trading.decoders["listProposals"].query(f"accountId={trading.current}")
        )
        for sql, values in dict(asked).items():
            assert "LIMIT" in sql
            for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", **values):
                yield sql, row[3]

    steps = trading.store.read(lambda tx: list(explain(tx)), trading.org_id)
    scans = [(sql, step) for sql, step in steps if step.startswith("SCAN") and "lines" not in step]
    assert scans == []
    used = " ".join(step for _, step in steps)
    assert {step.split()[4] for _, step in steps if step.startswith("SEARCH allocations ")} == {"allocations_by_source"}
    for index in (
        "bank_transactions_allocated",
        "bank_transactions_unallocated",
        "bank_transactions_by_match_key",
        "bank_transactions_by_amount",
    ):
        assert index in used, used
    for index in ("invoices_open_by_balance", "invoices_open_by_date"):
        assert index in used, used
