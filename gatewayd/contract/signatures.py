"""What a handler takes and returns, held against its row: types are checked where rows are put together, at start."""

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, cast, get_args, get_origin

from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncPage, SyncRequest
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.contract.wire import Rendered
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response


def function_of(operation: Operation) -> Callable[..., Any]:
    """The function behind a handler, without the arguments that the daemon's settings have bound."""
    handler = operation.handler
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler


def faults(operation: Operation) -> Iterator[str]:
    """What the handler takes or returns otherwise than its row says.

    It takes the transaction or the engines, the caller, the request, and where the row says so the request as it came
    or the file in it.
    It returns the response, the `Rendered` JSON of it, a `Listing` of what a page holds, or for a row that relays an
    HTTP `Response`.
    """
    handler = function_of(operation)
    annotations = inspect.get_annotations(handler, eval_str=True)
    taken = [name for name, one in inspect.signature(handler).parameters.items() if one.kind is not one.KEYWORD_ONLY]
    if len(taken) != 3 + operation.takes_incoming + operation.takes_file:
        yield f"its handler takes {len(taken)} arguments"
        return
    request = annotations.get(taken[2])
    if request is not operation.request:
        yield f"its handler takes {_name(request)}, and the row says {_name(operation.request)}"
    if operation.takes_incoming and annotations.get(taken[3]) is not Request:
        yield f"its handler takes {_name(annotations.get(taken[3]))} where the incoming request comes"
    if operation.takes_file and annotations.get(taken[3]) is not ReceivedFile:
        yield f"its handler takes {_name(annotations.get(taken[3]))} where the file comes"
    returned = annotations.get("return")
    if returned not in _answers(operation):
        yield f"its handler returns {_name(returned)}, and the row says {_name(operation.response)}"
    if issubclass(operation.request, SyncRequest) and not _tells_removals(operation.response):
        yield f"its request may ask for changes, and {_name(operation.response)} tells of nothing that was deleted"


def _tells_removals(response: Any) -> bool:
    kind = get_origin(response) or response
    return isinstance(kind, type) and issubclass(kind, SyncPage)


def _answers(operation: Operation) -> tuple[Any, ...]:
    response = operation.response
    if operation.relays:
        return (Response,)
    pages = (response, *getattr(response, "__orig_bases__", ()))  # a page with further members is a subclass
    items = [item for page in pages if get_origin(page) in (Page, SyncPage) for item in get_args(page)]
    return (response, cast(Any, Rendered)[response], *(cast(Any, Listing)[item] for item in items))


def _name(kind: Any) -> str:
    return str(kind) if get_args(kind) else getattr(kind, "__name__", str(kind))
