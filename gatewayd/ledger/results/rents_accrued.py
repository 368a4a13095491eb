"""Rents as accruals count them: when they fall due, and as a loss when they are written off (Domain C1). Reads only.

What comes for a tenancy pays what it owes, and is no income of its own day. So that sums of allocations need not look
at tenancies, such money is taken out again here.

Chosen: a tenancy in another currency than the business's books, and those of a property whose rent is invoiced, count
by their money and invoices as before: nothing says at which rate rent falls due, and no rent counts twice.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.allocating.rents_received import IS_RENT, WRITTEN_OFF
from gatewayd.ledger.dates.date_ranges import DateRange, before
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Terms
from gatewayd.ledger.results.allocated_money import FIGURES, Account, bears_flat_rate, money_of, posting_of
from gatewayd.ledger.results.profit_and_loss import Posting
from gatewayd.money import half_up
from gatewayd.store import ReadTx

RentKind = Literal["due", "settled", "written_off"]

_SELECT_LETS = f"""
SELECT tenancies.id, property_id, properties.use, {stored_terms.COLUMNS}
FROM tenancies JOIN properties ON properties.org_id = tenancies.org_id AND properties.id = property_id
WHERE tenancies.org_id = :org_id AND properties.business_id = :business_id AND cancelled_at IS NULL
"""
_SELECT_INVOICED: Final = """
SELECT DISTINCT coalesce(l.property_id, i.property_id)
FROM invoices AS i JOIN invoice_lines AS l ON l.org_id = i.org_id AND l.invoice_id = i.id
WHERE i.org_id = :org_id AND i.status <> 'draft' AND i.status <> 'void' AND i.kind = 'invoice'
    AND coalesce(l.property_id, i.property_id) IS NOT NULL
    AND (l.category IS NULL OR l.category = 'periodAmount' OR l.category = 'rentARoomRentsReceived'
        OR l.category = 'turnover')
"""
_OF_TENANCIES = f"""
FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND tenancy_id IS NOT NULL AND currency = :currency
    AND {IS_RENT}
""".strip()
_SELECT_MONEY = f"SELECT {FIGURES}, tenancy_id, property_id {_OF_TENANCIES}"
_BY_DAY = (
    f"{_SELECT_MONEY} AND document_date IS NULL AND date BETWEEN :first AND :last",
    f"{_SELECT_MONEY} AND document_date BETWEEN :first AND :last",
)
_SELECT_VAT = f"SELECT tenancy_id, sum(amount), sum(vat_amount) {_OF_TENANCIES} GROUP BY tenancy_id"
_SELECT_WRITTEN_OFF = f"""
SELECT id, date, amount, tenancy_id, property_id FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND tenancy_id IS NOT NULL AND currency = :currency
    AND date BETWEEN :first AND :last AND {WRITTEN_OFF}
"""
_SELECT_CAME = f"""
SELECT tenancy_id, sum(CASE WHEN {WRITTEN_OFF} THEN 0 WHEN direction = 'in' THEN amount ELSE -amount END),
    sum(CASE WHEN {WRITTEN_OFF} THEN amount ELSE 0 END)
FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND tenancy_id IS NOT NULL AND currency = :currency
    AND date <= :last AND ({IS_RENT} OR {WRITTEN_OFF})
GROUP BY tenancy_id
"""


class RentEntry(NamedTuple):
    """What a rent counts for on an ISO date: due, as a loss, or taken out again where money settled what was owed.

    `allocation_id` is the money, or the entry that wrote it off; None: it fell due.
    """

    date: str
    kind: RentKind
    posting: Posting
    tenancy_id: str
    property_id: str
    allocation_id: str | None = None


class RentDebtors(NamedTuple):
    """What tenants owe, minor units, gross of VAT: the debtors, and what they paid ahead, at the start and the end.

    opening debtors - opening paid ahead + due - received - written off = closing debtors - closing paid ahead
    """

    opening_debtors: int
    opening_paid_ahead: int
    due: int
    received: int
    written_off: int
    closing_debtors: int
    closing_paid_ahead: int


class _Let(NamedTuple):
    property_id: str
    use: str
    terms: Terms


class Rents(NamedTuple):
    """The rents of a range, and how many tenancies count by their money or invoices instead."""

    entries: tuple[RentEntry, ...] = ()
    by_money: int = 0
    net_of_vat: bool = False

    @property
    def settled(self) -> frozenset[str]:
        """The allocations that paid rents which were due, and count for nothing themselves."""
        return frozenset(
            entry.allocation_id for entry in self.entries if entry.kind == "settled" and entry.allocation_id
        )

    def of(self, property_id: str | None) -> "Rents":
        """Those of a property; None: of none, and there are none."""
        return self._replace(entries=tuple(entry for entry in self.entries if entry.property_id == property_id))


def of_account(tx: ReadTx, account: Account, date_range: DateRange) -> Rents:
    """The rents of a business in a range; none on cash basis. Raises `Problem` `currency_mismatch`."""
    if account.basis != "accruals":
        return Rents()
    lets, by_money = _counted(tx, account)
    if not lets:
        return Rents(by_money=by_money)
    values = {"business_id": account.business_id, "currency": account.currency, **date_range._asdict()}
    vat = (
        {id_: (amount, part) for id_, amount, part in tx.rows(_SELECT_VAT, **values)} if _is_registered(account) else {}
    )
    entries = [*_due(account, lets, date_range, vat), *_settled(tx, account, lets, values)]
    for id_, date, amount, tenancy_id, property_id in tx.rows(_SELECT_WRITTEN_OFF, **values):
        if tenancy_id in lets:
            loss = Posting(loss_category(account.business_type), _net(account, date, amount, vat.get(tenancy_id)))
            entries.append(RentEntry(date, "written_off", loss, tenancy_id, property_id, id_))
    return Rents(tuple(entries), by_money, any(part for _, part in vat.values()))


def debtors(
    tx: ReadTx, account: Account, date_range: DateRange, properties: Collection[str] | None = None
) -> RentDebtors:
    """What tenants owed at both ends of a range, and what came between; of some properties, or None for all."""
    lets, _ = _counted(tx, account)
    if properties is not None:
        lets = {id_: let for id_, let in lets.items() if let.property_id in properties}
    ends = []
    for day in (before(date_range.first), date_range.last):
        values = {"business_id": account.business_id, "currency": account.currency, "last": day}
        came = {id_: (money, lost) for id_, money, lost in tx.rows(_SELECT_CAME, **values) if id_ in lets}
        due = {id_: schedule.due_until(let.terms, day) for id_, let in lets.items()}
        owed = [due[id_] - sum(came.get(id_, (0, 0))) for id_ in lets]
        sums = sum(due.values()), sum(pair[0] for pair in came.values()), sum(pair[1] for pair in came.values())
        ends.append((sum(max(amount, 0) for amount in owed), sum(max(-amount, 0) for amount in owed), sums))
    (owed_first, ahead_first, first), (owed_last, ahead_last, last) = ends
    due_then, money_then, lost_then = first
    due_now, money_now, lost_now = last
    return RentDebtors(
        opening_debtors=owed_first,
        opening_paid_ahead=ahead_first,
        due=due_now - due_then,
        received=money_now - money_then,
        written_off=lost_now - lost_then,
        closing_debtors=owed_last,
        closing_paid_ahead=ahead_last,
    )


def loss_category(business_type: str) -> Literal["other", "irrecoverableDebts"]:
    """The line of rent that was written off. HMRC's lines of property have none for bad debts."""
    return "other" if business_type in PROPERTY_TYPES else "irrecoverableDebts"


def _counted(tx: ReadTx, account: Account) -> tuple[dict[str, _Let], int]:
    """The tenancies of a business that count by what falls due, and how many others there are."""
    invoiced = {row[0] for row in tx.rows(_SELECT_INVOICED)}
    lets, others = {}, 0
    for id_, property_id, use, currency, *terms in tx.rows(_SELECT_LETS, business_id=account.business_id):
        if currency == account.currency and property_id not in invoiced:
            lets[id_] = _Let(property_id, use, stored_terms.terms_of(currency, *terms))
        else:
            others += 1
    return lets, others


def _due(
    account: Account, lets: Mapping[str, _Let], date_range: DateRange, vat: Mapping[str, tuple[int, int]]
) -> Iterator[RentEntry]:
    for id_, let in lets.items():
        category = rents_received.category_of(account.business_type, let.use)
        for due in schedule.dues(let.terms, *date_range):
            amount = _net(account, due.first, due.amount, vat.get(id_))
            if account.vat.treatment_on(due.first) == "flat_rate" and bears_flat_rate(account.business_type, category):
                amount -= account.vat.flat_rate_vat(due.amount, due.first)
            yield RentEntry(due.first, "due", Posting(category, amount), id_, let.property_id)


def _settled(tx: ReadTx, account: Account, lets: Collection[str], values: Mapping[str, str]) -> Iterator[RentEntry]:
    for sql in _BY_DAY:
        for *columns, tenancy_id, property_id in tx.rows(sql, **values):
            if tenancy_id in lets:
                money = money_of(tuple(columns), account.basis)
                counted = posting_of(account, money)
                out = Posting(counted.category, -counted.amount, -counted.disallowable)
                yield RentEntry(money.counted_on, "settled", out, tenancy_id, property_id, money.id)


def _net(account: Account, date: str, amount: int, paid: tuple[int, int] | None) -> int:
    """A rent without its VAT where that is registered: the part that all money of the tenancy has of it."""
    if not paid or not paid[1] or account.vat.treatment_on(date) != "registered":
        return amount
    return amount - half_up(amount * paid[1], paid[0])


def _is_registered(account: Account) -> bool:
    days: Iterable[str] = ("", *account.vat.changes(), "9999-12-31")
    return any(account.vat.treatment_on(day) == "registered" for day in days)
