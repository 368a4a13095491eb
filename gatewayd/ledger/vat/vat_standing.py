"""How a legal entity stands towards VAT on a day, and what that leaves of an amount (Domain C1). Reads only.

unregistered  amounts are gross: VAT paid is a cost
registered    amounts are net: VAT is the tax authority's
flat_rate     income is gross less flat-rate VAT; VAT paid stays inside expenses

Registration and flat rate begin on days of their own. That another scheme is taken, or another percentage, has none: it
counts from the day after the last closed one, and what was closed keeps the terms of then (`former_vat_terms`).
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from gatewayd.ledger.dates.date_ranges import after, later
from gatewayd.ledger.vat import flat_rates, former_vat_terms, sellers
from gatewayd.ledger.vat.former_vat_terms import Former, VatTerms
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.money import half_up
from gatewayd.store import ReadTx

Treatment = Literal["unregistered", "registered", "flat_rate"]


class VatStanding(NamedTuple):
    """The registration of a seller, its terms, and those that closed days keep, oldest first."""

    seller: Seller
    terms: VatTerms
    former: Sequence[Former] = ()

    def terms_on(self, date: str) -> VatTerms:
        """The terms of an ISO date."""
        return next((one.terms for one in self.former if date <= one.last_day), self.terms)

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
        for one in self.former:
            yield after(one.last_day)

    def percent_changes(self) -> Iterator[str]:
        """The days on which the flat-rate percentage may become another, beside those."""
        for terms in self._all_terms():
            if terms.registered_from is not None:
                yield later(terms.registered_from, flat_rates.FIRST_YEAR_MONTHS)
        yield from flat_rates.changes()

    def full_percent_on(self, date: str) -> Decimal | None:
        """The flat-rate percentage on an ISO date, before any discount; None where nobody knows it."""
        terms = self._flat_terms_on(date)
        if terms.percent is None and terms.category is not None:
            return flat_rates.percent_of(terms.category, date)
        return None if terms.percent is None else Decimal(terms.percent)

    def percent_on(self, date: str) -> Fraction | None:
        """The same less the discount of the first year."""
        percent = self.full_percent_on(date)
        if percent is None:
            return None
        return flat_rates.with_discount(percent, self._flat_terms_on(date).registered_from, date)

    def flat_rate_vat(self, gross: int, date: str) -> int:
        """The flat-rate VAT on an amount with VAT, rounded half up; 0 where the percentage is not known."""
        percent = self.percent_on(date)
        return 0 if percent is None else half_up(gross * percent.numerator, 100 * percent.denominator)

    def _all_terms(self) -> Iterator[VatTerms]:
        yield self.terms
        for one in self.former:
            yield one.terms

    def _flat_terms_on(self, date: str) -> VatTerms:
        """The terms of a date; what was sold at the flat rate and is paid after it was left has those it had last."""
        terms = self.terms_on(date)
        left = (one.terms for one in reversed(self.former) if one.last_day < date and one.terms.scheme == "flat_rate")
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
    return VatStanding(seller, former_vat_terms.now(tx, legal_entity_id), former_vat_terms.former(tx, legal_entity_id))
