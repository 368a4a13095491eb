"""What the books of a person say of a tax year: finance costs of dwellings, and profits of property. Reads only.

Both are the person's own part: of each property by its owners, of what names no property by the business.
"""

from functools import partial
from typing import NamedTuple

from gatewayd.areas.landlord.results import counting, figures, subjects
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.subjects import Source
from gatewayd.ledger import businesses, lets, owner_shares, report_notices, results
from gatewayd.ledger.allocated_money import currency_mismatch
from gatewayd.ledger.categories import PROPERTY_TYPES
from gatewayd.ledger.date_ranges import DateRange
from gatewayd.ledger.report_shapes import PnlWarning
from gatewayd.ledger.results import Result
from gatewayd.store import ReadTx

CURRENCY = "GBP"


class FromBooks(NamedTuple):
    """Minor units of GBP; a loss is a profit below zero."""

    costs: int
    profits: int
    warnings: list[PnlWarning]


def of_person(tx: ReadTx, legal_entity_id: str, whole: DateRange) -> dict[str, FromBooks]:
    """Over all businesses with property, each on its own basis; those of a type are one in law.

    Raises `Problem` `currency_mismatch`.
    """
    found: dict[str, FromBooks] = {}
    for business in businesses.of_entity(tx, legal_entity_id):
        if business.type in PROPERTY_TYPES:
            more = _of_source(tx, subjects.source_of(tx, business.id, None), whole)
            of_type = found.get(business.type, FromBooks(0, 0, []))
            costs, profits = of_type.costs + more.costs, of_type.profits + more.profits
            found[business.type] = FromBooks(costs, profits, [*of_type.warnings, *more.warnings])
    return found


def _of_source(tx: ReadTx, source: Source, whole: DateRange) -> FromBooks:
    business = source.business
    if business.currency != CURRENCY:
        raise currency_mismatch("business", business.id, business.currency, CURRENCY)
    ids = [let.id for let in lets.of_business(tx, business.id)]
    shares = owner_shares.of_properties(tx, business.id, business.owner_share_percent, ids)
    shares[None] = owner_shares.of_business(tx, business.id, business.owner_share_percent)
    costs = profits = 0
    warnings: list[PnlWarning] = []
    spans = [span for one in shares.values() for span in one.spans(whole)]
    parts = results.compute_parts(tx, source.account, whole, shares, spans)
    for share, result in zip(shares.values(), parts, strict=True):
        own = figures.of_part(counting.own_part(share, whole, partial(_full, result)))
        costs, profits = costs + own.residential_financial_cost, profits + own.taxable_profit
        warnings = warnings or [
            *report_notices.of_choices(result, business.accounting_basis),
            *report_notices.of_invoices(tx, result),
        ]
    return FromBooks(costs, profits, warnings)


def _full(result: Result, days: DateRange) -> Part:
    return Part(result.statement(days), 0)
