"""The result of a business over a range of days: its books, from allocations and invoices (Domain C1). Reads only.

The range is cut into spans in which the standing towards VAT is one, and which no bucket and no tax year divides. Every
entry counts on one day alone, so that spans add up to the range, however it is cut.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewayd.ledger import allocated_money, invoiced_income
from gatewayd.ledger.allocated_money import Account, Evidence, Scope
from gatewayd.ledger.date_ranges import DateRange, cut, recurring
from gatewayd.ledger.invoiced_income import Entry
from gatewayd.ledger.profit_and_loss import Books, Statement
from gatewayd.ledger.tax_calendar import YEAR_STARTS, tax_year_of
from gatewayd.ledger.thresholds import consolidated_expenses_limit
from gatewayd.store import ReadTx


class Result(NamedTuple):
    """The books of each span of a range, oldest first; `invoiced` is what invoices count for in them."""

    account: Account
    whole: DateRange
    spans: Sequence[tuple[DateRange, Books]]
    invoiced: Sequence[Entry]
    evidence: Evidence

    def statement(self, part: DateRange | None = None) -> Statement:
        """The profit and loss account of the range, or of a bucket of it."""
        first, last = part or self.whole
        inside = (books for span, books in self.spans if first <= span.first and span.last <= last)
        return Books().merge(inside).statement(self.account.business_type)


def compute(
    tx: ReadTx,
    account: Account,
    whole: DateRange,
    buckets: Iterable[DateRange] = (),
    invoiced: Sequence[Entry] | None = None,
) -> Result:
    """The result of a range that `buckets` may divide. `invoiced` None: what the invoices of the business count for.

    Raises `Problem` `currency_mismatch` for foreign money, or a foreign invoice, without a rate.
    """
    starts = [bucket.first for bucket in buckets]
    ranges = cut(whole, [*starts, *account.vat.changes(), *recurring(whole, [YEAR_STARTS])])
    spans = [(span, Books()) for span in ranges]
    evidence = Evidence()
    for span, books in spans:
        allocated_money.add_span(tx, account, span, books, evidence)
    firsts = [span.first for span in ranges]
    invoiced = list(invoiced_income.entries(tx, account, whole)) if invoiced is None else invoiced
    for entry in invoiced:
        spans[bisect_right(firsts, entry.date) - 1][1].post(entry.posting)
    return Result(account, whole, spans, invoiced, evidence)


def compute_parts(
    tx: ReadTx,
    account: Account,
    whole: DateRange,
    property_ids: Iterable[str | None],
    buckets: Sequence[DateRange] = (),
    invoiced: Sequence[Entry] | None = None,
) -> Iterator[Result]:
    """The result of each property of a business, and for None of what names no property: together they are its result.

    `invoiced` is as in `compute`. Raises `Problem` as `compute` does.
    """
    by_property: dict[str | None, list[Entry]] = {}
    for entry in invoiced_income.entries(tx, account, whole) if invoiced is None else invoiced:
        by_property.setdefault(entry.property_id, []).append(entry)
    for property_id in property_ids:
        scope: Scope = "no_property" if property_id is None else "property"
        part = account._replace(scope=scope, property_id=property_id)
        yield compute(tx, part, whole, buckets, by_property.get(property_id, []))


def above_consolidated_limit(result: Result) -> str | None:
    """The first tax year whose turnover, as far as it lies in the range, forbids consolidated expenses; None if none.

    Chosen: all income of the lines is turnover here. Years before the table's first row are not looked at, and neither
    are books in another currency than the limit's.
    """
    if result.account.currency != "GBP":
        return None
    incomes: dict[str, int] = {}
    for span, books in result.spans:
        limit, year = consolidated_expenses_limit(span.first), tax_year_of(span.first)
        income = books.statement(result.account.business_type).totals.income
        incomes[year] = incomes.get(year, 0) + income
        if limit is not None and incomes[year] >= limit:
            return year
    return None
