"""What a CSV says against its first reading: each reading is checked against the balances and the directions.

The expectations are bank statements by arithmetic: each balance is the one before with what the row moved.
"""

import pytest

from gatewayd.statements.shapes import Mapping
from tests.statements.parts import Parts, read_parts

HEAD = "Date,Details,Amount,D/C,Balance\n"


def amounts(found: Parts) -> list[int]:
    return [line.amount for line in found.lines]


def balance_told(found: Parts) -> tuple[int | None, int | None, bool | None]:
    (closed,) = found.closed
    return closed.opening_balance, closed.closing_balance, closed.adds_up


def test_amounts_that_balance_and_direction_contradict_are_turned_round() -> None:
    """10.00 before; 33.50 out leaves -23.50; 1,533.50 in leaves 1,510.00."""
    text = HEAD + "13/11/2026,WATER,33.50,D,-23.50\n14/11/2026,BROOK,-1533.50,C,1510.00\n"
    found = read_parts(text)
    assert (amounts(found), found.refused) == ([-3350, 153350], [])
    assert balance_told(found) == (1000, 151000, True)


def test_a_positive_amount_that_lowers_the_balance_is_spent() -> None:
    text = (
        "Date,Details,Amount,Balance\n13/11/2026,A,5.00,95.00\n14/11/2026,B,-20.00,115.00\n15/11/2026,C,1.00,114.00\n"
    )
    found = read_parts(text)
    assert amounts(found) == [-500, 2000, -100]
    assert balance_told(found) == (10000, 11400, True)
    assert [(one.field, one.value) for one in found.opened[0].supposed] == [("negate", "true")]


def test_a_mapping_that_a_person_gave_is_checked_too() -> None:
    mapping = Mapping(date=0, description=(1,), amount=2, balance=3, date_format="dd/mm/yyyy", negate=True)
    text = "D,W,A,B\n13/11/2026,A,5.00,95.00\n14/11/2026,B,-20.00,115.00\n15/11/2026,C,1.00,114.00\n"
    found = read_parts(text, mapping=mapping)
    (opened,) = found.opened
    assert [(one.field, one.value) for one in opened.supposed] == [("negate_balance", "false")]
    assert amounts(found) == [-500, 2000, -100]
    assert opened.mapping is not None
    assert (opened.mapping.negate, opened.mapping.negate_balance) == (True, False)


def test_columns_for_in_and_out_that_stand_the_other_way_round_are_swapped() -> None:
    text = (
        "Date,Details,Credit,Debit,Balance\n"
        "13/11/2026,A,5.00,,95.00\n"
        "14/11/2026,B,,20.00,115.00\n"
        "15/11/2026,C,1.00,,114.00\n"
    )
    found = read_parts(text)
    assert amounts(found) == [-500, 2000, -100]
    assert balance_told(found) == (10000, 11400, True)


def test_what_is_owed_on_a_card_is_a_positive_balance() -> None:
    """A card: 100.00 owed, 5.00 spent, 50.00 paid, 1.00 spent."""
    text = (
        "Date,Details,Amount,Balance\n13/11/2026,A,-5.00,105.00\n14/11/2026,B,50.00,55.00\n15/11/2026,C,-1.00,56.00\n"
    )
    found = read_parts(text, is_card=True)
    assert amounts(found) == [-500, 5000, -100]
    assert balance_told(found) == (-10000, -5600, True)
    assert [line.balance_after for line in found.lines] == [-10500, -5500, -5600]


@pytest.mark.parametrize("rows", [1, -1])
def test_one_row_that_contradicts_its_balance_is_refused(rows: int) -> None:
    body = [
        "13/11/2026,A,-5.00,95.00",
        "14/11/2026,B,20.00,75.00",
        "15/11/2026,C,-1.00,74.00",
        "16/11/2026,D,-4.00,70.00",
    ]
    found = read_parts("Date,Details,Amount,Balance\n" + "\n".join(body[::rows]) + "\n")
    assert sorted(amounts(found)) == [-500, -400, -100]
    assert [one.line for one in found.refused] == [3 if rows == 1 else 4]
    assert "balance" in found.refused[0].reason
    (closed,) = found.closed
    assert (closed.opening_balance, closed.closing_balance) == (10000, 7000)
    assert closed.opening_balance + closed.sum != closed.closing_balance  # so that it is seen that a row is missing


def test_one_row_that_contradicts_its_direction_is_refused_where_no_balance_decides() -> None:
    text = (
        "Date,Details,Amount,D/C\n"
        "13/11/2026,A,-5.00,D\n"
        "14/11/2026,B,20.00,C\n"
        "15/11/2026,C,-1.00,C\n"
        "16/11/2026,D,-4.00,D\n"
    )
    found = read_parts(text)
    assert (amounts(found), [one.line for one in found.refused]) == ([-500, 2000, -400], [4])
    assert "direction" in found.refused[0].reason


def test_a_balance_decides_between_the_sign_and_the_direction_of_a_row() -> None:
    text = HEAD + (
        "13/11/2026,A,-5.00,D,95.00\n"
        "14/11/2026,B,20.00,C,115.00\n"
        "15/11/2026,C,-1.00,C,116.00\n"
        "16/11/2026,D,-4.00,D,112.00\n"
    )
    found = read_parts(text)
    assert (amounts(found), found.refused) == ([-500, 2000, 100, -400], [])


def test_a_day_whose_rows_stand_in_no_order_adds_up() -> None:
    """100.00; -5 95; +20 115; -1 114; -4 110, as a bank may list them."""
    text = (
        "Date,Details,Amount,Balance\n"
        "14/11/2026,D,-4.00,110.00\n"
        "13/11/2026,B,20.00,115.00\n"
        "13/11/2026,A,-5.00,95.00\n"
        "13/11/2026,C,-1.00,114.00\n"
    )
    assert balance_told(read_parts(text)) == (10000, 11000, True)


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_balance_behind_each_day_alone_is_checked(newest_first: bool) -> None:
    body = ["13/11/2026,A,-5.00,", "13/11/2026,B,20.00,115.00", "14/11/2026,C,-1.00,", "14/11/2026,D,-4.00,110.00"]
    text = "Date,Details,Amount,Balance\n" + "\n".join(body[::-1] if newest_first else body) + "\n"
    assert balance_told(read_parts(text)) == (10000, 11000, True)


def test_rows_that_are_missing_are_told_by_the_balances() -> None:
    text = "Date,Details,Amount,Balance\n13/11/2026,A,-5.00,95.00\n14/11/2026,B,-1.00,80.00\n15/11/2026,C,-1.00,79.00\n"
    found = read_parts(text)
    assert amounts(found) == [-500, -100, -100]
    assert balance_told(found)[2] is False


def test_one_and_the_same_balance_behind_every_row_says_nothing() -> None:
    text = "Date,Details,Amount,Balance\n13/11/2026,A,-5.00,0.00\n14/11/2026,B,-1.00,0.00\n15/11/2026,C,-1.00,0.00\n"
    found = read_parts(text)
    assert (amounts(found), balance_told(found)) == ([-500, -100, -100], (None, None, None))


def test_the_last_statement_decides_where_one_row_alone_stands() -> None:
    text = "Date,Details,Amount,Balance\n13/11/2026,A,5.00,95.00\n"
    assert amounts(read_parts(text, last_balance=10000)) == [-500]
    assert amounts(read_parts(text, last_balance=9000)) == [500]
    assert amounts(read_parts(text)) == [500]


@pytest.mark.parametrize(("currency", "pence"), [("GBp", 1250), ("GBX", 1250), ("GBP", 125000)])
def test_pence_are_no_pounds(currency: str, pence: int) -> None:
    text = f"Date,Details,Amount,Currency\n13/11/2026,A,-1250,{currency}\n"
    found = read_parts(text)
    assert [(line.amount, line.currency) for line in found.lines] == [(-pence, "GBP")]


def test_a_part_of_a_penny_is_refused() -> None:
    found = read_parts("Date,Details,Amount,Currency\n13/11/2026,A,-12.50,GBp\n")
    assert (found.lines, [one.line for one in found.refused]) == ([], [2])
