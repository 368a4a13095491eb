"""How a legal entity stands towards VAT on a day, and what that leaves of an amount (Domain C1). Owns the table
`former_vat_terms`.

unregistered  amounts are gross: VAT paid is a cost
registered    amounts are net: VAT is the tax authority's
flat_rate     income is gross less flat-rate VAT; VAT paid stays inside expenses

Registration and flat rate begin on days of their own. Another scheme or percentage has no such day: it holds from the
day after the last closed one, and closed days keep the terms that they were closed with. A row of the table has the
terms that hold up to its day. Chosen: where a period is opened again, its days keep their terms until others are said.

The percentages of the flat rate scheme are a dated table by HMRC's `frsCategory`. The codes and their percentages are
those of HMRC's registration service (Domain C1); a business that spends little on goods has 16.5 % whatever its
category (limited cost trader), which is for `flatRatePercent` to say.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from gatewayd.ledger.dates.date_ranges import after, later
from gatewayd.ledger.vat import sellers
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.money import half_up
from gatewayd.store import ReadTx, WriteTx

Treatment = Literal["unregistered", "registered", "flat_rate"]
FIRST_YEAR_DISCOUNT = Decimal(1)  # percentage points, GOV.UK: VAT Flat Rate Scheme, how much you pay
FIRST_YEAR_MONTHS = 12  # from the effective date of registration, the same
Scheme = Literal["standard", "cash", "flat_rate", "annual"]

_SELECT_NOW = """
SELECT vat_scheme, vat_flat_rate_category, vat_flat_rate_percent, vat_flat_rate_start_date, vat_effective_date
FROM legal_entities WHERE org_id = :org_id AND id = :legal_entity_id
"""
_SELECT_FORMER = """
SELECT last_day, scheme, flat_rate_category, flat_rate_percent, flat_rate_start_date, registered_from
FROM former_vat_terms WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY last_day
"""
_DELETE_FROM = """
DELETE FROM former_vat_terms
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND last_day >= :last_day
"""
_INSERT = """
INSERT INTO former_vat_terms (
    org_id, legal_entity_id, last_day, scheme, flat_rate_category, flat_rate_percent, flat_rate_start_date,
    registered_from
) VALUES (
    :org_id, :legal_entity_id, :last_day, :scheme, :category, :percent, :flat_from, :registered_from
)
"""


class VatTerms(NamedTuple):
    """`scheme` None is standard. `percent`, a decimal, is that of the flat rate before any discount, and None where
    `category` says it. `flat_from` is the ISO date on which the flat rate begins; None: with the registration, of
    `registered_from`.
    """

    scheme: Scheme | None
    category: str | None
    percent: str | None
    flat_from: str | None
    registered_from: str | None

    def is_flat_on(self, date: str) -> bool:
        """True where the flat rate is the scheme on an ISO date of the registration."""
        return self.scheme == "flat_rate" and (self.flat_from is None or self.flat_from <= date)


class Former(NamedTuple):
    """The terms that hold up to an ISO date, and from the day after the one before it on."""

    last_day: str
    terms: VatTerms


class VatStanding(NamedTuple):
    """The registration of a seller, its terms, and those that closed days keep, oldest first."""

    seller: Seller
    terms: VatTerms
    former: Sequence[Former] = ()

    def terms_on(self, date: str) -> VatTerms:
        """The terms of an ISO date."""
        return next((past.terms for past in self.former if date <= past.last_day), self.terms)

    def treatment_on(self, date: str) -> Treatment:
        """The standing on an ISO date."""
        if not self.seller.registered_on(date):
            return "unregistered"
        return "flat_rate" if self.terms_on(date).is_flat_on(date) else "registered"

    @property
    def is_ever_flat(self) -> bool:
        """True where the flat rate is, or was on closed days, the scheme."""
        return any(terms.scheme == "flat_rate" for terms in self._all_terms())

    def changes(self) -> Iterator[str]:
        """The days on which the standing may become another."""
        seller = self.seller
        flat_from = (terms.flat_from for terms in self._all_terms())
        for date in (seller.vat_effective_date, seller.vat_deregistration_date, *flat_from):
            if date is not None:
                yield date
        for past in self.former:
            yield after(past.last_day)

    def percent_changes(self) -> Iterator[str]:
        """The days on which the flat-rate percentage may become another, beside those."""
        for terms in self._all_terms():
            if terms.registered_from is not None:
                yield later(terms.registered_from, FIRST_YEAR_MONTHS)
        yield from changes()

    def full_percent_on(self, date: str) -> Decimal | None:
        """The flat-rate percentage on an ISO date, before any discount; None where nobody knows it."""
        terms = self._flat_terms_on(date)
        if terms.percent is None and terms.category is not None:
            return percent_of(terms.category, date)
        return None if terms.percent is None else Decimal(terms.percent)

    def percent_on(self, date: str) -> Fraction | None:
        """The same less the discount of the first year."""
        percent = self.full_percent_on(date)
        if percent is None:
            return None
        return with_discount(percent, self._flat_terms_on(date).registered_from, date)

    def flat_rate_vat(self, gross: int, date: str) -> int:
        """The flat-rate VAT on an amount with VAT, rounded half up; 0 where the percentage is not known."""
        percent = self.percent_on(date)
        return 0 if percent is None else half_up(gross * percent.numerator, 100 * percent.denominator)

    def _all_terms(self) -> Iterator[VatTerms]:
        yield self.terms
        for past in self.former:
            yield past.terms

    def _flat_terms_on(self, date: str) -> VatTerms:
        """The terms of a date; what was sold at the flat rate and is paid after it was left has those it had last."""
        terms = self.terms_on(date)
        left = (
            past.terms for past in reversed(self.former) if past.last_day < date and past.terms.scheme == "flat_rate"
        )
        return terms if terms.scheme == "flat_rate" else next(left, terms)


def first_changed(before: VatStanding, after: VatStanding, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The first day of the ranges, ISO dates, on which the registration differs or the flat rate begins; None: none."""
    days = [*before.changes(), *after.changes()]
    for first, last in ranges:
        for day in sorted({first, *(day for day in days if first <= day <= last)}):
            was, becomes = before.treatment_on(day), after.treatment_on(day)
            if was != becomes and (was, becomes) != ("flat_rate", "registered"):
                return day
    return None


def of_entity(tx: ReadTx, legal_entity_id: str) -> VatStanding:
    """The standing of a legal entity of the caller's organization, which exists."""
    seller = sellers.find(tx, legal_entity_id)
    assert seller is not None
    return VatStanding(seller, now(tx, legal_entity_id), former(tx, legal_entity_id))


class DatedPercents(NamedTuple):
    """What holds from a day on: code by percentage."""

    first: str
    codes: dict[str, tuple[str, ...]]


_TABLES = (
    DatedPercents(
        "2022-04-01",  # after the reduced rates of hospitality; hmrc/vat-registration-frontend, frs-business-types.json
        {
            "4": ("042",),
            "5": ("035",),
            "6.5": ("013", "038", "045"),
            "7.5": ("044", "053"),
            "8": ("031", "043", "052"),
            "8.5": ("036", "041", "048", "054"),
            "9": ("028", "030", "033"),
            "9.5": ("017", "019", "025", "029"),
            "10": ("032", "040", "049"),
            "10.5": ("010", "016", "020", "027", "050", "055"),
            "11": ("002", "003", "034", "037", "047", "051"),
            "12": ("004", "006", "007", "012", "021", "023"),
            "12.5": ("008", "011"),
            "13": ("014", "018", "046"),
            "13.5": ("015",),
            "14": ("026", "039"),
            "14.5": ("001", "005", "009", "022", "024"),
        },
    ),
)


def percent_of(category: str, date: str) -> Decimal | None:
    """The percentage of a category on an ISO date; None where the table does not know it."""
    for table in reversed(_TABLES):
        if table.first <= date:
            return next((Decimal(percent) for percent, codes in table.codes.items() if category in codes), None)
    return None


def changes() -> list[str]:
    """The days from which a table holds."""
    return [table.first for table in _TABLES]


def with_discount(percent: Decimal, effective_date: str | None, date: str) -> Fraction:
    """The percentage on an ISO date of who was registered for VAT on the other: one point less in the first year.

    None: nobody knows when, and nothing is taken off.
    """
    if effective_date is not None and effective_date <= date < later(effective_date, FIRST_YEAR_MONTHS):
        percent = max(Decimal(0), percent - FIRST_YEAR_DISCOUNT)
    return Fraction(percent)


def now(tx: ReadTx, legal_entity_id: str) -> VatTerms:
    """The terms of a legal entity of the caller's organization, which exists."""
    row = tx.row(_SELECT_NOW, legal_entity_id=legal_entity_id)
    assert row is not None
    return VatTerms(*row)


def former(tx: ReadTx, legal_entity_id: str) -> list[Former]:
    """Those that hold up to a closed day, oldest first."""
    return [Former(row[0], VatTerms(*row[1:])) for row in tx.rows(_SELECT_FORMER, legal_entity_id=legal_entity_id)]


def keep(tx: WriteTx, legal_entity_id: str, terms: VatTerms, last_closed: str | None) -> None:
    """Let `terms` hold up to the last closed day, and those of now after it. None: no day is closed."""
    tx.run(_DELETE_FROM, legal_entity_id=legal_entity_id, last_day=last_closed or "")
    if last_closed is not None:
        tx.run(_INSERT, legal_entity_id=legal_entity_id, last_day=last_closed, **terms._asdict())
    tx.changed("former_vat_terms", legal_entity_id, None, legal_entity_id)
