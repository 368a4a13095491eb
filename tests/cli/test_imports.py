"""`gatewayd import`: a statement comes into an account from the command line, and goes again."""

import io
import json
from pathlib import Path

import pytest

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
        "format": "csv",
        "rows": 3,
        "added": 3,
        "duplicates": 0,
        "replaced": 0,
        "ignored": [],
        "refused": [],
        "supposed": [],
        "balance": "1193.60",
    }
    assert made["accountId"].startswith("bac_")
    assert statement.read_text() == BARCLAYS


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
    assert run("import", "undo", made["importId"]).err == "gatewayd: The import is reverted.\n"


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
        "added": 1,
        "duplicates": 0,
        "replaced": 0,
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
