"""CSV exports of British banks: each profile reads a file as its bank writes it. The rows are invented."""

import pytest

from gatewayd.statements.csv.plan import bank_profiles
from tests.statements.parts import proposal_in, read_parts

BARCLAYS = """Number,Date,Account,Amount,Subcategory,Memo
 ,03/11/2026,20-00-01 12345678,-40.00,Direct Debit,NORTHERN WATER       \tREF 77
 ,02/11/2026,20-00-01 12345678,1250.00,Funds Transfer,BROOK LTD
"""
LLOYDS = """Transaction Date,Transaction Type,Sort Code,Account Number,Transaction Description,\
Debit Amount,Credit Amount,Balance,
03/11/2026,DD,'30-00-01,12345678,NORTHERN WATER ,40.00,,1310.00
02/11/2026,FPI,'30-00-01,12345678,"BROOK, LTD ",,1250.00,1350.00
"""
TSB = LLOYDS.replace("03/11/2026", "2026-11-03").replace("02/11/2026", "2026-11-02")
LLOYDS_CARD = """Date,Date entered,Reference,Description,Amount,
01/11/2026,03/11/2026,40000189,NORTHERN WATER          ,40.00,
02/11/2026,02/11/2026,40000190,PAYMENT RECEIVED,-1250.00,
"""
NATWEST = """
Date, Type, Description, Value, Balance, Account Name, Account Number

03 Nov 2026,D/D,"'NORTHERN WATER",-40.00,1310.00,"'ADA LTD","'600001-12345678",
02 Nov 2026,BAC,"'BROOK , INV 7 , FP 02/11/26",1250.00,1350.00,"'ADA LTD","'600001-12345678",

"""
NATIONWIDE = """"Account Name:","FlexDirect ****54321"
"Account Balance:","£1,310.00"
"Available Balance: ","£1,310.00"

"Date","Transaction type","Description","Paid out","Paid in","Balance"
"02 Nov 2026","Bank credit BROOK","BROOK","","£1,250.00","£1,350.00"
"03 Nov 2026","Direct debit NORTHERN WATER","NORTHERN WATER","£40.00","","£1,310.00"
"""
MIDATA = """Date,Type,Merchant/Description,Debit/Credit,Balance
03/11/2026,DD,NORTHERN WATER,-£40.00,+£1310.00
02/11/2026,CR,BROOK,+£1250.00,+£1350.00

Arranged overdraft limit,21/11/2026,+£500.00
"""
HSBC = """Date,Type,Description,Paid out,Paid in,Balance
02/11/2026,CR,BROOK,,"1,250.00","1,350.00"
03/11/2026,DD,NORTHERN WATER,40.00,,"1,310.00"
"""
MONZO = """Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,\
Notes and #tags,Address,Receipt,Description,Category split,Money Out,Money In
tx_0001,03/11/2026,07:05:03,Card payment,Northern Water,💧,Bills,-40.00,GBP,-46.00,EUR,,1 Quay,,\
NORTHERN WATER LEEDS,,-40.00,
tx_0002,02/11/2026,09:00:00,Faster payment,Brook,,Income,1250.00,GBP,1250.00,GBP,INV 7,,,INV 7,,,1250.00
"""
MONZO_2018 = """id,created,amount,currency,local_amount,local_currency,category,emoji,description,address,notes,receipt
tx_0001,2026-11-03 12:34:56 +0000,-40.00,GBP,-40.00,GBP,bills,,NORTHERN WATER,,,
tx_0002,2026-11-02 12:34:56 +0000,1250.00,GBP,1250.00,GBP,income,,BROOK,,,
"""
STARLING = """Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP),Spending Category,Notes
02/11/2026,Brook,INV 7,FASTER PAYMENT,1250.00,1350.00,INCOME,
03/11/2026,Northern Water,REF 77,DIRECT DEBIT,-40.00,1310.00,BILLS,monthly
"""
REVOLUT = """Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance
TOPUP,Current,2026-11-02 09:00:00,2026-11-02 09:00:05,BROOK,1250.00,0.00,GBP,COMPLETED,1350.00
CARD_PAYMENT,Current,2026-11-01 10:00:00,2026-11-03 04:00:05,Northern Water,-39.50,0.50,GBP,COMPLETED,1310.00
CARD_PAYMENT,Current,2026-11-04 10:00:00,,Hotel,-30.00,0.00,GBP,PENDING,
CARD_PAYMENT,Current,2026-11-04 11:00:00,,Ghost,-30.00,0.00,GBP,REVERTED,
"""
WISE = """"TransferWise ID",Date,"Date Time",Amount,Currency,Description,"Payment Reference","Running Balance"
CARD-1,03-11-2026,03-11-2026 10:00:00.000,-40.00,GBP,"Card transaction issued by Northern Water",,1310.00
TRANSFER-2,02-11-2026,02-11-2026 10:00:00.000,1250.00,GBP,"Received money from Brook","INV 7",1350.00
"""
COOPERATIVE = """Date,Description,Type,Money In,Money Out,Balance
2026-11-03,NORTHERN WATER,DD,,40.00,1310.00
2026-11-02,BROOK,CR,1250.00,,1350.00
"""
METRO = """Date,Transaction type,Description,Money out,Money in,Balance
02/11/2026,FPS,BROOK,,1250.00,1350.00
03/11/2026,DD,NORTHERN WATER,40.00,,1310.00
"""
AMEX = """Date,Description,Amount,Extended Details,Appears On Your Statement As,Address,Town/City,Postcode,\
Country,Reference,Category
03/11/2026,NORTHERN WATER          LEEDS,40.00,,NORTHERN WATER,"1 QUAY
LEEDS",LEEDS,LS1 1AA,UNITED KINGDOM,'AT260000001',Utilities
02/11/2026,PAYMENT RECEIVED - THANK YOU,-1250.00,,PAYMENT,,,,,'AT260000002',
"""
BARCLAYCARD = """Cardholder Name,Account Number,Transaction Date,Merchant Name,Amount,Currency,Original Amount,\
Original Currency,Conversion Rate,Posted Date,Transaction Time,Authorisation Code,Transaction ID
A LOVELACE,****9940,01/11/2026,NORTHERN WATER,40,GBP,46,EUR,1.15,03/11/2026,182500,28271,M1
A LOVELACE,****9940,02/11/2026,PAYMENT,-1250,GBP,-1250,GBP,1,02/11/2026,182500,28271,M2
"""
JOHN_LEWIS = """\ufeffDate Processed,Description,Amount,
Pending,KIOSK LONDON GBR,£67.40,
03-Nov-2026,NORTHERN WATER          LEEDS        GBR,£40.00,
02-Nov-2026,PAYMENT RECEIVED - THANK YOU,"+ £1,250.00",CR
"""
TESCO = """Transaction Date,Posting Date,Billing Amount,Merchant,Merchant City,Merchant County,Merchant Postal Code,\
Reference Number,Debit/Credit Flag,SICMCC Code
01/11/2026,03/11/2026,£40.00,NORTHERN WATER,LEEDS,,LS1,74000001,D,4900
02/11/2026,02/11/2026,"£1,250.00",PAYMENT,,,,74000002,C,0000
"""
VIRGIN_MONEY_CARD = """Transaction Date,Posting Date,Billing Amount,Merchant,Merchant City,Merchant State,\
Merchant Postcode,Reference Number,Debit or Credit,SICMCC Code,Status,Transaction Currency,\
Additional Card Holder,Card Used
2026-11-05,,12.50,KIOSK,LONDON,,N1 1AA,,DBIT,5994,PENDING,GBP,false,1234
2026-11-01,2026-11-03,40.00,NORTHERN WATER,LEEDS,,LS1 1AA,74000001,DBIT,4900,BILLED,GBP,false,1234
2026-11-02,2026-11-02,1250.00,PAYMENT RECEIVED,,,,74000002,CRDT,0000,BILLED,GBP,false,1234
"""
TIDE = """Timestamp,Reference,Amount,Cleared balance
2026-11-03T18:25:00.000Z,NORTHERN WATER,-40.00,1310.00
2026-11-02T09:00:00.000Z,BROOK,1250.00,1350.00
"""
PAYPAL = """"Date","Time","TimeZone","Name","Type","Status","Currency","Gross","Fee","Net","From Email Address",\
"To Email Address","Transaction ID","Item Title","Balance"
"02/11/2026","09:00:00","GMT","Brook Ltd","Website Payment","Completed","GBP","1,290.60","-40.60","1,250.00","b@x",\
"a@x","1AB","INV 7","1,350.00"
"03/11/2026","10:00:00","GMT","Northern Water","Mobile Payment","Completed","GBP","-40.00","0.00","-40.00","a@x",\
"n@x","2CD","","1,310.00"
"13/11/2026","10:00:00","GMT","","Bank Deposit to PP Account ","Pending","GBP",\
"5.00","0.00","5.00","","","3EF","","1,315.00"
"""
STRIPE = """id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description
txn_2,payout,po_1,-40.00,0.00,-40.00,gbp,2026-11-03 00:00,2026-11-03 00:00,NORTHERN WATER
txn_1,charge,ch_1,1290.60,40.60,1250.00,gbp,2026-11-02 14:03,2026-11-09 00:00,Roof
"""
STRIPE_REPORT = """"balance_transaction_id","created_utc","available_on_utc","currency","gross","fee","net",\
"reporting_category","description"
"txn_2","2026-11-03 08:26:29","2026-11-03 00:00:00","gbp","-40.00","0.00","-40.00","payout","NORTHERN WATER"
"txn_1","2026-11-02 08:26:31","2026-11-09 00:00:00","gbp","1290.60","40.60","1250.00","charge",
"""
FILES = {
    "barclays": BARCLAYS,
    "lloyds": LLOYDS,
    "natwest": NATWEST,
    "nationwide": NATIONWIDE,
    "midata": MIDATA,
    "hsbc": HSBC,
    "monzo": MONZO,
    "monzo_2018": MONZO_2018,
    "starling": STARLING,
    "revolut": REVOLUT,
    "wise": WISE,
    "cooperative": COOPERATIVE,
    "metro": METRO,
    "tide": TIDE,
    "lloyds_card": LLOYDS_CARD,
    "amex": AMEX,
    "barclaycard_business": BARCLAYCARD,
    "john_lewis": JOHN_LEWIS,
    "tesco": TESCO,
    "virgin_money_card": VIRGIN_MONEY_CARD,
    "paypal": PAYPAL,
    "stripe": STRIPE,
    "stripe_report": STRIPE_REPORT,
}
WITHOUT_BALANCES = {
    *("barclays", "lloyds_card", "monzo", "monzo_2018"),
    *("amex", "barclaycard_business", "john_lewis", "tesco", "virgin_money_card"),
    *("paypal", "stripe", "stripe_report"),
}


def test_every_profile_has_a_file_and_a_dated_source() -> None:
    assert [profile.name for profile in bank_profiles()] == list(FILES)
    assert all(profile.source and profile.seen for profile in bank_profiles())


@pytest.mark.parametrize("name", FILES)
def test_the_profile_is_found_and_reads_the_same_two_rows(name: str) -> None:
    found = read_parts(FILES[name], currency=None)
    (opened,) = found.opened
    assert (opened.profile, opened.currency) == (name, "GBP")
    booked = {line.booking_date: line for line in found.lines if line.status == "booked"}
    assert {day: line.amount for day, line in booked.items()} == {"2026-11-03": -4000, "2026-11-02": 125000}
    assert "NORTHERN WATER" in booked["2026-11-03"].description.upper()
    (closed,) = found.closed
    assert (closed.sum, closed.from_date, closed.to_date) == (121000, "2026-11-02", "2026-11-03")
    ends = (10000, 131000, "2026-11-03") if name not in WITHOUT_BALANCES else (None, None, None)
    assert (closed.opening_balance, closed.closing_balance, closed.closing_date) == ends


@pytest.mark.parametrize("name", FILES)
def test_any_encoding_and_line_end_of_it_is_read(name: str) -> None:
    plain = read_parts(FILES[name])
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        text = FILES[name].replace("💧", "").lstrip("\ufeff")
        assert read_parts(text, encoding).rows == plain.rows
    assert read_parts(FILES[name].replace("\n", "\r\n")).rows == plain.rows


def test_the_midata_of_a_bank_that_writes_semicolons_is_read() -> None:
    found = read_parts(MIDATA.replace(",", ";"))
    assert found.opened[0].profile == "midata"
    assert found.rows == read_parts(MIDATA).rows


def test_accounts_are_named_as_far_as_the_file_names_them() -> None:
    named = {name: read_parts(text).opened[0] for name, text in FILES.items()}
    assert (named["barclays"].sort_code, named["barclays"].account_number) == ("200001", "12345678")
    assert (named["lloyds"].sort_code, named["lloyds"].account_number) == ("300001", "12345678")
    assert (named["natwest"].sort_code, named["natwest"].account_number) == ("600001", "12345678")
    assert (named["natwest"].account_name, named["nationwide"].account_name) == ("ADA LTD", "FlexDirect ****54321")
    assert named["barclaycard_business"].account_number == "****9940"


def test_types_references_and_other_currencies_are_taken_over() -> None:
    def line_of(name: str, day: str) -> tuple[str, str | None, str | None, int | None]:
        (line,) = [line for line in read_parts(FILES[name]).lines if line.booking_date == day]
        return line.type, line.fit_id, line.reference, line.original_amount

    assert line_of("lloyds", "2026-11-03") == ("direct_debit", None, None, None)
    assert line_of("nationwide", "2026-11-02") == ("bacs", None, None, None)
    assert line_of("monzo", "2026-11-03") == ("card", "tx_0001", None, -4600)
    assert line_of("monzo", "2026-11-02") == ("faster_payment", "tx_0002", "INV 7", None)
    assert line_of("amex", "2026-11-03") == ("other", "AT260000001", None, None)
    assert line_of("barclaycard_business", "2026-11-03") == ("other", "M1", None, -4600)
    tesco = read_parts(FILES["tesco"]).lines
    assert [line.merchant_category_code for line in tesco] == ["4900", None]
    assert line_of("virgin_money_card", "2026-11-03") == ("other", "74000001", None, None)
    assert line_of("tide", "2026-11-02") == ("other", None, "BROOK", None)


def test_years_first_are_read_where_the_bank_writes_them() -> None:
    assert read_parts(TSB).rows == read_parts(LLOYDS).rows


def test_what_is_pending_is_told_and_what_was_reverted_refused() -> None:
    found = read_parts(REVOLUT)
    assert [(line.status, line.amount) for line in found.lines][2] == ("pending", -3000)
    assert [(refused.line, "reverted" in refused.reason) for refused in found.refused] == [(5, True)]
    virgin = read_parts(VIRGIN_MONEY_CARD).lines[0]
    assert (virgin.status, virgin.amount, virgin.booking_date) == ("pending", -1250, None)
    waiting = read_parts(JOHN_LEWIS).lines[0]
    assert (waiting.status, waiting.amount, waiting.booking_date) == ("pending", -6740, None)


def test_a_file_of_several_accounts_and_currencies_is_as_many_statements() -> None:
    other = '03 Nov 2026,D/D,"\'CAFE",-1.00,9.00,"\'ADA LTD","\'600001-87654321",\n'
    found = read_parts(NATWEST.rstrip() + "\n" + other)
    assert [(opened.statement, opened.account_number) for opened in found.opened] == [(0, "12345678"), (1, "87654321")]
    assert [(closed.statement, closed.sum, closed.closing_balance) for closed in found.closed] == [
        (0, 121000, 131000),
        (1, -100, 900),
    ]
    euro = WISE + "CARD-3,04-11-2026,04-11-2026 10:00:00.000,-5.00,EUR,Cafe,,7.00\n"
    assert [opened.currency for opened in read_parts(euro).opened] == ["GBP", "EUR"]


def test_headings_alone_are_a_statement_without_lines() -> None:
    found = read_parts(HSBC.splitlines()[0] + "\n")
    assert [(closed.lines, closed.sum) for closed in found.closed] == [(0, 0)]


def test_headings_that_many_banks_have_are_nobodys_profile_and_ask_only_what_is_in_doubt() -> None:
    """Santander and first direct write these four: so does the rest of the world, with the month first."""
    text = "Date,Description,Amount,Balance\n{},NORTHERN WATER,-40.00,1310.00\n02/11/2026,BROOK,1250.00,1350.00\n"
    found = read_parts(text.format("30/11/2026"))
    assert found.opened[0].profile is None
    assert found.rows == [("2026-11-30", -4000, "NORTHERN WATER"), ("2026-11-02", 125000, "BROOK")]
    assert (found.closed[0].opening_balance, found.closed[0].closing_balance) == (10000, 131000)
    proposal = proposal_in(text.format("03/11/2026"))
    assert [doubt.field for doubt in proposal.doubts] == ["date_format"]


def test_a_comma_in_a_merchants_name_without_quotes_is_refused_with_its_line() -> None:
    found = read_parts(VIRGIN_MONEY_CARD.replace("NORTHERN WATER", "WATER, NORTHERN"))
    assert [refused.line for refused in found.refused] == [3]
    assert [line.amount for line in found.lines] == [-1250, 125000]
