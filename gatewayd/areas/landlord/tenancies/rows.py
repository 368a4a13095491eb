"""Tenancies as they are changed and shown, with who lives there. Owns the table `tenancy_tenants`.

What a tenancy is today follows from its last day: `OF_STATUS` are the conditions of `tenancy_states.status_of` in SQL.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.landlord.register import rent_terms, tenancy_states, whose
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow, TenancyStatus
from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.landlord.tenancies import compliance, deposits, efficiency, spans
from gatewayd.areas.landlord.tenancies.shapes import AgreedRent, Tenancy, TenancyWarning
from gatewayd.contract.wire import project
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Due
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

MAX_OF_PROPERTY: Final = 200  # Chosen: what is served with a property; the list has all

_SELECT_OF_PROPERTY = (
    f"{TENANCIES.select} AND property_id = :property_id ORDER BY start_date DESC, id DESC LIMIT :count"
)
_SELECT_OVERLAPPING = """
SELECT id, term_end_date, last_day, notice_expiry_date FROM tenancies
WHERE org_id = :org_id AND property_id = :property_id AND id <> :id AND cancelled_at IS NULL
    AND (unit_id IS NULL OR CAST(:unit_id AS TEXT) IS NULL OR unit_id = :unit_id)
    AND (CAST(:last AS TEXT) IS NULL OR start_date <= :last) AND (last_day IS NULL OR last_day >= :first)
ORDER BY start_date, id LIMIT 1
"""
_DELETE_LINKS = "DELETE FROM tenancy_tenants WHERE org_id = :org_id AND tenancy_id = :tenancy_id"
_INSERT_LINK = """
INSERT INTO tenancy_tenants (org_id, tenancy_id, tenant_id, to_date)
VALUES (:org_id, :tenancy_id, :tenant_id, :to_date)
"""

_BEGUN = "cancelled_at IS NULL AND start_date <= :today"
# coalesce: the newest first are read off the index of last days, and no start is null
_GOES_ON = "last_day IS NULL AND cancelled_at IS NULL AND coalesce(start_date, '') <= :today"
_ENDS = "id IN (SELECT id FROM tenancies WHERE org_id = :org_id AND last_day >= :today)"  # few
_NOTICED = """id IN (
    SELECT id FROM tenancies
    WHERE org_id = :org_id AND notice_served_date <= :today AND last_day IS NULL AND cancelled_at IS NULL
)"""  # few: notices that end nothing
_STARTS = "id IN (SELECT id FROM tenancies WHERE org_id = :org_id AND start_date > :today)"  # few
OF_STATUS: Final[Mapping[TenancyStatus, tuple[str, ...]]] = {
    "upcoming": (f" AND {_STARTS} AND cancelled_at IS NULL",),
    "active": (
        f" AND {_GOES_ON} AND (notice_served_date IS NULL OR notice_served_date > :today)",
        f" AND {_ENDS} AND {_BEGUN} AND (notice_served_date IS NULL OR notice_served_date > :today)",
    ),
    "notice": (
        f" AND {_ENDS} AND {_BEGUN} AND notice_served_date <= :today",
        f" AND {_NOTICED} AND {_BEGUN}",
    ),
    "ended": (f" AND last_day IS NOT NULL AND {_BEGUN} AND last_day < :today",),
    "cancelled": (" AND cancelled_at IS NOT NULL",),
}
"""The conditions of each state on the day `:today`, of which a tenancy meets one at most."""
RUNS_ON: Final = "cancelled_at IS NULL AND start_date <= :as_of_date AND (last_day IS NULL OR last_day >= :as_of_date)"
WHOSE: Final = whose.by_property("tenancies")
OF_TENANT: Final = """
id IN (SELECT tenancy_id FROM tenancy_tenants WHERE org_id = :org_id AND tenant_id = :tenant_id)
"""


def of_property(tx: ReadTx, property_id: str) -> list[Tenancy]:
    """The tenancies of a property, the latest to begin first: at most `MAX_OF_PROPERTY`."""
    rows = tx.rows(_SELECT_OF_PROPERTY, property_id=property_id, count=MAX_OF_PROPERTY)
    return [shown(tx, TENANCIES.read(tx, values)) for values in rows]


def add(tx: WriteTx, row: TenancyRow) -> TenancyRow:
    """Store a new tenancy. Raises `Problem`: `already_exists`, `overlapping_tenancy`, `period_closed`."""
    TENANCIES.refuse_taken(tx, row.external_id)
    _refuse_overlapping(tx, row)
    _refuse_moved_rents(tx, None, row)
    return insert(tx, row)


def insert(tx: WriteTx, row: TenancyRow) -> TenancyRow:
    """Store a new tenancy that fits."""
    return TENANCIES.insert(tx, row)


def change(tx: WriteTx, before: TenancyRow, after: TenancyRow) -> TenancyRow:
    """Store what a tenancy has become, one version on. Raises `Problem` as `add` does."""
    TENANCIES.refuse_taken(tx, after.external_id, after.id)
    if after.cancelled_at is None:
        _refuse_overlapping(tx, after)
    _refuse_moved_rents(tx, before, after)
    return TENANCIES.update(tx, after)


def shown(tx: ReadTx, row: TenancyRow, warnings: Sequence[TenancyWarning] = ()) -> Tenancy:
    """The tenancy as it is today, with the warnings of the call that it answers."""
    today = tx.today
    owed = arrears.of_tenancy(tx, row, today)
    type_, converted_from = tenancy_states.type_of(row, today)
    rent = schedule.rent_on(rent_terms.of_row(row), today)
    monthly_since = rent_terms.monthly_since(row)
    standing = [*compliance.warnings(row, today), *efficiency.warnings(tx, row)]
    return project(
        row,
        Tenancy,
        tenants=spans.of_row(row),
        type=type_,
        converted_from=converted_from,
        status=tenancy_states.status_of(row, today),
        end_date=tenancy_states.last_day(row),
        ended_date=row.end_date,
        rent_amount=Money(rent.amount, row.currency),
        rent_frequency=rent.frequency,
        rent_due_day=rent.due_day,
        rent_quarter_days=rent.quarter_days,
        agreed_rent=None if rent.frequency == row.rent_frequency else _agreed_rent(row, monthly_since),
        monthly_since_date=monthly_since if today >= tenancy_states.PERIODIC_FROM else None,
        rent_history=[replace(step, frequency=step.frequency or row.rent_frequency) for step in row.rent_history],
        deposit=deposits.shown(row),
        arrears=Money(owed.arrears, row.currency),
        credit=Money(owed.credit, row.currency),
        warnings=[*warnings, *(warning for warning in standing if warning not in warnings)],
    )


def link(tx: WriteTx, were: Mapping[str, str | None], row: TenancyRow) -> None:
    """Keep who lives there and until when, where that is not what it was."""
    last_days = spans.last_days(row)
    if last_days != were:
        tx.run(_DELETE_LINKS, tenancy_id=row.id)
        tx.run_each(_INSERT_LINK, [(tx.org_id, row.id, tenant_id, last) for tenant_id, last in last_days.items()])


def _refuse_overlapping(tx: ReadTx, row: TenancyRow) -> None:
    """Raises `Problem` `overlapping_tenancy` where another tenancy has the same unit on one of its days.

    One of the whole property has every unit of it. The end of a term that the law undoes is no end (Domain 0.1, B4).
    """
    existing = tx.row(
        _SELECT_OVERLAPPING,
        property_id=row.property_id,
        unit_id=row.unit_id,
        id=row.id,
        first=row.start_date,
        last=tenancy_states.last_day(row),
    )
    if existing is not None:
        existing_id, term_end, last, expiry = existing
        message = f"It is let on some of these days, by {existing_id}: end that first, or give other days."
        if expiry is not None and last is None:
            message += f" That tenancy goes on past its notice ({expiry}) until `endedDate` is given."
        elif term_end is not None and last is None:
            message += f" That tenancy goes on past its term ({term_end}) until `endedDate` is given."
        raise Problem("overlapping_tenancy", message, extra={"existingId": existing_id})


def _refuse_moved_rents(tx: ReadTx, before: TenancyRow | None, after: TenancyRow) -> None:
    """Raises `Problem` `period_closed` where a locked day would have other rents. `before` None: it is new.

    Rents that fell due on days of closed periods count there on accruals, and stay what they were (Domain C1). Chosen:
    of a business on accruals alone, for on cash basis nothing that counts follows from what falls due.
    """
    let = lets.find(tx, after.property_id)
    business = None if let is None else businesses.find(tx, let.business_id)
    if business is None or business.accounting_basis != "accruals":
        return
    for first, last, lock in period_locks.ranges_of(tx, business.legal_entity_id, business.id):
        was, becomes = _dues(before, first, last), _dues(after, first, last)
        moved = next((due for due in sorted(was ^ becomes)), None)
        if moved is not None:
            period_locks.refuse_lock(tx, moved.first, lock)


def _dues(row: TenancyRow | None, first: str, last: str) -> set[Due]:
    if row is None or row.cancelled_at is not None:
        return set()
    return set(schedule.dues(rent_terms.of_row(row), first, last))


def _agreed_rent(row: TenancyRow, monthly_since: str | None) -> AgreedRent:
    """The last rent that was agreed before the law had it by the month.

    `monthly_since` None: the last of all.
    """
    agreed = [step for step in row.rent_history if monthly_since is None or step.from_date < monthly_since]
    amount = Money.of(agreed[-1].amount, row.currency)
    due_day = row.rent_due_day if row.rent_quarter_days is None else None
    return AgreedRent(amount=amount, frequency=row.rent_frequency, due_day=due_day, quarter_days=row.rent_quarter_days)
