"""Which rows of a file are new, which are there already, and which take another's place (Domain C10). Pure.

The lines of a day are paired with those that are stored, each of them once:

    1  by the bank's own id (fitId), with the same amount and at most seven days apart
    2  by the bank's reference, with the same amount on the same day
    3  by amount and description on the same day
    4  by amount alone on the same day, with lines of another format: OFX and CSV describe a payment differently

A booked line without a pair takes the place of a pending one of the same amount and counterparty within seven days.
Whatever is left is new. So two equal coffees stay two, the same file again adds nothing, ids that the bank makes anew
for each file do no harm, and the same day in two formats is there once.

Chosen: an id counts only with its amount. Banks that number the lines of each file anew would otherwise lose lines.
Chosen: lines of one file are no duplicates of each other, but for the same id, day and amount in two statements of it.
"""

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gatewayd.areas.banking.imports.rows import Decision
from gatewayd.areas.banking.transactions.texts import fingerprint

DAYS_APART: Final = 7  # Domain C10


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
    """What the account has that a day's lines may be.

    `booked` are those of the day, `by_id` those of any day whose id a line of the file has, `pending` all that are
    pending, by amount, and `around` booked ones, by amount, that a pending line of the file may have become.
    """

    booked: Sequence[Stored]
    by_id: Mapping[str, Sequence[Stored]]
    pending: Mapping[int, Sequence[Stored]]
    around: Mapping[int, Sequence[Stored]]


class Plan:
    """The decisions on one file, a day at a time, in any order. What it pairs across days it remembers."""

    def __init__(
        self, account_id: str, currency: str, file_format: str | None, is_closed: Callable[[str], bool]
    ) -> None:
        self._account_id = account_id
        self._currency = currency
        self._format = file_format
        self._is_closed = is_closed
        self._taken: set[str] = set()  # of other days than the line that they are paired with

    def day(self, candidates: Sequence[Candidate], known: Known) -> Iterator[Decision]:
        """What becomes of the lines of one day, where it is not that they are added as they are."""
        booked = [one for one in candidates if one.status != "pending"]
        pairs = dict(self._pairs(booked, known))
        prints = _Prints(self._account_id, self._currency, {one.fingerprint for one in known.booked})
        for one in candidates:
            if one.status == "pending":
                yield from self._pending(one, known)
            elif one.position in pairs:
                reason, stored_id = pairs[one.position]
                yield Decision(one.position, "duplicate", reason, stored_id, one.fingerprint)
            else:
                yield from self._new(one, known, prints)

    # -- pairs

    def _pairs(self, booked: Sequence[Candidate], known: Known) -> Iterator[tuple[int, tuple[str, str | None]]]:
        """Position, reason and stored id of each line that is there already."""
        left = {one.id: one for one in known.booked if one.id not in self._taken}
        waiting: list[Candidate] = []
        first_in: dict[tuple[str, int], int] = {}  # the statement of each id and amount; of a day, for files are long
        for one in booked:
            if one.fit_id is not None and first_in.setdefault((one.fit_id, one.amount), one.statement) != one.statement:
                yield one.position, ("The file has it in another statement.", None)
            elif (found := self._by_id(one, known.by_id, left)) is not None:
                yield one.position, ("It is there, with the same id.", found)
            else:
                waiting.append(one)
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

    def _by_id(self, one: Candidate, by_id: Mapping[str, Sequence[Stored]], left: dict[str, Stored]) -> str | None:
        for stored in by_id.get(one.fit_id or "", ()):
            if stored.amount != one.amount or stored.status == "pending":
                continue
            if stored.date == one.date and stored.id in left:
                del left[stored.id]
                return stored.id
            if stored.date != one.date and stored.id not in self._taken and _near(stored.date, one.date):
                self._taken.add(stored.id)
                return stored.id
        return None

    # -- what has no pair

    def _new(self, one: Candidate, known: Known, prints: "_Prints") -> Iterator[Decision]:
        if self._is_closed(one.date):
            reason = (
                f"The period that holds {one.date} is closed, or being closed: once it is open, import the file again."
            )
            yield Decision(one.position, "refuse", reason, None, one.fingerprint)
            return
        free = prints.take(one)
        replaced = self._same_payment(one, known.pending)
        if replaced is not None:
            yield Decision(one.position, "replace", "It was pending.", replaced, free)
        elif free != one.fingerprint:
            yield Decision(one.position, "add", None, None, free)

    def _pending(self, one: Candidate, known: Known) -> Iterator[Decision]:
        found = self._same_payment(one, known.pending) or self._same_payment(one, known.around)
        if found is not None:
            yield Decision(one.position, "duplicate", "It is there.", found, one.fingerprint)

    def _same_payment(self, one: Candidate, stored: Mapping[int, Sequence[Stored]]) -> str | None:
        """The one of the same amount and counterparty, at most seven days apart, that is not taken yet."""
        for other in stored.get(one.amount, ()):
            if other.id not in self._taken and _same_party(other, one) and _near(other.date, one.date):
                self._taken.add(other.id)
                return other.id
        return None


class _Prints:
    """The fingerprints of a day, each of them for one line."""

    def __init__(self, account_id: str, currency: str, used: set[str]) -> None:
        self._account_id, self._currency, self._used = account_id, currency, used
        self._counts: dict[tuple[int, str], int] = {}

    def take(self, one: Candidate) -> str:
        """The next that no equal line of the day has."""
        key = (one.amount, one.text)
        count = self._counts.get(key, 0)
        while True:
            count += 1
            found = fingerprint(self._account_id, one.date, (one.amount, self._currency), one.text, count)
            if found not in self._used:
                self._counts[key] = count
                self._used.add(found)
                return found


_Key = Callable[["Candidate | Stored"], object]
_Rule = tuple[str, _Key, Callable[[Stored], bool]]


def _paired(
    waiting: Sequence[Candidate], stored: Sequence[Stored], key: _Key
) -> tuple[list[Candidate], list[tuple[int, str]]]:
    """The lines that found no partner by a key, and position and partner of those that did. A key of None has none."""
    partners: dict[object, list[Stored]] = {}
    for partner in reversed(stored):
        partners.setdefault(key(partner), []).append(partner)
    rest: list[Candidate] = []
    pairs: list[tuple[int, str]] = []
    for one in waiting:
        wanted = key(one)
        found = partners.get(wanted) if wanted is not None else None
        if found:
            pairs.append((one.position, found.pop().id))
        else:
            rest.append(one)
    return rest, pairs


def _by_reference(one: Candidate | Stored) -> object:
    return None if one.bank_reference is None else (one.bank_reference, one.amount)


def _by_text(one: Candidate | Stored) -> object:
    return one.amount, one.text


def _by_amount(one: Candidate | Stored) -> object:
    return one.amount


def _same_party(stored: Stored, one: Candidate) -> bool:
    """The same counterparty, also where the bank has written more of its name since."""
    if not stored.match_key or not one.match_key:
        return stored.text == one.text
    shorter, longer = sorted((stored.match_key, one.match_key), key=len)
    return longer.startswith(shorter)


def _near(date: str, other: str) -> bool:
    apart = datetime.date.fromisoformat(date) - datetime.date.fromisoformat(other)
    return abs(apart.days) <= DAYS_APART
