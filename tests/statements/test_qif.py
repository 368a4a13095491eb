"""QIF: lists of bank, cash and card accounts (Domain E)."""

import pytest

from gatewayd.statements.shapes import Mapping
from tests.statements.parts import proposal_in, read_parts, reason_of

BANK = """!Type:Bank
D25/11/2026
T-1,234.56
N100042
PNORTHERN TIMBER
MInvoice 7
^
D26/11/26
U50.00
T50.00
NDD
PNORTHERN TIMBER
SStock
Edeck
$-30.00
^
"""


def test_a_list_of_a_bank_account_is_read() -> None:
    found = read_parts(BANK)
    first, second = found.lines
    assert found.rows == [
        ("2026-11-25", -123456, "NORTHERN TIMBER Invoice 7"),
        ("2026-11-26", 5000, "NORTHERN TIMBER"),
    ]
    assert (first.line, first.reference, first.type) == (2, "100042", "cheque")
    assert (second.line, second.type) == (8, "direct_debit")
    assert second.raw_description == "NORTHERN TIMBER\nSStock\nEdeck\n$-30.00"
    assert (found.closed[0].sum, found.closed[0].from_date, found.closed[0].to_date) == (
        -118456,
        "2026-11-25",
        "2026-11-26",
    )


def test_accounts_and_other_lists_are_told_apart() -> None:
    text = (
        "!Option:AutoSwitch\n!Account\nNTrading\nTBank\n^\nNVisa\nTCCard\n^\n!Clear:AutoSwitch\n"
        "!Type:Cat\nNFuel\nDNot a date\nE\n^\n"
        "!Account\nNTrading\nTBank\n^\n!Type:Bank \nD25/11/2026\nT5.00\n^\n"
        "!Account\nNVisa\nTCCard\n^\n!Type:CCard\nD26/11/2026\nT-7.00\n^\n"
        "!Type:Invst\nD26/11/2026\nNBuy\nT99.00\n^\n"
    )
    found = read_parts(text)
    assert [opened.account_name for opened in found.opened] == ["Trading", "Visa"]
    assert [(line.statement, line.amount) for line in found.lines] == [(0, 500), (1, -700)]


def test_an_opening_balance_is_no_transaction() -> None:
    found = read_parts("!Type:Bank\nD31/12/2025\nT100.00\nPOpening Balance\nL[Trading]\n^\nD13/01/2026\nT-1.00\n^\n")
    assert [line.amount for line in found.lines] == [-100]
    assert found.closed[0].opening_balance == 10000


def test_an_order_of_dates_that_nothing_shows_is_asked_for() -> None:
    text = "!Type:Bank\nD05/06/2026\nT-1.00\n^\nD07/08'26\nT-1.00\n^\n"
    proposal = proposal_in(text)
    assert [(doubt.field, doubt.choices) for doubt in proposal.doubts] == [
        ("date_format", ("dd/mm/yyyy", "mm/dd/yyyy"))
    ]
    american = read_parts(text, mapping=Mapping(date_format="mm/dd/yyyy"))
    assert [line.booking_date for line in american.lines] == ["2026-05-06", "2026-07-08"]
    assert american.opened[0].mapping is not None
    assert american.opened[0].mapping.date_format == "mm/dd/yyyy"


def test_months_first_are_seen_by_a_late_date() -> None:
    early = "".join(f"D01/{n:02d}/2026\nT1.00\n^\n" for n in range(2, 10))
    found = read_parts(f"!Type:Bank\n{early}D01/31/2026\nT1.00\n^\n")
    assert found.lines[0].booking_date == "2026-01-02"


def test_a_decimal_comma_is_seen_by_the_amounts_of_the_file() -> None:
    found = read_parts("!Type:Cash\nD13.01.2026\nT-1.234,56\n^\nD14.01.2026\nT2.000\n^\n", currency="EUR")
    assert [line.amount for line in found.lines] == [-123456, 200000]


def test_a_card_may_count_what_was_spent_as_positive() -> None:
    found = read_parts("!Type:CCard\nD13/01/2026\nT9.99\n^\n", mapping=Mapping(negate=True))
    assert found.lines[0].amount == -999


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("T-1.00\n^\n", "it has no date"),
        ("D14/01/2026\n^\n", "it has no amount"),
        ("D31/02/2026\nT-1.00\n^\n", "'31/02/2026' is no date"),
        ("D14/01/2026\nTmuch\n^\n", "'much' is no amount"),
        ("D14/01/2026\nT-1", "the file ends within it"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused_with_its_line(record: str, reason: str) -> None:
    found = read_parts(f"!Type:Bank\nD13/01/2026\nT-2.00\n^\n{record}")
    assert [(refused.line, refused.reason.startswith(reason)) for refused in found.refused] == [(5, True)]
    assert len(found.lines) == 1


def test_line_ends_of_old_machines_are_read() -> None:
    assert read_parts(BANK.replace("\n", "\r\n") + "\x1a").refused == []
    assert read_parts(BANK.replace("\n", "\r")).rows == read_parts(BANK.replace("\n", "\r\n")).rows


def test_a_file_without_such_a_list_is_unreadable() -> None:
    assert "no list of a bank" in reason_of("!Type:Invst\nD26/11/2026\nNBuy\n^\n")
    assert "names no currency" in reason_of(BANK, currency=None)
    assert "more than 2000 fields" in reason_of("!Type:Bank\nD26/11/2026\n" + "Sx\n" * 2001)
