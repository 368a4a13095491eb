"""Encodings are found by content, and text is cleaned for people."""

import io

import pytest

from gatewayd.statements.text import cleaned, encoding_of

TEXT = "25/11/2026,CAFÉ “NERO” – £3.50,-3.50\n" * 200


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_an_encoding_is_found(encoding: str, found: str) -> None:
    assert encoding_of(io.BytesIO(TEXT.encode(encoding))) == found


def test_one_pound_sign_late_in_a_file_is_enough() -> None:
    late = b"25/11/2026,SHOP,1.00\n" * 50_000
    assert encoding_of(io.BytesIO(late)) == "utf-8"
    assert encoding_of(io.BytesIO(late + "£5".encode("cp1252") + b"\n")) == "cp1252"
    assert encoding_of(io.BytesIO(late + "£5".encode())) == "utf-8"


def test_bytes_that_cp1252_has_not_are_of_another_encoding() -> None:
    text = "25/11/2026,MÜLLER BÄCKEREI WEIßENBURG ÜBERWEISUNG,1.00\n" * 5
    raw = text.encode("cp850")
    assert b"\x8e" in raw or b"\x9a" in raw
    with pytest.raises(UnicodeDecodeError):
        "ì".encode("cp850").decode("cp1252")
    found = encoding_of(io.BytesIO(("ì " + text).encode("cp850")))
    assert "MÜLLER" in raw.decode(found)


def test_a_file_that_ends_within_a_character_is_still_utf_8() -> None:
    assert encoding_of(io.BytesIO("25/11/2026,CAFÉ,1.00\nCAF€".encode()[:-1])) == "utf-8"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  A   B\t\nC ", "A B C"),
        ("A\u00a0B", "A B"),
        ("A\x07B\x1bC", "A B C"),
        ("A\u200bB\u202eC", "A B C"),
        ("Café £5 – ok", "Café £5 – ok"),
        ("", ""),
    ],
)
def test_text_is_cleaned(text: str, clean: str) -> None:
    assert cleaned(text) == clean
