"""Journeys as they are stored, and what those of a tax year come to. Owns the table `journeys`.

Each has an allocation that no bank line stands behind, by which profit and loss, periods and their seals count it.
What one comes to depends on the others of its tax year; when one changes they are reckoned anew, in the order of their
days, but for those in closed periods.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.journeys import rates
from gatewayd.areas.accounting.journeys.rates import Miles, Reckoned, Scheme
from gatewayd.areas.accounting.journeys.shapes import Journey
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.money import Money, canonical
from gatewayd.store import ReadTx, RemovableTable, WriteTx

JOURNEYS: Final = RemovableTable("journeys", Journey, kind="journey", prefix="jny")

_SELECT_OF_YEAR = f"""{JOURNEYS.select} AND legal_entity_id = :legal_entity_id AND tax_year = :tax_year
ORDER BY date, id"""
_SELECT_OF_VEHICLE = """
SELECT id FROM journeys WHERE org_id = :org_id AND business_id = :business_id AND vehicle = :vehicle
"""
_SUM_COSTS = """
SELECT sum(CASE WHEN direction = 'out' THEN amount ELSE -amount END) FROM allocations
WHERE org_id = :org_id AND business_id = :business_id AND category = :category AND date BETWEEN :first AND :last
    AND id NOT IN (SELECT allocation_id FROM journeys WHERE org_id = :org_id AND business_id = :business_id)
"""


class Pool(NamedTuple):
    """Journeys that share 10,000 miles in a tax year: of a trade (ITTOIA 2005 s94F(3)), of all that one taxpayer lets,
    which is one business in law, or of an employee (ITEPA 2003 s230(2)), who is told by the name as it is folded.
    """

    scheme: Scheme
    of: str


def pool_of(scheme: Scheme, business: Business, driver: str | None) -> Pool:
    """Which pool a journey belongs to."""
    if scheme == "approved":
        return Pool(scheme, " ".join((driver or "").lower().split()))
    return Pool(scheme, business.type if business.type in PROPERTY_TYPES else business.id)


def tenths(miles: str) -> int:
    """Tenths of a mile."""
    return int(Decimal(miles) * 10)


def miles_of(tenths_: int) -> str:
    """Miles as they are stored."""
    return canonical(str(Decimal(tenths_) / 10))


def of_vehicle(tx: ReadTx, business_id: str, vehicle: str) -> list[str]:
    """The journeys of a business by one vehicle."""
    return [str(id_) for (id_,) in tx.rows(_SELECT_OF_VEHICLE, business_id=business_id, vehicle=vehicle)]


def other_costs(tx: ReadTx, business_id: str, category: str, days: tuple[str, str]) -> int:
    """Pence of costs in a category within ISO days that are of no journey."""
    first, last = days
    return int(tx.value(_SUM_COSTS, business_id=business_id, category=category, first=first, last=last) or 0)


def reckoned(
    tx: ReadTx, like: Journey, pool: Pool, businesses: Mapping[str, Business], more: Iterable[Journey] = ()
) -> tuple[list[Journey], dict[str, Reckoned]]:
    """The journeys of a pool in the tax year of `like`, with `more` in the place of those of their ids, and what each
    comes to that is in no closed period.
    """
    instead = {row.id: row for row in more}
    stored = [
        JOURNEYS.read(tx, row)
        for row in tx.rows(_SELECT_OF_YEAR, legal_entity_id=like.legal_entity_id, tax_year=like.tax_year)
    ]
    of_year = [row for row in stored if row.id not in instead]
    of_year += [row for row in instead.values() if row.tax_year == like.tax_year]
    of_pool = [row for row in of_year if pool_of(pool.scheme, businesses[row.business_id], row.driver) == pool]
    of_pool.sort(key=lambda row: (row.date, row.id))
    return of_pool, rates.reckon([_miles(tx, row, pool.scheme, row.id in instead) for row in of_pool])


def settle(tx: WriteTx, of_pool: Iterable[Journey], worth: Mapping[str, Reckoned], but: str) -> None:
    """Store what the journeys of a pool come to now, with their allocations, but for the one whose id is `but`."""
    for row in of_pool:
        now = worth.get(row.id)
        if row.id == but or now is None:
            continue
        settled = valued(row, now)
        if settled != row:
            book(tx, row, settled)
            JOURNEYS.save(tx, settled)  # Chosen: who follows changes learns of it, and nobody has edited it


def valued(row: Journey, worth: Reckoned) -> Journey:
    """A journey with what it comes to."""
    return replace(row, amount=Money(worth.pence, row.currency), full_rate_miles=miles_of(worth.full_tenths))


def book(tx: WriteTx, before: Journey, after: Journey) -> None:
    """Let the allocation of a journey say what that has become. Raises `Problem` as `allocations.change` does."""
    entry = ALLOCATIONS.get(tx, before.allocation_id)
    changed = replace(entry, date=after.date, amount=after.amount, description=described(after))
    if changed != entry:
        allocations.change(tx, entry, changed)


def described(row: Journey) -> str:
    """What an entry says of a journey."""
    return f"{row.miles} miles by {row.vehicle}, {row.from_place} to {row.to_place}: {row.purpose}"[:500]


def _miles(tx: ReadTx, row: Journey, scheme: Scheme, is_new: bool) -> Miles:
    rate = rates.rate_on(scheme, row.vehicle_kind, row.date)
    assert rate is not None  # it was looked for before the journey was stored
    miles = Miles(row.id, rate, row.vehicle_kind, tenths(row.miles), row.passengers)
    if is_new or not period_locks.strictest(period_locks.locks_on(tx, row.legal_entity_id, row.date), row.business_id):
        return miles
    return miles._replace(full_tenths=tenths(row.full_rate_miles), pence=row.amount.minor)
