"""From bytes and query strings to request structs: fast where all is well, thorough where something is wrong."""

import datetime
import functools
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gatewayd.contract import faults, former_names, hints, names
from gatewayd.contract.operation import Operation
from gatewayd.contract.query_strings import encoded_pairs, plain_pairs
from gatewayd.contract.wording import quoted
from gatewayd.errors import FieldError, Problem, invalid

_INT64 = range(-(1 << 63), 1 << 63)  # what the database holds
_NOTHING: Mapping[str, str] = {}
_SPACED_COLON = re.compile(rb"[ \n\r\t]:")


class RequestDecoder:
    """Decodes the requests of one operation.

    Raises `Problem`: `invalid_json`, `invalid_request`, `unknown_parameter` (with all unknown names, then all fields
    that are wrong beside them), or `validation_failed` with every field that is wrong. What only a handler can tell is
    told once all of this is right.
    """

    def __init__(self, operation: Operation) -> None:
        self._type = operation.request
        self._former = former_names.taken(operation)
        lists, self._watched = _special(self._type)
        self._lists = lists | {name for name, now in self._former.items() if now in lists}

    def body(self, raw: bytes, path: Mapping[str, str] = _NOTHING) -> msgspec.Struct:
        """The request in a JSON body; path parameters join it. An empty body is an empty object."""
        values = _json_object(raw)
        count, odd = _survey(values)
        if raw.count(b'":') != count or _SPACED_COLON.search(raw):
            _refuse_twins(raw)  # fewer names were kept than written, or a string holds what looks like one
        odd = odd or (b"\\" in raw and (b"\\u000" in raw or b'\\n"' in raw)) or names.may_be_hidden_in(raw)
        used = former_names.rename(values, self._former) if self._former else _NOTHING
        for name, value in path.items():
            if values.setdefault(name, value) != value:
                message = f"The path has {quoted(value)} and the body something else: leave it out of the body."
                raise invalid(FieldError(name, "conflict", message))
            odd = odd or not value.isprintable()
        return self._convert_as(used, values, strict=True, odd=odd)

    def query(self, raw: str, path: Mapping[str, str] = _NOTHING) -> msgspec.Struct:
        """The request in a query string; path parameters join it.

        A list is given by repeating its name or by commas. Any other name given twice is refused.
        """
        values: dict[str, Any] = dict(path)
        used = _NOTHING
        odd = bool(path) and any(not value.isprintable() or faults.is_null(value) for value in path.values())
        if raw:
            plain = "%" not in raw and "+" not in raw and raw.isascii() and raw.isprintable()
            pairs = plain_pairs(raw) if plain else encoded_pairs(raw)
            _read_pairs(pairs, self._lists, values)
            if self._former:
                used = former_names.rename(values, self._former)
            odd = odd or "null" in raw.lower() or not (plain or all(value.isprintable() for _, value in pairs))
            odd = odd or any(":" not in values[name] for name in self._watched.intersection(values))
        return self._convert_as(used, values, strict=False, odd=odd)

    def _convert_as(
        self, used: Mapping[str, str], values: dict[str, Any], *, strict: bool, odd: bool
    ) -> msgspec.Struct:
        """`used` are the former names that were given, by those of now: what is said of a field names it as it was."""
        try:
            return self._convert(values, strict=strict, odd=odd)
        except Problem as problem:
            raise (former_names.as_given(problem, used) if used else problem) from None

    def _convert(self, values: dict[str, Any], *, strict: bool, odd: bool) -> msgspec.Struct:
        """`odd`: there may be values that msgspec takes and we do not, so each is looked at."""
        try:
            request: msgspec.Struct = msgspec.convert(values, self._type, strict=strict)
        except msgspec.ValidationError:
            refusal = faults.refusal(values, self._type, strict=strict)
            raise refusal or Problem("invalid_request", "The request does not have the form described.") from None
        if odd and (refusal := faults.mistaken(values, self._type, strict=strict)) is not None:
            raise refusal
        return request


@functools.cache  # of the program's own requests
def _special(request: type[msgspec.Struct]) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a request's lists, and of the fields for which msgspec takes more than we do."""
    fields = msgspec.structs.fields(request)  # not kept: of all requests that is half a megabyte
    lists = frozenset(f.encode_name for f in fields if hints.is_list(f.type))
    return lists, frozenset(f.encode_name for f in fields if _takes_more_than_we_do(f.type))


def _read_pairs(pairs: list[tuple[str, str]], lists: frozenset[str], values: dict[str, Any]) -> None:
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).extend(value.split(","))
        elif name in values:
            raise Problem("invalid_request", f"The parameter `{name}` is given more than once: send it once.")
        else:
            values[name] = value


def _json_object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        return {}
    try:
        values = msgspec.json.decode(raw)
    except UnicodeError:
        raise Problem("invalid_json", "The body is not valid JSON: its text is not UTF-8.") from None
    except msgspec.DecodeError as error:
        reason = str(error).removeprefix("JSON is malformed: ").replace("Input data was truncated", "it ends too early")
        raise Problem("invalid_json", f"The body is not valid JSON: {reason}.") from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(values, dict):
        raise Problem("invalid_request", 'The body must be a JSON object, such as {"name": "value"}.')
    return values


def _too_deep() -> Problem:
    return Problem("invalid_json", "The body is nested too deeply.")


def _survey(root: dict[str, Any]) -> tuple[int, bool]:
    """How many names the objects of a body hold together, and whether a number is too large for the database."""
    count, too_large = 0, False
    waiting: list[Any] = [root]  # not recursion: a body may be nested deeper than our stack
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            count += len(value)
            value = value.values()
        for item in value:
            kind = type(item)
            if kind is dict or kind is list:
                waiting.append(item)
            elif kind is int and item not in _INT64:
                too_large = True
    return count, too_large


def _refuse_twins(raw: bytes) -> None:
    """Refuse a body where an object gives a name twice.

    Chosen, with RFC 7493 §2.3: whoever looks at a request before us may take the value that we do not.
    """
    try:
        json.loads(raw, object_pairs_hook=_without_twins)
    except RecursionError:
        raise _too_deep() from None


def _without_twins(pairs: list[tuple[str, Any]]) -> None:
    names = {name for name, _ in pairs}
    if len(names) != len(pairs):
        twice = next(name for index, (name, _) in enumerate(pairs) if any(name == other for other, _ in pairs[:index]))
        raise Problem("invalid_json", f"The name {quoted(twice)} is given twice in one object: send it once.")


# What follows runs once for a kind of request.


def _takes_more_than_we_do(hint: Any) -> bool:
    """True where msgspec would read a number in a query as a timestamp, or one too large for the database."""
    members = hints.members(hint)
    unbounded = int in members and all(meta.le is None and meta.lt is None for meta in hints.metas(hint))
    return unbounded or datetime.datetime in members
