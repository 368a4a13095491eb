"""Links to documents as they are stored: whoever has the address reads the bytes. Owns the table `vault_links`.

The token in the address is 256 random bits, of which the hash is stored.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.links.shapes import DocumentLinkAccess, LinkRow
from gatewayd.clock import HOUR, MINUTE, Instant
from gatewayd.contract.wire import project
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
_FORGET = "DELETE FROM vault_links WHERE org_id = :org_id AND document_id = :document_id"
_SELECT_WRONG = "SELECT wrong_passwords, locked_until FROM vault_links WHERE org_id = :org_id AND id = :id"


class OpenLink(NamedTuple):
    """What a token opens."""

    org_id: str
    link: LinkRow
    document: DocumentRow


class Try(NamedTuple):
    """A password that is being tried. `locked_until` None: it is to be verified."""

    opened: OpenLink
    locked_until: Instant | None


def find(tx: ReadTx, token: str) -> OpenLink | None:
    """The link of a token; the transaction acts for its organization from now on.

    None: there is no such one, it is revoked, over or used up, or its document is not there any more.
    """
    found = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    if found is None:
        return None
    org_id, id_ = found
    tx.bind(org_id)
    link = LINKS.get(tx, id_)
    document = DOCUMENTS.get(tx, link.document_id)
    if link.revoked_at is not None or document.status != "uploaded":
        return None
    if link.expires_at is not None and link.expires_at <= tx.now:
        return None
    if link.max_downloads is not None and link.downloads >= link.max_downloads:
        return None
    return OpenLink(org_id, link, document)


def count_download(tx: WriteTx, token: str) -> bool:
    """Count a download before its first byte is sent; False where the link is used up, or over, meanwhile."""
    found = find(tx, token)
    if found is None:
        return False
    tx.run(_COUNT_DOWNLOAD, id=found.link.id)
    return True


def begin_try(tx: WriteTx, token: str) -> Try | None:
    """Count a password as wrong before it is verified, so that many at once are no more than many in a row.

    None as in `find`. Each failure after the first `TRIES` locks the link for a minute, then two, up to an hour.
    """
    found = find(tx, token)
    if found is None:
        return None
    wrong, locked_until = tx.row(_SELECT_WRONG, id=found.link.id) or (0, None)
    if locked_until is not None and locked_until > tx.now:
        return Try(found, Instant(locked_until))
    over = wrong + 1 - TRIES
    lock = None if over < 0 else tx.now + min(MINUTE << min(over, 6), HOUR)
    tx.run(_NOTE_WRONG, id=found.link.id, locked_until=lock)
    return Try(found, None)


def take_right(tx: WriteTx, token: str) -> bool:
    """Take a try back whose password was right, and count the download; False as in `count_download`."""
    found = find(tx, token)
    if found is None:
        return False
    tx.run(_NOTE_RIGHT, id=found.link.id)
    return count_download(tx, token)


def revoke(tx: WriteTx, link_id: str) -> LinkRow:
    """End a link; one that has ended stays as it is. Raises `Problem` `not_found`."""
    row = LINKS.get(tx, link_id)
    return row if row.revoked_at is not None else LINKS.update(tx, replace(row, revoked_at=Instant(tx.now)))


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
