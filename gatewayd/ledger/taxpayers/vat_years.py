"""Years of VAT periods: what was owed in them, and what HMRC said of payments on account (Domain C6).

Owns the tables `vat_years`, what a person said, and `vat_period_liabilities`, what was payable for each closed period.
A year that nobody spoke of is reckoned from the periods, where they are closed one after the other.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gatewayd.clock import months_later
from gatewayd.ledger.dates.months import DAY
from gatewayd.ledger.dates.vat import Method, VatYear
from gatewayd.store import ReadTx, WriteTx

_MONTHS = 12

_SELECT_SAID = """
SELECT end_date, liability, import_vat, method, instalment FROM vat_years
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id ORDER BY end_date
"""
_PUT = """
INSERT INTO vat_years (org_id, legal_entity_id, end_date, liability, import_vat, method, instalment, updated_at)
VALUES (:org_id, :legal_entity_id, :end_date, :liability, :import_vat, :method, :instalment, :now)
ON CONFLICT (org_id, legal_entity_id, end_date) DO UPDATE SET liability = excluded.liability,
    import_vat = excluded.import_vat, method = excluded.method, instalment = excluded.instalment,
    updated_at = excluded.updated_at
"""
_SELECT_KEPT = """
SELECT p.start_date, p.end_date, l.liability
FROM periods AS p JOIN vat_period_liabilities AS l ON l.period_id = p.id AND l.org_id = p.org_id
WHERE p.org_id = :org_id AND p.legal_entity_id = :legal_entity_id AND p.archived_at IS NULL
ORDER BY p.end_date
"""
_SELECT_MISSING = """
SELECT p.id, p.start_date, p.end_date FROM periods AS p
WHERE p.org_id = :org_id AND p.legal_entity_id = :legal_entity_id AND p.type = 'vat_period' AND p.status = 'closed'
    AND p.end_date >= :since AND p.archived_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM vat_period_liabilities AS l WHERE l.period_id = p.id AND l.org_id = p.org_id)
ORDER BY p.end_date
"""
_KEEP = """
INSERT INTO vat_period_liabilities (org_id, period_id, liability) VALUES (:org_id, :period_id, :liability)
"""
_FORGET_OPEN = """
DELETE FROM vat_period_liabilities
WHERE org_id = :org_id AND period_id IN (
    SELECT id FROM periods
    WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND type = 'vat_period' AND status <> 'closed'
)
"""


class SaidYear(NamedTuple):
    """What a person said of a year; amounts are pence. `end` is the ISO date of its last day.

    `liability` None: as the books have it. `method` None: HMRC said nothing. `instalment` None: a 24th.
    """

    end: str
    liability: int | None = None
    import_vat: int = 0
    method: Method | None = None
    instalment: int | None = None


class KeptPeriod(NamedTuple):
    """A closed VAT period, and what was payable for it, pence."""

    start: datetime.date
    end: datetime.date
    liability: int


class ClosedPeriod(NamedTuple):
    """A closed VAT period of which nothing is kept. Dates are ISO."""

    id: str
    first: str
    last: str


def of_entity(tx: ReadTx, legal_entity_id: str) -> dict[datetime.date, VatYear]:
    """The years that are known of a legal entity, by their last day, the earliest first."""
    reckoned = years_of(kept(tx, legal_entity_id))
    said = {datetime.date.fromisoformat(end): year for end, year in said_of(tx, legal_entity_id).items()}
    return {end: _together(end, said.get(end), reckoned.get(end)) for end in sorted(said.keys() | reckoned.keys())}


def said_of(tx: ReadTx, legal_entity_id: str) -> Mapping[str, SaidYear]:
    """What a person said, by the last day of each year, ISO."""
    return {row[0]: SaidYear(*row) for row in tx.rows(_SELECT_SAID, legal_entity_id=legal_entity_id)}


def put(tx: WriteTx, legal_entity_id: str, said: SaidYear) -> None:
    """Keep what is said of a year in the place of what there was."""
    values = said._asdict()
    tx.run(_PUT, legal_entity_id=legal_entity_id, end_date=values.pop("end"), **values)
    tx.changed("vat_years", legal_entity_id, None, legal_entity_id)


def kept(tx: ReadTx, legal_entity_id: str) -> list[KeptPeriod]:
    """The closed periods of which it is known what was payable, the earliest first."""
    day = datetime.date.fromisoformat
    rows = tx.rows(_SELECT_KEPT, legal_entity_id=legal_entity_id)
    return [KeptPeriod(day(start), day(end), liability) for start, end, liability in rows]


def missing(tx: ReadTx, legal_entity_id: str, since: str) -> Iterator[ClosedPeriod]:
    """The closed periods that end on an ISO date or later, and of which nothing is kept."""
    return (ClosedPeriod(*row) for row in tx.rows(_SELECT_MISSING, legal_entity_id=legal_entity_id, since=since))


def keep(tx: WriteTx, period_id: str, liability: int) -> None:
    """Keep what was payable for a closed period, pence."""
    tx.run(_KEEP, period_id=period_id, liability=liability)


def forget_open(tx: WriteTx, legal_entity_id: str) -> None:
    """Forget what was payable for periods that were opened again."""
    tx.run(_FORGET_OPEN, legal_entity_id=legal_entity_id)


def years_of(periods: Iterable[KeptPeriod]) -> dict[datetime.date, VatYear]:
    """The year that ends with each period, of periods that follow each other. `periods` are in their order.

    A year of which periods are missing has the liability of the others: the law speaks of a year or less.
    """
    years, run = {}, list[KeptPeriod]()
    for period in periods:
        if run and run[-1].end + DAY != period.start:
            run = []
        run.append(period)
        first = months_later(period.end + DAY, -_MONTHS)
        run = [earlier for earlier in run if earlier.end >= first]
        liability = sum(earlier.liability for earlier in run)
        years[period.end] = VatYear(period.end, liability, is_whole=run[0].start <= first)
    return years


def _together(end: datetime.date, said: SaidYear | None, reckoned: VatYear | None) -> VatYear:
    """The year as a person has it, and as the books have it where that leaves it to them."""
    year = reckoned or VatYear(end, None, is_whole=False)
    if said is None:
        return year
    if said.liability is not None:
        year = VatYear(end, said.liability)
    return year._replace(beside=said.import_vat, method=said.method, instalment=said.instalment)
