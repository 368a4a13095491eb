"""Which mails are sent next: by turns of the organizations, and within what an hour may have.

An attempt is counted as begun, and its process noted as the one that makes it, before the server is spoken to. What
becomes of it is written only where that is still so: who slept past its lease writes nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gatewayd.clock import HOUR, Instant
from gatewayd.identity.people import suspensions
from gatewayd.mail import failures, outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.outbox import INTERRUPTED, NO_QUEUE, NOT_OPENED, Attempt, Outcome
from gatewayd.mail.settings import MailSettings
from gatewayd.store import ReadTx, WriteTx

FIRST: Final = ""  # sorts before every id
GIVEN_UP: Final = "It was given up after {hours} hours."
EXPIRED: Final = "What it says is over."

_FIRST_HEAD_ANY_ORG = """
SELECT queue, due_at FROM mails
WHERE due_at IS NOT NULL AND queue >= :first ORDER BY queue, due_at, id LIMIT 1
"""
_NEXT_HEAD_ANY_ORG = """
SELECT queue, due_at FROM mails
WHERE due_at IS NOT NULL AND queue > :after ORDER BY queue, due_at, id LIMIT 1
"""
_DUE_ANY_ORG = """
SELECT id, org_id, kind, recipient, recipient_folded, recipient_name, letter_sealed, attempts, interruptions, holder,
    last_attempt_at, last_error, expires_at, created_at
FROM mails WHERE queue = :queue AND due_at IS NOT NULL AND due_at <= :at ORDER BY due_at, id LIMIT :count
"""
_OF_QUEUE_ANY_ORG = """
SELECT completed_at FROM mails WHERE queue = :queue AND completed_at > :since ORDER BY completed_at DESC LIMIT :count
"""
_TO_RECIPIENT_ANY_ORG = """
SELECT completed_at FROM mails
WHERE recipient_folded = :recipient_folded AND completed_at > :since ORDER BY completed_at DESC LIMIT :count
"""
_BEGIN_ANY_ORG = """
UPDATE mails SET attempts = :attempts, interruptions = :interruptions, holder = :holder, due_at = :due_at,
    last_attempt_at = :at
WHERE id = :id
"""
_POSTPONE_ANY_ORG = "UPDATE mails SET due_at = :due_at, holder = NULL, interruptions = :interruptions WHERE id = :id"
_REWIND_ANY_ORG = """
UPDATE mails SET due_at = :at WHERE queue = :queue AND due_at IS NOT NULL AND due_at > :latest
"""
_RELEASE_FORMER_ANY_ORG = """
UPDATE mails SET due_at = :at
WHERE holder IS NOT NULL AND holder >= :first AND holder < :behind AND holder <> :holder AND due_at IS NOT NULL
"""
_AGAIN_ANY_ORG = """
UPDATE mails SET holder = NULL, due_at = :due_at, last_code = :code, last_error = :answer,
    interruptions = interruptions + :interrupted
WHERE id = :mail_id AND attempts = :number AND holder = :holder
"""
_END_ANY_ORG = """
UPDATE mails SET holder = NULL, due_at = NULL, status = :status, completed_at = :at, last_code = :code,
    last_error = :answer
WHERE id = :mail_id AND attempts = :number AND holder = :holder
"""
_SENT_ANY_ORG = "UPDATE mails SET letter_sealed = :nothing WHERE id = :mail_id AND status = 'sent'"
_GIVE_UP_ANY_ORG = """
UPDATE mails SET holder = NULL, due_at = NULL, status = 'failed', completed_at = :at, last_error = :why,
    interruptions = :interruptions
WHERE id = :id AND due_at IS NOT NULL
"""


class Claim(NamedTuple):
    """One attempt that is recorded as begun and now has to be made. `letter` None: it does not open."""

    mail_id: str
    org_id: str | None
    queue: str
    kind: str
    recipient: str
    recipient_name: str
    letter: Letter | None
    number: int
    begun_at: Instant
    created_at: Instant
    expires_at: Instant | None


class Ended(NamedTuple):
    """What became of one attempt. `due_at` None: there is none after it. `code` None: the server answered nothing."""

    claim: Claim
    outcome: Outcome
    due_at: Instant | None
    code: int | None
    answer: str | None
    duration_ms: int | None


@dataclass(frozen=True, slots=True)
class Room:
    """What this process has room for. `under_way` are the mails it sends now, by their queue."""

    holder: str
    free: int
    under_way: Mapping[str, str] = field(default_factory=dict)
    after: str = FIRST


@dataclass(slots=True)
class Claimed:
    """What one look began. `next_due`: when to look again; None: only once something changes.

    `given_up` are mails whose time was over. `after` is the queue at which it stopped.
    """

    claims: list[Claim] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    after: str = FIRST
    next_due: Instant | None = None

    def look_by(self, instant: Instant) -> None:
        """Look again at `instant` at the latest."""
        self.next_due = instant if self.next_due is None else min(self.next_due, instant)


class _Due(NamedTuple):
    """A mail whose time has come. `holder` not None: an attempt was begun, and nobody told what became of it."""

    id: str
    org_id: str | None
    kind: str
    recipient: str
    recipient_folded: str
    recipient_name: str
    letter_sealed: bytes
    attempts: int
    interruptions: int
    holder: str | None
    last_attempt_at: Instant
    last_error: str | None
    expires_at: Instant | None
    created_at: Instant

    @property
    def interrupted(self) -> int:
        """How many attempts were interrupted, with the one that its holder left."""
        return self.interruptions + (self.holder is not None)


def release_former(tx: WriteTx, holder: str, at: Instant) -> int:
    """Let whatever is held by processes before this one on the same data directory be due now: they are dead."""
    name = holder.rpartition(":")[0]
    return tx.run(_RELEASE_FORMER_ANY_ORG, holder=holder, first=f"{name}:", behind=f"{name};", at=at)


def claim_due(tx: WriteTx, room: Room, settings: MailSettings, at: Instant) -> Claimed:
    """Begin as many attempts as there is room for; `at` is the present instant on the clock that sets waits."""
    look = _Look(tx, room, settings, at)
    look.run()
    return look.result


def record(tx: WriteTx, ended: list[Ended], holder: str, at: Instant) -> None:
    """Write down what became of attempts. Of one that is not this process's any more only the attempt is noted."""
    for each in ended:
        claim = each.claim
        values = {
            "mail_id": claim.mail_id,
            "number": claim.number,
            "holder": holder,
            "code": each.code,
            "answer": each.answer,
        }
        if each.due_at is None:
            status = "failed" if each.outcome in ("retried", "interrupted") else each.outcome
            ended_here = tx.run(_END_ANY_ORG, **values, status=status, at=at) == 1
            if status == "sent":
                tx.run(_SENT_ANY_ORG, mail_id=claim.mail_id, nothing=b"")
            elif ended_here:
                failures.tell(tx, claim.mail_id, "bounced" if status == "bounced" else "failed")
        else:
            tx.run(_AGAIN_ANY_ORG, **values, due_at=each.due_at, interrupted=int(each.outcome == "interrupted"))
        attempt = Attempt(claim.number, claim.begun_at, each.duration_ms, each.outcome, each.code, each.answer)
        outbox.insert_attempts(tx, [(claim.mail_id, attempt)])


class _Look:
    """One look at all queues, within one transaction."""

    def __init__(self, tx: WriteTx, room: Room, settings: MailSettings, at: Instant) -> None:
        self.result = Claimed(after=room.after)
        self._tx = tx
        self._room = room
        self._settings = settings
        self._at = at
        self._in_flight = Counter(room.under_way.values())
        self._to: Counter[str] = Counter()  # what this look begins, by recipient

    def run(self) -> None:
        waiting: list[tuple[str, list[_Due]]] = []
        if self._room.free > 0:
            for queue, due_at in _round_robin(self._tx, self._room.after):
                if len(waiting) >= self._room.free:
                    self.result.look_by(self._at)
                    break
                due = self._due_of(queue, due_at)
                if due:
                    waiting.append((queue, due))
                self.result.after = queue
        free = self._room.free
        for turn in range(max((len(due) for _, due in waiting), default=0)):
            for queue, due in waiting:
                if free > 0 and turn < len(due):
                    self.result.claims.append(self._begin(queue, due[turn]))
                    free -= 1

    def _due_of(self, queue: str, due_at: Instant) -> list[_Due]:
        """What may be begun of a queue; `result.next_due` or an ended attempt leads back to what may not."""
        room = min(self._settings.per_queue - self._in_flight[queue], self._room.free)
        if room <= 0:
            return []
        if due_at > self._at:
            self._wait_for(queue, due_at)
            return []
        if queue != NO_QUEUE and suspensions.is_suspended(self._tx, queue):
            return []  # Chosen: it waits as webhooks do, and is given up when its time is over
        left, frees_at = self._left(_OF_QUEUE_ANY_ORG, self._settings.organization_per_hour, {"queue": queue})
        if queue != NO_QUEUE and left - self._in_flight[queue] < 1:
            self.result.look_by(frees_at)
            return []
        room = room if queue == NO_QUEUE else min(room, left - self._in_flight[queue])
        rows = self._tx.rows(_DUE_ANY_ORG, queue=queue, at=self._at, count=room + len(self._room.under_way))
        due = [one for row in rows if (one := _Due(*row)).id not in self._room.under_way]
        return [one for one in due[:room] if self._may_begin(one)]

    def _wait_for(self, queue: str, due_at: Instant) -> None:
        longest = round((self._settings.retry_cap_seconds * 2) * 1_000_000) + self._settings.lease + HOUR
        if due_at > self._at + longest:  # written by a clock that was ahead
            self._tx.run(_REWIND_ANY_ORG, queue=queue, at=self._at, latest=self._at + longest)
            self.result.look_by(self._at)
        else:
            self.result.look_by(due_at)

    def _may_begin(self, due: _Due) -> bool:
        """Whether it is sent now: not where its time is over, nor where its recipient had enough lately."""
        over = self._over(due)
        if over is not None:
            self._note_interrupted(due)
            self._tx.run(_GIVE_UP_ANY_ORG, id=due.id, at=self._at, why=over, interruptions=due.interrupted)
            failures.tell(self._tx, due.id, "failed")
            self.result.given_up.append(due.id)
            self.result.look_by(self._at)
            return False
        of = {"recipient_folded": due.recipient_folded}
        left, frees_at = self._left(_TO_RECIPIENT_ANY_ORG, self._settings.recipient_per_hour, of)
        if left - self._to[due.recipient_folded] < 1:
            self._note_interrupted(due)
            frees_at = max(frees_at, Instant(self._at + 1))
            self._tx.run(_POSTPONE_ANY_ORG, id=due.id, due_at=frees_at, interruptions=due.interrupted)
            self.result.look_by(self._at)
            return False
        self._to[due.recipient_folded] += 1
        return True

    def _over(self, due: _Due) -> str | None:
        """Why it is not sent any more; None: it is."""
        if due.expires_at is not None and due.expires_at <= self._at:
            return EXPIRED
        if due.created_at + self._settings.retried_for <= self._at:
            given_up = GIVEN_UP.format(hours=self._settings.retry_hours)
            return given_up if due.last_error is None else f"{given_up} {due.last_error}"[: outbox.ANSWER_MAX]
        return None

    def _left(self, counting: str, limit: int, of: dict[str, str]) -> tuple[int, Instant]:
        """How many more an hour may have, and when there is room for one more where there is none."""
        if limit == 0:
            return self._room.free + len(self._room.under_way), self._at
        ended = self._tx.rows(counting, **of, since=self._at - HOUR, count=limit)
        frees_at = Instant(ended[-1][0] + HOUR) if len(ended) == limit else Instant(self._at + HOUR)
        return limit - len(ended), frees_at

    def _begin(self, queue: str, due: _Due) -> Claim:
        self._note_interrupted(due)
        number = due.attempts + 1
        self._tx.run(
            _BEGIN_ANY_ORG,
            id=due.id,
            attempts=number,
            interruptions=due.interrupted,
            holder=self._room.holder,
            due_at=self._at + self._settings.lease,
            at=self._at,
        )
        return Claim(
            mail_id=due.id,
            org_id=due.org_id,
            queue=queue,
            kind=due.kind,
            recipient=due.recipient,
            recipient_name=due.recipient_name,
            letter=outbox.open_letter(self._tx, due.id, due.letter_sealed),
            number=number,
            begun_at=self._at,
            created_at=due.created_at,
            expires_at=due.expires_at,
        )

    def _note_interrupted(self, due: _Due) -> None:
        if due.holder is not None:
            attempt = Attempt(due.attempts, due.last_attempt_at, None, "interrupted", None, INTERRUPTED)
            outbox.insert_attempts(self._tx, [(due.id, attempt)])


def _round_robin(tx: ReadTx, after: str) -> Iterator[tuple[str, Instant]]:
    """The head of every queue, from the one behind `after` round to `after` itself."""
    row = tx.row(_NEXT_HEAD_ANY_ORG, after=after)
    while row is not None:
        yield row[0], row[1]
        row = tx.row(_NEXT_HEAD_ANY_ORG, after=row[0])
    row = tx.row(_FIRST_HEAD_ANY_ORG, first=FIRST)
    while row is not None and row[0] <= after:
        yield row[0], row[1]
        row = tx.row(_NEXT_HEAD_ANY_ORG, after=row[0])


def unopened(claim: Claim) -> Ended:
    """The end of one whose letter does not open."""
    return Ended(claim, "failed", None, None, NOT_OPENED, 0)
