"""Sentences about values that are wrong, where the catalogue has no field that shows it."""

from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct, field

from gatewayd.contract import faults, wording
from gatewayd.contract.wire import DateText, Part


class Odd(Part, frozen=True, kw_only=True):
    """Types that requests seldom have."""

    ratio: Annotated[float, Meta(ge=0)] = 0.0
    either: int | str | None = None
    words: dict[str, Literal["buy", "sell"]] = field(default_factory=dict)
    code: Annotated[str, Meta(min_length=3, max_length=3)] = "abc"
    few: Annotated[list[int], Meta(min_length=1)] | None = None
    on: DateText = "2026-11-20"


def said(**values: object) -> dict[str, str]:
    refusal = faults.refusal(values, Odd, strict=True)
    return {} if refusal is None else {error.path: error.message for error in refusal.errors}


@pytest.mark.parametrize(
    "path",
    [
        *("password", "newPassword", "clientSecret", "apiKey", "accessToken", "utr", "nino", "identifiers.iban"),
        *("vat.vrn", "owners[2].sortCode", "accountNumber", "accountNumberMasked", "dateOfBirth"),
    ],
)
def test_a_value_that_may_be_secret_is_never_said_back(path: str) -> None:
    assert wording.is_secret(path)
    for value in ("hunter2", 1234, True):
        assert "given" not in wording.wrong(value, list[int], path)
    assert "given" not in wording.out_of_range("hunter2", Annotated[str, Meta(min_length=9)], path)


@pytest.mark.parametrize("path", ["name", "status", "lines[0].unitPrice", "vat.scheme", "keywords"])
def test_other_values_are(path: str) -> None:
    assert not wording.is_secret(path)
    assert '"hunter2" was given' in wording.wrong("hunter2", int, path)


def test_odd_types_have_words() -> None:
    assert said(ratio=-1, either=[], words={"Kauf": "selll"}, code="ab", few=[]) == {
        "ratio": "Expected a number of at least 0; -1 was given.",
        "either": "Expected a whole number or text; a list was given.",
        "words.Kauf": 'Expected one of: buy, sell; "selll" was given. Did you mean sell?',
        "code": "Expected text of exactly 3 characters; 2 were given.",
        "few": "Expected a list of at least 1 item; none were given.",
    }
    assert said(code="a") == {"code": "Expected text of exactly 3 characters; 1 was given."}
    assert said(on=5) == {"on": "Expected text; the number 5 was given."}
    assert said() == {}


def test_a_value_is_cut_and_unseen_characters_are_written_out() -> None:
    assert wording.quoted("a" * 41) == f'"{"a" * 39}…"'
    assert wording.quoted("a\nb") == r'"a\nb"'


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("clientID", "clientId"),
        ("client_id", "clientId"),
        ("Client-Id", "clientId"),
        ("client", "clientId"),
        ("cleint", "clientId"),
        ("date", "dueDate"),
        ("x", None),
        ("c" * 65, None),
    ],
)
def test_what_was_meant_is_what_comes_close(name: str, meant: str | None) -> None:
    assert wording.closest(name, ["clientId", "dueDate", "lines"]) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("closedDate", None),
        ("maxAmount", None),
        ("openDate", "openedDate"),
        ("min_amount", "minAmount"),
        ("date", "openedDate"),
    ],
)
def test_no_name_is_taken_for_its_opposite(name: str, meant: str | None) -> None:
    assert wording.closest(name, ["openedDate", "minAmount"]) == meant


class Conditions(Struct):
    """An object of which any field will do."""

    text: str | None = None
    reference: str | None = None


def test_an_object_of_which_any_field_will_do_is_told_with_them() -> None:
    assert wording.expectation(Conditions) == "an object with one or more of text, reference"
