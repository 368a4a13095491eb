"""Mortgages as they are stored. Owns the table `mortgages`. What is owed today is computed when a row is read."""

from typing import Final

from gatewayd.areas.landlord.mortgages.shapes import Mortgage, MortgageStatus
from gatewayd.ledger.loans import loans
from gatewayd.ledger.loans.amortising import Balance, Loan, estimate_on, rates_of
from gatewayd.money import Money, to_minor
from gatewayd.store import ReadTx, Table, WriteTx


def _status(tx: ReadTx, row: Mortgage) -> MortgageStatus:
    return "active" if row.redeemed_date is None or row.redeemed_date > tx.today else "redeemed"


def _estimated_balance(tx: ReadTx, row: Mortgage) -> Money:
    return Money(estimate_on(loan_of(row), tx.today), row.currency)


def loan_of(row: Mortgage) -> Loan:
    """What a mortgage comes to follows from this."""
    steps = ((step.from_date, step.interest_rate) for step in row.rate_history)
    return Loan(
        type=row.type,
        original=row.original_amount.minor,
        start=row.start_date,
        term_months=row.term_months,
        payment=None if row.monthly_payment is None else row.monthly_payment.minor,
        rates=rates_of(steps, row.rate_end_date, row.reversion_rate),
        balances=tuple(
            Balance(said.date, to_minor(said.amount, row.currency), said.reaches_back) for said in row.balance_history
        ),
        redeemed=row.redeemed_date,
    )


MORTGAGES = Table(
    "mortgages",
    Mortgage,
    kind="mortgage",
    prefix="mtg",
    derived={"status": _status, "estimated_balance": _estimated_balance},
    written={"owed_by_month": lambda row: loans.kept(loan_of(row))},
)
OF_PROPERTY_MAX: Final = 200  # Chosen: what a property shows of each kind
_SELECT_OF_PROPERTY = f"{MORTGAGES.select} AND property_id = :property_id ORDER BY id DESC LIMIT :count"
_KEEP_OWED = "UPDATE mortgages SET owed_by_month = :owed_by_month WHERE org_id = :org_id AND id = :id"


def of_property(tx: ReadTx, property_id: str) -> list[Mortgage]:
    """The mortgages of a property, redeemed ones too, the newest first: `OF_PROPERTY_MAX` of them at most."""
    rows = tx.rows(_SELECT_OF_PROPERTY, property_id=property_id, count=OF_PROPERTY_MAX)
    return [MORTGAGES.read(tx, row) for row in rows]


def keep_owed(tx: WriteTx, mortgage_id: str) -> None:
    """Compute what a migration left open. No change that a caller's `expectedVersion` could run into."""
    owed = loans.kept(loan_of(MORTGAGES.get(tx, mortgage_id)))
    tx.run(_KEEP_OWED, id=mortgage_id, owed_by_month=owed)
