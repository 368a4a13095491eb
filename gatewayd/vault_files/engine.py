"""Gives the bytes of documents away: finds them on the disk, and makes the addresses under which they are read."""

from pathlib import Path
from typing import Final

import trio

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.links import rows as links
from gatewayd.areas.vault.links.rows import LINKS
from gatewayd.areas.vault.links.shapes import LinkRow, Variant
from gatewayd.clock import SECOND, Instant
from gatewayd.errors import Problem, invalid_field
from gatewayd.identity.random_tokens import hash_token, make_token
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.store.blobs import Blobs
from gatewayd.vault_files import download_tokens
from gatewayd.vault_files.download_tokens import Download
from gatewayd.vault_files.link_passwords import LinkPasswords
from gatewayd.vault_files.shapes import DocumentDownload, GenerateTemporalLink, GetDocumentDownloadUrl, TemporalLink

DOWNLOADS: Final = "/vault/files/"
"""Where download URLs lead, beside the API; the token follows."""


class VaultFiles:
    """The bytes of one store's documents. `gives_links`: whether anything may be given to strangers at all."""

    def __init__(self, store: Store, blobs: Blobs, public_url: str, *, gives_links: bool) -> None:
        self._store = store
        self._blobs = blobs
        self.passwords = LinkPasswords()
        self._public_url = public_url
        self._gives_links = gives_links
        self._threads = trio.CapacityLimiter(4)

    async def download_url(self, org_id: str, reader: str, request: GetDocumentDownloadUrl) -> DocumentDownload:
        """A URL that gives the bytes for a while.

        Raises `Problem`: `not_found`, `not_uploaded`, `gone`, `validation_failed` for a variant that there is not.
        """
        row = await self._store.read(lambda tx: uploaded(tx, request.document_id), org_id)
        _refuse_variant(request.variant)
        await self.path_of(row)
        until = Instant(self._store.now() + request.ttl_seconds * SECOND)
        download = Download(
            org=org_id,
            document=row.id,
            variant=request.variant,
            inline=request.disposition == "inline",
            until=int(until),
            reader=reader,
        )
        token = await self._store.read(lambda tx: download_tokens.make(tx, download), org_id)
        assert row.size_bytes is not None
        assert row.sha256 is not None
        return DocumentDownload(
            url=f"{self._public_url}{DOWNLOADS}{token}",
            expires_at=until,
            file_name=row.name,
            mime_type=row.mime_type,
            size_bytes=row.size_bytes,
            sha256=row.sha256,
        )

    async def create_link(self, org_id: str, created_by: str, request: GenerateTemporalLink) -> TemporalLink:
        """A link to give away.

        Raises `Problem`: `not_found`, `not_uploaded`, `public_links_disabled`, `validation_failed`.
        """
        if not self._gives_links:
            raise Problem("public_links_disabled", "The settings of this instance allow no public links.")
        if request.permanent == (request.expires_in_seconds is not None):
            message = "A link either is permanent or ends after expiresInSeconds."
            raise invalid_field("expiresInSeconds", "conflict" if request.permanent else "required", message)
        _refuse_variant(request.variant)
        row = await self._store.read(lambda tx: uploaded(tx, request.document_id), org_id)
        hashed = None if request.password is None else await self.passwords.hash(request.password)
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
                    created_by=created_by,
                ),
            )

        link = await self._store.write(add, org_id)
        return TemporalLink(
            id=link.id,
            url=f"{self._public_url}{links.PATH}{token}",
            token=token,
            expires_at=link.expires_at,
            permanent=link.expires_at is None,
        )

    async def path_of(self, row: DocumentRow) -> Path:
        """Where the bytes of an uploaded document are. Raises `Problem` `gone` where they are lost."""
        assert row.sha256 is not None, "uploaded"
        try:
            return await trio.to_thread.run_sync(self._blobs.path, row.sha256, limiter=self._threads)
        except FileNotFoundError:
            raise Problem("gone", "The bytes of this document are gone from the data directory.") from None


def uploaded(tx: ReadTx, document_id: str) -> DocumentRow:
    """A document whose bytes are there. Raises `Problem`: `not_found`, `not_uploaded`."""
    row = documents.get(tx, document_id)
    if row.status != "uploaded":
        raise Problem("not_uploaded", "Its bytes have not been uploaded and confirmed.")
    return row


def _refuse_variant(variant: Variant) -> None:
    if variant != "original":
        raise invalid_field("variant", "conflict", f"There is no {variant.replace('_', ' ')} of it.")
