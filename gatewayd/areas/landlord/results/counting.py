"""What counts of properties in a range of days: their results, and what their loans took. Reads only.

That is what was repaid of loans, on the day of the money on either basis, and interest by where it comes from.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.landlord.results import figures
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.shapes import Share
from gatewayd.areas.landlord.results.subjects import Source, Subjects
from gatewayd.ledger.allocating.allocation_shapes import InterestSource
from gatewayd.ledger.allocating.lets import LetProperty
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import owner_shares, results
from gatewayd.ledger.results.allocated_money import (
    BY_BILL,
    BY_MONEY,
    FIGURE_COUNT,
    FIGURES,
    OF_PROPERTY,
    WITHOUT_BILL,
    Account,
    Basis,
    convert,
    money_of,
    posting_of,
)
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.results import Result
from gatewayd.store import ReadTx

_SELECT_CAPITAL = """
SELECT date, mortgage_id, direction, amount, currency, fx_rate FROM allocations
WHERE org_id = :org_id AND property_id = :property_id AND date BETWEEN :first AND :last AND purpose = 'loan_capital'
"""
# what no instalment took of a payment (`loan_payments`)
_SELECT_UNEXPLAINED = """
SELECT mortgage_id, count(id) FROM allocations
WHERE org_id = :org_id AND property_id = :property_id AND date BETWEEN :first AND :last AND purpose = 'other'
    AND mortgage_id IS NOT NULL
GROUP BY mortgage_id ORDER BY mortgage_id
"""
_INTEREST = f"SELECT {FIGURES}, mortgage_id, interest_source {OF_PROPERTY} AND interest_source IS NOT NULL"
_SELECT_INTEREST: Final[Mapping[Basis, tuple[str, ...]]] = {
    "cash": (f"{_INTEREST} AND {BY_MONEY}",),
    "accruals": (f"{_INTEREST} AND {WITHOUT_BILL}", f"{_INTEREST} AND {BY_BILL}"),
}


class Repaid(NamedTuple):
    """Capital of a loan that was repaid on an ISO date; borrowed anew below zero. Minor units."""

    date: str
    mortgage_id: str | None
    amount: int


class Financing(NamedTuple):
    """What the loans on a property took.

    `interest` is by mortgage and source; `without_rate` counts what is foreign money whose rate nobody said, and no
    part of it. `unexplained` counts payments of more than was due by mortgage.
    """

    repaid: Sequence[Repaid]
    interest: Mapping[tuple[str, InterestSource], int]
    without_rate: int
    unexplained: Mapping[str, int]

    def capital(self, part: DateRange) -> int:
        """What was repaid in some days."""
        return sum(payment.amount for payment in self.repaid if part.first <= payment.date <= part.last)


class Counted(NamedTuple):
    """A property with what counts of it."""

    let: LetProperty
    shares: OwnerShares
    source: Source
    result: Result
    financing: Financing

    def part(self, share: Share, days: DateRange) -> Part:
        """What counts of it in the days of a bucket; an owner's shares of buckets add up to that of the whole.

        So a bucket is what the share up to its end is more than the share up to the day before it.
        """
        all_days = self.result.date_range
        if share == "full":
            return self._full_part(days)
        until = self._own_part(DateRange(all_days.first, days.last))
        if days.first == all_days.first:
            return until
        return figures.less(until, self._own_part(DateRange(all_days.first, date_ranges.before(days.first))))

    def _own_part(self, days: DateRange) -> Part:
        return own_part(self.shares, days, self._full_part)

    def _full_part(self, days: DateRange) -> Part:
        return Part(self.result.statement(days), self.financing.capital(days))


def count(tx: ReadTx, subjects: Subjects, all_days: DateRange, buckets: Sequence[DateRange] = ()) -> list[Counted]:
    """What counts of each property. Raises `Problem` `currency_mismatch`."""
    by_property = {
        property_.let.id: property_
        for source in subjects.sources.values()
        for property_ in _count_source(tx, subjects, source, all_days, buckets)
    }
    return [by_property[let.id] for let in subjects.properties]


def _count_source(
    tx: ReadTx, subjects: Subjects, source: Source, all_days: DateRange, buckets: Sequence[DateRange]
) -> Iterator[Counted]:
    properties = subjects.of(source)
    business = source.business
    shares = owner_shares.of_properties(tx, business.id, business.owner_share_percent, [let.id for let in properties])
    parts = [*buckets, *(span for share in shares.values() for span in share.spans(all_days))]
    each = results.compute_parts(tx, source.account, all_days, shares, parts)
    for let, result in zip(properties, each, strict=True):
        yield Counted(let, shares[let.id], source, result, _financing(tx, result.account, all_days))


def rest_of(tx: ReadTx, source: Source, all_days: DateRange, share: Share) -> Part:
    """What a business has that names no property. Raises `Problem` `currency_mismatch`."""
    shares = owner_shares.of_business(tx, source.business.id, source.business.owner_share_percent)
    (result,) = results.compute_parts(tx, source.account, all_days, [None], shares.spans(all_days))

    def full(days: DateRange) -> Part:
        return Part(result.statement(days), 0)  # Chosen: capital of a loan on no property is nobody's here

    return full(all_days) if share == "full" else own_part(shares, all_days, full)


def own_part(shares: OwnerShares, days: DateRange, full: Callable[[DateRange], Part]) -> Part:
    """What an owner has in some days, of what counts in full, by the share of each of them."""
    return figures.together(figures.share_of(full(span), shares.on(span.last)) for span in shares.spans(days))


def _financing(tx: ReadTx, account: Account, all_days: DateRange) -> Financing:
    """The loans on the property of an account. Raises `Problem` `currency_mismatch`."""
    values = {**account.whose, **all_days._asdict()}
    repaid, without_rate = [], 0
    for date, mortgage_id, direction, amount, currency, fx_rate in tx.rows(_SELECT_CAPITAL, **values):
        if currency != account.currency:
            if fx_rate is None:
                without_rate += 1
                continue
            amount = convert(amount, fx_rate, currency, account.currency)
        repaid.append(Repaid(date, mortgage_id, amount if direction == "out" else -amount))
    interest: dict[tuple[str, InterestSource], int] = {}
    for sql in _SELECT_INTEREST[account.basis]:
        for row in tx.rows(sql, **values):
            mortgage_id, source = row[FIGURE_COUNT:]
            posting = posting_of(account, money_of(row[:FIGURE_COUNT], account.basis))
            key = (mortgage_id, source)
            interest[key] = interest.get(key, 0) + posting.amount
    return Financing(repaid, interest, without_rate, dict(tx.rows(_SELECT_UNEXPLAINED, **values)))
