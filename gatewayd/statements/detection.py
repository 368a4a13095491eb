"""Which format a file has, by its content: names lie."""

import re
from typing import BinaryIO

from gatewayd.statements.shapes import Format, Unreadable
from gatewayd.statements.text import encoding_of

_HEAD = 16 * 1024
_OTHERS = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook: unpack it, or save the sheet as CSV"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive: unpack it"),
    (b"BZh", "a bzip2 archive: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"\xfd7zXZ\x00", "an xz archive: unpack it"),
    (b"Rar!", "a RAR archive: unpack it"),
    (b"%PDF", "a PDF: ask the bank for OFX, QIF, CAMT.053, MT940 or CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save the sheet as CSV"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3\x00", "a database"),
    (b"\x7fELF", "a program"),
    (b"{\\rtf", "a text document: ask the bank for CSV"),
)
_OFX = re.compile(r"OFXHEADER|<\?OFX|<OFX[\s>]", re.IGNORECASE)
_QIF = re.compile(r"^!(Type|Account|Option|Clear)\b", re.IGNORECASE | re.MULTILINE)
"""Also below what a program writes of itself: comments of whatever form."""
_MT940 = re.compile(r"\{1:|\W*:20:")
_MT940_FIELD = re.compile(r"^:(20|25P?|28C?|34F|60[FM]):", re.MULTILINE)
_MT940_FIELDS = 3  # of those that stand before any line
_FLEX = re.compile(r"<FlexQueryResponse[\s>]")
_PAGE = re.compile(r"<!doctype html|<html", re.IGNORECASE)


def format_of(stream: BinaryIO) -> Format:
    """The format. Raises `Unreadable` for what is none of them, with what it is instead."""
    stream.seek(0)
    head = stream.read(_HEAD)
    if not head.strip(b"\0 \t\r\n"):
        raise Unreadable(None, "the file is empty" if not head else "there is no text in the beginning of the file")
    for magic, what in _OTHERS:
        if head.startswith(magic):
            raise Unreadable(None, f"the file is {what}")
    text = head.decode(encoding_of(stream), errors="ignore").lstrip("\ufeff \t\r\n")
    if found := _marked_up(text):
        return found
    if _QIF.search(text):
        return "qif"
    if _MT940.match(text) or len({found[1] for found in _MT940_FIELD.finditer(text)}) >= _MT940_FIELDS:
        return "mt940"
    return "csv"


def _marked_up(text: str) -> Format | None:
    """OFX, Flex queries and CAMT; None for what is none of them and no other XML."""
    if _PAGE.match(text) or (text.startswith("<") and _PAGE.search(text[:500])):
        raise Unreadable(None, "the file is a web page: had the bank's session ended?")
    if _OFX.match(text) or _OFX.search(text[:4096]):
        return "ofx"
    if text.startswith("<") and _FLEX.search(text[:4096]):
        return "ibkr_flex"
    if text.startswith("<"):
        return "camt053"
    return None
