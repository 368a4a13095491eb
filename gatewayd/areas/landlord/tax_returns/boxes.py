"""The boxes of SA105, and what follows from what (Domain C2). Pure; minor units.

    38 adjusted profit = 20 + 22 + 23 + 30 + 31 - (24 to 29) - (32 to 37), a loss in 41 instead
    39 losses used     = as much of those brought forward as there is profit
    40 taxable profit  = 38 - 39
    43 to carry on     = losses brought forward - 39 + 41

The property income allowance (ITTOIA 2005 s783B) takes the place of all that is deducted but box 37, and 38 is 20 + 22
+ 23 + 31 - 20.1 - 37. It is taken off all receipts but those of lodgers (s783BB), and makes no loss.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gatewayd.ledger.allocating.categories import REPLACED_ITEMS, RESTRICTED
from gatewayd.ledger.results.profit_and_loss import Statement

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


class OfYear(NamedTuple):
    """What no books say: by box 30, 31, 32, 35, 37 and 45, and the losses brought forward."""

    boxes: Mapping[str, int]
    losses_brought_forward: int


def of_statement(statement: Statement) -> dict[str, int]:
    """The boxes that the books fill: of an expense what tax allows."""
    found = dict.fromkeys(NAMES, 0)
    for line in statement.income:
        found[_INCOME.get(line.category, "20")] += line.amount
    for line in statement.expenses:
        found[_EXPENSES.get(line.category, _OTHER_EXPENSES)] += line.amount - line.disallowable
    for line in statement.memoranda:
        if line.category in _MEMORANDA:
            found[_MEMORANDA[line.category]] += line.amount
    return found


def filled(statement: Statement, year: OfYear, *, allowance: bool) -> dict[str, int]:
    """All boxes, in the order of the form. `allowance`: that of property income is claimed."""
    found = {**of_statement(statement), **year.boxes}
    if allowance:
        found |= dict.fromkeys((*_DEDUCTED, "30", "44", "45"), 0)
        found["20.1"] = min(ALLOWANCE, max(relievable(statement), 0))
    receipts = sum(found[box] for box in _RECEIPTS)
    deducted = sum(found[box] for box in (*_DEDUCTED, "20.1", "37"))
    result = receipts + found["30"] + found["31"] - deducted
    profit, loss = max(result, 0), max(-result, 0)
    used = min(profit, year.losses_brought_forward)
    carried = year.losses_brought_forward - used + loss
    return {**found, "38": profit, "39": used, "40": profit - used, "41": loss, "43": carried}


def relievable(statement: Statement) -> int:
    """The receipts that the allowance is taken of: all but those of lodgers."""
    return sum(line.amount for line in statement.income if line.category not in (LODGERS, "taxDeducted"))
