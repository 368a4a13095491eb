"""Mortgages as loans: what is computed of them follows from what stands in their rows. Reads only.

With a row stands what is owed after each of its months, so that who asks for many computes none.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gatewayd.ledger.loans.amortising import (
    MONTHS_KEPT,
    Balance,
    Loan,
    balance_on,
    months_until,
    owed_by_month,
    rates_of,
)
from gatewayd.money import to_minor
from gatewayd.store import ReadTx

_COLUMNS = """
currency, type, original_amount, start_date, term_months, monthly_payment, rate_history, rate_end_date, reversion_rate,
    balance_history, redeemed_date
""".strip()
_SELECT_ONE = f"SELECT {_COLUMNS} FROM mortgages WHERE org_id = :org_id AND id = :id"
_RUNNING = "org_id = :org_id AND start_date <= :day AND (redeemed_date IS NULL OR redeemed_date > :day)"
_SAID = "balance_date <= :day"
# of which nothing is ever repaid, and nobody said otherwise
_STANDS = "type = 'interest_only' AND balance_date IS NULL"
_SELECT_KNOWN = f"""
SELECT property_id, CASE WHEN balance_date IS NULL THEN original_amount ELSE current_balance END
FROM mortgages WHERE {_RUNNING} AND ({_SAID} OR {_STANDS})
"""
_SELECT_UNKNOWN = f"""
SELECT id, property_id, currency, start_date, balance_history, owed_by_month
FROM mortgages WHERE {_RUNNING} AND (balance_date > :day OR balance_date IS NULL AND type <> 'interest_only')
"""
_SELECT_NEXT = f"""
SELECT id, owed_by_month, {_COLUMNS} FROM mortgages WHERE org_id = :org_id AND id > :after ORDER BY id LIMIT :count
"""
_WIDTH = 8  # bytes of an amount


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
    return None if row is None else _loan(row)


def balances_on(tx: ReadTx, day: str) -> Iterator[tuple[str, int]]:
    """What is owed on an ISO date on each mortgage that runs: its property, and minor units (Domain C3).

    What was said up to the day is the last word in most rows, and needs neither their histories nor any computing. What
    is computed was so when the row was stored.
    """
    yield from tx.each(_SELECT_KNOWN, day=day)
    for id_, property_id, currency, start, balances, owed in tx.each(_SELECT_UNKNOWN, day=day):
        said = [balance for balance in _stated.decode(balances) if balance.date <= day]
        month = months_until(start, day)
        if said:
            yield property_id, to_minor(said[-1].amount, currency)
        elif owed and month < MONTHS_KEPT:
            yield property_id, _after(owed, month)
        elif (loan := find(tx, id_)) is not None:
            yield property_id, balance_on(loan, day)


def kept(loan: Loan) -> bytes:
    """What is stored with a mortgage: what is owed on it by month, a fixed width each."""
    return b"".join(amount.to_bytes(_WIDTH, "big") for amount in owed_by_month(loan))


def stale(tx: ReadTx, after: str, count: int) -> list[tuple[str, bool]]:
    """The next mortgages after an id, and of each whether what is kept is not what its row gives; empty is not kept."""
    rows = tx.rows(_SELECT_NEXT, after=after, count=count)
    return [(id_, stored not in (b"", kept(_loan(columns)))) for id_, stored, *columns in rows]


def _after(owed: bytes, month: int) -> int:
    """What is owed when so many months have ended, by what is kept."""
    at = min(month * _WIDTH, len(owed) - _WIDTH)
    return int.from_bytes(owed[at : at + _WIDTH], "big")


def _loan(columns: Sequence[Any]) -> Loan:
    currency, type_, original, start, term_months, payment, *rates, balances, redeemed = columns
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
