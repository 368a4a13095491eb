"""Bills as British firms get them are read, by their words; how well by scans, `docs/benchmarks.md` has."""

from tests.extraction.bills.measure import FOLDER, Answer, answers, bills, scanned, table, words_of


def test_bills_that_rules_were_made_for_are_read() -> None:
    read = bills(FOLDER)
    assert len(read) >= 36
    found = [answer for bill in read for answer in answers(bill, words_of(bill))]
    assert not [answer for answer in found if not answer.is_right], table(found)


def test_bills_that_no_rule_was_made_for_are_read() -> None:
    """What they miss stays missed, or they are held out no more."""
    found = [answer for bill in bills(FOLDER / "held_out") for answer in answers(bill, words_of(bill))]
    of_sums = [answer for answer in found if answer.field in ("total", "net", "vat", "date", "dueDate", "vatNumber")]
    assert len(of_sums) >= 90
    assert not [answer for answer in of_sums if not answer.is_right], table(found)
    assert sum(not answer.is_right for answer in found) <= 3, table(found)


def test_a_scan_is_read_as_its_words_are() -> None:
    found: list[Answer] = []
    for bill in bills(FOLDER):
        if bill.name in ("electrician", "skip_hire"):
            found += answers(bill, scanned(bill))
    assert not [answer for answer in found if not answer.is_right], table(found)
