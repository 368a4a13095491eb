"""How a legal entity stands towards VAT on a day, and what that leaves of an amount (Domain C1). Reads only.

unregistered  amounts are gross: VAT paid is a cost
registered    amounts are net: VAT is the tax authority's
flat_rate     income is gross less flat-rate VAT; VAT paid stays inside expenses
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from gatewayd.ledger import flat_rates, sellers
from gatewayd.ledger.date_ranges import later
from gatewayd.ledger.rounding import half_up
from gatewayd.ledger.sellers import Seller
from gatewayd.store import ReadTx

Treatment = Literal["unregistered", "registered", "flat_rate"]
Scheme = Literal["standard", "cash", "flat_rate", "annual"]

_SELECT_SCHEME = """
SELECT vat_scheme, vat_flat_rate_category, vat_flat_rate_percent, vat_flat_rate_start_date
FROM legal_entities WHERE org_id = :org_id AND id = :id
"""


class VatStanding(NamedTuple):
    """The registration and the scheme of a seller. `scheme` None is standard.

    `percent` is that of the flat rate before any discount, and None where `category` says it. `flat_from` is the ISO
    date on which the flat rate begins; None: with the registration.
    """

    seller: Seller
    scheme: Scheme | None = None
    category: str | None = None
    percent: Decimal | None = None
    flat_from: str | None = None

    def treatment_on(self, date: str) -> Treatment:
        """The standing on an ISO date."""
        if not self.seller.registered_on(date):
            return "unregistered"
        if self.scheme == "flat_rate" and (self.flat_from is None or self.flat_from <= date):
            return "flat_rate"
        return "registered"

    def changes(self) -> Iterator[str]:
        """The days on which the standing may become another."""
        seller = self.seller
        for date in (seller.vat_effective_date, seller.vat_deregistration_date, self.flat_from):
            if date is not None:
                yield date

    def percent_changes(self) -> Iterator[str]:
        """The days on which the flat-rate percentage may become another."""
        effective_date = self.seller.vat_effective_date
        if effective_date is not None:
            yield later(effective_date, flat_rates.FIRST_YEAR_MONTHS)
        yield from flat_rates.changes()

    def full_percent_on(self, date: str) -> Decimal | None:
        """The flat-rate percentage on an ISO date, before any discount; None where nobody knows it."""
        if self.percent is None and self.category is not None:
            return flat_rates.percent_of(self.category, date)
        return self.percent

    def percent_on(self, date: str) -> Fraction | None:
        """The same less the discount of the first year."""
        percent = self.full_percent_on(date)
        if percent is None:
            return None
        return flat_rates.with_discount(percent, self.seller.vat_effective_date, date)

    def flat_rate_vat(self, gross: int, date: str) -> int:
        """The flat-rate VAT on an amount with VAT, rounded half up; 0 where the percentage is not known."""
        percent = self.percent_on(date)
        return 0 if percent is None else half_up(gross * percent.numerator, 100 * percent.denominator)


def first_changed(before: VatStanding, after: VatStanding, ranges: Iterable[tuple[str, str]]) -> str | None:
    """The first day of the ranges, ISO dates, on which the registration differs or the flat rate begins; None: none.

    Chosen: that the flat rate ends, and its percentage, have no date of their own, and so count from now on back.
    """
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
    row = tx.row(_SELECT_SCHEME, id=legal_entity_id)
    assert seller is not None
    assert row is not None
    scheme, category, percent, flat_from = row
    return VatStanding(seller, scheme, category, None if percent is None else Decimal(percent), flat_from)
