"""The taxpayer that a legal entity is: what its periods and obligations follow from. Reads only."""

import datetime
from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from gatewayd.clock import Instant, london_date
from gatewayd.ledger.dates import vat
from gatewayd.ledger.dates.companies import YearEnd
from gatewayd.ledger.dates.vat import VatYear
from gatewayd.ledger.taxpayers import owners, quarter_choices, tax_year_figures, vat_years
from gatewayd.ledger.taxpayers.quarter_choices import QuarterChoices
from gatewayd.ledger.taxpayers.tax_year_figures import TaxYearFigures
from gatewayd.store import ReadTx, Row

_SELECT_ENTITY = """
SELECT id, type, incorporation_date, accounting_year_end_month, accounting_year_end_day, country_code,
    utr_hint IS NOT NULL, archived_at IS NOT NULL, created_at, vat_status, vat_effective_date, vat_deregistration_date,
    vat_scheme, vat_return_frequency, vat_stagger_group, vat_period_end_month, cis_contractor
FROM legal_entities WHERE org_id = :org_id AND id = :id
"""
_SELECT_BUSINESSES = """
SELECT id, type, commencement_date, cessation_date, tax_sync_latency, archived_at
FROM businesses WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY id
"""

INCOME_TAX_SOURCES = frozenset({"self_employment", "uk_property", "foreign_property", "property_unspecified"})
"""Types of businesses whose figures go into the owner's Income Tax."""


class _Latency(msgspec.Struct, rename="camel"):
    tax_year1: str
    indicator1: Literal["A", "Q"]
    tax_year2: str
    indicator2: Literal["A", "Q"]


_latency = msgspec.json.Decoder(_Latency)


class Source(NamedTuple):
    """A business. `archived` is the day on which it went into the archive.

    `annual` and `quarterly` are the tax years, by the calendar year they begin in, for which the authority says that it
    wants no quarterly updates, or that it does.
    """

    id: str
    type: str
    commenced: datetime.date | None
    ceased: datetime.date | None
    quarters: QuarterChoices
    annual: frozenset[int]
    quarterly: frozenset[int]
    archived: datetime.date | None


class Taxpayer(NamedTuple):
    """A legal entity. `registration` None: it is not registered for VAT, or not known with which months periods end.

    `is_contractor`: today, of the Construction Industry Scheme.
    """

    id: str
    type: str
    incorporated: datetime.date | None
    year_end: YearEnd
    registration: vat.Registration | None
    is_contractor: bool
    is_domestic: bool
    has_utr: bool
    is_archived: bool
    created: datetime.date
    sources: tuple[Source, ...]
    figures: Mapping[int, TaxYearFigures]
    vat_years: Mapping[datetime.date, VatYear]

    @property
    def incomes(self) -> dict[int, int]:
        """The qualifying incomes that are known, by tax year."""
        incomes = {year: figures.qualifying_income for year, figures in self.figures.items()}
        return {year: income for year, income in incomes.items() if income is not None}

    @property
    def is_person(self) -> bool:
        """True where Income Tax is its own."""
        return self.type in owners.PERSONS

    @property
    def may_pay_vat_on_account(self) -> bool:
        """False with monthly returns, and with annual accounting (SI 1993/2001 art 4; VPOA4100)."""
        registration = self.registration
        return registration is None or not (registration.annual or registration.months == vat.EVERY_MONTH)

    @property
    def is_on_register(self) -> bool:
        """True for what Companies House keeps, which wants accounts and confirmation statements."""
        return self.is_domestic and self.type in owners.INCORPORATED


def find(tx: ReadTx, legal_entity_id: str) -> Taxpayer | None:
    """The taxpayer, archived or not; None where the organization has no such legal entity."""
    row = tx.row(_SELECT_ENTITY, id=legal_entity_id)
    if row is None:
        return None
    id_, type_, incorporated, end_month, end_day, country, has_utr, archived, created_at, *of_vat, contractor = row
    return Taxpayer(
        id=id_,
        type=type_,
        incorporated=_date_of_text(incorporated),
        year_end=YearEnd(end_month, end_day),
        registration=_registration(tuple(of_vat)),
        is_contractor=bool(contractor),
        is_domestic=country == "GB",
        has_utr=bool(has_utr),
        is_archived=bool(archived),
        created=_london(created_at),
        sources=_sources(tx, id_),
        figures=tax_year_figures.of_entity(tx, id_),
        vat_years=vat_years.of_entity(tx, id_),
    )


def _registration(row: Row) -> vat.Registration | None:
    """Chosen: periods are quarters unless the registration says otherwise; a stagger that nobody gave is not guessed.

    The last return is up to the deregistration date and includes it [GOV.UK, Cancel registration], though from that
    day on no VAT is charged (`Seller.registered_on`).
    """
    status, first, deregistered, scheme, frequency, stagger, end_month = row
    if status not in ("registered", "deregistered"):
        return None
    annual = scheme == "annual" or frequency == "annual"
    months: tuple[int, ...] | None
    if annual:
        months = None if end_month is None else (end_month,)
    elif frequency == "monthly":
        months = vat.EVERY_MONTH
    else:
        months = vat.STAGGERS.get(stagger)
    if months is None:
        return None
    return vat.Registration(_date_of_text(first), _date_of_text(deregistered), months, annual)


def _sources(tx: ReadTx, legal_entity_id: str) -> tuple[Source, ...]:
    chosen = quarter_choices.of_entity(tx, legal_entity_id)
    rows = tx.rows(_SELECT_BUSINESSES, legal_entity_id=legal_entity_id)
    return tuple(_source(row, chosen.get(row[0], QuarterChoices())) for row in rows)


def _source(row: Row, quarters: QuarterChoices) -> Source:
    id_, type_, commenced, ceased, latency, archived_at = row
    return Source(
        id=id_,
        type=type_,
        commenced=_date_of_text(commenced),
        ceased=_date_of_text(ceased),
        quarters=quarters,
        annual=_years_of(latency, "A"),
        quarterly=_years_of(latency, "Q"),
        archived=None if archived_at is None else _london(archived_at),
    )


def _years_of(latency: str | None, wanted: str) -> frozenset[int]:
    if latency is None:
        return frozenset()
    details = _latency.decode(latency)
    said = ((details.tax_year1, details.indicator1), (details.tax_year2, details.indicator2))
    return frozenset(int(year[:4]) for year, indicator in said if indicator == wanted and year[:4].isdecimal())


def _london(instant: int) -> datetime.date:
    return datetime.date.fromisoformat(london_date(Instant(instant)))


def _date_of_text(text: str | None) -> datetime.date | None:
    return None if text is None else datetime.date.fromisoformat(text)
