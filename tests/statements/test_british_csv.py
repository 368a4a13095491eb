"""What a British CSV leaves open is settled by the file itself, or as British banks write it, and told (Domain E)."""

from typing import Any

import pytest

from tests.statements.parts import Parts, proposal_in, read_parts

BANK = "Date,Description,Amount\n03/11/2026,Timber,-40.00\n05/11/2026,Sale,1250.00\n06/11/2026,Water,-5.00\n"
EXPECTED = [("2026-11-03", -4000), ("2026-11-05", 125000), ("2026-11-06", -500)]


def british(content: str, **hints: Any) -> Parts:
    return read_parts(content, supposes=True, **hints)


def moved(found: Parts) -> list[tuple[str | None, int]]:
    return [(line.booking_date, line.amount) for line in found.lines]


def told(found: Parts) -> dict[str, str]:
    return {one.field: one.value for one in found.opened[0].supposed}


@pytest.mark.parametrize(
    "content",
    [
        BANK,
        BANK.partition("\n")[2],  # as HSBC gives it
        BANK.replace("/2026", "/26"),
        BANK.replace("/", "-").replace("-2026", "-26"),
        BANK.replace("1250.00", '"1,250.00"'),
        BANK.replace("-40.00", "(40.00)").replace("-5.00", "(5.00)"),
        BANK.partition("\n")[2].replace("1250.00", '"1,250.00"').replace("/2026", "/26"),
        BANK.partition("\n")[2].replace("-40.00", "(40.00)").replace("-5.00", "(5.00)"),
        BANK.replace(",", ";"),
        BANK.replace("-40.00", "-£40.00").replace("1250.00", "£1250.00").replace("-5.00", "-£5.00"),
    ],
)
def test_an_ordinary_file_comes_in_without_a_question(content: str) -> None:
    found = british(content)
    assert (moved(found), found.refused) == (EXPECTED, [])
    assert told(found)["date_format"] == "dd/mm/yyyy"


def test_what_was_supposed_is_told_with_its_reason() -> None:
    (opened,) = british(BANK).opened
    assert [(one.field, one.value) for one in opened.supposed] == [("date_format", "dd/mm/yyyy"), ("negate", "false")]
    assert all(one.reason.endswith(".") for one in opened.supposed)


def test_nothing_is_supposed_of_another_currency_or_where_it_may_not_be() -> None:
    assert {one.field for one in proposal_in(BANK, supposes=True, currency="EUR").doubts} == {"date_format", "negate"}
    assert {one.field for one in proposal_in(BANK).doubts} == {"date_format", "negate"}


def test_a_day_that_can_be_no_month_goes_before_what_is_supposed() -> None:
    american = BANK.replace("03/11", "11/03").replace("05/11", "11/05").replace("06/11", "11/16")
    found = british(american)
    assert [day for day, _ in moved(found)] == ["2026-11-03", "2026-11-05", "2026-11-16"]
    assert "date_format" not in told(found)


def test_the_order_of_the_dates_decides() -> None:
    """11/03, 11/05, 12/01, 12/04 go on where the month is first, and back and forth where the day is."""
    rows = "".join(f"{day}/2026,Timber,-1.00\n" for day in ("11/03", "11/05", "12/01", "12/04", "12/06"))
    found = british("Date,Description,Amount\n" + rows)
    assert [day for day, _ in moved(found)][:3] == ["2026-11-03", "2026-11-05", "2026-12-01"]
    assert told(found)["date_format"] == "mm/dd/yyyy"
    assert moved(read_parts("Date,Details,Amount\n" + rows))[0][0] == "2026-11-03"


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("balance last", ["03/11/2026,Timber,-40.00,60.00", "05/11/2026,Sale,1250.00,1310.00"]),
        ("balance first", ["03/11/2026,60.00,-40.00,Timber", "05/11/2026,1310.00,1250.00,Sale"]),
        ("out and in", ["03/11/2026,Timber,40.00,,60.00", "05/11/2026,Sale,,1250.00,1310.00"]),
        ("in and out", ["03/11/2026,Timber,,40.00,60.00", "05/11/2026,Sale,1250.00,,1310.00"]),
    ],
)
def test_balances_show_what_columns_without_headings_mean(columns: str, rows: list[str]) -> None:
    found = british("\n".join([*rows, "13/11/2026" + rows[0].replace("60.00", "1270.00")[10:]]) + "\n")
    assert [amount for _, amount in moved(found)] == [-4000, 125000, -4000]
    assert (found.closed[0].opening_balance, found.closed[0].closing_balance) == (10000, 127000)


def test_a_card_whose_payments_alone_are_negative_is_asked_about_in_a_bank_account() -> None:
    card = (
        "Date,Description,Amount\n13/11/2026,Timber,40.00\n14/11/2026,PAYMENT RECEIVED,-50.00\n15/11/2026,Cafe,5.00\n"
    )
    assert [one.field for one in proposal_in(card, supposes=True).doubts] == ["negate"]
    found = british(card, is_card=True)
    assert [amount for _, amount in moved(found)] == [-4000, 5000, -500]
    assert told(found)["negate"] == "true"


def test_rents_in_and_few_costs_out_are_a_bank_account() -> None:
    rents = (
        "Date,Description,Amount\n13/11/2026,RENT LEE,650.00\n14/11/2026,PLUMBER,-50.00\n15/11/2026,RENT ROSS,700.00\n"
    )
    assert [amount for _, amount in moved(british(rents))] == [65000, -5000, 70000]


def test_amounts_without_any_sign_are_asked_about() -> None:
    text = "Date,Description,Amount\n13/11/2026,Timber,40.00\n14/11/2026,Sale,50.00\n"
    assert [one.field for one in proposal_in(text, supposes=True).doubts] == ["negate"]


def test_what_a_person_answers_goes_before_all() -> None:
    found = read_parts(BANK, date_format="mm/dd/yyyy", negate=True)
    assert moved(found) == [("2026-03-11", 4000), ("2026-05-11", -125000), ("2026-06-11", 500)]
    assert told(found) == {}


def test_unknown_columns_of_text_join_a_description_that_would_be_empty() -> None:
    text = (
        "Date,Amount,Label,Partner Name,Number\n"
        "13/11/2026,-40.00,Timber,Northern Wood,12\n"
        "14/11/2026,9.00,Sale,Brook,13\n"
    )
    assert [line.description for line in read_parts(text).lines] == ["Timber Northern Wood", "Sale Brook"]
    named = text.replace("Label", "Details")
    assert [line.description for line in read_parts(named).lines] == ["Timber", "Sale"]
