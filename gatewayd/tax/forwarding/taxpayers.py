"""Whose taxes are asked for: the numbers of a legal entity of the caller's organization. Reads only."""

from typing import Final, NamedTuple

from gatewayd.areas.legal_entities.rows import opened_nino
from gatewayd.errors import not_found
from gatewayd.store import ReadTx, Row
from gatewayd.tax.authority.mapping import Identity

HINT_LENGTH: Final = 3  # of what is kept in the clear of a National Insurance number

_COLUMNS = "id, vat_number, nino_sealed"
_SELECT_ONE = f"SELECT {_COLUMNS} FROM legal_entities WHERE org_id = :org_id AND id = :id"
_SELECT_ACTIVE = f"""
SELECT {_COLUMNS} FROM legal_entities WHERE org_id = :org_id AND archived_at IS NULL ORDER BY id LIMIT 2
"""
_SELECT_BY_VRN = f"SELECT {_COLUMNS} FROM legal_entities WHERE org_id = :org_id AND vat_number = :vrn"
_SELECT_BY_HINT = f"""
SELECT {_COLUMNS} FROM legal_entities WHERE org_id = :org_id AND nino_hint = :hint ORDER BY archived_at IS NOT NULL, id
"""


class Taxpayer(NamedTuple):
    """A legal entity and the numbers that the authority knows it by; None where it has none, or is none of ours."""

    legal_entity_id: str | None = None
    vrn: str | None = None
    nino: str | None = None


NOBODY = Taxpayer()


class TaxpayerReference(NamedTuple):
    """Whom a caller names: a legal entity, or a number of a kind; empty where nothing is named."""

    legal_entity_id: str
    kind: Identity
    number: str


def find(tx: ReadTx, reference: TaxpayerReference) -> Taxpayer | None:
    """The taxpayer that is meant. None where nobody is named, and the organization has several entities.

    An entity that is named counts before a number. `NOBODY` stands for a number that is none of its entities', and for
    an organization that has none. Raises `Problem` `not_found` where there is no such entity.
    """
    if reference.legal_entity_id:
        return of_entity(tx, reference.legal_entity_id)
    if reference.number:
        return _of_number(tx, reference.kind, "".join(reference.number.split()).upper())
    rows = tx.rows(_SELECT_ACTIVE)
    if not rows:
        return NOBODY
    return _taxpayer(tx, rows[0]) if len(rows) == 1 else None


def of_entity(tx: ReadTx, legal_entity_id: str) -> Taxpayer:
    """The taxpayer that an entity of the transaction's organization is. Raises `Problem` `not_found`."""
    row = tx.row(_SELECT_ONE, id=legal_entity_id)
    if row is None:
        raise not_found("legal entity")
    return _taxpayer(tx, row)


def _of_number(tx: ReadTx, kind: Identity, number: str) -> Taxpayer:
    if kind == "vrn":
        row = tx.row(_SELECT_BY_VRN, vrn=number.removeprefix("GB"))
        return NOBODY if row is None else _taxpayer(tx, row)
    rows = tx.rows(_SELECT_BY_HINT, hint=number[-HINT_LENGTH:])
    return next((each for each in (_taxpayer(tx, row) for row in rows) if each.nino == number), NOBODY)


def _taxpayer(tx: ReadTx, row: Row) -> Taxpayer:
    entity_id, vat_number, nino_sealed = row
    return Taxpayer(entity_id, vat_number, opened_nino(tx, entity_id, nino_sealed))
