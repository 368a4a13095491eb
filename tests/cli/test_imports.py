"""`gatewayd import`: a statement comes into an account from the command line, and goes again."""

import io
import json
from pathlib import Path

import pytest

from gatewayd.cli.imports.command import undone
from gatewayd.cli.imports.files import lines
from tests.cli.conftest import Run

BARCLAYS = """\
Number,Date,Account,Amount,Subcategory,Memo
,05/03/2026,20-45-00 31926819,1200.00,FT,"RENT FLAT 2 M LEE"
,13/03/2026,20-45-00 31926819,-3.20,PAYMENT,COSTA COFFEE 43
,13/03/2026,20-45-00 31926819,-3.20,PAYMENT,COSTA COFFEE 43
"""
OWN = "Day;What;Money\n01.02.2026;Tea;-2,50\n"
MAPPING = {"delimiter": ";", "date": "Day", "description": ["What"], "amount": "Money", "dateFormat": "dd.mm.yyyy"}


@pytest.fixture
def statement(tmp_path: Path) -> Path:
    path = tmp_path / "march.csv"
    path.write_text(BARCLAYS)
    return path


def test_a_statement_makes_an_account_and_fills_it(run: Run, org_id: str, statement: Path) -> None:
    made = run("import", "bank", str(statement), "--org", org_id, "--new-account", "Current", "--json").document
    assert made == {
        "importId": made["importId"],
        "accountId": made["accountId"],
        "firstImportedAt": None,
        "format": "csv",
        "rows": 3,
        "added": 3,
        "duplicates": 0,
        "replaced": 0,
        "ignored": [],
        "refused": [],
        "supposed": [],
        "otherAccounts": [],
        "balance": "1193.60",
    }
    assert made["accountId"].startswith("bac_")
    assert statement.read_text() == BARCLAYS


def test_the_same_statement_again_says_when_it_came(run: Run, org_id: str, statement: Path) -> None:
    arguments = ("import", "bank", str(statement), "--org", org_id)
    made = run(*arguments, "--new-account", "Current", "--json").document
    for into in (("--new-account", "Current"), ("--account", made["accountId"])):
        again = run(*arguments, *into, "--json")
        assert "made the bank account" not in again.err
        told = again.document
        assert (told["importId"], told["accountId"]) == (made["importId"], made["accountId"])
        assert (told["added"], told["duplicates"], told["firstImportedAt"] is None) == (0, 3, False)


OFX = """OFXHEADER:100
DATA:OFXSGML

<OFX><BANKMSGSRSV1>{}</BANKMSGSRSV1></OFX>
"""
LIST = """<STMTTRNRS><STMTRS><CURDEF>GBP<BANKACCTFROM><BANKID>{}<ACCTID>{}<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260301<DTEND>20260331<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20260305<TRNAMT>{}<FITID>1
<NAME>RENT</STMTTRN></BANKTRANLIST></STMTRS></STMTTRNRS>"""
OURS, THEIRS = LIST.format("204500", "31926819", "2000.00"), LIST.format("601111", "55779911", "2000.00")


def test_a_file_of_another_account_is_refused_and_its_own_offered(run: Run, org_id: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.ofx", tmp_path / "theirs.ofx"
    ours.write_text(OFX.format(OURS))
    theirs.write_text(OFX.format(THEIRS))
    arguments = ("--org", org_id)
    first = run("import", "bank", str(ours), *arguments, "--new-account", "Current", "--json").document
    into = ("--account", first["accountId"])
    assert "another account, which ends in 9911" in run("import", "bank", str(theirs), *arguments, *into).err
    second = run("import", "bank", str(theirs), *arguments, "--new-account", "Tax", "--json").document
    told = run("import", "bank", str(theirs), *arguments, *into)
    assert (told.code, f"Import the file into {second['accountId']}." in told.err) == (1, True)
    assert (first["added"], second["added"], second["duplicates"]) == (1, 1, 0)


def test_all_accounts_of_a_file_come_in(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "both.ofx"
    file.write_text(OFX.format(OURS))
    one = run("import", "bank", str(file), "--org", org_id, "--new-account", "Current", "--json").document
    file.write_text(OFX.format(OURS + THEIRS))
    arguments = ("import", "bank", str(file), "--org", org_id)
    named = run(*arguments, "--account", one["accountId"], "--json").document
    assert named["ignored"] == [{"kind": "other_account", "rows": 1, "firstLine": 2}]
    assert [(found["accountNumber"], found["accountId"]) for found in named["otherAccounts"]] == [("****9911", None)]
    made = run(*arguments, "--all", "--json").document["imports"]
    assert [found["added"] for found in made] == [0, 1]
    assert made[0]["accountId"] == one["accountId"] != made[1]["accountId"]
    again = run(*arguments, "--all", "--json").document["imports"]
    assert [(found["accountId"], found["added"]) for found in again] == [(found["accountId"], 0) for found in made]


REVOLUT = """\
Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance
CARD_PAYMENT,Current,2026-01-03 10:00:00,2026-01-04 10:00:00,Tesco,-10.00,0.00,GBP,COMPLETED,90.00
TRANSFER,Savings,2026-01-05 10:00:00,2026-01-05 10:00:01,To Savings,500.00,0.00,GBP,COMPLETED,1500.00
TRANSFER,Current,2026-01-06 10:00:00,2026-01-06 10:00:00,Salary,20.00,0.00,GBP,COMPLETED,110.00
"""
QIF = """\
!Account\nNHouse\n^\n!Type:Bank\nD13/03/2026\nT-10.00\nPTesco\n^
!Account\nNShop\n^\n!Type:Bank\nD14/03/2026\nT500.00\nPTill\n^\nD15/03/2026\nT-1.00\nPMilk\n^
"""


@pytest.mark.parametrize(
    ("content", "names", "added", "balances"),
    [
        (REVOLUT, ["Current", "Savings"], [2, 1], ["110.00", "1500.00"]),
        (QIF, ["House", "Shop"], [1, 2], ["-10.00", "499.00"]),
    ],
)
def test_products_and_lists_are_accounts_of_their_own(
    run: Run, org_id: str, tmp_path: Path, content: str, names: list[str], added: list[int], balances: list[str]
) -> None:
    file = tmp_path / "both"
    file.write_text(content)
    arguments = ("import", "bank", str(file), "--org", org_id)
    assert f"{names[0]} (GBP), {names[1]} (GBP)" in run(*arguments, "--new-account", "Mine").err
    made = run(*arguments, "--all", "--json").document["imports"]
    assert [(one["added"], one["balance"]) for one in made] == list(zip(added, balances, strict=True))
    assert [[other["name"] for other in one["otherAccounts"]] for one in made] == [[names[1]], [names[0]]]
    alone = run(*arguments, "--account", made[1]["accountId"], "--of-account", names[1], "--json").document
    assert (alone["added"], alone["firstImportedAt"] is None) == (0, False)


def test_a_new_account_is_given_the_number_that_its_file_does_not_say(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("Date,Description,Amount\n13/04/2026,Timber,-40.00\n")
    numbers = ("--sort-code", "20-45-00", "--account-number", "31926819")
    run("import", "bank", str(file), "--org", org_id, "--new-account", "Current", *numbers)
    ofx = tmp_path / "own.ofx"
    ofx.write_text(OFX.format(OURS))
    told = run("import", "bank", str(ofx), "--org", org_id, "--new-account", "Again")
    assert (told.code, "There is an account for it" in told.err) == (1, True)
    refused = run("import", "bank", str(ofx), "--org", org_id, "--account", "bac_1", *numbers)
    assert "are of a new account" in refused.err


def test_what_is_told_of_a_file_that_came_before_and_of_its_other_accounts() -> None:
    other = {"name": "Savings", "iban": None, "accountNumber": "****9911", "currency": "GBP", "rows": 2}
    counts = {"rows": 5, "added": 0, "replaced": 0, "duplicates": 3, "refusedRows": 0}
    told = {
        "refused": [],
        "supposed": [],
        "id": "imp_1",
        "fileName": "march.csv",
        "format": "csv",
        "status": "applied",
        "currency": "GBP",
        "balanced": None,
        "firstImportedAt": "2026-03-31T08:00:00Z",
        "ignored": [{"kind": "other_account", "rows": 2, "firstLine": 4}],
        "otherAccounts": [{**other, "accountId": None}, {**other, "rows": 1, "accountId": "bac_2"}],
    }
    assert lines(counts | told, "1193.60") == [
        "march.csv, csv: 0 added, 0 replaced, 3 there already, 0 refused.",
        "Nothing was added: the same file came on 2026-03-31T08:00:00Z, as imp_1.",
        "  2 rows left out, the first on line 4: of another account",
        "  Savings ****9911 GBP, 2 rows: no account here has it; --all makes one",
        "  Savings ****9911 GBP, 1 row: import the file into bac_2",
        "The account holds GBP 1193.60, by what is known of it.",
    ]


def test_a_file_that_does_not_say_whose_it_is_needs_an_account(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("Date,Description,Amount\n13/04/2026,Timber,-40.00\n")
    assert "does not say whose it is" in run("import", "bank", str(file), "--org", org_id, "--all").err


def test_the_same_statement_longer_adds_the_rest(run: Run, org_id: str, statement: Path) -> None:
    first = run("import", "bank", str(statement), "--org", org_id, "--new-account", "Current", "--json").document
    statement.write_text(BARCLAYS + ",14/03/2026,20-45-00 31926819,-1.00,PAYMENT,SHOP\n")
    arguments = ("import", "bank", str(statement), "--org", org_id, "--account", first["accountId"], "--json")
    preview = run(*arguments, "--preview").document
    assert (preview["added"], preview["duplicates"]) == (1, 3)
    again = run(*arguments).document
    assert (again["added"], again["duplicates"]) == (1, 3)


def test_an_import_is_undone(run: Run, org_id: str, statement: Path) -> None:
    made = run("import", "bank", str(statement), "--org", org_id, "--new-account", "Current", "--json").document
    undone = run("import", "undo", made["importId"], "--json").document
    assert (undone["id"], undone["status"]) == (made["importId"], "reverted")
    again = run("import", "undo", made["importId"])
    assert again.err == "gatewayd: The import is reverted: only one that is applied can be undone.\n"


def test_what_an_undoing_would_take_out_is_told_first(run: Run, org_id: str, statement: Path) -> None:
    made = run("import", "bank", str(statement), "--org", org_id, "--new-account", "Current", "--json").document
    told = run("import", "undo", made["importId"], "--preview", "--json").document
    assert (told["status"], told["undoing"]["transactions"]) == ("applied", 3)
    assert undone(told)[0] == "Would take out 3 transactions of march.csv and 0 allocations."
    gone = run("import", "undo", made["importId"], "--remove-allocations", "--json").document
    assert undone(gone) == ["Took out 3 transactions of march.csv and 0 allocations."]
    kept = {"allocationId": "alc_1", "bankTransactionId": "btx_1", "reason": "It is a payment of an invoice."}
    assert undone({**told, "undoing": {**told["undoing"], "kept": [kept]}})[1:] == [
        "  alc_1 stays: It is a payment of an invoice.",
        "Nothing was changed.",
    ]


def test_unknown_columns_are_asked_for(run: Run, org_id: str, tmp_path: Path) -> None:
    file, mapping = tmp_path / "own.csv", tmp_path / "mapping.json"
    file.write_text(OWN)
    asked = run("import", "bank", str(file), "--org", org_id, "--new-account", "Own", "--json")
    assert asked.code == 1
    told = json.loads(asked.out)
    assert told["proposal"]["rows"]
    mapping.write_text(json.dumps({**MAPPING, "decimalComma": True}))
    arguments = ("--account", told["accountId"], "--mapping", str(mapping), "--json")
    made = run("import", "bank", str(file), "--org", org_id, *arguments).document
    assert (made["added"], made["refused"]) == (1, [])


EUROS = "Date,Description,Amount\n03/04/2026,Timber,40.00\n05/04/2026,Thanks,-9.00\n"


def test_questions_about_a_file_are_answered_by_flags(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(EUROS)
    arguments = ("import", "bank", str(file), "--org", org_id, "--currency", "EUR", "--json")
    asked = run(*arguments, "--new-account", "Own")
    assert (asked.code, "--date-order dmy|mdy --spent negative|positive" in asked.err) == (1, True)
    account = json.loads(asked.out)["accountId"]
    made = run(*arguments, "--account", account, "--date-order", "dmy", "--spent", "positive").document
    assert (made["added"], made["balance"]) == (2, "-31.00")


def test_questions_about_a_file_are_asked_at_a_terminal(
    run: Run, org_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = tmp_path / "own.csv"
    file.write_text(EUROS)
    arguments = ("import", "bank", str(file), "--org", org_id, "--currency", "EUR", "--new-account", "Own", "--json")
    monkeypatch.setattr("sys.stdin", Terminal("day\nyes\n"))
    made = run(*arguments)
    assert (made.code, json.loads(made.out)["balance"]) == (0, "-31.00")
    assert "day or month" in made.err


def test_what_was_supposed_is_told(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("03/04/26,TIMBER,-40.00\n")
    made = run("import", "bank", str(file), "--org", org_id, "--new-account", "Own", "--json").document
    assert {one["field"]: one["value"] for one in made["supposed"]} == {"dateFormat": "dd/mm/yyyy", "columns": ""}


def test_what_is_no_statement_is_told_in_one_line(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "march.ofx"
    file.write_bytes(b"PK\x03\x04" + bytes(100))
    told = run("import", "bank", str(file), "--org", org_id, "--new-account", "Current")
    assert (told.code, told.out) == (1, "")
    assert "The file cannot be read" in told.err


def test_a_file_that_is_not_there(run: Run, org_id: str, tmp_path: Path) -> None:
    told = run("import", "bank", str(tmp_path / "x"), "--org", org_id, "--new-account", "Current")
    assert (told.code, "No such file" in told.err) == (1, True)


def test_prices_come_in_and_bad_rows_are_told(run: Run, org_id: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("date,identifier,price,currency\n2026-10-01,USD/GBP,0.76,\n2026-10-01,NOBODY,1,GBP\n")
    told = run("import", "prices", str(file), "--org", org_id, "--json").document
    refused = [{"line": 3, "reason": "there is no instrument 'NOBODY'"}]
    assert told == {
        "importId": None,
        "format": "csv",
        "rows": 2,
        "added": 1,
        "duplicates": 0,
        "replaced": 0,
        "ignored": [],
        "refused": refused,
    }
    again = run("import", "prices", str(file), "--org", org_id, "--json").document
    assert (again["added"], again["duplicates"], again["refused"]) == (0, 1, refused)
    for arguments in ((), (str(file), "--url", "https://example.com/x.csv")):
        told = run("import", "prices", *arguments, "--org", org_id)
        assert (told.code, "Give a file, or its address" in told.err) == (1, True)
    for url, why in (("http://example.com/x.csv", "https"), ("https://127.0.0.1/x.csv", "127.0.0.1 is 127.0.0.1")):
        told = run("import", "prices", "--url", url, "--org", org_id)
        assert (told.code, "cannot be fetched" in told.err, why in told.err) == (1, True, True)
    file.write_text("no prices")
    wrong = run("import", "prices", str(file), "--org", org_id)
    assert (wrong.code, "there are no columns" in wrong.err) == (1, True)
