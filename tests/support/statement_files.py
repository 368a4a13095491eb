"""Statement files as tests write them, and what reads them in the place of a child process: parts, one JSON a line."""

import hashlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import msgspec
import trio

from gatewayd.contract.received_file import ReceivedFile
from gatewayd.statements.shapes import (
    Closed,
    Hints,
    Ignored,
    Instrument,
    Line,
    Opened,
    Part,
    Refused,
    Trade,
    Unreadable,
)

_ONE = msgspec.json.Decoder(Opened | Line | Refused | Ignored | Closed | Trade)
BATCH = 500


async def read_parts(path: Path, hints: Hints) -> AsyncIterator[list[Part]]:
    """The parts of a file; anything else in it is unreadable."""
    batch: list[Part] = []
    for number, text in enumerate(path.read_bytes().splitlines(), 1):
        await trio.lowlevel.checkpoint()
        try:
            batch.append(_ONE.decode(text))
        except msgspec.DecodeError:
            raise Unreadable(number, "This is no statement.") from None
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def opened(statement: int = 0, **values: Any) -> Opened:
    return Opened(**{"statement": statement, "format": "csv", "currency": "GBP", **values})


def line(number: int, date: str | None, amount: int, description: str = "TESCO STORES 2231", **values: Any) -> Line:
    """One transaction; `amount` is pence."""
    fields = {"statement": 0, "currency": "GBP", "raw_description": description, **values}
    status = "pending" if date is None else "booked"
    return Line(
        **{
            "line": number,
            "booking_date": date,
            "amount": amount,
            "description": description,
            "status": status,
            **fields,
        }
    )


def trade(number: int, type_: Any, date: str, gross: int, symbol: str | None = None, **values: Any) -> Trade:
    """One transaction of a broker's file; `gross` is pence, and a share is one pound."""
    fields = {"currency": "GBP", "description": type_, **values}
    if symbol is not None:
        fields |= {"instrument": Instrument(symbol=symbol), "quantity": f"{gross / 100:g}"}
    return Trade(line=number, type=type_, date=date, gross=gross, **fields)


def closed(lines: Iterable[Line], opening: int | None = None, closing: int | None = None, **values: Any) -> Closed:
    """The end of a statement of these lines."""
    booked = [row for row in lines if row.status == "booked"]
    dates = sorted(row.booking_date for row in booked if row.booking_date is not None)
    span = {"from_date": dates[0], "to_date": dates[-1]} if dates else {}
    fields = {"statement": 0, "lines": len(booked), "sum": sum(row.amount for row in booked), **span, **values}
    return Closed(opening_balance=opening, closing_balance=closing, **fields)


def statement(lines: list[Line], opening: int | None = None, closing: int | None = None, **values: Any) -> bytes:
    """A file with one statement; `values` are of its beginning."""
    return file_of([opened(**values), *lines, closed(lines, opening, closing)])


def file_of(parts: Iterable[Part]) -> bytes:
    return b"".join(msgspec.json.encode(part) + b"\n" for part in parts)


def received(folder: Path, content: bytes) -> ReceivedFile:
    """A file that came in."""
    digest = hashlib.sha256(content).hexdigest()
    path = folder / f"incoming-{digest}"
    path.write_bytes(content)
    return ReceivedFile(path, len(content), digest)
