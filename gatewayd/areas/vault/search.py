"""Search in the vault (Spec §4, Domain A7 and C9): shapes and the row, whose handler is `search`'s."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.areas.vault.documents.shapes import ContractId, Document, MimeType
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import Date, Id, Part, Response, Since

Mode = Literal["hybrid", "text", "vector"]
ParseStatus = Literal["none", "queued", "running", "succeeded", "failed", "skipped"]


CURSOR_MAX: Final = 10_000  # of 400 documents, 18 bytes each
_CURSOR_TEXT: Final = "`nextCursor` of the page before. It has what is still to come, as it was with the first page."


class SearchFilters(Part, frozen=True, kw_only=True, omit_defaults=True):
    """What documents must be, all of it.

    `folderIds`: in one of these folders or below; `mimeTypes`: of one of these types. From and to are included.
    """

    folder_ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    mime_types: Annotated[list[MimeType], Meta(min_length=1, max_length=50)] | None = None
    starred: bool | None = None
    created_from: Since | None = None
    created_to: Since | None = None
    document_date_from: Date | None = None
    document_date_to: Date | None = None
    contract_id: ContractId | None = None
    parse_status: ParseStatus | None = None
    property_id: Id | None = None


class SearchDocuments(PageRequest, frozen=True, kw_only=True, omit_defaults=True):
    """What to look for: words, or a sentence of what it is about.

    What stands in quotation marks is found as it stands. `mode`: text by words, vector by meaning, hybrid by both.
    """

    query: Annotated[str, Meta(min_length=1, max_length=400)]
    mode: Mode = "hybrid"
    filters: SearchFilters = SearchFilters()
    limit: Annotated[int, Meta(ge=1, le=50)] = 20
    cursor: Annotated[str, Meta(max_length=CURSOR_MAX, description=_CURSOR_TEXT)] | None = None


Highlight = Annotated[list[int], Meta(min_length=2, max_length=2, description="Where it begins, and where it ends.")]


class Snippet(Response, frozen=True, kw_only=True):
    """A passage of a document.

    `page` null: it is the document's name. `highlights` are where the words that were found begin and end, in
    characters of `text`.
    """

    text: str
    page: int | None
    highlights: list[Highlight]


class FoundDocument(Response, frozen=True, kw_only=True):
    """A document that was found. `textRank` and `vectorRank` are its places in the two lists; null: it is in one."""

    document: Document
    score: float
    text_rank: int | None
    vector_rank: int | None
    snippets: list[Snippet]


class SearchWarning(Response, frozen=True, kw_only=True):
    """Why a search was not done as it was asked for, or what was looked for instead."""

    code: Literal["no_embeddings", "spelling"]
    message: str


class SearchedDocuments(Response, frozen=True, kw_only=True):
    """A page of what was found, the best first. `modeUsed` is how it was looked for."""

    data: list[FoundDocument]
    next_cursor: str | None
    mode_used: Mode
    warnings: list[SearchWarning]


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
        did_work=lambda found: found.mode_used != "text",
        example={"query": "boiler repair", "filters": {"mimeTypes": ["application/pdf"]}},
    ),
)
