"""What a look at many lets costs: 2,000 properties, 20,000 tenancies, 200,000 rents. In process, without a disk.

Two of the ten tenancies of a property run, a tenth of these in arrears; eight have ended, all paid or half in arrears.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gatewayd.clock import Instant
from gatewayd.ledger.rents import received
from gatewayd.store import schema
from tests.areas.landlord.test_dashboard import Estate
from tests.bench.measure import Effort, Sample
from tests.bench.report import Figure, Report, at_most
from tests.ledger.lets import LETS, TENANCY
from tests.support.store import MemoryStore, migrated_image

PROPERTIES: Final = 2_000
RUNNING, ENDED = 2, 8  # of each property
RENTS: Final = 10  # of each tenancy
RENT: Final = 500_00
TIMES: Final = 5
_STEPS = '[{"fromDate":"%s","amount":"500.00","notice":null}]'
_FILL = next(one.sql for one in schema.packaged() if one.name.endswith("sum_rents_received.sql"))
Rows = Iterator[dict[str, Any]]


class Portfolio(Estate):
    """All of it; `owing`: of how many former tenants of each property the last rent came in part alone."""

    def __init__(self, owing: int) -> None:
        super().__init__(MemoryStore(migrated_image()))
        self._owing = owing
        now: Instant = self.store.now()
        self._row = {"org_id": self.org_id, "created_at": now, "updated_at": now, "version": 1}
        self._insert("properties", self._properties())
        self._insert("tenancies", itertools.chain.from_iterable(map(self._tenancies, range(PROPERTIES))))
        self._insert("allocations", itertools.chain.from_iterable(map(self._rents, range(PROPERTIES))))
        self.store.connection.execute(_FILL[_FILL.index("INSERT INTO rents_received") :])
        found = self.store.read(lambda tx: received.stale(tx, "", PROPERTIES * (RUNNING + ENDED)), self.org_id)
        assert len(found) == PROPERTIES * (RUNNING + ENDED)
        assert not any(stale for _, stale in found)

    def _insert(self, table: str, rows: Rows) -> None:
        first = next(rows)
        names, marks = ", ".join(first), ", ".join("?" * len(first))
        values = (tuple(row.values()) for row in itertools.chain([first], rows))
        self.store.connection.execute("BEGIN")
        self.store.connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
        self.store.connection.execute("COMMIT")

    def _properties(self) -> Rows:
        for number in range(PROPERTIES):
            own = {"business_id": self.business_id, "purchase_price": 200_000_00}
            yield {"id": f"prop_{number:06}", **self._row, **LETS, **own}

    def _tenancies(self, house: int) -> Rows:
        for number in range(RUNNING + ENDED):
            ended = number >= RUNNING
            start, last = (f"{2016 + number}-01-01", f"{2016 + number}-10-31") if ended else ("2026-01-01", None)
            terms = {"start_date": start, "end_date": last, "last_day": last, "rent_history": _STEPS % start}
            terms |= {"rent_due_day": 1, "rent_total": RENTS * RENT if ended else None}
            named = {"id": f"tcy_{house:06}{number}", "property_id": f"prop_{house:06}"}
            yield {**self._row, **TENANCY, **terms, **named}

    def _rents(self, house: int) -> Rows:
        """Eleven rents of a running tenancy are due: nine of ten have paid them with ten payments."""
        for number, month in itertools.product(range(RUNNING + ENDED), range(RENTS)):
            ended = number >= RUNNING
            year, amount = (2016 + number, RENT) if ended else (2026, RENT + RENT // 10 * ((house + number) % 10 > 0))
            if ended and number < RUNNING + self._owing and month == RENTS - 1:
                amount = RENT // 2
            yield {
                "id": f"alc_{house:06}{number}{month}",
                **self._row,
                "source_type": "manual",
                "legal_entity_id": self.owner,
                "business_id": self.business_id,
                "property_id": f"prop_{house:06}",
                "tenancy_id": f"tcy_{house:06}{number}",
                "date": f"{year}-{month + 1:02}-02",
                "direction": "in",
                "amount": amount,
                "currency": "GBP",
                "vat_amount": 0,
                "disallowable_amount": 0,
                "category": "periodAmount",
                "description": "Rent",
                "matched_by": "user",
                "document_ids": "[]",
            }


def measure_lets(effort: Effort, report: Report) -> None:
    """The dashboard, with few tenancies in arrears and with many."""
    figures, samples = [], {}
    for owing, late in ((0, PROPERTIES * RUNNING // 10), (4, PROPERTIES * RUNNING // 10 + 4 * PROPERTIES)):
        portfolio = Portfolio(owing)
        assert portfolio.dashboard()["arrears"]["count"] == late
        name = f"dashboard, {late:,} in arrears"
        taken = samples[name] = [_sample(portfolio) for _ in range(effort.rounds)]
        figures.append(Figure(name, _milliseconds(taken), at_most(100), "ms"))
    report.add(f"Lets: {PROPERTIES:,} properties with {RUNNING + ENDED} tenancies each", samples, figures)


def _sample(portfolio: Portfolio) -> Sample:
    before, started = time.process_time(), time.perf_counter()
    for _ in range(TIMES):
        portfolio.dashboard()
    spent, passed = time.process_time() - before, time.perf_counter() - started
    return Sample(requests=TIMES, user_us=spent * 1e6 / TIMES, system_us=0.0, requests_per_second=TIMES / passed)


def _milliseconds(samples: Sequence[Sample]) -> list[float]:
    return [sample.cpu_us / 1000 for sample in samples]
