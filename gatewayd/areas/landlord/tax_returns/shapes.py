"""What the property pages of a tax return ask and answer (Domain C2)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.wire import Amount, AmountText, Id, Request, Response
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.results.report_shapes import PnlWarning

RentARoomExemption = Annotated[
    AmountText,
    Meta(
        description="Box 37: what of the rents of lodgers is exempt, 7,500 at most, or half of that where two have it."
    ),
]


class GetPropertyTaxReturn(Request, frozen=True, kw_only=True):
    """Whose return, and for which tax year. Amounts are in pounds: those that no books say, of the year alone.

    `claimPropertyIncomeAllowance` takes the allowance of 1,000 in the place of all expenses.
    """

    legal_entity_id: Id
    tax_year: TaxYear
    claim_property_income_allowance: bool = False
    private_use_adjustment: AmountText = "0"
    balancing_charges: AmountText = "0"
    annual_investment_allowance: AmountText = "0"
    other_capital_allowances: AmountText = "0"
    rent_a_room_exemption: RentARoomExemption = "0"
    losses_brought_forward: AmountText = "0"
    finance_costs_brought_forward: AmountText = "0"


class PropertyReturnBox(Response, frozen=True, kw_only=True):
    """One box of the form, by its number."""

    box: str
    name: str
    amount: Amount


class PropertyTaxReturn(Response, frozen=True, kw_only=True):
    """The boxes of SA105, property in the United Kingdom, with pence; the form takes whole pounds.

    `traditionalAccounting` is box 20.2: accruals. Boxes that have nothing to say are 0.00.
    """

    legal_entity_id: Id
    tax_year: str
    form: Literal["SA105"]
    currency: str
    traditional_accounting: bool
    boxes: list[PropertyReturnBox]
    warnings: list[PnlWarning]
