"""Legal entities as they are stored. Owns the tables `legal_entities` and `tax_standings`.

    wire    the JSON of the entity without the tax identifiers and the closing brace

The Unique Taxpayer Reference and the National Insurance number are encrypted at rest. Lists show the ends of them, a
single read shows them whole. What the tax authority grants is a row of the entity, or one without an entity for all
that have no grant of their own. Whether an entity can be archived, or change its type, depends on its portfolios.
"""

from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.legal_entities.shapes import EntityRow, ItsaStatus, StoredEntity, TaxConnection
from gatewayd.clock import Instant
from gatewayd.contract.wire import encode, open_wire
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Row, StoreFailure, Table, WriteTx

RENDERED_AT_ONCE = 500  # entities read into memory together
_SELECT_LIVE = """
SELECT id FROM asset_portfolios
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL ORDER BY id LIMIT 1
"""
_SELECT_POOLED = """
SELECT id FROM asset_portfolios
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND archived_at IS NULL
    AND cost_basis_method = 'section_104'
ORDER BY id LIMIT 1
"""
_SELECT_HOLDING = """
SELECT instrument_id FROM asset_holdings WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id LIMIT 1
"""
_SELECT_STANDING = """
SELECT vat, itsa, expires_at FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
"""
_SELECT_SHOWN_STANDING = """
SELECT vat, itsa, expires_at FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') IN (:of, '')
ORDER BY legal_entity_id IS NULL LIMIT 1
"""
_UPDATE_STANDING = """
UPDATE tax_standings SET vat = :vat, itsa = :itsa, expires_at = :expires_at
WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
"""
_INSERT_STANDING = """
INSERT INTO tax_standings (org_id, legal_entity_id, vat, itsa, expires_at)
VALUES (:org_id, :legal_entity_id, :vat, :itsa, :expires_at)
"""
_REMOVE_STANDING = "DELETE FROM tax_standings WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of"


class TaxStanding(NamedTuple):
    """Which services are granted, and until when the grant lasts; it is the authority that ends it."""

    vat: bool
    itsa: bool
    expires_at: Instant


def _search_text(row: EntityRow) -> str:
    texts = (row.name, row.legal_name, row.company_number, row.vat_number)
    return "\n".join(text.casefold() for text in texts if text)


def _tax_connection(tx: ReadTx, row: EntityRow) -> TaxConnection:
    standing = shown_tax_standing(tx, row.id)
    if standing is None:
        return TaxConnection(vat=False, itsa=False, expires_at=None)
    return TaxConnection(vat=standing.vat, itsa=standing.itsa, expires_at=standing.expires_at)


def opened_utr(tx: ReadTx, entity_id: str, sealed: bytes | None) -> str | None:
    """The Unique Taxpayer Reference of an entity."""
    return None if sealed is None else tx.unseal(sealed, _utr_context(entity_id))


def opened_nino(tx: ReadTx, entity_id: str, sealed: bytes | None) -> str | None:
    """The National Insurance number of an entity."""
    return None if sealed is None else tx.unseal(sealed, _nino_context(entity_id))


ON_CALENDAR = ("type", "incorporation_date", "accounting_year_end", "country_code", "utr", "vat", "cis", "archived_at")
"""The fields from which periods and obligations follow."""
LEGAL_ENTITIES = Table(
    "legal_entities",
    EntityRow,
    kind="legal entity",
    prefix="ent",
    derived={
        "status": lambda tx, row: "active" if row.archived_at is None else "archived",
        "tax_connection": _tax_connection,
        "utr": lambda tx, row: opened_utr(tx, row.id, row.utr_sealed),
        "nino": lambda tx, row: opened_nino(tx, row.id, row.nino_sealed),
    },
    written={"search_text": _search_text, "wire": lambda row: open_wire(row, StoredEntity)},
)
_SELECT_AFTER = f"{LEGAL_ENTITIES.select} AND id > :after ORDER BY id LIMIT :limit"
_SELECT_ANY = "SELECT 1 FROM legal_entities WHERE org_id = :org_id LIMIT 1"
_SELECT_SEALED = "SELECT utr_sealed, nino_sealed FROM legal_entities WHERE org_id = :org_id AND id = :id"
_FORGET_UTR = "UPDATE legal_entities SET utr_sealed = NULL, utr_hint = NULL WHERE org_id = :org_id AND id = :id"
_FORGET_NINO = "UPDATE legal_entities SET nino_sealed = NULL, nino_hint = NULL WHERE org_id = :org_id AND id = :id"
_SELECT_CLASH = """
SELECT id, CASE WHEN vat_number = :vat_number THEN 'vatNumber' ELSE 'companyNumber' END
FROM legal_entities WHERE org_id = :org_id AND id <> :id
    AND (vat_number = :vat_number OR company_number = :company_number)
LIMIT 1
"""


def is_first(tx: ReadTx) -> bool:
    """True while the organization has no legal entity, archived or not."""
    return tx.row(_SELECT_ANY) is None


def sealed(tx: WriteTx, row: EntityRow) -> EntityRow:
    """The row with its tax identifiers as they are stored."""
    return replace(
        row,
        utr_sealed=None if row.utr is None else tx.seal(row.utr, _utr_context(row.id)),
        utr_hint=None if row.utr is None else row.utr[-3:],
        nino_sealed=None if row.nino is None else tx.seal(row.nino, _nino_context(row.id)),
        nino_hint=None if row.nino is None else row.nino[-3:],
    )


def forget_lost(tx: WriteTx, entity_id: str) -> None:
    """Give up those of its tax identifiers that do not open with the instance key."""
    utr, nino = tx.row(_SELECT_SEALED, id=entity_id) or (None, None)
    lost = []
    for opened, sealed, forget in ((opened_utr, utr, _FORGET_UTR), (opened_nino, nino, _FORGET_NINO)):
        try:
            opened(tx, entity_id, sealed)
        except StoreFailure:
            lost.append(forget)
    for forget in lost:
        tx.run(forget, id=entity_id)
    if lost:
        LEGAL_ENTITIES.update(tx, LEGAL_ENTITIES.get(tx, entity_id))


def refuse_clash(tx: ReadTx, row: EntityRow) -> None:
    """Raises `Problem` `already_exists` where another entity has one of its numbers."""
    clash = tx.row(_SELECT_CLASH, id=row.id, vat_number=row.vat_number, company_number=row.company_number)
    if clash is not None:
        existing_id, name = clash
        message = f"A legal entity with this {name} exists: {existing_id}. Use that one."
        raise Problem("already_exists", message, extra={"existingId": existing_id, "field": name})


def change_tax_standing(tx: WriteTx, standing: TaxStanding | None, legal_entity_id: str | None = None) -> None:
    """Keep what the tax authority grants an entity; `legal_entity_id` None: all that have no grant of their own.

    `standing` None: nothing any more. Each entity that shows it has a new version, and lists by `updatedSince` show it.
    """
    if standing == tax_standing(tx, legal_entity_id):
        return
    _store_tax_standing(tx, standing, legal_entity_id)
    if legal_entity_id is not None:
        LEGAL_ENTITIES.update(tx, LEGAL_ENTITIES.get(tx, legal_entity_id))
        return
    after: str | None = ""
    while after is not None:  # Chosen: all of them, though a firm of accountants may have thousands
        entities = [LEGAL_ENTITIES.read(tx, row) for row in tx.rows(_SELECT_AFTER, after=after, limit=RENDERED_AT_ONCE)]
        for row in entities:
            if tax_standing(tx, row.id) is None:
                LEGAL_ENTITIES.update(tx, row)
        after = entities[-1].id if len(entities) == RENDERED_AT_ONCE else None


def keep_itsa_status(tx: WriteTx, entity_id: str, status: ItsaStatus) -> None:
    """Keep what the tax authority said of an entity's Income Tax; a new version where it said another thing."""
    before = LEGAL_ENTITIES.get(tx, entity_id)
    after = replace(before, itsa_status=status)
    same = before.itsa_status is not None and replace(before.itsa_status, fetched_at=status.fetched_at) == status
    (LEGAL_ENTITIES.save if same else LEGAL_ENTITIES.update)(tx, after)


def served(wire: bytes, utr: str | None, nino: str | None) -> bytes:
    """The JSON of an entity with its identifiers whole."""
    return b'%b,"utr":%b,"nino":%b}' % (wire, encode(utr), encode(nino))


def masked(wire: bytes, utr_hint: str | None, nino_hint: str | None) -> bytes:
    """The same for lists, of the last three characters of the identifiers."""
    return served(wire, _masked(utr_hint, 10), _masked(nino_hint, 9))


def _masked(end: str | None, length: int) -> str | None:
    return None if end is None else end.rjust(length, "*")


def _utr_context(entity_id: str) -> str:
    """What a Unique Taxpayer Reference is sealed under."""
    return f"legal_entities.utr:{entity_id}"


def _nino_context(entity_id: str) -> str:
    """What a National Insurance number is sealed under."""
    return f"legal_entities.nino:{entity_id}"


def live_portfolio(tx: ReadTx, legal_entity_id: str) -> str | None:
    """The id of a portfolio that is not archived; None where there is none."""
    portfolio_id: str | None = tx.value(_SELECT_LIVE, legal_entity_id=legal_entity_id)
    return portfolio_id


def pooled_portfolio(tx: ReadTx, legal_entity_id: str) -> str | None:
    """The id of a portfolio that is not archived and whose cost is that of section 104 holdings."""
    portfolio_id: str | None = tx.value(_SELECT_POOLED, legal_entity_id=legal_entity_id)
    return portfolio_id


def ever_held(tx: ReadTx, legal_entity_id: str) -> bool:
    """Whether its accounts hold anything, or did."""
    return tx.value(_SELECT_HOLDING, legal_entity_id=legal_entity_id) is not None


def tax_standing(tx: ReadTx, legal_entity_id: str | None = None) -> TaxStanding | None:
    """The standing of an entity's own grant, or with None of the organization's; None: it is not connected."""
    return _standing(tx.row(_SELECT_STANDING, of=legal_entity_id or ""))


def shown_tax_standing(tx: ReadTx, legal_entity_id: str) -> TaxStanding | None:
    """What an entity shows: the standing of its own grant, else that of the organization's."""
    return _standing(tx.row(_SELECT_SHOWN_STANDING, of=legal_entity_id))


def _store_tax_standing(tx: WriteTx, standing: TaxStanding | None, legal_entity_id: str | None = None) -> None:
    """Store another one; None: it is not connected any more."""
    of = legal_entity_id or ""
    if standing is None:
        tx.run(_REMOVE_STANDING, of=of)
        return
    values = {"vat": int(standing.vat), "itsa": int(standing.itsa), "expires_at": standing.expires_at}
    if not tx.run(_UPDATE_STANDING, of=of, **values):
        tx.run(_INSERT_STANDING, legal_entity_id=legal_entity_id, **values)


def _standing(row: Row | None) -> TaxStanding | None:
    return None if row is None else TaxStanding(bool(row[0]), bool(row[1]), Instant(row[2]))
