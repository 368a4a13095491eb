"""What was owed of VAT in a year, a part of the legal entity resource (Domain B1, C6): its operations.

Whether payments on account of VAT are asked for follows from it, and from what HMRC said.
"""

import datetime
from typing import Literal

from msgspec import UNSET, UnsetType

from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, LongLimit, Page, PageRequest, listing_of
from gatewayd.contract.wire import AmountText, Date, DateText, Id, Request, Response
from gatewayd.errors import FieldError, invalid, not_found
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import PeriodKey
from gatewayd.ledger.dates.months import is_month_end
from gatewayd.ledger.dates.vat import Method, VatYear
from gatewayd.ledger.taxpayers import taxpayers, vat_years
from gatewayd.ledger.taxpayers.taxpayers import Taxpayer
from gatewayd.ledger.taxpayers.vat_years import SaidYear
from gatewayd.money import from_minor, to_minor
from gatewayd.store import ReadTx, WriteTx

_CURRENCY = "GBP"
WarningCode = Literal["limit_passed", "amount_unknown", "no_payments_on_account", "vat_periods_unknown"]

_MESSAGES: dict[WarningCode, str] = {
    "limit_passed": "More than 2,300,000 was owed in the year: payments on account are due, unless HMRC says otherwise."
    " Enter what its letter says (`paymentsOnAccount`, `instalment`).",
    "amount_unknown": "How much each payment on account is depends on more than is known of the year: enter its"
    " `liability`, or the `instalment` of HMRC's letter.",
    "no_payments_on_account": "With monthly returns, and with annual accounting, there are no payments on account of"
    " this kind: none is expected while it is so.",
    "vat_periods_unknown": "It is not registered for VAT, or nobody said with which months its periods end: nothing is"
    " expected while it is so.",
}


class SetVatYear(Request, frozen=True, kw_only=True):
    """What is known of the year whose last VAT period ends on `endDate`. An absent field stays, null forgets it."""

    id: Id
    end_date: Date
    liability: AmountText | UnsetType | None = UNSET
    import_vat: AmountText | UnsetType | None = UNSET
    payments_on_account: Method | UnsetType | None = UNSET
    instalment: AmountText | UnsetType | None = UNSET


class ListVatYears(PageRequest, frozen=True, kw_only=True):
    """Whose years of VAT."""

    id: Id
    limit: LongLimit = 500


class VatYearWarning(Response, frozen=True, kw_only=True):
    """What a person has to look at."""

    code: WarningCode
    """`limit_passed`: payments on account are due, unless HMRC says otherwise. `amount_unknown`: how much they are is
    not known. `no_payments_on_account`: with such returns there are none. `vat_periods_unknown`: with which months its
    periods end."""
    message: str
    """The same in words, with what to do."""


class VatYearOfEntity(Response, frozen=True, kw_only=True):
    """What is known of a year of VAT periods."""

    id: Id
    """The legal entity."""
    end_date: DateText
    """The last day of the year, with which a VAT period ends."""
    liability: AmountText | None
    """VAT payable on the returns of the year, in pounds; a return that was repaid counts 0. Null: nobody said, and no
    period of it is closed."""
    import_vat: AmountText
    """VAT on imports and on goods from excise warehouses that was on no return, in pounds."""
    is_whole: bool
    """Whether nothing of the year is missing; else `liability` is that of the periods which are known."""
    source: Literal["entered", "books"] | None
    """Where `liability` is from: `entered` by a person, or of closed periods (`books`). Null: it is not known."""
    payments_on_account: Method | None
    """What HMRC said of the periods that follow: payments on account, the actual VAT of each month before instead of
    them, or none. Null: nothing."""
    instalment: AmountText | None
    """Each payment as HMRC set it, in pounds. Null: it set none, and each is a 24th of `liability`."""
    warnings: list[VatYearWarning]
    """What a person has to look at."""


def set_vat_year(tx: WriteTx, caller: Caller, request: SetVatYear) -> VatYearOfEntity:
    """Say what was owed of VAT in a year, and what HMRC's letter says of payments on account.

    Payments on account follow from it: after a year of more than 2,300,000 pounds there are two in each quarter, each a
    24th of it, and what is left is due without the seven extra days. What closed VAT periods came to is known.
    """
    taxpayer = taxpayers.find(tx, request.id)
    if taxpayer is None:
        raise not_found("legal_entity")
    end = request.end_date.isoformat()
    before = vat_years.said_of(tx, request.id).get(end) or SaidYear(end)
    errors = _mistakes(tx, taxpayer, request.end_date)
    liability = _amount_in_pence(request.liability, before.liability, "liability", errors)
    import_vat = _amount_in_pence(request.import_vat, before.import_vat, "importVat", errors) or 0
    instalment = _amount_in_pence(request.instalment, before.instalment, "instalment", errors)
    method = before.method if request.payments_on_account is UNSET else request.payments_on_account
    if instalment is not None and method != "instalments":
        errors.append(FieldError("instalment", "conflict", "It is of `paymentsOnAccount` instalments alone."))
    if errors:
        raise invalid(*errors)
    vat_years.put(tx, request.id, SaidYear(end, liability, import_vat, method, instalment))
    year = vat_years.of_entity(tx, request.id)[request.end_date]
    return _shown_year(taxpayer, year, is_entered=liability is not None)


def list_vat_years(tx: ReadTx, caller: Caller, request: ListVatYears) -> Listing[VatYearOfEntity]:
    """List what is known of a legal entity's years of VAT, one for each end of a VAT period, the earliest first."""
    taxpayer = taxpayers.find(tx, request.id)
    if taxpayer is None:
        raise not_found("legal_entity")
    entered = {end for end, said in vat_years.said_of(tx, request.id).items() if said.liability is not None}
    years = [
        _shown_year(taxpayer, year, is_entered=end.isoformat() in entered) for end, year in taxpayer.vat_years.items()
    ]
    return listing_of(request, years, lambda shown: shown.end_date)


def _mistakes(tx: ReadTx, taxpayer: Taxpayer, end: datetime.date) -> list[FieldError]:
    """What is wrong with the last day of a year, on which a VAT period ends. Any month does where nobody said which."""
    if periods.find(tx, taxpayer.id, PeriodKey("vat_period", None, end.isoformat())) is not None:
        return []
    registration = taxpayer.registration
    if not is_month_end(end) or (registration is not None and end.month not in registration.months):
        return [FieldError("endDate", "conflict", "No VAT period ends on that day.")]
    return []


def _amount_in_pence(
    text: str | UnsetType | None, before: int | None, path: str, errors: list[FieldError]
) -> int | None:
    """What an amount is to be, in pence; what is wrong with it goes to `errors`."""
    if text is UNSET:
        return before
    try:
        amount = None if text is None else to_minor(text, _CURRENCY)
    except ValueError as error:
        errors.append(FieldError(path, "invalid_decimal", f"{error}."))
        return None
    if amount is not None and amount < 0:
        errors.append(FieldError(path, "out_of_range", "Expected 0 or more."))
    return amount


def _shown_year(taxpayer: Taxpayer, year: VatYear, *, is_entered: bool) -> VatYearOfEntity:
    source: Literal["entered", "books"] | None = "entered" if is_entered else "books"
    return VatYearOfEntity(
        id=taxpayer.id,
        end_date=year.end.isoformat(),
        liability=None if year.liability is None else from_minor(year.liability, _CURRENCY),
        import_vat=from_minor(year.beside, _CURRENCY),
        is_whole=year.is_whole,
        source=None if year.liability is None else source,
        payments_on_account=year.method,
        instalment=None if year.instalment is None else from_minor(year.instalment, _CURRENCY),
        warnings=[VatYearWarning(code=code, message=_MESSAGES[code]) for code in _warnings(taxpayer, year)],
    )


def _warnings(taxpayer: Taxpayer, year: VatYear) -> list[WarningCode]:
    """What is not known of the year, where it decides about payments on account."""
    if taxpayer.registration is None:
        return ["vat_periods_unknown"]
    asks = year.passes if year.method is None else year.method != "none"
    if not asks:
        return []
    if not taxpayer.may_pay_vat_on_account:
        return ["no_payments_on_account"]
    codes: list[WarningCode] = ["limit_passed"] if year.method is None else []
    is_known = year.instalment is not None or (year.is_whole and year.liability is not None)
    if year.method != "actual" and not is_known:
        codes.append("amount_unknown")
    return codes


OPERATIONS = (
    Operation(
        id="legalEntity.setVatYear",
        kind="write",
        method="POST",
        path="/legalEntity/vatYears",
        scopes=("entities:write",),
        request=SetVatYear,
        response=VatYearOfEntity,
        handler=set_vat_year,
        extension=True,
        example={"id": "ent_01k0000000000000000000000a", "endDate": "2026-09-30", "liability": "14250.00"},
    ),
    Operation(
        id="legalEntity.listVatYears",
        kind="read",
        method="GET",
        path="/legalEntity/vatYears",
        scopes=("entities:read",),
        request=ListVatYears,
        response=Page[VatYearOfEntity],
        handler=list_vat_years,
        held=HeldBy(leads={"id": "legal_entity"}),
        extension=True,
        example={"id": "ent_01k0000000000000000000000a"},
    ),
)
