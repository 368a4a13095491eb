"""What a person's tax return of a year came to, a part of the legal entity resource (Domain B1, C6): its operations.

Whether quarterly updates and payments on account are asked for follows from it, and which gains are chargeable from
whether the person was resident.
"""

from msgspec import UNSET, UnsetType

from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, LongLimit, Page, PageRequest, listing_of
from gatewayd.contract.wire import AmountText, Id, Request, Response
from gatewayd.errors import FieldError, invalid, not_found
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.taxpayers import owners, tax_year_figures
from gatewayd.ledger.taxpayers.tax_year_figures import Residence, TaxYearFigures
from gatewayd.money import from_minor, to_minor
from gatewayd.store import ReadTx, WriteTx

_CURRENCY = "GBP"
_AMOUNTS = (
    ("qualifying_income", "qualifyingIncome"),
    ("tax_assessed", "taxAssessed"),
    ("tax_deducted", "taxDeducted"),
)


class SetTaxYear(Request, frozen=True, kw_only=True):
    """What is known of a tax year. An absent field stays, null forgets it."""

    id: Id
    tax_year: TaxYear
    qualifying_income: AmountText | UnsetType | None = UNSET
    tax_assessed: AmountText | UnsetType | None = UNSET
    tax_deducted: AmountText | UnsetType | None = UNSET
    is_exempt: bool | UnsetType = UNSET
    residence: Residence | UnsetType | None = UNSET


class ListTaxYears(PageRequest, frozen=True, kw_only=True):
    """Whose tax years."""

    id: Id
    limit: LongLimit = 500


class TaxYearOfEntity(Response, frozen=True, kw_only=True):
    """What is known of a tax year.

    The income of two years before decides whether quarterly updates are due, and the tax of the year before whether
    payments on account are; where the person was resident which gains are chargeable.
    """

    id: Id
    """The legal entity."""
    tax_year: TaxYear
    """The tax year, from 6 April to 5 April."""
    qualifying_income: AmountText | None
    """Income from self-employment and property, before expenses, in pounds. Null: nobody said."""
    tax_assessed: AmountText | None
    """Income Tax and class 4 contributions of the year, in pounds. Null: nobody said."""
    tax_deducted: AmountText | None
    """What of `taxAssessed` was deducted at source, in pounds. Null: nobody said."""
    is_exempt: bool
    """Whether HMRC has exempted the person from quarterly updates in this year."""
    residence: Residence | None
    """Whether the person was resident in the United Kingdom, by the Statutory Residence Test (FA 2013 Sch. 45). A split
    year, in which the person left or came, has a part here and an overseas part. Null: as `taxResidency` of the legal
    entity has it, for all years."""


def set_tax_year(tx: WriteTx, caller: Caller, request: SetTaxYear) -> TaxYearOfEntity:
    """Say what a person's tax return of a year came to: obligations that follow from it are made or put away."""
    owner = owners.find(tx, request.id)
    if owner is None:
        raise not_found("legal_entity")
    errors = []
    if owner.type not in owners.PERSONS:
        errors.append(FieldError("id", "conflict", "Only a person has Income Tax of its own."))
    if not tax_calendar.is_tax_year(request.tax_year):
        errors.append(FieldError("taxYear", "invalid_format", "Expected a tax year such as 2026-27."))
    year = int(request.tax_year[:4])
    before = tax_year_figures.of_entity(tx, request.id).get(year) or TaxYearFigures(year)
    income, assessed, deducted = (_amount_in_pence(request, before, field, path, errors) for field, path in _AMOUNTS)
    if (deducted or 0) > (assessed or 0):
        message = "It is a part of `taxAssessed`: expected no more than that."
        errors.append(FieldError("taxDeducted", "out_of_range", message))
    if errors:
        raise invalid(*errors)
    is_exempt = before.is_exempt if request.is_exempt is UNSET else request.is_exempt
    residence = before.residence if request.residence is UNSET else request.residence
    figures = TaxYearFigures(year, income, assessed, deducted, is_exempt, residence)
    tax_year_figures.put(tx, request.id, figures)
    return _shown_year(request.id, figures)


def list_tax_years(tx: ReadTx, caller: Caller, request: ListTaxYears) -> Listing[TaxYearOfEntity]:
    """List what is known of a person's tax years, the earliest first."""
    if owners.find(tx, request.id) is None:
        raise not_found("legal_entity")
    years = [_shown_year(request.id, figures) for figures in tax_year_figures.of_entity(tx, request.id).values()]
    return listing_of(request, years, lambda year: year.tax_year)


def _amount_in_pence(
    request: SetTaxYear, before: TaxYearFigures, field: str, path: str, errors: list[FieldError]
) -> int | None:
    """What an amount is to be, in pence; what is wrong with it goes to `errors`."""
    text = getattr(request, field)
    if text is UNSET:
        kept: int | None = getattr(before, field)
        return kept
    try:
        amount = None if text is None else to_minor(text, _CURRENCY)
    except ValueError as error:
        errors.append(FieldError(path, "invalid_decimal", f"{error}."))
        return None
    if amount is not None and amount < 0:
        errors.append(FieldError(path, "out_of_range", "Expected 0 or more."))
    return amount


def _shown_year(id_: str, figures: TaxYearFigures) -> TaxYearOfEntity:
    amounts = {field: getattr(figures, field) for field, _ in _AMOUNTS}
    return TaxYearOfEntity(
        id=id_,
        tax_year=tax_calendar.tax_year(figures.first_year),
        is_exempt=figures.is_exempt,
        residence=figures.residence,
        **{field: None if amount is None else from_minor(amount, _CURRENCY) for field, amount in amounts.items()},
    )


OPERATIONS = (
    Operation(
        id="legalEntity.setTaxYear",
        kind="write",
        method="POST",
        path="/legalEntity/taxYears",
        scopes=("entities:write",),
        request=SetTaxYear,
        response=TaxYearOfEntity,
        handler=set_tax_year,
        extension=True,
        example={"id": "ent_01k0000000000000000000000b", "taxYear": "2024-25", "qualifyingIncome": "52000.00"},
    ),
    Operation(
        id="legalEntity.listTaxYears",
        kind="read",
        method="GET",
        path="/legalEntity/taxYears",
        scopes=("entities:read",),
        request=ListTaxYears,
        response=Page[TaxYearOfEntity],
        handler=list_tax_years,
        held=HeldBy(leads={"id": "legal_entity"}),
        extension=True,
        example={"id": "ent_01k0000000000000000000000b"},
    ),
)
