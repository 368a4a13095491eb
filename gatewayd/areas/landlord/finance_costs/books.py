"""What the books of a person say of a tax year: finance costs of dwellings, and profits of property. Reads only.

Both are the person's own part: of each property by its owners, of what names no property by the business.
"""

from functools import partial
from typing import NamedTuple

from gatewayd.areas.landlord.results import counting, figures, subjects
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.subjects import Source
from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import owner_shares, profit_and_loss, reports, results
from gatewayd.ledger.results.allocated_money import currency_mismatch
from gatewayd.ledger.results.profit_and_loss import Statement
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.taxpayers import businesses
from gatewayd.store import ReadTx

CURRENCY = "GBP"


class FromBooks(NamedTuple):
    """Minor units of GBP; a loss is a profit below zero. `statement` is the person's own account, line by line.

    Profits are after what replaced domestic items, which is deducted of the year (ITTOIA 2005 s311A).
    """

    costs: int
    profits: int
    warnings: list[PnlWarning]
    statement: Statement = Statement((), (), ())
    on_accruals: bool = False


def of_person(tx: ReadTx, legal_entity_id: str, year: DateRange) -> dict[str, FromBooks]:
    """What the books say, by type of property business, each business on its own basis.

    All of a person's businesses of a type are one in law. Raises `Problem` `currency_mismatch`.
    """
    by_type: dict[str, FromBooks] = {}
    for business in businesses.of_entity(tx, legal_entity_id):
        if business.type in PROPERTY_TYPES:
            more = _of_source(tx, subjects.source_of(tx, business.id, None), year)
            of_type = by_type.get(business.type, FromBooks(0, 0, []))
            by_type[business.type] = FromBooks(
                costs=of_type.costs + more.costs,
                profits=of_type.profits + more.profits,
                warnings=[*of_type.warnings, *more.warnings],
                statement=profit_and_loss.combined([of_type.statement, more.statement]),
                on_accruals=of_type.on_accruals or more.on_accruals,
            )
    return by_type


def _of_source(tx: ReadTx, source: Source, year: DateRange) -> FromBooks:
    business = source.business
    if business.currency != CURRENCY:
        raise currency_mismatch("business", business.id, business.currency, CURRENCY)
    ids = [let.id for let in lets.of_business(tx, business.id)]
    shares = owner_shares.of_properties(tx, business.id, business.owner_share_percent, ids)
    shares[None] = owner_shares.of_business(tx, business.id, business.owner_share_percent)
    each: list[Part] = []
    warnings: list[PnlWarning] = []
    spans = [span for each_share in shares.values() for span in each_share.spans(year)]
    parts = results.compute_parts(tx, source.account, year, shares, spans)
    for share, result in zip(shares.values(), parts, strict=True):
        each.append(counting.own_part(share, year, partial(_full_part, result)))
        warnings = warnings or [
            *reports.of_choices(result, business.accounting_basis),
            *reports.of_invoices(tx, result),
        ]
    together = figures.together(each)
    own = figures.of_part(together)
    return FromBooks(
        costs=own.residential_financial_cost,
        profits=own.taxable_profit - figures.replaced_items(together),
        warnings=warnings,
        statement=together.statement,
        on_accruals=source.account.basis == "accruals",
    )


def _full_part(result: Result, days: DateRange) -> Part:
    return Part(result.statement(days), 0)
