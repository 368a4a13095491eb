"""What people chose before for bank lines with the same counterparty. Reads only."""

from collections import Counter
from decimal import Decimal
from typing import NamedTuple

from gatewayd.ledger.allocating.allocation_rules import RuleOutcome, share
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.allocating.categories import NOT_PNL, Category, Purpose
from gatewayd.ledger.imports.hidden_imports import VISIBLE
from gatewayd.money import canonical
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
    AND invoice_id IS NULL AND counterpart_id IS NULL AND matched_by <> 'rule'
"""  # CROSS: SQLite keeps the order of the tables, and looks at these lines alone
"""What was allocated whole to one thing, a payment of a mortgage among it, which is both halves."""


class Choice(NamedTuple):
    """What most lines with one counterparty were for: `times` of `lines`, `last` on that ISO date.

    `lines` are the latest that somebody allocated whole to one thing, at most `LOOKED_AT`.
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
    """What most lines with `match_key`, and money that way, were for; None where nobody chose yet."""
    if not match_key:
        return None
    found = [ALLOCATIONS.read(tx, row) for row in tx.rows(_SELECT_CHOSEN, match_key=match_key, count=LOOKED_AT)]
    rows = [row for row in found if row.direction == direction]
    if not rows:
        return None
    rows.sort(key=lambda row: (row.date, row.id), reverse=True)
    (most, times), *_ = Counter(map(what, rows)).most_common(1)
    latest = next(row for row in rows if what(row) == most)
    return Choice(outcome_of(latest), times, len(rows), latest.date)


def what(row: Allocation) -> tuple[str | None, ...]:
    """What an allocation is for, as far as two are for the same."""
    places = (row.property_id, row.unit_id, row.tenancy_id, row.mortgage_id)
    return (*_wanted(row), row.business_id, *places)


def _wanted(row: Allocation) -> tuple[Category, Purpose | None]:
    """What somebody asked for who has this allocation now: of computed interest, that a payment be split."""
    return (row.category, row.purpose) if row.interest_source != "computed" else (NOT_PNL, "loan_payment")


def outcome_of(row: Allocation) -> RuleOutcome:
    """What a rule would say that made this of a line."""
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
    """The rate whose VAT is in the amount; None: none, or no rate's."""
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
