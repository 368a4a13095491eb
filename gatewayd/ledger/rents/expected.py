"""Tenancies that rent may come for, as what looks for their payments sees them. Reads only.

The rows are the landlord area's. What is looked up is bounded: of more tenancies than `RUNNING` and `ENDED` those that
began first, or ended first, are left to rules and to what was chosen before.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gatewayd.clock import days_after
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.allocating.categories import Category
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Due, Terms
from gatewayd.store import ReadTx, Row

RUNNING: Final = 2_000  # Chosen: who lets more has rules
ENDED: Final = 500  # Chosen: former tenants pay for some months, and statements of past years are entered late
EARLY_DAYS: Final = 7  # Chosen: how long before it is due a rent is paid

_COLUMNS = f"""
tenancies.id, property_id, unit_id, business_id, businesses.legal_entity_id, businesses.type, properties.use,
    properties.name, {stored_terms.COLUMNS}
""".strip()
_LAST_DAY = 10  # its place in them
_FROM = f"""
SELECT {_COLUMNS}
FROM tenancies CROSS JOIN properties CROSS JOIN businesses
WHERE tenancies.org_id = :org_id AND cancelled_at IS NULL
    AND properties.org_id = :org_id AND properties.id = property_id AND properties.archived_at IS NULL
    AND businesses.org_id = :org_id AND businesses.id = business_id AND businesses.archived_at IS NULL
""".strip()  # CROSS: SQLite keeps the order of the tables, and looks at these tenancies alone
_SELECT_RUNNING = f"{_FROM} AND last_day IS NULL ORDER BY tenancies.id DESC LIMIT :count"
_SELECT_ENDED = f"{_FROM} AND last_day IS NOT NULL ORDER BY last_day DESC, tenancies.id DESC LIMIT :count"
_NAMES = """
SELECT tenancy_id, first_name, last_name, company_name
FROM tenancies CROSS JOIN tenancy_tenants CROSS JOIN tenants
WHERE tenancies.org_id = :org_id AND tenancy_tenants.org_id = :org_id AND tenancy_id = tenancies.id
    AND tenants.org_id = :org_id AND tenants.id = tenant_id
""".strip()
_SELECT_NAMES_RUNNING = f"{_NAMES} AND last_day IS NULL AND tenancies.id >= :least_id"
_SELECT_NAMES_ENDED = f"{_NAMES} AND last_day >= :least_day"


class TenantName(NamedTuple):
    """The name of a tenant, as far as it is known; of a company `company` alone."""

    first: str | None
    last: str | None
    company: str | None

    def __str__(self) -> str:
        return self.company or " ".join(filter(None, (self.first, self.last)))


class ExpectedRent(NamedTuple):
    """A tenancy that rent may come for. `category` is the line of its rent."""

    tenancy_id: str
    property_id: str
    unit_id: str | None
    business_id: str
    legal_entity_id: str
    category: Category
    property_name: str
    currency: str
    terms: Terms
    tenants: tuple[TenantName, ...]


class Standing(NamedTuple):
    """Where a tenancy stands when a payment comes: what is owed by then, minor units, and the last rent due by then.

    `owed` below 0 was paid ahead.
    """

    owed: int
    latest: Due | None


def tenancies(tx: ReadTx) -> list[ExpectedRent]:
    """Those that run, and those that ended last, of properties and businesses that are not archived."""
    running = tx.rows(_SELECT_RUNNING, count=RUNNING)
    ended = tx.rows(_SELECT_ENDED, count=ENDED)
    names: defaultdict[str, list[TenantName]] = defaultdict(list)
    if running:
        _collect(names, tx.rows(_SELECT_NAMES_RUNNING, least_id=running[-1][0]))
    if ended:
        _collect(names, tx.rows(_SELECT_NAMES_ENDED, least_day=ended[-1][_LAST_DAY]))
    return [_of_row(row, names) for row in (*running, *ended)]


def standing(tx: ReadTx, rent: ExpectedRent, day: str) -> Standing:
    """Where a tenancy stands for money that comes on an ISO date: what is due soon after is expected already."""
    by = days_after(day, EARLY_DAYS)
    due = schedule.due_until(rent.terms, by)
    latest = schedule.latest_due(rent.terms, by)
    last = None if latest is None else next(schedule.dues(rent.terms, latest, latest))
    return Standing(due - rents_received.until(tx, rent.tenancy_id, rent.currency, by), last)


def _collect(names: defaultdict[str, list[TenantName]], rows: Iterable[Row]) -> None:
    for tenancy_id, *name in rows:
        names[tenancy_id].append(TenantName(*name))


def _of_row(row: Row, names: Mapping[str, list[TenantName]]) -> ExpectedRent:
    id_, property_id, unit_id, business_id, entity_id, business_type, use, property_name, currency, *others = row
    return ExpectedRent(
        tenancy_id=id_,
        property_id=property_id,
        unit_id=unit_id,
        business_id=business_id,
        legal_entity_id=entity_id,
        category=rents_received.category_of(business_type, use),
        property_name=property_name,
        currency=currency,
        terms=stored_terms.terms_of(currency, *others),
        tenants=tuple(names.get(id_, ())),
    )
