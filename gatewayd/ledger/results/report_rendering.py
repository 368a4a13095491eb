"""From accounts in minor units to what is served. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from gatewayd.ledger.results import rents_accrued
from gatewayd.ledger.results.allocated_money import Evidence
from gatewayd.ledger.results.profit_and_loss import Line
from gatewayd.ledger.results.report_shapes import ExpenseLine, PnlEvidence, PnlLine, RentDebtors
from gatewayd.money import Money, canonical


def lines(found: Sequence[Line], currency: str) -> list[PnlLine]:
    """Income, or memoranda."""
    return [PnlLine(category=line.category, amount=Money(line.amount, currency)) for line in found]


def expenses(found: Sequence[Line], currency: str) -> list[ExpenseLine]:
    """Expenses, with what tax does not allow of them."""
    return [
        ExpenseLine(
            category=line.category,
            amount=Money(line.amount, currency),
            disallowable=Money(line.disallowable, currency),
        )
        for line in found
    ]


def evidence(found: Evidence, currency: str) -> PnlEvidence:
    """How far expenses are documented. The share is cut to one place: only all of them are 100."""
    percent = None
    if found.expenses > 0:
        percent = canonical(str(Decimal(found.documented * 1000 // found.expenses).scaleb(-1)))
    return PnlEvidence(
        expenses=Money(found.expenses, currency),
        documented=Money(found.documented, currency),
        percent=percent,
        missing=found.missing,
    )


def rent_debtors(found: rents_accrued.RentDebtors, currency: str) -> RentDebtors:
    """What tenants owed, and what became of it."""
    return RentDebtors(**{name: Money(amount, currency) for name, amount in found._asdict().items()})
