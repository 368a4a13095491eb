"""Writes a bundle: a ZIP whose bytes follow from the books alone, but for the time of sealing and the signature.

Its README.txt says how to read and to check it without this program.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from gatewayd.bundles import beancount_text, documents, figures, sheets
from gatewayd.bundles.documents import BundledDocument, Entries
from gatewayd.bundles.double_entry import DoubleEntry
from gatewayd.bundles.manifest import (
    FORMAT,
    KEY,
    MANIFEST,
    SIGNATURE,
    FileEntry,
    Manifest,
    PeriodFacts,
    contents_digest,
)
from gatewayd.bundles.sheets import Scope
from gatewayd.clock import to_wire
from gatewayd.contract.wire import encode
from gatewayd.errors import Problem
from gatewayd.identity.signing.seal_keys import SealKey
from gatewayd.ledger import csv_text
from gatewayd.ledger.calendar.periods import PeriodRow
from gatewayd.ledger.taxpayers.businesses import accounts_of
from gatewayd.store import ReadTx
from gatewayd.store.files.blobs import Blobs

README_NAME: Final = "README.txt"
README_TEXT: Final = """\
The books of one closed period, sealed by gatewayd.

*.csv               UTF-8, RFC 4180 §2, one heading. The first column, id, names the row.
                    Text that a spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage
                    return) has an apostrophe before it, and so has text that begins with an apostrophe: a program
                    takes one away. Numbers are as they are.
former_*.csv        The VAT scheme and the owners' shares that hold up to lastDay, where others have followed:
                    legal_entity.csv and businesses.csv show what holds when the books are sealed.
stated_balances.csv What people said that accounts held at the end of a day, as a statement's foot does.
books.beancount     Money, invoices and bills in double entry, for beancount (https://github.com/beancount/beancount).
                    Invoices stand on the day of supply, and bills on their tax point, whatever the basis; what the
                    business made on its own basis is in profit_and_loss.csv, with the rows behind each figure in
                    profit_and_loss_rows.csv. Balances from before the period are not in it.
documents.csv       The documents that allocations and bills name, and those that belong to invoices and bank lines,
                    with the path of each. It is there where the period was sealed with documents; what lay in the
                    trash is not.
documents/          Their bytes, by their SHA-256: documents with the same bytes are one file.
manifest.json       Every other file with its length and SHA-256, and whose books these are.
manifest.jws        The signature of manifest.json: a JWS with detached payload (RFC 7515 appendix F), ES256.
key.json            The public key that made it, as a JWK (RFC 7517).

To check it:        gatewayd period verify-bundle FILE --key FINGERPRINT
                    It needs no network, no settings and no data. FINGERPRINT is the thumbprint of the key (RFC 7638)
                    that was told when the period was sealed: a bundle alone cannot prove whose key it is.
Without gatewayd:   any program that knows JOSE checks manifest.jws over manifest.json with key.json; sha256sum gives
                    the hashes of the files. contentsSha256 is the SHA-256 of the lines that sha256sum writes of them,
                    in the order of their names; it is the same for the same books, whenever they were sealed.

Left out are National Insurance numbers, and what later payments make of an invoice or a bill.
"""
MAX_ROWS: Final = 1_000_000  # Chosen: of all tables together, some years of a large firm
_MOMENT: Final = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP knows: the time is in the manifest alone
_PART: Final = 1 << 16  # bytes written at once
_SELECT_NAME = "SELECT name FROM legal_entities WHERE org_id = :org_id AND id = :legal_entity_id"
_NO_DOCUMENTS: Final = "documents are not in it: it was sealed without them"
_HUGE: Final = 1 << 31  # bytes of a file from which a ZIP needs larger numbers


class Sink(Protocol):
    """Where a bundle goes, from its first byte to its last."""

    def write(self, part: bytes, /) -> int: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class Bundled(NamedTuple):
    """What was written."""

    files: list[FileEntry]
    contents_sha256: str


def write(tx: ReadTx, period: PeriodRow, key: SealKey, sink: Sink, of_documents: Blobs | None) -> Bundled:
    """Write the bundle of a period; `of_documents` None: without documents.

    Raises `Problem`: `limit_reached` for more than `MAX_ROWS`, and as `documents` does; and as the sink does.
    """
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        files, entries = _Files(archive), None if of_documents is None else Entries(tx)
        notes = _write_books(tx, period, files, entries)
        if of_documents is None or entries is None:
            notes = [*notes, _NO_DOCUMENTS]
        else:
            files.add_documents(entries.documents(tx), of_documents)
        bundled = Bundled(files.written, contents_digest(files.written))
        signed = encode(_manifest(tx, period, bundled, notes))
        for name, content in ((MANIFEST, signed), (SIGNATURE, key.sign(signed).encode()), (KEY, key.public.encode())):
            archive.writestr(_named(name), content)
    return bundled


def write_unsealed(tx: ReadTx, period: PeriodRow, sink: Sink, *, with_documents: bool) -> None:
    """Write the books of a period, open or closed, to be compared with a bundle: no bytes of documents, no signature.

    Raises `Problem` `limit_reached`, and as the sink does.
    """
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        files, entries = _Files(archive), Entries(tx) if with_documents else None
        notes = _write_books(tx, period, files, entries)
        if entries is not None:
            files.add_table(documents.TABLE, documents.HEADING, ([*each] for each in entries.documents(tx)))
        bundled = Bundled(files.written, contents_digest(files.written))
        archive.writestr(_named(MANIFEST), encode(_manifest(tx, period, bundled, notes)))


def _manifest(tx: ReadTx, period: PeriodRow, bundled: Bundled, notes: list[str]) -> Manifest:
    return Manifest(
        format=FORMAT,
        period=_facts(tx, period),
        organization_id=tx.org_id,
        sealed_at=to_wire(tx.now),
        contents_sha256=bundled.contents_sha256,
        files=bundled.files,
        notes=notes,
    )


def _write_books(tx: ReadTx, period: PeriodRow, files: "_Files", entries: Entries | None) -> list[str]:
    """All but what seals it; answers what is left out."""
    scope = Scope(period, tuple(accounts_of(tx, period.legal_entity_id, period.business_id)))
    files.add(README_NAME, [README_TEXT.encode()])
    for sheet in sheets.SHEETS:
        rows = sheets.cells(tx, sheet, scope)
        files.add_table(sheet.path, sheet.heading, rows if entries is None else entries.noting(sheet, rows))
    computed = figures.compute(tx, period)
    notes = list(computed.notes)
    files.add_table(figures.PROFIT, figures.PROFIT_HEADING, figures.profit(computed))
    files.add_table(figures.ROWS, figures.ROWS_HEADING, figures.rows(tx, computed))
    if period.type == "vat_period":
        files.add_table(figures.VAT, figures.VAT_HEADING, figures.vat(tx, period, notes))
    books = DoubleEntry(tx, scope)
    title = f"{_facts(tx, period).legal_entity_name}, {period.label}"
    lines = beancount_text.text(period.start_date, title, books.names, books.transactions())
    files.add("books.beancount", (line.encode() for line in lines))
    return notes


def _facts(tx: ReadTx, period: PeriodRow) -> PeriodFacts:
    return PeriodFacts(
        id=period.id,
        type=period.type,
        label=period.label,
        start_date=period.start_date,
        end_date=period.end_date,
        legal_entity_id=period.legal_entity_id,
        legal_entity_name=tx.value(_SELECT_NAME, legal_entity_id=period.legal_entity_id),
        business_id=period.business_id,
    )


class _Files:
    """The files of an archive, each written a part at a time."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.written: list[FileEntry] = []
        self._rows = 0

    def add_table(self, path: str, heading: list[str], rows: Iterable[list[csv_text.Cell]]) -> None:
        before = self._rows
        self.add(path, csv_text.lines(self._counted(heading, rows)))
        self.written[-1] = _with_rows(self.written[-1], self._rows - before)

    def add_documents(self, bundled: Sequence[BundledDocument], blobs: Blobs) -> None:
        self.add_table(documents.TABLE, documents.HEADING, ([*document] for document in bundled))
        for document in {document.sha256: document for document in reversed(bundled)}.values():
            info = _named(document.path)
            info.compress_type = zipfile.ZIP_STORED  # pictures and PDF are compressed already
            self.add(info, documents.content(blobs, document), is_huge=document.size_bytes >= _HUGE)

    def add(self, path: str | zipfile.ZipInfo, parts: Iterable[bytes], *, is_huge: bool = False) -> None:
        digest, size = hashlib.sha256(), 0
        info = _named(path) if isinstance(path, str) else path
        with self._archive.open(info, "w", force_zip64=is_huge) as file:
            for part in _gathered(parts):
                digest.update(part)
                size += len(part)
                file.write(part)
        self.written.append(FileEntry(path=info.filename, bytes=size, rows=None, sha256=digest.hexdigest()))

    def _counted(self, heading: list[str], rows: Iterable[list[csv_text.Cell]]) -> Iterator[Iterable[csv_text.Cell]]:
        yield heading
        for row in rows:
            self._rows += 1
            if self._rows > MAX_ROWS:
                message = f"A bundle holds at most {MAX_ROWS} rows."
                raise Problem("limit_reached", message, extra={"limit": MAX_ROWS})
            yield row


def _with_rows(entry: FileEntry, rows: int) -> FileEntry:
    return FileEntry(path=entry.path, bytes=entry.bytes, rows=rows, sha256=entry.sha256)


def _gathered(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in larger parts."""
    waiting = bytearray()
    for part in parts:
        waiting += part
        if len(waiting) >= _PART:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)


def _named(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o100644 << 16
    info.create_system = 3
    return info
