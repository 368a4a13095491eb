"""A person's businesses as the tax authority has them: Business Details 2.0 (hmrc/business-details-api 322cd36).

What is read here is kept in the books: it is checked for form, and what has another form is refused as a whole. What
the authority does not say is None, and says nothing about the books. Which business of ours is which source of the
authority's, and where the two differ, is found without the store.
"""

import datetime
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from gatewayd.areas.businesses.shapes import BusinessRow, BusinessType, Latency
from gatewayd.contract.wire import Address
from gatewayd.errors import Problem
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.businesses import DYNAMIC
from gatewayd.tax.authority.mapping import ENDPOINTS, authority_target
from gatewayd.tax.sessions.authority_session import AuthoritySession, code_of

SOURCES_MAX: Final = 60  # Chosen: HMRC keeps 50 trades of a person; each is one request more within the deadline
LIST_BYTES_MAX: Final = 256 * 1024  # Chosen: ten times what 60 sources take
DEFAULT_COUNTRY: Final = "GB"  # HMRC tells a country where it is another one

_LIST: Final = ENDPOINTS["businessDetails.list"]
_RETRIEVE: Final = ENDPOINTS["businessDetails.retrieve"]
_TYPES: Final[Mapping[str, BusinessType]] = {
    "self-employment": "self_employment",
    "uk-property": "uk_property",
    "foreign-property": "foreign_property",
    "property-unspecified": "property_unspecified",
}
TYPES: Final = frozenset(_TYPES.values())
"""The types that the authority has a word for, in ours."""
_BASES: Final = {"CASH": "cash", "ACCRUAL": "accruals", "ACCRUALS": "accruals"}  # told until February 2026

TaxBusinessId = Annotated[str, Meta(pattern=r"^X[a-zA-Z0-9]IS[0-9]{11}\Z")]
_TaxYear = Annotated[str, Meta(pattern=r"^2[0-9]{3}-[0-9]{2}\Z")]
_TradingName = Annotated[str, Meta(max_length=105)]
_Line = Annotated[str, Meta(max_length=80)]  # the shortest that an address of ours holds; HMRC's have 35

Shape = TypeVar("Shape")
UNSPECIFIED: Final = "property_unspecified"
_PROPERTIES: Final = frozenset({"uk_property", "foreign_property", UNSPECIFIED})

Value = str | Address | None
Item = TypeVar("Item")


class _ListItem(msgspec.Struct, rename="camel"):
    type_of_business: str
    business_id: TaxBusinessId
    trading_name: _TradingName | None = None


class _List(msgspec.Struct, rename="camel"):
    list_of_businesses: Annotated[list[_ListItem], Meta(max_length=SOURCES_MAX)]


class _LatencyDetails(msgspec.Struct, rename="camel"):
    latency_end_date: datetime.date
    tax_year1: _TaxYear
    latency_indicator1: Literal["A", "Q"]
    tax_year2: _TaxYear
    latency_indicator2: Literal["A", "Q"]


class _QuarterlyTypeChoice(msgspec.Struct, rename="camel"):
    quarterly_period_type: Literal["standard", "calendar"]
    tax_year_of_choice: _TaxYear


class _Details(msgspec.Struct, rename="camel"):
    business_id: TaxBusinessId
    type_of_business: str
    trading_type: Annotated[str, Meta(max_length=35)] | None = None
    trading_name: _TradingName | None = None
    accounting_type: str | None = None
    commencement_date: datetime.date | None = None
    cessation_date: datetime.date | None = None
    quarterly_type_choice: _QuarterlyTypeChoice | None = None
    year_of_migration: Annotated[str, Meta(pattern=r"^[0-9]{4}\Z")] | None = None
    latency_details: _LatencyDetails | None = None
    business_address_line_one: _Line | None = None
    business_address_line_two: _Line | None = None
    business_address_line_three: _Line | None = None
    business_address_line_four: _Line | None = None
    business_address_postcode: Annotated[str, Meta(max_length=16)] | None = None
    business_address_country_code: Annotated[str, Meta(pattern=r"^[A-Z]{2}\Z")] | None = None


class ListedSource(NamedTuple):
    """One line of the authority's list: enough to tell which business it is."""

    tax_business_id: str
    type: BusinessType
    trading_name: str | None


class Source(NamedTuple):
    """One source of income. `values` are what the authority says of it, by the names and in the form of our fields."""

    values: Mapping[str, str | Address]
    latency: Latency | None
    year_of_migration: str | None

    @property
    def tax_business_id(self) -> str:
        return str(self.values["tax_business_id"])


class Inquiry:
    """Asks about one person. Raises `Problem`: `not_found` as the authority, `tax_upstream_error`, `rate_limited`."""

    def __init__(self, session: AuthoritySession, nino: str) -> None:
        self._session = session
        self._nino = nino

    async def list_sources(self) -> dict[str, ListedSource]:
        """The person's sources by their id, in the authority's order; those of a type not known here are left out."""
        scenario = self._session.scenario
        response = await self._session.ask(
            authority_target(_LIST, {"nino": self._nino}), "" if scenario == DYNAMIC else scenario
        )
        answer = self._decoded(response, _List)
        return {
            listed.business_id: ListedSource(
                listed.business_id, _TYPES[listed.type_of_business], listed.trading_name or None
            )
            for listed in answer.list_of_businesses
            if listed.type_of_business in _TYPES
        }

    async def get_source(self, tax_business_id: str) -> Source:
        """What the authority says of one source.

        Chosen: of the scenarios that the list documents and this endpoint does not, the one that names several kinds
        is DYNAMIC here, which answers for the id.
        """
        scenario = self._session.scenario
        response = await self._session.ask(
            authority_target(_RETRIEVE, {"nino": self._nino, "businessId": tax_business_id}),
            DYNAMIC if scenario == "BUSINESS_AND_PROPERTY" else scenario,
        )
        details = self._decoded(response, _Details)
        if details.business_id != tax_business_id or details.type_of_business not in _TYPES:
            raise self._session.problem_of(response, "The tax authority spoke of another business.")
        return _source(details)

    def _decoded(self, response: Response, shape: type[Shape]) -> Shape:
        if response.status != 200:
            raise self._refusal(response)
        try:
            if len(response.body) <= LIST_BYTES_MAX:
                return msgspec.json.decode(response.body, type=shape)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        raise self._session.problem_of(response, "What the tax authority said of the businesses cannot be read.")

    def _refusal(self, response: Response) -> Problem:
        status = response.status
        extra = {"upstream": {"status": status, "code": code_of(response)}}
        if status == 404:
            return Problem("not_found", "The tax authority has no such business.", extra=extra)
        if status == 429:
            seconds = [(name.lower(), value) for name, value in response.headers if name.lower() == b"retry-after"]
            return Problem(
                "rate_limited", "The tax authority asks for patience.", extra=extra, headers=tuple(seconds[:1])
            )
        return Problem("tax_upstream_error", f"The tax authority answered {status}.", extra=extra)


def _source(details: _Details) -> Source:
    choice = details.quarterly_type_choice
    said = {
        "tax_business_id": details.business_id,
        "type": _TYPES[details.type_of_business],
        "trading_name": details.trading_name,
        "trading_type": details.trading_type,
        "commencement_date": _date_text(details.commencement_date),
        "cessation_date": _date_text(details.cessation_date),
        "accounting_basis": _BASES.get(details.accounting_type or ""),
        "quarterly_period_type": choice and choice.quarterly_period_type,
        "quarterly_period_tax_year": choice and choice.tax_year_of_choice,
        "address": _address(details),
    }
    latency = details.latency_details
    return Source(
        values={name: value for name, value in said.items() if value},
        latency=None if latency is None else _latency(latency),
        year_of_migration=details.year_of_migration,
    )


def _latency(told: _LatencyDetails) -> Latency:
    return Latency(
        end_date=told.latency_end_date.isoformat(),
        tax_year1=told.tax_year1,
        indicator1=told.latency_indicator1,
        tax_year2=told.tax_year2,
        indicator2=told.latency_indicator2,
    )


def _address(details: _Details) -> Address | None:
    """The authority's four lines become two lines, town and county; without the first there is no address."""
    if not details.business_address_line_one:
        return None
    return Address(
        line1=details.business_address_line_one,
        line2=details.business_address_line_two or None,
        town=details.business_address_line_three or None,
        county=details.business_address_line_four or None,
        postcode=details.business_address_postcode or None,
        country_code=details.business_address_country_code or DEFAULT_COUNTRY,
    )


def _date_text(date: datetime.date | None) -> str | None:
    return None if date is None else date.isoformat()


class Difference(NamedTuple):
    """One field, by the name of its column, that we and the authority have different values for."""

    field: str
    local: Value
    remote: Value


def match_sources(businesses: Iterable[BusinessRow], listed: Mapping[str, ListedSource]) -> dict[str, BusinessRow]:
    """Our businesses of one person by the authority's id of what they are there.

    By that id first, of archived ones too; then, of those that nobody has told yet, where there is one on both sides:
    by type and name (Chosen), then by type alone.
    """
    businesses = list(businesses)
    known = {row.tax_business_id: row for row in businesses if row.tax_business_id in listed}
    pairs = {str(tax_business_id): row for tax_business_id, row in known.items()}
    untold = [row for row in businesses if row.tax_business_id is None and row.archived_at is None]
    for ours, theirs in ((_our_name, _their_name), (_our_type, _their_type)):
        taken = {row.id for row in pairs.values()}
        left = [source for tax_business_id, source in listed.items() if tax_business_id not in pairs]
        unique = _unique(left, theirs)
        for key, row in _unique((row for row in untold if row.id not in taken), ours).items():
            if key in unique:
                pairs[unique[key].tax_business_id] = row
    return pairs


def differences(row: BusinessRow | None, source: Source) -> list[Difference]:
    """Where they differ, in the order of the authority's fields; `row` None: we have no such business.

    What the authority does not say is no difference, but for a cessation: a business that has ceased with us goes on
    there. A property of which it does not say where it is may be anywhere.
    """
    if row is None:
        return [Difference(field, None, remote) for field, remote in source.values.items()]
    differing = [
        Difference(field, local, remote)
        for field, remote in source.values.items()
        if (local := _local(row, field)) != remote and not (remote == UNSPECIFIED and local in _PROPERTIES)
    ]
    if row.cessation_date is not None and "cessation_date" not in source.values:
        differing.append(Difference("cessation_date", row.cessation_date, None))
    return differing


def _local(row: BusinessRow, field: str) -> Value:
    value: Value = getattr(row, field)
    return value


def _unique(items: Iterable[Item], key_of: Callable[[Item], Hashable | None]) -> dict[Hashable, Item]:
    """The items whose key no other item has, by that key. An item with None is left out."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        key = key_of(item)
        if key is not None:
            groups.setdefault(key, []).append(item)
    return {key: group[0] for key, group in groups.items() if len(group) == 1}


def _our_type(row: BusinessRow) -> str:
    return row.type


def _their_type(listed: ListedSource) -> str:
    return listed.type


def _our_name(row: BusinessRow) -> tuple[str, str]:
    return row.type, (row.trading_name or row.name).casefold()


def _their_name(listed: ListedSource) -> tuple[str, str] | None:
    return None if listed.trading_name is None else (listed.type, listed.trading_name.casefold())
