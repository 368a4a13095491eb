"""What relief for finance costs asks and answers (Domain C2)."""

from typing import Annotated

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Id, Request, Response
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.results.report_shapes import PnlWarning

_INCOME = (
    "Income after losses and reliefs, without savings and dividends, as far as it is above the personal allowance. "
    "Left out: it is no limit."
)
AboveAllowance = Annotated[AmountText, Meta(description=_INCOME, examples=["26430.00"])]


class GetFinanceCostRelief(Request, frozen=True, kw_only=True):
    """Whose relief, and for which tax year. Amounts are in pounds."""

    legal_entity_id: Id
    """The person whose tax it is: companies, partnerships and trusts are refused."""
    tax_year: TaxYear
    """The tax year, 2020-21 or later."""
    adjusted_total_income: AboveAllowance | None = None
    finance_costs_brought_forward: AmountText = "0"
    """Finance costs of earlier years that were not relieved; of property in the United Kingdom where there is some
    abroad too."""
    losses_brought_forward: AmountText = "0"
    """Losses of property of earlier years that were not used; of property in the United Kingdom where there is some
    abroad too."""
    finance_costs: AmountText | None = None
    """Finance costs of the year for dwellings. Left out: what the books say, the person's own part."""
    profits: AmountText | None = None
    """Profits of the year from property, below zero for a loss. Left out: what the books say, the person's own part."""


class FinanceCostRelief(Response, frozen=True, kw_only=True):
    """What is taken off a person's tax, and what is carried forward to the next year."""

    legal_entity_id: Id
    """The person whose tax it is."""
    tax_year: str
    """The tax year, from 6 April to 5 April."""
    currency: str
    """Always GBP."""
    rate_percent: str
    """The rate of the relief in percent: 20 up to 2026-27, 22 from 2027-28 on."""
    finance_costs: Amount
    """Finance costs of the year for dwellings, without those brought forward."""
    profits: Amount
    """Profits of the year from property, before losses brought forward; below zero for a loss."""
    losses_used: Amount
    """Losses brought forward that the profits of the year take."""
    relief: Amount
    """What is taken off the Income Tax of the year."""
    finance_costs_carried_forward: Amount
    """Finance costs that are not relieved in the year, those brought forward among them."""
    losses_carried_forward: Amount
    """Losses that are not used in the year, with that of the year itself."""
    warnings: list[PnlWarning]
    """What was supposed where nobody said it, and what the books leave out."""
