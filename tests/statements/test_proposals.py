"""A CSV that no profile knows: read where nothing is in doubt, else asked about (Domain E)."""

import pytest
from msgspec import structs

from tests.statements.parts import proposal_in, read_parts, reason_of

CLEAR = "Transaction Date,Details,Money Out (£),Money In (£),Running Balance\n25/11/2026,Timber,40.00,,960.00\n"


def test_headings_that_leave_no_doubt_are_read_at_once() -> None:
    found = read_parts(CLEAR, currency=None)
    assert found.rows == [("2026-11-25", -4000, "Timber")]
    (opened,) = found.opened
    assert (opened.profile, opened.currency) == (None, "GBP")  # by the £ of the headings
    assert opened.mapping is not None
    assert (opened.mapping.paid_out, opened.mapping.balance) == ("Money Out (£)", "Running Balance")


def test_a_proposal_shows_what_it_rests_on() -> None:
    proposal = proposal_in(CLEAR.replace("25/11", "05/11") * 40)
    assert proposal.headings == ("Transaction Date", "Details", "Money Out (£)", "Money In (£)", "Running Balance")
    assert len(proposal.rows) == 20
    assert proposal.rows[0] == ("05/11/2026", "Timber", "40.00", "", "960.00")
    assert proposal.mapping.paid_out == "Money Out (£)"
    assert [doubt.field for doubt in proposal.doubts] == ["date_format"]


def test_an_order_of_dates_is_looked_for_in_the_whole_file() -> None:
    rows = "".join(f"0{1 + n % 9}/11/2026,Timber,1.00,,{n}.00\n" for n in range(1000))
    assert proposal_in(CLEAR.splitlines()[0] + "\n" + rows).doubts[0].field == "date_format"
    late = CLEAR.splitlines()[0] + "\n" + rows + "30/11/2026,Timber,1.00,,0.00\n"
    assert read_parts(late).lines[0].booking_date == "2026-11-01"


def test_the_sign_of_the_columns_that_banks_and_cards_share_is_asked_for() -> None:
    bank = "Date,Description,Amount\n25/11/2026,Timber,-40.00\n26/11/2026,Water,-5.00\n"
    proposal = proposal_in(bank)
    assert [(doubt.field, doubt.choices) for doubt in proposal.doubts] == [("negate", ("false", "true"))]
    card = "Date,Description,Amount\n25/11/2026,Timber,40.00\n26/11/2026,Thanks,-5.00\n27/11/2026,Water,5.00\n"
    assert proposal_in(card).doubts[0].choices == ("true", "false")
    answered = structs.replace(proposal_in(card).mapping, negate=True)
    assert [line.amount for line in read_parts(card, mapping=answered).lines] == [-4000, 500, -500]


def test_a_running_balance_needs_no_question_about_the_sign() -> None:
    found = read_parts("Date,Description,Amount,Balance\n25/11/2026,Sale,40.00,140.00\n")
    assert (found.lines[0].amount, found.closed[0].opening_balance) == (4000, 10000)


def test_columns_without_headings_are_guessed_and_asked_for() -> None:
    """The balances do not bear them out."""
    text = '25/11/2026,")))  CAFE 12",-4.50,95.50\n26/11/2026,DD NORTHERN WATER,-40.00,75.50\n'
    proposal = proposal_in(text)
    assert (proposal.headings, proposal.mapping.header_row) == ((), None)
    assert (proposal.mapping.date, proposal.mapping.description) == (0, (1,))
    assert (proposal.mapping.amount, proposal.mapping.balance) == (2, 3)
    assert [doubt.field for doubt in proposal.doubts] == ["columns"]
    assert read_parts(text, mapping=proposal.mapping).closed[0].sum == -4450


def test_european_files_are_proposed_with_their_delimiter_and_comma() -> None:
    text = "Buchungstag;Valutadatum;Verwendungszweck;Betrag;Saldo\n25.11.2026;26.11.2026;Miete;-1.500,00;8.500,00\n"
    (line,) = read_parts(text, currency="EUR").lines
    assert (line.amount, line.value_date, line.balance_after) == (-150000, "2026-11-26", 850000)


def test_what_has_no_date_or_amount_is_asked_for_and_prose_is_no_statement() -> None:
    proposal = proposal_in("Name,Colour,Size\nBrook,red,10\n")
    assert [doubt.field for doubt in proposal.doubts] == ["date", "amount"]
    unsettled = proposal_in("Date,Colour,Size\n05/06/2026,red,10\n")
    assert [doubt.field for doubt in unsettled.doubts] == ["amount", "date_format"]
    assert "no statement" in reason_of("Dear customer\nthis is a letter\nand no table\n")


@pytest.mark.parametrize(("heading", "inward", "outward"), [("Type", "CR", "DR"), ("Debit/Credit", "Credit", "Debit")])
def test_a_column_that_says_in_or_out_of_every_row_is_the_direction(heading: str, inward: str, outward: str) -> None:
    text = f"Date,Description,Amount,{heading}\n25/11/2026,Timber,40.00,{outward}\n26/11/2026,Sale,5.00,{inward}\n"
    assert read_parts(text).rows == [("2026-11-25", -4000, "Timber"), ("2026-11-26", 500, "Sale")]
    bare = text.partition("\n")[2]
    assert proposal_in(bare).mapping.direction == 3


@pytest.mark.parametrize("types", [("DR", ""), ("DR", "TFR")])
def test_a_column_that_says_it_of_some_rows_is_none(types: tuple[str, str]) -> None:
    rows = "".join(f"25/11/2026,Timber,40.00,{type_}\n" for type_ in types)
    proposal = proposal_in(f"Date,Description,Amount,Type\n{rows}")
    assert proposal.mapping.direction is None
    assert [doubt.field for doubt in proposal.doubts] == ["negate"]


def test_amounts_with_signs_need_no_direction() -> None:
    text = "Date,Description,Amount,Type\n25/11/2026,Timber,-40.00,DR\n26/11/2026,Reversal,40.00,DR\n"
    assert [line.amount for line in read_parts(text).lines] == [-4000, 4000]
