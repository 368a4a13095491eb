"""Tenants as they are stored. Owns the table `tenants`.

What a tenant is follows from tenancies and today: `_STATES` counts for one tenant what `OF_STATUS` asks of many.
`lets_until` is the last day as one, of all tenancies; to the end of time where that goes on, NULL where there is none:
by it a list passes over the many who are something else.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.landlord.tenants.rules import name_of
from gatewayd.areas.landlord.tenants.shapes import Tenant, TenantKind, TenantStatus
from gatewayd.clock import LAST_DATE
from gatewayd.store import ReadTx, Table, WriteTx

_JOIN = """
FROM tenancy_tenants CROSS JOIN tenancies
WHERE tenancy_tenants.org_id = :org_id AND tenancies.org_id = tenancy_tenants.org_id AND tenancies.id = tenancy_id
    AND cancelled_at IS NULL
"""
_RUNS = "to_date IS NULL AND start_date <= :today AND (last_day IS NULL OR last_day >= :today)"
# theirs of a tenancy: who was replaced was a tenant of it up to a day
_LAST = "CASE WHEN last_day IS NULL OR to_date < last_day THEN coalesce(to_date, last_day) ELSE last_day END"
_SELECT_STATES = f"""
SELECT sum(CASE WHEN {_RUNS} THEN 1 ELSE 0 END),
    sum(CASE WHEN to_date IS NULL AND start_date > :today THEN 1 ELSE 0 END), count(id)
{_JOIN} AND tenant_id = :tenant_id
"""
_SELECT_ENDS = f"""
SELECT max({_LAST}), sum(CASE WHEN to_date IS NULL AND (last_day IS NULL OR last_day >= :today) THEN 1 ELSE 0 END)
{_JOIN} AND tenant_id = :tenant_id
"""
_SELECT_STANDING = "SELECT kind, anonymised_at IS NOT NULL FROM tenants WHERE org_id = :org_id AND id = :id"


def _some(condition: str) -> str:
    return f"EXISTS (SELECT 1 {_JOIN} AND tenant_id = tenants.id{condition})"


def _some_with(day: str) -> str:
    """A condition of tenants of tenancies with such a day, which are few."""
    return f"""id IN (
    SELECT tenant_id FROM tenancies CROSS JOIN tenancy_tenants
    WHERE tenancies.org_id = :org_id AND {day} AND cancelled_at IS NULL
        AND tenancy_tenants.org_id = tenancies.org_id AND tenancy_id = tenancies.id
)"""


_CURRENT = _some(f" AND {_RUNS}")
OF_STATUS: Final[Mapping[TenantStatus, tuple[str, ...]]] = {
    "current": (
        f" AND lets_until = '{LAST_DATE}' AND {_CURRENT}",
        f" AND lets_until < '{LAST_DATE}' AND {_some_with('last_day >= :today')} AND {_CURRENT}",
    ),
    "prospective": (
        " AND lets_until IS NULL",
        f" AND lets_until IS NOT NULL AND {_some_with('start_date > :today')} AND NOT {_CURRENT}",
    ),
    "past": (f" AND lets_until < '{LAST_DATE}' AND lets_until < :today",),
}
"""The conditions of each state, on the day `:today`, of which a tenant meets one at most."""
_KEEP_UNTIL = f"""
UPDATE tenants SET lets_until = (
    SELECT max(coalesce({_LAST}, '{LAST_DATE}')) {_JOIN} AND tenant_id = tenants.id
), updated_at = :updated_at
WHERE org_id = :org_id AND id = :tenant_id
"""
IN_PROPERTY: Final = """
id IN (
    SELECT tenant_id FROM tenancies CROSS JOIN tenancy_tenants
    WHERE tenancies.org_id = :org_id AND property_id = :property_id
        AND tenancy_tenants.org_id = tenancies.org_id AND tenancy_id = tenancies.id
)
"""
IN_TENANCY: Final = """
id IN (SELECT tenant_id FROM tenancy_tenants WHERE org_id = :org_id AND tenancy_id = :tenancy_id)
"""
_IN_LETS = """tenancies CROSS JOIN tenancy_tenants
    WHERE p.org_id = :org_id AND tenancies.org_id = p.org_id AND property_id = p.id
        AND tenancy_tenants.org_id = tenancies.org_id AND tenancy_id = tenancies.id"""
IN_BUSINESS: Final = f"""
id IN (SELECT tenant_id FROM properties p CROSS JOIN {_IN_LETS} AND p.business_id = :business_id)
"""
IN_LEGAL_ENTITY: Final = f"""
id IN (
    SELECT tenant_id FROM businesses b CROSS JOIN properties p CROSS JOIN {_IN_LETS}
        AND b.org_id = :org_id AND b.legal_entity_id = :legal_entity_id AND p.business_id = b.id
)
"""


_NOT_REPLACED = """
    AND NOT EXISTS (
        SELECT 1 FROM tenancy_tenants past
        WHERE past.org_id = :org_id AND past.tenant_id = tenancy_tenants.tenant_id
            AND past.tenancy_id = tenancy_tenants.tenancy_id AND past.to_date IS NOT NULL
    )"""


def now(condition: str) -> str:
    """One of the four conditions, without those who were replaced.

    `to_date IS NULL` alone would have SQLite read an index of all tenants for each tenancy.
    """
    return f"{condition.rstrip().removesuffix(')')}{_NOT_REPLACED})"


def note_tenancies(tx: WriteTx, tenant_ids: Iterable[str]) -> None:
    """Keep true until when tenants have a tenancy. Who follows changes learns of it."""
    for tenant_id in tenant_ids:
        tx.run(_KEEP_UNTIL, tenant_id=tenant_id, updated_at=tx.updated_at)


def _status(tx: ReadTx, row: Tenant) -> TenantStatus:
    running, to_come, total = tx.rows(_SELECT_STATES, tenant_id=row.id, today=tx.today)[0]
    if running:
        return "current"
    return "prospective" if to_come or not total else "past"


def _search_text(row: Tenant) -> str:
    """What `q` looks in, each on a line of its own."""
    texts = (name_of(row), row.first_name, row.last_name, row.email, row.phone)
    return "\n".join(dict.fromkeys(text.casefold() for text in texts if text))


TENANTS = Table(
    "tenants",
    Tenant,
    kind="tenant",
    prefix="tnt",
    derived={"name": lambda _, row: name_of(row), "status": _status},
    written={"search_text": _search_text},
)


class Ends(NamedTuple):
    """How many tenancies of somebody have not ended, and their last day as a tenant of any; None: no day is known."""

    last_day: str | None
    going_on: int


def ends_of(tx: ReadTx, tenant_id: str) -> Ends:
    """When somebody ceases to be a tenant. Tenancies that were called off are not looked at."""
    last_day, going_on = tx.rows(_SELECT_ENDS, tenant_id=tenant_id, today=tx.today)[0]
    return Ends(last_day, going_on or 0)


class Standing(NamedTuple):
    """What of a tenant a tenancy depends on."""

    kind: TenantKind
    erased: bool


def standing(tx: ReadTx, tenant_id: str) -> Standing | None:
    """The tenant; None where the organization has no such one."""
    row = tx.row(_SELECT_STANDING, id=tenant_id)
    return None if row is None else Standing(row[0], bool(row[1]))
