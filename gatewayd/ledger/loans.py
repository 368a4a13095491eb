"""Mortgages as loans: what is computed of them follows from what stands in their rows. Reads only."""

import msgspec

from gatewayd.ledger.amortising import Balance, Loan, rates_of
from gatewayd.money import to_minor
from gatewayd.store import ReadTx

_SELECT_ONE = """
SELECT currency, type, original_amount, start_date, term_months, monthly_payment, rate_history, rate_end_date,
    reversion_rate, balance_history, redeemed_date
FROM mortgages WHERE org_id = :org_id AND id = :id
"""


class _Step(msgspec.Struct, rename="camel"):
    from_date: str
    interest_rate: str


class _Stated(msgspec.Struct, rename="camel"):
    date: str
    amount: str
    reaches_back: bool = True


_steps, _stated = msgspec.json.Decoder(list[_Step]), msgspec.json.Decoder(list[_Stated])


def find(tx: ReadTx, mortgage_id: str) -> Loan | None:
    """The loan that a mortgage is; None where the organization has no such one."""
    row = tx.row(_SELECT_ONE, id=mortgage_id)
    if row is None:
        return None
    currency, type_, original, start, term_months, payment, *rates, balances, redeemed = row
    history, rate_end_date, reversion_rate = rates
    steps = ((step.from_date, step.interest_rate) for step in _steps.decode(history))
    return Loan(
        type=type_,
        original=original,
        start=start,
        term_months=term_months,
        payment=payment,
        rates=rates_of(steps, rate_end_date, reversion_rate),
        balances=tuple(_balance(said, currency) for said in _stated.decode(balances)),
        redeemed=redeemed,
    )


def _balance(said: _Stated, currency: str) -> Balance:
    return Balance(said.date, to_minor(said.amount, currency), said.reaches_back)
