"""Certificates as they are stored. Owns the table `certificates`.

Those of a chain follow each other by the day they were issued, then by id; the last is current, and each of the others
bears the id and the day of the next. So what was current on a day can be told of any day. Each has its renewal as an
obligation (Domain B9), unless its property is sold or archived.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.landlord.certificates import rules
from gatewayd.areas.landlord.certificates.shapes import WINDOW_DAYS, StoredCertificate
from gatewayd.areas.landlord.register.properties import KEPT, PROPERTIES, StoredProperty
from gatewayd.contract.wire import project
from gatewayd.ledger.certificate_shapes import Certificate
from gatewayd.ledger.obligations import resource_obligations
from gatewayd.ledger.obligations.resource_obligations import Following
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx, RemovableTable, WriteTx

CERTIFICATES = RemovableTable(
    "certificates",
    StoredCertificate,
    kind="certificate",
    prefix="cert",
    written={"chain": rules.chain_of, "valid_until": rules.valid_until},
)
OF_PROPERTY_MAX: Final = 200  # Chosen: what a property shows of each kind
_ACRONYMS: Final = frozenset({"eicr", "epc", "hmo", "pat", "prs", "mees"})

_OF_CHAIN = f"{CERTIFICATES.select} AND property_id = :property_id AND type = :type AND chain = :chain AND id <> :id"
_SELECT_BEFORE = f"""
{_OF_CHAIN} AND (issued_date, id) < (:issued_date, :id) ORDER BY issued_date DESC, id DESC LIMIT 1
"""
_SELECT_AFTER = f"""
{_OF_CHAIN} AND (issued_date, id) > (:issued_date, :id) ORDER BY issued_date, id LIMIT 1
"""
_SELECT_OF_PROPERTY = f"""
{CERTIFICATES.select} AND property_id = :property_id AND superseded_by_id IS NULL
ORDER BY type, issued_date DESC, id DESC LIMIT :count
"""
_SELECT_OF_DOCUMENT = f"{CERTIFICATES.select} AND document_id = :document_id ORDER BY id LIMIT 1"
_SELECT_SAME = """
SELECT 1 FROM certificates
WHERE org_id = :org_id AND property_id = :property_id AND type = :type AND coalesce(unit_id, '') = :unit
    AND (issued_date = :issued_date OR reference = :reference) LIMIT 1
"""
# Chosen: that something was told is no change that a caller's `expectedVersion` could run into.
_MARK_TOLD = "UPDATE certificates SET expiring_told_for = expiry_date WHERE org_id = :org_id AND id = :id"


class Neighbours(NamedTuple):
    """The certificates around one in its chain. None: it is the first, the last."""

    before: StoredCertificate | None
    after: StoredCertificate | None


def neighbours(tx: ReadTx, row: StoredCertificate) -> Neighbours:
    """What stands around a certificate, or would where it is not stored."""
    place = _place(row)
    before, after = tx.row(_SELECT_BEFORE, **place), tx.row(_SELECT_AFTER, **place)
    return Neighbours(
        None if before is None else CERTIFICATES.read(tx, before),
        None if after is None else CERTIFICATES.read(tx, after),
    )


def of_document(tx: ReadTx, document_id: str) -> StoredCertificate | None:
    """A certificate whose document it is, the first."""
    values = tx.row(_SELECT_OF_DOCUMENT, document_id=document_id)
    return None if values is None else CERTIFICATES.read(tx, values)


def is_kept(tx: ReadTx, property_id: str, unit_id: str | None, facts: Mapping[str, str | None]) -> bool:
    """Whether a certificate of a `type` is kept already, by its `issued_date` or its `reference`."""
    return tx.row(_SELECT_SAME, property_id=property_id, unit=unit_id or "", **facts) is not None


def insert(tx: WriteTx, row: StoredCertificate) -> StoredCertificate:
    """Store a new certificate in its place: the one before it is superseded, or it is itself by the one after it."""
    around = neighbours(tx, row)
    row = CERTIFICATES.insert(tx, _followed(row, around.after))
    _follow(tx, around.before, row)
    return row


def update(tx: WriteTx, before: StoredCertificate, after: StoredCertificate) -> StoredCertificate:
    """Store what a certificate has become, which may have another place in its chain, or be in another one."""
    if _place(before) == _place(after):
        return CERTIFICATES.update(tx, after)
    left = neighbours(tx, before)
    _follow(tx, left.before, left.after)
    around = neighbours(tx, after)
    row = CERTIFICATES.update(tx, _followed(after, around.after))
    _follow(tx, around.before, row)
    return row


def delete(tx: WriteTx, row: StoredCertificate) -> None:
    """Delete a certificate; the one before it is followed by the one after it, or current again."""
    around = neighbours(tx, row)
    _follow(tx, around.before, around.after)
    CERTIFICATES.delete(tx, row.id)


def settle(tx: WriteTx, before: StoredCertificate | None, after: StoredCertificate | None) -> None:
    """Settle what follows from a certificate having become another. None: it is new, or gone."""
    if after is not None:
        _settle(tx, after)
    elif before is not None:
        resource_obligations.settle(tx, before.id, None)


def of_property(tx: ReadTx, property_id: str) -> list[Certificate]:
    """The current certificates of a property as of today, by type: `OF_PROPERTY_MAX` of them at most."""
    rows = tx.rows(_SELECT_OF_PROPERTY, property_id=property_id, count=OF_PROPERTY_MAX)
    return [shown(CERTIFICATES.read(tx, row), tx.today, WINDOW_DAYS) for row in rows]


def mark_told(tx: WriteTx, certificate_id: str) -> None:
    """Note that it was told when it expires."""
    tx.run(_MARK_TOLD, id=certificate_id)


def settle_property(tx: WriteTx, of: StoredProperty) -> None:
    """Settle what follows from the current certificates of a property that was renamed, sold, or put away."""
    for values in tx.rows(_SELECT_OF_PROPERTY, property_id=of.id, count=OF_PROPERTY_MAX):
        _settle(tx, CERTIFICATES.read(tx, values), of)


def shown(row: StoredCertificate, day: str, window_days: int) -> Certificate:
    """A certificate with its state on an ISO date."""
    return project(row, Certificate, status=rules.status_of(row, day, window_days))


def _place(row: StoredCertificate) -> dict[str, str]:
    """The chain of a certificate, and where it stands in it."""
    chain = {"property_id": row.property_id, "type": row.type, "chain": rules.chain_of(row)}
    return {**chain, "issued_date": row.issued_date, "id": row.id}


def _followed(row: StoredCertificate, by: StoredCertificate | None) -> StoredCertificate:
    if by is None:
        return replace(row, superseded_by_id=None, superseded_date=None)
    return replace(row, superseded_by_id=by.id, superseded_date=by.issued_date)


def _follow(tx: WriteTx, row: StoredCertificate | None, by: StoredCertificate | None) -> None:
    """Let a certificate be followed by another. Chosen: that is no change that `expectedVersion` could run into."""
    if row is None:
        return
    followed = _followed(row, by)
    if followed != row:
        CERTIFICATES.save(tx, followed)


def _settle(tx: WriteTx, row: StoredCertificate, of: StoredProperty | None = None) -> None:
    """Settle its renewal, which is due on the day it expires. `of` is its property, where that is known."""
    of = of or PROPERTIES.get(tx, row.property_id)
    business = businesses.find(tx, of.business_id)
    assert business is not None, "a foreign key"
    following = None
    if row.expiry_date is not None and of.status in KEPT:
        following = Following(
            kind="certificate_renewal",
            name=f"{_title(row)}: {of.name}",
            legal_entity_id=business.legal_entity_id,
            business_id=business.id,
            start=row.issued_date,
            end=row.expiry_date,
            due=row.expiry_date,
            met_on=row.superseded_date,
        )
    resource_obligations.settle(tx, row.id, following)


def _title(row: StoredCertificate) -> str:
    """What people call it: `Gas safety`, `EPC`."""
    if row.title is not None:
        return row.title
    words = [word.upper() if word in _ACRONYMS else word for word in row.type.split("_")]
    return " ".join([words[0] if words[0].isupper() else words[0].capitalize(), *words[1:]])
