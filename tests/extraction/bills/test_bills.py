"""Bills as British firms get them are read, by their words; how well by scans, `docs/benchmarks.md` has."""

import pytest

from gatewayd.extraction.recognition import find_program
from tests.extraction.bills.measure import FOLDER, Answer, answers, bills, scanned, table, words_of


def test_bills_that_rules_were_made_for_are_read() -> None:
    read = bills(FOLDER)
    assert len(read) >= 18
    found = [answer for bill in read for answer in answers(bill, words_of(bill))]
    assert not [answer for answer in found if not answer.is_right], table(found)


def test_a_scan_is_read_as_its_words_are() -> None:
    if find_program() is None:
        pytest.skip("no tesseract")
    found: list[Answer] = []
    for bill in bills(FOLDER):
        if bill.name in ("electrician", "skip_hire"):
            found += answers(bill, scanned(bill))
    assert not [answer for answer in found if not answer.is_right], table(found)
