"""The outbox: a mail is a row that is written with its cause. Owns `mails` and `mail_attempts`.

The row is the queue. While it is not over, `due_at` says when the next attempt may begin; while one is under way,
`holder` names the process that makes it and `due_at` is the end of its lease. What a mail says is sealed, for it may
hold a link that opens something; once it was sent, that is gone.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from gatewayd.clock import DAY, Instant
from gatewayd.mail.letters import Letter, one_line
from gatewayd.store import ReadTx, Row, StoreFailure, WriteTx

TOPIC: Final = "mail"
"""What wakes the task that sends."""

Kind = Literal[
    "invitation",
    "password_reset",
    "new_device",
    "sign_in_changed",
    "key_created",
    "app_connected",
    "webhook_failing",
    "webhook_switched_off",
    "invoice_reminder",
    "invoice",
    "quote",
    "statement",
    "deadlines",
]
Status = Literal["queued", "sent", "failed", "bounced"]
Outcome = Literal["sent", "retried", "failed", "bounced", "interrupted"]

NO_QUEUE: Final = ""
"""Among which mails of no organization take their turn."""
ANSWER_MAX: Final = 500  # Chosen, characters of what a server said
LETTER_KEPT: Final = 14 * DAY  # Chosen: so long one that was not taken can be sent again
INTERRUPTED: Final = "We did not live to see what became of it."
NOT_OPENED: Final = "What it says does not open with this instance's key."
WITHDRAWN: Final = "It was withdrawn: what it says does not hold any more."
COUNTED: Final = 100_000  # Chosen: of what waits
SWEEP_ROWS: Final = 200  # of one transaction

_INSERT_ANY_ORG = """
INSERT INTO mails (id, org_id, queue, kind, about, recipient, recipient_folded, recipient_name, subject,
    letter_sealed, status, attempts, interruptions, due_at, expires_at, created_at)
VALUES (:id, :about_org, :queue, :kind, :about, :recipient, :recipient_folded, :recipient_name, :subject,
    :letter_sealed, 'queued', 0, 0, :now, :expires_at, :now)
"""
_COLUMNS = """id, org_id, kind, recipient, subject, status, attempts, due_at, last_code, last_error, last_attempt_at,
    completed_at, expires_at, created_at"""
_LIST_ANY_ORG = f"""
SELECT {_COLUMNS} FROM mails
WHERE (CAST(:status AS TEXT) IS NULL OR status = :status) ORDER BY id DESC LIMIT :limit
"""
_LIST = f"""
SELECT {_COLUMNS} FROM mails
WHERE org_id = :org_id AND (CAST(:status AS TEXT) IS NULL OR status = :status) ORDER BY id DESC LIMIT :limit
"""
_LIST_ABOUT = f"""
SELECT {_COLUMNS} FROM mails WHERE org_id = :org_id AND about = :about ORDER BY id DESC LIMIT :limit
"""
_GET_ANY_ORG = f"SELECT {_COLUMNS} FROM mails WHERE id = :id"
_ATTEMPTS = """
SELECT number, begun_at, duration_ms, outcome, code, answer FROM mail_attempts WHERE mail_id = :id ORDER BY number
"""
_COUNT_LATELY_ANY_ORG = """
SELECT count(id) FROM mails
WHERE recipient_folded = :recipient_folded AND kind = :kind AND created_at > :since
    AND (CAST(:about AS TEXT) IS NULL OR about = :about)
"""
_COUNT_FAILED_ANY_ORG = """
SELECT count(id) FROM mails WHERE status IN ('failed', 'bounced') AND completed_at > :since
"""
_WAITING_ANY_ORG = """
SELECT count(id), min(due_at) FROM (SELECT id, due_at FROM mails WHERE due_at IS NOT NULL LIMIT :count) AS waiting
"""
_STANDING_ANY_ORG = """
SELECT coalesce(o.name, ''), counted.waiting, counted.first_due, counted.given_up FROM (
    SELECT queue, sum(waits) AS waiting, min(due_at) AS first_due, sum(1 - waits) AS given_up FROM (
        SELECT queue, 1 AS waits, due_at FROM mails WHERE due_at IS NOT NULL
        UNION ALL
        SELECT queue, 0 AS waits, NULL AS due_at FROM mails
        WHERE completed_at > :since AND status IN ('failed', 'bounced')
    ) AS each_mail GROUP BY queue
) AS counted LEFT JOIN organizations o ON o.id = counted.queue
ORDER BY counted.given_up IS NULL, counted.given_up DESC, counted.queue IS NULL, counted.queue LIMIT :count
"""
_GIVEN_UP_ANY_ORG = """
SELECT m.id, coalesce(o.name, ''), m.kind, m.recipient, m.last_error, m.completed_at,
    CASE WHEN length(m.letter_sealed) > 0 AND (m.expires_at IS NULL OR m.expires_at > :now) THEN 1 ELSE 0 END
FROM mails m LEFT JOIN organizations o ON o.id = m.org_id
WHERE m.completed_at > :since AND m.status IN ('failed', 'bounced')
ORDER BY m.completed_at DESC, m.id DESC LIMIT :count
"""
_RESEND_ANY_ORG = """
UPDATE mails SET status = 'queued', due_at = :now, completed_at = NULL, created_at = :now
WHERE id = :id AND status IN ('failed', 'bounced') AND length(letter_sealed) > 0
    AND (expires_at IS NULL OR expires_at > :now)
"""
_FORGET_LETTER_ANY_ORG = "UPDATE mails SET letter_sealed = :nothing WHERE id = :id"
_FORGET_LETTERS_ANY_ORG = """
UPDATE mails SET letter_sealed = :nothing WHERE id IN (
    SELECT id FROM mails WHERE length(letter_sealed) > 0 AND completed_at < :before LIMIT :count
)
"""
_WITHDRAWN_ANY_ORG = """queue = :queue AND kind = :kind AND (CAST(:about AS TEXT) IS NULL OR about = :about)
    AND (CAST(:recipient_folded AS TEXT) IS NULL OR recipient_folded = :recipient_folded)"""
_WITHDRAW_ANY_ORG = f"""
UPDATE mails SET status = 'failed', due_at = NULL, completed_at = :now, last_error = :why, letter_sealed = :nothing
WHERE due_at IS NOT NULL AND holder IS NULL AND {_WITHDRAWN_ANY_ORG}
"""
_EXPIRE_ANY_ORG = f"""
UPDATE mails SET expires_at = :now WHERE due_at IS NOT NULL AND holder IS NOT NULL AND {_WITHDRAWN_ANY_ORG}
"""
_FORGET_GIVEN_UP_ANY_ORG = f"""
UPDATE mails SET letter_sealed = :nothing
WHERE completed_at > :since AND length(letter_sealed) > 0 AND {_WITHDRAWN_ANY_ORG}
"""
_SWEEP_ANY_ORG = """
DELETE FROM mails WHERE id IN (
    SELECT id FROM mails WHERE completed_at IS NOT NULL AND completed_at < :before ORDER BY completed_at LIMIT :count
)
"""
_INSERT_ATTEMPT = """
INSERT INTO mail_attempts (mail_id, number, begun_at, duration_ms, outcome, code, answer)
VALUES (:mail_id, :number, :begun_at, :duration_ms, :outcome, :code, :answer)
ON CONFLICT (mail_id, number) DO NOTHING
"""


class NewMail(NamedTuple):
    """A mail to be written. `org_id` None: it is about a person's own account. `expires_at`: when it says nothing any
    more, such as the end of its link; None: never. `recipient_name` empty: nobody knows it. `about` is the id of what
    it tells of; None: nothing that has one.
    """

    kind: Kind
    org_id: str | None
    recipient: str
    letter: Letter
    recipient_name: str = ""
    expires_at: Instant | None = None
    about: str | None = None


class Mail(NamedTuple):
    """A mail as lists show it. `due_at` None: it is over; `last_code` None: the server has answered nothing."""

    id: str
    org_id: str | None
    kind: str
    recipient: str
    subject: str
    status: Status
    attempts: int
    due_at: Instant | None
    last_code: int | None
    last_error: str | None
    last_attempt_at: Instant | None
    completed_at: Instant | None
    expires_at: Instant | None
    created_at: Instant


class Waiting(NamedTuple):
    """What waits in all, counted up to a bound. `first_due` None: nothing does."""

    mails: int
    first_due: Instant | None


class Standing(NamedTuple):
    """How it stands with one organization's mail; `organization` empty: of people's own accounts.

    `first_due` None: nothing waits. `given_up` is what the server has not taken lately, or what was withdrawn.
    """

    organization: str
    waiting: int
    first_due: Instant | None
    given_up: int


class GivenUp(NamedTuple):
    """A mail that is sent no more. `can_be_resent`: what it says is kept, and holds still."""

    id: str
    organization: str
    kind: str
    recipient: str
    why: str | None
    at: Instant
    can_be_resent: bool


class Attempt(NamedTuple):
    """One attempt that has ended. `duration_ms` None: nobody knows when."""

    number: int
    begun_at: Instant
    duration_ms: int | None
    outcome: Outcome
    code: int | None
    answer: str | None


def queue(tx: WriteTx, mail: NewMail) -> str:
    """Write a mail in the transaction of its cause, and wake who sends it; answers its id."""
    id_, letter = tx.new_id("mail"), mail.letter.one_line_each()
    tx.run(
        _INSERT_ANY_ORG,
        id=id_,
        about_org=mail.org_id,
        queue=mail.org_id or NO_QUEUE,
        kind=mail.kind,
        about=mail.about,
        recipient=mail.recipient,
        recipient_folded=mail.recipient.strip().lower(),
        recipient_name=one_line(mail.recipient_name),
        subject=letter.subject,
        letter_sealed=tx.seal(msgspec.json.encode(letter).decode(), context_of(id_)),
        expires_at=mail.expires_at,
    )
    tx.announce(TOPIC)
    return id_


def context_of(id_: str) -> str:
    """What a letter is sealed under."""
    return f"mails.letter:{id_}"


def open_letter(tx: ReadTx, id_: str, sealed: bytes) -> Letter | None:
    """None where it does not open with this instance's key, or is gone."""
    try:
        return msgspec.json.decode(tx.unseal(sealed, context_of(id_)), type=Letter) if sealed else None
    except (StoreFailure, ValueError):
        return None


def resend(tx: WriteTx, id_: str) -> bool:
    """Queue one anew that the server has not taken; False where that cannot be: it was sent, or says nothing any more.

    Its time begins anew. It keeps its Message-ID.
    """
    done = tx.run(_RESEND_ANY_ORG, id=id_) == 1
    if done:
        tx.announce(TOPIC)
    return done


def withdraw(
    tx: WriteTx, kind: Kind, org_id: str | None, *, about: str | None = None, recipient: str | None = None
) -> int:
    """Send no more what was written of a kind, about one thing or to one address; answers how many waited.

    What is on its way already goes: it is not tried once more. What was given up cannot be sent again. `about` and
    `recipient` None: of whatever, to whomever.
    """
    folded = None if recipient is None else recipient.strip().lower()
    values = {"queue": org_id or NO_QUEUE, "kind": kind, "about": about, "recipient_folded": folded}
    tx.run(_EXPIRE_ANY_ORG, **values)
    tx.run(_FORGET_GIVEN_UP_ANY_ORG, **values, since=tx.now - LETTER_KEPT, nothing=b"")
    return tx.run(_WITHDRAW_ANY_ORG, **values, why=WITHDRAWN, nothing=b"")


def forget_letter(tx: WriteTx, id_: str) -> None:
    """What it says is lost: it fails when its turn comes."""
    tx.run(_FORGET_LETTER_ANY_ORG, id=id_, nothing=b"")


def insert_attempts(tx: WriteTx, attempts: Sequence[tuple[str, Attempt]]) -> None:
    """Put attempts on record, each with the id of its mail."""
    for mail_id, attempt in attempts:
        tx.run(_INSERT_ATTEMPT, mail_id=mail_id, **attempt._asdict())


def find(tx: ReadTx, id_: str) -> Mail | None:
    """A mail of whichever organization; None: there is none."""
    row = tx.row(_GET_ANY_ORG, id=id_)
    return None if row is None else _mail(row)


def list_attempts(tx: ReadTx, id_: str) -> list[Attempt]:
    """Those of one mail that have ended, oldest first."""
    return [Attempt(*row) for row in tx.rows(_ATTEMPTS, id=id_)]


def list_all(tx: ReadTx, status: str | None, limit: int) -> list[Mail]:
    """Those of the whole instance, newest first. `status` None: whatever it is."""
    return [_mail(row) for row in tx.rows(_LIST_ANY_ORG, status=status, limit=limit)]


def list_of_organization(tx: ReadTx, status: str | None, limit: int) -> list[Mail]:
    """Those of the transaction's organization, newest first. `status` None: whatever it is."""
    return [_mail(row) for row in tx.rows(_LIST, status=status, limit=limit)]


def list_about(tx: ReadTx, about: str, limit: int) -> list[Mail]:
    """Those of the transaction's organization that tell of something, newest first."""
    return [_mail(row) for row in tx.rows(_LIST_ABOUT, about=about, limit=limit)]


def count_lately(tx: ReadTx, kind: Kind, recipient: str, since: Instant, about: str | None = None) -> int:
    """How many of a kind were written to an address since an instant. `about` None: of whatever."""
    values = {"recipient_folded": recipient.strip().lower(), "kind": kind, "about": about}
    return int(tx.value(_COUNT_LATELY_ANY_ORG, **values, since=since))


def count_failed(tx: ReadTx, since: Instant) -> int:
    """How many of the whole instance the server has not taken, given up since an instant."""
    return int(tx.value(_COUNT_FAILED_ANY_ORG, since=since))


def waiting(tx: ReadTx) -> Waiting:
    """What waits of the whole instance, counted up to `COUNTED`."""
    row = tx.row(_WAITING_ANY_ORG, count=COUNTED)
    assert row is not None
    return Waiting(*row)


def standing(tx: ReadTx, since: Instant, count: int) -> list[Standing]:
    """Of each organization with mail that waits, or was given up since an instant: most given up first."""
    return [Standing(*row) for row in tx.rows(_STANDING_ANY_ORG, since=since, count=count)]


def given_up(tx: ReadTx, since: Instant, count: int) -> list[GivenUp]:
    """What was given up since an instant, of the whole instance, the latest first."""
    rows = tx.rows(_GIVEN_UP_ANY_ORG, since=since, count=count)
    return [GivenUp._make((*row[:-1], bool(row[-1]))) for row in rows]


def sweep(tx: WriteTx, before: Instant) -> int:
    """Delete at most `SWEEP_ROWS` that were over before an instant; returns how many."""
    return tx.run(_SWEEP_ANY_ORG, before=before, count=SWEEP_ROWS)


def forget_letters(tx: WriteTx, before: Instant) -> int:
    """Forget what at most `SWEEP_ROWS` said that were given up before an instant; returns how many."""
    return tx.run(_FORGET_LETTERS_ANY_ORG, before=before, count=SWEEP_ROWS, nothing=b"")


def _mail(row: Row) -> Mail:
    return Mail(*row)
