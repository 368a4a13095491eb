"""Members of requests that had another name before: taken as ever, and deprecated.

A request says so once, in `former_names` by the names of the wire, and handlers know the name of now alone:

    class ListTenancies(SyncRequest, frozen=True, kw_only=True):
        former_names: ClassVar = {"activeOn": "asOfDate"}

At an RPC-style path the target is `id` whatever the resource-style path calls it: `/accounting/getInvoice?id=` is
`/invoices/:invoiceId`.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gatewayd.contract.operation import Operation
from gatewayd.errors import FieldError, Problem, invalid

TARGET: Final = "id"
"""What the resource that a request is about is called, where no path names it."""


def deprecated(request: type[msgspec.Struct]) -> dict[str, str]:
    """The former names of a request and of what it extends, each with the name of now."""
    names: dict[str, str] = {}
    for base in reversed(request.__mro__):
        names |= vars(base).get("former_names", {})
    return names


def taken(operation: Operation) -> dict[str, str]:
    """Every other name that an operation takes for a member of its request, each with the one that it has."""
    fields = {field.encode_name for field in msgspec.structs.fields(operation.request)}
    in_path = [name for name in operation.parameters if name.endswith("Id")]
    target = {TARGET: in_path[0]} if in_path and TARGET not in fields else {}
    return target | deprecated(operation.request)


def rename(values: dict[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """Put what was given under other names under the ones of now; answers the other names by them.

    Raises `Problem` `validation_failed` where both are given, and differ.
    """
    used: dict[str, str] = {}
    for name, now in names.items():
        if name in values:
            value = values.pop(name)
            if values.setdefault(now, value) != value:
                raise invalid(FieldError(name, "conflict", f"It is another name of `{now}`, which differs: give one."))
            used[now] = name
    return used


def as_given(problem: Problem, used: Mapping[str, str]) -> Problem:
    """The problem of a request, with the names that were given in the place of those of now."""
    errors = [FieldError(_as_given(error.path, used), error.code, error.message) for error in problem.errors]
    if problem.code == "validation_failed":
        return invalid(*errors)
    return Problem(problem.code, problem.message, errors=tuple(errors), extra=problem.extra, headers=problem.headers)


def _as_given(path: str, used: Mapping[str, str]) -> str:
    for now, name in used.items():
        if path == now or path.startswith((now + ".", now + "[")):
            return name + path[len(now) :]
    return path
