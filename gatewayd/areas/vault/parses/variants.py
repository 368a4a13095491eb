"""Files that were made from documents: pictures of pages, their text, and PDFs whose text can be searched. Owns the
table `vault_variants`. The bytes lie beside the database, under their digest.
"""

from typing import Final, Literal

from msgspec import Struct

from gatewayd.clock import Instant
from gatewayd.identity.random_tokens import make_token
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.rows.columns import Columns

MadeVariant = Literal["searchable_pdf", "text", "thumbnail"]
THUMBNAILS: Final = "/vault/thumbnails/"
"""Where the pictures that documents name as `thumbnailUrl` are served, beside the API."""
PREFIX: Final = "gwd_thb_"  # logs hide what begins so
WHOLE: Final = 0
"""The page of what is made of a whole document."""


class VariantRow(Struct, frozen=True, kw_only=True):
    """One file. `page` 0: it is of the whole document; a size in pixels is 0 where it is no picture.

    `width` is what was asked for, `drawn_width` what it has: a small picture is not made larger.
    """

    variant: MadeVariant
    page: int
    width: int
    drawn_width: int
    height: int
    mime_type: str
    size_bytes: int
    sha256: str
    created_at: Instant


_VARIANTS: Final = Columns(VariantRow)
_SELECT = f"""
SELECT {_VARIANTS.sql} FROM vault_variants
WHERE org_id = :org_id AND document_id = :document_id AND variant = :variant AND page = :page AND width = :width
"""
_PUT = """
INSERT INTO vault_variants
    (org_id, document_id, variant, page, width, drawn_width, height, mime_type, size_bytes, sha256, created_at)
VALUES (:org_id, :document_id, :variant, :page, :width, :drawn_width, :height, :mime_type, :size_bytes, :sha256,
    :now)
ON CONFLICT (org_id, document_id, variant, page, width) DO UPDATE SET
    drawn_width = excluded.drawn_width, height = excluded.height,
    mime_type = excluded.mime_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
    created_at = excluded.created_at
"""
_FORGET_TEXT = """
DELETE FROM vault_variants WHERE org_id = :org_id AND document_id = :document_id AND variant <> 'thumbnail'
"""
_FORGET = "DELETE FROM vault_variants WHERE org_id = :org_id AND document_id = :document_id"


def find(tx: ReadTx, document_id: str, variant: MadeVariant, page: int = WHOLE, width: int = 0) -> VariantRow | None:
    """The file of that kind that was made of a document, or of a page of it in that width."""
    values = tx.row(_SELECT, document_id=document_id, variant=variant, page=page, width=width)
    return None if values is None else _VARIANTS.load(values)


def put(tx: WriteTx, document_id: str, row: VariantRow) -> None:
    """Note a file whose bytes are durable, in the place of one of the same kind, page and width."""
    values = dict(zip(_VARIANTS.names, _VARIANTS.dump(row), strict=True))
    values.pop("created_at")
    tx.run(_PUT, document_id=document_id, **values)


def forget_text(tx: WriteTx, document_id: str) -> None:
    """Forget what depends on the text that was read in a document. The bytes are swept once nothing names them."""
    tx.run(_FORGET_TEXT, document_id=document_id)


def forget(tx: WriteTx, document_id: str) -> None:
    """Forget all that was made of a document that goes for good."""
    tx.run(_FORGET, document_id=document_id)


def new_address(document_id: str, page: int, width: int) -> str:
    """A path of the picture of a page: whoever has it sees the picture, as long as the document names it."""
    return f"{THUMBNAILS}{document_id}/{page}-{width}-{make_token(PREFIX)}.webp"


def is_of(address: str | None, document_id: str, page: int, width: int) -> bool:
    """Whether an address is one of that picture."""
    return address is not None and address.startswith(f"{THUMBNAILS}{document_id}/{page}-{width}-{PREFIX}")


def is_ours(address: str | None) -> bool:
    """Whether an address is of a picture that was made here."""
    return address is not None and address.startswith(THUMBNAILS)


def parse_address(path: str) -> tuple[str, int, int] | None:
    """Document, page and width of an address; None: it is none."""
    document_id, slash, name = path.removeprefix(THUMBNAILS).partition("/")
    page, _, rest = name.partition("-")
    width, _, _ = rest.partition("-")
    if not slash or not all(text.isascii() and text.isdigit() and len(text) < 6 for text in (page, width)):
        return None
    return document_id, int(page), int(width)
