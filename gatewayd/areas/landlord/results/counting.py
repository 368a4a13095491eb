"""What counts of properties in a range of days: their results, and what their loans took. Reads only."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gatewayd.areas.landlord.results import figures, financing
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.financing import Financing
from gatewayd.areas.landlord.results.shapes import Share
from gatewayd.areas.landlord.results.subjects import Source, Subjects
from gatewayd.ledger.allocating.lets import LetProperty
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import owner_shares, results
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.results import Result
from gatewayd.store import ReadTx


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
        whole = self.result.whole
        if share == "full":
            return self._full(days)
        until = self._own(DateRange(whole.first, days.last))
        if days.first == whole.first:
            return until
        return figures.less(until, self._own(DateRange(whole.first, date_ranges.before(days.first))))

    def _own(self, days: DateRange) -> Part:
        return own_part(self.shares, days, self._full)

    def _full(self, days: DateRange) -> Part:
        return Part(self.result.statement(days), self.financing.capital(days))


def count(tx: ReadTx, subjects: Subjects, whole: DateRange, buckets: Sequence[DateRange] = ()) -> list[Counted]:
    """What counts of each property. Raises `Problem` `currency_mismatch`."""
    found = {
        one.let.id: one for source in subjects.sources.values() for one in _of(tx, subjects, source, whole, buckets)
    }
    return [found[let.id] for let in subjects.properties]


def _of(
    tx: ReadTx, subjects: Subjects, source: Source, whole: DateRange, buckets: Sequence[DateRange]
) -> Iterator[Counted]:
    properties = subjects.of(source)
    business = source.business
    shares = owner_shares.of_properties(tx, business.id, business.owner_share_percent, [let.id for let in properties])
    parts = [*buckets, *(span for one in shares.values() for span in one.spans(whole))]
    each = results.compute_parts(tx, source.account, whole, shares, parts)
    for let, result in zip(properties, each, strict=True):
        yield Counted(let, shares[let.id], source, result, financing.of_property(tx, result.account, whole))


def rest_of(tx: ReadTx, source: Source, whole: DateRange, share: Share) -> Part:
    """What a business has that names no property. Raises `Problem` `currency_mismatch`."""
    shares = owner_shares.of_business(tx, source.business.id, source.business.owner_share_percent)
    (result,) = results.compute_parts(tx, source.account, whole, [None], shares.spans(whole))

    def full(days: DateRange) -> Part:
        return Part(result.statement(days), 0)  # Chosen: capital of a loan on no property is nobody's here

    return full(whole) if share == "full" else own_part(shares, whole, full)


def own_part(shares: OwnerShares, days: DateRange, full: Callable[[DateRange], Part]) -> Part:
    """What an owner has in some days, of what counts in full, by the share of each of them."""
    return figures.together(figures.share_of(full(span), shares.on(span.last)) for span in shares.spans(days))
