"""What was held and what was put in, day by day, and what that was worth (Domain C11). Reads only.

Values at the ends of a range are by recorded prices alone, as those of positions are. Between them, where values only
divide the range into links, prices of trades count too.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.assets.performance.records import Entry, Price, Records, Subject
from gatewayd.areas.assets.pools.exact import quantity_of
from gatewayd.areas.assets.pools.held import ratio_between
from gatewayd.areas.assets.positions.valuing import Valuing
from gatewayd.clock import days_after
from gatewayd.ledger.exchange.exchange_rates import STALE_DAYS
from gatewayd.money import exponent
from gatewayd.store import ReadTx


class Worth(NamedTuple):
    """What is held at the end of a day, in major units, and how much of it has no price, an old one, or a trade's."""

    value: Fraction
    unpriced: int = 0
    stale: int = 0
    traded: int = 0


class Move(NamedTuple):
    """What is put in on an ISO date, or taken out where it is below 0; None: nobody knows what it is worth.

    `at_amount`: it came or went in kind without a price of the day, and counts at the amount that was entered.
    """

    date: str
    amount: Fraction | None
    at_amount: bool = False


class History:
    """The past of a subject. `with_cash`: deposits put money in, and what lies in cash is held."""

    def __init__(self, tx: ReadTx, subject: Subject, records: Records, *, with_cash: bool) -> None:
        self._tx, self._subject, self._records, self._with_cash = tx, subject, records, with_cash
        self._valuing = Valuing(tx, subject.last)

    def worth(self, date: str, *, by_trades: bool = False) -> Worth:
        """What is held at the end of an ISO date, with cash where that counts."""
        self._valuing = Valuing(self._tx, date)
        held: dict[str, Fraction] = defaultdict(Fraction)
        for (_, instrument_id), days in self._records.held.items():
            place = bisect_right(days, date, key=lambda day: day[0])
            if place:
                since, quantity = days[place - 1]
                held[instrument_id] += quantity * ratio_between(self._records.listed[instrument_id].splits, since, date)
        worths = [self._valued(id_, units, date, by_trades=by_trades) for id_, units in held.items() if units]
        if self._with_cash:
            worths += self._cash(date)
        return Worth(
            value=sum((worth.value for worth in worths), Fraction(0)),
            unpriced=sum(worth.unpriced for worth in worths),
            stale=sum(worth.stale for worth in worths),
            traded=sum(worth.traded for worth in worths),
        )

    def _valued(self, instrument_id: str, units: Fraction, date: str, *, by_trades: bool) -> Worth:
        of = self._records.listed[instrument_id]
        price, trade = _latest_price(of.prices, date), _latest_price(of.trades, date) if by_trades else None
        traded = trade is not None and (price is None or price.date < trade.date)
        price = trade if traded else price
        rate = None if price is None else self._valuing.rate(price.currency, self._subject.base)
        if price is None or rate is None:
            return Worth(Fraction(0), unpriced=1)
        each = price.each / ratio_between(of.splits, price.date, date)
        stale = price.date < days_after(date, -STALE_DAYS) or rate.is_stale(date)
        return Worth(units * each * rate.rate, stale=int(stale), traded=int(traded))

    def _cash(self, date: str) -> Iterator[Worth]:
        balances: dict[str, int] = defaultdict(int)
        for entry in self._records.entries:
            if entry.date <= date:
                balances[entry.currency] += entry.net
        for currency, balance in balances.items():
            rate = self._valuing.rate(currency, self._subject.base)
            if rate is None:
                yield Worth(Fraction(0), unpriced=int(balance != 0))
            elif balance:
                value = Fraction(balance, 10 ** exponent(currency)) * rate.rate
                yield Worth(value, stale=int(rate.is_stale(date)))

    def moves(self) -> Iterator[Move]:
        """What was put in and taken out, oldest first."""
        for entry in self._records.entries:
            yield from self._in_cash(entry)
            yield from self._in_kind(entry)

    def first_day(self) -> str | None:
        """The day of the first entry of the subject; None: there is none."""
        of = self._subject.instrument_id
        for entry in self._records.entries:
            if of is None or of in (entry.instrument_id, entry.from_instrument_id):
                return entry.date
        return None

    def _in_cash(self, entry: Entry) -> Iterator[Move]:
        if self._with_cash:
            if entry.type in ("deposit", "withdrawal"):
                yield Move(entry.date, entry.in_base(entry.gross or 0) * (1 if entry.type == "deposit" else -1))
        elif entry.instrument_id is not None and entry.net:
            # what a merger pays is paid for the old shares
            paid_for = entry.from_instrument_id or entry.instrument_id
            if self._subject.instrument_id in (None, paid_for):
                yield Move(entry.date, entry.in_base(-entry.net))

    def _in_kind(self, entry: Entry) -> Iterator[Move]:
        of = self._subject.instrument_id
        if entry.type in ("transfer_in", "transfer_out", "opening_position"):
            if entry.counter not in self._subject.accounts and of in (None, entry.instrument_id):
                yield self._shares(entry, came=entry.type != "transfer_out")
        elif entry.type in ("spin_off", "merger") and of and of in (entry.instrument_id, entry.from_instrument_id):
            yield self._shares(entry, came=of == entry.instrument_id)

    def _shares(self, entry: Entry, *, came: bool) -> Move:
        """Shares at what they are worth on the day; without a price of it, at the amount that was entered."""
        self._valuing = Valuing(self._tx, entry.date)
        worth = self._valued(entry.instrument_id or "", quantity_of(entry.quantity or "0"), entry.date, by_trades=True)
        sign = 1 if came else -1
        if not worth.unpriced and not worth.stale:
            return Move(entry.date, sign * worth.value)
        if entry.type in ("spin_off", "merger") or not entry.gross:
            return Move(entry.date, None)
        return Move(entry.date, sign * entry.in_base(entry.gross), at_amount=True)


def _latest_price(prices: list[Price], date: str) -> Price | None:
    place = bisect_right(prices, date, key=lambda price: price.date)
    return prices[place - 1] if place else None
