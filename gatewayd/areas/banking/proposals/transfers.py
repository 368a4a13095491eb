"""Which bank transaction is the other end of a transfer: the same amount on another own account within five days.

Where the other account is in another currency amounts say little, since nobody knows the rate. So a line is proposed
only where the bank wrote the other amount on one of the two; where the rate is near that of the last transfer that
people matched; or where one of the two says that it is a transfer.
"""

import datetime
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from typing import NamedTuple

from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.imports.import_runs import VISIBLE
from gatewayd.money import canonical, exponent
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


_CANDIDATES = 10  # Chosen: of one account, the earliest within the days
_MOST_LINES = 50  # Chosen: in which an earlier transfer is looked for
_NEAR = Decimal("0.05")  # Chosen: rates move less than this between transfers, and a bank's margin is within it
_SHOWN = Context(prec=6)
_WRITTEN, _KNOWN_RATE, _SAID = 80, 66, 40  # Chosen
_WORDS = ("transfer", "exchange", "currency", "fx")

_SELECT_FOREIGN_ACCOUNTS = """
SELECT id, legal_entity_id, currency FROM bank_accounts
WHERE org_id = :org_id AND currency <> :currency ORDER BY id LIMIT :count
"""
_SELECT_FOREIGN_OPPOSITE = f"""
{bank_lines.LINES} AND account_id = :account_id AND lines.allocated <> lines.amount AND lines.status = 'booked'
    AND lines.allocated = 0 AND date >= :first AND date <= :last AND lines.amount * :sign > 0
ORDER BY date, lines.id LIMIT :count
"""
_SELECT_WRITTEN = """
SELECT original_amount, original_currency FROM bank_transactions WHERE org_id = :org_id AND id = :id LIMIT 1
"""
_SELECT_RATE = f"""
SELECT own.amount, theirs.amount
FROM (
    SELECT id, date FROM bank_transactions
    WHERE org_id = :org_id AND account_id = :account_id AND allocated = amount AND status = 'booked' AND {VISIBLE}
    ORDER BY date DESC, id DESC LIMIT :lines
) AS lines CROSS JOIN allocations AS own CROSS JOIN allocations AS theirs
WHERE own.org_id = :org_id AND own.source_id = lines.id AND own.counterpart_id IS NOT NULL
    AND theirs.org_id = :org_id AND theirs.source_id = own.counterpart_id AND theirs.counterpart_id = own.source_id
    AND theirs.currency = :currency
ORDER BY own.date DESC, own.id DESC LIMIT 1
"""


class Account(NamedTuple):
    """An account of one's own. `legal_entity_id` None: it names no legal entity."""

    id: str
    legal_entity_id: str | None


class Match(NamedTuple):
    """A line at the other end, how sure that is, and why."""

    counterpart: BankLine
    score: int
    reason: str


class _ForeignAccount(NamedTuple):
    id: str
    legal_entity_id: str | None
    currency: str


def accounts_in(tx: ReadTx, currency: str) -> list[Account]:
    """The own accounts of a currency, at most `MOST_ACCOUNTS`."""
    return [Account(*row) for row in tx.rows(_SELECT_ACCOUNTS, currency=currency, count=MOST_ACCOUNTS)]


def matches(tx: ReadTx, line: BankLine, accounts: Sequence[Account]) -> list[Match]:
    """Lines that may be the other end of one of which nothing is allocated, the likeliest first."""
    if line.allocated:
        return []
    opposites = list(_opposites(tx, line, accounts))
    alone = len(opposites) == 1
    rated = [Match(other, _score(line, other, alone), _reason(line, other)) for other in opposites]
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


# -- into another currency


class Exchanges:
    """Looks for other ends in other currencies. For all lines of one answer it looks everything up once."""

    def __init__(self, tx: ReadTx) -> None:
        self._tx = tx
        self._accounts: dict[str, list[_ForeignAccount]] = {}
        self._rates: dict[tuple[str, str], Decimal | None] = {}

    def matches(self, line: BankLine) -> list[Match]:
        """Lines that may be the other end of one of which nothing is allocated, the likeliest first."""
        if line.allocated:
            return []
        rated = [match for other in self._opposites(line) for match in self._rated(line, other)]
        if len(rated) > 1:
            rated = [match._replace(score=max(match.score - 25, 1)) for match in rated]
        return sorted(rated, key=lambda match: -match.score)

    def _opposites(self, line: BankLine) -> Iterator[BankLine]:
        day, reach = datetime.date.fromisoformat(line.date), datetime.timedelta(days=DAYS)
        window = {"first": (day - reach).isoformat(), "last": (day + reach).isoformat()}
        for account in self._accounts_beside(line.currency):
            owners = {account.legal_entity_id, line.legal_entity_id} - {None}
            if len(owners) <= 1:
                sign = -1 if line.amount > 0 else 1
                rows = self._tx.rows(
                    _SELECT_FOREIGN_OPPOSITE, account_id=account.id, sign=sign, count=_CANDIDATES, **window
                )
                yield from map(bank_lines.of_row, rows)

    def _accounts_beside(self, currency: str) -> list[_ForeignAccount]:
        if currency not in self._accounts:
            rows = self._tx.rows(_SELECT_FOREIGN_ACCOUNTS, currency=currency, count=MOST_ACCOUNTS)
            self._accounts[currency] = [_ForeignAccount(*row) for row in rows]
        return self._accounts[currency]

    def _rated(self, line: BankLine, other: BankLine) -> Iterator[Match]:
        score, why = self._sign_of(line, other)
        days = abs((datetime.date.fromisoformat(line.date) - datetime.date.fromisoformat(other.date)).days)
        if score:
            when = "on the same day" if days == 0 else "a day apart" if days == 1 else f"{days} days apart"
            way = "came into" if other.amount > 0 else "went out of"
            rate = f"1 {line.currency} would be {implied_rate(line, other)} {other.currency}"
            reason = f"{other.rest} {other.currency} {way} another of your accounts, {when}: {rate}; {why}."
            yield Match(other, score - 3 * days, reason)

    def _sign_of(self, line: BankLine, other: BankLine) -> tuple[int, str]:
        """How sure it is that both are one transfer, whatever their days, and why; 0: nothing says so."""
        if self._is_written_on(line, other) or self._is_written_on(other, line):
            return _WRITTEN, "the bank wrote both amounts"
        known = self._known_rate(line, other)
        if known is not None:
            near = abs(_rate(line, other) - known) <= known * _NEAR
            return (_KNOWN_RATE, "it is near the rate of the last one") if near else (0, "")
        says = any(
            either.type == "transfer" or any(word in either.text.split() for word in _WORDS) for either in (line, other)
        )
        return (_SAID, "one of both says that it is a transfer") if says else (0, "")

    def _is_written_on(self, line: BankLine, other: BankLine) -> bool:
        row = self._tx.row(_SELECT_WRITTEN, id=line.id)
        return row is not None and row[0] is not None and (abs(row[0]), row[1]) == (other.rest.minor, other.currency)

    def _known_rate(self, line: BankLine, other: BankLine) -> Decimal | None:
        """The rate of the last transfer between the other's account and this currency: its money for one of this."""
        key = (other.account_id, line.currency)
        if key not in self._rates:
            values = {"account_id": other.account_id, "currency": line.currency, "lines": _MOST_LINES}
            rates = [
                _quotient(its, other.currency, ours, line.currency)
                for its, ours in self._tx.rows(_SELECT_RATE, **values)
            ]
            self._rates[key] = rates[0] if rates else None
        return self._rates[key]


def implied_rate(line: BankLine, other: BankLine) -> str:
    """Units of the other's currency for one of the line's, to six significant digits."""
    return canonical(f"{_SHOWN.plus(_rate(line, other)):f}")


def _rate(line: BankLine, other: BankLine) -> Decimal:
    return _quotient(other.rest.minor, other.currency, line.rest.minor, line.currency)


def _quotient(amount: int, currency: str, other_amount: int, other_currency: str) -> Decimal:
    """The quotient of two amounts, which are given in minor units, as one of major units."""
    return Decimal(amount).scaleb(-exponent(currency)) / Decimal(other_amount).scaleb(-exponent(other_currency))
