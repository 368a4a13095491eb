"""Listing invoices: filters, orders, cursors, what changed since, and statements that stay flat."""

import datetime
from collections.abc import Callable, Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.accounting.clients import rows as clients
from gatewayd.areas.accounting.invoices import moves, pages, payments, rows
from gatewayd.areas.accounting.invoices.payments import Payment
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.clock import DAY, MINUTE
from gatewayd.contract.pages import PAGE_BYTES
from gatewayd.errors import Problem
from gatewayd.money import Money
from gatewayd.store import ReadTx
from tests.areas.accounting.books import DECODERS, Books, Json
from tests.ledger import lets
from tests.support.plans import plan_of
from tests.support.store import MemoryStore


def ids(books: Books, query: str = "") -> list[str]:
    return [invoice["id"] for invoice in books.get("listInvoices", query)[0]]


def move(books: Books, work: Callable[..., object], *arguments: object) -> None:
    books.store.write(lambda tx: work(tx, *arguments), books.org_id)


def one_of_each(books: Books) -> dict[str, str]:
    """An invoice in each state, made oldest first; issued and part_paid are overdue."""
    late = {"issueDate": "2026-10-01", "dueDate": "2026-11-19"}
    made = {
        "draft": books.invoice(status="draft", **late)["id"],
        "issued": books.invoice(**late)["id"],
        "sent": books.invoice()["id"],
        "part_paid": books.invoice(**late)["id"],
        "paid": books.invoice(**late)["id"],
        "void": books.invoice(**late)["id"],
    }
    move(books, moves.mark_sent, made["sent"])
    move(books, payments.pay, made["part_paid"], Payment("40.00"))
    move(books, payments.pay, made["paid"], Payment())
    move(books, moves.void, made["void"], "made twice")
    return made


def test_newest_first_with_lines_as_created(books: Books) -> None:
    made = [books.invoice() for _ in range(3)]
    assert books.get("listInvoices")[0] == made[::-1]


def test_summary_only_leaves_the_lines_out(books: Books) -> None:
    invoice = books.invoice()
    del invoice["lines"]
    assert books.get("listInvoices", "summaryOnly=true")[0] == [invoice]


LONG_LINES = 150 * [{"description": "x" * 1_800, "unitPrice": "1.00"}]  # 300 kB as JSON
LISTS_OF_ALL = (
    *("", "updatedSince=2026-01-01T00:00:00Z", "issueDateFrom=2026-01-01", "dueDateFrom=2026-01-01"),
    *("status=draft,issued", "status=draft,issued&issueDateFrom=2026-01-01"),
)


def test_pages_of_large_invoices_hold_what_fits_and_lead_to_all(books: Books) -> None:
    client = books.client()
    made = [
        books.invoice(clientId=client, lines=LONG_LINES, status="draft" if number % 2 else "issued")["id"]
        for number in range(6)
    ]
    for query in LISTS_OF_ALL:
        found, sizes, cursor = [], [], ""
        while cursor is not None:
            listing = books.listing("listInvoices", f"limit=100&{query}{cursor}")
            assert len(listing.data) <= PAGE_BYTES
            items = msgspec.json.decode(listing.data)
            sizes.append(len(items))
            found += [invoice["id"] for invoice in items]
            assert all(len(invoice["lines"]) == len(LONG_LINES) for invoice in items)
            cursor = None if listing.next_cursor is None else f"&cursor={listing.next_cursor}"
        assert sizes == [3, 3], query
        assert sorted(found) == sorted(made), query
    assert len(books.get("listInvoices", "limit=100&summaryOnly=true")[0]) == 6


def test_the_callers_organization_alone(store: MemoryStore, books: Books) -> None:
    other = Books(store)
    invoice = other.invoice()
    for query in ("", f"clientId={invoice['clientId']}", "status=issued", "q=INV", "updatedSince=2026-01-01T00:00:00Z"):
        assert ids(books, query) == []


@pytest.mark.parametrize(
    ("query", "states"),
    [
        ("status=draft", ["draft"]),
        ("status=issued", ["issued"]),
        ("status=overdue", ["part_paid", "issued"]),
        ("status=overdue&status=issued", ["part_paid", "issued"]),
        ("status=sent,overdue,void", ["void", "part_paid", "sent", "issued"]),
        ("status=paid&status=paid", ["paid"]),
        ("status=draft,issued,sent,part_paid,paid,void", ["void", "paid", "part_paid", "sent", "issued", "draft"]),
        ("status=overdue&issueDateTo=2026-10-01", ["part_paid", "issued"]),
        ("status=sent,paid&updatedSince=2026-01-01T00:00:00Z", ["sent", "paid"]),
    ],
)
def test_status(books: Books, query: str, states: list[str]) -> None:
    made = one_of_each(books)
    assert ids(books, query) == [made[state] for state in states]


def test_overdue_begins_the_day_after_the_due_date(books: Books) -> None:
    invoice = books.invoice(dueDate="2026-11-20")
    assert ids(books, "status=overdue") == []
    books.store.clock.advance(DAY)
    assert ids(books, "status=overdue") == [invoice["id"]]
    assert books.get("listInvoices")[0][0]["isOverdue"] is True


def test_client_and_status(books: Books) -> None:
    client = books.client()
    first, second = books.invoice(clientId=client)["id"], books.invoice(clientId=client, status="draft")["id"]
    books.invoice()
    assert ids(books, f"clientId={client}") == [second, first]
    assert ids(books, f"clientId={client}&status=issued,paid") == [first]
    assert ids(books, "clientId=cli_none") == []
    assert ids(books, "businessId=biz_none") == []


def test_date_ranges_are_inclusive_and_ordered_by_that_date(books: Books) -> None:
    days = ("2026-03-02", "2026-03-01", "2026-03-03")
    made = {day: books.invoice(issueDate=day, dueDate=day.replace("03-", "04-"))["id"] for day in days}
    issued = ids(books, "issueDateFrom=2026-03-01&issueDateTo=2026-03-02")
    assert issued == [made["2026-03-02"], made["2026-03-01"]]
    assert ids(books, "issueDateFrom=2026-03-02") == [made["2026-03-03"], made["2026-03-02"]]
    assert ids(books, "dueDateTo=2026-04-02") == [made["2026-03-02"], made["2026-03-01"]]
    assert ids(books, "dueDateFrom=2026-04-03&issueDateTo=2026-03-31") == [made["2026-03-03"]]


def test_currency(books: Books) -> None:
    books.invoice()
    euro = books.invoice(currency="EUR")["id"]
    assert ids(books, "currency=EUR") == [euro]


@pytest.mark.parametrize(
    ("q", "references"),
    [("kitchen", ["Kitchen 100%"]), ("%25", ["Kitchen 100%"]), ("_", ["a_b"]), ("!", ["hey!"]), ("inv-00000", None)],
)
def test_q_takes_wildcards_literally(books: Books, q: str, references: list[str] | None) -> None:
    for reference in ("Kitchen 100%", "a_b", "hey!"):
        books.invoice(reference=reference)
    found = [invoice["reference"] for invoice in books.get("listInvoices", f"q={q}")[0]]
    assert found == (["hey!", "a_b", "Kitchen 100%"] if references is None else references)


QUERIES = (
    "limit=7",
    "limit=7&updatedSince=2026-01-01T00:00:00Z",
    "limit=7&issueDateFrom=2026-01-01",
    "limit=7&dueDateFrom=2026-01-01",
    "limit=7&status=issued,draft,overdue",
    "limit=7&summaryOnly=true&q=inv",
)


@pytest.mark.parametrize("query", QUERIES)
def test_walk_meets_each_invoice_once(books: Books, query: str) -> None:
    client = books.client()
    made = {books.invoice(clientId=client, issueDate=f"2026-11-{day % 9 + 1:02d}")["id"] for day in range(110)}
    walked = [invoice["id"] for invoice in books.walk("listInvoices", query)]
    assert len(walked) == len(made)
    assert set(walked) == made


@pytest.mark.parametrize("query", QUERIES)
def test_walk_while_others_are_made(books: Books, query: str) -> None:
    client = books.client()
    made = {books.invoice(clientId=client)["id"] for _ in range(30)}
    seen: list[str] = []
    items, cursor = books.get("listInvoices", query)
    for _ in range(3):
        seen += [item["id"] for item in items]
        books.store.clock.advance(MINUTE)
        books.invoice(clientId=client)
        items, cursor = books.get("listInvoices", f"{query}&cursor={cursor}")
    while cursor is not None:
        seen += [item["id"] for item in items]
        items, cursor = books.get("listInvoices", f"{query}&cursor={cursor}")
    seen += [item["id"] for item in items]
    assert len(seen) == len(set(seen))
    assert made <= set(seen)


def test_updated_since_follows_changes(books: Books) -> None:
    first, second = books.invoice()["id"], books.invoice()["id"]
    since = "updatedSince=2026-11-20T09:30:00Z"
    assert ids(books, since) == [first, second]
    books.store.clock.advance(MINUTE)
    move(books, moves.mark_sent, first)
    assert ids(books, since) == [second, first]
    (changed,) = books.get("listInvoices", "updatedSince=2026-11-20T09:31:00Z")[0]
    assert (changed["id"], changed["version"], changed["updatedAt"]) == (first, 2, "2026-11-20T09:31:00.000Z")
    assert ids(books, f"updatedSince={changed['updatedAt']}") == [first]
    assert ids(books, "updatedSince=2026-11-20T09:31:00.001Z") == []


@pytest.mark.parametrize(
    ("made_with", "used_with"),
    [("limit=1", "limit=1&q=x"), ("limit=1", "limit=1&issueDateFrom=2026-01-01"), ("limit=1", "summaryOnly=true")],
)
def test_invalid_cursor(books: Books, made_with: str, used_with: str) -> None:
    books.invoice()
    books.invoice()
    cursor = books.get("listInvoices", made_with)[1]
    with pytest.raises(Problem) as caught:
        books.get("listInvoices", f"{used_with}&cursor={cursor}")
    assert caught.value.code == "invalid_cursor"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "summaryOnly=true",
        "status=paid",
        "status=overdue",
        "status=draft,paid,overdue",
        "clientId=c",
        "clientId=c&status=paid,overdue",
        "businessId=b",
        "legalEntityId=e",
        "kind=credit_note",
        "propertyId=p",
        "externalId=x",
        "issueDateFrom=2026-01-01&issueDateTo=2026-12-31",
        "issueDateTo=2026-12-31",
        "dueDateFrom=2026-01-01",
        "currency=EUR",
        "q=x",
        "updatedSince=2026-01-01T00:00:00Z",
    ],
)
def test_no_statement_sorts_or_scans(books: Books, query: str) -> None:
    plans: list[str] = []

    class Explaining(ReadTx):
        def each(self, sql: str, /, **values: object) -> Iterator[tuple[object, ...]]:
            plans.extend(row[3] for row in super().rows(f"EXPLAIN QUERY PLAN {sql}", **values))
            return super().each(sql, **values)

    def explain(tx: ReadTx) -> None:
        explaining = object.__new__(Explaining)
        explaining.__dict__.update(tx.__dict__)
        pages.page(explaining, DECODERS["listInvoices"].query(query))

    books.store.read(explain, books.org_id)
    assert plans
    assert not [step for step in plans if "TEMP B-TREE" in step or "SCAN" in step], plans
    if "clientId" in query:
        assert all("invoices_of_client" in step for step in plans if "SEARCH" in step), plans


@pytest.mark.parametrize("query", ["legalEntityId=e", "kind=credit_note", "propertyId=p", "currency=EUR"])
def test_what_has_no_index_of_its_own_is_decided_in_that_of_the_list(books: Books, query: str) -> None:
    assert plan_of(books, "listInvoices", query) == ["SEARCH invoices USING INDEX invoices_page (org_id=? AND id<?)"]


def test_invoices_are_found_by_seller_kind_and_property(books: Books, store: MemoryStore) -> None:
    one, two = books.entity(), books.unregistered_entity()
    business = books.business(one)
    house = books.store.write(lambda tx: lets.insert_property(tx, business), books.org_id)
    first = books.invoice(legalEntityId=one, propertyId=house)["id"]
    second = books.invoice(legalEntityId=two)["id"]
    third = books.invoice(legalEntityId=one)["id"]
    note = books.credit(first)["id"]
    for query, expected in (
        (f"legalEntityId={one}", [note, third, first]),
        (f"legalEntityId={two}", [second]),
        ("kind=credit_note", [note]),
        ("kind=invoice", [third, second, first]),
        (f"kind=invoice&legalEntityId={one}&status=issued", [third]),
        (f"propertyId={house}&kind=invoice", [first]),
        ("legalEntityId=ent_01k0000000000000000000000x", []),
        ("propertyId=prop_01k0000000000000000000000x", []),
    ):
        assert [one["id"] for one in books.walk("listInvoices", f"{query}&limit=1")] == expected, query
        since = f"{query}&updatedSince=1970-01-01T00:00:00Z"
        assert {one["id"] for one in books.walk("listInvoices", f"{since}&limit=1")} == set(expected), query
    stranger = Books(store)
    assert stranger.get("listInvoices", f"legalEntityId={one}") == ([], None)
    assert stranger.get("listInvoices", f"propertyId={house}") == ([], None)


def test_a_clients_balances_come_from_their_index_alone(books: Books) -> None:
    sql = f"SELECT {clients.BALANCES} FROM clients WHERE org_id = :org_id AND id = :id"

    def plan(tx: ReadTx) -> list[str]:
        return [row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", today="2026-11-20", id="a")]

    steps = books.store.read(plan, books.org_id)
    assert sum("invoices USING COVERING INDEX invoices_open" in step for step in steps) == 3, steps
    assert not any("SCAN invoices" in step or "SCAN clients" in step for step in steps), steps


# -- the bytes that are kept


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs", "Cf")), max_size=20)
prices = st.decimals(min_value=0, max_value=99999, places=2).map(str)
random_lines = st.fixed_dictionaries(
    {"description": texts.filter(bool), "unitPrice": prices},
    optional={
        "quantity": st.decimals(min_value=0, max_value=999, places=3).map(str),
        "discountPercent": st.integers(0, 100).map(str),
        "unit": texts.filter(bool),
        "vatCode": st.sampled_from(["standard", "reduced", "zero", "exempt", "outside_scope"]),
        "cisLabour": st.booleans(),
    },
)
random_invoices = st.fixed_dictionaries(
    {"lines": st.lists(random_lines, min_size=1, max_size=4), "currency": st.sampled_from(["GBP", "EUR", "JPY"])},
    optional={
        "fxRate": st.just("0.005"),
        "amountsAre": st.sampled_from(["exclusive", "inclusive"]),
        "vatRounding": st.sampled_from(["line", "total"]),
        "reference": texts,
        "notes": texts,
        "supplyDate": st.dates(datetime.date(2005, 1, 1), datetime.date(2027, 1, 1)).map(str),
    },
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(random_invoices, min_size=1, max_size=3), st.data())
def test_what_is_kept_equals_what_the_columns_give(registered: Books, made: list[Json], data: st.DataObject) -> None:
    client = registered.client()
    for fields in made:
        if fields["currency"] == "GBP":
            fields.pop("fxRate", None)
        invoice = registered.invoice(**{**fields, "clientId": client, "status": "draft"})
        moves = data.draw(st.lists(st.sampled_from(["issue", "send", "pay", "part", "unpay", "credit", "void"])))
        for name in moves:
            _move(registered, name, invoice["id"])
    registered.store.read(_compare, registered.org_id)


def _move(books: Books, name: str, invoice_id: str) -> None:
    steps = {
        "issue": (moves.issue,),
        "send": (moves.mark_sent,),
        "pay": (payments.pay, Payment()),
        "part": (payments.pay, Payment("1", method="cash", reference="r")),
        "unpay": (payments.unpay, 1),
        "void": (moves.void, "made twice"),
    }
    try:
        if name == "credit":
            books.credit(invoice_id)
        else:
            work, *more = steps[name]
            move(books, work, invoice_id, *more)
    except Problem as problem:
        if problem.code not in ("invalid_state", "validation_failed", "not_found"):
            raise


def _compare(tx: ReadTx) -> None:
    found = tx.rows("SELECT id, wire, head_length, open_due_date FROM invoices WHERE org_id = :org_id ORDER BY id")
    assert found
    assert rows.stale(tx, "", 1000) == [(invoice_id, False) for invoice_id, *_ in found]
    for invoice_id, wire, head_length, open_due_date in found:
        row = INVOICES.get(tx, invoice_id)
        lines, payments = rows.lines_of(tx, row), rows.payments_of(tx, invoice_id, row.currency)
        assert wire[head_length:].startswith(b',"lines":[{"position":1,')
        assert rows.id_of(wire) == invoice_id
        assert rows.open_due_date(row) == open_due_date
        assert sum(line.gross.minor for line in lines) == row.gross_total.minor
        assert sum(payment.amount.minor for payment in payments) == row.paid_total.minor
        _check_balance(tx, row.id)


def _check_balance(tx: ReadTx, invoice_id: str) -> None:
    row = INVOICES.get(tx, invoice_id)
    assert row.credited_total == rows.credited(tx, row)[1]
    due = row.gross_total - row.cis_deduction - row.paid_total - row.credited_total
    nothing = Money(0, row.currency)
    assert row.balance_due == (nothing if row.kind == "credit_note" or row.status == "void" else due)
    if row.status == "paid":
        assert row.balance_due <= nothing
    if row.status == "part_paid":
        assert row.balance_due > nothing
        assert row.paid_total + row.credited_total > nothing


def test_the_credit_notes_of_an_invoice(books: Books) -> None:
    first, second = books.invoice(), books.invoice()
    notes = [books.credit(invoice["id"])["id"] for invoice in (first, second)]
    assert ids(books, f"creditsInvoiceId={first['id']}") == notes[:1]
    assert ids(books, f"creditsInvoiceId={second['id']}&status=draft") == []
    plans = plan_of(books, "listInvoices", "creditsInvoiceId=x")
    assert any("USING INDEX invoices_credits " in step for step in plans), plans
