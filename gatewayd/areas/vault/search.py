"""Search in the vault (Spec §4, Domain A7 and C9): shapes and the row, whose handler is `search`'s."""

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import ContractId, Document, DocumentFolderFilter, MimeType
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Date, Id, Part, Response, Since

Mode = Literal["hybrid", "text", "vector"]
ParseStatus = Literal["none", "queued", "running", "succeeded", "failed", "skipped"]


CURSOR_MAX: Final = 10_000  # of 400 documents, 18 bytes each
_CURSOR_TEXT: Final = "`nextCursor` of the page before. It has what is still to come, as it was with the first page."


class SearchFilters(Part, frozen=True, kw_only=True, omit_defaults=True):
    """What documents must be, all of it."""

    folder_id: DocumentFolderFilter | None = None
    folder_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    """Only those in one of these folders, or below."""
    mime_type: Annotated[list[MimeType], Meta(min_length=1, max_length=50)] | None = None
    """Only those of one of these media types."""
    mime_types: Annotated[list[MimeType], Meta(min_length=1, max_length=50)] | None = None
    """Another name of `mimeType`: give one of the two."""
    starred: bool | None = None
    """Only those with a star, or with false those without."""
    created_from: Since | None = None
    """Only those created at this instant or later."""
    created_to: Since | None = None
    """Only those created at this instant or earlier."""
    document_date_from: Date | None = None
    """Only those whose own date is this day or later."""
    document_date_to: Date | None = None
    """Only those whose own date is this day or earlier."""
    contract_id: ContractId | None = None
    """Only those of this contract in a system of yours."""
    parse_status: ParseStatus | None = None
    """Only those whose reading has come so far."""
    property_id: Id | None = None
    """Only those that are linked to this property."""


class SearchDocuments(PageRequest, frozen=True, kw_only=True, omit_defaults=True):
    """What to look for."""

    former_names: ClassVar = {"query": "q"}

    q: Annotated[str, Meta(min_length=1, max_length=400)]
    """Words, or a sentence of what it is about. What stands in quotation marks is found as it stands."""
    mode: Mode = "hybrid"
    """Whether to look by words, `text`, by meaning, `vector`, or by both, `hybrid`."""
    filters: SearchFilters = SearchFilters()
    """Which documents to look in. Left out: all."""
    limit: Annotated[int, Meta(ge=1, le=50)] = 20
    cursor: Annotated[str, Meta(max_length=CURSOR_MAX, description=_CURSOR_TEXT)] | None = None


Highlight = Annotated[list[int], Meta(min_length=2, max_length=2, description="Where it begins, and where it ends.")]


class Snippet(Response, frozen=True, kw_only=True):
    """A passage of a document."""

    text: str
    """The passage."""
    page: int | None
    """The page that it is on, the first being 1. Null: it is the document's name."""
    highlights: list[Highlight]
    """Where the words that were looked for stand in `text`, in characters from 0."""


class FoundDocument(Response, frozen=True, kw_only=True):
    """A document that was found."""

    document: Document
    """The document."""
    score: float
    """How well it fits: the sum of 1 / (60 + rank) over the two lists, so that only the order says anything."""
    text_rank: int | None
    """Its place in the list by words, the first being 1. Null: it is not in that list."""
    vector_rank: int | None
    """Its place in the list by meaning, the first being 1. Null: it is not in that list."""
    snippets: list[Snippet]
    """The passages that fit best, two at most."""


class SearchWarning(Response, frozen=True, kw_only=True):
    """Why a search was not done as it was asked for, or what was looked for instead."""

    code: Literal["no_embeddings", "spelling"]
    """`no_embeddings`: nothing gave meanings to texts in time, and it was looked for by words alone; `spelling`:
    another word was looked for than the one given."""
    message: str
    """The same as a sentence, for people."""


class SearchedDocuments(Response, frozen=True, kw_only=True):
    """A page of what was found, the best first."""

    data: list[FoundDocument]
    next_cursor: str | None
    mode_used: Mode
    """How it was looked for: `text` where nothing gives meanings to texts."""
    warnings: list[SearchWarning]
    """Why a search was not done as it was asked for, or what was looked for instead."""


OPERATIONS: Final = (
    Operation(
        id="vault.searchDocuments",
        kind="call",
        method="POST",
        path="/vault/search",
        scopes=("vault:read",),
        request=SearchDocuments,
        response=SearchedDocuments,
        handler=AT_CATALOGUE,
        work="vault.search.vector",
        does_work=lambda request: request.mode != "text",
        did_work=lambda answer: answer.mode_used != "text",
        example={"q": "quarter-sawn ash", "mode": "text", "filters": {"mimeType": ["application/pdf"]}},
    ),
)
