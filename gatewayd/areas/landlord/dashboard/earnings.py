"""What businesses with property earned up to a day (Domain C1 and C3). Reads only."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from gatewayd.areas.landlord.dashboard.properties_held import Scope
from gatewayd.areas.landlord.results import counting, figures
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.categories import FINANCE_COSTS, PROPERTY_TYPES
from gatewayd.ledger.dates import tax_calendar
from gatewayd.ledger.dates.date_ranges import DateRange, after, cut, later
from gatewayd.ledger.results import owner_shares, results
from gatewayd.ledger.results.allocated_money import Account
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.profit_and_loss import Statement
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.vat import vat_standing
from gatewayd.store import ReadTx

_SELECT_BUSINESSES = """
SELECT id, legal_entity_id, type, currency, accounting_basis, owner_share_percent, CASE WHEN EXISTS (
        SELECT 1 FROM properties WHERE properties.org_id = :org_id AND properties.business_id = businesses.id
    ) THEN 1 ELSE 0 END
FROM businesses
WHERE org_id = :org_id AND archived_at IS NULL
    AND (CAST(:business_id AS TEXT) IS NULL OR id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR legal_entity_id = :legal_entity_id)
ORDER BY id
"""


class Counting(NamedTuple):
    """What counts: the owner's share of each property, or all of it; and which properties have a value."""

    by_share: bool
    valued: Collection[str]


class Earned(NamedTuple):
    """Of the tax year up to a day: income and expenses; of the twelve months up to it: income less operating costs.

    Minor units of one currency. The operating income is of the properties with a value, and of what names no property.
    `left_out`: businesses whose money cannot be added up for want of a rate of exchange.
    """

    income: int
    expenses: int
    operating_income: int
    left_out: int


class _Parts(NamedTuple):
    """The result of a business, and the results of those properties that do not count by the business's own share."""

    result: Result
    shares: OwnerShares
    apart: dict[str | None, tuple[OwnerShares, Result]]

    def statement(self, days: DateRange, counting_: Counting, ids: Collection[str | None]) -> Statement:
        """What counts of the business in some days; of the properties that count otherwise, those of `ids` alone."""

        def rest(span: DateRange) -> Part:
            others = figures.together(_full_part(result, span) for _, result in self.apart.values())
            return figures.less(_full_part(self.result, span), others)

        each: list[tuple[OwnerShares, Callable[[DateRange], Part]]] = [(self.shares, rest)]
        each += [(its, partial(_full_part, result)) for id_, (its, result) in self.apart.items() if id_ in ids]
        if counting_.by_share:
            return figures.together(counting.own_part(its, days, full) for its, full in each).statement
        return figures.together(full(days) for _, full in each).statement


def up_to(tx: ReadTx, scope: Scope, currency: str, what: Counting) -> Earned:
    """What counts of what the businesses of a scope earned, each on its own basis.

    These are the businesses that let and count in the currency. Chosen: a company's trade that has a property lets, and
    counts with all it does, as its own profit and loss does.
    """
    year = DateRange(tax_calendar.bounds(tax_calendar.tax_year_of(scope.day))[0], scope.day)
    twelve = DateRange(after(later(scope.day, -12)), scope.day)
    all_days = DateRange(min(year.first, twelve.first), scope.day)
    parts = cut(all_days, [year.first, twelve.first])
    income = expenses = operating = left_out = 0
    for id_, entity_id, type_, of, basis, percent, has_property in tx.rows(_SELECT_BUSINESSES, **_scope_values(scope)):
        if of != currency or not (has_property or type_ in PROPERTY_TYPES):
            continue
        account = Account(id_, type_, of, basis, vat_standing.of_entity(tx, entity_id))
        try:
            result = _parts_of(tx, account, percent, parts, what)
        except Problem:
            left_out += 1
            continue
        of_year = result.statement(year, what, result.apart)
        of_twelve = result.statement(twelve, what, what.valued)
        income += of_year.totals.income
        expenses += of_year.totals.expenses
        finance = sum(line.amount for line in of_twelve.expenses if line.category in FINANCE_COSTS)
        operating += of_twelve.totals.net_profit + finance
    return Earned(income, expenses, operating, left_out)


def _parts_of(tx: ReadTx, account: Account, percent: str, parts: Sequence[DateRange], what: Counting) -> _Parts:
    """Raises `Problem` `currency_mismatch`."""
    all_days = DateRange(parts[0].first, parts[-1].last)
    shares = owner_shares.of_business(tx, account.business_id, percent)
    ids = {let.id for let in lets.of_business(tx, account.business_id)}
    alone = ids.difference(what.valued)
    if what.by_share:
        alone |= ids & owner_shares.of_properties(tx, account.business_id, percent).keys()
    its = owner_shares.of_properties(tx, account.business_id, percent, sorted(alone))
    spans = [*parts, *(span for each_share in (shares, *its.values()) for span in each_share.spans(all_days))]
    result = results.compute(tx, account, all_days, spans)
    each = results.compute_parts(tx, account, all_days, its, spans, result.beside)
    return _Parts(result, shares, {id_: (its[id_], part_result) for id_, part_result in zip(its, each, strict=True)})


def _full_part(result: Result, days: DateRange) -> Part:
    return Part(result.statement(days), 0)


def _scope_values(scope: Scope) -> dict[str, object]:
    return {"business_id": scope.business_id, "legal_entity_id": scope.legal_entity_id}
