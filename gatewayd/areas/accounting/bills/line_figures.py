"""The lines of a bill as they are asked for, and what they come to (domain model B5). Reads only.

A line is held against what an allocation of its category may be (`ledger/allocating`), on the day whose rates of VAT
hold: the tax point, and of a credit note that of its bill. VAT that is printed binds where it is no further off than
rounding explains (Domain C4).
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.bills.shapes import BillLine, BillLineRequest, BillWarning
from gatewayd.errors import FieldError
from gatewayd.ledger.allocating import allocations, lets
from gatewayd.ledger.allocating.allocation_rules import share
from gatewayd.ledger.allocating.allocation_shapes import Allocation
from gatewayd.ledger.allocating.allocations import ALLOCATIONS, Setting
from gatewayd.ledger.allocating.categories import NOT_PNL, REPLACED_ITEMS, expenses_of
from gatewayd.ledger.allocating.lets import Names
from gatewayd.ledger.results import capital_goods
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import SELF_ACCOUNTED, AllocationVatCode
from gatewayd.money import Money, canonical, half_up
from gatewayd.store import ReadTx, WriteTx

_OF_THE_WHOLE: Final = (".businessId", ".fxRate")
"""Fields of an allocation that a bill has once: they are looked at with the bill."""
_MOST: Final = 10**15
"""Minor units, that no line reaches."""


class Around(NamedTuple):
    """What stands around the lines of a bill. `date` is the ISO date whose rates of VAT hold."""

    bill_id: str
    business: Business
    currency: str
    fx_rate: str | None
    date: str
    is_inclusive: bool


class _Amounts(NamedTuple):
    """Minor units, above zero. `said` is the VAT that the code says; None: there is no code, or it had no rate."""

    net: int
    vat: int
    said: int | None

    @property
    def gross(self) -> int:
        return self.net + self.vat


class Figured(NamedTuple):
    """The lines, and what they would be as allocations, which says what is to be told of them."""

    lines: list[BillLine]
    parts: list[Allocation]
    warnings: list[BillWarning]


def figured(tx: WriteTx, asked: Sequence[BillLineRequest], around: Around, errors: list[FieldError]) -> Figured:
    """What lines come to; what is wrong with them is added to `errors`."""
    made = Figured([], [], [])
    for index, line in enumerate(asked):
        path = f"lines[{index}]."
        sign, amounts = _amounts(line, around, path, errors)
        if amounts is None:
            continue
        names = Names(around.business.id, line.property_id, line.unit_id, line.tenancy_id)
        place = lets.place_of(tx, names)
        part = _part(tx, line, amounts, around, place.filled(names))
        part = replace(part, disallowable_amount=_disallowable(tx, line, part))
        errors += _mistakes(tx, part, Setting(around.business, None, place, path))
        made.lines.append(_line(index + 1, line, part, sign))
        made.parts.append(part)
        if amounts.said is not None and amounts.vat != amounts.said:
            said = Money(amounts.said, around.currency)
            message = f"At the rate of {line.vat_code} on {around.date} it would be {said}."
            made.warnings.append(BillWarning(path=f"lines[{index}].vat", code="vat_differs", message=message))
    return made


def goods_warnings(tx: ReadTx, parts: Sequence[Allocation]) -> Iterator[BillWarning]:
    """What a bill under a flat rate leaves open of capital goods."""
    places = {part.id: index for index, part in enumerate(parts)}
    for id_, code, message in capital_goods.told(tx, parts):
        path = f"lines[{places[id_]}].capitalGoods"
        if code == "capital_goods_small":
            yield BillWarning(path=path, code="capital_goods_small", message=message)
        else:
            yield BillWarning(path=path, code="capital_goods_unmarked", message=message)


def asked_again(line: BillLine, date: str, *, is_inclusive: bool) -> BillLineRequest:
    """The request that makes this line, of a bill whose rates of VAT are those of an ISO date."""
    amount = abs((line.gross if is_inclusive else line.net).minor)
    said = _said(line.vat_code, amount, date, is_inclusive)
    return BillLineRequest(
        description=line.description,
        amount=str(line.gross if is_inclusive else line.net),
        category=line.category,
        vat_code=line.vat_code,
        vat_amount=None if said == abs(line.vat.minor) else str(line.vat),
        disallowable_percent=line.disallowable_percent,
        capital_goods=line.capital_goods,
        property_id=line.property_id,
        unit_id=line.unit_id,
        tenancy_id=line.tenancy_id,
    )


def _amounts(line: BillLineRequest, around: Around, path: str, errors: list[FieldError]) -> tuple[int, _Amounts | None]:
    """The sign of a line, and its amounts without it; None: something is wrong with them, told in `errors`."""
    before = len(errors)
    amount = _money(line.amount, around.currency, f"{path}amount", errors)
    given = None if line.vat_amount is None else _money(line.vat_amount, around.currency, f"{path}vatAmount", errors)
    sign = -1 if amount < 0 else 1
    if not 0 < abs(amount) < _MOST:
        errors.append(FieldError(f"{path}amount", "out_of_range", "Expected another amount than 0, of 13 digits."))
    if given is not None and (given * sign < 0 or abs(given) >= _MOST):
        errors.append(FieldError(f"{path}vatAmount", "out_of_range", "It has the sign of `amount`, or is 0."))
    if len(errors) > before:
        return sign, None
    said = _said(line.vat_code, abs(amount), around.date, around.is_inclusive)
    vat = abs(given) if given is not None else said or 0
    net = abs(amount) - vat if around.is_inclusive else abs(amount)
    return sign, _Amounts(net, vat, said)


def _money(text: str, currency: str, path: str, errors: list[FieldError]) -> int:
    try:
        return Money.of(text, currency).minor
    except ValueError as error:
        errors.append(FieldError(path, "invalid_decimal", f"{error}."))
        return 1


def _said(code: AllocationVatCode | None, amount: int, date: str, is_inclusive: bool) -> int | None:
    """The VAT that a code says is in an amount, or comes on top of it."""
    if code is None:
        return None
    if is_inclusive:
        return vat_rates.vat_within(code, amount, date)
    percent = vat_rates.rate_within(code, date)
    if percent is None:
        return None
    numerator, denominator = percent.as_integer_ratio()
    return half_up(amount * numerator, 100 * denominator)


def _part(tx: WriteTx, line: BillLineRequest, amounts: _Amounts, around: Around, names: dict[str, Any]) -> Allocation:
    """What a line would be as an allocation, if it were paid on the day of its rates."""
    return ALLOCATIONS.new(
        tx,
        None,
        **{**names, "business_id": around.business.id},
        source_type="manual",
        source_id=around.bill_id,
        legal_entity_id=around.business.legal_entity_id,
        tenancy_id=line.tenancy_id,
        date=around.date,
        direction="out",
        amount=Money(amounts.gross, around.currency),
        vat_code=line.vat_code,
        vat_amount=Money(amounts.vat, around.currency),
        capital_goods=line.capital_goods,
        disallowable_amount=Money(0, around.currency),
        allowable=True,
        currency=around.currency,
        fx_rate=around.fx_rate,
        category=line.category,
        purpose="other" if line.category == NOT_PNL else None,
        description=line.description,
        matched_by="user",
        document_ids=[],
    )


def _disallowable(tx: ReadTx, line: BillLineRequest, part: Allocation) -> Money:
    if line.disallowable_percent is None:
        return allocations.disallowable_by_default(tx, part)
    percent = Decimal(line.disallowable_percent)
    return Money(share(part.amount.minor, percent, Decimal(100)), part.currency)


def _mistakes(tx: ReadTx, part: Allocation, setting: Setting) -> Iterator[FieldError]:
    """What is wrong with a line: what would be with its allocation, but for what a bill has once."""
    business = setting.business
    assert business is not None
    if part.category not in expenses_of(business.type) | {NOT_PNL, REPLACED_ITEMS}:
        message = f"It is no expense of a business of type {business.type}: expected one, or not_pnl."
        yield FieldError(f"{setting.path}category", "conflict", message)
        return
    for error in allocations.mistakes(tx, part, setting):
        if error.path.endswith(".disallowableAmount"):
            yield FieldError(f"{setting.path}disallowablePercent", error.code, "Expected 0 to 100, of an expense.")
        elif not error.path.endswith(_OF_THE_WHOLE):
            yield error


def _line(position: int, line: BillLineRequest, part: Allocation, sign: int) -> BillLine:
    def signed(amount: Money) -> Money:
        return Money(sign * amount.minor, part.currency)

    percent = line.disallowable_percent
    return BillLine(
        position=position,
        description=line.description,
        category=line.category,
        vat_code=line.vat_code,
        net=signed(part.amount - part.vat_amount),
        vat=signed(part.vat_amount),
        gross=signed(part.amount),
        accounted_vat=signed(Money(_accounted(part), part.currency)),
        disallowable=signed(part.disallowable_amount),
        disallowable_percent=None if percent is None else canonical(percent),
        capital_goods=line.capital_goods,
        property_id=part.property_id,
        unit_id=part.unit_id,
        tenancy_id=part.tenancy_id,
    )


def _accounted(part: Allocation) -> int:
    """The VAT that the buyer accounts for on a line."""
    code = part.vat_code
    if code is None or code not in SELF_ACCOUNTED:
        return 0
    return vat_rates.vat_accounted(code, part.amount.minor, part.tax_point)
