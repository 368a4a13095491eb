"""Gives the bytes of documents away: finds them on the disk, and makes the addresses under which they are read."""

from pathlib import Path, PurePath
from typing import Final, NamedTuple, Protocol

import trio

from gatewayd.areas.vault import links
from gatewayd.areas.vault.documents.rows import uploaded
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.downloads import DocumentDownload, GetDocumentDownloadUrl
from gatewayd.areas.vault.links import LINKS, GenerateTemporalLink, LinkRow, TemporalLink, Variant
from gatewayd.areas.vault.parses.variants import MadeVariant, VariantRow
from gatewayd.clock import SECOND, Instant
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, invalid_field
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import Store, WriteTx
from gatewayd.store.files.blobs import Blobs
from gatewayd.vault_files import download_tokens
from gatewayd.vault_files.download_tokens import Download
from gatewayd.vault_files.link_passwords import LinkPasswords

FETCHED_AT_ONCE: Final = 8  # Chosen: from a bucket; what is at hand does not wait for them
DOWNLOADS: Final = "/vault/files/"
"""Where download URLs lead, beside the API; the token follows."""


_ENDINGS: Final[dict[MadeVariant, str]] = {"searchable_pdf": ".pdf", "text": ".txt", "thumbnail": ".webp"}


class MadeFiles(Protocol):
    """What makes files of documents, or has made them."""

    async def of(self, org_id: str, row: DocumentRow, variant: MadeVariant, /) -> VariantRow:
        """Raises `Problem`: `gone`, and `validation_failed` where there is none."""
        ...


class GivenFile(NamedTuple):
    """The bytes of a document, or of what was made of it. `name` is what they are saved under."""

    path: Path
    size_bytes: int
    sha256: str
    name: str
    mime_type: str


class VaultFiles:
    """The bytes of one store's documents. `gives_links`: whether anything may be given to strangers at all."""

    def __init__(
        self, store: Store, blobs: Blobs, public_url: str, made_files: MadeFiles, *, gives_links: bool
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._made_files = made_files
        self.passwords = LinkPasswords()
        self._public_url = public_url
        self._gives_links = gives_links
        self._threads = trio.CapacityLimiter(4)
        self._fetching = trio.CapacityLimiter(FETCHED_AT_ONCE)

    async def download_url(self, caller: Caller, request: GetDocumentDownloadUrl) -> DocumentDownload:
        """A URL that gives the bytes for a while, for as long as the caller could have another one.

        Raises `Problem`: `not_found`, `not_uploaded`, `gone`, `validation_failed` for a variant that there is not.
        """
        org_id = caller.org_id
        row = await self._store.read(lambda tx: uploaded(tx, request.document_id), org_id)
        file = await self.file_of(org_id, row, request.variant)
        now = self._store.now()
        until = Instant(now + request.ttl_seconds * SECOND)
        download = Download(
            org=org_id,
            document=row.id,
            variant=request.variant,
            inline=request.disposition == "inline",
            until=int(until),
            reader=caller.reference,
            made=int(now),
            credential=caller.credential_id,
        )
        token = await self._store.read(lambda tx: download_tokens.make(tx, download), org_id)
        return DocumentDownload(
            url=f"{self._public_url}{DOWNLOADS}{token}",
            expires_at=until,
            file_name=file.name,
            mime_type=file.mime_type,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
        )

    async def create_link(self, caller: Caller, request: GenerateTemporalLink) -> TemporalLink:
        """A link to give away.

        What it leads to is made now, and is there when a stranger comes. Raises `Problem`: `not_found`, `not_uploaded`,
        `gone`, `public_links_disabled`, `validation_failed`.
        """
        if not self._gives_links:
            raise Problem("public_links_disabled", "The settings of this instance allow no public links.")
        if request.permanent == (request.expires_in_seconds is not None):
            message = "A link either is permanent or ends: give permanent: true or expiresInSeconds, not both."
            raise invalid_field("expiresInSeconds", "conflict" if request.permanent else "required", message)
        row = await self._store.read(lambda tx: uploaded(tx, request.document_id), caller.org_id)
        if request.variant != "original":
            await self._made_files.of(caller.org_id, row, request.variant)
        hashed = None if request.password is None else await self.passwords.hash(caller.org_id, request.password)
        token = make_token(links.PREFIX)

        def add(tx: WriteTx) -> LinkRow:
            uploaded(tx, row.id)  # as it is now
            ends = None if request.expires_in_seconds is None else Instant(tx.now + request.expires_in_seconds * SECOND)
            return LINKS.insert(
                tx,
                LINKS.new(
                    tx,
                    None,
                    document_id=row.id,
                    token_hash=hash_token(token),
                    variant=request.variant,
                    expires_at=ends,
                    password_hash=hashed,
                    max_downloads=request.max_downloads,
                    downloads=0,
                    user_id=caller.user_id,
                    created_by=caller.reference,
                ),
            )

        link = await self._store.write(add, caller.org_id)
        return TemporalLink(
            id=link.id,
            url=f"{self._public_url}{links.PATH}{token}",
            token=token,
            expires_at=link.expires_at,
            permanent=link.expires_at is None,
        )

    async def file_of(self, org_id: str, row: DocumentRow, variant: Variant) -> GivenFile:
        """The bytes of an uploaded document, or what was or is now made of it.

        Raises `Problem`: `gone` where they are lost, `validation_failed` where there is no such variant.
        """
        if variant == "original":
            assert row.size_bytes is not None, "uploaded"
            assert row.sha256 is not None, "uploaded"
            path = await self.path_of(row.sha256)
            return GivenFile(path, row.size_bytes, row.sha256, row.name, row.mime_type)
        made = await self._made_files.of(org_id, row, variant)
        name = row.name.removesuffix(PurePath(row.name).suffix) + _ENDINGS[variant]
        return GivenFile(await self.path_of(made.sha256), made.size_bytes, made.sha256, name, made.mime_type)

    async def path_of(self, sha256: str) -> Path:
        """Where bytes are. Raises `Problem` `gone` where they are lost."""
        try:
            path = await trio.to_thread.run_sync(self._blobs.at_hand, sha256, limiter=self._threads)
            if path is None:
                path = await trio.to_thread.run_sync(self._blobs.path, sha256, limiter=self._fetching)
            return path
        except FileNotFoundError:
            raise Problem("gone", "The bytes of this document are gone from the data directory.") from None
