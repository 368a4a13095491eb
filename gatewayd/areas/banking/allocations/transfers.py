"""Transfers between own accounts: two allocations that name each other's bank line, and count in no profit and loss."""

from typing import NamedTuple

from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import BY_PERSON, Allocation, Origin, Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

_SELECT_HALF = f"{ALLOCATIONS.select} AND source_id = :source_id AND counterpart_id = :counterpart_id"


class Halves(NamedTuple):
    """How much of each line is transferred, above zero, and the caller's own id for each half.

    An amount None: what is left of the line; in one currency the smaller of what is left of both.
    """

    amount: Money | None = None
    counterpart_amount: Money | None = None
    external_id: str | None = None
    counterpart_external_id: str | None = None


def match(
    tx: WriteTx, line: BankLine, counterpart: BankLine, halves: Halves, origin: Origin = BY_PERSON
) -> list[Allocation]:
    """Allocate two bank lines as one transfer.

    Raises `Problem`: `invalid_state` (a line is not booked), `period_closed`, `limit_reached`, `already_exists` (an
    external id), `validation_failed`.
    """
    errors = _mistakes(tx, line, counterpart)
    if errors:
        raise invalid(*errors)
    amount, other = _amounts(line, counterpart, halves)
    return [
        *allocations.allocate(tx, line, [_part(amount, counterpart, halves.external_id)], origin),
        *allocations.allocate(tx, counterpart, [_part(other, line, halves.counterpart_external_id)], origin),
    ]


def other_half(tx: ReadTx, row: Allocation) -> Allocation | None:
    """The allocation at the other end of a transfer; None where `row` is not half of one."""
    if row.counterpart_id is None:
        return None
    values = tx.row(_SELECT_HALF, source_id=row.counterpart_id, counterpart_id=row.source_id)
    return None if values is None else ALLOCATIONS.read(tx, values)


def _mistakes(tx: ReadTx, line: BankLine, counterpart: BankLine) -> list[FieldError]:
    errors: list[tuple[str, str]] = []
    if line.id == counterpart.id:
        return [FieldError("counterpartId", "conflict", "It is the bank transaction itself: expected its other half.")]
    if line.account_id == counterpart.account_id:
        errors.append(("conflict", "Both are of one account."))
    if (line.amount > 0) == (counterpart.amount > 0):
        errors.append(("conflict", "Money goes out of one account and into the other."))
    owners = {line.legal_entity_id, counterpart.legal_entity_id} - {None}
    if len(owners) > 1:
        errors.append(("conflict", "The accounts belong to two legal entities: between them it is no transfer."))
    if tx.row(_SELECT_HALF, source_id=line.id, counterpart_id=counterpart.id) is not None:
        errors.append(("conflict", "They are a transfer already."))
    return [FieldError("counterpartId", code, message) for code, message in errors]


def _amounts(line: BankLine, counterpart: BankLine, halves: Halves) -> tuple[Money, Money]:
    wanted = (halves.amount, halves.counterpart_amount)
    if line.currency != counterpart.currency:
        defaults = (line.rest, counterpart.rest)
    else:
        same = next((amount for amount in wanted if amount is not None), min(line.rest, counterpart.rest))
        defaults = (same, same)
    amount, other = (
        default if amount_given is None else amount_given
        for amount_given, default in zip(wanted, defaults, strict=True)
    )
    if line.currency == counterpart.currency and amount != other:
        raise invalid_field("counterpartAmount", "conflict", "In one currency both amounts are the same.")
    errors = [
        FieldError(path, "out_of_range", f"{its.rest} {its.currency} is left of the bank transaction.")
        for path, wanted, its in (("amount", amount, line), ("counterpartAmount", other, counterpart))
        if not 0 < wanted.minor <= its.rest.minor
    ]
    if errors:
        raise invalid(*errors)
    return amount, other


def _part(amount: Money, counterpart: BankLine, external_id: str | None) -> Part:
    return Part("not_pnl", "transfer", amount=amount.minor, counterpart_id=counterpart.id, external_id=external_id)
