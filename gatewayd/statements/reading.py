"""The one way in: a statement file of any format, a broker's file or one of prices becomes parts (Domain E).

Which format a file has, its content tells: names lie.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from gatewayd.statements.camt053 import read_camt053
from gatewayd.statements.csv.statements import read_csv
from gatewayd.statements.mt940 import read_mt940
from gatewayd.statements.ofx import read_ofx
from gatewayd.statements.price_files import read_prices
from gatewayd.statements.qif import read_qif
from gatewayd.statements.shapes import (
    FileKind,
    Format,
    Hints,
    Ignored,
    Line,
    Part,
    PriceLine,
    Refused,
    Trade,
    Unreadable,
)
from gatewayd.statements.text import encoding_of
from gatewayd.statements.trades.csv_trades import read_csv_trades
from gatewayd.statements.trades.flex import read_flex

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
READERS: Mapping[Format, Callable[[BinaryIO, Hints], Iterator[Part]]] = {
    "ofx": read_ofx,
    "qif": read_qif,
    "camt053": read_camt053,
    "camt052": read_camt053,
    "camt054": read_camt053,
    "mt940": read_mt940,
    "mt942": read_mt940,
    "csv": read_csv,
}
OF_BROKERS: Mapping[Format, Callable[[BinaryIO, Hints], Iterator[Part]]] = {
    "csv": read_csv_trades,
    "ibkr_flex": read_flex,
}
OF_PRICES: Mapping[Format, Callable[[BinaryIO, Hints], Iterator[Part]]] = {"csv": read_prices}
_READERS: Mapping[FileKind, tuple[Mapping[Format, Callable[[BinaryIO, Hints], Iterator[Part]]], str]] = {
    "bank": (READERS, "no bank's statement"),
    "broker": (OF_BROKERS, "no list of a broker's transactions"),
    "prices": (OF_PRICES, "no list of prices"),
}


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
    if marked_up := _marked_up(text):
        return marked_up
    if _QIF.search(text):
        return "qif"
    if _MT940.match(text) or len({match[1] for match in _MT940_FIELD.finditer(text)}) >= _MT940_FIELDS:
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


def read(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a file, in its order; `stream` can seek, and is looked through more than once.

    Raises `Unreadable` for what is no statement or breaks a limit, also after parts have been given.
    """
    if stream.seek(0, os.SEEK_END) > hints.limits.file_bytes:
        raise Unreadable(None, f"the file is larger than {hints.limits.file_bytes} bytes")
    detected = format_of(stream)  # also of what the caller names: an archive is none of them
    lines = 0
    for part in _reader(hints, detected)(stream, hints):
        if isinstance(part, Line | Refused | Ignored | Trade | PriceLine):
            lines += 1
            if lines > hints.limits.lines:
                raise Unreadable(part.line, f"the file has more than {hints.limits.lines} rows")
        yield part


def _reader(hints: Hints, detected: Format) -> Callable[[BinaryIO, Hints], Iterator[Part]]:
    """Raises `Unreadable` for a format that files of this kind do not have."""
    readers, what = _READERS[hints.kind]
    reader = readers.get(hints.format or detected)
    if reader is None:
        raise Unreadable(None, f"the file is {detected}, which is {what}")
    return reader
