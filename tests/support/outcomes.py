"""What operations were seen to answer: each error code, noted where a test comes to see it.

A refusal is seen at one of three places: a handler called on the store of a test raises it (the traceback says through
which handler it came), the API in process answers it, or a daemon does. One that the description does not name fails
the test that sees it. At the end of a whole run, every code in a row's `errors` must have been seen.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType

import httpx
import msgspec
import pytest

from gatewayd.contract.operation import Handler
from gatewayd.errors import Problem
from tests.contract.description import ROWS
from tests.support.rows import CATALOGUE

PROBLEM_JSON = "application/problem+json"
MOUNT = "/api/rpc"

Outcome = tuple[str, str]

SEEN: set[Outcome] = set()
"""Operation id and code, of this process or of all once they have ended."""

_OPERATIONS = CATALOGUE.operations
OUTCOMES = frozenset((operation.id, code) for operation in _OPERATIONS for code in operation.errors)
_DECLARED = {id_: frozenset(row.item["x-error-codes"]) for id_, row in ROWS.items()}


def code_of(handler: Handler) -> CodeType:
    """What runs when a handler is called, by whatever name."""
    while isinstance(handler, partial):
        handler = handler.func
    code: CodeType = handler.__code__
    return code


_HANDLERS = {code_of(operation.handler): operation.id for operation in _OPERATIONS}


def addresses() -> Iterator[tuple[str, str, str]]:
    """Method, path and operation id of each address below the mount, those without parameters first."""
    for row in sorted(ROWS.values(), key=lambda row: len(row.in_path)):
        yield row.method, row.path, row.id
        yield from (("GET" if row.method == "GET" else "POST", alias, row.id) for alias in row.item["x-aliases"])


_ADDRESSES = [
    (method, re.compile(f"({MOUNT})?" + re.sub(r":\w+", "[^/]+", path)), operation_id)
    for method, path, operation_id in addresses()
]


def note(operation_id: str, code: str, fields: Iterable[str] = ()) -> None:
    """An operation answered with a code and with those of single fields. Rows of the tests' own are passed over."""
    if operation_id in _DECLARED:
        assert code in _DECLARED[operation_id], f"{operation_id} answers {code}, which its row does not declare"
        SEEN.update((operation_id, each) for each in (code, *fields))


def note_raised(problem: Problem) -> None:
    """A test called a handler, or what a handler calls, and this came out."""
    traceback = problem.__traceback__
    while traceback is not None:
        operation_id = _HANDLERS.get(traceback.tb_frame.f_code)
        if operation_id is not None:
            note(operation_id, problem.code, [error.code for error in problem.errors])
            return
        traceback = traceback.tb_next


def note_answered(operation_id: str, body: bytes) -> None:
    """An operation answered with this problem document."""
    document = msgspec.json.decode(body)
    note(operation_id, document["code"], [error["code"] for error in document.get("errors", ())])


def note_response(response: httpx.Response) -> None:
    """A daemon answered."""
    if response.headers.get("content-type") == PROBLEM_JSON:
        method, path = response.request.method, response.request.url.path
        found = (id_ for asked, address, id_ in _ADDRESSES if asked == method and address.fullmatch(path))
        operation_id = next(found, None)
        if operation_id is not None:
            note_answered(operation_id, response.read())


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests run, so that what was not seen is not there."""
    chosen = config.option
    narrowed = chosen.keyword or chosen.markexpr or chosen.deselect or chosen.ignore or chosen.ignore_glob
    return config.args == config.getini("testpaths") and not narrowed and not chosen.collectonly


def unseen(config: pytest.Config, exitstatus: int) -> list[str]:
    """What the rows declare and no test came to see; nothing where that cannot be told."""
    if exitstatus != pytest.ExitCode.OK or not is_whole(config):
        return []
    return [f"{operation_id} {code}" for operation_id, code in sorted(OUTCOMES - SEEN)]
