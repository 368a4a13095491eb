"""Links to documents (Domain B7): whoever has the address reads the bytes. Owns the table `vault_links`.

The token in the address is 256 random bits, of which the hash is stored. Links are made in `vault_files`.
"""

from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.clock import HOUR, MINUTE, Instant, to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, PageRequest, cursor_key, fill, next_cursor
from gatewayd.contract.wire import Id, Request, Response, Timestamp, Version, encode, project
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.identity.people import suspensions
from gatewayd.identity.random_tokens import hash_token
from gatewayd.store import ReadTx, Row, Table, WriteTx

PATH: Final = "/l/"
"""Where links are served; the token follows."""
TRIES: Final = 10  # Chosen
PREFIX: Final = "gwd_lnk_"  # logs hide what begins so

Variant = Literal["original", "searchable_pdf", "text", "thumbnail"]
LinkPassword = Annotated[str, Meta(min_length=4, max_length=1024, description="Asked of whoever opens the link.")]


class DocumentLinkAccess(Response, frozen=True, kw_only=True):
    """A link to a document, without its address."""

    id: Id
    document_id: Id
    """The document that it leads to."""
    variant: Variant
    """What it gives: the `original`, or the file of that kind that is made of it."""
    expires_at: Timestamp | None
    """When it ends. Null: it is permanent."""
    permanent: bool
    """Whether it has no end of its own."""
    has_password: bool
    """Whether whoever opens it is asked for a password."""
    max_downloads: int | None
    """After how many downloads it ends. Null: after none."""
    downloads: int
    """How many downloads it has given."""
    last_accessed_at: Timestamp | None
    """When it was downloaded last. Null: it never was."""
    revoked_at: Timestamp | None
    """When it was ended. Null: nobody has ended it."""
    created_by: str
    """The user who created it, or the credential where there is no user."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class LinkRow(DocumentLinkAccess, frozen=True, kw_only=True):
    """A link as it is stored. `user_id` None: it ends with nobody's membership."""

    token_hash: bytes
    password_hash: str | None
    user_id: str | None


class ListLinks(PageRequest, frozen=True, kw_only=True):
    """The links of which document."""

    document_id: Id


class RevokeLink(Request, frozen=True, kw_only=True):
    """Which link to end."""

    link_id: Id
    """The link to end."""
    expected_version: Version | None = None


class GenerateTemporalLink(Request, frozen=True, kw_only=True):
    """To which document, and until when."""

    document_id: Id
    """The document, whose bytes have to be there."""
    expires_in_seconds: Annotated[int, Meta(ge=60, le=31_536_000)] | None = None
    """After how many seconds it ends: give this, or `permanent`."""
    permanent: bool = False
    """Whether it has no end of its own: give this, or `expiresInSeconds`."""
    password: LinkPassword | None = None
    max_downloads: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """After how many downloads it ends. Left out: after none."""
    variant: Variant = "original"
    """`original`: the bytes that were uploaded; `searchable_pdf`: a scan with its text behind the picture; `text`: what
    was read in it, UTF-8; `thumbnail`: a picture of the first page."""


class TemporalLink(Response, frozen=True, kw_only=True):
    """A link for anybody, whose address and token are shown this once."""

    id: Id
    url: str
    """The address, which anybody can open who has it."""
    token: str
    """The end of the address, by which the link is known."""
    expires_at: Timestamp | None
    """When it ends. Null: it is permanent."""
    permanent: bool
    """Whether it has no end of its own."""


LINKS = Table(
    "vault_links",
    LinkRow,
    kind="link",
    prefix="lnk",
    derived={
        "permanent": lambda _, row: row.expires_at is None,
        "has_password": lambda _, row: row.password_hash is not None,
    },
)
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
_SELECT_OF_DOCUMENT = f"""{LINKS.select} AND document_id = :document_id AND id < :after
ORDER BY id DESC LIMIT :count"""


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
    values = tx.row(_SELECT_ANY_ORG, hash=hash_token(token))
    if values is None:
        return None
    org_id, id_ = values
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
    opened = find_open(tx, link_id)
    if opened is None or opened.is_used_up:
        return False
    tx.run(_COUNT_DOWNLOAD, id=link_id)
    return True


def begin_try(tx: WriteTx, token: str) -> Try | None:
    """Count a password as wrong before it is verified, so that many at once are no more than many in a row.

    None as in `find`, or the link is used up. Each failure after the first `TRIES` locks it for a minute, then two, up
    to an hour.
    """
    opened = find(tx, token)
    if opened is None or opened.is_used_up:
        return None
    wrong, locked_until = tx.row(_SELECT_WRONG, id=opened.link.id) or (0, None)
    if locked_until is not None and locked_until > tx.now:
        return Try(opened, Instant(locked_until))
    over = wrong + 1 - TRIES
    lock = None if over < 0 else tx.now + min(MINUTE << min(over, 6), HOUR)
    tx.run(_NOTE_WRONG, id=opened.link.id, locked_until=lock)
    return Try(opened, None)


def take_right(tx: WriteTx, token: str) -> bool:
    """Take a try back whose password was right; False where the link is used up, or over, meanwhile.

    What it opens is counted as it is read.
    """
    opened = find(tx, token)
    if opened is None or opened.is_used_up:
        return False
    tx.run(_NOTE_RIGHT, id=opened.link.id)
    return True


def revoke(tx: WriteTx, link_id: str, expected_version: int | None = None) -> LinkRow:
    """End a link; one that has ended stays as it is. Raises `Problem`: `not_found`, `version_conflict`."""
    row = LINKS.get(tx, link_id, expected_version)
    return row if row.revoked_at is not None else LINKS.update(tx, replace(row, revoked_at=Instant(tx.now)))


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The links that lead anywhere, by id; also to documents in the trash, which may come back."""
    rows = tx.rows(_SELECT_OPEN, **sought._asdict())
    return [Opening._make((*row[:-1], None if row[-1] is None else to_wire(Instant(row[-1]))[:10])) for row in rows]


def hand_over(tx: WriteTx, link_id: str, user_id: str) -> None:
    """Let a link end with the membership of somebody else."""
    LINKS.update(tx, replace(LINKS.get(tx, link_id), user_id=user_id))


def forget(tx: WriteTx, document_id: str) -> None:
    """Delete the links to a document that goes for good."""
    tx.run(_FORGET, document_id=document_id)


def shown(row: LinkRow) -> DocumentLinkAccess:
    """The link as lists show it."""
    return project(row, DocumentLinkAccess)


# -- operations


def list_links(tx: ReadTx, caller: Caller, request: ListLinks) -> Listing[DocumentLinkAccess]:
    """List the links to a document, newest first, ended ones too; their addresses are never in it."""
    documents.get(tx, request.document_id)
    key = cursor_key(request, str)
    values = {"document_id": request.document_id, "after": MAX_KEY if key is None else key[0]}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(shown(LINKS.read(tx, row))))
        return len(items[-1])

    taken, more = fill(tx.each(_SELECT_OF_DOCUMENT, count=request.limit + 1, **values), request.limit, size)
    return Listing.of(items[: len(taken)], next_cursor(request, (taken[-1][0],)) if more else None)


def revoke_link(tx: WriteTx, caller: Caller, request: RevokeLink) -> DocumentLinkAccess:
    """End a link: from the next request on its address is not found."""
    return shown(revoke(tx, request.link_id, request.expected_version))


OPERATIONS = (
    Operation(
        id="vault.listLinks",
        kind="read",
        method="GET",
        path="/vault/documents/:documentId/links",
        scopes=("vault:read",),
        request=ListLinks,
        response=Page[DocumentLinkAccess],
        handler=list_links,
        extension=True,
        example={"documentId": "doc_01k0000000000000000000000a"},
    ),
    Operation(
        id="vault.revokeLink",
        kind="write",
        method="POST",
        path="/vault/links/:linkId/revoke",
        scopes=("vault:write",),
        request=RevokeLink,
        response=DocumentLinkAccess,
        handler=revoke_link,
        errors=("version_conflict",),
        extension=True,
        example={"linkId": "lnk_01k0000000000000000000000a"},
    ),
)

BY_ENGINE: Final = (
    Operation(
        id="vault.generateTemporalLink",
        kind="call",
        method="POST",
        path="/vault/documents/:documentId/temporal-link",
        scopes=("vault:write",),
        request=GenerateTemporalLink,
        response=TemporalLink,
        handler=AT_CATALOGUE,
        secret=True,
        errors=("not_uploaded", "public_links_disabled"),
        example={"documentId": "doc_01k0000000000000000000000a", "expiresInSeconds": 604800, "maxDownloads": 5},
    ),
)
"""What makes one: a row whose handler is `vault_files`'s."""
