"""The ten operations of the restricted subtree (Spec §4). Each is a row that passes the authority's answer on.

Parameters are checked here for their size alone: what they mean is the authority's to judge, in its own words, which
its clients know. None is required here, as a tax service behind `forward` may know better than we do. Whether the
authority was asked may have a price (Domain B8).
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, Protocol

from msgspec import Meta, field

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import TAX_FORWARD, Operation
from gatewayd.contract.wire import Id, Request
from gatewayd.http1.request import Request as HttpRequest
from gatewayd.http1.response import Response
from gatewayd.http1.response import Response as HttpResponse
from gatewayd.tax.authority.headers import AGE, value_of
from gatewayd.tax.forwarding import shapes
from gatewayd.tax.forwarding.proxy import Proxy

ERRORS: Final = (
    "fraud_headers_invalid",
    "test_header_in_production",
    "tax_not_connected",
    "tax_reauthorisation_required",
    "tax_upstream_error",
    "tax_not_configured",
    "tax_upstream_timeout",
)

Entity = Annotated[
    Id,
    Meta(
        description="Whose taxes; they are asked for over its own connection, else the organization's. Needed where the"
        " organization has several legal entities."
    ),
]
Vrn = Annotated[str, Meta(max_length=20, description="VAT registration number, in place of the legal entity's.")]
Nino = Annotated[str, Meta(max_length=20, description="National Insurance number, in place of the legal entity's.")]
Day = Annotated[str, Meta(max_length=10, description="YYYY-MM-DD.", examples=["2026-01-01"])]
TaxYear = Annotated[str, Meta(max_length=7, description="A tax year.", examples=["2026-27"])]
Word = Annotated[str, Meta(max_length=40)]


class Deps(Protocol):
    """What the rows are given to work with."""

    @property
    def tax(self) -> Proxy: ...


class AboutVat(Request, frozen=True, kw_only=True):
    """A question about a VAT registration."""

    legal_entity_id: Entity | None = None
    vrn: Vrn | None = None


class GetVatObligations(AboutVat, frozen=True, kw_only=True):
    """VAT obligations of a period; without one, those that are open."""

    from_: Day | None = field(default=None, name="from")
    """The first day that is asked about. Needed unless `status` is O."""
    to: Day | None = None
    """The last day that is asked about, at most 366 days on. Needed unless `status` is O."""
    status: Literal["O", "F"] | None = None
    """O: returns that are open. F: those that were made. By default both."""


class GetVatPeriod(AboutVat, frozen=True, kw_only=True):
    """What the authority has for a period of at most 366 days; it needs both dates."""

    from_: Day | None = field(default=None, name="from")
    """The first day that is asked about. Needed."""
    to: Day | None = None
    """The last day that is asked about, at most 366 days on. Needed."""


class GetVatReturn(AboutVat, frozen=True, kw_only=True):
    """The return of one period, at most four years old."""

    period_key: Annotated[str, Meta(max_length=8)] | None = None
    """The `periodKey` of the obligation; it may hold #."""


class AboutPerson(Request, frozen=True, kw_only=True):
    """A question about a person."""

    legal_entity_id: Entity | None = None
    nino: Nino | None = None


class GetItsaStatus(AboutPerson, frozen=True, kw_only=True):
    """The standing of a person in a tax year."""

    tax_year: TaxYear | None = None
    """The tax year. Needed."""
    future_years: bool | None = None
    """Whether the years that follow are told too."""
    history: bool | None = None
    """Whether what was submitted before is told too."""


class ListItsaObligations(AboutPerson, frozen=True, kw_only=True):
    """Obligations of quarterly updates, or with `kind` those of final declarations."""

    kind: Literal["income_and_expenditure", "final_declaration"] | None = None
    """Whether quarterly updates are listed (`income_and_expenditure`, by default) or final declarations."""
    type_of_business: Word | None = None
    """`self-employment`, `uk-property` or `foreign-property`. Needed with `businessId`."""
    business_id: Word | None = None
    """HMRC's id of the source of income, `taxBusinessId` of a business."""
    from_date: Day | None = None
    """The first day that is asked about; with `toDate`, at most 366 days apart."""
    to_date: Day | None = None
    """The last day that is asked about."""
    tax_year: TaxYear | None = None
    """Of final declarations, the tax year. By default HMRC tells those of several."""
    status: Annotated[str, Meta(max_length=20)] | None = None
    """`open` or `fulfilled`. By default both."""


class ListItsaCalculations(AboutPerson, frozen=True, kw_only=True):
    """Calculations of a tax year."""

    tax_year: TaxYear | None = None
    """The tax year. Needed."""
    calculation_type: Word | None = None
    """The type to list: `in-year`, `intent-to-finalise` or `final-declaration`, from 2025-26 on also `intent-to-amend`
    and `confirm-amendment`. By default all."""


class GetItsaCalculation(AboutPerson, frozen=True, kw_only=True):
    """One calculation."""

    tax_year: TaxYear | None = None
    """The tax year of the calculation. Needed."""
    calculation_id: Annotated[str, Meta(max_length=64)] | None = None
    """The `calculationId` from the list. Needed."""


class ListTaxYears(AboutPerson, frozen=True, kw_only=True):
    """The tax years of a person."""


class GetFilingSummary(AboutPerson, frozen=True, kw_only=True):
    """One tax year of a person."""

    tax_year: TaxYear | None = None
    """The tax year. Needed."""


# -- handlers


async def get_obligations(
    deps: Deps, caller: Caller, request: GetVatObligations, incoming: HttpRequest
) -> HttpResponse:
    """List VAT obligations, by their start.

    Both dates are needed unless the status is O; they are at most 366 days apart.
    """
    return await deps.tax.pass_on(OBLIGATIONS, caller, request, incoming)


async def get_liabilities(deps: Deps, caller: Caller, request: GetVatPeriod, incoming: HttpRequest) -> HttpResponse:
    """List VAT liabilities of a period.

    From 2 January 2017 on; the last date may not lie ahead.
    """
    return await deps.tax.pass_on(LIABILITIES, caller, request, incoming)


async def get_payments(deps: Deps, caller: Caller, request: GetVatPeriod, incoming: HttpRequest) -> HttpResponse:
    """List VAT payments of a period."""
    return await deps.tax.pass_on(PAYMENTS, caller, request, incoming)


async def get_vat_return(deps: Deps, caller: Caller, request: GetVatReturn, incoming: HttpRequest) -> HttpResponse:
    """Show a VAT return that was submitted.

    The period key comes from the obligation; a # in it is sent as %23.
    """
    return await deps.tax.pass_on(VAT_RETURN, caller, request, incoming)


async def get_itsa_status(deps: Deps, caller: Caller, request: GetItsaStatus, incoming: HttpRequest) -> HttpResponse:
    """Show a person's standing in Making Tax Digital for Income Tax."""
    return await deps.tax.pass_on(ITSA_STATUS, caller, request, incoming)


async def list_itsa_obligations(
    deps: Deps, caller: Caller, request: ListItsaObligations, incoming: HttpRequest
) -> HttpResponse:
    """List Income Tax obligations.

    Of quarterly updates by default: typeOfBusiness is needed with businessId, and both dates or none, at most 366 days
    apart. With kind=final_declaration those of final declarations, of taxYear where it is given.
    """
    return await deps.tax.pass_on(ITSA_OBLIGATIONS, caller, request, incoming)


async def list_itsa_calculations(
    deps: Deps, caller: Caller, request: ListItsaCalculations, incoming: HttpRequest
) -> HttpResponse:
    """List Income Tax calculations of a tax year."""
    return await deps.tax.pass_on(ITSA_CALCULATIONS, caller, request, incoming)


async def get_itsa_calculation(
    deps: Deps, caller: Caller, request: GetItsaCalculation, incoming: HttpRequest
) -> HttpResponse:
    """Show an Income Tax calculation.

    One that is still running is not found.
    """
    return await deps.tax.pass_on(ITSA_CALCULATION, caller, request, incoming)


async def list_tax_years(deps: Deps, caller: Caller, request: ListTaxYears, incoming: HttpRequest) -> HttpResponse:
    """List a person's tax years with what is due for each."""
    return await deps.tax.pass_on(TAX_YEARS, caller, request, incoming)


async def get_filing_summary(
    deps: Deps, caller: Caller, request: GetFilingSummary, incoming: HttpRequest
) -> HttpResponse:
    """Show what was filed and what is owed for a tax year.

    A part that the authority does not give is null, and `parts` says why.
    """
    return await deps.tax.pass_on(SUMMARY, caller, request, incoming)


def was_forwarded(response: Response) -> bool:
    """Whether the authority was asked for an answer: one that a cache gave says how old it is (RFC 9111 §5.1)."""
    return value_of(response.headers, AGE) is None


def _row(
    operation_id: str,
    handler: Callable[..., Any],
    request: type[Request],
    response: Any,
    example: Mapping[str, object],
) -> Operation:
    return Operation(
        id=operation_id,
        kind="call",
        method="GET",
        path="/tax/" + operation_id.replace(".", "/"),
        scopes=("tax:read",),
        request=request,
        response=response,
        handler=handler,
        errors=ERRORS,
        takes_incoming=True,
        relays=True,
        work=TAX_FORWARD,
        did_work=was_forwarded,
        example=example,
    )


_VRN: Final = {"vrn": "980780684"}
_NINO: Final = {"nino": "AA123456A"}
_PERIOD: Final = {"from": "2018-01-02", "to": "2018-02-02"}  # of the sandbox's scenarios for 2018-19
_TAX_YEAR: Final = {"taxYear": "2026-27"}

OBLIGATIONS: Final = _row(
    "vat.getObligations", get_obligations, GetVatObligations, shapes.VatObligations, {**_VRN, **_PERIOD}
)
LIABILITIES: Final = _row(
    "vat.getLiabilities", get_liabilities, GetVatPeriod, shapes.VatLiabilities, {**_VRN, **_PERIOD}
)
PAYMENTS: Final = _row("vat.getPayments", get_payments, GetVatPeriod, shapes.VatPayments, {**_VRN, **_PERIOD})
VAT_RETURN: Final = _row(
    "vat.getVatReturn", get_vat_return, GetVatReturn, shapes.VatReturn, {**_VRN, "periodKey": "18A1"}
)
ITSA_STATUS: Final = _row("itsaStatus.get", get_itsa_status, GetItsaStatus, shapes.ItsaStatuses, {**_NINO, **_TAX_YEAR})
ITSA_OBLIGATIONS: Final = _row(
    "itsaObligations.list", list_itsa_obligations, ListItsaObligations, shapes.ItsaObligations, _NINO
)
ITSA_CALCULATIONS: Final = _row(
    "itsaCalculations.list",
    list_itsa_calculations,
    ListItsaCalculations,
    shapes.ItsaCalculations,
    {**_NINO, **_TAX_YEAR},
)
ITSA_CALCULATION: Final = _row(
    "itsaCalculations.get",
    get_itsa_calculation,
    GetItsaCalculation,
    shapes.ItsaCalculation,
    {**_NINO, **_TAX_YEAR, "calculationId": "f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c"},
)
TAX_YEARS: Final = _row("selfAssessment.listTaxYears", list_tax_years, ListTaxYears, shapes.TaxYears, _NINO)
SUMMARY: Final = _row(
    "selfAssessment.getFilingSummary",
    get_filing_summary,
    GetFilingSummary,
    shapes.FilingSummary,
    {**_NINO, **_TAX_YEAR},
)


OPERATIONS: Final = (
    *(OBLIGATIONS, LIABILITIES, PAYMENTS, VAT_RETURN, ITSA_STATUS),
    *(ITSA_OBLIGATIONS, ITSA_CALCULATIONS, ITSA_CALCULATION, TAX_YEARS, SUMMARY),
)
