"""Pages of certificates (Domain A4): three orders of what is stored, and what is missing.

    updatedSince                              by `updated_at`, oldest first, the superseded among them
    valid, expiring, expired, expiryDateBefore   by the last day on which it holds, the soonest first
    missing                                   by property, type and unit
    anything else                             newest first

Each is read from an index in its order, and so a page costs the same however many there are.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

from gatewayd.areas.landlord.certificates import missing, rows
from gatewayd.areas.landlord.certificates.missing import KEPT_PROPERTY, MissingFilter
from gatewayd.areas.landlord.certificates.rows import CERTIFICATES
from gatewayd.areas.landlord.certificates.rules import valid_until
from gatewayd.areas.landlord.certificates.shapes import ListCertificates, StoredCertificate
from gatewayd.areas.landlord.register import whose
from gatewayd.clock import days_after
from gatewayd.contract.pages import Listing, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.lists import CHANGES, Changed, changes_page, start_of_changes
from gatewayd.store import ReadTx

T = TypeVar("T")

_WHOSE: Final = whose.by_property("certificates")
_CURRENT: Final = "superseded_by_id IS NULL"
_KEPT: Final = f"""EXISTS (
    SELECT 1 FROM properties p WHERE p.org_id = :org_id AND p.id = certificates.property_id AND {KEPT_PROPERTY}
)"""
_SELECT_PROPERTY_OF_UNIT = "SELECT property_id FROM property_units WHERE org_id = :org_id AND id = :unit_id"
_SELECT_PROPERTY_OF_TENANCY = "SELECT property_id FROM tenancies WHERE org_id = :org_id AND id = :tenancy_id"
_ENDS: Final = ("valid", "expiring", "expired")
_NOT_OF_MISSING: Final = {
    "expiryDateBefore": "expiry_date_before",
    "updatedSince": "updated_since",
    "externalId": "external_id",
    "tenancyId": "tenancy_id",
    "documentId": "document_id",
}


class _Order(NamedTuple):
    """An order of what is stored: the rows behind a cursor, their order, the types of the cursor's key, that of a row.

    A first page has nothing behind it, so that an index of what is asked for may be used, whatever its order.
    """

    behind: str
    by: str
    types: tuple[type, ...]
    key: Callable[[StoredCertificate], tuple[int | str, ...]]


_NEWEST: Final = _Order(" AND id < :after_id", " ORDER BY id DESC LIMIT :count", (str,), lambda row: (row.id,))
_BY_EXPIRY: Final = _Order(
    " AND (valid_until, id) > (:after_at, :after_id)",
    " ORDER BY valid_until, id LIMIT :count",
    (str, str),
    lambda row: (valid_until(row), row.id),
)


def page(tx: ReadTx, request: ListCertificates) -> Listing[Certificate]:
    """One page. Raises `Problem`: `invalid_cursor`, `validation_failed`."""
    return _missing_page(tx, request) if request.status == "missing" else _stored_page(tx, request)


def _missing_page(tx: ReadTx, request: ListCertificates) -> Listing[Certificate]:
    paths = [path for path, name in _NOT_OF_MISSING.items() if getattr(request, name) is not None]
    if paths:
        raise invalid(*(FieldError(path, "conflict", "What is missing has none: leave this out.") for path in paths))
    property_id, type_, unit_id = cursor_key(request, str, str, str) or ("", "", "")
    wanted = MissingFilter(
        property_id=request.property_id,
        unit_id=request.unit_id,
        business_id=request.business_id,
        legal_entity_id=request.legal_entity_id,
        types=None if request.type is None else frozenset(request.type),
    )
    all_lacking = missing.behind(tx, wanted, (str(property_id), str(type_), str(unit_id)))
    return _listing(request, all_lacking, missing.shown, lambda lacking: lacking[:3])


def _stored_page(tx: ReadTx, request: ListCertificates) -> Listing[Certificate]:
    today, order = tx.today, _order(request)
    conditions, values = _filters(request, today, _property_of(tx, request))
    sql = " AND ".join([CERTIFICATES.select, *conditions])
    values["count"] = request.limit + 1
    if request.updated_since is not None:
        start = start_of_changes(tx, request, CERTIFICATES.name)
        sql += CHANGES.behind + CHANGES.by
        stored = (CERTIFICATES.read(tx, row) for row in tx.each(sql, after_at=start[0], after_id=start[1], **values))
        shown = ((row, rows.shown(row, today, request.window_days)) for row in stored)
        changed = (Changed(row.updated_at, row.id, encode(certificate)) for row, certificate in shown)
        return changes_page(tx, request, CERTIFICATES.name, start, changed)
    key = cursor_key(request, *order.types)
    if key is not None:
        sql += order.behind
        values |= zip(("after_at", "after_id")[-len(key) :], key, strict=True)
    stored = (CERTIFICATES.read(tx, row) for row in tx.each(sql + order.by, **values))
    return _listing(request, stored, lambda row: rows.shown(row, today, request.window_days), order.key)


def _listing(
    request: ListCertificates,
    candidates: Iterator[T],
    show: Callable[[T], Certificate],
    key: Callable[[T], tuple[int | str, ...]],
) -> Listing[Certificate]:
    items: list[bytes] = []

    def size(row: T) -> int:
        items.append(encode(show(row)))
        return len(items[-1])

    taken, more = fill(candidates, request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, key(taken[-1])) if more else None)


def _order(request: ListCertificates) -> _Order:
    if request.status in _ENDS or (request.expiry_date_before is not None and _is_of_current(request)):
        return _BY_EXPIRY
    return _NEWEST


def _is_of_current(request: ListCertificates) -> bool:
    """Whether superseded certificates are left out.

    Chosen: whoever follows changes has to learn that a certificate was superseded.
    """
    if request.status is not None:
        return request.status != "superseded"
    return not request.include_superseded and request.updated_since is None


def _property_of(tx: ReadTx, request: ListCertificates) -> str | None:
    """The property that the request names, or that of its unit or tenancy; None: it names none of these.

    An index finds the certificates of a property, and so those of a unit or a tenancy.
    """
    if request.property_id is not None:
        return request.property_id
    if request.unit_id is not None:
        return tx.value(_SELECT_PROPERTY_OF_UNIT, unit_id=request.unit_id) or ""
    if request.tenancy_id is not None:
        return tx.value(_SELECT_PROPERTY_OF_TENANCY, tenancy_id=request.tenancy_id) or ""
    return None


def _filters(request: ListCertificates, today: str, property_id: str | None) -> tuple[list[str], dict[str, object]]:
    """The conditions in force, and the values that they name."""
    until = days_after(today, request.window_days)
    of_state = {
        "valid": {"valid_until > :until": until},
        "expiring": {"valid_until >= :today": today, "valid_until <= :until": until},
        "expired": {"valid_until < :today": today},
    }
    before = request.expiry_date_before
    named: dict[str, object] = {
        "property_id = :property_id": property_id,
        **_WHOSE.filters(request),
        "unit_id = :unit_id": request.unit_id,
        "tenancy_id = :tenancy_id": request.tenancy_id,
        "document_id = :document_id": request.document_id,
        "external_id = :external_id": request.external_id,
        "expiry_date < :expiry_date_before": None if before is None else before.isoformat(),
        **of_state.get(request.status or "", {}),
    }
    in_force = {condition: value for condition, value in named.items() if value is not None}
    values = {condition.rpartition(":")[2].rstrip(")"): value for condition, value in in_force.items()}
    types = {f"type_{index}": type_ for index, type_ in enumerate(dict.fromkeys(request.type or ()))}
    conditions = list(in_force)
    if types:  # of one type an index has the order of the list
        first, *more = (f":{name}" for name in types)
        conditions.append(f"type IN ({', '.join([first, *more])})" if more else f"type = {first}")
    if before is not None:
        conditions.append("valid_until < :expiry_date_before")  # what an index knows of it
    if _is_of_current(request):
        conditions.append(_CURRENT)
    elif request.status == "superseded":
        conditions.append("superseded_by_id IS NOT NULL")
    # Chosen: what has ended for a property that is sold is nobody's business, unless that property is asked for
    if request.status in ("expiring", "expired") and property_id is None:
        conditions.append(_KEPT)
    return conditions, values | types
