"""Deadlines and the like, told to who leads an organization: gathered, one mail a day, and none to who wants none.

What happened is noted in the transaction of its event. Owns `deadline_notes`, `deadline_mails`, `mail_choices` and
`mail_unsubscribes`.
"""

import datetime
from typing import Final, NamedTuple

from gatewayd.clock import DAY, LONDON, SECOND, Instant
from gatewayd.identity.people import organizations, suspensions
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.mail import notices, outbox
from gatewayd.mail.letters import Action, Letter
from gatewayd.mail.notices import Mailing
from gatewayd.mail.outbox import NewMail
from gatewayd.store import ReadTx, WriteTx

UNSUBSCRIBE: Final = "/sign-in/unsubscribe"
FROM_HOUR: Final = 7  # Chosen: London's; what midnight brings is read with breakfast
LISTED: Final = 40  # Chosen: of one mail
LINK_KEPT: Final = 400 * DAY  # Chosen: a link in an old mail works for a year and more
SWEEP_ROWS: Final = 500  # of one transaction

_INSERT = "INSERT INTO deadline_notes (id, org_id, name, said, created_at) VALUES (:id, :org_id, :name, :said, :now)"
_DUE_ANY_ORG = """
SELECT o.id FROM organizations o LEFT JOIN deadline_mails m ON m.org_id = o.id
WHERE (m.sent_on IS NULL OR m.sent_on < :today)
    AND EXISTS (SELECT 1 FROM deadline_notes n WHERE n.org_id = o.id)
ORDER BY o.id LIMIT 1
"""
_COUNT = "SELECT count(id) FROM deadline_notes WHERE org_id = :org_id"
_LIST = "SELECT name, said FROM deadline_notes WHERE org_id = :org_id ORDER BY id LIMIT :count"
_FORGET = "DELETE FROM deadline_notes WHERE org_id = :org_id"
_SENT = """
INSERT INTO deadline_mails (org_id, sent_on) VALUES (:org_id, :today)
ON CONFLICT (org_id) DO UPDATE SET sent_on = excluded.sent_on
"""
_CHOICE = "SELECT deadlines FROM mail_choices WHERE user_id = :user_id"
_CHOOSE = """
INSERT INTO mail_choices (user_id, deadlines, updated_at) VALUES (:user_id, :deadlines, :now)
ON CONFLICT (user_id) DO UPDATE SET deadlines = excluded.deadlines, updated_at = excluded.updated_at
"""
_INSERT_LINK = "INSERT INTO mail_unsubscribes (hash, user_id, created_at) VALUES (:hash, :user_id, :now)"
_FIND_LINK = "SELECT user_id FROM mail_unsubscribes WHERE hash = :hash"
_SWEEP = """
DELETE FROM mail_unsubscribes WHERE hash IN (
    SELECT hash FROM mail_unsubscribes WHERE created_at < :before LIMIT :count
)
"""


class Note(NamedTuple):
    """One line of a mail: what it is about, and what there is to say."""

    name: str
    said: str


def note(tx: WriteTx, noted: Note) -> None:
    """Keep something to be told of the transaction's organization."""
    tx.run(_INSERT, id=tx.new_id("dln"), name=noted.name, said=noted.said)


def organization_due(tx: ReadTx) -> str | None:
    """An organization whose leaders are to be told now; None: there is none."""
    if datetime.datetime.fromtimestamp(tx.now // SECOND, LONDON).hour < FROM_HOUR:
        return None
    org_id: str | None = tx.value(_DUE_ANY_ORG, today=tx.today)
    return org_id


def send(tx: WriteTx, mailing: Mailing) -> None:
    """Tell the leaders of the transaction's organization what was noted, and forget it.

    One that is suspended is told nothing: what was noted of it is forgotten on its day.
    """
    count = int(tx.value(_COUNT))
    notes = [Note(*row) for row in tx.rows(_LIST, count=LISTED)]
    tx.run(_FORGET)
    tx.run(_SENT, today=tx.today)
    if not notes or suspensions.is_suspended(tx, tx.org_id):
        return
    for user in notices.leaders(tx):
        if wants_deadlines(tx, user.id):
            outbox.queue(tx, NewMail("deadlines", tx.org_id, user.email, _letter(tx, mailing, notes, count, user.id)))


def _letter(tx: WriteTx, mailing: Mailing, notes: list[Note], count: int, user_id: str) -> Letter:
    name = organizations.get(tx, tx.org_id).name
    token = make_token()
    tx.run(_INSERT_LINK, hash=hash_token(token), user_id=user_id)
    what = notes[0].name if count == 1 else f"{count} things to look at"
    more = f"And {count - len(notes)} more."
    return Letter(
        subject=f"{name}: {what}",
        paragraphs=(f"This is what has come near or has passed at {name} since you were told last.",),
        facts=tuple(notes),
        action=Action("Look at it", f"{mailing.issuer}/"),
        after=(more,) if count > len(notes) else (),
        reason=f"You get this at most once a day because you lead {name}.",
        unsubscribe=f"{mailing.issuer}{UNSUBSCRIBE}/{token}",
    )


# -- who wants it


def wants_deadlines(tx: ReadTx, user_id: str) -> bool:
    """Whether somebody is told of deadlines by mail; who never said is."""
    return bool(tx.value(_CHOICE, user_id=user_id) in (None, 1))


def choose(tx: WriteTx, user_id: str, *, deadlines: bool) -> None:
    """Keep whether somebody is told of deadlines by mail; who is not is sent none of those that wait either."""
    tx.run(_CHOOSE, user_id=user_id, deadlines=int(deadlines))
    if not deadlines:
        notices.withdraw_from_all(tx, user_id, "deadlines")


def person_of(tx: ReadTx, token: str) -> str | None:
    """Whose link it is that ends their mail; None: it is unknown, or too old."""
    user_id: str | None = tx.value(_FIND_LINK, hash=hash_token(token))
    return user_id


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` links of old mails; returns how many."""
    return tx.run(_SWEEP, before=Instant(tx.now - LINK_KEPT), count=SWEEP_ROWS)
