"""The result of a business over a range of days: its books, from allocations, invoices and bills (Domain C1).

The range is cut into spans: in each the standing towards VAT is one, and no bucket or tax year begins within. Every
entry counts on one day alone, so that spans add up to the range, however it is cut.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gatewayd.ledger.allocating import categories
from gatewayd.ledger.dates.date_ranges import DateRange, cut, recurring
from gatewayd.ledger.dates.tax_calendar import YEAR_STARTS, tax_year_of
from gatewayd.ledger.results import allocated_money, bad_debts, billed_costs, invoiced_income, rents_accrued
from gatewayd.ledger.results.allocated_money import Account, Evidence, Scope
from gatewayd.ledger.results.billed_costs import BillEntry
from gatewayd.ledger.results.invoiced_income import Entry
from gatewayd.ledger.results.profit_and_loss import Books, Statement
from gatewayd.ledger.results.rents_accrued import Rents
from gatewayd.store import ReadTx


class Beside(NamedTuple):
    """What counts beside allocations: invoices, bills, and on accruals the rents that fall due."""

    invoiced: Sequence[Entry]
    rents: Rents
    billed: Sequence[BillEntry] = ()


class Result(NamedTuple):
    """The books of each span of a range, oldest first; `beside` is what counts in them that is no allocation."""

    account: Account
    date_range: DateRange
    spans: Sequence[tuple[DateRange, Books]]
    beside: Beside
    evidence: Evidence

    @property
    def invoiced(self) -> Sequence[Entry]:
        """What invoices count for."""
        return self.beside.invoiced

    def statement(self, part: DateRange | None = None) -> Statement:
        """The profit and loss account of the range, or of a bucket of it."""
        first, last = part or self.date_range
        inside = (books for span, books in self.spans if first <= span.first and span.last <= last)
        return Books().merge(inside).statement(self.account.business_type)


def compute(
    tx: ReadTx,
    account: Account,
    date_range: DateRange,
    buckets: Iterable[DateRange] = (),
    beside: Beside | None = None,
) -> Result:
    """The result of a range that `buckets` may divide. `beside` None: what counts of the business as a whole.

    Raises `Problem` `currency_mismatch` for foreign money, or a foreign invoice, without a rate.
    """
    starts = [bucket.first for bucket in buckets]
    ranges = cut(date_range, [*starts, *account.vat.changes(), *recurring(date_range, [YEAR_STARTS])])
    spans = [(span, Books()) for span in ranges]
    evidence = Evidence()
    for span, books in spans:
        allocated_money.add_span(tx, account, span, books, evidence)
    firsts = [span.first for span in ranges]
    beside = _beside(tx, account, date_range) if beside is None else beside
    counted = [(entry.date, entry.posting) for entry in beside.invoiced]
    counted += [(entry.date, entry.posting) for entry in beside.rents.entries]
    counted += [(entry.date, entry.posting) for entry in beside.billed]
    for date, posting in counted:
        spans[bisect_right(firsts, date) - 1][1].post(posting)
    for entry in beside.billed:
        _prove(account, entry, evidence)
    return Result(account, date_range, spans, beside, evidence)


def _prove(account: Account, entry: BillEntry, evidence: Evidence) -> None:
    """Whether an expense that was billed has a document."""
    category, amount, _ = entry.posting
    if amount > 0 and categories.kind_of(category, account.business_type) == "expense":
        evidence.add(amount, amount if entry.is_documented else 0, int(not entry.is_documented))


def _beside(tx: ReadTx, account: Account, date_range: DateRange) -> Beside:
    """Raises `Problem` `currency_mismatch`."""
    invoiced = [*invoiced_income.entries(tx, account, date_range), *bad_debts.entries(tx, account, date_range)]
    billed = list(billed_costs.entries(tx, account, date_range))
    return Beside(invoiced, rents_accrued.of_account(tx, account, date_range), billed)


def compute_parts(
    tx: ReadTx,
    account: Account,
    date_range: DateRange,
    property_ids: Iterable[str | None],
    buckets: Sequence[DateRange] = (),
    beside: Beside | None = None,
) -> Iterator[Result]:
    """The result of each property of a business, and for None of what names no property. They add up to its result.

    `beside` is that of the whole business, as in `compute`. Raises `Problem` as `compute` does.
    """
    by_property: dict[str | None, list[Entry]] = {}
    beside = _beside(tx, account, date_range) if beside is None else beside
    for entry in beside.invoiced:
        by_property.setdefault(entry.property_id, []).append(entry)
    for property_id in property_ids:
        scope: Scope = "no_property" if property_id is None else "property"
        part = account._replace(scope=scope, property_id=property_id)
        billed = [entry for entry in beside.billed if entry.property_id == property_id]
        own = Beside(by_property.get(property_id, []), beside.rents.of(property_id), billed)
        yield compute(tx, part, date_range, buckets, own)


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


class DatedLimit(NamedTuple):
    """What holds from an ISO date on."""

    first: str
    limit: int


_CONSOLIDATED_EXPENSES = (
    DatedLimit("2024-04-06", 90_000_00),  # MTD guide, consolidated expenses: turnover below 90,000
)


def consolidated_expenses_limit(date: str) -> int | None:
    """The turnover of a tax year below which expenses may be one figure; None where the table does not say."""
    return next((row.limit for row in reversed(_CONSOLIDATED_EXPENSES) if row.first <= date), None)
