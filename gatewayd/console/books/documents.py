"""`/documents`: what the organization keeps, as people find it again."""

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import DOCUMENTS
from gatewayd.console.books.kept_files import KeptFiles
from gatewayd.console.browser import flash, see
from gatewayd.console.components import words
from gatewayd.console.components.shapes import EmptyState, Option
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject, Member, cell, facts, members_of
from gatewayd.console.operations.pages import (
    KEY_FIELD,
    FormPage,
    ListPage,
    OperationPages,
    Options,
    Page,
    QuestionPage,
    act,
)
from gatewayd.console.operations.request_fields import Wording, words_of
from gatewayd.console.operations.sent_files import SentFiles
from gatewayd.console.pages import add_page
from gatewayd.vault_files.receiving import Receiving

AREA: Final = "vault"
_STATES: Final = (
    Option("", "All but the trash"),
    Option("uploaded", "Uploaded"),
    Option("pending_upload", "Yet to come"),
    Option("deleted", "In the trash"),
)
LIST: Final = ListPage(
    operation="vault.listDocuments",
    title="Documents",
    text="Of all folders, the newest first.",
    address=DOCUMENTS,
    columns={"name": "", "mimeType": "Kind", "sizeBytes": "Size", "status": "", "createdAt": "Added"},
    filters=("starred", "status", "documentDateFrom", "documentDateTo"),
    wording={
        "starred": Wording("With a star"),
        "documentDateFrom": Wording("Dated from"),
        "documentDateTo": Wording("Dated to"),
    },
    options={"status": _STATES},
    href=lambda row: f"{DOCUMENTS}/{row['id']}",
    empty=EmptyState(sentence="Here stand invoices, receipts, contracts and whatever else has to be kept."),
    template="books/documents.html",
)
CHANGE: Final = FormPage(
    operation="vault.updateDocument",
    title="Change document",
    button="Save",
    back=DOCUMENTS,
    names=("name", "documentDate"),
    wording={"documentDate": Wording("Dated", "The document's own date.")},
    changes=True,
)
TRASH: Final = QuestionPage(operation="vault.deleteDocument", button="Move to the trash", back=DOCUMENTS)
_TRASHING: Final = ("It can be taken out again until its days there are over.",)
_FACTS: Final = {
    "mimeType": "Kind",
    "sizeBytes": "Size",
    "documentDate": "Dated",
    "originalName": "Name of the file",
    "pageCount": "Pages",
    "createdAt": "Added",
    "deletedAt": "In the trash since",
    "archiveUntilDate": "Has to be kept until",
}
_STATUS: Final = Member("status", "", "badge")
_KINDS: Final = {
    "application/pdf": "PDF",
    "application/zip": "ZIP",
    "image": "Picture",
    "text": "Text",
    "message": "E-mail",
    "audio": "Sound",
    "video": "Film",
    "sheet": "Spreadsheet",
    "excel": "Spreadsheet",
    "word": "Text",
}
"""What people call a media type, by a part of it; the first that fits."""


class Documents:
    """The pages of documents."""

    def __init__(self, operations: Operations, pages: OperationPages, files: SentFiles, receiving: Receiving) -> None:
        self._operations = operations
        self._files = files
        self._kept = KeptFiles(operations, receiving)
        self._list, self._change, self._trash = pages.list_of(LIST), pages.form_of(CHANGE), pages.question_of(TRASH)
        self._facts = members_of(operations.row("vault.getDocument").response, _FACTS)

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        one = f"{DOCUMENTS}/<document_id>"
        add_page(app, "GET", DOCUMENTS, self.show_list)
        add_page(app, "POST", DOCUMENTS, self.add, takes_file=True)
        add_page(app, "GET", one, self.show)
        add_page(app, "GET", f"{one}/download", self.download)
        add_page(app, "GET", f"{one}/change", self.show_change)
        add_page(app, "POST", f"{one}/change", self.change)
        add_page(app, "POST", f"{one}/star", self.star)
        add_page(app, "GET", f"{one}/trash", self.ask_trash)
        add_page(app, "POST", f"{one}/trash", self.trash)
        add_page(app, "POST", f"{one}/restore", self.restore)

    # -- all of them

    async def show_list(self) -> str:
        return await self._list.show(None, _in_words, most=self._files.most(AREA))

    async def add(self) -> Response:
        """Keep the file that the form holds."""
        key = (await request.form).get(KEY_FIELD) or str(uuid4())
        async with self._files.receive(AREA) as sent:
            if sent is None:
                flash("danger", "Choose a file first.")
                return see(DOCUMENTS)
            made = await self._kept.keep(sent, key)
        flash("success", f"{made['name']} is kept.")
        return see(f"{DOCUMENTS}/{made['id']}")

    # -- one

    async def show(self, document_id: str) -> str:
        found = await self._find(document_id)
        (shown,) = await _in_words([found], {})
        return await render_template(
            "books/document.html",
            document=found,
            state=cell(_STATUS, shown),
            reading=words_of(found["parse"]["status"]),
            facts=facts(self._facts, shown),
            address=f"{DOCUMENTS}/{document_id}",
        )

    async def download(self, document_id: str) -> Response:
        asked = {"documentId": document_id, "disposition": "attachment"}
        return see((await self._operations.call("vault.getDocumentDownloadUrl", asked))["url"])

    async def show_change(self, document_id: str) -> str:
        return await self._change.show(await self._find(document_id), back=f"{DOCUMENTS}/{document_id}")

    async def change(self, document_id: str) -> Page:
        back = f"{DOCUMENTS}/{document_id}"

        async def then(_: JsonObject) -> Page:
            flash("success", "The document was changed.")
            return see(back)

        return await self._change.submit(then, {"documentId": document_id}, back=back)

    async def star(self, document_id: str) -> Response:
        starred = (await request.form).get("starred") == "true"
        said = "The document has a star." if starred else "The document has no star any more."
        values = {"documentId": document_id, "starred": starred}
        return await act(self._operations, "vault.toggleDocumentStar", values, said, f"{DOCUMENTS}/{document_id}")

    async def ask_trash(self, document_id: str) -> str:
        question = await self._question(document_id)
        return await self._trash.show(question, _TRASHING, f"{DOCUMENTS}/{document_id}")

    async def trash(self, document_id: str) -> Page:
        async def then(_: JsonObject) -> Page:
            flash("success", "The document is in the trash.")
            return see(DOCUMENTS)

        question = await self._question(document_id)
        return await self._trash.submit(then, {"documentId": document_id}, question, _TRASHING)

    async def _question(self, document_id: str) -> str:
        return f"Move {(await self._find(document_id))['name']} to the trash?"

    async def restore(self, document_id: str) -> Response:
        values, back = {"documentId": document_id}, f"{DOCUMENTS}/{document_id}"
        return await act(self._operations, "vault.restoreDocument", values, "The document is back.", back)

    async def _find(self, document_id: str) -> JsonObject:
        asked = {"documentId": document_id, "includeDeleted": "true"}
        found: JsonObject = await self._operations.call("vault.getDocument", asked)
        return found


async def _in_words(rows: Sequence[JsonObject], options: Options) -> Sequence[JsonObject]:
    """The rows with kinds and sizes as people say them."""
    return [{**row, "mimeType": _kind(row["mimeType"]), "sizeBytes": _size(row["sizeBytes"])} for row in rows]


def _kind(media_type: str) -> str:
    return next((word for part, word in _KINDS.items() if part in media_type), "Other")


def _size(count: int | None) -> str | None:
    return None if count is None else words.size(count)
