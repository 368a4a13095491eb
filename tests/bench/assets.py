"""What a trade costs with a long history behind it, and what a look at many holdings costs. In process, without a disk.

Two histories of one instrument, a short and a long one, are asked in turn. A trade goes through the operation, as a
request does once it is decoded: checks, the stored row, the pool, the account, cash.
"""

import datetime
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.transactions import TRANSACTIONS
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.pools.held import HeldOn, Whose
from gatewayd.areas.assets.transactions.operations import create_transaction
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.store import WriteTx
from tests.areas.assets.holdings import Holdings
from tests.bench.measure import Effort, Sample, Samples
from tests.bench.report import Figure, Report, at_most
from tests.support.store import MemoryStore, migrated_image

SMALL, LARGE = 1_000, 200_000
SMALL_DAYS, LARGE_DAYS = 1_000, 3_000  # trades of a day count as one
INSTRUMENTS = 500
TIMES = 40
BATCH = 20_000
TODAY = datetime.date(2026, 11, 20)
Ask = Callable[[], object]


class Subject:
    """A portfolio with so many trades; the last instrument is the one that is asked about."""

    def __init__(self, trades: int, days: int, instruments: int) -> None:
        self.trades = trades
        self.holdings = Holdings(MemoryStore(migrated_image()))
        self._names = itertools.count()
        shares = [self.holdings.instrument() for _ in range(instruments - 1)] + [self.holdings.share]
        rows = self._rows(trades, days, shares)
        while batch := list(itertools.islice(rows, BATCH)):
            self.holdings.write(lambda tx, batch=batch: _store(tx, self.holdings, batch))

    def _rows(self, trades: int, days: int, shares: list[str]) -> Iterator[dict[str, Any]]:
        """Three of four are purchases; sales of 30 days are matched with them."""
        for number in range(trades):
            day = TODAY - datetime.timedelta(days=1 + days - number * days // trades)
            selling = number // len(shares) % 4 == 3
            share = shares[-1 - number % len(shares)]
            yield {"type": "sell" if selling else "buy", "date": day.isoformat(), "instrument": share}

    def create(self, **values: Any) -> str:
        """Enter a transaction through its operation."""
        request = CreateTransaction(account_id=self.holdings.account, **values)
        return self.holdings.write(lambda tx: create_transaction(tx, self.holdings.caller, request).id)

    def buy(self, days_ago: int) -> str:
        day = TODAY - datetime.timedelta(days=days_ago)
        return self.create(
            type="buy", trade_date=day, instrument_id=self.holdings.share, quantity="7", unit_price="3.21", fees="1.50"
        )

    def asks(self) -> dict[str, Ask]:
        """What is measured, by name."""
        bought: list[str] = []

        def reverse() -> None:
            self.create(type="reversal", trade_date=TODAY, reverses_transaction_id=bought.pop())

        def look() -> None:
            whose = Whose(self.holdings.person)
            self.holdings.store.read(lambda tx: HeldOn(tx, whose, tx.today).pools(), self.holdings.org_id)

        return {
            "append": lambda: bought.append(self.buy(0)),
            "reverse": reverse,
            "10 days back": lambda: self.buy(10),
            "position": look,
        }


def measure_assets(effort: Effort, report: Report) -> None:
    """One ratio for each of what may be asked."""
    few, many = Subject(SMALL, SMALL_DAYS, 1), Subject(LARGE, LARGE_DAYS, 1)
    samples: Samples = {}
    asks = [(subject.trades, subject.asks()) for subject in (few, many)]
    for _ in range(effort.rounds):
        for trades, by_name in asks:
            for name, ask in by_name.items():
                samples.setdefault(f"{name}, {trades:,}", []).append(_sample(ask))
    figures = [Figure(f"{name}: {LARGE:,} / {SMALL:,}", _ratios(samples, name), at_most(1.3)) for name in asks[0][1]]
    report.add(f"Assets: one instrument with {SMALL:,} and {LARGE:,} trades", samples, figures)
    wide = Subject(LARGE, LARGE_DAYS, INSTRUMENTS)
    title = f"held today, {INSTRUMENTS} of {LARGE:,}"
    taken = {title: [_sample(lambda: _held(wide), 5) for _ in range(effort.rounds)]}
    report.add(f"Assets: {LARGE:,} trades of {INSTRUMENTS} instruments", taken, [])


def _held(subject: Subject) -> None:
    holdings = subject.holdings
    whose = Whose(holdings.person, portfolio_id=holdings.portfolio)
    found = holdings.store.read(lambda tx: list(HeldOn(tx, whose, tx.today).accounts()), holdings.org_id)
    assert len(found) == INSTRUMENTS


def _ratios(samples: Samples, name: str) -> list[float]:
    pairs = zip(samples[f"{name}, {LARGE:,}"], samples[f"{name}, {SMALL:,}"], strict=True)
    return [large.cpu_us / small.cpu_us for large, small in pairs]


def _sample(ask: Ask, times: int = TIMES) -> Sample:
    before, started = time.process_time(), time.perf_counter()
    for _ in range(times):
        ask()
    spent, passed = time.process_time() - before, time.perf_counter() - started
    return Sample(requests=times, user_us=spent * 1e6 / times, system_us=0.0, requests_per_second=times / passed)


def _store(tx: WriteTx, holdings: Holdings, batch: list[dict[str, Any]]) -> None:
    account = ACCOUNTS.get(tx, holdings.account)
    template = holdings.stored(tx, "buy", batch[0]["date"], 10, "31.40", account=account.id)
    rows = [
        TRANSACTIONS.insert(
            tx,
            TRANSACTIONS.new(
                tx,
                None,
                **{
                    **{name: getattr(template, name) for name in template.__struct_fields__},
                    "type": one["type"],
                    "trade_date": one["date"],
                    "instrument_id": one["instrument"],
                },
            ),
        )
        for one in batch
    ]
    recording.record(tx, rows)
