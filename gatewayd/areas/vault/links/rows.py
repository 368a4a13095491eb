"""Links to documents as they are stored: whoever has the address reads the bytes. Owns the table `vault_links`.

The token in the address is 256 random bits, of which the hash is stored.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.links.shapes import DocumentLinkAccess, LinkRow
from gatewayd.clock import HOUR, MINUTE, Instant, to_wire
from gatewayd.contract.wire import project
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import suspensions
from gatewayd.identity.random_tokens import hash_token
from gatewayd.store import ReadTx, Table, WriteTx

PATH: Final = "/l/"
"""Where links are served; the token follows."""
TRIES: Final = 10  # Chosen
PREFIX: Final = "gwd_lnk_"  # logs hide what begins so

LINKS = Table("vault_links", LinkRow, kind="link", prefix="lnk")
_SELECT_ANY_ORG = "SELECT org_id, id FROM vault_links WHERE token_hash = :hash"
# Chosen: that a link was used is no change of it.
_COUNT_DOWNLOAD = """
UPDATE vault_links SET downloads = downloads + 1, last_accessed_at = :now WHERE org_id = :org_id AND id = :id
"""


_NOTE_WRONG = """
UPDATE vault_links SET wrong_passwords = wrong_passwords + 1, locked_until = :locked_until
WHERE org_id = :org_id AND id = :id
"""
_NOTE_RIGHT = """
UPDATE vault_links SET wrong_passwords = 0, locked_until = NULL WHERE org_id = :org_id AND id = :id
"""
_SELECT_OPEN = """
SELECT l.id, d.name, l.user_id, l.created_by, l.created_at, l.expires_at, l.last_accessed_at
FROM vault_links l JOIN vault_documents d ON d.org_id = l.org_id AND d.id = l.document_id
WHERE l.org_id = :org_id AND l.id >= :first AND l.revoked_at IS NULL AND (l.expires_at IS NULL OR l.expires_at > :at)
    AND (l.max_downloads IS NULL OR l.downloads < l.max_downloads)
    AND (CAST(:user_id AS TEXT) IS NULL OR l.user_id = :user_id)
ORDER BY l.id LIMIT :limit
"""
_FORGET = "DELETE FROM vault_links WHERE org_id = :org_id AND document_id = :document_id"
_SELECT_WRONG = "SELECT wrong_passwords, locked_until FROM vault_links WHERE org_id = :org_id AND id = :id"


class OpenLink(NamedTuple):
    """What a token opens."""

    org_id: str
    link: LinkRow
    document: DocumentRow

    @property
    def is_used_up(self) -> bool:
        """Whether it gives no other download than those that were counted."""
        most = self.link.max_downloads
        return most is not None and self.link.downloads >= most


class Try(NamedTuple):
    """A password that is being tried. `locked_until` None: it is to be verified."""

    opened: OpenLink
    locked_until: Instant | None


def find(tx: ReadTx, token: str) -> OpenLink | None:
    """The link of a token; the transaction acts for its organization from now on.

    None: there is no such one, it is revoked or over, its document is not there any more, or its organization is
    suspended.
    """
    found = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    if found is None:
        return None
    org_id, id_ = found
    if suspensions.is_suspended(tx, org_id):
        return None
    tx.bind(org_id)
    return find_open(tx, id_)


def find_open(tx: ReadTx, link_id: str) -> OpenLink | None:
    """A link of the transaction's organization; None as in `find`."""
    link = LINKS.find(tx, link_id)
    document = None if link is None or link.revoked_at is not None else DOCUMENTS.find(tx, link.document_id)
    if link is None or document is None or document.status != "uploaded":
        return None
    if link.expires_at is not None and link.expires_at <= tx.now:
        return None
    return OpenLink(tx.org_id, link, document)


def count_download(tx: WriteTx, link_id: str) -> bool:
    """Count a download before its first byte is sent; False where the link is used up, or over, meanwhile."""
    found = find_open(tx, link_id)
    if found is None or found.is_used_up:
        return False
    tx.run(_COUNT_DOWNLOAD, id=link_id)
    return True


def begin_try(tx: WriteTx, token: str) -> Try | None:
    """Count a password as wrong before it is verified, so that many at once are no more than many in a row.

    None as in `find`, or the link is used up. Each failure after the first `TRIES` locks it for a minute, then two, up
    to an hour.
    """
    found = find(tx, token)
    if found is None or found.is_used_up:
        return None
    wrong, locked_until = tx.row(_SELECT_WRONG, id=found.link.id) or (0, None)
    if locked_until is not None and locked_until > tx.now:
        return Try(found, Instant(locked_until))
    over = wrong + 1 - TRIES
    lock = None if over < 0 else tx.now + min(MINUTE << min(over, 6), HOUR)
    tx.run(_NOTE_WRONG, id=found.link.id, locked_until=lock)
    return Try(found, None)


def take_right(tx: WriteTx, token: str) -> bool:
    """Take a try back whose password was right; False where the link is used up, or over, meanwhile.

    What it opens is counted as it is read.
    """
    found = find(tx, token)
    if found is None or found.is_used_up:
        return False
    tx.run(_NOTE_RIGHT, id=found.link.id)
    return True


def revoke(tx: WriteTx, link_id: str) -> LinkRow:
    """End a link; one that has ended stays as it is. Raises `Problem` `not_found`."""
    row = LINKS.get(tx, link_id)
    return row if row.revoked_at is not None else LINKS.update(tx, replace(row, revoked_at=Instant(tx.now)))


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The links that lead anywhere, by id; also to documents in the trash, which may come back."""
    found = tx.rows(_SELECT_OPEN, **sought._asdict())
    return [Opening._make((*row[:-1], None if row[-1] is None else to_wire(Instant(row[-1]))[:10])) for row in found]


def hand_over(tx: WriteTx, link_id: str, user_id: str) -> None:
    """Let a link end with the membership of somebody else."""
    LINKS.update(tx, replace(LINKS.get(tx, link_id), user_id=user_id))


def purge_some(tx: WriteTx, before: Instant) -> int:
    """Delete for good some documents that went into the trash before an instant, with their links.

    Answers how many were looked at. What has to be kept stays.
    """
    found = documents.old_in_trash(tx, before)
    for org_id, document_id in found:
        tx.bind(org_id)
        if documents.is_to_be_kept(tx, document_id):  # an entity was added since
            continue
        tx.run(_FORGET, document_id=document_id)
        documents.forget(tx, document_id)
    return len(found)


def shown(row: LinkRow) -> DocumentLinkAccess:
    """The link as lists show it."""
    return project(
        row, DocumentLinkAccess, permanent=row.expires_at is None, has_password=row.password_hash is not None
    )
