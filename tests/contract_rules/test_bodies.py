"""JSON bodies: what is taken, and what is said about everything that is not."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.names import hidden_in
from gatewayd.errors import ERRORS, FIELD_CODES, Problem
from tests.contract_rules.rows import Create, Update, decoder

_CREATE, _UPDATE = decoder(Create), decoder(Update)
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
_NAMES = ["name", "currency", "total", "count", "few", "paid", "colour", "dueDate", "email", "address", "lines", "tags"]


def _create(raw: bytes | str) -> Create:
    request = _CREATE.body(raw.encode() if isinstance(raw, str) else raw)
    assert isinstance(request, Create)
    return request


def _problem(raw: bytes | str, using: RequestDecoder = _CREATE, **path: str) -> Problem:
    with pytest.raises(Problem) as caught:
        using.body(raw.encode() if isinstance(raw, str) else raw, path)
    return caught.value


def _fields(problem: Problem) -> list[tuple[str, str]]:
    return [(error.path, error.code) for error in problem.errors]


def test_a_whole_request() -> None:
    request = _create(
        '{"name":"Ada","currency":"JPY","total":"-1.50","count":3,"few":9,"paid":true,"colour":"blue",'
        '"dueDate":"2026-11-20","email":"a@b.example","address":{"line1":"1 Road","countryCode":"GB"},'
        '"lines":[{"description":"work","unitPrice":"1.00"}],"tags":["x","y"],"note":"two\\nlines\\n"}'
    )
    assert (request.name, request.total, request.colour, request.count) == ("Ada", "-1.50", "blue", 3)
    assert request.due_date == datetime.date(2026, 11, 20)
    assert request.lines[0].quantity == "1"
    assert request.note == "two\nlines\n"


def test_absent_null_and_value_are_told_apart() -> None:
    assert _create('{"name":"a"}').note is UNSET
    assert _create('{"name":"a","note":null}').note is None
    assert _create('{"name":"a","note":"null"}').note == "null"


@pytest.mark.parametrize("raw", ["", "  \r\n\t ", "{}"])
def test_an_empty_body_is_an_empty_object(raw: str) -> None:
    assert _fields(_problem(raw)) == [("name", "required")]


@pytest.mark.parametrize(
    ("member", "path", "code"),
    [
        ('"name":null', "name", "invalid_format"),
        ('"name":5', "name", "invalid_format"),
        ('"name":""', "name", "out_of_range"),
        ('"name":"12345678901"', "name", "out_of_range"),
        ('"total":12.5', "total", "invalid_decimal"),
        ('"total":12', "total", "invalid_decimal"),
        ('"total":"1e5"', "total", "invalid_decimal"),
        ('"total":"1.00\\n"', "total", "invalid_decimal"),
        ('"total":"1.00\\u000A"', "total", "invalid_decimal"),
        ('"total":"\\u0661\\u0662"', "total", "invalid_decimal"),
        ('"total":true', "total", "invalid_decimal"),
        ('"count":1.0', "count", "invalid_format"),
        ('"count":"1"', "count", "invalid_format"),
        ('"count":true', "count", "invalid_format"),
        ('"count":null', "count", "invalid_format"),
        ('"count":9223372036854775808', "count", "out_of_range"),
        ('"count":-9223372036854775809', "count", "out_of_range"),
        ('"few":0', "few", "out_of_range"),
        ('"few":10', "few", "out_of_range"),
        ('"paid":1', "paid", "invalid_format"),
        ('"paid":"true"', "paid", "invalid_format"),
        ('"colour":"green"', "colour", "invalid_enum"),
        ('"colour":7', "colour", "invalid_enum"),
        ('"currency":"GBX"', "currency", "invalid_enum"),
        ('"currency":"GBP\\n"', "currency", "invalid_enum"),
        ('"dueDate":"20/11/2026"', "dueDate", "invalid_format"),
        ('"dueDate":"2026-02-30"', "dueDate", "invalid_format"),
        ('"dueDate":1700000000', "dueDate", "invalid_format"),
        ('"email":"nobody"', "email", "invalid_format"),
        ('"email":"a@b.example\\n"', "email", "invalid_format"),
        ('"address":"1 Road"', "address", "invalid_format"),
        ('"address":{"line1":"1 Road"}', "address.countryCode", "required"),
        ('"address":{"line1":" \\t","countryCode":"GB"}', "address.line1", "invalid_format"),
        ('"address":{"line1":"1 Road","countryCode":"gb"}', "address.countryCode", "invalid_enum"),
        ('"lines":{}', "lines", "invalid_format"),
        ('"lines":[1]', "lines[0]", "invalid_format"),
        ('"lines":[{"description":"a","unitPrice":1}]', "lines[0].unitPrice", "invalid_decimal"),
        ('"lines":[{"description":"a","unitPrice":"1"},{"description":"b"}]', "lines[1].unitPrice", "required"),
        ('"tags":["a",2]', "tags[1]", "invalid_format"),
        ('"tags":["a\\u0000"]', "tags[0]", "invalid_format"),
        ('"note":"\\u0000"', "note", "invalid_format"),
        ('"note":["deep"]', "note", "invalid_format"),
    ],
)
def test_each_mistake_is_named(member: str, path: str, code: str) -> None:
    raw = f"{{{member}}}" if member.startswith('"name"') else f'{{"name":"a",{member}}}'
    problem = _problem(raw)
    assert (problem.code, problem.status) == ("validation_failed", 422)
    assert _fields(problem) == [(path, code)]
    assert all(error.code in FIELD_CODES and error.message for error in problem.errors)


def test_every_mistake_is_told_at_once() -> None:
    problem = _problem(
        '{"total":5,"colour":"green","dueDate":"x","lines":[{"unitPrice":7,"description":""},{"description":"b"}]}'
    )
    assert _fields(problem) == [
        ("name", "required"),
        ("total", "invalid_decimal"),
        ("colour", "invalid_enum"),
        ("dueDate", "invalid_format"),
        ("lines[0].description", "out_of_range"),
        ("lines[0].unitPrice", "invalid_decimal"),
        ("lines[1].unitPrice", "required"),
    ]


def test_an_enum_says_what_it_takes() -> None:
    assert (
        _problem('{"name":"a","colour":"green"}').errors[0].message == 'Expected one of: red, blue; "green" was given.'
    )


def test_every_unknown_name_is_told_before_the_mistakes_beside_it() -> None:
    problem = _problem(
        '{"nmae":1,"due_date":"x","address":{"line1":"a","countryCode":"GB","zip":"1"},'
        '"lines":[{"description":"a","unitPrice":"1"},{"price":"1"}],"total":5}'
    )
    assert (problem.code, problem.status) == ("unknown_parameter", 400)
    assert _fields(problem) == [
        *((path, "unknown_parameter") for path in ("nmae", "due_date", "address.zip", "lines[1].price")),
        ("total", "invalid_decimal"),
        ("lines[1].description", "required"),
    ]
    assert problem.message == "Unknown field `nmae`. Did you mean `name`? (5 more)"


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b'{"name":"a"} x',
        b'{"name":"a",}',
        b"{'name':'a'}",
        b'{"name":NaN}',
        b'{"count":Infinity}',
        b'{"count":1e400}',
        b'{"count":' + b"9" * 5_000 + b"}",
        b'{"count":01}',
        b'{"name":"\xff"}',
        b'{"name":"\xed\xa0\x80"}',
        b'{"name":"\\ud800"}',
        b'{"name":"\\ud800x"}',
        b'{"name":"\\udc00\\ud800"}',
        b'{"name":"a\x00b"}',
        b'{"name":"a\nb"}',
        b"\x00",
        b'\xef\xbb\xbf{"name":"a"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_what_is_no_json_is_refused(raw: bytes) -> None:
    problem = _problem(raw)
    assert (problem.code, problem.status) == ("invalid_json", 400)


@pytest.mark.parametrize("raw", ["[]", "null", '"name"', "5", "true", '[{"name":"a"}]'])
def test_json_that_is_no_object_is_refused(raw: str) -> None:
    assert _problem(raw).code == "invalid_request"


@pytest.mark.parametrize("depth", [100, 400, 600, 900])
@pytest.mark.parametrize("name", ["tags", "note", "unknown"])
def test_deep_nesting_is_a_problem_like_any_other(name: str, depth: int) -> None:
    for inner in ("[" * depth + "]" * depth, '{"a":' * depth + '"\\u0000"' + "}" * depth):
        problem = _problem(f'{{"name":"a","{name}":{inner}}}')
        assert problem.code in ("validation_failed", "unknown_parameter", "invalid_json")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ('{"name":"a","name":"b"}', "name"),
        ('{"name":"a","name" :"b"}', "name"),
        ('{"name":"a","name"\n:"a"}', "name"),
        ('{"name":"a","n\\u0061me":"b"}', "name"),
        ('{"name":"a","lines":[{"unitPrice":"1","unitPrice":"2","description":"x"}]}', "unitPrice"),
        ('{"name":"a","unknown":{"x":1,"x":2}}', "x"),
        ('{"name":"a","count":1,"note":"\\":","count":2}', "count"),
    ],
)
def test_a_name_given_twice_is_refused(raw: str, name: str) -> None:
    problem = _problem(raw)
    assert problem.code == "invalid_json"
    assert problem.message == f'The name "{name}" is given twice in one object: send it once.'


@pytest.mark.parametrize("note", ['say \\":', 'a \\" :', " : ", '{\\"a\\":1,\\"a\\":2}'])
def test_text_that_looks_like_names_is_text(note: str) -> None:
    assert _create(f'{{"name":"a","note":"{note}"}}').note == json.loads(f'"{note}"')


def test_names_in_different_objects_may_be_the_same() -> None:
    line = '{"description" : "a", "unitPrice" : "1"}'
    assert len(_create(f'{{"name" : "a", "lines" : [{line}, {line}]}}').lines) == 2


def test_path_parameters_join_the_body() -> None:
    request = _UPDATE.body(b'{"expectedVersion":3}', {"id": "inv_1"})
    assert request == Update(id="inv_1", expected_version=3)
    assert _UPDATE.body(b'{"id":"inv_1"}', {"id": "inv_1"}) == Update(id="inv_1")
    assert _UPDATE.body(b"", {"id": "inv_1"}) == Update(id="inv_1")


def test_a_body_that_contradicts_the_path_is_refused() -> None:
    assert _fields(_problem('{"id":"inv_2"}', _UPDATE, id="inv_1")) == [("id", "conflict")]
    assert _fields(_problem('{"id":1}', _UPDATE, id="inv_1")) == [("id", "conflict")]


@pytest.mark.parametrize("value", ["", "x" * 65, "a\x00b"])
def test_a_path_parameter_is_validated(value: str) -> None:
    assert [path for path, _ in _fields(_problem("{}", _UPDATE, id=value))] == ["id"]


HIDDEN = ["\u200b", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u200e"]


@pytest.mark.parametrize("character", HIDDEN)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_name_holds_nothing_that_nobody_sees(character: str, ascii_only: bool) -> None:
    """Two names must not look the same that are not; what is no name may hold it."""
    body = json.dumps({"name": f"Oak{character} Ltd"}, ensure_ascii=ascii_only)
    problem = _problem(body)
    assert _fields(problem) == [("name", "invalid_format")]
    assert f"U+{ord(character):04X}" in problem.errors[0].message
    noted = json.dumps({"name": "Oak", "note": f"a{character}b"}, ensure_ascii=ascii_only)
    assert _create(noted).note == f"a{character}b"


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "क्\u200dष", "\U0001f468\u200d\U0001f469", "O’Neill\u00a0&", "C:\\u200b"]
)
def test_names_of_other_scripts_are_taken(name: str) -> None:
    for ascii_only in (True, False):
        assert _create(json.dumps({"name": name}, ensure_ascii=ascii_only)).name == name


def test_a_version_larger_than_the_database_holds_is_refused() -> None:
    assert _fields(_problem(f'{{"id":"a","expectedVersion":{10**30}}}', _UPDATE)) == [
        ("expectedVersion", "out_of_range")
    ]


def _only_problems(raw: bytes) -> None:
    try:
        answer: object = _CREATE.body(raw)
    except Problem as problem:
        answer = problem
    if isinstance(answer, Problem):
        assert answer.code in ERRORS
        assert all(error.code in FIELD_CODES for error in answer.errors)
    else:
        assert isinstance(answer, Create)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_but_problems(raw: bytes) -> None:
    _only_problems(raw)


@given(st.dictionaries(st.sampled_from(_NAMES) | st.text(), _ANY_JSON, max_size=6))
def test_arbitrary_objects_raise_nothing_but_problems(values: dict[str, object]) -> None:
    for pretty in (None, 1):
        _only_problems(json.dumps(values, indent=pretty).encode())
        _only_problems(json.dumps(values, ensure_ascii=False, indent=pretty).encode("utf-8", "surrogatepass"))


@given(st.text(min_size=1, max_size=10))
def test_every_name_comes_back_as_it_was_sent(name: str) -> None:
    raw = json.dumps({"name": name}).encode()
    if "\x00" in name or hidden_in(name):
        assert _fields(_problem(raw)) == [("name", "invalid_format")]
    else:
        assert _create(raw).name == name
