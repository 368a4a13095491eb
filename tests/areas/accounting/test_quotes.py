"""Quotes: what is offered, what becomes of it, and the invoices that are made of it."""

from contextlib import suppress
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, RANDOM_BOOKS, Books, Json, fields_of, lines
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


def quote(books: Books, **fields: object) -> Json:
    """A draft of one line of 100.00, but for what `fields` say."""
    client = {} if "clientId" in fields else {"clientId": books.client()}
    return books.post("createQuote", **{"lines": [LINE], **client, **fields})


def act(books: Books, operation: str, of: Json, **fields: object) -> Json:
    return books.post(operation, quoteId=of["id"], **fields)


def accepted(books: Books, **fields: object) -> Json:
    made = quote(books, **fields)
    act(books, "issueQuote", made)
    return act(books, "acceptQuote", made)


def shown(books: Books, of: Json) -> Json:
    return books.one("getQuote", f"quoteId={of['id']}")


def invoiced(books: Books, of: Json, **fields: object) -> Json:
    return act(books, "invoiceQuote", of, **{"status": "issued", **fields})


def refused(books: Books, operation: str, of: Json, **fields: object) -> Problem:
    with pytest.raises(Problem) as caught:
        act(books, operation, of, **fields)
    return caught.value


def wrong(books: Books, **fields: object) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        quote(books, **fields)
    return fields_of(caught.value)


# -- what is offered


def test_a_quote_comes_to_what_its_invoice_would(registered: Books) -> None:
    found = quote(registered, lines=lines({"quantity": "3"}, {"vatCode": "zero"}), discountAmount="40", reference="R")
    assert (found["status"], found["number"], found["invoicedTotal"]) == ("draft", None, "0.00")
    assert (found["issueDate"], found["validUntil"]) == (TODAY, "2026-12-20")
    # 300 and 100 less 30 and 10: VAT is a fifth of 270
    assert (found["netTotal"], found["vatTotal"], found["grossTotal"]) == ("360.00", "54.00", "414.00")
    assert [line["gross"] for line in found["lines"]] == ["324.00", "90.00"]
    assert [line["vatCode"] for line in found["lines"]] == ["standard", "zero"]
    assert shown(registered, found) == found


def test_every_field_comes_to_the_quote(registered: Books) -> None:
    seller = registered.entity(name="Elm", vatNumber=OTHER_BRITISH_VAT_NUMBER)
    asked: Json = {
        "legalEntityId": seller,
        "businessId": registered.business(seller),
        "issueDate": "2026-11-19",
        "validUntil": "2026-11-30",
        "currency": "EUR",
        "amountsAre": "inclusive",
        "vatRounding": "total",
        "discountAmount": "1.00",
        "poNumber": "P",
        "notes": "N",
        "terms": "T",
        "externalId": "E1",
    }
    found = quote(registered, **asked)
    assert {name: found[name] for name in asked} == asked
    assert registered.get("listQuotes", "externalId=E1")[0] == [found]
    errors = wrong(registered, legalEntityId=seller, propertyId="prop_x", validUntil="2026-11-19", clientId="cli_x")
    assert sorted(errors) == [
        ("clientId", "unknown_reference"),
        ("propertyId", "unknown_reference"),
        ("validUntil", "date_order"),
    ]
    with pytest.raises(Problem) as caught:
        quote(registered, **asked)
    assert caught.value.code == "already_exists"
    other = quote(registered, legalEntityId=seller)
    assert refused(registered, "updateQuote", other, externalId="E1").code == "already_exists"


def test_a_draft_changes_and_is_deleted(registered: Books) -> None:
    found = quote(registered, validUntil="2026-12-01")
    changed = act(registered, "updateQuote", found, lines=[{**LINE, "unitPrice": "50"}], notes="N", expectedVersion=1)
    assert (changed["grossTotal"], changed["notes"], changed["version"]) == ("60.00", "N", 2)
    assert changed["validUntil"] == "2026-12-01"
    assert refused(registered, "updateQuote", found, expectedVersion=1).code == "version_conflict"
    assert refused(registered, "acceptQuote", found).code == "invalid_state"
    assert refused(registered, "deleteQuote", found, expectedVersion=1).code == "version_conflict"
    act(registered, "deleteQuote", found)
    assert registered.get("listQuotes")[0] == []
    assert registered.get("listQuotes", "updatedSince=2026-11-20T00:00:00Z")[0] == []


def test_quotes_are_numbered_by_themselves(registered: Books) -> None:
    first, second = quote(registered), quote(registered)
    registered.invoice()
    sent = act(registered, "issueQuote", second)
    assert (sent["number"], sent["status"], sent["sentAt"] is not None) == ("QUO-000001", "sent", True)
    assert sent["sellerSnapshot"]["vatNumber"] == "980780684"
    assert sent["clientSnapshot"]["name"] == "Harbour Ltd"
    registered.post("setNumbering", kind="quote", pattern="Q{yyyy}-{001}")
    assert act(registered, "issueQuote", first)["number"] == "Q2026-001"
    assert registered.one("getNumbering", "kind=quote")["nextNumber"] == "Q2026-002"
    assert registered.one("getNumbering", "")["nextNumber"] == "INV-000002"
    registered.post("setNumbering", kind="quote", pattern="QUO-{000001}")
    assert registered.one("getNumbering", "kind=quote")["nextNumber"] == "QUO-000002"
    assert refused(registered, "issueQuote", first).code == "invalid_state"
    assert refused(registered, "deleteQuote", first).code == "invalid_state"


# -- what becomes of it


def test_a_quote_expires_the_day_after_it_held(registered: Books) -> None:
    found = quote(registered, validUntil=TODAY)
    act(registered, "issueQuote", found)
    assert shown(registered, found)["status"] == "sent"
    registered.store.clock.advance(DAY)
    assert shown(registered, found)["status"] == "expired"
    assert [each["id"] for each in registered.get("listQuotes", "status=expired")[0]] == [found["id"]]
    assert registered.get("listQuotes", "status=sent")[0] == []
    assert fields_of(refused(registered, "acceptQuote", found)) == [("acceptedDate", "out_of_range")]
    assert fields_of(refused(registered, "updateQuote", found, notes="N")) == [("notes", "conflict")]
    assert fields_of(refused(registered, "updateQuote", found, validUntil="2026-11-19")) == [
        ("validUntil", "date_order")
    ]
    assert act(registered, "updateQuote", found, validUntil="2026-11-25")["status"] == "sent"
    assert act(registered, "acceptQuote", found, acceptedDate=TODAY)["acceptedDate"] == TODAY


@pytest.mark.parametrize("date", ["2026-11-19", "2026-11-21"])
def test_a_quote_is_accepted_on_a_day_on_which_it_held(registered: Books, date: str) -> None:
    found = quote(registered)
    act(registered, "issueQuote", found)
    assert fields_of(refused(registered, "acceptQuote", found, acceptedDate=date)) == [("acceptedDate", "out_of_range")]


def test_a_quote_is_declined(registered: Books) -> None:
    found = accepted(registered)
    draft = act(registered, "invoiceQuote", found, percent="50")
    assert refused(registered, "declineQuote", found).code == "invalid_state"
    registered.post("deleteInvoice", invoiceId=draft["id"])
    after = act(registered, "declineQuote", found, declineReason="Too dear")
    assert (after["status"], after["declineReason"], after["acceptedDate"]) == ("declined", "Too dear", None)
    assert refused(registered, "invoiceQuote", found).code == "invalid_state"
    query = f"status=declined&clientId={found['clientId']}"
    assert [each["id"] for each in registered.get("listQuotes", query)[0]] == [found["id"]]
    for status in ("draft", "accepted", "invoiced"):
        assert registered.get("listQuotes", f"status={status}")[0] == []


@pytest.mark.parametrize("operation", ["issueQuote", "acceptQuote", "declineQuote", "invoiceQuote"])
def test_who_read_another_version_is_refused(registered: Books, operation: str) -> None:
    found = quote(registered)
    assert refused(registered, operation, found, expectedVersion=7).code == "version_conflict"


def test_another_organization_sees_none_of_it(store: MemoryStore) -> None:
    mine, others = Books(store), Books(store, "Ash Ltd")
    found = quote(mine)
    for operation in ("issueQuote", "acceptQuote", "deleteQuote", "invoiceQuote", "updateQuote"):
        assert refused(others, operation, found).code == "not_found"
    assert others.get("listQuotes")[0] == []


# -- its invoices


def test_all_of_it_is_the_invoice_that_was_quoted(registered: Books) -> None:
    found = accepted(
        registered, lines=lines({"quantity": "3", "discountPercent": "10"}), discountAmount="20", notes="N"
    )
    invoice = invoiced(registered, found, issueDate="2026-11-19", paymentTermsDays=5, supplyDate="2026-11-18")
    assert [invoice[name] for name in ("netTotal", "vatTotal", "grossTotal")] == ["250.00", "50.00", "300.00"]
    assert [invoice[name] for name in ("issueDate", "dueDate", "supplyDate")] == [
        "2026-11-19",
        "2026-11-24",
        "2026-11-18",
    ]
    assert (invoice["quoteId"], invoice["notes"]) == (found["id"], "N")
    assert [(line["quantity"], line["discountPercent"]) for line in invoice["lines"]] == [("3", "10")]
    after = shown(registered, found)
    assert (after["status"], after["invoicedTotal"]) == ("invoiced", "300.00")
    assert [each["id"] for each in registered.get("listInvoices", f"quoteId={found['id']}")[0]] == [invoice["id"]]
    assert refused(registered, "invoiceQuote", found).code == "invalid_state"


def test_a_deposit_bears_the_vat_in_it_of_each_rate_and_the_last_invoice_takes_it_off(registered: Books) -> None:
    """By hand: 1,000 at 20 % and 200 at 0 are 1,400. Of 30 %, 420, 360 bear VAT: a sixth, 60 (VATA 1994 s.6(4))."""
    found = accepted(registered, lines=lines({"unitPrice": "1000"}, {"unitPrice": "200", "vatCode": "zero"}))
    deposit = invoiced(registered, found, percent="30")
    assert [deposit[name] for name in ("netTotal", "vatTotal", "grossTotal")] == ["360.00", "60.00", "420.00"]
    assert deposit["supplyDate"] == TODAY
    assert [line["description"] for line in deposit["lines"]] == ["Part of quote QUO-000001 of 2026-11-20"] * 2
    assert shown(registered, found)["invoicedTotal"] == "420.00"
    last = invoiced(registered, found)
    assert [last[name] for name in ("netTotal", "vatTotal", "grossTotal")] == ["840.00", "140.00", "980.00"]
    assert [(line["description"], line["gross"]) for line in last["lines"]] == [
        ("Joinery", "1200.00"),
        ("Joinery", "200.00"),
        ("Less invoice INV-000001 of 2026-11-20", "-360.00"),
        ("Less invoice INV-000001 of 2026-11-20", "-60.00"),
    ]
    assert shown(registered, found)["status"] == "invoiced"


def test_no_more_than_the_quote_is_invoiced(registered: Books) -> None:
    found = accepted(registered)
    assert fields_of(refused(registered, "invoiceQuote", found, amount="120.01")) == [("amount", "out_of_range")]
    assert fields_of(refused(registered, "invoiceQuote", found, percent="0")) == [("percent", "out_of_range")]
    assert fields_of(refused(registered, "invoiceQuote", found, amount="1.001")) == [("amount", "invalid_decimal")]
    both = refused(registered, "invoiceQuote", found, amount="1", percent="1")
    assert fields_of(both) == [("amount", "conflict")]
    assert invoiced(registered, found, amount="100.00")["grossTotal"] == "100.00"
    assert fields_of(refused(registered, "invoiceQuote", found, percent="20")) == [("percent", "out_of_range")]


def test_a_draft_waits_and_is_held_to_the_quote_when_it_is_issued(registered: Books) -> None:
    found = accepted(registered)
    draft = act(registered, "invoiceQuote", found, amount="60")
    assert shown(registered, found)["invoicedTotal"] == "0.00"
    assert refused(registered, "invoiceQuote", found).code == "invalid_state"
    dearer = registered.post("updateInvoice", invoiceId=draft["id"], lines=[{**LINE, "unitPrice": "121"}])
    assert dearer["quoteId"] == found["id"]
    with pytest.raises(Problem) as caught:
        registered.post("issueInvoice", invoiceId=draft["id"])
    assert fields_of(caught.value) == [("lines", "out_of_range")]
    registered.post("updateInvoice", invoiceId=draft["id"], lines=[{**LINE, "unitPrice": "120"}])
    registered.post("issueInvoice", invoiceId=draft["id"])
    assert shown(registered, found)["status"] == "invoiced"


def test_what_is_void_or_credited_can_be_invoiced_again(registered: Books) -> None:
    found = accepted(registered)
    invoice = invoiced(registered, found)
    registered.post("voidInvoice", invoiceId=invoice["id"], reason="Wrong")
    assert (shown(registered, found)["status"], shown(registered, found)["invoicedTotal"]) == ("accepted", "0.00")
    deposit = invoiced(registered, found, percent="50")
    registered.credit(deposit["id"], lines=[{**LINE, "unitPrice": "20"}])
    assert shown(registered, found)["invoicedTotal"] == "40.00"
    last = invoiced(registered, found)
    assert (last["grossTotal"], last["vatTotal"]) == ("80.00", "13.33")
    assert shown(registered, found)["invoicedTotal"] == "120.00"


def test_other_vat_than_the_quote_shows_is_refused(registered: Books) -> None:
    """The standard rate was 17.5 % until 3 January 2011 (Finance (No. 2) Act 2010 s.3)."""
    found = accepted(registered)
    sql = "UPDATE legal_entities SET vat_status = 'deregistered', vat_deregistration_date = '2026-11-20'"
    registered.store.write(lambda tx: tx.run(sql))
    assert fields_of(refused(registered, "invoiceQuote", found)) == [("lines[0].vatCode", "vat_not_registered")]
    early = refused(registered, "invoiceQuote", found, supplyDate="2010-06-01")
    assert fields_of(early) == [("supplyDate", "conflict")]


def test_a_closed_period_takes_no_invoice_of_a_quote(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    found = accepted(books)
    store.write(lambda tx: period_locks.close(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)
    assert refused(books, "invoiceQuote", found, status="issued").code == "period_closed"
    assert shown(books, found)["invoicedTotal"] == "0.00"


PRICE = st.integers(1, 99_999).map(lambda pence: str(Decimal(pence) / 100))
SOLD = st.fixed_dictionaries(
    {
        "unitPrice": PRICE,
        "quantity": st.sampled_from(["1", "2", "3.5"]),
        "vatCode": st.sampled_from(["standard", "reduced", "zero", "exempt"]),
        "discountPercent": st.sampled_from(["0", "12.5"]),
    }
)


def vat_of(line: Json) -> Decimal:
    """By the rule of domain C4, worked out apart: exclusive, half up on each line."""
    rate = {"standard": 20, "reduced": 5}.get(line["vatCode"], 0)
    exact = Decimal(line["quantity"]) * Decimal(line["unitPrice"]) * (100 - Decimal(line["discountPercent"])) / 100
    net = exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return (net * rate / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)


@settings(
    max_examples=RANDOM_BOOKS,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(sold=st.lists(SOLD, min_size=1, max_size=5), parts=st.lists(st.integers(1, 60), max_size=4))
def test_parts_and_the_rest_come_to_the_quote_exactly(store: MemoryStore, sold: list[Json], parts: list[int]) -> None:
    books = Books(store)
    books.entity()
    found = accepted(books, lines=[{"description": "X", **line} for line in sold])
    made: list[Any] = []
    for percent in parts:
        with suppress(Problem):  # no more is left
            made.append(invoiced(books, found, percent=str(percent)))
        total = sum((Decimal(each["grossTotal"]) for each in made), Decimal(0))
        assert total <= Decimal(found["grossTotal"])
    if shown(books, found)["status"] != "invoiced":
        made.append(invoiced(books, found))
    assert sum(Decimal(each["grossTotal"]) for each in made) == Decimal(found["grossTotal"])
    assert sum(Decimal(each["vatTotal"]) for each in made) == sum(map(vat_of, sold))
    assert shown(books, found)["status"] == "invoiced"
