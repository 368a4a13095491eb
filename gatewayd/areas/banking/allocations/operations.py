"""Allocations of bank transactions (Domain B4): their operations."""

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.banking.allocations import transfers
from gatewayd.areas.banking.allocations.shapes import (
    Allocate,
    Allocated,
    AllocatedMany,
    AllocateMany,
    AllocationPage,
    AllocationPart,
    AllocationTotal,
    AllocationWarning,
    CodedTransaction,
    GetAllocation,
    ListAllocations,
    MatchedTransfer,
    MatchTransfer,
    RemoveAllocation,
    RemovedAllocation,
    SharedPart,
    UpdateAllocation,
)
from gatewayd.areas.banking.allocations.transfers import Halves
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state
from gatewayd.ledger.allocating import allocation_pages, allocations, bank_lines, loan_payments
from gatewayd.ledger.allocating.allocation_pages import Filters
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Entry, Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results import capital_goods
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money, canonical, from_minor, to_minor
from gatewayd.store import ReadTx, WriteTx

_AMOUNTS = (("amount", "amount"), ("vat_amount", "vatAmount"), ("disallowable_amount", "disallowableAmount"))
_WHOLE: Final = Decimal(100)
_SELECT_JOURNEY = "SELECT id FROM journeys WHERE org_id = :org_id AND allocation_id = :id"
_FILTERS = (
    *(
        "external_id",
        "bank_transaction_id",
        "invoice_id",
        "bill_id",
        "business_id",
        "property_id",
        "tenancy_id",
        "category",
    ),
    *("unit_id", "mortgage_id", "rule_id", "direction", "matched_by", "from_date", "to_date"),
)


def allocate(tx: WriteTx, caller: Caller, request: Allocate) -> Allocated:
    """Say what a bank transaction is for: income, expenses, or neither, in one part or several.

    The parts of a bank transaction come to no more than its amount: 95.00 may be 100.00 of turnover in and 5.00 of
    charges out. Only booked ones are allocated. An invoice is paid with `accounting.recordPayment`, and a transfer
    between own accounts that are both known is `banking.matchTransfer`.
    """
    if request.bank_transaction_id is None:
        return _enter(tx, request)
    _refuse_entry_fields(request)
    line = bank_lines.find(tx, request.bank_transaction_id)
    if line is None:
        raise invalid(unknown_reference("bankTransactionId", "bank_transaction"))
    parts = _parts_of(request.parts, line.currency)
    if request.replace:
        line = _cleared(tx, line)
    if parts:
        allocations.allocate(tx, line, parts)
    rows = allocations.of_line(tx, line.id)
    return Allocated(
        bank_transaction_id=line.id,
        currency=line.currency,
        unallocated_amount=Money(line.amount - sum(row.signed for row in rows), line.currency),
        allocations=rows,
        warnings=_warnings(tx, rows),
    )


def get_allocation(tx: ReadTx, caller: Caller, request: GetAllocation) -> Allocation:
    """Get one allocation."""
    return ALLOCATIONS.get(tx, request.allocation_id)


def list_allocations(tx: ReadTx, caller: Caller, request: ListAllocations) -> Listing[Allocation]:
    """List allocations, latest money first, or in the order of change with `updatedSince`.

    `includeTotals` adds what came in and went out under the filters, by currency.
    """
    if request.from_date is not None and request.to_date is not None and request.to_date < request.from_date:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    filters = allocation_pages.filters_of(**{name: getattr(request, name) for name in _FILTERS})
    page = allocation_pages.page(tx, request, filters)
    totals = b',"totals":%b' % encode(_totals(tx, filters)) if request.include_totals else b""
    return page._replace(extra=totals + page.extra)


def _totals(tx: ReadTx, filters: Filters) -> list[AllocationTotal]:
    return [
        AllocationTotal(
            currency=total.currency,
            count=total.number,
            money_in=Money(total.money_in, total.currency),
            money_out=Money(total.money_out, total.currency),
        )
        for total in allocation_pages.totals(tx, filters)
    ]


def update_allocation(tx: WriteTx, caller: Caller, request: UpdateAllocation) -> Allocation:
    """Change the given fields of an allocation, which is then a person's choice and no longer a rule's.

    Another `category` is disallowable as it is by default. A transfer is removed instead, and a payment of an invoice
    is taken back with `accounting.removePayment`.
    """
    before = ALLOCATIONS.get(tx, request.allocation_id, request.expected_version)
    _refuse_journey(tx, before)
    after = ALLOCATIONS.changed(before, request, matched_by="user", rule_id=None, reason=None)
    if after.category != "not_pnl" and request.purpose is UNSET:
        after = replace(after, purpose=None)
    if request.vat_amount is UNSET and _moves_vat(before, after):
        after = allocations.with_coded_vat(after)
    return allocations.change(tx, before, replace(after, disallowable_amount=_disallowable(tx, before, after, request)))


def remove_allocation(tx: WriteTx, caller: Caller, request: RemoveAllocation) -> RemovedAllocation:
    """Take an allocation back, so that its amount can be allocated anew; of a transfer both halves.

    A payment of an invoice is taken back with `accounting.removePayment`. It is refused where the parts that stay would
    not fit the bank transaction: replace all of them together, with `banking.allocate`, or, of a transfer, first remove
    what goes the other way.
    """
    row = ALLOCATIONS.get(tx, request.allocation_id, request.expected_version)
    _refuse_journey(tx, row)
    other = transfers.other_half(tx, row)
    if other is None:
        allocations.refuse_bound(row)
    both = [row] if other is None else [row, other]
    allocations.remove(tx, *both)
    return RemovedAllocation(id=row.id, deleted=True, removed_ids=[gone.id for gone in both])


def _refuse_journey(tx: ReadTx, row: Allocation) -> None:
    """Raises `Problem` `invalid_state` for what a journey comes to, which its miles say."""
    journey_id = tx.value(_SELECT_JOURNEY, id=row.id)
    if journey_id is not None:
        message = f"It is what the journey {journey_id} comes to: change that with `accounting.updateJourney`."
        raise invalid_state(message, "journey", ())


def match_transfer(tx: WriteTx, caller: Caller, request: MatchTransfer) -> MatchedTransfer:
    """Match two bank transactions of own accounts as a transfer, which no profit and loss counts.

    The accounts may have different currencies, each half then has its own amount.
    """
    line = bank_lines.find(tx, request.bank_transaction_id)
    counterpart = bank_lines.find(tx, request.counterpart_id)
    if line is None or counterpart is None:
        lines = (("bankTransactionId", line), ("counterpartId", counterpart))
        raise invalid(*(unknown_reference(path, "bank_transaction") for path, its in lines if its is None))
    halves = Halves(
        _money("amount", request.amount, line.currency),
        _money("counterpartAmount", request.counterpart_amount, counterpart.currency),
        request.external_id,
        request.counterpart_external_id,
    )
    return MatchedTransfer(allocations=transfers.match(tx, line, counterpart, halves))


def _enter(tx: WriteTx, request: Allocate) -> Allocated:
    """Entries without a bank transaction: of one currency, that of the first business where none is given."""
    if request.replace:
        raise invalid_field("bankTransactionId", "required", "What is there is replaced of a bank transaction.")
    if not request.parts:
        raise invalid_field("parts", "required", "This field is required: what is to be entered?")
    business_id = request.parts[0].business_id
    business = None if business_id is None else businesses.find(tx, business_id)
    currency = request.currency or ("GBP" if business is None else business.currency)
    date = None if request.date is None else request.date.isoformat()
    rows = allocations.enter(tx, _parts_of(request.parts, currency), Entry(date, currency))
    return Allocated(
        bank_transaction_id=None,
        currency=currency,
        unallocated_amount=None,
        allocations=rows,
        warnings=_warnings(tx, rows),
    )


def _warnings(tx: ReadTx, rows: Sequence[Allocation]) -> list[AllocationWarning]:
    loans = [
        AllocationWarning(code=code, message=message, allocation_id=row.id)
        for row in rows
        for code, message in loan_payments.told(row)
    ]
    goods = [
        AllocationWarning(code=code, message=message, allocation_id=id_)
        for id_, code, message in capital_goods.told(tx, rows)
    ]
    return loans + goods


def _refuse_entry_fields(request: Allocate) -> None:
    errors = [
        FieldError(path, "conflict", "It is for money that no bank transaction shows.")
        for path, value in (("date", request.date), ("currency", request.currency))
        if value is not None
    ]
    if not request.parts and not request.replace:
        errors.append(FieldError("parts", "required", "What is the bank transaction for?"))
    if errors:
        raise invalid(*errors)


def _cleared(tx: WriteTx, line: BankLine) -> BankLine:
    """The line, its allocations removed. Raises `Problem` where one is half of a transfer, or pays an invoice."""
    rows = allocations.of_line(tx, line.id)
    for row in rows:
        allocations.refuse_bound(row)
    allocations.remove(tx, *rows)
    return line._replace(allocated=0)


def _disallowable(tx: ReadTx, before: Allocation, after: Allocation, request: UpdateAllocation) -> Money:
    """What is disallowable after a change: as the request says, else as the category does, else as it was."""
    if request.allowable is not UNSET and request.disallowable_amount is not UNSET:
        raise invalid_field("allowable", "conflict", "`disallowableAmount` says it already.")
    zero = Money(0, after.currency)
    if request.allowable is not UNSET:
        return zero if request.allowable else after.amount
    if request.disallowable_amount is not UNSET:
        return after.disallowable_amount
    if (after.category, after.mortgage_id) != (before.category, before.mortgage_id):
        return allocations.disallowable_by_default(tx, after)
    return after.amount if not before.allowable else before.disallowable_amount


def _moves_vat(before: Allocation, after: Allocation) -> bool:
    """Whether a change alters how much VAT the code says; else the VAT that a bill prints stays."""
    said = ((row.vat_code, row.amount, row.tax_point) for row in (before, after))
    return len(set(said)) > 1


# -- parts of requests as the ledger takes them: amounts in minor units, dates as text


def _parts_of(parts: Sequence[AllocationPart], currency: str) -> list[Part]:
    """Each part with its amounts in `currency`. Raises `Problem` `validation_failed`."""
    errors: list[FieldError] = []
    taken = [_part(part, currency, f"parts[{index}].", errors) for index, part in enumerate(parts)]
    if errors:
        raise invalid(*errors)
    return taken


def _money(path: str, text: str | None, currency: str) -> Money | None:
    """An amount of a request; None stays None. Raises `Problem` `validation_failed`."""
    try:
        return None if text is None else Money.of(text, currency)
    except ValueError as error:
        raise invalid_field(path, "invalid_decimal", f"{error}.") from None


def _part(part: AllocationPart, currency: str, path: str, errors: list[FieldError]) -> Part:
    amounts: dict[str, int | None] = {}
    for field, name in _AMOUNTS:
        text = getattr(part, field)
        try:
            amounts[field] = None if text is None else to_minor(text, currency)
        except ValueError as error:
            errors.append(FieldError(path + name, "invalid_decimal", f"{error}."))
            amounts[field] = 0
    if part.allowable is not None and part.disallowable_amount is not None:
        errors.append(FieldError(f"{path}allowable", "conflict", "`disallowableAmount` says it already."))
    return Part(
        category=part.category,
        purpose=part.purpose,
        business_id=part.business_id,
        direction=part.direction,
        amount=amounts["amount"],
        vat_code=part.vat_code,
        vat_amount=amounts["vat_amount"],
        capital_goods=part.capital_goods,
        disallowable_amount=0 if part.allowable else amounts["disallowable_amount"],
        wholly_disallowable=part.allowable is False,
        property_id=part.property_id,
        unit_id=part.unit_id,
        tenancy_id=part.tenancy_id,
        mortgage_id=part.mortgage_id,
        document_date=None if part.document_date is None else part.document_date.isoformat(),
        fx_rate=None if part.fx_rate is None else canonical(part.fx_rate),
        description=part.description,
        document_ids=tuple(part.document_ids or ()),
        external_id=part.external_id,
    )


# -- many bank transactions that are for the same thing


def allocate_many(tx: WriteTx, caller: Caller, request: AllocateMany) -> AllocatedMany:
    """Say of many bank transactions at once what they are for: all of them, or none.

    Each is allocated as `banking.allocate` would, a part being its share of what is left, to the penny; what rounding
    leaves goes to the last part, where the shares are all of it. A problem names the bank transaction that it is about.
    """
    lines = _lines_named(tx, request)
    shares = _shares(request.parts)
    coded = []
    for index, line in enumerate(lines):
        left = abs(line.amount if request.replace else line.unallocated)
        parts = [*_shares_of(request, shares, left, line.currency)]
        single = Allocate(bank_transaction_id=line.id, parts=parts, replace=request.replace)
        try:
            made = allocate(tx, caller, single)
        except Problem as problem:
            raise _placed(problem, index, line) from None
        assert made.unallocated_amount is not None
        coded.append(
            CodedTransaction(
                bank_transaction_id=line.id,
                currency=made.currency,
                unallocated_amount=made.unallocated_amount,
                allocation_ids=[row.id for row in made.allocations],
                warnings=made.warnings,
            )
        )
    return AllocatedMany(transactions=coded)


def _lines_named(tx: ReadTx, request: AllocateMany) -> list[BankLine]:
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
    percents = [None if part.share is None else Decimal(part.share) for part in parts]
    told = sum((share for share in percents if share is not None), Decimal(0))
    errors = [
        FieldError(f"parts[{index}].share", "out_of_range", "Expected more than 0, and at most 100.")
        for index, share in enumerate(percents)
        if share is not None and not 0 < share <= _WHOLE
    ]
    if percents.count(None) > 1:
        errors.append(FieldError("parts", "conflict", "One part at most can be what the others leave."))
    elif told > _WHOLE or (told == _WHOLE and None in percents):
        errors.append(FieldError("parts", "share_total", "The shares leave nothing for a part, or are more than all."))
    if errors:
        raise invalid(*errors)
    return [_WHOLE - told if share is None else share for share in percents]


def _shares_of(request: AllocateMany, shares: Sequence[Decimal], left: int, currency: str) -> Iterator[AllocationPart]:
    """The parts of one line, of which `left` minor units are not allocated. One that comes to nothing is left out."""
    rest, is_whole = left, sum(shares) == _WHOLE
    for index, (part, share) in enumerate(zip(request.parts, shares, strict=True)):
        minor = int((left * share / _WHOLE).quantize(Decimal(1), ROUND_HALF_UP))
        minor = rest if is_whole and index == len(shares) - 1 else min(minor, rest)
        rest -= minor
        if minor > 0:
            members = {name: getattr(part, name) for name in SharedPart.__struct_fields__ if name != "share"}
            members["description"] = part.description or request.description
            yield AllocationPart(amount=str(from_minor(minor, currency)), **members)


def _placed(problem: Problem, index: int, line: BankLine) -> Problem:
    """The problem, with which of the bank transactions it is about."""
    errors = tuple(FieldError(f"bankTransactionIds[{index}]", error.code, error.message) for error in problem.errors)
    extra = {**problem.extra, "bankTransactionId": line.id}
    return Problem(problem.code, f"{line.id}: {problem.message}", errors=errors, extra=extra)


OPERATIONS = (
    Operation(
        id="banking.allocate",
        kind="write",
        method="POST",
        path="/allocations",
        scopes=("accounting:write",),
        request=Allocate,
        response=Allocated,
        handler=allocate,
        errors=("already_exists", "invalid_state", "limit_reached", "period_closed", "vat_rate_invalid_on_date"),
        extension=True,
        example={
            "bankTransactionId": "btx_01k0000000000000000000000g",
            "parts": [{"category": "not_pnl", "purpose": "drawings", "description": "Cash for Ann"}],
        },
    ),
    Operation(
        id="banking.listAllocations",
        kind="read",
        method="GET",
        path="/allocations",
        scopes=("accounting:read",),
        request=ListAllocations,
        response=AllocationPage,
        handler=list_allocations,
        held=HeldBy(
            leads={
                "bank_transaction_id": "bank_transaction",
                "invoice_id": "invoice",
                "bill_id": "bill",
                "business_id": "business",
                "property_id": "property",
                "tenancy_id": "tenancy",
                "unit_id": "unit",
                "mortgage_id": "mortgage",
            },
            days=Days(),
        ),
        extension=True,
        example={"direction": "out", "fromDate": "2026-04-06", "includeTotals": True, "limit": 20},
    ),
    Operation(
        id="banking.getAllocation",
        kind="read",
        method="GET",
        path="/allocations/:allocationId",
        scopes=("accounting:read",),
        request=GetAllocation,
        response=Allocation,
        handler=get_allocation,
        held=HeldBy(leads={"allocation_id": "allocation"}, day_of=("date",)),
        extension=True,
        example={"allocationId": "alc_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.updateAllocation",
        kind="write",
        method="PATCH",
        path="/allocations/:allocationId",
        scopes=("accounting:write",),
        request=UpdateAllocation,
        response=Allocation,
        handler=update_allocation,
        errors=("already_exists", "invalid_state", "period_closed", "version_conflict", "vat_rate_invalid_on_date"),
        extension=True,
        example={"allocationId": "alc_01k0000000000000000000000a", "description": "Ash boards", "expectedVersion": 1},
    ),
    Operation(
        id="banking.removeAllocation",
        kind="write",
        method="DELETE",
        path="/allocations/:allocationId",
        scopes=("accounting:write",),
        request=RemoveAllocation,
        response=RemovedAllocation,
        handler=remove_allocation,
        errors=("invalid_state", "period_closed", "version_conflict"),
        extension=True,
        example={"allocationId": "alc_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.matchTransfer",
        kind="write",
        method="POST",
        path="/allocations/transfer",
        scopes=("accounting:write",),
        request=MatchTransfer,
        response=MatchedTransfer,
        handler=match_transfer,
        errors=("already_exists", "invalid_state", "limit_reached", "period_closed"),
        extension=True,
        example={
            "bankTransactionId": "btx_01k0000000000000000000000a",
            "counterpartId": "btx_01k0000000000000000000000b",
        },
    ),
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
            "bankTransactionIds": ["btx_01k0000000000000000000000g"],
            "parts": [{"category": "not_pnl", "purpose": "drawings", "share": "60"}],
            "description": "Cash for Ann",
        },
    ),
)
