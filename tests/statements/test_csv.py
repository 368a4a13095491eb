"""CSV with a mapping that is given, and what goes wrong in such files (Domain E)."""

import pytest

from gatewayd.statements.shapes import Limits, Mapping
from tests.statements.parts import proposal_in, read_parts, reason_of

SIGNED = Mapping(date="Date", description=("Details",), amount="Amount", balance="Balance", date_format="dd/mm/yyyy")


def table(*rows: str, headings: str = "Date,Details,Amount,Balance") -> str:
    return "\n".join([headings, *rows]) + "\n"


def test_columns_are_named_or_counted() -> None:
    text = "ref;when;what;more;out;in\n7;25/11/2026;Timber;deck;-1.234,50;\n8;26/11/2026;Sale;;;99,00\n"
    by_name = Mapping(
        delimiter=";",
        date="WHEN ",
        description=("what", "more"),
        paid_in="in",
        paid_out="out",
        transaction_id="ref",
        date_format="dd/mm/yyyy",
        decimal_comma=True,
    )
    by_number = Mapping(
        delimiter=";",
        date=1,
        description=(2, 3),
        paid_in=5,
        paid_out=4,
        transaction_id=0,
        date_format="dd/mm/yyyy",
        decimal_comma=True,
    )
    for mapping in (by_name, by_number):
        found = read_parts(text, mapping=mapping)
        assert found.rows == [("2026-11-25", -123450, "Timber deck"), ("2026-11-26", 9900, "Sale")]
        assert [line.fit_id for line in found.lines] == ["7", "8"]
        assert found.opened[0].mapping == mapping  # without the file's encoding: it may serve for others


def test_a_file_without_headings_is_read_by_numbers() -> None:
    mapping = Mapping(header_row=None, date=0, description=(1,), amount=2, date_format="dd/mm/yyyy")
    found = read_parts('25/11/2026,"))) CAFE",-4.50\n26/11/2026,CR BROOK,"1,500.00"\n', mapping=mapping)
    assert found.rows == [("2026-11-25", -450, "))) CAFE"), ("2026-11-26", 150000, "CR BROOK")]
    assert [line.line for line in found.lines] == [1, 2]


def test_lines_before_the_headings_are_left_out() -> None:
    mapping = Mapping(header_row=2, date="Date", description=("Details",), amount="Amount", date_format="dd/mm/yyyy")
    found = read_parts("Account,12345678\n\n" + table("25/11/2026,Timber,-1.00,9.00"), mapping=mapping)
    assert [(line.line, line.amount) for line in found.lines] == [(4, -100)]


def test_a_direction_of_its_own_and_marks_behind_amounts_are_read() -> None:
    mapping = Mapping(date=0, description=(1,), amount=2, direction=3, date_format="dd/mm/yyyy")
    text = table("25/11/2026,A,5.00,DR", "25/11/2026,B,5.00,Credit", "25/11/2026,C,5.00,sideways")
    found = read_parts(text, mapping=mapping)
    assert [line.amount for line in found.lines] == [-500, 500]
    assert [(refused.line, "sideways" in refused.reason.lower()) for refused in found.refused] == [(4, True)]
    card = Mapping(date=0, description=(1,), amount=2, negate=True, date_format="dd/mm/yyyy")
    text = table("25/11/2026,A,5.00,x", "25/11/2026,B,5.00 CR,x", "25/11/2026,C,-5.00,x")
    assert [line.amount for line in read_parts(text, mapping=card).lines] == [-500, 500, 500]


def test_pence_are_counted_as_such() -> None:
    mapping = Mapping(date=0, description=(1,), amount=2, pence=True, date_format="dd/mm/yyyy")
    assert read_parts(table("25/11/2026,A,-1250,"), mapping=mapping).lines[0].amount == -1250


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("31/02/2026,A,-1.00,9.00", "'31/02/2026' is no date"),
        (",A,-1.00,9.00", "it has no date"),
        ("25/11/2026,A,,9.00", "it has no amount"),
        ("25/11/2026,A,1.00.00,9.00", "'1.00.00' is no amount"),
        ("25/11/2026,A,-1.00", "it has 3 columns instead of 4"),
        ("25/11/2026,A,B,-1.00,9.00", "it has 5 columns instead of 4"),
        ('25/11/2026,"A,-1.00,9.00', "its columns cannot be told apart"),
        ('25/11/2026,"A" B" C,-1.00,9.00', "its columns cannot be told apart"),
        ("25/11/2026,A\0,-1.00,9.00", "there is a NUL byte"),
        ("25/11/2026,A,99999999999999.00,9.00", "more than 13 digits"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_its_line(row: str, reason: str) -> None:
    before, after = "24/11/2026,First,-1.00,10.00", "26/11/2026,Last,-1.00,8.00"
    found = read_parts(table(before, row, after), mapping=SIGNED)
    assert [(line.line, line.description) for line in found.lines] == [(2, "First"), (4, "Last")]
    assert [(refused.line, reason in refused.reason) for refused in found.refused] == [(3, True)]
    # Opening, rows and closing do not add up, so that who imports it sees that something is missing.
    (closed,) = found.closed
    assert (closed.opening_balance, closed.sum, closed.closing_balance) == (1100, -200, 800)


def test_both_paid_in_and_out_are_refused() -> None:
    mapping = Mapping(date=0, description=(1,), paid_in=2, paid_out=3, date_format="dd/mm/yyyy")
    found = read_parts(table("25/11/2026,A,1.00,2.00", "25/11/2026,B,1.00,0.00"), mapping=mapping)
    assert [line.amount for line in found.lines] == [100]
    assert found.refused[0].reason == "it was both paid in and paid out"


def test_totals_and_balances_among_the_rows_are_no_transactions() -> None:
    text = table(
        ",Balance brought forward,,10.00",
        "25/11/2026,Timber,-1.00,9.00",
        "",
        ",,,",
        "Total,,-1.00,",
        ",Closing balance,,9.00",
        "Date,Details,Amount,Balance",
        "25/11/2026,Total Fitness,-2.00,7.00",
    )
    found = read_parts(text, mapping=SIGNED)
    assert [line.description for line in found.lines] == ["Timber", "Total Fitness"]
    assert found.refused == []
    told = [(part.line, part.kind) for part in found.ignored]
    assert told == [(2, "balance"), (6, "total"), (7, "balance"), (8, "heading")]


def test_quotation_marks_within_text_and_texts_of_two_lines_are_read() -> None:
    text = table(
        '25/11/2026,"JOHN ""THE BAKER"" SMITH",-1.00,9.00',
        '26/11/2026,"two\nlines",-1.00,8.00',
        "27/11/2026,C,-1.00,7.00",
    )
    found = read_parts(text, mapping=SIGNED)
    assert [(line.line, line.description) for line in found.lines] == [
        (2, 'JOHN "THE BAKER" SMITH'),
        (3, "two lines"),
        (5, "C"),
    ]
    assert found.lines[1].raw_description == "two\nlines"


def test_balances_that_do_not_follow_from_each_other_do_not_add_up() -> None:
    """Not even where the first and the last would: 11.00 and three times -1.00 are 8.00."""
    text = table("24/11/2026,A,-1.00,10.00", "25/11/2026,B,-1.00,3.00", "26/11/2026,C,-1.00,8.00")
    (closed,) = read_parts(text, mapping=SIGNED).closed
    assert (closed.opening_balance, closed.closing_balance, closed.adds_up) == (1100, 800, False)


def test_newest_first_is_seen_by_the_balances() -> None:
    text = table("26/11/2026,C,5.00,13.00", "25/11/2026,B,-1.00,8.00", "24/11/2026,A,-1.00,9.00")
    (closed,) = read_parts(text, mapping=SIGNED).closed
    assert (closed.opening_balance, closed.closing_balance, closed.closing_date) == (1000, 1300, "2026-11-26")


def test_the_file_names_its_currency_or_the_caller_does() -> None:
    rows = ["25/11/2026,A,-1.00,9.00"]
    assert read_parts(table(*rows), mapping=SIGNED, currency="EUR").lines[0].currency == "EUR"
    euro = table(*rows, headings="Date,Details,Amount (EUR),Balance")
    mapping = Mapping(date="Date", amount="Amount (EUR)", date_format="dd/mm/yyyy")
    assert [read_parts(euro, mapping=mapping, currency=c).lines[0].currency for c in (None, "GBP")] == ["EUR", "EUR"]
    found = read_parts(table(*rows), mapping=SIGNED, currency=None)
    assert [refused.reason for refused in found.refused] == ["it names no currency"]


@pytest.mark.parametrize(
    ("text", "mapping", "reason"),
    [
        (
            table(),
            Mapping(date="When", amount="Amount"),
            "no column 'When': the file has Date, Details",
        ),
        (table(), Mapping(date="Date"), "names no column for the amount"),
        (table("25/11/2026,A,-1.00,9.00"), Mapping(date=0, amount=2, encoding="klingon"), "no encoding 'klingon'"),
        (table("25/11/2026,A,-1.00,9.00"), Mapping(date=0, amount=2, header_row=7), "line 8: there are no headings"),
        (table("25/11/2026," + "A" * 10_000_000 + ",-1.00,9.00"), SIGNED, "line 2: the line is longer than"),
    ],
)
def test_a_mapping_that_does_not_fit_or_a_broken_limit_is_told(text: str, mapping: Mapping, reason: str) -> None:
    assert reason in reason_of(text, mapping=mapping)


def test_an_encoding_that_does_not_fit_is_told_with_the_line() -> None:
    text = table("25/11/2026,CAFÉ,-1.00,9.00").encode("cp1252")
    mapping = Mapping(date=0, amount=2, encoding="utf-8", date_format="dd/mm/yyyy")
    assert "none in utf-8" in reason_of(text, mapping=mapping)


def test_dates_that_could_be_either_are_asked_for_with_the_mapping_that_was_given() -> None:
    text = table("05/06/2026,A,-1.00,9.00", "07/06/2026,B,-1.00,8.00")
    open_order = Mapping(date="Date", description=("Details",), amount="Amount", balance="Balance")
    proposal = proposal_in(text, mapping=open_order)
    assert proposal.mapping.balance == "Balance"
    assert [(doubt.field, doubt.choices) for doubt in proposal.doubts] == [
        ("date_format", ("dd/mm/yyyy", "mm/dd/yyyy"))
    ]


def test_many_accounts_are_a_wrong_mapping() -> None:
    rows = [f"25/11/2026,A{n},-1.00,9.00" for n in range(1001)]
    mapping = Mapping(date=0, amount=2, account_name=1, date_format="dd/mm/yyyy")
    assert "more than 1000 accounts" in reason_of(table(*rows), mapping=mapping)


def test_cells_of_any_length_cost_no_more_than_their_length() -> None:
    long = " " * 60_000 + "x"
    rows = [f"{long},A,-1.00,9.00", f"25/11/2026,A,{'1' * 60_000}x,9.00", f"25/11/2026,{'A' * 60_000},-1.00,9.00"]
    found = read_parts(table(*rows), mapping=SIGNED)
    assert [refused.line for refused in found.refused] == [2, 3]
    assert len(found.lines[0].description) == 60_000


def test_rows_past_the_limit_make_the_file_unreadable() -> None:
    rows = ["25/11/2026,A,-1.00,9.00"] * 11
    assert reason_of(table(*rows), mapping=SIGNED, limits=Limits(lines=10)) == "line 12: the file has more than 10 rows"
