"""Papers of invoices: made, and those of issued ones kept in the vault by the first who asks, the same from then on.

    draft, void   made each time, with its mark across, and not kept
    issued        made once; its bytes are durable, then document and invoice name it in one transaction

Of two who ask at once both make the same bytes, and the second finds the first one's document. A kill leaves at most
bytes that nothing names.
"""

from typing import Final, NamedTuple

import trio
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import papers
from gatewayd.areas.accounting.invoices.rows import INVOICES
from gatewayd.areas.accounting.receivables import letterhead
from gatewayd.areas.accounting.receivables.shapes import GetStatement
from gatewayd.areas.vault.documents import made_here
from gatewayd.areas.vault.documents.made_here import MadeDocument
from gatewayd.areas.vault.documents.shapes import DocumentLink, DocumentRow
from gatewayd.contract.caller import Caller
from gatewayd.contract.given_files import WrittenFile
from gatewayd.errors import Problem, invalid_state
from gatewayd.identity.audit import OPERATOR
from gatewayd.papers import contents, statement_contents
from gatewayd.papers.contents import Contents
from gatewayd.papers.orders import PDF_BYTES_MAX, Order
from gatewayd.papers.paper import LogoKind, Look, Paper
from gatewayd.papers.setter import NotSet, Setter
from gatewayd.shares import Shares
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.store.files.at_place import blobs_at
from gatewayd.store.files.blobs import BlobInfo

AT_ONCE: Final = 3  # Chosen: a paper is a moment of computing; an organization has two, and the last is another's
WAIT_SECONDS: Final = 20.0  # Chosen
_WITHDRAWN: Final = "It was voided, and is not sent any more."
_LOGOS: Final[dict[bytes, LogoKind]] = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg"}


class _Known(NamedTuple):
    """What a look at an invoice found: its paper, if one is kept, else what it would say."""

    kept: DocumentRow | None
    contents: Contents | None


class Papers:
    """The papers of one store. `organization_bytes`: what an organization's documents may take; 0: any."""

    def __init__(self, store: Store, setter: Setter, organization_bytes: int) -> None:
        self._store = store
        self._setter = setter
        self._organization_bytes = organization_bytes
        self._blobs = blobs_at(store.place)
        self._threads = trio.CapacityLimiter(AT_ONCE)
        self.shares = Shares("papers", AT_ONCE, wait_seconds=WAIT_SECONDS)

    async def pdf(self, caller: Caller, invoice_id: str) -> WrittenFile:
        """The paper of an invoice.

        Raises `Problem`: `not_found`, `gone` (the bytes of one that is kept), `invalid_state` (the logo cannot be
        drawn), `limit_reached` and `payload_too_large` (the vault takes no more); `rate_limited`, `unavailable`.
        """
        org_id = caller.org_id
        known = await self._store.read(lambda tx: _look_up(tx, invoice_id), org_id)
        if known.kept is not None:
            return _file(await self._bytes(known.kept), known.kept.name)
        assert known.contents is not None, "one or the other"
        paper = known.contents.paper
        async with self.shares.place(org_id):
            pdf = await self._set(known.contents)
        if paper.mark:
            return _file(pdf, _name(paper, invoice_id))
        info = await trio.to_thread.run_sync(self._save, pdf, limiter=self._threads)
        contents_ = known.contents
        kept = await self._store.write(lambda tx: self._keep(tx, caller, invoice_id, (contents_, info)), org_id)
        if kept is None:
            return await self.pdf(caller, invoice_id)
        return _file(pdf if kept.sha256 == info.sha256 else await self._bytes(kept), kept.name)

    async def quote_pdf(self, org_id: str, quote_id: str) -> WrittenFile:
        """The paper of a quote, made each time. Raises `Problem` as that of an invoice does."""
        known = await self._store.read(lambda tx: contents.of_quote(tx, quote_id), org_id)
        async with self.shares.place(org_id):
            return _file(await self._set(known), _name(known.paper, quote_id))

    async def to_send(self, org_id: str, paper_id: str) -> WrittenFile:
        """The paper that a letter or a link names: of what was issued, for its client, or a statement of its account.

        Raises `Problem` as `pdf` and `statement` do, and `invalid_state` of an invoice that was voided meanwhile.
        """
        if (told := letterhead.statement_named(paper_id)) is not None:
            return await self.statement(_itself(org_id), told)
        row = await self._store.read(lambda tx: INVOICES.find(tx, paper_id), org_id)
        if row is None:
            return await self.quote_pdf(org_id, paper_id)
        if row.status == "void":
            raise invalid_state(_WITHDRAWN, "void", ())
        return await self.pdf(_itself(org_id), paper_id)

    async def statement(self, caller: Caller, request: GetStatement) -> WrittenFile:
        """The paper of a client's account, made each time. Raises `Problem` as that of an invoice does."""
        told = await self._store.read_later(
            lambda tx: statement_contents.of_statement(tx, caller, request), caller.org_id
        )
        async with self.shares.place(caller.org_id):
            paper = replace(told.paper, look=await self._with_logo(told.paper.look, told.logo))
            return _file(await self._ordered(Order(paper=paper)), statement_contents.name_of(told.paper))

    async def _set(self, known: Contents) -> bytes:
        paper = replace(known.paper, look=await self._with_logo(known.paper.look, known.logo))
        return await self._ordered(Order(paper=paper, xml=_attached(paper)))

    async def _with_logo(self, look: Look, document: DocumentRow | None) -> Look:
        """Raises `Problem`: `gone`, `invalid_state`."""
        if document is None:
            return look
        logo = await self._bytes(document)
        kinds = [kind for head, kind in _LOGOS.items() if logo.startswith(head)]
        if not kinds:
            raise _no_logo()
        return replace(look, logo=logo, logo_kind=kinds[0])

    async def _ordered(self, order: Order) -> bytes:
        """Raises `Problem`: `invalid_state`, `unavailable`."""
        try:
            return (await self._setter.set(order)).pdf
        except NotSet as error:
            if error.of_logo:
                raise _no_logo() from error
            raise Problem("unavailable", "The paper could not be set. Try again.") from error

    async def _bytes(self, row: DocumentRow) -> bytes:
        """Raises `Problem` `gone`."""
        assert row.sha256 is not None, "uploaded"
        try:
            return await trio.to_thread.run_sync(self._read, row.sha256, limiter=self._threads)
        except FileNotFoundError:
            raise Problem("gone", f"The bytes of the document {row.id} are gone from the data directory.") from None

    def _read(self, sha256: str) -> bytes:
        return self._blobs.path(sha256).read_bytes()

    def _save(self, pdf: bytes) -> BlobInfo:
        with self._blobs.draft(PDF_BYTES_MAX) as draft:
            draft.write(pdf)
            return draft.save()

    def _keep(
        self, tx: WriteTx, caller: Caller, invoice_id: str, made: tuple[Contents, BlobInfo]
    ) -> DocumentRow | None:
        """The document that is kept: this one, or that of whoever was faster. None: the invoice has changed since."""
        (paper, version, _), info = made
        row = INVOICES.get(tx, invoice_id)
        if row.version != version:
            return None
        if row.pdf_document_id is not None and (other := made_here.kept(tx, row.pdf_document_id)) is not None:
            return other
        document = MadeDocument(
            name=_name(paper, invoice_id),
            mime_type=papers.PDF,
            size_bytes=info.size_bytes,
            sha256=info.sha256,
            document_date=row.issue_date,
            link=DocumentLink(type="invoice", id=row.id),
        )
        kept = made_here.add(tx, caller, document, self._organization_bytes)
        papers.keep(tx, invoice_id, kept.id)
        return kept


def _look_up(tx: ReadTx, invoice_id: str) -> _Known:
    row = INVOICES.get(tx, invoice_id)
    if row.pdf_document_id is not None and row.status != "void":
        kept = made_here.kept(tx, row.pdf_document_id)
        if kept is not None:
            return _Known(kept, None)
    return _Known(None, contents.of_invoice(tx, invoice_id))


def _itself(org_id: str) -> Caller:
    """Chosen: who keeps a paper that a client or a mail asks for first is the operator, as of what the daemon makes."""
    return Caller(
        kind="operator", credential_id=OPERATOR, org_id=org_id, user_id=None, role="owner", scopes=frozenset()
    )


def _attached(paper: Paper) -> bytes:
    """The invoice as XML; empty: it has no electronic form. What writes XML is not loaded before it is needed."""
    from gatewayd.papers import cii, semantics

    return b"" if paper.kind == "quote" or semantics.lacking(paper) is not None else cii.write(paper)


def _no_logo() -> Problem:
    message = "The logo cannot be drawn: `accounting.setPaper` names another, a PNG or JPEG, or none."
    return invalid_state(message, "unreadable_logo", ())


def _name(paper: Paper, invoice_id: str) -> str:
    """What a file is called, in characters that every system takes."""
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in paper.number or invoice_id)
    return f"{name}.pdf"


def _file(pdf: bytes, name: str) -> WrittenFile:
    ascii_name = "".join(each if each.isascii() and each.isprintable() and each not in '"\\' else "-" for each in name)
    return WrittenFile(pdf, ascii_name, papers.PDF)
