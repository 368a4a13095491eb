"""The format of a file is found by its content, and never by its name."""

import io
import zipfile

import pytest

from tests.statements.parts import read_parts, reason_of
from tests.statements.test_camt053 import entry, message
from tests.statements.test_csv_profiles import LLOYDS
from tests.statements.test_mt940 import MESSAGE
from tests.statements.test_ofx import SGML
from tests.statements.test_qif import BANK

FILES = {"ofx": SGML, "qif": BANK, "camt053": message(entry("1.00", "CRDT")), "mt940": MESSAGE, "csv": LLOYDS}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n  "])
def test_content_decides(name: str, before: str) -> None:
    text = FILES[name] if name == "camt053" and before.startswith("\n") else before + FILES[name]
    assert read_parts(text, file_name="statement.pdf").opened[0].format == name


INTERIM = """{before}:20:ST261119CYC/0001
:25:PL29114010810000267002001002
:28C:1/1
:34F:PLN0
:13D:2611191815+0100
:61:2611191119CN0,01NTRFNONREF//MB261119012058
911-TRANSAKCJA IPH
:86:911 TRANSAKCJA COLLECT; OD: JAN NOWAK
UL. NIJAKA 1 M 2 31-234 KRAKOW; TYT.: PRZELEW SRODKOW ;
:90D:0PLN0,00
:90C:1PLN0,01
-
"""


@pytest.mark.parametrize("before", ["", "\n", "\x01\r\n", "mBank S.A.\n\n"])
def test_an_interim_report_of_mbank_is_one(before: str) -> None:
    found = read_parts(INTERIM.format(before=before), currency="GBP")
    assert [(one.format, one.currency, one.iban) for one in found.opened] == [
        ("mt942", "PLN", "PL29114010810000267002001002")
    ]
    assert [(one.amount, one.status) for one in found.lines] == [(1, "pending")]


@pytest.mark.parametrize(
    "before", ["# Exported by Ledger 4, 20 November 2026\n", "; one\n; two\n\n", "/* rows, with commas */\n"]
)
def test_a_comment_before_a_qif_is_no_csv(before: str) -> None:
    plain = read_parts(BANK)
    found = read_parts(before + BANK)
    assert (found.opened[0].format, found.rows, found.refused) == ("qif", plain.rows, plain.refused)


def test_a_mention_of_a_format_makes_no_file_of_it() -> None:
    text = "Date,Description,Amount\n13/11/2026,see !Type:Bank and :20: :25: :60F:,-1.00\n"
    assert read_parts(text, supposes=True).opened[0].format == "csv"


@pytest.mark.parametrize("name", FILES)
def test_a_format_that_is_named_is_believed_but_must_be_it(name: str) -> None:
    wrong = "qif" if name != "qif" else "mt940"
    assert read_parts(FILES[name], format=name).opened[0].format == name
    assert reason_of(FILES[name], format=wrong)


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("statement.ofx", SGML)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive(), "a ZIP archive or an Excel workbook"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"\x1f\x8b\x08\x00", "a gzip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook"),
        (b"\x89PNG\r\n", "a picture"),
        (b"", "the file is empty"),
        (b"\0" * 5000, "there is no text"),
        (b"<!DOCTYPE html><html><body>Please sign in</body></html>", "a web page"),
        (b"  <html><body>Please sign in</body></html>", "a web page"),
    ],
)
def test_what_is_something_else_is_refused_by_what_it_is(content: bytes, reason: str) -> None:
    assert reason in reason_of(content, file_name="statement.ofx")
    assert reason in reason_of(content, file_name="statement.ofx", format="ofx")
