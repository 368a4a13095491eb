"""The boxes of SA105, the property pages of a tax return, and what follows from what (Domain C2); minor units.

    38 adjusted profit = 20 + 22 + 23 + 30 + 31 - (24 to 29) - (32 to 37), a loss in 41 instead
    39 losses used     = as much of those brought forward as there is profit
    40 taxable profit  = 38 - 39
    43 to carry on     = losses brought forward - 39 + 41

The property income allowance (ITTOIA 2005 s783B) takes the place of all that is deducted but box 37, and 38 is 20 + 22
+ 23 + 31 - 20.1 - 37. It is taken off all receipts but those of lodgers (s783BB), and makes no loss.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from gatewayd.areas.landlord.finance_costs import books
from gatewayd.areas.landlord.finance_costs.books import CURRENCY, FromBooks
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Amount, AmountText, Id, Request, Response
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.allocating.categories import REPLACED_ITEMS, RESTRICTED
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.calendar.report_ranges import TaxYear
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.profit_and_loss import Statement
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.ledger.taxpayers import owners
from gatewayd.money import Money, to_minor
from gatewayd.store import ReadTx

RentARoomExemption = Annotated[
    AmountText,
    Meta(
        description="Box 37: what of the rents of lodgers is exempt, 7,500 at most, or half of that where two have it."
    ),
]
ALLOWANCE: Final = 1_000_00  # of all property of a person, a year (ITTOIA 2005 s783B)
LODGERS: Final = "rentARoomRentsReceived"
_INCOME: Final[Mapping[str, str]] = {
    "periodAmount": "20",
    "otherIncome": "20",
    LODGERS: "20",
    "premiumsOfLeaseGrant": "22",
    "reversePremiums": "23",
}
_EXPENSES: Final[Mapping[str, str]] = {
    "premisesRunningCosts": "24",
    "repairsAndMaintenance": "25",
    "financialCosts": "26",
    "professionalFees": "27",
    "costOfServices": "28",
}
_OTHER_EXPENSES: Final = "29"
_MEMORANDA: Final[Mapping[str, str]] = {"taxDeducted": "21", REPLACED_ITEMS: "36", RESTRICTED: "44"}
NAMES: Final[Mapping[str, str]] = {
    "20": "Total rents and other income from property",
    "20.1": "Property income allowance",
    "21": "Tax taken off any income in box 20",
    "22": "Premiums for the grant of a lease",
    "23": "Reverse premiums and inducements",
    "24": "Rent, rates, insurance and ground rents",
    "25": "Property repairs and maintenance",
    "26": "Non-residential property finance costs",
    "27": "Legal, management and other professional fees",
    "28": "Costs of services provided, including wages",
    "29": "Other allowable property expenses",
    "30": "Private use adjustment",
    "31": "Balancing charges",
    "32": "Annual investment allowance",
    "35": "All other capital allowances",
    "36": "Costs of replacing domestic items",
    "37": "Rent a Room exempt amount",
    "38": "Adjusted profit for the year",
    "39": "Loss brought forward used against this year's profits",
    "40": "Taxable profit for the year",
    "41": "Adjusted loss for the year",
    "43": "Loss to carry forward",
    "44": "Residential property finance costs",
    "45": "Unused residential property finance costs brought forward",
}
_RECEIPTS: Final = ("20", "22", "23")
_DEDUCTED: Final = ("24", "25", "26", "27", "28", "29", "32", "35", "36")
_FIRST_YEAR: Final = "2020-21"  # Chosen: since then no finance costs of dwellings are deducted
_GIVEN: Final = {
    "privateUseAdjustment": ("private_use_adjustment", "30"),
    "balancingCharges": ("balancing_charges", "31"),
    "annualInvestmentAllowance": ("annual_investment_allowance", "32"),
    "otherCapitalAllowances": ("other_capital_allowances", "35"),
    "rentARoomExemption": ("rent_a_room_exemption", "37"),
    "financeCostsBroughtForward": ("finance_costs_brought_forward", "45"),
    "lossesBroughtForward": ("losses_brought_forward", ""),
}
_NOTHING: Final = FromBooks(0, 0, [])


class GetPropertyTaxReturn(Request, frozen=True, kw_only=True):
    """Whose return, and for which tax year. Amounts are in pounds: what no books say, of the year, none below zero."""

    legal_entity_id: Id
    """The person whose return it is: others have returns of their own."""
    tax_year: TaxYear
    """The tax year, 2020-21 or later."""
    claim_property_income_allowance: bool = False
    """Whether the property income allowance of 1,000 takes the place of all expenses."""
    private_use_adjustment: AmountText = "0"
    """Box 30: the private part of expenses that are deducted whole, which is added back."""
    balancing_charges: AmountText = "0"
    """Box 31: capital allowances to give back, on things that were sold or are used no more."""
    annual_investment_allowance: AmountText = "0"
    """Box 32: what was spent on equipment and the like, as far as the annual investment allowance covers it."""
    other_capital_allowances: AmountText = "0"
    """Box 35: all other capital allowances."""
    rent_a_room_exemption: RentARoomExemption = "0"
    losses_brought_forward: AmountText = "0"
    """Losses of property of earlier years that were not used; they fill boxes 39 and 43."""
    finance_costs_brought_forward: AmountText = "0"
    """Box 45: residential finance costs of earlier years that were not relieved."""


class PropertyReturnBox(Response, frozen=True, kw_only=True):
    """One box of the form."""

    box: str
    """The number of the box on the form, such as `20` or `20.1`."""
    name: str
    """What the form calls it."""
    amount: Amount
    """What goes into it, with pence; 0.00 where it has nothing to say."""


class PropertyTaxReturn(Response, frozen=True, kw_only=True):
    """The boxes of SA105, property in the United Kingdom."""

    legal_entity_id: Id
    """The person whose return it is."""
    tax_year: str
    """The tax year, from 6 April to 5 April."""
    form: Literal["SA105"]
    """SA105, the pages of a Self Assessment return for property in the United Kingdom."""
    currency: str
    """Always GBP."""
    traditional_accounting: bool
    """Box 20.2: whether a business with such property is on accruals, and not on cash basis."""
    boxes: list[PropertyReturnBox]
    """All boxes in the order of the form, with pence; the form takes whole pounds."""
    warnings: list[PnlWarning]
    """What the figures leave out, and what of the allowance would be better or is excluded."""


class OfYear(NamedTuple):
    """What no books say: by box 30, 31, 32, 35, 37 and 45, and the losses brought forward."""

    boxes: Mapping[str, int]
    losses_brought_forward: int


def of_statement(statement: Statement) -> dict[str, int]:
    """The boxes that the books fill: of an expense what tax allows."""
    boxes = dict.fromkeys(NAMES, 0)
    for line in statement.income:
        boxes[_INCOME.get(line.category, "20")] += line.amount
    for line in statement.expenses:
        boxes[_EXPENSES.get(line.category, _OTHER_EXPENSES)] += line.amount - line.disallowable
    for line in statement.memoranda:
        if line.category in _MEMORANDA:
            boxes[_MEMORANDA[line.category]] += line.amount
    return boxes


def filled(statement: Statement, year: OfYear, *, allowance: bool) -> dict[str, int]:
    """All boxes, in the order of the form. `allowance`: that of property income is claimed."""
    boxes = {**of_statement(statement), **year.boxes}
    if allowance:
        boxes |= dict.fromkeys((*_DEDUCTED, "30", "44", "45"), 0)
        boxes["20.1"] = min(ALLOWANCE, max(relievable(statement), 0))
    receipts = sum(boxes[box] for box in _RECEIPTS)
    deducted = sum(boxes[box] for box in (*_DEDUCTED, "20.1", "37"))
    result = receipts + boxes["30"] + boxes["31"] - deducted
    profit, loss = max(result, 0), max(-result, 0)
    used = min(profit, year.losses_brought_forward)
    carried = year.losses_brought_forward - used + loss
    return {**boxes, "38": profit, "39": used, "40": profit - used, "41": loss, "43": carried}


def relievable(statement: Statement) -> int:
    """The receipts that the allowance is taken of: all but those of lodgers."""
    return sum(line.amount for line in statement.income if line.category not in (LODGERS, "taxDeducted"))


def get_property_tax_return(tx: ReadTx, caller: Caller, request: GetPropertyTaxReturn) -> PropertyTaxReturn:
    """Get the figures of a person's property pages, SA105, for a tax year.

    They are the person's own part of property in the United Kingdom, by box, with what no books say as it is given.
    Costs of replaced domestic items are box 36, and residential finance costs box 44. The property income allowance
    is taken where it is claimed; `warnings` tell where it covers all or would leave less to tax.
    """
    days = report_ranges.of_tax_year(request.tax_year)
    if request.tax_year < _FIRST_YEAR:
        raise invalid_field("taxYear", "out_of_range", f"The boxes are those of returns since {_FIRST_YEAR}.")
    owner = owners.find(tx, request.legal_entity_id)
    if owner is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if not owner.is_person:
        raise invalid_field("legalEntityId", "conflict", "SA105 is of persons: others have returns of their own.")
    year = _of_year(request)
    by_type = books.of_person(tx, owner.id, days)
    own = by_type.get("uk_property", _NOTHING)
    claimed = request.claim_property_income_allowance
    boxes = filled(own.statement, year, allowance=claimed)
    return PropertyTaxReturn(
        legal_entity_id=owner.id,
        tax_year=request.tax_year,
        form="SA105",
        currency=CURRENCY,
        traditional_accounting=own.on_accruals,
        boxes=[
            PropertyReturnBox(box=box, name=name, amount=Money(boxes[box], CURRENCY)) for box, name in NAMES.items()
        ],
        warnings=[*own.warnings, *_return_warnings(by_type, year, claimed=claimed)],
    )


def _of_year(request: GetPropertyTaxReturn) -> OfYear:
    """What the request says of the year. Raises `Problem` `validation_failed`."""
    amounts: dict[str, int] = {}
    errors: list[FieldError] = []
    for path, (name, box) in _GIVEN.items():
        try:
            amounts[box] = to_minor(getattr(request, name), CURRENCY)
        except ValueError as error:
            errors.append(FieldError(path, "invalid_decimal", f"{error}."))
            continue
        if amounts[box] < 0:
            errors.append(FieldError(path, "out_of_range", "Expected 0 or more."))
    if errors:
        raise invalid(*errors)
    return OfYear(amounts, amounts.pop(""))


def _return_warnings(by_type: dict[str, FromBooks], year: OfYear, *, claimed: bool) -> Iterator[PnlWarning]:
    own = by_type.get("uk_property", _NOTHING)
    if len(by_type) > 1:
        message = "Property abroad is on pages of its own, SA106, and the property income allowance is one for both."
        yield PnlWarning(code="foreign_property_apart", message=message)
    lodgers = any(line.category == LODGERS and line.amount for line in own.statement.income)
    costly_lodgers = lodgers and not year.boxes["37"]
    if costly_lodgers:
        message = "There are rents of lodgers, and nobody said what of them is exempt: give rentARoomExemption."
        yield PnlWarning(code="rent_a_room_exemption_unknown", message=message)
    plain = filled(own.statement, year, allowance=False)
    excluded = bool(plain["44"] or plain["45"]) or costly_lodgers
    if claimed and excluded:
        message = (
            "The property income allowance is not there for who takes relief for finance costs, or deducts what lodgers"
            " cost (ITTOIA 2005 s783BL, s783BM)."
        )
        yield PnlWarning(code="property_allowance_excluded", message=message)
    if claimed or excluded:
        return
    if 0 < relievable(own.statement) <= ALLOWANCE:
        message = "The property income allowance covers all of the income: nothing is taxed, unless a loss is claimed."
        yield PnlWarning(code="property_allowance_covers_all", message=message)
    elif filled(own.statement, year, allowance=True)["38"] < plain["38"]:
        message = (
            "The property income allowance of 1,000 would leave less to tax: claimPropertyIncomeAllowance takes it."
        )
        yield PnlWarning(code="property_allowance_better", message=message)


OPERATIONS = (
    Operation(
        id="landlord.getPropertyTaxReturn",
        kind="read",
        method="GET",
        path="/landlord/getPropertyTaxReturn",
        scopes=("accounting:read",),
        request=GetPropertyTaxReturn,
        response=PropertyTaxReturn,
        handler=get_property_tax_return,
        held=HeldBy(entity="legal_entity_id"),
        errors=("currency_mismatch",),
        long=True,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000b", "taxYear": "2026-27"},
    ),
)
