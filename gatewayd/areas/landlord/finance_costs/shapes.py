"""What relief for finance costs asks and answers (Domain C2)."""

from typing import Annotated

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Id, Request, Response
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.results.report_shapes import PnlWarning

_INCOME = (
    "Income after losses and reliefs, without savings and dividends, as far as it is above the personal allowance."
)
AboveAllowance = Annotated[AmountText, Meta(description=_INCOME, examples=["26430.00"])]


class GetFinanceCostRelief(Request, frozen=True, kw_only=True):
    """Whose relief, and for which tax year. Amounts are in pounds.

    `financeCosts` and `profits`, which are below zero for a loss, are by default what the books say. Without
    `adjustedTotalIncome` it is no limit.
    """

    legal_entity_id: Id
    tax_year: TaxYear
    adjusted_total_income: AboveAllowance | None = None
    finance_costs_brought_forward: AmountText = "0"
    losses_brought_forward: AmountText = "0"
    finance_costs: AmountText | None = None
    profits: AmountText | None = None


class FinanceCostRelief(Response, frozen=True, kw_only=True):
    """What is taken off a person's tax, and what is carried forward to the next year.

    `financeCosts` and `profits` are of the year alone; `lossesUsed` are of those brought forward.
    """

    legal_entity_id: Id
    tax_year: str
    currency: str
    rate_percent: str
    finance_costs: Amount
    profits: Amount
    losses_used: Amount
    relief: Amount
    finance_costs_carried_forward: Amount
    losses_carried_forward: Amount
    warnings: list[PnlWarning]
