"""What is left to allocate on the bank accounts of a legal entity or a business (Domain B9 and C1). Reads only.

Counted are booked lines. Ranges of ISO dates include both ends.
"""

from typing import NamedTuple

from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.imports.hidden_imports import VISIBLE
from gatewayd.ledger.taxpayers.business_accounts import accounts_of
from gatewayd.store import ReadTx

_LEFT = f"""
FROM bank_transactions
WHERE org_id = :org_id AND account_id = :account_id AND date BETWEEN :first AND :last
    AND allocated <> amount AND status = 'booked' AND {VISIBLE}
"""
_SELECT_LINES = f"SELECT count(id), min(id) {_LEFT} AND amount >= :least"
_SELECT_MONEY = f"SELECT currency, count(*), sum(amount - allocated) {_LEFT} GROUP BY currency"
_LEAST = -(1 << 62)  # minor units: every amount


class UnallocatedLines(NamedTuple):
    """How many lines, and the id of one of them; None: there is none."""

    lines: int
    first_id: str | None


class UnallocatedMoney(NamedTuple):
    """How many lines, and what is left of them, minor units, + in and - out."""

    currency: str
    lines: int
    amount: int


def lines(tx: ReadTx, legal_entity_id: str, business_id: str | None, whole: DateRange) -> UnallocatedLines:
    """The lines within a range. `business_id` None: of the entity as a whole."""
    return _count(tx, accounts_of(tx, legal_entity_id, business_id), whole, _LEAST)


def income(tx: ReadTx, legal_entity_id: str, business_id: str, whole: DateRange) -> UnallocatedLines:
    """The same of money that came in."""
    return _count(tx, accounts_of(tx, legal_entity_id, business_id), whole, 1)


def money(tx: ReadTx, legal_entity_id: str, business_id: str, whole: DateRange) -> list[UnallocatedMoney]:
    """What is left of the lines within a range, by currency."""
    sums: dict[str, list[int]] = {}
    for account_id in accounts_of(tx, legal_entity_id, business_id):
        for currency, count, amount in tx.rows(_SELECT_MONEY, account_id=account_id, **whole._asdict()):
            found = sums.setdefault(currency, [0, 0])
            found[0] += count
            found[1] += amount
    return [UnallocatedMoney(currency, *found) for currency, found in sorted(sums.items())]


def _count(tx: ReadTx, account_ids: list[str], whole: DateRange, least: int) -> UnallocatedLines:
    total, first_id = 0, None
    for account_id in account_ids:
        count, id_ = tx.rows(_SELECT_LINES, account_id=account_id, least=least, **whole._asdict())[0]
        total, first_id = total + count, first_id or id_
    return UnallocatedLines(total, first_id)
