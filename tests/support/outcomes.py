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

from gatewayd.contract.operation import Handler, Operation
from gatewayd.errors import Problem
from tests.contract.description import ROWS
from tests.support.rows import CATALOGUE

PROBLEM_JSON = "application/problem+json"
MOUNT = "/api/rpc"

Outcome = tuple[str, str]

SEEN: set[Outcome] = set()
"""Operation id and code, of this process or of all once they have ended."""

OPERATIONS = {operation.id: operation for operation in CATALOGUE.operations}
OUTCOMES = frozenset((operation.id, code) for operation in OPERATIONS.values() for code in operation.errors)
_DECLARED = {id_: frozenset(row.item["x-error-codes"]) for id_, row in ROWS.items()}


def code_of(handler: Handler) -> CodeType:
    """What runs when a handler is called, by whatever name."""
    while isinstance(handler, partial):
        handler = handler.func
    code: CodeType = handler.__code__
    return code


_HANDLERS = {code_of(operation.handler): operation.id for operation in OPERATIONS.values()}


def addresses() -> Iterator[tuple[str, str, str]]:
    """Method, path and operation id of each address below the mount, those without parameters first."""
    for row in sorted(ROWS.values(), key=lambda row: len(row.in_path)):
        yield row.method, row.path, row.id
        methods = ("GET",) if row.method == "GET" else dict.fromkeys(("POST", row.method))
        yield from ((method, alias, row.id) for alias in row.item["x-aliases"] for method in methods)


_ADDRESSES = [
    (method, re.compile(f"(?:{MOUNT})?" + re.sub(r":(\w+)", r"(?P<\1>[^/]+)", path)), OPERATIONS[operation_id])
    for method, path, operation_id in addresses()
    if operation_id in OPERATIONS  # the description may be older
]


def addressed(method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
    """The operation that a request asks for, and its path parameters."""
    for of_method, address, operation in _ADDRESSES:
        if of_method == method and (match := address.fullmatch(path)):
            return operation, match.groupdict()
    return None


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
        row = addressed(method, path)
        if row is not None:
            note_answered(row[0].id, response.read())


def unseen() -> list[str]:
    """What the rows declare and no test came to see, once all have run."""
    return [f"no test came to see {operation_id} {code}" for operation_id, code in sorted(OUTCOMES - SEEN)]
