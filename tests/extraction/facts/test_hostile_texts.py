"""Text that was made to be slow costs a bounded multiple of a plain text of the same length."""

import datetime
import os
import time
from collections.abc import Callable, Sequence

import pytest

from gatewayd.extraction.facts import find_facts
from gatewayd.extraction.facts.lines import FIRST_CHARS, FIRST_LINES, LAST_CHARS, LAST_LINES, LINE_CHARS, lines_of

TODAY = datetime.date(2026, 6, 30)
SIZE = int(os.environ.get("GATEWAYD_TEXT_BYTES", "250000"))  # `make soak` takes a megabyte
PLAIN = "Invoice date: 3 May 2026   Consulting, four days at the agreed rate   £1,250.00\n"
MOST_TIMES_SLOWER = 12
"""A pattern that backtracks without end takes thousands of times as long."""
HOSTILE = {
    "digits": "1",
    "digits and blanks": "1 ",
    "digits and marks": "1,111.",
    "pounds": "£",
    "pounds and blanks": "£ - ",
    "blanks": " ",
    "tabs": "\t",
    "separators": "|",
    "nested separators": "-/.,",
    "brackets": "((((-",
    "marks of dates": "1/1/",
    "half dates": "1 jan ",
    "labels": "total ",
    "labels with colons": "invoice no: ",
    "issuers": "issued by: ",
    "capital words": "Aa ",
    "legal words": "registered in ltd ",
    "sites": "www.a-",
    "mail": "a@a.",
    "dots": ".",
    "postcodes": "BS1 5",
    "misread zeros": "O",
    "combining": "e\u0301\u0301",
    "wide ligature": "\ufdfa",
    "lines": "\n",
    "short lines": "a\n",
    "short numbers": "1\n",
    "labels in a run": "date\n",
    "certificates": "CP12 Gas Safety Record address:\n",
    "addresses": "Property address: ",
    "addresses in a run": "Property address\n",
    "recipients": "Bill to: \n",
    "outcomes": "satisfactory / un ",
    "electrical": "EICR if the installation was not un satis ",
    "separated sentence": "name of contractor - - - ",
}


def _seconds(pages: Sequence[str]) -> float:
    """Processor time: what else runs on the machine hardly counts."""
    began = time.process_time()
    find_facts(pages, "x.pdf", TODAY)
    return time.process_time() - began


def _of(size: int, unit: str) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.fixture(scope="module")
def plain() -> float:
    return min(_seconds([_of(SIZE, PLAIN)]) for _ in range(3))


@pytest.mark.parametrize("name", HOSTILE)
def test_much_of_one_thing_is_read_about_as_fast_as_text(name: str, plain: float) -> None:
    pages, most = [_of(SIZE, HOSTILE[name])], MOST_TIMES_SLOWER * plain
    assert any(_seconds(pages) < most for _ in range(3))


@pytest.mark.parametrize("cut", [lambda text: [text], lambda text: [text[n : n + 997] for n in range(0, SIZE, 997)]])
def test_no_more_is_looked_at_of_a_long_text_than_of_a_short_one(cut: Callable[[str], list[str]]) -> None:
    for unit in (PLAIN, "1", "\n", "a\n", "\ufdfa"):
        lines = lines_of(cut(_of(SIZE, unit)))
        assert len(lines) <= FIRST_LINES + LAST_LINES + 1
        assert all(len(line.text) <= LINE_CHARS for line in lines)
        if unit == PLAIN:  # what unicode unfolds, a line's length alone bounds
            assert sum(len(line.text) for line in lines) <= FIRST_CHARS + LAST_CHARS


def test_a_name_of_any_length_is_looked_at_in_part() -> None:
    assert find_facts(["x"], "1/" * SIZE, TODAY).date is None
