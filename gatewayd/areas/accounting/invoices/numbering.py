"""How a seller's invoices, credit notes and quotes are numbered, a part of the invoice resource (domain model B5)."""

from typing import Annotated

from msgspec import Meta

from gatewayd.areas.accounting.invoices import drafts, numbers
from gatewayd.areas.accounting.invoices.numbers import NumberedKind
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Id, Request, Response
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.store import ReadTx, WriteTx

Pattern = Annotated[
    str,
    Meta(
        max_length=numbers.MAX_LENGTH,
        description="One counter, `{1}` to `{000000000001}`, and at most one `{yyyy}`, among printable ASCII.",
        examples=["INV-{yyyy}-{000001}"],
    ),
]
NextCount = Annotated[int, Meta(ge=1, le=numbers.MAX_COUNT)]


class GetNumbering(Request, frozen=True, kw_only=True):
    """Whose numbers."""

    legal_entity_id: Id | None = None
    """Who sells. By default the only legal entity, or the organization where it has none."""
    kind: NumberedKind = "invoice"


class SetNumbering(GetNumbering, frozen=True, kw_only=True):
    """The pattern, and what its counter says next. What is absent stays; another pattern begins after what is used."""

    pattern: Pattern | None = None
    next_count: NextCount | None = None
    """What the counter says next: more than any number that was used. By default it goes on."""


class Numbering(Response, frozen=True, kw_only=True):
    """How a seller's invoices, credit notes or quotes are numbered, and the number that is next, as of today."""

    legal_entity_id: str | None
    """Who sells. Null: the organization, in its own name."""
    kind: NumberedKind
    """What is numbered: invoices, credit notes and quotes have sequences of their own."""
    pattern: str
    """How a number is written: a counter such as `{000001}` among other text. With `{yyyy}`, the year of the issue
    date, it begins anew each year."""
    next_count: int
    """What the counter says next, of something issued today."""
    next_number: str
    """The number of the next document, if it is issued today."""


def get_numbering(tx: ReadTx, caller: Caller, request: GetNumbering) -> Numbering:
    """Get how a seller's invoices, credit notes or quotes are numbered."""
    return _shown(tx, drafts.seller(tx, request.legal_entity_id), request.kind)


def set_numbering(tx: WriteTx, caller: Caller, request: SetNumbering) -> Numbering:
    """Set the pattern of a seller's numbers, and the next one.

    With `{yyyy}` the counter begins with 1 in each calendar year of the issue date. `nextCount` may leave out numbers,
    such as those of another program, and lies behind every number that was used. Invoices and credit notes have
    patterns that differ in more than digits.
    """
    seller = drafts.seller(tx, request.legal_entity_id)
    year, kind = tx.today[:4], request.kind
    before = numbers.sequence(tx, seller.key, kind, year)
    pattern = before.pattern if request.pattern is None else request.pattern
    if not numbers.is_pattern(pattern):
        message = "Expected one counter such as {000001} and at most one {yyyy}, without spaces around."
        raise invalid(FieldError("pattern", "invalid_format", message))
    other = numbers.other_pattern(tx, seller.key, kind)
    if other is not None and numbers.may_meet(pattern, other):
        message = (
            "Invoices and credit notes would come to the same number: expected another pattern, such as CN-{000001}."
        )
        raise invalid(FieldError("pattern", "conflict", message))
    used = numbers.highest(tx, seller.key, kind, numbers.series(pattern, year))
    if request.next_count is not None and request.next_count <= used:
        raise invalid(FieldError("nextCount", "out_of_range", f"{used} is used: expected {used + 1} or more."))
    following = used + 1 if pattern != before.pattern else before.next_count
    numbers.begin_at(tx, seller.key, kind, year, (pattern, request.next_count or following))
    return _shown(tx, seller, kind)


def _shown(tx: ReadTx, seller: Seller, kind: NumberedKind) -> Numbering:
    sequence = numbers.sequence(tx, seller.key, kind, tx.today[:4])
    return Numbering(
        legal_entity_id=seller.legal_entity_id,
        kind=kind,
        pattern=sequence.pattern,
        next_count=sequence.next_count,
        next_number=sequence.next_number,
    )


OPERATIONS = (
    Operation(
        id="accounting.getNumbering",
        kind="read",
        method="GET",
        path="/invoices/numbering",
        scopes=("accounting:read",),
        request=GetNumbering,
        response=Numbering,
        handler=get_numbering,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000a", "kind": "credit_note"},
    ),
    Operation(
        id="accounting.setNumbering",
        kind="write",
        method="PATCH",
        path="/invoices/numbering",
        scopes=("accounting:write",),
        request=SetNumbering,
        response=Numbering,
        handler=set_numbering,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000a", "pattern": "INV-{yyyy}-{000001}", "nextCount": 457},
    ),
)
