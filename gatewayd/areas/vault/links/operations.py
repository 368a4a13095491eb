"""Links to documents (Domain B7): what there are, and the end of one. They are made in `vault_files`."""

from typing import Final

from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.links import rows
from gatewayd.areas.vault.links.rows import LINKS
from gatewayd.areas.vault.links.shapes import (
    DocumentLinkAccess,
    GenerateTemporalLink,
    ListLinks,
    RevokeLink,
    TemporalLink,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, cursor_key, fill, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.store import ReadTx, Row, WriteTx

_SELECT_OF_DOCUMENT = f"""{LINKS.select} AND document_id = :document_id AND id < :after
ORDER BY id DESC LIMIT :count"""


def list_links(tx: ReadTx, caller: Caller, request: ListLinks) -> Listing[DocumentLinkAccess]:
    """List the links to a document, newest first, ended ones too; their addresses are never in it."""
    documents.get(tx, request.document_id)
    key = cursor_key(request, str)
    asked = {"document_id": request.document_id, "after": MAX_KEY if key is None else key[0]}
    items: list[bytes] = []

    def size(row: Row) -> int:
        items.append(encode(rows.shown(LINKS.read(tx, row))))
        return len(items[-1])

    found, more = fill(tx.each(_SELECT_OF_DOCUMENT, count=request.limit + 1, **asked), request.limit, size)
    return Listing.of(items[: len(found)], next_cursor(request, (found[-1][0],)) if more else None)


def revoke_link(tx: WriteTx, caller: Caller, request: RevokeLink) -> DocumentLinkAccess:
    """End a link: from the next request on its address is not found."""
    return rows.shown(rows.revoke(tx, request.id))


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
        path="/vault/links/:id/revoke",
        scopes=("vault:write",),
        request=RevokeLink,
        response=DocumentLinkAccess,
        handler=revoke_link,
        extension=True,
        example={"id": "lnk_01k0000000000000000000000a"},
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
