"""CAMT.053, .052 and .054, as ISO 20022 has them and banks send them (Domain E)."""

import pytest

from gatewayd.statements.shapes import Limits, Line
from tests.statements.parts import read_parts, reason_of


def balance(kind: str, amount: str, direction: str = "CRDT", day: str = "2026-11-01") -> str:
    return (
        f"<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy='GBP'>{amount}</Amt>"
        f"<CdtDbtInd>{direction}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>"
    )


def entry(amount: str, direction: str, inner: str = "", status: str = "<Sts>BOOK</Sts>", head: str = "") -> str:
    return (
        f"<Ntry><Amt Ccy='GBP'>{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>{head}{status}"
        f"<BookgDt><Dt>2026-11-03</Dt></BookgDt><ValDt><DtTm>2026-11-04T00:00:00Z</DtTm></ValDt>{inner}</Ntry>"
    )


KINDS = {
    "052": ("BkToCstmrAcctRpt", "Rpt"),
    "053": ("BkToCstmrStmt", "Stmt"),
    "054": ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
}


def message(entries: str, balances: str = "", version: str = "053.001.02") -> str:
    root, inner = KINDS[version[:3]]
    return (
        f"<?xml version='1.0' encoding='UTF-8'?><Document xmlns='urn:iso:std:iso:20022:tech:xsd:camt.{version}'>"
        f"<{root}><GrpHdr><MsgId>M</MsgId></GrpHdr><{inner}><Id>S1</Id>"
        "<FrToDt><FrDtTm>2026-11-01T00:00:00Z</FrDtTm><ToDtTm>2026-11-30T23:59:59Z</ToDtTm></FrToDt>"
        "<Acct><Id><IBAN>GB33BUKB20201555555555</IBAN></Id><Ccy>GBP</Ccy><Nm>Trading</Nm><Ownr><Nm>Ada Ltd</Nm></Ownr>"
        "<Svcr><FinInstnId><BIC>BUKBGB22</BIC><Nm>Moorland Bank</Nm></FinInstnId></Svcr></Acct>"
        f"{balances}{entries}</{inner}></{root}></Document>"
    )


CODE = "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>"
DETAILS = (
    "<NtryDtls><TxDtls><Refs><EndToEndId>E2E-1</EndToEndId></Refs>"
    "<RltdPties><Dbtr>{name}</Dbtr><DbtrAcct><Id><IBAN>GB94BARC10201530093459</IBAN></Id></DbtrAcct>"
    "<Cdtr><Nm>Ada Ltd</Nm></Cdtr></RltdPties>"
    "<RmtInf><Ustrd>INV 7</Ustrd><Ustrd>thanks</Ustrd></RmtInf></TxDtls></NtryDtls>"
)
VERSIONS = {
    "053.001.02": ("<Sts>BOOK</Sts>", "<Nm>Brook  &amp; Co</Nm>"),
    "053.001.04": ("<Sts>BOOK</Sts>", "<Nm>Brook  &amp; Co</Nm>"),
    "053.001.08": ("<Sts><Cd>BOOK</Cd></Sts>", "<Pty><Nm>Brook  &amp; Co</Nm></Pty>"),
    "052.001.06": ("<Sts>BOOK</Sts>", "<Nm>Brook  &amp; Co</Nm>"),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_statement_is_read_in_every_version(version: str) -> None:
    status, name = VERSIONS[version]
    inner = f"<AcctSvcrRef>B-9</AcctSvcrRef>{CODE}{DETAILS.format(name=name)}<AddtlNtryInf>credit</AddtlNtryInf>"
    balances = balance("OPBD", "100.00") + balance("CLBD", "50.00", "DBIT", "2026-11-30") + balance("CLAV", "25.5")
    entries = entry("150.00", "DBIT", status=status) + entry("0.05", "CRDT", inner, status)
    found = read_parts(message(entries, balances, version))
    (opened,) = found.opened
    assert (opened.iban, opened.bic, opened.currency) == ("GB33BUKB20201555555555", "BUKBGB22", "GBP")
    assert (opened.account_name, opened.holder, opened.bank_name) == ("Trading", "Ada Ltd", "Moorland Bank")
    assert (opened.from_date, opened.to_date) == ("2026-11-01", "2026-11-30")
    assert (opened.opening_balance, opened.opening_date) == (10000, "2026-11-01")
    assert found.lines[1] == Line(
        statement=0,
        line=2,
        booking_date="2026-11-03",
        value_date="2026-11-04",
        amount=5,
        currency="GBP",
        description="Brook & Co INV 7 thanks credit",
        raw_description="INV 7\nthanks\ncredit",
        type="transfer",
        counterparty_name="Brook & Co",
        counterparty_account="GB94BARC10201530093459",
        reference="INV 7 thanks",
        end_to_end_id="E2E-1",
        bank_reference="B-9",
        bank_transaction_code="PMNT-RCDT-ESCT",
    )
    (closed,) = found.closed
    assert (closed.opening_balance, closed.sum, closed.closing_balance) == (10000, -14995, -5000)
    assert (closed.closing_date, closed.available_balance) == ("2026-11-30", 2550)


def test_balances_in_other_currencies_are_not_those_of_the_account() -> None:
    euro = balance("CLBD", "9.00").replace("'GBP'", "'EUR'")
    found = read_parts(message(entry("1.00", "CRDT"), euro + balance("CLBD", "8.00")))
    assert found.closed[0].closing_balance == 800
    assert read_parts(message(entry("1.00", "CRDT"), euro)).closed[0].closing_balance is None


def batch(*amounts: str, references: bool = False) -> str:
    refs = ["<Refs><AcctSvcrRef>T{n}</AcctSvcrRef></Refs>" if references else "" for _ in amounts]
    return (
        "<AcctSvcrRef>B</AcctSvcrRef><NtryDtls>"
        + "".join(
            f"<TxDtls>{ref.format(n=n)}<AmtDtls><TxAmt><Amt Ccy='GBP'>{amount}</Amt></TxAmt></AmtDtls>"
            f"<RmtInf><Ustrd>part {n}</Ustrd></RmtInf></TxDtls>"
            for n, (amount, ref) in enumerate(zip(amounts, refs, strict=True), 1)
        )
        + "</NtryDtls>"
    )


def test_a_batch_is_as_many_lines_as_it_has_amounts_that_add_up() -> None:
    found = read_parts(message(entry("30.00", "DBIT", batch("10.00", "20.00"))))
    assert [(line.line, line.amount, line.reference, line.bank_reference) for line in found.lines] == [
        (1, -1000, "part 1", "B/1"),
        (1, -2000, "part 2", "B/2"),
    ]
    named = read_parts(message(entry("30.00", "DBIT", batch("10.00", "20.00", references=True))))
    assert [line.bank_reference for line in named.lines] == ["T1", "T2"]


@pytest.mark.parametrize("amounts", [("10.00", "19.00"), ("30.00",), ("10.00", "")])
def test_a_batch_that_does_not_add_up_stays_one_line(amounts: tuple[str, ...]) -> None:
    (line,) = read_parts(message(entry("30.00", "CRDT", batch(*amounts)))).lines
    assert (line.amount, line.bank_reference) == (3000, "B")


def test_a_reversal_keeps_the_direction_that_is_written_and_names_the_other_party() -> None:
    details = DETAILS.format(name="<Nm>Brook</Nm>")
    reversal = entry("5.00", "DBIT", details, head="<RvslInd>true</RvslInd>")
    (line,) = read_parts(message(reversal)).lines
    assert (line.amount, line.counterparty_name) == (-500, "Brook")  # who had paid, and gets it back


def test_what_is_pending_waits_and_what_is_for_information_is_refused() -> None:
    pending = entry("5.00", "DBIT", status="<Sts>PDNG</Sts>")
    told = entry("6.00", "DBIT", status="<Sts><Cd>INFO</Cd></Sts>")
    found = read_parts(message(pending + told + entry("7.00", "DBIT")))
    waiting, booked = found.lines
    assert (waiting.status, waiting.booking_date, waiting.value_date) == ("pending", None, "2026-11-04")
    assert found.closed[0].sum == booked.amount == -700
    assert [(refused.line, "INFO" in refused.reason) for refused in found.refused] == [(2, True)]


def test_an_amount_in_another_currency_stands_beside_that_of_the_account() -> None:
    inner = (
        "<NtryDtls><TxDtls><AmtDtls><InstdAmt><Amt Ccy='EUR'>12.00</Amt></InstdAmt><TxAmt><Amt Ccy='GBP'>10.00</Amt>"
        "<CcyXchg><XchgRate>0.8333</XchgRate></CcyXchg></TxAmt></AmtDtls></TxDtls></NtryDtls>"
    )
    (line,) = read_parts(message(entry("10.00", "DBIT", inner))).lines
    assert (line.amount, line.original_amount, line.original_currency, line.fx_rate) == (-1000, -1200, "EUR", "0.8333")


@pytest.mark.parametrize(
    ("entry_text", "reason"),
    [
        ("<Ntry><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts></Ntry>", "it has no amount"),
        (entry("1.00", "BOTH"), "neither CRDT nor DBIT"),
        (entry("1.005", "CRDT"), "more than 2 fraction digits"),
        ("<Ntry><Amt Ccy='GBP'>1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts></Ntry>", "it has no date"),
        (entry("1.00", "CRDT").replace("2026-11-03", "2026-11-31"), "is no date"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused_alone(entry_text: str, reason: str) -> None:
    found = read_parts(message(entry("1.00", "CRDT") + entry_text + entry("2.00", "CRDT")))
    assert [line.line for line in found.lines] == [1, 3]
    assert [(refused.line, reason in refused.reason) for refused in found.refused] == [(2, True)]


BOMB = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(8)
)


@pytest.mark.parametrize(
    "declaration",
    [BOMB + "]>", "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>", "<!DOCTYPE d SYSTEM 'http://localhost/d'>"],
)
def test_bombs_and_entities_from_outside_are_refused(declaration: str) -> None:
    text = message(entry("1.00", "CRDT", "<AddtlNtryInf>&x;</AddtlNtryInf>")).replace(
        "<Document", declaration + "<Document"
    )
    assert "document type or entities" in reason_of(text)


def test_what_is_cut_off_or_something_else_is_unreadable() -> None:
    whole = message(entry("1.00", "CRDT"))
    assert reason_of(whole[:-40]).startswith("line 1: the file is no well-formed XML, or is cut off")
    assert "holds no statement" in reason_of("<?xml version='1.0'?><Document><Other/></Document>")
    assert "holds no statement" in reason_of(whole.replace("BkToCstmrStmt", "Elsewhere").replace("Stmt>", "Thing>"))
    deep = whole.replace("<Ntry>", "<Ntry>" + "<a>" * 100).replace("</Ntry>", "</a>" * 100 + "</Ntry>")
    assert "deeper within each other" in reason_of(deep)
    assert "larger than 100 bytes" in reason_of(whole, limits=Limits(file_bytes=100))
    assert "more than 1 rows" in reason_of(message(entry("1.00", "CRDT") * 2), limits=Limits(lines=1))


def test_encodings_of_the_declaration_are_read() -> None:
    text = message(entry("1.00", "CRDT", "<AddtlNtryInf>Café £</AddtlNtryInf>"))
    for encoding in ("ISO-8859-1", "windows-1252", "UTF-16"):
        declared = text.replace("encoding='UTF-8'", f"encoding='{encoding}'")
        assert read_parts(declared, encoding).lines[0].description == "Café £"


@pytest.mark.parametrize("encoding", ["UTF-z", "shift_jis", "klingon"])
def test_an_encoding_that_cannot_be_read_is_told(encoding: str) -> None:
    declared = message(entry("1.00", "CRDT")).replace("encoding='UTF-8'", f"encoding='{encoding}'")
    assert "encoding that cannot be read" in reason_of(declared)


# -- what is no statement of a whole day


@pytest.mark.parametrize("version", ["052.001.02", "052.001.08", "054.001.02", "054.001.08"])
def test_a_report_without_a_closing_balance_is_interim(version: str) -> None:
    status = "<Sts><Cd>{}</Cd></Sts>" if version.endswith("08") else "<Sts>{}</Sts>"
    entries = entry("1.00", "DBIT", status=status.format("BOOK")) + entry("2.00", "DBIT", status=status.format("PDNG"))
    found = read_parts(message(entries, balance("OPBD", "5.00") + balance("ITBD", "4.00"), version))
    assert [one.format for one in found.opened] == [f"camt{version[:3]}"]
    assert [(one.amount, one.status) for one in found.lines] == [(-100, "booked"), (-200, "pending")]
    assert [one.is_interim for one in found.closed] == [True]


def test_a_report_with_a_closing_balance_is_of_its_whole_day() -> None:
    balances = balance("OPBD", "5.00") + balance("CLBD", "4.00")
    found = read_parts(message(entry("1.00", "DBIT"), balances, "052.001.08"))
    assert [(one.is_interim, one.closing_balance) for one in found.closed] == [(False, 400)]


def test_a_statement_is_never_interim() -> None:
    assert [one.is_interim for one in read_parts(message(entry("1.00", "DBIT"))).closed] == [False]
