"""What businesses with property earned up to a day (Domain C1 and C3). Reads only."""

from typing import NamedTuple

from gatewayd.areas.landlord.dashboard.properties_held import Scope
from gatewayd.errors import Problem
from gatewayd.ledger import results, tax_calendar, vat_standing
from gatewayd.ledger.allocated_money import Account
from gatewayd.ledger.categories import FINANCE_COSTS, PROPERTY_TYPES
from gatewayd.ledger.date_ranges import DateRange, after, cut, later
from gatewayd.store import ReadTx

_SELECT_BUSINESSES = """
SELECT id, legal_entity_id, type, currency, accounting_basis, CASE WHEN EXISTS (
        SELECT 1 FROM properties WHERE properties.org_id = :org_id AND properties.business_id = businesses.id
    ) THEN 1 ELSE 0 END
FROM businesses
WHERE org_id = :org_id AND archived_at IS NULL
    AND (CAST(:business_id AS TEXT) IS NULL OR id = :business_id)
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR legal_entity_id = :legal_entity_id)
ORDER BY id
"""


class Earned(NamedTuple):
    """Of the tax year up to a day: income and expenses; of the twelve months up to it: income less operating costs.

    Minor units of one currency. `left_out`: businesses whose money cannot be added up for want of a rate of exchange.
    """

    income: int
    expenses: int
    operating_income: int
    left_out: int


def up_to(tx: ReadTx, scope: Scope, currency: str) -> Earned:
    """What the businesses of a scope earned that let and count in a currency, each on its own basis.

    Chosen: a company's trade that has a property lets, and counts whole, as its own profit and loss does.
    """
    year = DateRange(tax_calendar.bounds(tax_calendar.tax_year_of(scope.day))[0], scope.day)
    twelve = DateRange(after(later(scope.day, -12)), scope.day)
    whole = DateRange(min(year.first, twelve.first), scope.day)
    parts = cut(whole, [year.first, twelve.first])
    income = expenses = operating = left_out = 0
    for id_, entity_id, type_, of, basis, has_property in tx.rows(_SELECT_BUSINESSES, **_whose(scope)):
        if of != currency or not (has_property or type_ in PROPERTY_TYPES):
            continue
        account = Account(id_, type_, of, basis, vat_standing.of_entity(tx, entity_id))
        try:
            result = results.compute(tx, account, whole, parts)
        except Problem:
            left_out += 1
            continue
        of_year, of_twelve = result.statement(year), result.statement(twelve)
        income += of_year.totals.income
        expenses += of_year.totals.expenses
        finance = sum(line.amount for line in of_twelve.expenses if line.category in FINANCE_COSTS)
        operating += of_twelve.totals.net_profit + finance
    return Earned(income, expenses, operating, left_out)


def _whose(scope: Scope) -> dict[str, object]:
    return {"business_id": scope.business_id, "legal_entity_id": scope.legal_entity_id}
