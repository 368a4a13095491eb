"""What a file is, by its content; what it calls itself decides only between kinds of text."""

import io
import re
import zipfile
from typing import BinaryIO, Final, Literal

import puremagic

from gatewayd.extraction.archives import open_archive
from gatewayd.extraction.einvoices import is_einvoice
from gatewayd.extraction.shapes import ExtractionFailed

Kind = Literal["pdf", "picture", "docx", "spreadsheet", "odt", "html", "mail", "einvoice", "text"]

HEAD_BYTES: Final = 64 * 1024
_PDF_WITHIN: Final = 1024  # where readers look for its mark: what stands before it is passed over
_PICTURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"BM")
_COMPOUND: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of Office before 2007, and of what is encrypted since
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,2000}-->\s*)?<(?:!doctype\s+html|html[\s>])", re.I
)
_HEADER: Final = re.compile(
    rb"(?:From |(?:return-path|received|from|to|cc|subject|date|message-id|mime-version|delivered-to|reply-to|sender"
    rb"|content-type|dkim-signature|arc-seal|arc-message-signature|authentication-results|x-[a-z0-9-]{1,60}):)",
    re.I,
)
_HEADERS_OF_MAIL: Final = 3
_TEXT_BOMS: Final = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_NAMED: Final[dict[str, Kind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "html": "html",
    "htm": "html",
    "message/rfc822": "mail",
    "eml": "mail",
}


def find_kind(stream: BinaryIO, name: str, mime_type: str) -> Kind:
    """The kind of a file. Raises `ExtractionFailed`: empty, encrypted, unsupported, damaged, too_large."""
    stream.seek(0)
    head = stream.read(HEAD_BYTES)
    if not head.strip():
        raise ExtractionFailed("empty", "The file is empty.")
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "pdf"
    if head.startswith(_PICTURES) or (head[:4], head[8:12]) == (b"RIFF", b"WEBP"):
        return "picture"
    if head.startswith(b"PK"):
        return _archive_kind(stream)
    if head.startswith(_COMPOUND):
        return _compound_kind(stream)
    return _text_kind(head, name, mime_type)


def may_hold_pictures(head: bytes) -> bool:
    """Whether there may be text to recognise in a file that begins so."""
    return b"%PDF-" in head or head.startswith(_PICTURES) or head[:4] == b"RIFF" or bool(_HEADER.match(head))


def _archive_kind(stream: BinaryIO) -> Kind:
    with open_archive(stream) as archive:
        names = set(archive.namelist())
        if "word/document.xml" in names:
            return "docx"
        if names & {"xl/workbook.xml", "xl/workbook.bin"}:
            return "spreadsheet"
        return _open_document_kind(archive) if "mimetype" in names else _unsupported("a ZIP archive")


def _open_document_kind(archive: zipfile.ZipFile) -> Kind:
    with archive.open("mimetype") as file:
        called = file.read(200).strip()
    if called.startswith(b"application/vnd.oasis.opendocument.text"):
        return "odt"
    if called.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        return "spreadsheet"
    return _unsupported("a ZIP archive")


def _compound_kind(stream: BinaryIO) -> Kind:
    """By the names of the streams in it, which stand anywhere in the file."""
    stream.seek(0)
    overlap = b""
    while chunk := stream.read(1 << 20):
        here = overlap + chunk
        if "EncryptedPackage".encode("utf-16-le") in here:
            raise ExtractionFailed("encrypted", "The document can be opened with a password only.")
        if any(f"{name}\0".encode("utf-16-le") in here for name in ("Workbook", "Book")):
            return "spreadsheet"
        overlap = here[-64:]
    return _unsupported("a document of Office before 2007")


def _text_kind(head: bytes, name: str, mime_type: str) -> Kind:
    if b"\0" in head and not head.startswith(_TEXT_BOMS):
        return _unsupported(_called(head))
    if head.startswith(b"{\\rtf"):
        return _unsupported("Rich Text")
    if is_einvoice(head):
        return "einvoice"
    if _HTML.match(head.removeprefix(_TEXT_BOMS[2])):
        return "html"
    if _is_mail(head):
        return "mail"
    extension = name.rpartition(".")[2].lower()
    return _NAMED.get(mime_type.partition(";")[0].strip().lower()) or _NAMED.get(extension) or "text"


def _is_mail(head: bytes) -> bool:
    """Whether it begins with lines of a message's head, of which some are known."""
    known = 0
    for line in io.BytesIO(head):
        if not line.strip():
            break
        if _HEADER.match(line):
            known += 1
        elif not (known and (line[:1] in b" \t" or re.match(rb"[!-9;-~]{1,80}:", line))):
            return False
    return known >= _HEADERS_OF_MAIL


def _called(head: bytes) -> str:
    """What is known of a file by its first bytes."""
    try:
        return f"a file like {puremagic.from_string(head[:4096])}"
    except (puremagic.PureError, ValueError):
        return "a file of bytes"


def _unsupported(called: str) -> Kind:
    raise ExtractionFailed("unsupported", f"Documents of this kind are not read: it is {called}.")
