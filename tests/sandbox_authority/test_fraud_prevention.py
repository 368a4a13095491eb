"""The authority's test of fraud-prevention headers: what is missing, empty or not expected (domain model §D2)."""

import pytest

from gatewayd.http1.request import Request
from tests.sandbox_authority.asking import document, tell, versioned
from tests.tax.conftest import HEADERS, with_header

PATH = "/test/fraud-prevention-headers/validate"


def verdict(fields: list[tuple[bytes, bytes]]) -> tuple[str, list[str], list[str]]:
    """The code, and of errors and warnings each code with its header."""
    answer = tell(Request("GET", PATH, [*versioned(1), *fields]))
    assert answer.status == 200
    told = document(answer)
    assert (told["specVersion"], bool(told["message"])) == ("3.3", True)
    errors, warnings = (
        [f"{note['code']} {' '.join(note['headers'])}" for note in told.get(kind, [])]
        for kind in ("errors", "warnings")
    )
    return told["code"], errors, warnings


def test_all_sixteen_are_valid() -> None:
    assert verdict(list(HEADERS)) == ("VALID_HEADERS", [], [])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([], ("INVALID_HEADERS", ["INVALID_HEADER gov-client-connection-method"], [])),
        (
            with_header(b"gov-client-timezone"),
            ("INVALID_HEADERS", ["MISSING_HEADER gov-client-timezone"], []),
        ),
        (
            with_header(b"gov-client-multi-factor", b""),
            ("POTENTIALLY_INVALID_HEADERS", [], ["EMPTY_HEADER gov-client-multi-factor"]),
        ),
        (
            with_header(b"gov-vendor-license-ids"),
            ("POTENTIALLY_INVALID_HEADERS", [], ["MISSING_HEADER gov-vendor-license-ids"]),
        ),
        (
            with_header(b"gov-client-mac-addresses", b"x"),
            ("POTENTIALLY_INVALID_HEADERS", [], ["UNEXPECTED_HEADER gov-client-mac-addresses"]),
        ),
    ],
)
def test_what_is_remarked_on(fields: list[tuple[bytes, bytes]], expected: tuple[str, list[str], list[str]]) -> None:
    assert verdict(fields) == expected
