"""What money is for: allocations of bank lines and manual entries (Domain B4, C1, C2). Owns the table `allocations`.

The allocations of a bank line have its sign together and never more than its amount; one call takes several parts, so
that a payout of 95 can be 100 of turnover in and 5 of charges out. With each change the line's `allocated` is kept true
in the same transaction.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.errors import FieldError, Problem, invalid, invalid_state
from gatewayd.ledger import references
from gatewayd.ledger.allocating import bank_lines, categories, lets, loan_payments
from gatewayd.ledger.allocating.allocation_shapes import BY_PERSON, Allocation, Entry, Origin, Part
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import (
    FINANCE_COSTS,
    NOT_PNL,
    PROPERTY_FINANCE,
    REPLACED_ITEMS,
    RESTRICTED,
    WHOLLY_DISALLOWABLE,
    expenses_of,
    income_of,
)
from gatewayd.ledger.allocating.lets import NOWHERE, Place
from gatewayd.ledger.allocating.loan_payments import Paid
from gatewayd.ledger.calendar import period_locks
from gatewayd.ledger.references import Kind, Reference
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import PURCHASES_ONLY, SALES_ONLY, SERVICES_OVERSEAS
from gatewayd.money import Money
from gatewayd.store import ReadTx, RemovableTable, WriteTx

MAX_PER_LINE = 200  # Chosen: all of a line are looked at together
MOST_DOCUMENTS = 20  # of one allocation

ALLOCATIONS = RemovableTable(
    "allocations",
    Allocation,
    kind="allocation",
    prefix="alc",
    derived={"allowable": lambda _, row: row.disallowable_amount < row.amount},
)
_SELECT_OF_LINE = f"{ALLOCATIONS.select} AND source_id = :source_id ORDER BY id"
_COUNT_OF_LINE = "SELECT count(id) FROM allocations WHERE org_id = :org_id AND source_id = :source_id"
_REFERENCES: tuple[tuple[str, str, Kind], ...] = (
    ("propertyId", "property_id", "property"),
    ("unitId", "unit_id", "unit"),
    ("tenancyId", "tenancy_id", "tenancy"),
    ("mortgageId", "mortgage_id", "mortgage"),
)
_NO_CAPITAL = frozenset({"costOfGoods", "wagesAndStaffCosts", "paymentsToSubcontractors"})
"""What is for resale, and what is no goods."""
_EARLIEST = "1900-01-01"  # Chosen: what is older is a slip of the pen


class Setting(NamedTuple):
    """What stands around an allocation. `business` None: it names none that exists; `path` precedes its fields.

    `on_account`: it pays no invoice, and is what a client has on account.
    """

    business: Business | None
    line: BankLine | None
    place: Place = NOWHERE
    path: str = ""
    on_account: bool = False


def of_line(tx: ReadTx, line_id: str) -> list[Allocation]:
    """The allocations of a bank line, oldest first: at most `MAX_PER_LINE`."""
    return [ALLOCATIONS.read(tx, row) for row in tx.rows(_SELECT_OF_LINE, source_id=line_id)]


# -- of a bank line


def allocate(tx: WriteTx, line: BankLine, parts: Sequence[Part], origin: Origin = BY_PERSON) -> list[Allocation]:
    """Allocate parts of a bank line, which stays as it was where one of them is refused.

    Raises `Problem`: `invalid_state` (the line is not booked), `period_closed`, `limit_reached`, `validation_failed`
    with paths of `parts[i]`.
    """
    rows = planned(tx, line, parts, origin)
    bank_lines.set_allocated(tx, line, line.allocated + sum(row.signed for row in rows))
    return [ALLOCATIONS.insert(tx, row) for row in rows]


def planned(tx: WriteTx, line: BankLine, parts: Sequence[Part], origin: Origin = BY_PERSON) -> list[Allocation]:
    """The allocations that parts of a bank line would be, not stored. Raises `Problem` as `allocate` does."""
    refuse_unbooked(line)
    rows: list[Allocation] = []
    errors: list[FieldError] = []
    left = line.unallocated
    documents = bank_lines.documents_of(tx, line.id)
    for index, part in enumerate(parts):
        for row, setting in _rows_of_part(tx, line, part, left, rows):
            errors += mistakes(tx, row, setting._replace(path=f"parts[{index}]."))
            rows.append(replace(row, document_ids=_documents(row, documents), **_chosen(row, origin)))
            left -= row.signed
    errors += sum_mistakes(line, line.amount - left, "parts")
    if errors:
        raise invalid(*errors)
    if int(tx.value(_COUNT_OF_LINE, source_id=line.id)) + len(rows) > MAX_PER_LINE:
        raise Problem("limit_reached", f"A bank transaction has at most {MAX_PER_LINE} allocations.")
    for row in rows:
        refuse_closed(tx, row)
    return rows


def refuse_unbooked(line: BankLine) -> None:
    """Raises `Problem` `invalid_state` for a bank line that is not booked."""
    if line.status != "booked":
        message = f"The bank transaction is {line.status}: only one that is booked can be allocated."
        raise invalid_state(message, line.status, ("booked",))


def _rows_of_part(
    tx: WriteTx, line: BankLine, part: Part, left: int, before: Sequence[Allocation]
) -> Iterator[tuple[Allocation, Setting]]:
    """The allocations of a part of `line`, not stored yet. `left`: what those `before` leave, signed minor units."""
    place = lets.place_of(tx, part)
    part = part._replace(**place.filled(part))
    if part.business_id is None and len(line.business_ids) == 1 and part.category != "not_pnl":
        part = part._replace(business_id=line.business_ids[0])
    direction = part.direction or line.direction
    if part.amount is None:
        part = part._replace(amount=left if direction == "in" else -left)
    part = part._replace(direction=direction, description=part.description or line.description)
    business = _business(tx, part.business_id)
    setting = Setting(business, line, place, on_account=part.on_account)
    paid = Paid(line.date, line.currency, before)
    for split in loan_payments.parts_of(tx, part, paid, place, business):
        row = _new_row(
            tx,
            split,
            setting,
            line.currency,
            source_type="bank",
            source_id=line.id,
            import_id=line.import_id,
            date=line.date,
            legal_entity_id=_owner(business, line) or part.legal_entity_id,
        )
        yield row, setting


# -- entries that no bank line stands behind


def enter(tx: WriteTx, parts: Sequence[Part], entry: Entry) -> list[Allocation]:
    """Enter money that no bank line shows, such as what was paid in cash.

    Raises `Problem`: `period_closed`, `validation_failed` with paths of `parts[i]`.
    """
    rows: list[Allocation] = []
    errors: list[FieldError] = []
    for index, part in enumerate(parts):
        place = lets.place_of(tx, part)
        part = part._replace(**place.filled(part))
        setting = Setting(_business(tx, part.business_id), None, place, f"parts[{index}].")
        errors += part_mistakes(part, setting)
        paid = Paid(entry.date or tx.today, entry.currency, rows)
        for split in loan_payments.parts_of(tx, part, paid, place, setting.business):
            row = _entry_of(tx, split, paid, setting)
            errors += entry_mistakes(row, tx.today, setting)
            errors += mistakes(tx, row, setting)
            rows.append(row)
    if errors:
        raise invalid(*errors)
    for row in rows:
        refuse_closed(tx, row)
    return [ALLOCATIONS.insert(tx, row) for row in rows]


def _entry_of(tx: WriteTx, part: Part, paid: Paid, setting: Setting) -> Allocation:
    part = part._replace(direction=part.direction or "out")
    return _new_row(tx, part, setting, paid.currency, date=paid.date, legal_entity_id=_owner(setting.business, None))


# -- a part as it is to be stored


def _business(tx: ReadTx, business_id: str | None) -> Business | None:
    return None if business_id is None else businesses.find(tx, business_id)


def _owner(business: Business | None, line: BankLine | None) -> str | None:
    """Whose books it is in: the business's legal entity, else the account's."""
    if business is not None:
        return business.legal_entity_id
    return None if line is None else line.legal_entity_id


def _new_row(tx: WriteTx, part: Part, setting: Setting, currency: str, **values: object) -> Allocation:
    """A new allocation, not stored yet: that of a manual entry, but for what `values` say."""
    amount, disallowable = part.amount or 0, part.disallowable_amount
    if part.wholly_disallowable:
        disallowable = amount
    elif disallowable is None:
        disallowable = _disallowable(part.category, amount, setting.place)
    wanted = {name: value for name, value in part._asdict().items() if name in ALLOCATIONS.fields}
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
    row = ALLOCATIONS.new(tx, None, **{**BY_PERSON._asdict(), **wanted, **defaults, **values})
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


def with_coded_vat(row: Allocation) -> Allocation:
    """The allocation with the VAT that its code says, on the date that decides; as it was without a code."""
    vat = None if row.vat_code is None else vat_rates.vat_within(row.vat_code, row.amount.minor, row.tax_point)
    return row if vat is None else replace(row, vat_amount=Money(vat, row.currency))


def _documents(row: Allocation, of_line: Sequence[str]) -> list[str]:
    """The documents of a part: those that it names, and those of its bank line."""
    return list(dict.fromkeys((*row.document_ids, *of_line)))[: max(len(row.document_ids), MOST_DOCUMENTS)]


def _chosen(row: Allocation, origin: Origin) -> dict[str, str | None]:
    """Who chose a part, and why; what there is to tell of it comes behind."""
    reason = " ".join(text for text in (origin.reason, row.reason) if text)
    return {**origin._asdict(), "reason": reason or None}


# -- what is wrong with one


def mistakes(tx: ReadTx, row: Allocation, setting: Setting, before: Allocation | None = None) -> Iterator[FieldError]:
    """What is wrong with an allocation. `before` is what it was.

    A business or property that was archived since, or whose invoice or bill is paid, is not held against it.
    """
    stays = (
        row.invoice_id is not None
        or row.bill_id is not None
        or (before is not None and before.business_id == row.business_id)
    )
    business = setting.business
    for path, code, message in (
        *_amount_mistakes(row, business),
        *_code_mistakes(row, business),
        *_capital_goods_mistakes(row, is_sale(row, business)),
        *(() if business is None else _business_mistakes(row, business, setting.line, stays)),
        *_category_mistakes(row, setting),
        *_payment_mistakes(row, setting.place, before),
        *_place_mistakes(row, setting.place, before),
    ):
        yield FieldError(setting.path + path, code, message)
    if before is None or _loan_of(before) != _loan_of(row):
        yield from _finance_mistakes(tx, row, setting)
    yield from references.unknown(tx, _references(row, setting.path, business))


def _amount_mistakes(row: Allocation, business: Business | None) -> Iterator[tuple[str, str, str]]:
    zero = Money(0, row.currency)
    if row.amount <= zero:
        yield "amount", "out_of_range", "An amount is above zero; `direction` says which way the money went."
        return
    most = Money(most_vat(row.amount.minor, row.tax_point), row.currency)
    rounded = vat_rates.vat_tolerance(most.minor)  # whoever sent the bill may have rounded each line up
    if not 0 <= row.vat_amount.minor <= most.minor + rounded:
        yield "vatAmount", "out_of_range", f"At the standard rate of that day it holds {most} of VAT at most."
    elif row.vat_amount and row.category == NOT_PNL and row.purpose != "other":
        yield "vatAmount", "conflict", "Only what was bought or sold bears VAT."
    if not zero <= row.disallowable_amount <= row.amount:
        yield "disallowableAmount", "out_of_range", f"It is a part of {row.amount}."
    elif row.disallowable_amount and business is not None and row.category not in expenses_of(business.type):
        yield "disallowableAmount", "conflict", "It is for expenses."


def most_vat(amount: int, date: str) -> int:
    """The VAT that stands in a gross amount at the standard rate of an ISO date. Minor units, half up."""
    return vat_rates.vat_within("standard", amount, date) or 0


def _code_mistakes(row: Allocation, business: Business | None) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a VAT code, or with the VAT beside it."""
    code = row.vat_code
    if code is None:
        return
    sale = is_sale(row, business)
    if sale is None:
        if row.category == NOT_PNL or business is not None:
            yield "vatCode", "conflict", "Only what was bought or sold has one."
    elif code in (PURCHASES_ONLY if sale else SALES_ONLY):
        yield "vatCode", "conflict", f"It is for what was {'bought' if sale else 'sold'}."
    vat = vat_rates.vat_within(code, row.amount.minor, row.tax_point)
    if vat is None:
        yield "vatCode", "vat_rate_invalid_on_date", f"{code} had no rate on {row.tax_point}."
    elif abs(row.vat_amount.minor - vat) > vat_rates.vat_tolerance(vat):
        message = f"At the rate of {code} on {row.tax_point} it holds {Money(vat, row.currency)} of VAT."
        yield "vatAmount", "conflict", message


def is_sale(row: Allocation, business: Business | None) -> bool | None:
    """True for what was sold or given back of it, False for what was bought; None for what is neither.

    What is not_pnl, such as equipment, is sold where money comes in. What is told beside the account is neither.
    """
    if row.category == NOT_PNL:
        return row.direction == "in" if row.purpose == "other" else None
    if row.category == REPLACED_ITEMS:
        return False
    kind = None if business is None else categories.kind_of(row.category, business.type)
    return None if kind in (None, "memorandum") else kind == "income"


def _capital_goods_mistakes(row: Allocation, is_sale: bool | None) -> Iterator[tuple[str, str, str]]:
    """Of an allocation that is marked. `is_sale` None: it is neither sold nor bought."""
    if not row.capital_goods:
        return
    if is_sale is None:
        yield "capitalGoods", "conflict", "Only what was bought or sold is goods."
    elif row.category in _NO_CAPITAL or row.vat_code == SERVICES_OVERSEAS:
        yield "capitalGoods", "conflict", "What is for resale is none, and neither are services."


def _business_mistakes(
    row: Allocation, business: Business, line: BankLine | None, stays: bool
) -> Iterator[tuple[str, str, str]]:
    if business.archived and not stays:
        yield "businessId", "conflict", "The business is archived: bring it back first, or choose another."
    if line is not None and line.legal_entity_id not in (None, business.legal_entity_id):
        yield "businessId", "conflict", "The account belongs to another legal entity than the business."
    foreign = row.currency != business.currency
    if foreign and row.fx_rate is None and row.category != NOT_PNL:
        message = f"The business counts in {business.currency}: how many of it is one {row.currency}?"
        yield "fxRate", "required", message
    if row.fx_rate is not None and not foreign:
        yield "fxRate", "currency_mismatch", f"It is in {row.currency}, as the business is."
    elif row.fx_rate is not None and Decimal(row.fx_rate) <= 0:
        yield "fxRate", "out_of_range", "A rate of exchange is above zero."


def _category_mistakes(row: Allocation, setting: Setting) -> Iterator[tuple[str, str, str]]:
    business = setting.business
    if row.category == NOT_PNL:
        if row.purpose is None:
            yield "purpose", "required", "It is neither income nor an expense: what is it?"
        elif row.purpose == "invoice_payment" and row.invoice_id is None and not setting.on_account:
            yield "purpose", "conflict", "Record it as a payment of the invoice, with this bankTransactionId."
        elif row.purpose == "bill_payment" and row.bill_id is None:
            message = "Record it as a payment of the bill, with this bankTransactionId."
            yield "purpose", "conflict", message
        elif row.purpose == "rent_written_off" and (row.source_type != "manual" or row.tenancy_id is None):
            yield "purpose", "conflict", "No money moves where rent is written off: landlord.writeOffRent does it."
        return
    if row.purpose is not None:
        yield "purpose", "conflict", "It is for what is `not_pnl`."
    if row.business_id is None:
        yield "businessId", "required", "Of which business is it income or an expense?"
    elif business is not None and row.category not in income_of(business.type) | expenses_of(business.type):
        yield "category", "conflict", f"A business of type {business.type} has no such line."


def _payment_mistakes(row: Allocation, place: Place, before: Allocation | None) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a payment of a mortgage, which was not split for it."""
    if not loan_payments.is_payment(row.category, row.purpose):
        return
    if row.mortgage_id is None:
        yield "mortgageId", "required", "Of which mortgage is it a payment?"
    if row.direction == "in":
        yield "direction", "conflict", "A payment goes out; what comes in of a loan is loan_capital."
    if place.mortgage is not None and row.currency != place.mortgage.currency:
        yield "mortgageId", "currency_mismatch", f"The mortgage is in {place.mortgage.currency}."
    if before is not None:
        yield "purpose", "conflict", "Allocate it anew, and it is split into interest and capital."


def _place_mistakes(row: Allocation, place: Place, before: Allocation | None) -> Iterator[tuple[str, str, str]]:
    """What is wrong between the property that an allocation names and what else it names."""
    for path, message in place.conflicts(row):
        yield path, "conflict", message
    let = place.property
    if let is not None and let.archived and (before is None or before.property_id != let.id):
        yield "propertyId", "conflict", "The property is archived: bring it back first, or choose another."


def _loan_of(row: Allocation) -> tuple[str | None, ...]:
    return (row.category, row.property_id, row.mortgage_id)


def _finance_mistakes(tx: ReadTx, row: Allocation, setting: Setting) -> Iterator[FieldError]:
    """What is wrong with the line of a mortgage's interest: tax deducts it, or gives a relief for it (Domain C2).

    Chosen: it is held against who names the mortgage alone, for a property may have been let otherwise before.
    """
    let, business = setting.place.property, setting.business
    if row.mortgage_id is None or let is None or business is None or row.category not in PROPERTY_FINANCE:
        return
    owner = owners.find(tx, business.legal_entity_id)
    assert owner is not None  # a foreign key
    right = lets.interest_category(let, business.type, owner, row.tax_point)
    if row.category != right:
        why = "is relieved and not deducted" if right == RESTRICTED else "is deducted"
        yield FieldError(f"{setting.path}category", "conflict", f"Interest on this mortgage {why}: it is {right}.")


def _references(row: Allocation, path: str, business: Business | None) -> list[Reference]:
    """What an allocation names; a business that was found is not looked for again."""
    named = [] if business is not None else [Reference(f"{path}businessId", "business", row.business_id)]
    named += [Reference(path + name, kind, getattr(row, field)) for name, field, kind in _REFERENCES]
    named += [Reference(f"{path}documentIds[{index}]", "document", id_) for index, id_ in enumerate(row.document_ids)]
    return named


def part_mistakes(part: Part, setting: Setting) -> Iterator[FieldError]:
    """What an entry lacks that no bank line stands behind."""
    if part.direction is None:
        yield FieldError(
            f"{setting.path}direction", "required", "This field is required: did the money come `in` or go `out`?"
        )
    if part.amount is None:
        yield FieldError(f"{setting.path}amount", "required", "This field is required: how much was it?")


def entry_mistakes(row: Allocation, today: str, setting: Setting) -> Iterator[FieldError]:
    """What is wrong with an entry that no bank line stands behind. `today` is ISO."""
    if row.business_id is None and row.category == NOT_PNL:  # of all else the category asks for it
        yield FieldError(f"{setting.path}businessId", "required", "This field is required: whose money was it?")
    if not row.description.strip():
        yield FieldError(
            f"{setting.path}description", "required", "This field is required: no bank transaction says what it was."
        )
    if not _EARLIEST <= row.date <= today:
        yield FieldError("date", "out_of_range", f"Expected a day from {_EARLIEST} to today, {today}.")


def date_mistakes(line: BankLine, row: Allocation) -> Iterator[FieldError]:
    """What is wrong with the date of an allocation of a bank line."""
    if row.date != line.date:
        yield FieldError("date", "conflict", f"It is that of the bank transaction, {line.date}.")


def sum_mistakes(line: BankLine, allocated: int, path: str) -> Iterator[FieldError]:
    """What is wrong where a line's allocations come to `allocated`, signed minor units."""
    low, high = sorted((0, line.amount))
    if not low <= allocated <= high:
        left = f"{line.rest} {line.currency} of the bank transaction is left"
        together = f"they would come to {Money(allocated, line.currency)} of its {Money(line.amount, line.currency)}"
        yield FieldError(path, "out_of_range", f"{left}; {together}.")


# -- as it is kept, changed and removed


def refuse_closed(tx: ReadTx, row: Allocation) -> None:
    """Raises `Problem` `period_closed` for an allocation of a closed period, by its money or its bill."""
    dates = [row.date] if row.document_date is None else [row.date, row.document_date]
    period_locks.refuse_closed(tx, row.legal_entity_id, *dates, business_id=row.business_id)


def change(tx: WriteTx, before: Allocation, after: Allocation) -> Allocation:
    """Store what an allocation has become, and what its bank line has then.

    Raises `Problem`: `invalid_state` (it is half of a transfer, or pays an invoice or a bill), `period_closed` (it is,
    or would be, in a closed period), `validation_failed`.
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
    errors = [*mistakes(tx, after, Setting(business, line, place), before)]
    if line is None:
        errors += entry_mistakes(after, tx.today, Setting(business, None))
    else:
        errors += date_mistakes(line, after)
        errors += sum_mistakes(line, line.allocated - before.signed + after.signed, "amount")
    if errors:
        raise invalid(*errors)
    refuse_closed(tx, before)
    refuse_closed(tx, after)
    if line is not None and after.signed != before.signed:
        bank_lines.set_allocated(tx, line, line.allocated - before.signed + after.signed)
    return ALLOCATIONS.update(tx, after)


def refuse_bound(row: Allocation) -> None:
    """Raises `Problem` `invalid_state` for what doesn't change by itself: half of a transfer, an invoice's or a bill's
    payment.
    """
    if row.invoice_id is not None:
        message = f"It is a payment of the invoice {row.invoice_id}: take it back with accounting.removePayment."
        raise invalid_state(message, "invoice_payment", ())
    if row.bill_id is not None:
        message = f"It is a payment of the bill {row.bill_id}: take it back with accounting.removeBillPayment."
        raise invalid_state(message, "bill_payment", ())
    if row.purpose == "invoice_payment":
        message = "It is what a client has on account: take it back with accounting.removeClientPayment."
        raise invalid_state(message, "invoice_payment", ())
    if row.counterpart_id is not None:
        message = f"It is a transfer, with the bank transaction {row.counterpart_id} at its other end: remove it."
        raise invalid_state(message, "transfer", ())


def disallowable_by_default(tx: ReadTx, row: Allocation) -> Money:
    """What tax does not allow of an allocation, where nobody says otherwise."""
    return Money(_disallowable(row.category, row.amount.minor, lets.place_of(tx, row)), row.currency)


def remove(tx: WriteTx, *rows: Allocation) -> None:
    """Give back to their bank lines what allocations took; each line is looked at when all of them are gone.

    What binds them to others is for the caller to know. Raises `Problem`: `period_closed`, `invalid_state` (what stays
    of a line's allocations would not fit it).
    """
    for row in rows:
        refuse_closed(tx, row)
        ALLOCATIONS.delete(tx, row.id)
    for line_id in dict.fromkeys(row.source_id for row in rows):
        if line_id is not None:
            line = bank_lines.get(tx, line_id)
            allocated = line.allocated - sum(row.signed for row in rows if row.source_id == line_id)
            if list(sum_mistakes(line, allocated, "")):
                raise _not_fitting(line, allocated)
            bank_lines.set_allocated(tx, line, allocated)


def _not_fitting(line: BankLine, allocated: int) -> Problem:
    come_to = f"{Money(allocated, line.currency)} of its {Money(line.amount, line.currency)}"
    message = (
        f"What stays would come to {come_to}: lessen or remove what goes the other way first, or replace all together."
    )
    return invalid_state(message, "split", ())


def keep_documents(tx: WriteTx, row: Allocation, document_ids: Sequence[str]) -> None:
    """Keep which documents an allocation has, but for one in a period that is closed, or is being closed."""
    dates = {row.date, row.document_date or row.date}
    locks = [lock for date in dates for lock in period_locks.locks_on(tx, row.legal_entity_id, date)]
    if period_locks.strictest(locks, row.business_id) is None:
        ALLOCATIONS.update(tx, replace(row, document_ids=list(document_ids)))
