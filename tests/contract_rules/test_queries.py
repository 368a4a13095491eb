"""Query strings: what is taken, and what is said about everything that is not."""

import datetime
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.contract.query_strings import MAX_QUERY_FIELDS
from gatewayd.errors import FIELD_CODES, Problem
from tests.contract_rules.rows import Get, Listed, decoder

_GET, _LISTED = decoder(Get), decoder(Listed)
_NOON = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def _listed(raw: str) -> Listed:
    request = _LISTED.query(raw)
    assert isinstance(request, Listed)
    return request


def _problem(raw: str, **path: str) -> Problem:
    with pytest.raises(Problem) as caught:
        _LISTED.query(raw, path)
    return caught.value


def _fields(raw: str) -> list[tuple[str, str]]:
    problem = _problem(raw)
    assert problem.code == "validation_failed"
    assert all(error.code in FIELD_CODES for error in problem.errors)
    return [(error.path, error.code) for error in problem.errors]


def test_defaults_stand_where_nothing_is_said() -> None:
    assert _listed("") == _listed("&&") == Listed()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("limit=7", Listed(limit=7)),
        ("q=a%20b", Listed(q="a b")),
        ("q=a+b", Listed(q="a b")),
        ("q=a%2Bb", Listed(q="a+b")),
        ("q=a=b", Listed(q="a=b")),
        ("q=%C3%A9", Listed(q="é")),
        ("q=", Listed(q="")),
        ("q", Listed(q="")),
        ("q=null", Listed(q="null")),
        ("q=100%25", Listed(q="100%")),
        ("%71=a", Listed(q="a")),
        ("q=a;limit=3", Listed(q="a;limit=3")),  # `&` alone parts parameters
        ("archived=true&count=-3", Listed(archived=True, count=-3)),
        ("archived=0", Listed(archived=False)),
        ("colour=red", Listed(colour=["red"])),
        ("colour=red&colour=blue", Listed(colour=["red", "blue"])),
        ("colour=red,blue", Listed(colour=["red", "blue"])),
        ("colour=red%2Cblue&colour=red", Listed(colour=["red", "blue", "red"])),
        ("updatedSince=2026-11-20T12:00:00Z", Listed(updated_since=_NOON)),
        ("updatedSince=2026-11-20T12%3A00%3A00.000Z", Listed(updated_since=_NOON)),
        ("updatedSince=2026-11-20T13:00:00%2B01:00", Listed(updated_since=_NOON)),
        ("count=9223372036854775807", Listed(count=(1 << 63) - 1)),
    ],
)
def test_what_is_taken(raw: str, expected: Listed) -> None:
    assert _listed(raw) == expected


@pytest.mark.parametrize(
    ("raw", "path", "code"),
    [
        ("limit=0", "limit", "out_of_range"),
        ("limit=101", "limit", "out_of_range"),
        ("limit=", "limit", "invalid_format"),
        ("limit=x", "limit", "invalid_format"),
        ("limit=1.5", "limit", "invalid_format"),
        ("limit=+5", "limit", "invalid_format"),
        ("limit=%205", "limit", "invalid_format"),
        ("limit=%D9%A1", "limit", "invalid_format"),
        ("limit=null", "limit", "invalid_format"),
        ("count=NULL", "count", "invalid_format"),
        ("count=%6Eull", "count", "invalid_format"),
        ("count=9223372036854775808", "count", "out_of_range"),
        ("archived=yes", "archived", "invalid_format"),
        ("archived=", "archived", "invalid_format"),
        ("colour=green", "colour[0]", "invalid_enum"),
        ("colour=red,", "colour[1]", "invalid_enum"),
        ("q=%00", "q", "invalid_format"),
        ("q=\x00", "q", "invalid_format"),
        ("cursor=" + "a" * 513, "cursor", "out_of_range"),
        ("updatedSince=1700000000", "updatedSince", "invalid_format"),
        ("updatedSince=-17.5e8", "updatedSince", "invalid_format"),
        ("updatedSince=2026-11-20", "updatedSince", "invalid_format"),
        ("updatedSince=2026-11-20T12:00:00", "updatedSince", "invalid_format"),
        ("updatedSince=2026-11-20T12:00:00+00:00", "updatedSince", "invalid_format"),  # the plus is a space
        ("updatedSince=null", "updatedSince", "invalid_format"),
    ],
)
def test_each_mistake_is_named(raw: str, path: str, code: str) -> None:
    assert _fields(raw) == [(path, code)]


def test_every_mistake_is_told_at_once() -> None:
    assert _fields("limit=0&colour=green&archived=x") == [
        ("limit", "out_of_range"),
        ("colour[0]", "invalid_enum"),
        ("archived", "invalid_format"),
    ]


@pytest.mark.parametrize("raw", ["limit=1&limit=1", "q=a&%71=b", "q&q"])
def test_a_parameter_given_twice_is_refused(raw: str) -> None:
    problem = _problem(raw)
    assert problem.code == "invalid_request"
    assert "more than once" in problem.message


def test_a_parameter_that_is_in_the_path_is_refused_in_the_query() -> None:
    assert _GET.query("", {"id": "ent_1"}) == Get(id="ent_1")
    with pytest.raises(Problem, match="more than once"):
        _GET.query("id=ent_2", {"id": "ent_1"})


def test_null_in_the_path_is_text() -> None:
    assert _GET.query("", {"id": "null"}) == Get(id="null")


def test_a_nul_in_the_path_is_refused() -> None:
    with pytest.raises(Problem, match=r"U\+0000"):
        _GET.query("", {"id": "a\x00"})


@pytest.mark.parametrize("raw", ["updated_since=x", "Q=a", "q=a&statsu=open&=x", "limit[]=5", "%00=1"])
def test_unknown_names_are_refused(raw: str) -> None:
    assert _problem(raw).code == "unknown_parameter"


@pytest.mark.parametrize("raw", ["q=%FF", "q=%ED%A0%80", "%FF=1", "q=\xe9"])
def test_what_is_not_utf_8_behind_percent_signs_is_refused(raw: str) -> None:
    assert _problem(raw).code == "invalid_request"


@pytest.mark.parametrize("pair", ["colour=red", "colour=%72ed"])
def test_the_number_of_parameters_is_bounded(pair: str) -> None:
    assert len(_listed("&".join([pair] * MAX_QUERY_FIELDS)).colour or ()) == MAX_QUERY_FIELDS
    problem = _problem("&".join([pair] * (MAX_QUERY_FIELDS + 1)))
    assert problem.code == "invalid_request"
    assert str(MAX_QUERY_FIELDS) in problem.message


def _only_problems(raw: str) -> None:
    try:
        answer: object = _LISTED.query(raw)
    except Problem as problem:
        answer = problem
    assert isinstance(answer, Listed) or (isinstance(answer, Problem) and answer.status in (400, 422))


@given(st.binary(max_size=80))
def test_arbitrary_bytes_raise_nothing_but_problems(raw: bytes) -> None:
    _only_problems(raw.decode("latin-1"))


@given(st.text(alphabet="qlimtcoundhresv=&%+0129AFnN,:-TZ", max_size=40))
def test_near_misses_raise_nothing_but_problems(raw: str) -> None:
    _only_problems(raw)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40))
def test_text_comes_back_however_it_was_escaped(text: str) -> None:
    for escape in (quote, quote_plus):
        assert _listed(urlencode({"q": text}, quote_via=escape)).q == text


@given(st.from_regex(r"[a-zA-Z0-9_=.,~-]{0,20}", fullmatch=True))
def test_the_plain_way_reads_as_the_escaped_way(value: str) -> None:
    everything_escaped = "".join(f"%{byte:02X}" for byte in value.encode())
    assert _listed(f"q={value}") == _listed(f"q={everything_escaped}")
    assert dict(parse_qsl(f"q={value}", keep_blank_values=True)) == {"q": _listed(f"q={value}").q}
