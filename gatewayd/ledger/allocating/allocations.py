"""What money is for: allocations of bank lines and manual entries (Domain B4, C1, C2). Owns the table `allocations`.

The allocations of a bank line have its sign together and never more than its amount; one call takes several parts, so
that a payout of 95 can be 100 of turnover in and 5 of charges out. With each change the line's `allocated` is kept true
in the same transaction.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gatewayd.errors import FieldError, Problem, invalid, invalid_state
from gatewayd.ledger.allocating import (
    allocation_checks,
    bank_lines,
    lets,
    line_documents,
    loan_payments,
    rents_received,
)
from gatewayd.ledger.allocating.allocation_checks import Setting
from gatewayd.ledger.allocating.allocation_shapes import BY_PERSON, Allocation, Entry, Origin, Part
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import FINANCE_COSTS, WHOLLY_DISALLOWABLE
from gatewayd.ledger.allocating.lets import Place
from gatewayd.ledger.allocating.loan_payments import Paid
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.vat import coded_vat
from gatewayd.money import Money
from gatewayd.store import ReadTx, Table, WriteTx

MAX_PER_LINE = 200  # Chosen: all of a line are looked at together
MOST_DOCUMENTS = 20  # of one allocation

ALLOCATIONS = Table(
    "allocations",
    Allocation,
    kind="allocation",
    prefix="alc",
    derived={"allowable": lambda _, row: row.disallowable_amount < row.amount},
)
_SELECT_OF_LINE = f"{ALLOCATIONS.select} AND source_id = :source_id ORDER BY id"
_COUNT_OF_LINE = "SELECT count(id) FROM allocations WHERE org_id = :org_id AND source_id = :source_id"
_DELETE = "DELETE FROM allocations WHERE org_id = :org_id AND id = :id"


def of_line(tx: ReadTx, line_id: str) -> list[Allocation]:
    """The allocations of a bank line, oldest first: at most `MAX_PER_LINE`."""
    return [ALLOCATIONS.read(tx, row) for row in tx.rows(_SELECT_OF_LINE, source_id=line_id)]


def planned(tx: WriteTx, line: BankLine, parts: Sequence[Part], origin: Origin = BY_PERSON) -> list[Allocation]:
    """The allocations that parts of a bank line would be, not stored. Raises `Problem` as `allocate` does."""
    refuse_unbooked(line)
    if int(tx.value(_COUNT_OF_LINE, source_id=line.id)) + len(parts) > MAX_PER_LINE:
        raise Problem("limit_reached", f"A bank transaction has at most {MAX_PER_LINE} allocations.")
    rows: list[Allocation] = []
    errors: list[FieldError] = []
    left = line.unallocated
    documents = line_documents.of_line(tx, line.id)
    for index, part in enumerate(parts):
        for row, setting in _parts_of(tx, line, part, left, rows):
            errors += allocation_checks.mistakes(tx, row, setting._replace(path=f"parts[{index}]."))
            rows.append(replace(row, document_ids=_documents(row, documents), **_chosen(row, origin)))
            left -= row.signed
    errors += allocation_checks.sum_mistakes(line, line.amount - left, "parts")
    if errors:
        raise invalid(*dict.fromkeys(errors))
    if int(tx.value(_COUNT_OF_LINE, source_id=line.id)) + len(rows) > MAX_PER_LINE:
        raise Problem("limit_reached", f"A bank transaction has at most {MAX_PER_LINE} allocations.")
    for row in rows:
        refuse_closed(tx, row)
    return rows


def allocate(tx: WriteTx, line: BankLine, parts: Sequence[Part], origin: Origin = BY_PERSON) -> list[Allocation]:
    """Allocate parts of a bank line, which stays as it was where one of them is refused.

    Raises `Problem`: `invalid_state` (the line is not booked), `period_closed`, `limit_reached`, `validation_failed`
    with paths of `parts[i]`.
    """
    rows = planned(tx, line, parts, origin)
    bank_lines.set_allocated(tx, line, line.allocated + sum(row.signed for row in rows))
    return [_insert(tx, row) for row in rows]


def enter(tx: WriteTx, parts: Sequence[Part], entry: Entry) -> list[Allocation]:
    """Enter money that no bank line shows, such as what was paid in cash.

    Raises `Problem`: `period_closed`, `validation_failed` with paths of `parts[i]`.
    """
    rows: list[Allocation] = []
    errors: list[FieldError] = []
    for index, whole in enumerate(parts):
        place = lets.place_of(tx, whole)
        whole = whole._replace(**place.filled(whole))
        setting = Setting(_business(tx, whole.business_id), None, place, f"parts[{index}].")
        errors += allocation_checks.part_mistakes(whole, setting)
        paid = Paid(entry.date or tx.today, entry.currency or _currency(setting.business), rows)
        for part in loan_payments.parts_of(tx, whole, paid, place, setting.business):
            row = _entry_of(tx, part, paid, setting)
            errors += allocation_checks.entry_mistakes(row, tx.today, setting)
            errors += allocation_checks.mistakes(tx, row, setting)
            rows.append(row)
    if errors:
        raise invalid(*dict.fromkeys(errors))
    for row in rows:
        refuse_closed(tx, row)
    return [_insert(tx, row) for row in rows]


def change(tx: WriteTx, before: Allocation, after: Allocation) -> Allocation:
    """Store what an allocation has become, and what its bank line has then.

    Raises `Problem`: `invalid_state` (it is half of a transfer, or an invoice's payment), `period_closed` (it is, or
    would be, in a closed period), `validation_failed`.
    """
    refuse_bound(before)
    place = lets.place_of(tx, after)
    after = replace(after, **place.filled(after))
    business = _business(tx, after.business_id)
    line = None if before.source_id is None else bank_lines.get(tx, before.source_id)
    source = before.interest_source
    if not _is_interest(after):
        source = None
    elif not _is_interest(before) or after.amount != before.amount:
        source = "statement"
    after = replace(after, legal_entity_id=_owner(business, line), interest_source=source)
    errors = [*allocation_checks.mistakes(tx, after, Setting(business, line, place), before)]
    if line is None:
        errors += allocation_checks.entry_mistakes(after, tx.today, Setting(business, None))
    else:
        errors += allocation_checks.date_mistakes(line, after)
        errors += allocation_checks.sum_mistakes(line, line.allocated - before.signed + after.signed, "amount")
    if errors:
        raise invalid(*errors)
    refuse_closed(tx, before)
    refuse_closed(tx, after)
    if line is not None and after.signed != before.signed:
        bank_lines.set_allocated(tx, line, line.allocated - before.signed + after.signed)
    rents_received.note(tx, before, after)
    return ALLOCATIONS.update(tx, after)


def remove(tx: WriteTx, *rows: Allocation) -> None:
    """Give back to their bank lines what allocations took; each line is looked at when all of them are gone.

    What binds them to others is for the caller to know. Raises `Problem`: `period_closed`, `invalid_state` (what stays
    of a line's allocations would not fit it).
    """
    for row in rows:
        refuse_closed(tx, row)
        tx.run(_DELETE, id=row.id)
        rents_received.note(tx, row, None)
    for line_id in dict.fromkeys(row.source_id for row in rows):
        if line_id is not None:
            line = bank_lines.get(tx, line_id)
            allocated = line.allocated - sum(row.signed for row in rows if row.source_id == line_id)
            if list(allocation_checks.sum_mistakes(line, allocated, "")):
                raise _not_fitting(line, allocated)
            bank_lines.set_allocated(tx, line, allocated)


def with_coded_vat(row: Allocation) -> Allocation:
    """The allocation with the VAT that its code says, on the date that decides; as it was without a code."""
    vat = None if row.vat_code is None else coded_vat.within(row.vat_code, row.amount.minor, row.tax_point)
    return row if vat is None else replace(row, vat_amount=Money(vat, row.currency))


def disallowable_by_default(tx: ReadTx, row: Allocation) -> Money:
    """What tax does not allow of an allocation, where nobody says otherwise."""
    return Money(_disallowable(row.category, row.amount.minor, lets.place_of(tx, row)), row.currency)


def refuse_unbooked(line: BankLine) -> None:
    """Raises `Problem` `invalid_state` for a bank line that is not booked."""
    if line.status != "booked":
        raise invalid_state("The bank transaction is not booked.", line.status, ("booked",))


def refuse_bound(row: Allocation) -> None:
    """Raises `Problem` `invalid_state` for what doesn't change by itself: half of a transfer, an invoice's payment."""
    if row.invoice_id is not None:
        message = (
            f"It is a payment of an invoice: take it back with DELETE /invoices/{row.invoice_id}/payments/:position."
        )
        raise invalid_state(message, "invoice_payment", ())
    if row.counterpart_id is not None:
        message = f"It is a transfer, with the bank transaction {row.counterpart_id} at its other end: remove it."
        raise invalid_state(message, "transfer", ())


def _insert(tx: WriteTx, row: Allocation) -> Allocation:
    rents_received.note(tx, None, row)
    return ALLOCATIONS.insert(tx, row)


def _parts_of(
    tx: WriteTx, line: BankLine, part: Part, left: int, before: Sequence[Allocation]
) -> Iterator[tuple[Allocation, Setting]]:
    """What a part of `line` is, not stored yet. `left` is what the parts `before` leave, signed minor units."""
    place = lets.place_of(tx, part)
    part = part._replace(**place.filled(part))
    if part.business_id is None and len(line.business_ids) == 1 and part.category != "not_pnl":
        part = part._replace(business_id=line.business_ids[0])
    direction = part.direction or ("in" if line.amount > 0 else "out")
    if part.amount is None:
        part = part._replace(amount=left if direction == "in" else -left)
    part = part._replace(direction=direction, description=part.description or line.description)
    business = _business(tx, part.business_id)
    setting = Setting(business, line, place)
    paid = Paid(line.date, line.currency, before)
    for one in loan_payments.parts_of(tx, part, paid, place, business):
        row = _row(
            tx,
            one,
            setting,
            line.currency,
            source_type="bank",
            source_id=line.id,
            import_id=line.import_id,
            date=line.date,
            legal_entity_id=_owner(business, line) or part.legal_entity_id,
        )
        yield row, setting


def _documents(row: Allocation, of_line: Sequence[str]) -> list[str]:
    """The documents of a part: those that it names, and those of its bank line."""
    return list(dict.fromkeys((*row.document_ids, *of_line)))[: max(len(row.document_ids), MOST_DOCUMENTS)]


def _chosen(row: Allocation, origin: Origin) -> dict[str, str | None]:
    """Who chose a part, and why; what there is to tell of it comes behind."""
    reason = " ".join(text for text in (origin.reason, row.reason) if text)
    return {**origin._asdict(), "reason": reason or None}


def _entry_of(tx: WriteTx, part: Part, paid: Paid, setting: Setting) -> Allocation:
    part = part._replace(direction=part.direction or "out")
    return _row(tx, part, setting, paid.currency, date=paid.date, legal_entity_id=_owner(setting.business, None))


def _row(tx: WriteTx, part: Part, setting: Setting, currency: str, **values: object) -> Allocation:
    """A manual entry that is not stored yet, but for what `values` say."""
    amount, disallowable = part.amount or 0, part.disallowable_amount
    if part.wholly_disallowable:
        disallowable = amount
    elif disallowable is None:
        disallowable = _disallowable(part.category, amount, setting.place)
    given = {name: value for name, value in part._asdict().items() if name in ALLOCATIONS.fields}
    defaults: dict[str, object] = {
        "source_type": "manual",
        "amount": Money(amount, currency),
        "vat_amount": Money(part.vat_amount or 0, currency),
        "disallowable_amount": Money(disallowable, currency),
        "allowable": disallowable < amount,
        "currency": currency,
        "description": part.description or "",
        "document_ids": list(part.document_ids),
        "interest_source": part.interest_source or ("statement" if _is_interest(part) else None),
    }
    row = ALLOCATIONS.new(tx, None, **{**BY_PERSON._asdict(), **given, **defaults, **values})
    return with_coded_vat(row) if part.vat_amount is None else row


def _disallowable(category: str, amount: int, place: Place) -> int:
    """What tax does not allow by default: all of some lines, and of interest what was borrowed for other ends."""
    if category in WHOLLY_DISALLOWABLE:
        return amount
    if place.mortgage is None or category not in FINANCE_COSTS:
        return 0
    return place.mortgage.private_part(amount)


def _is_interest(row: Allocation | Part) -> bool:
    return row.mortgage_id is not None and row.category in FINANCE_COSTS


def _currency(business: Business | None) -> str:
    return "GBP" if business is None else business.currency


def _business(tx: ReadTx, business_id: str | None) -> Business | None:
    return None if business_id is None else businesses.find(tx, business_id)


def _owner(business: Business | None, line: BankLine | None) -> str | None:
    """Whose books it is in: the business's legal entity, else the account's."""
    if business is not None:
        return business.legal_entity_id
    return None if line is None else line.legal_entity_id


def _not_fitting(line: BankLine, allocated: int) -> Problem:
    come_to = f"{Money(allocated, line.currency)} of its {Money(line.amount, line.currency)}"
    message = (
        f"What stays would come to {come_to}: lessen or remove what goes the other way first, or replace all together."
    )
    return invalid_state(message, "split", ())


def refuse_closed(tx: ReadTx, row: Allocation) -> None:
    """Raises `Problem` `period_closed` for an allocation of a closed period, by its money or its bill."""
    dates = [row.date] if row.document_date is None else [row.date, row.document_date]
    period_locks.refuse_closed(tx, row.legal_entity_id, *dates, business_id=row.business_id)
