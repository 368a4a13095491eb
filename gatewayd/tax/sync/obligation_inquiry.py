"""A taxpayer's obligations as the tax authority has them: VAT 1.0 and Obligations 3.0 (domain model §D1).

With those of Income Tax goes the standing in Making Tax Digital: SA Individual Details 2.0.

What is read here is written to the books: it is checked for form, and what has another form is refused as a whole.
"""

import datetime
from collections.abc import Collection, Mapping
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from gatewayd.errors import Problem
from gatewayd.http1.response import Response
from gatewayd.ledger.calendar.forecast import ObligationKind
from gatewayd.ledger.dates.tax_calendar import bounds, tax_year, tax_year_of
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.sandbox_authority import itsa, vat
from gatewayd.tax.authority.mapping import ENDPOINTS, Endpoint, authority_target
from gatewayd.tax.forwarding.taxpayers import Taxpayer
from gatewayd.tax.sessions.authority_session import AuthoritySession, code_of
from gatewayd.tax.sync.business_details import SOURCES_MAX, TaxBusinessId

BYTES_MAX: Final = 512 * 1024  # Chosen: ten times what 60 sources have in a year
ROWS_MAX: Final = 100  # Chosen: of one source, or of VAT: four years of months, twice
VAT_DAYS_BACK: Final = 365  # of the 366 that one question may span

_VAT: Final = ENDPOINTS["vat.getObligations"]._replace(fresh=True)
_UPDATES: Final = ENDPOINTS["itsaObligations.list"]._replace(fresh=True)
_DECLARATIONS: Final = ENDPOINTS["itsaObligations.list:final_declaration"]._replace(fresh=True)
_STATUS: Final = ENDPOINTS["itsaStatus.get"]._replace(fresh=True)
_SCENARIOS: Final = (
    vat.OBLIGATION_SCENARIOS | itsa.OBLIGATION_SCENARIOS | itsa.DECLARATION_SCENARIOS | itsa.STATUS_SCENARIOS
)

Shape = TypeVar("Shape")


def _refuse_order(start: datetime.date, end: datetime.date) -> None:
    """Raises `ValueError` for a period that ends before it starts."""
    if end < start:
        raise ValueError("the period ends before it starts")


class _VatRow(msgspec.Struct, rename="camel"):
    start: datetime.date
    end: datetime.date
    due: datetime.date
    status: Literal["O", "F"]
    period_key: Annotated[str, Meta(max_length=8)]
    received: datetime.date | None = None

    def __post_init__(self) -> None:
        _refuse_order(self.start, self.end)


class _Vat(msgspec.Struct):
    obligations: Annotated[list[_VatRow], Meta(max_length=ROWS_MAX)]


class _Row(msgspec.Struct, rename="camel"):
    period_start_date: datetime.date
    period_end_date: datetime.date
    due_date: datetime.date
    status: Annotated[str, Meta(pattern=r"^([Oo]pen|[Ff]ulfilled)\Z")]
    received_date: datetime.date | None = None

    def __post_init__(self) -> None:
        _refuse_order(self.period_start_date, self.period_end_date)


class _Business(msgspec.Struct, rename="camel"):
    business_id: TaxBusinessId
    type_of_business: Annotated[str, Meta(max_length=40)]
    obligation_details: Annotated[list[_Row], Meta(max_length=ROWS_MAX)]


class _Updates(msgspec.Struct):
    obligations: Annotated[list[_Business], Meta(max_length=SOURCES_MAX)]


class _Declarations(msgspec.Struct):
    obligations: Annotated[list[_Row], Meta(max_length=ROWS_MAX)]


class _StatusDetail(msgspec.Struct, rename="camel"):
    submitted_on: Annotated[str, Meta(max_length=40)]
    status: Annotated[str, Meta(min_length=1, max_length=60)]
    status_reason: Annotated[str, Meta(max_length=200)] | None = None


class _YearStatus(msgspec.Struct, rename="camel"):
    tax_year: Annotated[str, Meta(pattern=r"^\d{4}-\d{2}\Z")]
    itsa_status_details: Annotated[list[_StatusDetail], Meta(max_length=ROWS_MAX)]


class _Statuses(msgspec.Struct, rename="camel"):
    itsa_statuses: Annotated[list[_YearStatus], Meta(max_length=ROWS_MAX)]


class Standing(NamedTuple):
    """How a taxpayer stands towards Making Tax Digital for Income Tax in a tax year, in the authority's words."""

    tax_year: str
    status: str
    reason: str | None


class AuthorityObligation(NamedTuple):
    """One obligation as the authority has it. `tax_business_id` None: of the taxpayer as a whole."""

    said: Confirmed
    tax_business_id: str | None = None


class ObligationInquiry:
    """Asks about one taxpayer. Raises `Problem`: `tax_upstream_error`, `rate_limited`, and those of the session."""

    def __init__(self, session: AuthoritySession, taxpayer: Taxpayer, today: str) -> None:
        self._session = session
        self._taxpayer = taxpayer
        self._today = datetime.date.fromisoformat(today)

    async def vat(self) -> list[AuthorityObligation]:
        """What is open, and the returns of the last year. None at all where there is no registration number."""
        vrn = self._taxpayer.vrn
        if vrn is None:
            return []
        since = self._today - datetime.timedelta(days=VAT_DAYS_BACK)
        spans = ({"status": "O"}, {"status": "F", "from": since.isoformat(), "to": self._today.isoformat()})
        rows: list[_VatRow] = []
        for span in spans:
            response = await self._ask(_VAT, {"vrn": vrn, **span}, vat.OBLIGATION_SCENARIOS)
            answer = self._decoded(response, _Vat)
            rows += [] if answer is None else answer.obligations
        return [_of_vat(row) for row in rows]

    async def income_tax(self) -> list[AuthorityObligation]:
        """Updates of this tax year and the last, and final declarations. None without a National Insurance number."""
        nino = self._taxpayer.nino
        if nino is None:
            return []
        current = int(tax_year_of(self._today.isoformat())[:4])
        told: list[AuthorityObligation] = []
        for first, last in (bounds(tax_year(year)) for year in (current - 1, current)):
            span = {"nino": nino, "fromDate": first, "toDate": last}
            answer = self._decoded(await self._ask(_UPDATES, span, itsa.OBLIGATION_SCENARIOS), _Updates)
            for business in [] if answer is None else answer.obligations:
                for row in business.obligation_details:
                    told.append(AuthorityObligation(_confirmed("itsa_quarterly_update", row), business.business_id))
        response = await self._ask(_DECLARATIONS, {"nino": nino}, itsa.DECLARATION_SCENARIOS)
        declared = self._decoded(response, _Declarations)
        rows = [] if declared is None else declared.obligations
        return [*told, *(AuthorityObligation(_confirmed("itsa_final_declaration", row)) for row in rows)]

    async def itsa_status(self) -> Standing | None:
        """The latest status of this tax year. None without a National Insurance number, or where none is told.

        Chosen: a refusal is none too. An application may have the obligations and not this.
        """
        nino = self._taxpayer.nino
        if nino is None:
            return None
        query = {"nino": nino, "taxYear": tax_year_of(self._today.isoformat())}
        response = await self._ask(_STATUS, query, itsa.STATUS_SCENARIOS)
        answer = self._decoded(response, _Statuses) if response.status == 200 else None
        years = [] if answer is None else answer.itsa_statuses
        details = [detail for year in years if year.tax_year == query["taxYear"] for detail in year.itsa_status_details]
        if not details:
            return None
        latest = max(details, key=lambda detail: detail.submitted_on)
        return Standing(query["taxYear"], latest.status, latest.status_reason)

    async def _ask(self, endpoint: Endpoint, values: Mapping[str, str], scenarios: Collection[str]) -> Response:
        """A test scenario goes to those questions that document it (§D4), and one that none documents to all."""
        scenario = self._session.scenario
        sent = scenario if scenario in scenarios or scenario not in _SCENARIOS else ""
        return await self._session.ask(authority_target(endpoint, values), sent)

    def _decoded(self, response: Response, shape: type[Shape]) -> Shape | None:
        """What was answered; None where the authority has nothing to say. Raises `Problem`."""
        if response.status == 404:
            return None
        if response.status != 200:
            raise self._refusal(response)
        try:
            if len(response.body) <= BYTES_MAX:
                return msgspec.json.decode(response.body, type=shape)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        raise self._session.problem_of(response, "What the tax authority said of obligations cannot be read.")

    def _refusal(self, response: Response) -> Problem:
        status = response.status
        if status != 429:
            return self._session.problem_of(response, f"The tax authority answered {status}.")
        extra = {"upstream": {"status": status, "code": code_of(response)}}
        seconds = [(name.lower(), value) for name, value in response.headers if name.lower() == b"retry-after"]
        message = "The tax authority asks for patience."
        return Problem("rate_limited", message, extra=extra, headers=tuple(seconds[:1]))


def _of_vat(row: _VatRow) -> AuthorityObligation:
    said = Confirmed(
        kind="vat_return",
        business_id=None,
        period_start_date=row.start.isoformat(),
        period_end_date=row.end.isoformat(),
        due_date=row.due.isoformat(),
        is_fulfilled=row.status == "F",
        received_date=None if row.received is None else row.received.isoformat(),
        period_key=row.period_key,
    )
    return AuthorityObligation(said)


def _confirmed(kind: ObligationKind, row: _Row) -> Confirmed:
    return Confirmed(
        kind=kind,
        business_id=None,
        period_start_date=row.period_start_date.isoformat(),
        period_end_date=row.period_end_date.isoformat(),
        due_date=row.due_date.isoformat(),
        is_fulfilled=row.status.lower() == "fulfilled",
        received_date=None if row.received_date is None else row.received_date.isoformat(),
    )
