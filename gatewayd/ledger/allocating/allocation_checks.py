"""What an allocation must keep (Domain B4, C1, C2). Reads only."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from gatewayd.errors import FieldError
from gatewayd.ledger import references
from gatewayd.ledger.allocating import categories, lets, loan_payments
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Part
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.allocating.categories import (
    NOT_PNL,
    PROPERTY_FINANCE,
    REPLACED_ITEMS,
    RESTRICTED,
    expenses_of,
    income_of,
)
from gatewayd.ledger.allocating.lets import NOWHERE, Place
from gatewayd.ledger.references import Kind, Reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.vat import coded_vat
from gatewayd.ledger.vat.vat_rates import PURCHASES_ONLY, SALES_ONLY, SERVICES_OVERSEAS
from gatewayd.money import Money
from gatewayd.store import ReadTx

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
    """What stands around an allocation. `business` None: it names none that exists; `path` precedes its fields."""

    business: Business | None
    line: BankLine | None
    place: Place = NOWHERE
    path: str = ""


def mistakes(tx: ReadTx, row: Allocation, setting: Setting, before: Allocation | None = None) -> Iterator[FieldError]:
    """What is wrong with an allocation. `before` is what it was.

    A business or property that was archived since, or whose invoice is paid, is not held against it.
    """
    stays = row.invoice_id is not None or (before is not None and before.business_id == row.business_id)
    business = setting.business
    for path, code, message in (
        *_amount_mistakes(row, business),
        *_code_mistakes(row, business),
        *_capital_goods_mistakes(row, is_sale(row, business)),
        *(() if business is None else _business_mistakes(row, business, setting.line, stays)),
        *_category_mistakes(row, business),
        *_payment_mistakes(row, setting.place, before),
        *_place_mistakes(row, setting.place, before),
    ):
        yield FieldError(setting.path + path, code, message)
    if before is None or _loan_of(before) != _loan_of(row):
        yield from _finance_mistakes(tx, row, setting)
    yield from references.unknown(tx, _references(row, setting.path, business))


def part_mistakes(part: Part, setting: Setting) -> Iterator[FieldError]:
    """What an entry lacks that no bank line stands behind."""
    if part.direction is None:
        yield FieldError(f"{setting.path}direction", "required", "Did the money come in or go out?")
    if part.amount is None:
        yield FieldError(f"{setting.path}amount", "required", "How much was it?")


def entry_mistakes(row: Allocation, today: str, setting: Setting) -> Iterator[FieldError]:
    """What is wrong with an entry that no bank line stands behind. `today` is ISO."""
    if row.business_id is None and row.category == NOT_PNL:  # of all else the category asks for it
        yield FieldError(f"{setting.path}businessId", "required", "Whose money was it?")
    if not row.description.strip():
        yield FieldError(f"{setting.path}description", "required", "No bank transaction says what it was.")
    if not _EARLIEST <= row.date <= today:
        yield FieldError("date", "out_of_range", "The day is still to come, or before any books.")


def date_mistakes(line: BankLine, row: Allocation) -> Iterator[FieldError]:
    """What is wrong with the date of an allocation of a bank line."""
    if row.date != line.date:
        yield FieldError("date", "conflict", f"It is that of the bank transaction, {line.date}.")


def sum_mistakes(line: BankLine, allocated: int, path: str) -> Iterator[FieldError]:
    """What is wrong where a line's allocations come to `allocated`, signed minor units."""
    low, high = sorted((0, line.amount))
    if not low <= allocated <= high:
        left = f"{line.rest} {line.currency} of the bank transaction is left"
        whole = f"they would come to {Money(allocated, line.currency)} of its {Money(line.amount, line.currency)}"
        yield FieldError(path, "out_of_range", f"{left}; {whole}.")


def most_vat(amount: int, date: str) -> int:
    """The VAT that stands in a gross amount at the standard rate of an ISO date. Minor units, half up."""
    return coded_vat.within("standard", amount, date) or 0


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


def _amount_mistakes(row: Allocation, business: Business | None) -> Iterator[tuple[str, str, str]]:
    zero = Money(0, row.currency)
    if row.amount <= zero:
        yield "amount", "out_of_range", "An amount is above zero; `direction` says which way the money went."
        return
    most = Money(most_vat(row.amount.minor, row.tax_point), row.currency)
    if not zero <= row.vat_amount <= most:
        yield "vatAmount", "out_of_range", f"At the standard rate of that day it holds {most} of VAT at most."
    elif row.vat_amount and row.category == NOT_PNL and row.purpose != "other":
        yield "vatAmount", "conflict", "Only what was bought or sold bears VAT."
    if not zero <= row.disallowable_amount <= row.amount:
        yield "disallowableAmount", "out_of_range", f"It is a part of {row.amount}."
    elif row.disallowable_amount and business is not None and row.category not in expenses_of(business.type):
        yield "disallowableAmount", "conflict", "It is for expenses."


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
    vat = coded_vat.within(code, row.amount.minor, row.tax_point)
    if vat is None:
        yield "vatCode", "vat_rate_invalid_on_date", f"{code} had no rate on {row.tax_point}."
    elif abs(row.vat_amount.minor - vat) > coded_vat.tolerance(vat):
        message = f"At the rate of {code} on {row.tax_point} it holds {Money(vat, row.currency)} of VAT."
        yield "vatAmount", "conflict", message


def _business_mistakes(
    row: Allocation, business: Business, line: BankLine | None, stays: bool
) -> Iterator[tuple[str, str, str]]:
    if business.archived and not stays:
        yield "businessId", "conflict", "The business is archived."
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


def _category_mistakes(row: Allocation, business: Business | None) -> Iterator[tuple[str, str, str]]:
    if row.category == NOT_PNL:
        if row.purpose is None:
            yield "purpose", "required", "It is neither income nor an expense: what is it?"
        elif row.purpose == "invoice_payment" and row.invoice_id is None:
            yield "purpose", "conflict", "Record it as a payment of the invoice, with this bankTransactionId."
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
        yield "propertyId", "conflict", "The property is archived."


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


def _references(row: Allocation, path: str, business: Business | None) -> Iterator[Reference]:
    if business is None:
        yield Reference(f"{path}businessId", "business", row.business_id)
    for name, field, kind in _REFERENCES:
        yield Reference(path + name, kind, getattr(row, field))
    for index, document_id in enumerate(row.document_ids):
        yield Reference(f"{path}documentIds[{index}]", "document", document_id)
