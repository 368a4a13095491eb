"""What the addresses of documents lead to (Domain A7): download URLs, links that were given away, and pictures.

Doors ask here and know neither documents nor links. An address that is unknown, over or revoked leads to nothing.
"""

import hmac
from functools import partial
from typing import Final, NamedTuple

from gatewayd.areas.vault import links
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.rows import DOCUMENTS, UPLOADED, uploaded
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.links import OpenLink, Variant
from gatewayd.areas.vault.parses import variants
from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.vault_files import download_tokens
from gatewayd.vault_files.download_tokens import Download
from gatewayd.vault_files.engine import DOWNLOADS, GivenFile, VaultFiles
from gatewayd.vault_files.link_transfers import LinkTransfers, Piece, Sending

TOKEN_MAX: Final = 100  # characters of a link; ours have half as many
ADDRESS_MAX: Final = 300  # characters of a picture's; ours have half as many
AFTER_PASSWORD: Final = 300 * SECOND  # Chosen: how long the bytes can be read after a password
PICTURE: Final = "thumbnail.webp"


class OpenAddress(NamedTuple):
    """A document, or what is made of it, at an address. `link` None: the address is a download URL.

    `reader` is whose reading it counts as.
    """

    org_id: str
    document: DocumentRow
    variant: Variant
    inline: bool
    reader: str
    link: OpenLink | None

    @property
    def rate_key(self) -> str:
        """What has a rate: the link, or the document for one reader."""
        return f"{self.reader} {self.document.id}" if self.link is None else self.link.link.id

    @property
    def has_password(self) -> bool:
        """Whether it is behind one."""
        return self.link is not None and self.link.link.password_hash is not None

    @property
    def is_used_up(self) -> bool:
        """Whether it gives no other download than those that were counted."""
        return self.link is not None and self.link.is_used_up


class Tried(NamedTuple):
    """What a password came to: a path that gives the bytes for some minutes. None: it was wrong, or `is_locked`."""

    path: str | None
    is_locked: bool = False


class Giving:
    """The addresses of one store's documents."""

    def __init__(self, store: Store, files: VaultFiles) -> None:
        self._store = store
        self._files = files
        self._transfers = LinkTransfers()

    async def download(self, token: str) -> OpenAddress | None:
        """What a download URL leads to. Raises `Problem`: `not_found`, `not_uploaded`."""
        return await self._store.read(partial(_download, token=token))

    async def link(self, token: str) -> OpenAddress | None:
        """What a link leads to."""
        link = None if len(token) > TOKEN_MAX else await self._store.read(partial(links.find, token=token))
        return None if link is None else _of_link(link)

    async def picture(self, path: str) -> GivenFile | None:
        """The picture at a path that a document names. Raises `Problem` `gone`."""
        variant = await self._store.read(partial(_picture, path=path))
        if variant is None:
            return None
        bytes_at = await self._files.path_of(variant.sha256)
        return GivenFile(bytes_at, variant.size_bytes, variant.sha256, PICTURE, variant.mime_type)

    async def file_of(self, opened: OpenAddress) -> GivenFile:
        """Raises `Problem`: `gone`, `validation_failed` for what cannot be made of it any more."""
        return await self._files.file_of(opened.org_id, opened.document, opened.variant)

    async def note_read(self, opened: OpenAddress) -> None:
        """Note who reads it. A full disk is no reason not to let them."""
        document_id, reader = opened.document.id, opened.reader
        try:
            await self._store.write(lambda tx: documents.note_access(tx, document_id, reader), opened.org_id)
        except StoreFailure:
            return

    async def sending(self, opened: OpenAddress, piece: Piece) -> Sending | None:
        """The answer that sends a piece of a link, counted unless it goes on with one that was; None: it is used up."""
        link_id, org_id = opened.rate_key, opened.org_id
        sending = await self._transfers.going_on(link_id, piece)
        if sending is not None:
            return sending
        if not await self._store.write(partial(links.count_download, link_id=link_id), org_id):
            return None
        return self._transfers.counted(link_id, piece)

    async def unlock(self, token: str, password: str) -> Tried | None:
        """Try the password of a link; None: it leads to nothing, or not any more."""
        tried = await self._store.write(partial(links.begin_try, token=token))
        if tried is None:
            return None
        if tried.locked_until is not None:
            return Tried(None, is_locked=True)
        opened = tried.opened
        hashed = opened.link.password_hash
        if hashed is not None and not await self._files.passwords.verify(opened.org_id, hashed, password):
            return Tried(None)
        if not await self._store.write(partial(links.take_right, token=token)):
            return None
        return Tried(await self._store.read(lambda tx: DOWNLOADS + download_tokens.make(tx, _unlocked(tx, opened))))


def _download(tx: ReadTx, token: str) -> OpenAddress | None:
    download = download_tokens.open_token(tx, token)
    if download is None:
        return None
    opened = links.find_open(tx, download.reader) if download.is_of_link else None
    if download.is_of_link and opened is None:
        return None
    return OpenAddress(
        download.org, uploaded(tx, download.document), download.variant, download.inline, download.reader, opened
    )


def _of_link(opened: OpenLink) -> OpenAddress:
    return OpenAddress(opened.org_id, opened.document, opened.link.variant, True, opened.link.id, opened)


def _unlocked(tx: ReadTx, opened: OpenLink) -> Download:
    return Download(
        org=opened.org_id,
        document=opened.document.id,
        variant=opened.link.variant,
        inline=True,
        until=int(tx.now + AFTER_PASSWORD),
        reader=opened.link.id,
    )


def _picture(tx: ReadTx, path: str) -> VariantRow | None:
    """The picture of an address that a document names. None: none does."""
    parsed = variants.parse_address(path) if len(path) <= ADDRESS_MAX and path.isascii() else None
    if parsed is None:
        return None
    document_id, page, width = parsed
    try:
        tx.bind(DOCUMENTS.organization_of(tx, document_id))
    except Problem:
        return None
    row = DOCUMENTS.get(tx, document_id)
    if row.status != UPLOADED or row.thumbnail_url is None:
        return None
    if not hmac.compare_digest(row.thumbnail_url.encode(), path.encode()):
        return None
    return variants.find(tx, document_id, "thumbnail", page, width)
