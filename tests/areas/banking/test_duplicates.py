"""Which lines of a file are new (Domain C10): worked cases, and that importing is a union of what banks listed."""

import tracemalloc
from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.banking.imports.duplicates import Candidate, Known, Plan, Stored
from gatewayd.areas.banking.transactions.texts import fingerprint, match_key, normalised, search_text

ACCOUNT, DAY = "bac_1", "2026-03-02"


def candidate(position: int, amount: int = -320, text: str = "costa coffee", **values: Any) -> Candidate:
    given_ = {"statement": 0, "date": DAY, "status": "booked", "fit_id": None, "bank_reference": None, **values}
    print_ = fingerprint(ACCOUNT, given_["date"], (amount, "GBP"), text, 1)
    return Candidate(
        position=position, amount=amount, text=text, match_key=match_key(None, text), fingerprint=print_, **given_
    )


def stored(id_: str, amount: int = -320, text: str = "costa coffee", **values: Any) -> Stored:
    given_ = {"date": DAY, "status": "booked", "fit_id": None, "bank_reference": None, "format": "csv", **values}
    print_ = fingerprint(ACCOUNT, given_["date"], (amount, "GBP"), text, 1)
    return Stored(id=id_, amount=amount, text=text, match_key=match_key(None, text), fingerprint=print_, **given_)


def known(rows: Sequence[Stored]) -> Known:
    by_id: dict[str, list[Stored]] = {}
    pending: dict[int, list[Stored]] = {}
    around: dict[int, list[Stored]] = {}
    for one in rows:
        by_id.setdefault(one.fit_id or "", []).append(one)
        (pending if one.status == "pending" else around).setdefault(one.amount, []).append(one)
    by_id.pop("", None)
    return Known([one for one in rows if one.date == DAY and one.status != "pending"], by_id, pending, around)


def decided(
    candidates: Sequence[Candidate], rows: Sequence[Stored], file_format: str = "csv", closed: bool = False
) -> list[tuple[str, str | None]]:
    """Action and existing id of each line, in the order of the file."""
    plan = Plan(ACCOUNT, "GBP", file_format, lambda date: closed)
    found = {one.position: (one.action, one.existing_id) for one in plan.day(candidates, known(rows))}
    return [found.get(one.position, ("add", None)) for one in candidates]


NEW = ("add", None)


def test_two_equal_lines_stay_two_and_the_third_is_new() -> None:
    lines = [candidate(1), candidate(2), candidate(3)]
    assert decided(lines[:2], []) == [NEW, NEW]
    assert decided(lines, [stored("a"), stored("b")]) == [("duplicate", "a"), ("duplicate", "b"), NEW]


def test_an_id_counts_with_its_amount() -> None:
    """A bank that numbers the lines of each file anew gives the same id to another payment."""
    assert decided([candidate(1, -100, "x", fit_id="1")], [stored("a", -100, "y", fit_id="1")]) == [("duplicate", "a")]
    assert decided([candidate(1, -100, "x", fit_id="1")], [stored("a", -999, "x", fit_id="1")]) == [NEW]


def test_an_id_is_known_on_another_day_within_seven() -> None:
    later = [candidate(1, fit_id="1")]
    assert decided(later, [stored("a", fit_id="1", date="2026-02-23")]) == [("duplicate", "a")]
    assert decided(later, [stored("a", fit_id="1", date="2026-02-22")]) == [NEW]


def test_new_ids_for_the_same_lines_add_nothing() -> None:
    assert decided([candidate(1, fit_id="n1")], [stored("a", fit_id="o1")]) == [("duplicate", "a")]


def test_the_same_id_in_two_statements_of_a_file_is_one_line() -> None:
    lines = [candidate(1, fit_id="1"), candidate(2, fit_id="1", statement=1)]
    assert decided(lines, []) == [NEW, ("duplicate", None)]


def test_a_reference_pairs_lines_that_are_described_otherwise() -> None:
    lines = [candidate(1, text="a", bank_reference="R1"), candidate(2, text="b", bank_reference="R2")]
    assert decided(lines, [stored("s", text="c", bank_reference="R2")]) == [NEW, ("duplicate", "s")]


def test_the_amount_alone_pairs_lines_of_another_format() -> None:
    assert decided([candidate(1, text="a")], [stored("s", text="b", format="ofx")]) == [("duplicate", "s")]
    assert decided([candidate(1, text="a")], [stored("s", text="b", format="csv")]) == [NEW]
    assert decided([candidate(1, text="a")], [stored("s", text="b", format=None)]) == [NEW]


def test_what_says_the_same_goes_before_what_costs_the_same() -> None:
    rows = [stored("other", text="b", format="ofx"), stored("same", text="a", format="ofx")]
    assert decided([candidate(1, text="x"), candidate(2, text="a")], rows) == [
        ("duplicate", "other"),
        ("duplicate", "same"),
    ]


def test_a_pending_line_is_replaced_once() -> None:
    pending = stored("p", -4500, "shell", status="pending", date="2026-02-25")
    lines = [candidate(1, -4500, "shell leeds"), candidate(2, -4500, "shell leeds")]
    assert decided(lines, [pending]) == [("replace", "p"), NEW]
    assert decided(lines[:1], [stored("p", -4500, "tesco", status="pending")]) == [NEW]


def test_a_pending_line_that_was_booked_since_is_there() -> None:
    line = candidate(1, -4500, "shell", status="pending")
    assert decided([line], [stored("b", -4500, "shell leeds", date="2026-03-04")]) == [("duplicate", "b")]


def test_what_is_new_in_a_closed_period_is_refused() -> None:
    assert decided([candidate(1), candidate(2)], [stored("a")], closed=True) == [("duplicate", "a"), ("refuse", None)]


amounts = st.integers(-3, 3)
texts = st.sampled_from(["a", "b"])
days_lines = st.lists(st.tuples(amounts, texts), max_size=8)


@given(days_lines, days_lines)
def test_two_listings_of_a_day_make_their_union(first: list[tuple[int, str]], second: list[tuple[int, str]]) -> None:
    """Each listing is of the whole day so far: what is kept then is, of each line, the more of both."""
    rows = [stored(f"s{n}", amount, text) for n, (amount, text) in enumerate(first)]
    lines = [candidate(n, amount, text) for n, (amount, text) in enumerate(second)]
    added = Counter(
        (line.amount, line.text)
        for line, (action, _) in zip(lines, decided(lines, rows), strict=True)
        if action == "add"
    )
    assert Counter(first) + added == Counter(first) | Counter(second)


@given(days_lines)
def test_the_same_day_in_two_formats_is_there_once(lines: list[tuple[int, str]]) -> None:
    rows = [stored(f"s{n}", amount, f"OFX {text}", format="ofx") for n, (amount, text) in enumerate(lines)]
    found = decided([candidate(n, amount, text) for n, (amount, text) in enumerate(lines)], rows)
    assert {action for action, _ in found} <= {"duplicate"}
    assert len({existing for _, existing in found}) == len(lines)


@given(days_lines)
def test_no_two_lines_have_one_fingerprint(lines: list[tuple[int, str]]) -> None:
    candidates = [candidate(n, amount, text) for n, (amount, text) in enumerate(lines)]
    plan = Plan(ACCOUNT, "GBP", "csv", lambda date: False)
    changed = {one.position: one.fingerprint for one in plan.day(candidates, known([]))}
    assert len({changed.get(one.position, one.fingerprint) for one in candidates}) == len(lines)


def test_what_is_made_of_texts() -> None:
    assert normalised("  COSTA\tCoffee ") == "costa coffee"
    assert match_key(None, "CARD PAYMENT TO TESCO STORES 2231 ON 12 MAR 2026") == "card payment to tesco stores on"
    assert match_key("M. O'Brien & Sons", "REF 12") == "m o'brien sons"
    assert match_key(None, "1234") == ""
    assert search_text(["TESCO", None, "", "Tesco", "Ref 1"]) == "tesco\nref 1"


def test_a_plan_keeps_nothing_of_days_that_are_done() -> None:
    """However many lines with ids a file has."""

    def kept(days: int) -> int:
        plan = Plan(ACCOUNT, "GBP", "ofx", lambda date: False)
        tracemalloc.start()
        for day in range(days):
            lines = [candidate(n, n, date=f"{2000 + day}-01-01", fit_id=f"{day}-{n}") for n in range(50)]
            assert list(plan.day(lines, known([]))) == []
        grown = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return grown

    kept(1)  # what is made once
    assert kept(100) < kept(2) + 20_000  # 5,000 ids take half a megabyte
