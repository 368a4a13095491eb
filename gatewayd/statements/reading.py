"""The one way in: a statement file of any format, a broker's file or one of prices becomes parts (Domain E)."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO

from gatewayd.statements.camt053 import read_camt053
from gatewayd.statements.csv_statements import read_csv
from gatewayd.statements.detection import format_of
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
from gatewayd.statements.trades.csv_trades import read_csv_trades
from gatewayd.statements.trades.flex import read_flex

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


def read(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a file, in its order; `stream` can seek, and is looked through more than once.

    Raises `Unreadable` for what is no statement or breaks a limit, also after parts have been given.
    """
    if stream.seek(0, os.SEEK_END) > hints.limits.file_bytes:
        raise Unreadable(None, f"the file is larger than {hints.limits.file_bytes} bytes")
    found = format_of(stream)  # also of what the caller names: an archive is none of them
    lines = 0
    for part in _reader(hints, found)(stream, hints):
        if isinstance(part, Line | Refused | Ignored | Trade | PriceLine):
            lines += 1
            if lines > hints.limits.lines:
                raise Unreadable(part.line, f"the file has more than {hints.limits.lines} rows")
        yield part


def _reader(hints: Hints, found: Format) -> Callable[[BinaryIO, Hints], Iterator[Part]]:
    """Raises `Unreadable` for a format that files of this kind do not have."""
    readers, what = _READERS[hints.kind]
    reader = readers.get(hints.format or found)
    if reader is None:
        raise Unreadable(None, f"the file is {found}, which is {what}")
    return reader
