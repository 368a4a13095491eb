"""OFX 1 and 2 (Domain E; decision 0018). The files are written as the specification of OFX and banks have them."""

import pytest

from gatewayd.statements.shapes import Line
from tests.statements.parts import read_parts, reason_of

HEADER = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

"""
SGML = (
    HEADER
    + """<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>
<DTSERVER>20261122120000<LANGUAGE>ENG<FI><ORG>MOORLAND BANK<FID>123</FI></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>GBP
<BANKACCTFROM><BANKID>200001<ACCTID>20000112345678<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20261101<DTEND>20261121
<STMTTRN><TRNTYPE>DIRECTDEBIT<DTPOSTED>20261103120000.000[0:GMT]<TRNAMT>-40.00<FITID>A1<NAME>NORTHERN WATER
<MEMO>REF 77 &amp; MORE</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20261104<TRNAMT>+1250.00<FITID>A2<NAME>ANDREWS & SONS</STMTTRN>
<STMTTRN><TRNTYPE>CHECK<DTPOSTED>20261105<TRNAMT>-12,50<CHECKNUM>100042<MEMO>   </STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>2197.50<DTASOF>20261121</LEDGERBAL><AVAILBAL><BALAMT>2000.00<DTASOF>20261121</AVAILBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
<CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>GBP<CCACCTFROM><ACCTID>4000123412341234</CCACCTFROM>
<BANKTRANLIST><DTSTART>20261101<DTEND>20261121
<STMTTRN><TRNTYPE>POS<DTPOSTED>20261110<TRNAMT>-9.99<FITID>C1<SIC>5812<NAME>CAFE</STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>-9.99<DTASOF>20261121</LEDGERBAL></CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1>
</OFX>
"""
)


def statement(transactions: str, header: str = HEADER, end: str = "</OFX>") -> str:
    account = "<BANKACCTFROM><BANKID>200001<ACCTID>12345678</BANKACCTFROM>"
    rest = f"<STMTRS><CURDEF>GBP{account}<BANKTRANLIST>{transactions}</BANKTRANLIST></STMTRS>"
    return f"{header}<OFX><BANKMSGSRSV1><STMTTRNRS>{rest}</STMTTRNRS></BANKMSGSRSV1>{end}"


def transaction(fields: str, amount: str = "-1.00") -> str:
    return f"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261103<TRNAMT>{amount}{fields}</STMTTRN>"


def test_accounts_of_one_file_are_statements_of_their_own() -> None:
    found = read_parts(SGML)
    bank, card = found.opened
    assert (bank.sort_code, bank.account_number, bank.currency) == ("200001", "12345678", "GBP")
    assert (bank.bank_name, bank.from_date, bank.to_date) == ("MOORLAND BANK", "2026-11-01", "2026-11-21")
    assert (card.sort_code, card.account_number) == (None, "************1234")
    assert [(c.lines, c.sum, c.closing_balance, c.available_balance) for c in found.closed] == [
        (3, 119750, 219750, 200000),
        (1, -999, -999, None),
    ]
    assert found.refused == []


def test_a_transaction_says_what_the_file_says() -> None:
    debit, credit, cheque, card = read_parts(SGML).lines
    assert debit == Line(
        statement=0,
        line=1,
        booking_date="2026-11-03",
        amount=-4000,
        currency="GBP",
        description="NORTHERN WATER REF 77 & MORE",
        raw_description="NORTHERN WATER REF 77 & MORE",
        type="direct_debit",
        fit_id="A1",
    )
    assert (credit.amount, credit.description) == (125000, "ANDREWS & SONS")  # as banks write it, against the rules
    assert (cheque.amount, cheque.reference, cheque.fit_id, cheque.type) == (-1250, "100042", None, "cheque")
    assert (card.statement, card.line, card.type, card.merchant_category_code) == (1, 4, "card", "5812")


def test_a_balance_that_cannot_be_read_is_unknown() -> None:
    found = read_parts(SGML.replace("<BALAMT>2197.50", "<BALAMT>n/a"))
    assert (found.closed[0].closing_balance, found.closed[0].available_balance) == (None, 200000)


def test_xml_with_and_without_line_ends_is_read_alike() -> None:
    pretty = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>GBP</CURDEF>
  <BANKACCTFROM><BANKID>200001</BANKID><ACCTID>12345678</ACCTID></BANKACCTFROM>
  <BANKTRANLIST><DTSTART>20261101</DTSTART><DTEND>20261121</DTEND>
    <STMTTRN>
      <TRNTYPE>FEE</TRNTYPE><DTPOSTED>20261103</DTPOSTED><TRNAMT>-2.50</TRNAMT><FITID>X</FITID>
      <NAME>Caf\u00e9 &#163;5 <![CDATA[<b> & co]]></NAME>
      <MEMO/>
    </STMTTRN>
  </BANKTRANLIST>
</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"""
    named = pretty.replace("<OFX>", '<OFX xmlns="http://ofx.net/types/2003/04">')
    for text in (pretty, named, "".join(line.strip() for line in pretty.splitlines())):
        (line,) = read_parts(text).lines
        assert (line.amount, line.type, line.description) == (-250, "fee", "Café £5 <b> & co")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-8-sig"])
def test_content_decides_about_the_encoding_and_not_the_header(encoding: str) -> None:
    (line,) = read_parts(statement(transaction("<NAME>CAFÉ £3")), encoding).lines
    assert line.description == "CAFÉ £3"


def test_elements_may_be_cut_anywhere_by_the_blocks_that_are_read() -> None:
    body = "".join(transaction(f"<FITID>{n}<NAME>SHOP {n} A < B", f"-{n}.00") for n in range(1, 3000))
    found = read_parts(statement(body))
    assert [line.fit_id for line in found.lines] == [str(n) for n in range(1, 3000)]
    assert found.closed[0].sum == -100 * sum(range(1, 3000))
    assert {line.description for line in found.lines} == {f"SHOP {n} A < B" for n in range(1, 3000)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261103<FITID>1</STMTTRN>", "it has no amount"),
        ("<STMTTRN><TRNTYPE>DEBIT<TRNAMT>-1.00<FITID>1</STMTTRN>", "it has no date"),
        ("<STMTTRN><DTPOSTED>20260231<TRNAMT>-1.00</STMTTRN>", "'20260231' is no date"),
        ("<STMTTRN><DTPOSTED>20261103<TRNAMT>ten</STMTTRN>", "'ten' is no amount"),
        (transaction("<FITID>2<CORRECTFITID>1<CORRECTACTION>REPLACE"), "it corrects the transaction 1"),
        (transaction("<CURRENCY><CURRATE>1.0<CURSYM>XYZ</CURRENCY>"), "'XYZ' is no currency"),
    ],
)
def test_a_transaction_that_cannot_be_read_is_refused_alone(text: str, reason: str) -> None:
    found = read_parts(statement(transaction("<NAME>FIRST") + text + transaction("<NAME>THIRD")))
    assert [line.line for line in found.lines] == [1, 3]
    ((line, why),) = [(refused.line, refused.reason) for refused in found.refused]
    assert line == 2
    assert why.startswith(reason)


def test_what_is_pending_has_no_booking_date() -> None:
    pending = "<BANKTRANLISTP><DTASOF>20261121<STMTTRNP><TRNTYPE>POS<DTTRAN>20261120<TRNAMT>-3.00<NAME>KIOSK</STMTTRNP>"
    found = read_parts(statement(transaction("")).replace("</STMTRS>", f"{pending}</BANKTRANLISTP></STMTRS>"))
    booked, waiting = found.lines
    assert (waiting.status, waiting.booking_date, waiting.value_date) == ("pending", None, "2026-11-20")
    assert found.closed[0].sum == booked.amount


def test_amounts_in_other_currencies_keep_theirs() -> None:
    converted = transaction("<NAME>HOTEL<ORIGCURRENCY><CURRATE>0.87<CURSYM>EUR</ORIGCURRENCY>", "-87.00")
    (line,) = read_parts(statement(converted)).lines
    assert (line.currency, line.original_currency, line.fx_rate) == ("GBP", "EUR", "0.87")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SGML[: SGML.index("<MEMO>REF")], "the file ends before </STMTTRN>"),
        (statement(transaction(""), end=""), "the file ends before </OFX>"),
        (HEADER + "<OFX><SIGNONMSGSRSV1></SIGNONMSGSRSV1></OFX>", "no statement of a bank or card account"),
        (HEADER + "<OFX><INVSTMTRS><STMTTRN><TRNAMT>1</STMTTRN></INVSTMTRS></OFX>", "investments alone"),
        (statement("").replace("<CURDEF>GBP", "<CURDEF>XYZ"), "'XYZ' is no currency"),
        (statement(transaction("<NAME>A\0B")), "NUL byte"),
        (statement(transaction("<NAME>" + "A" * 2_000_000)), "is longer than"),
        (statement(transaction("<NAME>" + f"<![CDATA[{'A' * 60_000}]]>" * 20)), "is longer than"),
    ],
)
def test_a_file_that_is_cut_off_or_something_else_is_unreadable(text: str, reason: str) -> None:
    assert reason in reason_of(text)


def test_entities_are_refused_and_never_expanded() -> None:
    bomb = "<!DOCTYPE OFX [" + '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">' + "]>"
    assert "document type" in reason_of(statement(transaction("<NAME>&b;"), header=bomb))
    amid = statement(transaction('<NAME>x<!ENTITY f SYSTEM "file:///etc/passwd">'))
    assert "entities" in reason_of(amid)
    late = statement(transaction("<NAME>x") * 3000 + transaction('<NAME><!ENTITY f "x">'))
    assert "entities" in reason_of(late)
    (line,) = read_parts(statement(transaction("<NAME>&b; &pound; &lt;"))).lines
    assert line.description == "&b; &pound; <"
