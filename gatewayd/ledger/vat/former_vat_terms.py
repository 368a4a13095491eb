"""The VAT scheme of a legal entity and what goes with it, now and on closed days. Owns the table `former_vat_terms`.

The terms have no day from which they hold, but for the start of the flat rate. Other ones hold from the day after the
last closed one; a row says which ones hold up to its day. Chosen: where a period is opened again, its days keep their
terms until others are said.
"""

from typing import Literal, NamedTuple

from gatewayd.store import ReadTx, WriteTx

Scheme = Literal["standard", "cash", "flat_rate", "annual"]

_SELECT_NOW = """
SELECT vat_scheme, vat_flat_rate_category, vat_flat_rate_percent, vat_flat_rate_start_date, vat_effective_date
FROM legal_entities WHERE org_id = :org_id AND id = :legal_entity_id
"""
_SELECT_FORMER = """
SELECT last_day, scheme, flat_rate_category, flat_rate_percent, flat_rate_start_date, registered_from
FROM former_vat_terms WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY last_day
"""
_DELETE_FROM = """
DELETE FROM former_vat_terms
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND last_day >= :last_day
"""
_INSERT = """
INSERT INTO former_vat_terms (
    org_id, legal_entity_id, last_day, scheme, flat_rate_category, flat_rate_percent, flat_rate_start_date,
    registered_from
) VALUES (
    :org_id, :legal_entity_id, :last_day, :scheme, :category, :percent, :flat_from, :registered_from
)
"""


class VatTerms(NamedTuple):
    """`scheme` None is standard. `percent`, a decimal, is that of the flat rate before any discount, and None where
    `category` says it. `flat_from` is the ISO date on which the flat rate begins; None: with the registration, of
    `registered_from`.
    """

    scheme: Scheme | None
    category: str | None
    percent: str | None
    flat_from: str | None
    registered_from: str | None

    def is_flat_on(self, date: str) -> bool:
        """True where the flat rate is the scheme on an ISO date of the registration."""
        return self.scheme == "flat_rate" and (self.flat_from is None or self.flat_from <= date)


class Former(NamedTuple):
    """The terms that hold up to an ISO date, and from the day after the one before it on."""

    last_day: str
    terms: VatTerms


def now(tx: ReadTx, legal_entity_id: str) -> VatTerms:
    """The terms of a legal entity of the caller's organization, which exists."""
    row = tx.row(_SELECT_NOW, legal_entity_id=legal_entity_id)
    assert row is not None
    return VatTerms(*row)


def former(tx: ReadTx, legal_entity_id: str) -> list[Former]:
    """Those that hold up to a closed day, oldest first."""
    return [Former(row[0], VatTerms(*row[1:])) for row in tx.rows(_SELECT_FORMER, legal_entity_id=legal_entity_id)]


def keep(tx: WriteTx, legal_entity_id: str, terms: VatTerms, last_closed: str | None) -> None:
    """Let `terms` hold up to the last closed day, and those of now after it. None: no day is closed."""
    tx.run(_DELETE_FROM, legal_entity_id=legal_entity_id, last_day=last_closed or "")
    if last_closed is not None:
        tx.run(_INSERT, legal_entity_id=legal_entity_id, last_day=last_closed, **terms._asdict())
