"""Which rows of a file are new, which are there already, and which take another's place (Domain C10).

The lines of a day are paired with those that are stored, each of them once:

    1  by the bank's own id (fitId), with the same amount and at most seven days apart
    2  by the bank's reference, with the same amount on the same day
    3  by amount and description on the same day
    4  by amount alone on the same day, with lines of another format: OFX and CSV describe a payment differently

A booked line without a pair takes the place of a pending one of the same amount and counterparty within seven days.
Whatever is left is new. So two equal coffees stay two, the same file again adds nothing, ids that the bank makes anew
for each file do no harm, and the same day in two formats is there once.

A plan is made of what it is given, and reads nothing; what it needs of the database is read beside it.

Chosen: an id counts only with its amount. Banks that number the lines of each file anew would otherwise lose lines.
Chosen: lines of one file are no duplicates of each other, but for the same id, day and amount in two statements of it.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.banking.imports.rows import Decision
from gatewayd.areas.banking.transactions.texts import fingerprint, normalised
from gatewayd.clock import days_after
from gatewayd.store import ReadTx, Row

DAYS_APART: Final = 7  # Domain C10
PENDING_MAX: Final = 5_000  # Chosen: pending lines of one account that are looked at

_SELECT_DAYS = """
SELECT date, count(position) FROM import_rows WHERE org_id = :org_id AND import_id = :import_id
GROUP BY date ORDER BY date
"""
_SELECT_CANDIDATES = """
SELECT position, statement, date, amount, status, description, match_key, fit_id, bank_reference,
    fingerprint
FROM import_rows
WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last ORDER BY date, position
"""
_STORED = """
stored.id, stored.date, stored.amount, stored.status, stored.description, stored.match_key, stored.fit_id,
    stored.bank_reference, stored.fingerprint, runs.format
FROM bank_transactions AS stored
LEFT JOIN import_runs AS runs ON runs.org_id = :org_id AND runs.id = stored.import_id
"""
_SELECT_STORED = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.date >= :first AND stored.date <= :last
    AND stored.status <> 'pending'
ORDER BY stored.date, stored.id
"""
_SELECT_PENDING = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.status = 'pending'
ORDER BY stored.date, stored.id LIMIT :count
"""
_SELECT_BY_ID = f"""
SELECT {_STORED}
WHERE stored.org_id = :org_id AND stored.account_id = :account_id AND stored.fit_id IN (
    SELECT fit_id FROM import_rows
    WHERE org_id = :org_id AND import_id = :import_id AND date >= :first AND date <= :last AND fit_id IS NOT NULL
)
AND stored.date >= :from_date AND stored.date <= :to_date
ORDER BY stored.date, stored.id
"""


class Candidate(NamedTuple):
    """A row of the file. `text` is its description, normalised."""

    position: int
    statement: int
    date: str
    amount: int
    status: str
    text: str
    match_key: str
    fit_id: str | None
    bank_reference: str | None
    fingerprint: str


class Stored(NamedTuple):
    """A transaction of the account. `format` is that of the file it came from."""

    id: str
    date: str
    amount: int
    status: str
    text: str
    match_key: str
    fit_id: str | None
    bank_reference: str | None
    fingerprint: str
    format: str | None


class Known(NamedTuple):
    """The stored transactions that the lines of one day may be.

    `booked` are booked on that day; `by_id` are of any day, by an id that the file has too; `pending` are all that are
    pending, by amount; `around` are booked within the days around, by amount, for what is pending in the file.
    """

    booked: Sequence[Stored]
    by_id: Mapping[str, Sequence[Stored]]
    pending: Mapping[int, Sequence[Stored]]
    around: Mapping[int, Sequence[Stored]]


class Plan:
    """Decides on the lines of one file, a day at a time in any order; it remembers what it paired across days."""

    def __init__(
        self, account_id: str, currency: str, file_format: str | None, is_closed: Callable[[str], bool]
    ) -> None:
        self._account_id = account_id
        self._currency = currency
        self._format = file_format
        self._is_closed = is_closed
        self._taken: set[str] = set()  # of other days than the line that they are paired with

    def day(self, candidates: Sequence[Candidate], known: Known) -> Iterator[Decision]:
        """The decisions on the lines of one day, but for those that are simply added."""
        booked = [row for row in candidates if row.status != "pending"]
        pairs = dict(self._pairs(booked, known))
        prints = _Fingerprints(self._account_id, self._currency, {stored.fingerprint for stored in known.booked})
        for row in candidates:
            if row.status == "pending":
                yield from self._pending(row, known)
            elif row.position in pairs:
                reason, stored_id = pairs[row.position]
                yield Decision(row.position, "duplicate", reason, stored_id, row.fingerprint)
            else:
                yield from self._new(row, known, prints)

    # -- pairs

    def _pairs(self, booked: Sequence[Candidate], known: Known) -> Iterator[tuple[int, tuple[str, str | None]]]:
        """Position, reason and stored id of each line that is there already."""
        left = {stored.id: stored for stored in known.booked if stored.id not in self._taken}
        waiting: list[Candidate] = []
        first_in: dict[tuple[str, int], int] = {}  # the statement of each id and amount; of a day, for files are long
        for row in booked:
            if row.fit_id is not None and first_in.setdefault((row.fit_id, row.amount), row.statement) != row.statement:
                yield row.position, ("The file has it in another statement.", None)
            elif (paired_id := self._by_id(row, known.by_id, left)) is not None:
                yield row.position, ("It is there, with the same id.", paired_id)
            else:
                waiting.append(row)
        for reason, key, may_pair in self._rules():
            waiting, found_pairs = _paired(waiting, [stored for stored in left.values() if may_pair(stored)], key)
            for position, stored_id in found_pairs:
                del left[stored_id]
                yield position, (reason, stored_id)

    def _rules(self) -> "tuple[_Rule, ...]":
        return (
            ("It is there, with the same reference.", _by_reference, lambda stored: True),
            ("It is there.", _by_text, lambda stored: True),
            ("It is there, from a file of another format.", _by_amount, self._is_of_another_format),
        )

    def _is_of_another_format(self, stored: Stored) -> bool:
        return stored.format is not None and stored.format != self._format

    def _by_id(self, row: Candidate, by_id: Mapping[str, Sequence[Stored]], left: dict[str, Stored]) -> str | None:
        for stored in by_id.get(row.fit_id or "", ()):
            if stored.amount != row.amount or stored.status == "pending":
                continue
            if stored.date == row.date and stored.id in left:
                del left[stored.id]
                return stored.id
            if stored.date != row.date and stored.id not in self._taken and _near(stored.date, row.date):
                self._taken.add(stored.id)
                return stored.id
        return None

    # -- what has no pair

    def _new(self, row: Candidate, known: Known, prints: "_Fingerprints") -> Iterator[Decision]:
        if self._is_closed(row.date):
            reason = (
                f"The period that holds {row.date} is closed, or being closed: once it is open, import the file again."
            )
            yield Decision(row.position, "refuse", reason, None, row.fingerprint)
            return
        free = prints.take(row)
        replaced = self._same_payment(row, known.pending)
        if replaced is not None:
            yield Decision(row.position, "replace", "It was pending.", replaced, free)
        elif free != row.fingerprint:
            yield Decision(row.position, "add", None, None, free)

    def _pending(self, row: Candidate, known: Known) -> Iterator[Decision]:
        stored_id = self._same_payment(row, known.pending) or self._same_payment(row, known.around)
        if stored_id is not None:
            yield Decision(row.position, "duplicate", "It is there.", stored_id, row.fingerprint)

    def _same_payment(self, row: Candidate, stored: Mapping[int, Sequence[Stored]]) -> str | None:
        """The id of a line of the same amount and counterparty, at most seven days apart, that is not paired yet."""
        for other in stored.get(row.amount, ()):
            if other.id not in self._taken and _same_party(other, row) and _near(other.date, row.date):
                self._taken.add(other.id)
                return other.id
        return None


class _Fingerprints:
    """Gives out the fingerprints of a day, each to one line alone."""

    def __init__(self, account_id: str, currency: str, used: set[str]) -> None:
        self._account_id, self._currency, self._used = account_id, currency, used
        self._counts: dict[tuple[int, str], int] = {}

    def take(self, row: Candidate) -> str:
        """A fingerprint for a row that no equal line of the day has."""
        key = (row.amount, row.text)
        count = self._counts.get(key, 0)
        while True:
            count += 1
            mark = fingerprint(self._account_id, row.date, (row.amount, self._currency), row.text, count)
            if mark not in self._used:
                self._counts[key] = count
                self._used.add(mark)
                return mark


_Key = Callable[["Candidate | Stored"], object]
_Rule = tuple[str, _Key, Callable[[Stored], bool]]


def _paired(
    waiting: Sequence[Candidate], stored: Sequence[Stored], key: _Key
) -> tuple[list[Candidate], list[tuple[int, str]]]:
    """The rows without a partner of the same key, and position and partner's id of those that have one.

    A row whose key is None has no partner.
    """
    partners: dict[object, list[Stored]] = {}
    for partner in reversed(stored):
        partners.setdefault(key(partner), []).append(partner)
    rest: list[Candidate] = []
    pairs: list[tuple[int, str]] = []
    for row in waiting:
        wanted = key(row)
        alike = partners.get(wanted) if wanted is not None else None
        if alike:
            pairs.append((row.position, alike.pop().id))
        else:
            rest.append(row)
    return rest, pairs


def _by_reference(entry: Candidate | Stored) -> object:
    return None if entry.bank_reference is None else (entry.bank_reference, entry.amount)


def _by_text(entry: Candidate | Stored) -> object:
    return entry.amount, entry.text


def _by_amount(entry: Candidate | Stored) -> object:
    return entry.amount


def _same_party(stored: Stored, row: Candidate) -> bool:
    """Whether both have the same counterparty, also where one of them has only the beginning of its name."""
    if not stored.match_key or not row.match_key:
        return stored.text == row.text
    shorter, longer = sorted((stored.match_key, row.match_key), key=len)
    return longer.startswith(shorter)


def _near(date: str, other: str) -> bool:
    apart = datetime.date.fromisoformat(date) - datetime.date.fromisoformat(other)
    return abs(apart.days) <= DAYS_APART


# -- what a plan needs of the database: the rows of some days, and what the account has of them


def days(tx: ReadTx, import_id: str) -> list[tuple[str, int]]:
    """The days of a file, with how many rows each has."""
    return [(row[0], row[1]) for row in tx.rows(_SELECT_DAYS, import_id=import_id)]


def candidates(tx: ReadTx, import_id: str, first: str, last: str) -> dict[str, list[Candidate]]:
    """The rows of some days, by day, in the order of the file."""
    by_day: dict[str, list[Candidate]] = {}
    for row in tx.rows(_SELECT_CANDIDATES, import_id=import_id, first=first, last=last):
        position, statement, date, amount, status, description, *rest = row
        candidate = Candidate(position, statement, date, amount, status, normalised(description), *rest)
        by_day.setdefault(candidate.date, []).append(candidate)
    return by_day


def pending(tx: ReadTx, account_id: str) -> dict[int, list[Stored]]:
    """The account's pending lines, by amount."""
    return _stored_by_amount(_stored(tx.rows(_SELECT_PENDING, account_id=account_id, count=PENDING_MAX)))


def known(
    tx: ReadTx, account_id: str, import_id: str, of_days: dict[str, list[Candidate]], waiting: dict[int, list[Stored]]
) -> dict[str, Known]:
    """What the account has that the rows of some days may be, by day. `waiting` are its lines that are pending."""
    first, last = min(of_days), max(of_days)
    before, after = days_after(first, -DAYS_APART), days_after(last, DAYS_APART)
    has_pending = any(row.status == "pending" for rows in of_days.values() for row in rows)
    span = {"first": before, "last": after} if has_pending else {"first": first, "last": last}
    booked = _stored(tx.rows(_SELECT_STORED, account_id=account_id, **span))
    by_id: dict[str, list[Stored]] = {}
    if any(row.fit_id is not None for rows in of_days.values() for row in rows):
        rows = {"import_id": import_id, "first": first, "last": last}
        for stored in _stored(tx.rows(_SELECT_BY_ID, account_id=account_id, from_date=before, to_date=after, **rows)):
            by_id.setdefault(stored.fit_id or "", []).append(stored)
    around = _stored_by_amount(booked) if has_pending else {}
    of_day: dict[str, list[Stored]] = {}
    for stored in booked:
        of_day.setdefault(stored.date, []).append(stored)
    return {day: Known(of_day.get(day, []), by_id, waiting, around) for day in of_days}


def _stored(rows: Iterable[Row]) -> list[Stored]:
    return [
        Stored(id_, date, amount, status, normalised(description), *rest)
        for id_, date, amount, status, description, *rest in rows
    ]


def _stored_by_amount(stored: Iterable[Stored]) -> dict[int, list[Stored]]:
    by_amount: dict[int, list[Stored]] = {}
    for line in stored:
        by_amount.setdefault(line.amount, []).append(line)
    return by_amount
