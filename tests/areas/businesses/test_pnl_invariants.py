"""What always holds of profit and loss (Domain C1), over random books and against a reckoning of the test's own."""

import datetime
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.ledger.allocating.allocation_shapes import Part
from tests.areas.accounting.books import RANDOM_BOOKS
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.areas.businesses.pnl_scenarios import (
    MONEY,
    SALE,
    Money,
    Reckoning,
    Sale,
    added,
    bank_line,
    days,
    shown,
)
from tests.support.store import MemoryStore

VATS: dict[str, dict[str, object]] = {
    "unregistered": {"vatNumber": None, "vat": None},
    "registered": {},
    "flat_rate": {
        "vat": {
            "status": "registered",
            "effectiveDate": "2025-06-15",
            "scheme": "flat_rate",
            "flatRatePercent": "12.5",
        }
    },
    "from_july": {"vat": {"status": "registered", "effectiveDate": "2026-07-01"}},
}
CIS = {"subcontractor": True, "verifiedRate": 20}
RANGE = ("2026-01-20", "2026-11-10")
each_run = settings(
    max_examples=RANDOM_BOOKS, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
each_basis = pytest.mark.parametrize("basis", ["cash", "accruals"])
SCENARIO = (st.lists(MONEY, max_size=6), st.lists(SALE, max_size=3))


def filled(
    store: MemoryStore, vat: str, monies: Sequence[Money], sales: Sequence[Sale]
) -> tuple[LedgerBooks, str, Reckoning]:
    """Books of an organization of their own, their business, and the reckoning of them."""
    books = LedgerBooks(store)
    owner = books.entity(cis=CIS, **VATS[vat])
    business = books.trade(owner)
    reckoning = Reckoning(books, business, owner, net=vat == "registered")
    for money in monies:
        reckoning.allocate(money)
    for sale in sales:
        reckoning.sell(sale)
    return books, business, reckoning


@each_basis
@pytest.mark.parametrize("vat", ["unregistered", "registered"])
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1], first=days(), last=days())
def test_the_account_is_what_a_reckoning_by_evenings_comes_to(
    store: MemoryStore, vat: str, basis: str, monies: list[Money], sales: list[Sale], first: str, last: str
) -> None:
    first, last = sorted((first, last))
    books, business, reckoning = filled(store, vat, monies, sales)
    assert shown(books.pnl(business, first, last, basis=basis)) == reckoning.lines(first, last, basis)


@each_basis
@pytest.mark.parametrize("vat", VATS)
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1], split=st.dates(datetime.date(2026, 1, 21), datetime.date(2026, 11, 10)))
def test_buckets_halves_and_explained_rows_add_up_to_the_whole(
    store: MemoryStore, vat: str, basis: str, monies: list[Money], sales: list[Sale], split: datetime.date
) -> None:
    books, business, _ = filled(store, vat, monies, sales)
    first, last = RANGE
    whole = books.pnl(business, first, last, basis=basis, groupBy="month", explain=True, limit=100)
    assert added(map(shown, whole["buckets"])) == shown(whole)
    quarters = books.pnl(business, first, last, basis=basis, groupBy="quarter")["buckets"]
    assert added(map(shown, quarters)) == shown(whole)
    eve = (split - datetime.timedelta(days=1)).isoformat()
    halves = (first, eve), (split.isoformat(), last)
    assert added(shown(books.pnl(business, *half, basis=basis)) for half in halves) == shown(whole)
    assert added(map(_row, whole["explanation"]["data"])) == shown(whole)


@each_run
@given(
    monies=st.lists(st.tuples(MONEY, st.integers(0, 100), st.integers(0, 1)), max_size=8),
    sales=st.lists(SALE, max_size=2),
    drawn=st.integers(1, 10_000),
)
def test_on_cash_basis_all_businesses_and_the_rest_are_the_movement_of_the_accounts(
    store: MemoryStore, monies: list[tuple[Money, int, int]], sales: list[Sale], drawn: int
) -> None:
    """Of somebody without VAT and CIS whose clients pay what is due: an invoice's payment counts as the invoice."""
    books = LedgerBooks(store)
    owner = books.unregistered_entity()
    businesses = [books.trade(owner), books.trade(owner, name="Carving")]
    account = books.account(owner, *businesses)
    for money, left, which in monies:
        bank_line(books, account, businesses[which], money, left)
    books.allocate(books.line(account, -drawn), Part(category="not_pnl", purpose="drawings"))
    for sale in sales:
        _sell_and_pay(books, account, businesses[0], owner, sale)
    accounts = [books.pnl(business, "2026-01-01", "2026-11-20") for business in businesses]
    profits = sum(_minor(one["totals"]["netProfit"]) for one in accounts)
    movement = books.store.read(lambda tx: tx.value(_MOVEMENT, account_id=account), books.org_id)
    assert profits - drawn + _minor(accounts[0]["unallocated"]["amount"]) == movement
    assert accounts[0]["unallocated"] == accounts[1]["unallocated"]


@each_basis
@each_run
@given(monies=SCENARIO[0], sales=SCENARIO[1], amount=st.integers(1, 99_999), day=days())
def test_a_pair_of_transfers_changes_nothing(
    store: MemoryStore, basis: str, monies: list[Money], sales: list[Sale], amount: int, day: str
) -> None:
    books, business, _ = filled(store, "registered", monies, sales)
    first, last = RANGE
    before = books.pnl(business, first, last, basis=basis, groupBy="month")
    for signed in (amount, -amount):
        account = books.account(None, business)
        transfer = Part(category="not_pnl", purpose="transfer", business_id=business)
        books.allocate(books.line(account, signed, date=day), transfer)
    assert books.pnl(business, first, last, basis=basis, groupBy="month") == before


_MOVEMENT = "SELECT coalesce(sum(amount), 0) FROM bank_transactions WHERE org_id = :org_id AND account_id = :account_id"


def _sell_and_pay(books: LedgerBooks, account: str, business: str, owner: str, sale: Sale) -> None:
    """An invoice whose payments come by the bank, each of what is still due at most."""
    each = [{"description": "Work", "unitPrice": f"{price / 100:.2f}"} for price, _ in sale.lines]
    made = books.invoice(businessId=business, legalEntityId=owner, lines=each, issueDate=sale.date)
    due = _minor(made["grossTotal"])
    for note in sale.notes:
        paid = min(due, max(1, due * note.percent // 100))
        if paid:
            due -= paid
            books.post("recordPayment", invoiceId=made["id"], amount=f"{paid / 100:.2f}", date=note.date)
            line = books.line(account, paid, date=note.date)
            (half,) = books.allocate(line, Part(category="not_pnl", purpose="other"))
            books.set(half.id, purpose="invoice_payment", invoice_id=made["id"])


def _row(row: dict[str, str]) -> dict[str, int]:
    category, amount = row["category"], _minor(row["amount"])
    if category == "taxTakenOffTradingIncome":
        return {"held": amount}
    return {category: amount, "-" + category: _minor(row["disallowable"])}


def _minor(text: str) -> int:
    return int(text.replace(".", ""))
