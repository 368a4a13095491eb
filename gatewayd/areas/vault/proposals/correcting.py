"""What people correct of what was read in a document (Domain B7): an operation, and what accepting takes along.

What was corrected stays when the document is read anew, and is learned for the sender's next documents.
"""

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import Document, DocumentRow
from gatewayd.areas.vault.parses import learning
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.parses.rows import StoredFacts
from gatewayd.areas.vault.proposals import rows
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import AmountText, Currency, Date, Id, Name, Request
from gatewayd.errors import FieldError, invalid
from gatewayd.extraction.shapes import DocumentKind
from gatewayd.money import from_minor, to_minor
from gatewayd.store import WriteTx

Number = Annotated[str, Meta(min_length=1, max_length=64)]
_CURRENCY: Final = "GBP"  # Chosen: of amounts beside which none stands, as for proposals
_AMOUNTS: Final = ("total", "net", "vat")


class FactChanges(Request, frozen=True, kw_only=True):
    """What is right of a document. An absent field stays as it is known, null says that the document has none."""

    kind: DocumentKind | UnsetType = UNSET
    counterparty: Name | UnsetType | None = UNSET
    vat_number: Number | UnsetType | None = UNSET
    reference: Name | UnsetType | None = UNSET
    date: Date | UnsetType | None = UNSET
    due_date: Date | UnsetType | None = UNSET
    total: AmountText | UnsetType | None = UNSET
    """What is to be paid, or was, VAT included: a decimal of `currency`, above 0. Where `net` and `vat` are known and
    do not come to it they are cleared, unless they are given as well."""
    net: AmountText | UnsetType | None = UNSET
    vat: AmountText | UnsetType | None = UNSET
    currency: Currency | UnsetType | None = UNSET


_FIELDS: Final = FactChanges.__struct_fields__


class CorrectFacts(FactChanges, frozen=True, kw_only=True):
    """What is right of which document."""

    document_id: Id
    """The document whose facts are corrected."""


def correct_facts(tx: WriteTx, caller: Caller, request: CorrectFacts) -> Document:
    """Correct what was read in a document, or say what could not be read in it.

    It stays so when the document is read anew. What is corrected of a bill is learned: the sender's name and currency
    are those of its next bills, and amounts, dates and numbers are looked for where the right one stood. What the
    document proposes follows from it at once.
    """
    row = documents.uploaded(tx, request.document_id)
    return documents.shown(tx, corrected(tx, row, request))


def corrected(tx: WriteTx, row: DocumentRow, changes: FactChanges) -> DocumentRow:
    """The document after corrections, which are learned. Raises `Problem` `validation_failed`."""
    given = {name: value for name in _FIELDS if (value := getattr(changes, name)) is not UNSET}
    known = parses.facts_of(tx, row.id)
    told = _in_one_form(known, given)
    new = {name: value for name, value in told.items() if value != getattr(known, name)}
    if not new:
        return row
    parses.correct(tx, row.id, parses.corrections_of(tx, row.id) | new)
    learning.learn(tx, known, new)
    facts = parses.facts_of(tx, row.id)
    rows.note_known(tx, row.id, (facts.kind, facts.total), parses.certificate_of(tx, row.id))
    if "date" in new:
        return DOCUMENTS.update(tx, replace(row, document_date=new["date"]))
    return row


def _in_one_form(known: StoredFacts, given: Mapping[str, object]) -> dict[str, str | None]:
    """The changes as they are stored, with what they contradict cleared. Raises `Problem` `validation_failed`."""
    currency = str(given.get("currency") or known.currency or _CURRENCY)
    told: dict[str, str | None] = {}
    errors: list[FieldError] = []
    for name, value in given.items():
        if name in _AMOUNTS and value is not None:
            try:
                minor = to_minor(str(value), currency)
                told[name] = from_minor(minor, currency)
                if name == "total" and minor <= 0:
                    errors.append(FieldError("total", "out_of_range", "Expected an amount above 0."))
            except ValueError:
                errors.append(FieldError(name, "invalid_decimal", f"It has more decimals than {currency}."))
        else:
            told[name] = None if value is None else str(value)  # a date as ISO 8601
    after = {name: told.get(name, getattr(known, name)) for name in (*_AMOUNTS, "date", "due_date")}
    if not learning.agrees(after["total"], after["net"], after["vat"]):
        if told.get("net") is not None and told.get("vat") is not None:
            errors.append(FieldError("total", "conflict", "`net` and `vat` are expected to come to `total`."))
        told |= {name: None for name in ("net", "vat") if name not in told}
    if after["date"] and after["due_date"] and after["due_date"] < after["date"] and told.get("due_date"):
        errors.append(
            FieldError(
                "dueDate",
                "out_of_range",
                f"It is before the document's date, {after['date']}: expected that day or later.",
            )
        )
    if errors:
        raise invalid(*errors)
    return told


OPERATIONS: Final = (
    Operation(
        id="vault.correctFacts",
        kind="write",
        method="PATCH",
        path="/vault/documents/:documentId/facts",
        scopes=("vault:write",),
        request=CorrectFacts,
        response=Document,
        handler=correct_facts,
        errors=("not_uploaded",),
        extension=True,
        example={
            "documentId": "doc_01k0000000000000000000000e",
            "counterparty": "Northgate Cleaning Ltd",
            "total": "77.10",
            "net": "64.25",
            "vat": "12.85",
        },
    ),
)
