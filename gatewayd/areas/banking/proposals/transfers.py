"""Which bank transaction is the other end of a transfer: the same amount on another own account within five days."""

import datetime
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.store import ReadTx

DAYS = 5
MOST_ACCOUNTS = 30  # Chosen: each costs a look-up for each line
_SAME_AMOUNT = 3  # Chosen: of more on one account the nearest are not worth the question
_SELECT_ACCOUNTS = """
SELECT id, legal_entity_id FROM bank_accounts WHERE org_id = :org_id AND currency = :currency ORDER BY id LIMIT :count
"""
_SELECT_OPPOSITE = f"""
{bank_lines.LINES} AND account_id = :account_id AND amount = :amount AND allocated = 0
    AND lines.status = 'booked' AND date >= :first AND date <= :last
ORDER BY date, lines.id LIMIT :count
"""


class Account(NamedTuple):
    """An own account; None: it names no legal entity."""

    id: str
    legal_entity_id: str | None


class Match(NamedTuple):
    """A line at the other end, how sure that is, and why."""

    counterpart: BankLine
    score: int
    reason: str


def accounts_in(tx: ReadTx, currency: str) -> list[Account]:
    """The own accounts of a currency, at most `MOST_ACCOUNTS`."""
    return [Account(*row) for row in tx.rows(_SELECT_ACCOUNTS, currency=currency, count=MOST_ACCOUNTS)]


def matches(tx: ReadTx, line: BankLine, accounts: Sequence[Account]) -> list[Match]:
    """Lines that may be the other end of one of which nothing is allocated, the likeliest first."""
    if line.allocated:
        return []
    found = list(_opposites(tx, line, accounts))
    alone = len(found) == 1
    rated = [Match(other, _score(line, other, alone), _reason(line, other)) for other in found]
    return sorted(rated, key=lambda match: -match.score)


def _opposites(tx: ReadTx, line: BankLine, accounts: Sequence[Account]) -> Iterator[BankLine]:
    day, reach = datetime.date.fromisoformat(line.date), datetime.timedelta(days=DAYS)
    window = {"first": (day - reach).isoformat(), "last": (day + reach).isoformat()}
    for account in accounts:
        owners = {account.legal_entity_id, line.legal_entity_id} - {None}
        if account.id != line.account_id and len(owners) <= 1:
            rows = tx.rows(_SELECT_OPPOSITE, account_id=account.id, amount=-line.amount, count=_SAME_AMOUNT, **window)
            yield from map(bank_lines.of_row, rows)


def _score(line: BankLine, other: BankLine, alone: bool) -> int:
    score = 84 - 3 * _days(line, other)
    if "transfer" in (line.type, other.type) or "transfer" in line.text:
        score += 10
    return score if alone else score - 25


def _reason(line: BankLine, other: BankLine) -> str:
    days = _days(line, other)
    when = "on the same day" if days == 0 else "a day apart" if days == 1 else f"{days} days apart"
    way = "came into" if other.amount > 0 else "went out of"
    return f"The same amount {way} another of your accounts, {when}."


def _days(line: BankLine, other: BankLine) -> int:
    return abs((datetime.date.fromisoformat(line.date) - datetime.date.fromisoformat(other.date)).days)
