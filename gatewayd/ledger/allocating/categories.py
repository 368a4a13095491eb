"""What money is for: the categories of allocations and of lines of invoices (Domain C1 and C2). Pure.

They are the lines of HMRC's cumulative updates, under HMRC's own names, and `not_pnl` for what is neither income nor
expense; its `purpose` says what it is instead.
"""

from typing import Final, Literal, get_args

Income = Literal["turnover", "other"]
Expense = Literal[
    "costOfGoods",
    "paymentsToSubcontractors",
    "wagesAndStaffCosts",
    "carVanTravelExpenses",
    "premisesRunningCosts",
    "maintenanceCosts",
    "adminCosts",
    "businessEntertainmentCosts",
    "advertisingCosts",
    "interestOnBankOtherLoans",
    "financeCharges",
    "irrecoverableDebts",
    "professionalFees",
    "depreciation",
    "otherExpenses",
    "consolidatedExpenses",
]
PropertyIncome = Literal[
    "periodAmount", "premiumsOfLeaseGrant", "reversePremiums", "otherIncome", "rentARoomRentsReceived", "taxDeducted"
]
PropertyExpense = Literal[
    "premisesRunningCosts",
    "repairsAndMaintenance",
    "financialCosts",
    "professionalFees",
    "costOfServices",
    "travelCosts",
    "other",
    "residentialFinancialCost",
    "consolidatedExpenses",
    "costOfReplacingDomesticItems",
]
Category = Literal[Income, Expense, PropertyIncome, PropertyExpense, "not_pnl"]
Purpose = Literal[
    "transfer",
    "invoice_payment",
    "bill_payment",
    "loan_capital",
    "loan_payment",
    "vat_payment",
    "tax_payment",
    "drawings",
    "capital_introduced",
    "deposit",
    "rent_written_off",
    "other",
]
"""What is `not_pnl`: between own accounts, on an invoice or a bill (which count themselves), and so on.

`loan_payment` is never kept: it is split into interest and `loan_capital`. `rent_written_off` is no money: it says of
rent that it will not come, and is entered by `landlord.writeOffRent` alone.
"""

INCOME: frozenset[str] = frozenset(get_args(Income))
EXPENSES: frozenset[str] = frozenset(get_args(Expense))
PROPERTY_INCOME: frozenset[str] = frozenset(get_args(PropertyIncome))
PROPERTY_EXPENSES: frozenset[str] = frozenset(get_args(PropertyExpense))
NOT_PNL: Final = "not_pnl"
EXCHANGE: Final = "exchangeDifferences"
"""What payments in other currencies brought more, or with a minus less, than their invoices were worth: income."""
RESTRICTED: Final = "residentialFinancialCost"
"""Finance costs of dwellings, which persons don't deduct: they are relieved at a rate (Domain C2)."""
REPLACED_ITEMS: Final = "costOfReplacingDomesticItems"
"""What replaces furniture and appliances of a dwelling: of the year, no line of the quarters (ITTOIA 2005 s311A)."""
MEMORANDA = frozenset({REPLACED_ITEMS, RESTRICTED, "taxDeducted", "taxTakenOffTradingIncome"})
"""What is told beside the result, and is part of no total."""
PROPERTY_FINANCE = frozenset({"financialCosts", RESTRICTED})
FINANCE_COSTS = PROPERTY_FINANCE | {"interestOnBankOtherLoans", "financeCharges"}
"""What borrowing costs, of property and of trades."""
WHOLLY_DISALLOWABLE = frozenset({"businessEntertainmentCosts", "depreciation"})
"""Disallowable whole, where nobody says otherwise (BIM45000, BIM46901)."""
PROPERTY_TYPES = frozenset({"uk_property", "foreign_property", "property_unspecified"})
"""Types of business that have the lines of Domain C2."""


Kind = Literal["income", "expense", "memorandum"]
"""Where a category stands in a profit and loss account."""


def income_of(business_type: str) -> frozenset[str]:
    """The income lines of a type of business."""
    return PROPERTY_INCOME if business_type in PROPERTY_TYPES else INCOME


def expenses_of(business_type: str) -> frozenset[str]:
    """The expense lines of a type of business. `other` is an expense of property, and income elsewhere."""
    return PROPERTY_EXPENSES if business_type in PROPERTY_TYPES else EXPENSES


def kind_of(category: str, business_type: str) -> Kind:
    """Where a category stands in the account of a type of business.

    What the type does not have, since it was another one when the money was allocated, is not lost: it stands there
    under its own name.
    """
    if category in MEMORANDA:
        return "memorandum"
    if category == EXCHANGE or category in income_of(business_type):
        return "income"
    if category in expenses_of(business_type):
        return "expense"
    return "income" if category in INCOME | PROPERTY_INCOME else "expense"
