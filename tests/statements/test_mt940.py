"""MT940, as SWIFT has it and banks write it (Domain E)."""

import pytest

from gatewayd.statements.shapes import Line
from tests.statements.parts import read_parts, reason_of

MESSAGE = """{1:F01MOORGB22AXXX0000000000}{2:I940MOORGB22XXXXN}{4:
:20:STARTUMS
:25:GB33BUKB20201555555555
:28C:00011/001
:60F:C261101GBP1000,00
:61:2611031104D40,00NDDTNORTHWATER//B-77
Mandate 12
:86:Northern Water
account 9
:61:2611041104CR1250,NTRFNONREF//B-78
:86:166?00CREDIT?20EREF+E2E-5?21SVWZ+INVOICE 7?30MOORGB22?31GB94BARC10201530093459?32BROOK?33 AND CO
:61:261105RC10,00NMSCX//B-79
:62F:C261105GBP2200,00
:64:C261106GBP2100,5
:86:of the statement, and of no line
-}
"""


def test_a_message_is_a_statement() -> None:
    found = read_parts(MESSAGE)
    (opened,) = found.opened
    assert (opened.iban, opened.currency) == ("GB33BUKB20201555555555", "GBP")
    assert (opened.opening_balance, opened.opening_date) == (100000, "2026-11-01")
    (closed,) = found.closed
    assert (closed.opening_balance, closed.sum, closed.closing_balance) == (100000, 120000, 220000)
    assert (closed.closing_date, closed.available_balance, closed.lines) == ("2026-11-05", 210050, 3)


def test_lines_say_what_the_fields_say() -> None:
    debit, credit, reversal = read_parts(MESSAGE).lines
    assert debit == Line(
        statement=0,
        line=6,
        booking_date="2026-11-04",
        value_date="2026-11-03",
        amount=-4000,
        currency="GBP",
        description="Mandate 12 Northern Water account 9",
        raw_description="Mandate 12\nNorthern Water\naccount 9",
        type="direct_debit",
        reference="NORTHWATER",
        bank_reference="B-77",
        bank_transaction_code="NDDT",
    )
    assert (credit.line, credit.amount, credit.type, credit.reference) == (10, 125000, "transfer", None)
    assert (credit.counterparty_name, credit.counterparty_account) == ("BROOK AND CO", "GB94BARC10201530093459")
    assert (credit.end_to_end_id, "INVOICE 7" in credit.description) == ("E2E-5", True)
    assert reversal.amount == -1000  # a reversal of a credit takes money back


def test_the_year_of_the_entry_is_that_of_its_value() -> None:
    late = MESSAGE.replace("2611031104D", "2512310102D")
    assert read_parts(late).lines[0].booking_date == "2026-01-02"


def test_messages_of_one_file_are_statements_of_their_own() -> None:
    second = MESSAGE.replace("GB33BUKB20201555555555", "200000/12345678").replace("{1:", "\n{1:")
    found = read_parts(MESSAGE + second)
    assert [(o.statement, o.iban, o.sort_code, o.account_number) for o in found.opened] == [
        (0, "GB33BUKB20201555555555", None, None),
        (1, None, "200000", "12345678"),
    ]
    assert [line.line for line in found.lines] == [6, 10, 12, 23, 27, 29]


def test_many_lines_are_told_in_order() -> None:
    many = "".join(f":61:2611031103D{n},00NMSCR{n}//B{n}\n:86:shop {n}\n" for n in range(1, 1001))
    found = read_parts(f":20:X\n:25:1\n:28C:1\n:60F:C261101GBP0,\n{many}:62F:D261103GBP500500,00\n-\n")
    assert [line.amount for line in found.lines] == [-100 * n for n in range(1, 1001)]
    assert [line.line for line in found.lines] == [3 + 2 * n for n in range(1, 1001)]
    assert found.closed[0].sum == found.closed[0].closing_balance == -50050000


def test_a_line_that_cannot_be_read_is_refused_alone(caplog: pytest.LogCaptureFixture) -> None:
    found = read_parts(MESSAGE.replace(":61:2611041104CR1250,", ":61:26114XX04CR1250,"))
    assert [line.amount for line in found.lines] == [-4000, -1000]
    assert [(refused.line, "is no statement line" in refused.reason) for refused in found.refused] == [(10, True)]
    assert {record.name.partition(".")[0] for record in caplog.records} == {"mt940"}


def test_references_longer_than_swift_has_them_are_read(caplog: pytest.LogCaptureFixture) -> None:
    long = MESSAGE.replace("NDDTNORTHWATER//B-77\nMandate 12", "NOVBNL47INGB9999999999NL47INGB9999\nhr j jansen")
    assert read_parts(long).lines[0].amount == -4000
    assert {record.name.partition(".")[0] for record in caplog.records} == {"mt940"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MESSAGE[: MESSAGE.index(":62F:")], "message 1 has no closing balance (:62F:): is the file cut off?"),
        (MESSAGE.replace(":62F:C261105GBP2200,00", ":34F:GBPD0,"), "message 1 has no closing balance"),
        (MESSAGE.replace(":60F:C261101GBP1000,00", ":60F:C261101DEM1000,00"), "line 5: the balance :60F:"),
        (MESSAGE.replace(":62F:C261105GBP2200,00", ":62F:nothing"), "the balance :62F:"),
        (MESSAGE.replace("Northern", "North\0ern"), "NUL byte"),
        (MESSAGE.replace("account 9", "account " + "9" * 1_100_000), "line 9: the line is longer than"),
        (MESSAGE.replace("account 9", "account 9\n" * 2_000), "field 86 is longer than"),
        (MESSAGE.replace("account 9", "account 9\n:86:more" * 2_000), "field 61 is longer than"),
    ],
)
def test_what_is_cut_off_or_breaks_a_limit_is_unreadable(
    text: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert reason in reason_of(text)
    assert {record.name.partition(".")[0] for record in caplog.records} <= {"mt940"}


# -- MT942: what has come in since the last statement

INTERIM = """:20:STARTDISPE
:25:GB33BUKB20201555555555
:28C:00000/001
:34F:GBPD0,
:34F:GBPC0,
:13D:2611051200+0000
:61:2611051105DR40,00NDDTNORTHWATER//B-77
:86:Northern Water
:61:261105CR1250,NTRFNONREF//B-78
:86:Brook and Co
:90D:1GBP40,00
:90C:1GBP1250,00
:86:of the report, and of no line
-
"""


def test_an_interim_report_has_pending_lines_and_no_balance() -> None:
    found = read_parts(INTERIM)
    (opened,) = found.opened
    assert (opened.format, opened.iban, opened.currency) == ("mt942", "GB33BUKB20201555555555", "GBP")
    assert [(one.status, one.booking_date, one.value_date) for one in found.lines] == [
        ("pending", None, "2026-11-05"),
        ("pending", None, "2026-11-05"),
    ]
    assert [(one.amount, one.description, one.bank_reference) for one in found.lines] == [
        (-4000, "Northern Water", "B-77"),
        (125000, "Brook and Co", "B-78"),
    ]
    (closed,) = found.closed
    assert (closed.is_interim, closed.lines, closed.sum) == (True, 2, 0)
    assert (closed.opening_balance, closed.closing_balance, closed.from_date, closed.to_date) == (None,) * 4


def test_an_interim_report_names_its_currency_in_its_limit() -> None:
    assert read_parts(INTERIM.replace("GBP", "EUR"), currency="GBP").lines[0].currency == "EUR"
    assert "'XXQ' is no currency" in reason_of(INTERIM.replace("GBP", "XXQ"))


def test_statements_and_interim_reports_stand_in_one_file() -> None:
    found = read_parts(MESSAGE + INTERIM)
    assert [(one.format, one.statement) for one in found.opened] == [("mt940", 0), ("mt942", 1)]
    assert [one.is_interim for one in found.closed] == [False, True]
    assert [one.status for one in found.lines] == ["booked"] * 3 + ["pending"] * 2
