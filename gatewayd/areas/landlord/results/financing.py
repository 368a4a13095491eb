"""What was repaid of loans on a property, and the interest on its mortgages by where it comes from. Reads only.

Capital counts on the day of the money, on either basis.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.ledger.allocating.allocation_shapes import InterestSource
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results.allocated_money import (
    BY_BILL,
    BY_MONEY,
    FIGURE_COUNT,
    FIGURES,
    OF_PROPERTY,
    WITHOUT_BILL,
    Account,
    Basis,
    convert,
    money_of,
    posting_of,
)
from gatewayd.store import ReadTx

_SELECT_CAPITAL = """
SELECT date, mortgage_id, direction, amount, currency, fx_rate FROM allocations
WHERE org_id = :org_id AND property_id = :property_id AND date BETWEEN :first AND :last AND purpose = 'loan_capital'
"""
# what no instalment took of a payment (`loan_payments`)
_SELECT_UNEXPLAINED = """
SELECT mortgage_id, count(id) FROM allocations
WHERE org_id = :org_id AND property_id = :property_id AND date BETWEEN :first AND :last AND purpose = 'other'
    AND mortgage_id IS NOT NULL
GROUP BY mortgage_id ORDER BY mortgage_id
"""
_INTEREST = f"SELECT {FIGURES}, mortgage_id, interest_source {OF_PROPERTY} AND interest_source IS NOT NULL"
_SELECT_INTEREST: Final[Mapping[Basis, tuple[str, ...]]] = {
    "cash": (f"{_INTEREST} AND {BY_MONEY}",),
    "accruals": (f"{_INTEREST} AND {WITHOUT_BILL}", f"{_INTEREST} AND {BY_BILL}"),
}


class Repaid(NamedTuple):
    """Capital of a loan that was repaid on an ISO date; borrowed anew below zero. Minor units."""

    date: str
    mortgage_id: str | None
    amount: int


class Financing(NamedTuple):
    """What the loans on a property took. `interest` is by mortgage and source; `without_rate` counts what is foreign
    money whose rate nobody said, and no part of it. `unexplained` counts payments of more than was due by mortgage."""

    repaid: Sequence[Repaid]
    interest: Mapping[tuple[str, InterestSource], int]
    without_rate: int
    unexplained: Mapping[str, int]

    def capital(self, part: DateRange) -> int:
        """What was repaid in some days."""
        return sum(one.amount for one in self.repaid if part.first <= one.date <= part.last)


def of_property(tx: ReadTx, account: Account, whole: DateRange) -> Financing:
    """The loans on the property of an account. Raises `Problem` `currency_mismatch`."""
    asked = {**account.whose, **whole._asdict()}
    repaid, without_rate = [], 0
    for date, mortgage_id, direction, amount, currency, fx_rate in tx.rows(_SELECT_CAPITAL, **asked):
        if currency != account.currency:
            if fx_rate is None:
                without_rate += 1
                continue
            amount = convert(amount, fx_rate, currency, account.currency)
        repaid.append(Repaid(date, mortgage_id, amount if direction == "out" else -amount))
    interest: dict[tuple[str, InterestSource], int] = {}
    for sql in _SELECT_INTEREST[account.basis]:
        for row in tx.rows(sql, **asked):
            mortgage_id, source = row[FIGURE_COUNT:]
            posting = posting_of(account, money_of(row[:FIGURE_COUNT], account.basis))
            key = (mortgage_id, source)
            interest[key] = interest.get(key, 0) + posting.amount
    return Financing(repaid, interest, without_rate, dict(tx.rows(_SELECT_UNEXPLAINED, **asked)))
