"""What people chose before for bank lines with the same counterparty, and how they split them. Reads only.

Lines that were split into parts follow a habit:

    shares  every part is the same share of its line, to a penny
    fixed   all parts but one have the same amount each time, and that one is the rest

Chosen: of both, the one that more lines follow, shares where as many do.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from gatewayd.ledger.allocating.allocation_rules import RuleOutcome, share
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.categories import NOT_PNL, Category, Purpose
from gatewayd.ledger.imports.import_runs import VISIBLE
from gatewayd.money import canonical, half_up
from gatewayd.store import ReadTx

LOOKED_AT = 50  # Chosen: what was chosen long ago says little, and a million lines cost no more than these
_VAT_PERCENTAGES = ("20", "5")

_SELECT_CHOSEN = f"""
SELECT {", ".join(f"allocations.{name}" for name in ALLOCATIONS.names)}
FROM (
    SELECT id, amount, allocated, date FROM bank_transactions
    WHERE org_id = :org_id AND match_key = :match_key AND allocated <> 0 AND {VISIBLE}
    ORDER BY date DESC LIMIT :count
) AS lines CROSS JOIN allocations
WHERE allocations.org_id = :org_id AND source_id = lines.id
    AND (
        allocations.amount = abs(lines.amount)
        OR (interest_source = 'computed' AND lines.allocated = lines.amount AND 2 = (
            SELECT count(others.id) FROM allocations AS others
            WHERE others.org_id = :org_id AND others.source_id = lines.id
        ))
    )
    AND invoice_id IS NULL AND bill_id IS NULL AND counterpart_id IS NULL AND matched_by <> 'rule'
"""  # CROSS: SQLite keeps the order of the tables, and looks at these lines alone
"""Lines that were allocated as a whole to one thing. A payment of a mortgage, which became two parts, is one too."""
MOST_PARTS = 6  # Chosen: what has more is hardly split by a habit

_SELECT_PARTS = f"""
SELECT lines.amount, {", ".join(f"allocations.{name}" for name in ALLOCATIONS.names)}
FROM (
    SELECT id, amount, date FROM bank_transactions
    WHERE org_id = :org_id AND match_key = :match_key AND allocated <> 0 AND allocated = amount AND {VISIBLE}
    ORDER BY date DESC, id DESC LIMIT :count
) AS lines CROSS JOIN allocations
WHERE allocations.org_id = :org_id AND source_id = lines.id
    AND invoice_id IS NULL AND bill_id IS NULL AND counterpart_id IS NULL AND matched_by <> 'rule'
LIMIT :most
"""  # CROSS: SQLite keeps the order of the tables, and looks at these lines alone


class Choice(NamedTuple):
    """What most lines with one counterparty were for.

    Looked at are the latest `lines` that people allocated as a whole to one thing, `LOOKED_AT` at most. `times` of them
    were for this, `last` on that ISO date.
    """

    outcome: RuleOutcome
    times: int
    lines: int
    last: str

    def described(self, match_key: str) -> str:
        """The choice in words: `12 of 13 lines of TESCO STORES were adminCosts, last on 3 Oct 2026`."""
        purpose = self.outcome.purpose or self.outcome.category
        lines = "line" if self.lines == 1 else "lines"
        were = "was" if self.lines == 1 else "were"
        return f"{self.times} of {self.lines} {lines} of {match_key.upper()} {were} {purpose}, last on {day(self.last)}"


def choice_for(tx: ReadTx, match_key: str, direction: Direction) -> Choice | None:
    """What most lines with this `match_key` and direction were for; None where nobody chose yet."""
    if not match_key:
        return None
    chosen = [ALLOCATIONS.read(tx, row) for row in tx.rows(_SELECT_CHOSEN, match_key=match_key, count=LOOKED_AT)]
    rows = [row for row in chosen if row.direction == direction]
    if not rows:
        return None
    rows.sort(key=lambda row: (row.date, row.id), reverse=True)
    (most, times), *_ = Counter(map(_choice_key, rows)).most_common(1)
    latest = next(row for row in rows if _choice_key(row) == most)
    return Choice(outcome_of(latest), times, len(rows), latest.date)


def _choice_key(row: Allocation) -> tuple[str | None, ...]:
    """What an allocation is for: two that give the same answer count as the same choice."""
    places = (row.property_id, row.unit_id, row.tenancy_id, row.mortgage_id)
    return (*_wanted(row), row.business_id, *places)


def _wanted(row: Allocation) -> tuple[Category, Purpose | None]:
    """What the person chose: where the interest was computed, that was to split a payment."""
    return (row.category, row.purpose) if row.interest_source != "computed" else (NOT_PNL, "loan_payment")


def outcome_of(row: Allocation) -> RuleOutcome:
    """The outcome of a rule that would make this allocation of a line."""
    category, purpose = _wanted(row)
    return RuleOutcome(
        category=category,
        purpose=purpose,
        business_id=row.business_id,
        vat_code=row.vat_code,
        vat_percent=_vat_percent(row) if row.vat_code is None else None,
        disallowable_percent=_disallowable_percent(row) if category == row.category else None,
        property_id=row.property_id,
        unit_id=row.unit_id,
        tenancy_id=row.tenancy_id,
        mortgage_id=row.mortgage_id,
    )


def _vat_percent(row: Allocation) -> str | None:
    """The percentage at which the amount holds its VAT; None: it holds none, or not that of a rate."""
    for percent in _VAT_PERCENTAGES:
        if row.vat_amount and row.vat_amount.minor == share(row.amount.minor, Decimal(percent), Decimal(percent) + 100):
            return percent
    return None


def _disallowable_percent(row: Allocation) -> str | None:
    if not row.disallowable_amount:
        return None
    return canonical(
        str(share(10_000, Decimal(row.disallowable_amount.minor), Decimal(row.amount.minor)) / Decimal(100))
    )


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(date: str) -> str:
    """An ISO date for people: `3 Oct 2026`."""
    year, month, day = date.split("-")
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


class SplitPart(NamedTuple):
    """A part that is proposed: its amount in signed minor units, and what it would be for."""

    amount: int
    outcome: RuleOutcome


class Split(NamedTuple):
    """How a line was split. Lines that are split alike have their `parts` in the same order. `total` is signed."""

    total: int
    parts: tuple[Allocation, ...]

    @property
    def is_said(self) -> bool:
        """True where people said all amounts. Interest that was computed differs from one payment to the next."""
        return all(part.interest_source != "computed" for part in self.parts)

    @property
    def choice(self) -> tuple[object, ...]:
        """What the parts were for, and which way each went."""
        return tuple((part.direction, *_choice_key(part)) for part in self.parts)

    def shares_of(self, total: int) -> list[int]:
        """The amounts of the parts of another total in the same shares; the largest takes what rounding leaves."""
        amounts = [half_up(total * part.signed, abs(self.total)) for part in self.parts]
        amounts = amounts if self.total > 0 else [-amount for amount in amounts]
        largest = max(range(len(amounts)), key=lambda index: abs(amounts[index]))
        amounts[largest] += total - sum(amounts)
        return amounts

    def fixed_but(self, rest: int, total: int) -> list[int]:
        """The same amounts as here, but for the part at `rest`, which takes what they leave of `total`."""
        amounts = [part.signed for part in self.parts]
        amounts[rest] += total - self.total
        return amounts


class Habit(NamedTuple):
    """How lines are mostly split: `times` of `lines`. `rest` is the place of the part that varies; None: shares."""

    latest: Split
    rest: int | None
    times: int
    lines: int

    def parts_of(self, total: int) -> list[SplitPart]:
        """The parts of a line of this signed amount; empty where one would be nothing, or go the other way."""
        latest = self.latest
        amounts = latest.shares_of(total) if self.rest is None else latest.fixed_but(self.rest, total)
        if any(amount * part.signed <= 0 for amount, part in zip(amounts, latest.parts, strict=True)):
            return []
        return [SplitPart(amount, outcome_of(part)) for amount, part in zip(amounts, latest.parts, strict=True)]

    def described(self, match_key: str) -> str:
        """The habit in words: `3 of 4 lines of ACME LOANS were split in the same shares, last on 3 Oct 2026`."""
        lines, were = ("line", "was") if self.lines == 1 else ("lines", "were")
        how = "in the same shares" if self.rest is None else "with the same amounts but for the rest"
        last = day(self.latest.parts[0].date)
        return f"{self.times} of {self.lines} {lines} of {match_key.upper()} {were} split {how}, last on {last}"


def habit_for(tx: ReadTx, match_key: str, direction: Direction) -> Habit | None:
    """How lines with this `match_key` and direction are mostly split; None where none was split."""
    splits = _splits(tx, match_key, direction) if match_key else []
    several = [split for split in splits if len(split.parts) > 1]
    if not several:
        return None
    (kind, _), *_ = Counter(split.choice for split in several).most_common(1)
    alike = [split for split in several if split.choice == kind]
    rests: list[int | None] = [None, *range(len(kind))]
    habits = [Habit(alike[0], rest, _followed(alike, rest), len(splits)) for rest in rests]
    return max(habits, key=lambda habit: habit.times)  # of as many the first: shares


def _splits(tx: ReadTx, match_key: str, direction: Direction) -> list[Split]:
    """The lines of which people allocated all, to one thing or to several, latest first."""
    most = LOOKED_AT * MOST_PARTS
    lines: dict[str, list[Allocation]] = {}
    totals: dict[str, int] = {}
    for total, *row in tx.rows(_SELECT_PARTS, match_key=match_key, count=LOOKED_AT, most=most):
        part = ALLOCATIONS.read(tx, tuple(row))
        line_id = part.source_id or ""
        lines.setdefault(line_id, []).append(part)
        totals[line_id] = total
    splits = [Split(totals[line_id], tuple(sorted(parts, key=_order))) for line_id, parts in lines.items()]
    said = [split for split in splits if sum(part.signed for part in split.parts) == split.total and split.is_said]
    alike = [split for split in said if (split.total > 0) == (direction == "in") and len(split.parts) <= MOST_PARTS]
    return sorted(alike, key=lambda split: (split.parts[0].date, split.parts[0].source_id or ""), reverse=True)


def _order(part: Allocation) -> tuple[object, ...]:
    return (part.direction, *(name or "" for name in _choice_key(part)), part.id)


def _followed(splits: Sequence[Split], rest: int | None) -> int:
    """How many lines follow the habit that the latest of them shows."""
    latest = splits[0]
    return sum(_follows(latest, split, rest) for split in splits)


def _follows(latest: Split, split: Split, rest: int | None) -> bool:
    amounts = [part.signed for part in split.parts]
    if rest is not None:
        return latest.fixed_but(rest, split.total) == amounts
    pairs = zip(latest.shares_of(split.total), amounts, strict=True)
    return all(abs(expected - amount) <= 1 for expected, amount in pairs)
