"""CSV that no spreadsheet computes, and that a program reads as it was."""

import io

import pytest

from gatewayd.ledger import csv_text


@pytest.mark.parametrize(
    "cell", ["=1+1", "+44 20", "-x", "@sum", "\tx", "\rx", "'quoted", "-5", "plain", "", 'a"b,c\nd']
)
def test_a_cell_is_read_as_it_was(cell: str) -> None:
    (line,) = csv_text.lines([["id", cell]])
    text = line.decode()
    assert next(csv_text.rows(io.StringIO(text, newline=""))) == ["id", cell]
    assert not text.removesuffix("\r\n").partition(",")[2].lstrip('"').startswith(("=", "+", "@", "\t", "\r"))


def test_a_number_is_one_and_what_only_begins_like_one_is_text() -> None:
    (line,) = csv_text.lines([["-5.00", 7, None, "-5.00 GBP", "2/3"]])
    assert line == b"-5.00,7,,'-5.00 GBP,2/3\r\n"


def test_what_is_no_csv_is_told() -> None:
    with pytest.raises(ValueError, match="unexpected end of data"):
        list(csv_text.rows(io.StringIO('a,"b', newline="")))
