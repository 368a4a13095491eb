"""Many bank transactions that are for the same thing: one call says so of all of them (Domain B4)."""

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Final

from msgspec import Meta

from gatewayd.areas.banking.allocations.operations import allocate
from gatewayd.areas.banking.allocations.shapes import Allocate, AllocationPart, AllocationWarning, Description
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Amount, DecimalText, Id, Part, Request, Response
from gatewayd.errors import FieldError, Problem, invalid
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Direction
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.vat.vat_rates import AllocationVatCode
from gatewayd.money import from_minor
from gatewayd.store import ReadTx, WriteTx

LINES_MAX: Final = 100  # Chosen: one transaction of the store; each line takes the time of several rows
_WHOLE: Final = Decimal(100)


class SharedPart(Part, frozen=True, kw_only=True):
    """What a share of each bank transaction is for, in percent of what is left of it; the rest of the fields are as
    those of an AllocationPart. Without `share` it is all that the others leave, which one part at most can be.
    """

    category: Category
    share: Annotated[DecimalText, Meta(description="Percent, more than 0 and at most 100.")] | None = None
    purpose: Purpose | None = None
    business_id: Id | None = None
    direction: Direction | None = None
    vat_code: AllocationVatCode | None = None
    allowable: bool | None = None
    property_id: Id | None = None
    unit_id: Id | None = None
    tenancy_id: Id | None = None
    mortgage_id: Id | None = None
    description: Description | None = None


class AllocateMany(Request, frozen=True, kw_only=True):
    """What up to a hundred bank transactions are for, each of them in the same shares.

    `replace` puts it in the place of what there is. `description` is that of parts which have none.
    """

    bank_transaction_ids: Annotated[list[Id], Meta(min_length=1, max_length=LINES_MAX)]
    parts: Annotated[list[SharedPart], Meta(min_length=1, max_length=10)]
    replace: bool = False
    description: Description | None = None


class CodedTransaction(Response, frozen=True, kw_only=True):
    """A bank transaction with all of its allocations; `warnings` as of `banking.allocate`."""

    bank_transaction_id: Id
    currency: str
    unallocated_amount: Amount
    allocation_ids: list[Id]
    warnings: list[AllocationWarning]


class AllocatedMany(Response, frozen=True, kw_only=True):
    """The bank transactions, in the order of the request."""

    transactions: list[CodedTransaction]


def allocate_many(tx: WriteTx, caller: Caller, request: AllocateMany) -> AllocatedMany:
    """Say of many bank transactions at once what they are for: all of them, or none.

    Each is allocated as `banking.allocate` would, a part being its share of what is left, to the penny; what rounding
    leaves goes to the last part, where the shares are all of it. What one of them may not have is told with its place.
    """
    lines = _lines(tx, request)
    shares = _shares(request.parts)
    found = []
    for index, line in enumerate(lines):
        left = abs(line.amount if request.replace else line.unallocated)
        parts = [*_parts(request, shares, left, line.currency)]
        asked = Allocate(bank_transaction_id=line.id, parts=parts, replace=request.replace)
        try:
            made = allocate(tx, caller, asked)
        except Problem as problem:
            raise _at(problem, index, line) from None
        assert made.unallocated_amount is not None
        found.append(
            CodedTransaction(
                bank_transaction_id=line.id,
                currency=made.currency,
                unallocated_amount=made.unallocated_amount,
                allocation_ids=[row.id for row in made.allocations],
                warnings=made.warnings,
            )
        )
    return AllocatedMany(transactions=found)


def _lines(tx: ReadTx, request: AllocateMany) -> list[BankLine]:
    """The lines. Raises `Problem` `validation_failed` for each that is not there, named twice, or allocated whole."""
    errors, lines, seen = [], [], set()
    for index, id_ in enumerate(request.bank_transaction_ids):
        path = f"bankTransactionIds[{index}]"
        line = bank_lines.find(tx, id_)
        if line is None:
            errors.append(unknown_reference(path, "bank_transaction"))
        elif id_ in seen:
            errors.append(FieldError(path, "conflict", "The bank transaction is named twice."))
        elif line.unallocated == 0 and not request.replace:
            errors.append(FieldError(path, "conflict", "All of it is allocated: `replace` puts this in its place."))
        else:
            lines.append(line)
        seen.add(id_)
    if errors:
        raise invalid(*errors)
    return lines


def _shares(parts: Sequence[SharedPart]) -> list[Decimal]:
    """The percent of each part. Raises `Problem` `validation_failed` where they are more than all of it."""
    given = [None if part.share is None else Decimal(part.share) for part in parts]
    told = sum((share for share in given if share is not None), Decimal(0))
    errors = [
        FieldError(f"parts[{index}].share", "out_of_range", "Expected more than 0, and at most 100.")
        for index, share in enumerate(given)
        if share is not None and not 0 < share <= _WHOLE
    ]
    if given.count(None) > 1:
        errors.append(FieldError("parts", "conflict", "One part at most can be what the others leave."))
    elif told > _WHOLE or (told == _WHOLE and None in given):
        errors.append(FieldError("parts", "share_total", "The shares leave nothing for a part, or are more than all."))
    if errors:
        raise invalid(*errors)
    return [_WHOLE - told if share is None else share for share in given]


def _parts(request: AllocateMany, shares: Sequence[Decimal], left: int, currency: str) -> Iterator[AllocationPart]:
    """The parts of one line, of which `left` minor units are not allocated. One that comes to nothing is left out."""
    rest, is_whole = left, sum(shares) == _WHOLE
    for index, (part, share) in enumerate(zip(request.parts, shares, strict=True)):
        minor = int((left * share / _WHOLE).quantize(Decimal(1), ROUND_HALF_UP))
        minor = rest if is_whole and index == len(shares) - 1 else min(minor, rest)
        rest -= minor
        if minor > 0:
            given = {name: getattr(part, name) for name in SharedPart.__struct_fields__ if name != "share"}
            given["description"] = part.description or request.description
            yield AllocationPart(amount=str(from_minor(minor, currency)), **given)


def _at(problem: Problem, index: int, line: BankLine) -> Problem:
    """The problem with the place of the bank transaction that has it."""
    errors = tuple(FieldError(f"bankTransactionIds[{index}]", one.code, one.message) for one in problem.errors)
    extra = {**problem.extra, "bankTransactionId": line.id}
    return Problem(problem.code, f"{line.id}: {problem.message}", errors=errors, extra=extra)


OPERATIONS = (
    Operation(
        id="banking.allocateMany",
        kind="write",
        method="POST",
        path="/allocations/many",
        scopes=("accounting:write",),
        request=AllocateMany,
        response=AllocatedMany,
        handler=allocate_many,
        errors=("invalid_state", "limit_reached", "period_closed", "share_total", "vat_rate_invalid_on_date"),
        extension=True,
        example={
            "bankTransactionIds": ["btx_01k0000000000000000000000a"],
            "parts": [{"category": "not_pnl", "purpose": "drawings", "share": "60"}],
            "description": "Cash for the owner",
        },
    ),
)
