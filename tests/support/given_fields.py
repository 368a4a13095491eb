"""Which fields of requests tests give: noted where a test calls an operation, of its own choice.

A field counts once its operation was called with something else in it than what stands there when it is left out: by
a handler that is called on the store of a test, through the API in process, or on a daemon. Names are of the wire, with
a dot before a field of a struct inside. At the end of a whole run each must have been given.

How this errs. What is given need not be looked at in the answer, so a field may count that a fixture fills and of which
no test asserts anything: what is found is the field that no test knows, not the one that is tested badly. A field that
was only ever given its own default does not count, though a test says its name. Nor does the second handler that one
`work` calls, nor one of kind `call` that is called without a door.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType

import httpx
import msgspec
from msgspec import inspect

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.errors import Problem
from tests.support import outcomes

Field = tuple[str, str]

GIVEN: set[Field] = set()
"""Operation id and field, of this process or of all once they have ended."""

DERIVED = ("tests/contract/", "tests/clients/")
"""Tests that make their requests from the rows or from the description: a new field is in them by itself."""
BY_HAND = ("tests/contract/test_imports.py", "tests/contract/test_broker_imports.py", "tests/contract/test_fields_of_")
"""Those among them that don't. What their fixtures send before them is from the rows."""

UNNAMED: dict[Field, str] = {}
"""Fields that no test gives, each with its reason. It may only shrink: one that is given after all fails the run."""

_BY_HANDLER: dict[CodeType, list[str]] = {}
for _operation in outcomes.OPERATIONS.values():
    _BY_HANDLER.setdefault(outcomes.code_of(_operation.handler), []).append(_operation.id)


def names_in(kind: inspect.Type, prefix: str = "", inside: tuple[type, ...] = ()) -> Iterator[str]:
    """The fields of all structs in a type."""
    match kind:
        case inspect.Metadata(type=inner) | inspect.ListType(item_type=inner) | inspect.DictType(value_type=inner):
            yield from names_in(inner, prefix, inside)
        case inspect.UnionType(types=types):
            for each in types:
                yield from names_in(each, prefix, inside)
        case inspect.StructType(cls=cls, fields=fields) if cls not in inside:
            for field in fields:
                yield prefix + field.encode_name
                yield from names_in(field.type, f"{prefix}{field.encode_name}.", (*inside, cls))


FIELDS = frozenset(
    (operation.id, name)
    for operation in outcomes.OPERATIONS.values()
    for name in names_in(inspect.type_info(operation.request))
)

_fields = cache(msgspec.structs.fields)


def given_in(value: object, prefix: str = "") -> Iterator[str]:
    """The fields of a request that hold something else than what stands there when they are left out."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from given_in(each, prefix)
    elif isinstance(value, dict):
        for each in value.values():
            yield from given_in(each, prefix)
    elif isinstance(value, msgspec.Struct):
        for field in _fields(type(value)):
            held = getattr(value, field.name)
            if field.required or held != _left_out(field):
                yield prefix + field.encode_name
                yield from given_in(held, f"{prefix}{field.encode_name}.")


def _left_out(field: msgspec.structs.FieldInfo) -> object:
    """What a field holds that is not given."""
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def note(operation_id: str, request: msgspec.Struct) -> None:
    """A test calls an operation."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    by_hand = test.startswith(BY_HAND) and test.endswith("(call)")
    if test and (by_hand or not test.startswith(DERIVED)):
        GIVEN.update((operation_id, name) for name in given_in(request))


def note_request(method: str, path: str, query: str, body: bytes) -> None:
    """A test sends this, and what answers may refuse it. What cannot be read as a request is passed over."""
    row = outcomes.addressed(method, path)
    if row is None:
        return
    operation, parameters = row
    decoder = RequestDecoder(operation)
    try:
        note(operation.id, decoder.body(body, parameters) if operation.has_body else decoder.query(query, parameters))
    except Problem:
        return


def note_sent(request: httpx.Request) -> None:
    """A test sends this to a daemon. What it makes while it sends it is a file, and no request of JSON."""
    body = request.content if isinstance(request.stream, httpx.ByteStream) else b""
    note_request(request.method, request.url.path, request.url.query.decode("ascii"), body)


@contextmanager
def watched() -> Iterator[None]:
    """Note the first handler that the block calls. Only what comes before it is slowed down."""
    before = sys.getprofile()
    sys.setprofile(_look)
    try:
        yield
    finally:
        sys.setprofile(before)


def _look(frame: FrameType, event: str, argument: object) -> None:
    operation_ids = _BY_HANDLER.get(frame.f_code) if event == "call" else None
    if operation_ids is not None:
        sys.setprofile(None)
        for operation_id in operation_ids:
            kind = outcomes.OPERATIONS[operation_id].request
            for value in frame.f_locals.values():
                if type(value) is kind:
                    note(operation_id, value)


def faults() -> list[str]:
    """What there is to say once all tests have run."""
    missing = [f"no test gives {operation_id} {name}" for operation_id, name in sorted(FIELDS - GIVEN - UNNAMED.keys())]
    needless = sorted(UNNAMED.keys() & GIVEN)
    return missing + [f"a test gives {operation_id} {name}: take it off UNNAMED" for operation_id, name in needless]
