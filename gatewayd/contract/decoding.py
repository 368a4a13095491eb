"""From bytes and query strings to request structs: fast where all is well, thorough where something is wrong."""

import datetime
import functools
import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gatewayd.contract import former_names, names
from gatewayd.contract.operation import Operation
from gatewayd.contract.query_strings import encoded_pairs, plain_pairs
from gatewayd.errors import FieldError, Problem, invalid

_INT64 = range(-(1 << 63), 1 << 63)  # what the database holds
_NOTHING: Mapping[str, str] = {}
_SPACED_COLON = re.compile(rb"[ \n\r\t]:")
_fields = functools.cache(msgspec.structs.fields)  # of the program's own requests


class RequestDecoder:
    """Decodes the requests of one operation.

    Raises `Problem`: `invalid_json`, `invalid_request`, `unknown_parameter` (all unknown names at once), or
    `validation_failed` with every field that is wrong.
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
                raise invalid(FieldError(name, "conflict", f"The path names {value!r}."))
            odd = odd or not value.isprintable()
        return self._convert_as(used, values, strict=True, odd=odd)

    def query(self, raw: str, path: Mapping[str, str] = _NOTHING) -> msgspec.Struct:
        """The request in a query string; path parameters join it.

        A list is given by repeating its name or by commas. Any other name given twice is refused.
        """
        values: dict[str, Any] = dict(path)
        used = _NOTHING
        odd = bool(path) and any(not value.isprintable() or _is_null(value) for value in path.values())
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
        except msgspec.ValidationError as error:
            failure = str(error)
        else:
            mistakes = tuple(_mistakes(values, self._type, "", strict)) if odd else ()
            if not mistakes:
                return request
            raise invalid(*mistakes)
        unknown = tuple(_unknown(values, self._type, ""))
        if unknown:
            listed = ", ".join(repr(error.path) for error in unknown)
            raise Problem("unknown_parameter", f"Not known here: {listed}.", errors=unknown)
        mistakes = tuple(_mistakes(values, self._type, "", strict))
        raise invalid(*(mistakes or (FieldError("", "invalid_format", failure),)))  # a rule of the whole struct


@functools.cache  # of the program's own requests
def _special(request: type[msgspec.Struct]) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a request's lists, and of the fields for which msgspec takes more than we do."""
    lists = frozenset(f.encode_name for f in _fields(request) if _is_list(f.type))
    return lists, frozenset(f.encode_name for f in _fields(request) if _takes_more_than_we_do(f.type))


def _read_pairs(pairs: list[tuple[str, str]], lists: frozenset[str], values: dict[str, Any]) -> None:
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).extend(value.split(","))
        elif name in values:
            raise Problem("invalid_request", f"The parameter {name!r} is given more than once.")
        else:
            values[name] = value


def _json_object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        return {}
    try:
        values = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Problem("invalid_json", f"The body is not valid JSON: {error}.") from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(values, dict):
        raise Problem("invalid_request", "The body must be a JSON object.")
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
        raise Problem("invalid_json", f"The name {twice!r} is given twice in one object.")


def _is_null(value: object) -> bool:
    return isinstance(value, str) and value.lower() == "null"


def _has_nul(root: object) -> bool:
    """True where any text inside holds U+0000, which no field of ours takes."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if "\x00" in value:
                return True
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
    return False


# What follows runs once for a kind of request, and where one is refused or odd.


def _members(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a type, without annotations, absence and null."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _members(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        return tuple(m for arg in typing.get_args(hint) for m in _members(arg))
    return () if hint in (type(None), msgspec.UnsetType) else (hint,)


def _is_list(hint: Any) -> bool:
    return any(typing.get_origin(member) is list for member in _members(hint))


def _struct_in(hint: Any) -> type[msgspec.Struct] | None:
    for member in _members(hint):
        if isinstance(member, type) and issubclass(member, msgspec.Struct):
            return member
    return None


def _item_hint(hint: Any) -> Any:
    for member in _members(hint):
        if typing.get_origin(member) is list:
            return typing.get_args(member)[0]
    return None


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _unknown(values: dict[str, Any], struct: type[msgspec.Struct], prefix: str) -> Iterator[FieldError]:
    fields = {f.encode_name: f.type for f in _fields(struct)}
    for name, value in values.items():
        path = _join(prefix, name)
        if name not in fields:
            yield FieldError(path, "unknown_parameter", "There is no such field or parameter.")
            continue
        inner = _struct_in(fields[name])
        if inner is not None and isinstance(value, dict):
            yield from _unknown(value, inner, path)
        item_struct = _struct_in(_item_hint(fields[name]))
        if item_struct is not None and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _unknown(item, item_struct, f"{path}[{index}]")


def _mistakes(values: dict[str, Any], struct: type[msgspec.Struct], prefix: str, strict: bool) -> Iterator[FieldError]:
    for f in _fields(struct):
        path = _join(prefix, f.encode_name)
        if f.encode_name in values:
            yield from _mistakes_of(values[f.encode_name], f.type, path, strict)
        elif f.required:
            yield FieldError(path, "required", "This field is needed.")


def _mistakes_of(value: Any, hint: Any, path: str, strict: bool) -> Iterator[FieldError]:
    inner, item = _struct_in(hint), _item_hint(hint)
    if inner is not None and isinstance(value, dict):
        yield from _mistakes(value, inner, path, strict)
        return
    if item is not None and isinstance(value, list):
        deeper = [error for i, v in enumerate(value) for error in _mistakes_of(v, item, f"{path}[{i}]", strict)]
        if deeper:
            yield from deeper
            return
    if _has_nul(value):
        yield FieldError(path, "invalid_format", "The character U+0000 is not allowed.")
    elif not strict and _is_null(value) and str not in _members(hint):
        yield FieldError(path, "invalid_format", "Leave the parameter out instead of sending null.")
    else:
        yield from _mistake_of_leaf(value, hint, path, strict)


def _mistake_of_leaf(value: Any, hint: Any, path: str, strict: bool) -> Iterator[FieldError]:
    try:
        converted = msgspec.convert(value, hint, strict=strict)
    except msgspec.ValidationError as error:
        yield _explain(str(error), value, hint, path)
        return
    if isinstance(converted, int) and converted not in _INT64:
        yield FieldError(path, "out_of_range", "Expected a whole number of at most 64 bits.")
    elif isinstance(value, str) and value.endswith("\n") and any(meta.pattern for meta in _metas(hint)):
        yield _formless(hint, path)  # to msgspec, `$` also stands before a newline at the end
    elif isinstance(value, str) and names.is_name(path) and (hidden := names.hidden_in(value)) is not None:
        yield FieldError(path, "invalid_format", hidden)
    elif isinstance(converted, datetime.datetime) and ":" not in value:
        yield FieldError(path, "invalid_format", f"Expected {_NAMES['datetime']}.")  # seconds since 1970 to msgspec


_NAMES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "date": "a date written YYYY-MM-DD",
    "datetime": "a timestamp such as 2026-11-20T09:30:00Z",
}


def _explain(message: str, value: Any, hint: Any, path: str) -> FieldError:
    """A field error from msgspec's sentence, in words for people."""
    extra = _extra(hint)
    members = _members(hint)
    if "enum value" in message or any(typing.get_origin(m) is typing.Literal for m in members):
        allowed = [str(v) for m in members if typing.get_origin(m) is typing.Literal for v in typing.get_args(m)]
        return FieldError(path, "invalid_enum", f"Use one of: {', '.join(allowed)}.")
    if extra.get("code") == "invalid_decimal":
        form = "digits such as 1234.50" if isinstance(value, str) else 'a JSON string of digits such as "1234.50"'
        return FieldError(path, "invalid_decimal", f"A decimal is {form}.")
    if any(m in (datetime.date, datetime.datetime) for m in members):
        name = _NAMES["date" if datetime.date in members else "datetime"]
        return FieldError(path, "invalid_format", f"Expected {name}.")
    if "length" in message or "<=" in message or ">=" in message or "out of range" in message:
        bound = message.partition(" - at ")[0].replace("`", "").removeprefix("Expected ")
        return FieldError(path, "out_of_range", f"Expected {bound}.")
    if "matching regex" in message:
        return _formless(hint, path)
    names = (_NAMES.get(getattr(member, "__name__", ""), "an object") for member in members)
    expected = "a list" if _is_list(hint) else " or ".join(names)
    given = _NAMES.get({"NoneType": "null", "dict": "object", "list": "array"}.get(n := type(value).__name__, n), n)
    return FieldError(path, "invalid_format", f"Expected {expected}, got {given}.")


def _formless(hint: Any, path: str) -> FieldError:
    code = _extra(hint).get("code", "invalid_format")
    return FieldError(path, code, "The value does not have the expected form.")


def _metas(hint: Any) -> Iterator[msgspec.Meta]:
    """The annotations anywhere in the alternatives of a type."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        yield from (meta for meta in typing.get_args(hint)[1:] if isinstance(meta, msgspec.Meta))
        yield from _metas(typing.get_args(hint)[0])
    elif origin in (typing.Union, types.UnionType):
        for arg in typing.get_args(hint):
            yield from _metas(arg)


def _extra(hint: Any) -> dict[str, Any]:
    """The `extra` of the first annotation that has one."""
    return next((dict(meta.extra) for meta in _metas(hint) if meta.extra), {})


def _takes_more_than_we_do(hint: Any) -> bool:
    """True where msgspec would read a number in a query as a timestamp, or one too large for the database."""
    members = _members(hint)
    unbounded = int in members and all(meta.le is None and meta.lt is None for meta in _metas(hint))
    return unbounded or datetime.datetime in members
