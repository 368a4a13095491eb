"""Rows that are written in each format come back as they were (Domain E). The writers are of this file alone."""

import contextlib
import csv
import io
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.statements.shapes import Mapping, Unreadable
from tests.statements.parts import read_parts
from tests.statements.rows import ROWS, Row


def ofx_1(rows: list[Row]) -> str:
    return ofx(rows, "OFXHEADER:100\nDATA:OFXSGML\n\n", closed=False)


def ofx_2(rows: list[Row]) -> str:
    return ofx(rows, '<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?>', closed=True)


def ofx(rows: list[Row], head: str, *, closed: bool) -> str:
    def leaf(tag: str, text: str) -> str:
        return f"<{tag}>{escape(text)}" + (f"</{tag}>" if closed else "\n")

    transactions = "".join(
        "<STMTTRN>"
        + leaf("TRNTYPE", "OTHER")
        + leaf("DTPOSTED", f"{row.day:%Y%m%d}120000[0:GMT]")
        + leaf("TRNAMT", row.amount)
        + leaf("NAME", row.text)
        + "</STMTTRN>"
        for row in rows
    )
    return f"{head}<OFX><STMTRS>{leaf('CURDEF', 'GBP')}<BANKTRANLIST>{transactions}</BANKTRANLIST></STMTRS></OFX>"


def qif(rows: list[Row]) -> str:
    dated = "D31/12/2019\nT0.00\nPopening balance\n^\n"  # settles the order of the dates
    return f"!Type:Bank\n{dated}" + "".join(f"D{row.day:%d/%m/%Y}\nT{row.amount}\nP{row.text}\n^\n" for row in rows)


def camt053(rows: list[Row]) -> str:
    entries = "".join(
        f"<Ntry><Amt Ccy='GBP'>{row.amount.removeprefix('-')}</Amt>"
        f"<CdtDbtInd>{'DBIT' if row.pence < 0 else 'CRDT'}</CdtDbtInd><Sts>BOOK</Sts>"
        f"<BookgDt><Dt>{row.day}</Dt></BookgDt><AddtlNtryInf>{escape(row.text)}</AddtlNtryInf></Ntry>"
        for row in rows
    )
    return f"<Document><BkToCstmrStmt><Stmt><Acct><Ccy>GBP</Ccy></Acct>{entries}</Stmt></BkToCstmrStmt></Document>"


def mt940(rows: list[Row]) -> str:
    lines = "".join(
        f":61:{row.day:%y%m%d}{'D' if row.pence < 0 else 'C'}"
        f"{row.amount.removeprefix('-').replace('.', ',')}NMSCNONREF\n"
        f":86:{row.text}\n"
        for row in rows
    )
    return f":20:X\n:25:1\n:28C:1\n:60F:C200101GBP0,00\n{lines}:62F:C301231GBP0,00\n-\n"


def table(rows: list[Row]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["Date", "Details", "Amount"])
    writer.writerows([f"{row.day:%d/%m/%Y}", row.text, row.amount] for row in rows)
    return stream.getvalue()


MAPPING = Mapping(date="Date", description=("Details",), amount="Amount", date_format="dd/mm/yyyy")
WRITERS = [ofx_1, ofx_2, qif, camt053, mt940, table]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("write", WRITERS)
@given(rows=ROWS)
@settings(max_examples=25, deadline=None)
def test_rows_come_back_as_they_were(write: object, encoding: str, rows: list[Row]) -> None:
    assert callable(write)
    found = read_parts(write(rows), encoding, mapping=MAPPING if write is table else None)
    assert found.refused == []
    assert found.rows == [(row.day.isoformat(), row.pence, " ".join(row.text.split())) for row in rows]
    (closed,) = found.closed
    assert closed.sum == sum(row.pence for row in rows)


@pytest.mark.parametrize("write", WRITERS)
@given(rows=ROWS, at=st.floats(0, 1), byte=st.integers(0, 255))
@settings(max_examples=40, deadline=None)
def test_a_damaged_file_is_read_refused_or_unreadable_and_nothing_else(
    write: object, rows: list[Row], at: float, byte: int
) -> None:
    assert callable(write)
    whole = bytearray(write(rows).encode())
    whole[int(at * (len(whole) - 1))] = byte
    for content in (bytes(whole), bytes(whole[: int(at * len(whole))])):
        try_to_read(content)


def try_to_read(content: bytes) -> None:
    """Read it, or learn why not; any other exception is a fault."""
    with contextlib.suppress(Unreadable):
        found = read_parts(content, mapping=None)
        assert all(refused.reason for refused in found.refused)
