"""All that is wrong with the values of a request: each field is looked at apart. Runs where one is refused or odd."""

import datetime
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from gatewayd.contract import hints, names, wording
from gatewayd.errors import FieldError, Problem, invalid

R = TypeVar("R", bound=msgspec.Struct)
T = TypeVar("T")

MOST: Final = 100
"""Chosen: of more faults than these nobody reads, and a long list of wrong items would be answered by a longer one."""
_INT64: Final = range(-(1 << 63), 1 << 63)  # what the database holds


class _Unknown(NamedTuple):
    """A name that there is not, and the path of the one that was probably meant."""

    error: FieldError
    meant: str | None


def refusal(values: dict[str, Any], struct: type[msgspec.Struct], *, strict: bool) -> Problem | None:
    """What to answer: 400 where a name is not known, else 422, in either case with every fault; None: there is none.

    `strict`: the values are of a JSON body, not all text of a query string.
    """
    unknown = list(islice(_unknown(values, struct, "", strict), MOST))
    meant = {each.meant for each in unknown}
    mistakes = (e for e in _mistakes(values, struct, "", strict) if e.code != "required" or e.path not in meant)
    errors = tuple(islice((*(each.error for each in unknown), *islice(mistakes, MOST)), MOST))
    if not unknown:
        return invalid(*errors) if errors else None
    more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
    return Problem("unknown_parameter", f"{errors[0].message}{more}", errors=errors)


def mistaken(values: dict[str, Any], struct: type[msgspec.Struct], *, strict: bool) -> Problem | None:
    """422 where there are values that msgspec takes and we do not; None: there are none."""
    mistakes = tuple(islice(_mistakes(values, struct, "", strict), MOST))
    return invalid(*mistakes) if mistakes else None


def made_of(errors: list[FieldError], make: Callable[[R], T], request: R) -> T:
    """What `make` makes of a request. Amounts that their currency does not have are told in `errors`, all of them.

    What is made goes without them, or has 1 where there has to be one: what else is wrong can be told beside them.
    """
    while True:
        try:
            return make(request)
        except Problem as problem:
            changes = _without(type(request), {error.path for error in problem.errors})
            if problem.code != "validation_failed" or not changes:
                raise
            errors += problem.errors
            request = msgspec.structs.replace(request, **changes)


def _without(request: type[msgspec.Struct], paths: Collection[str]) -> dict[str, Any]:
    named = [f for f in hints.fields_of(request) if f.encode_name in paths]
    return {f.name: "1" if f.required else f.default for f in named}


def is_null(value: object) -> bool:
    """Whether a parameter is the word null."""
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


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _noun(strict: bool) -> str:
    return "field" if strict else "parameter"


def _unknown(values: dict[str, Any], struct: type[msgspec.Struct], prefix: str, strict: bool) -> Iterator[_Unknown]:
    fields = {f.encode_name: f.type for f in hints.fields_of(struct)}
    absent = [name for name in fields if name not in values]
    needed = [f.encode_name for f in hints.fields_of(struct) if f.required and f.encode_name not in values]
    for name, value in values.items():
        path = _join(prefix, name)
        if name not in fields:
            meant = wording.closest(name, needed, 0.6) or wording.closest(name, absent)
            error = FieldError(path, "unknown_parameter", wording.unknown(path, name, _noun(strict), meant, fields))
            yield _Unknown(error, None if meant is None else _join(prefix, meant))
            continue
        inner = hints.struct_in(fields[name])
        if inner is not None and isinstance(value, dict):
            yield from _unknown(value, inner, path, strict)
        item_struct = hints.struct_in(hints.item_hint(fields[name]))
        if item_struct is not None and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _unknown(item, item_struct, f"{path}[{index}]", strict)


def _mistakes(values: dict[str, Any], struct: type[msgspec.Struct], prefix: str, strict: bool) -> Iterator[FieldError]:
    for f in hints.fields_of(struct):
        path = _join(prefix, f.encode_name)
        if f.encode_name in values:
            yield from _mistakes_of(values[f.encode_name], f.type, path, strict)
        elif f.required:
            yield FieldError(path, "required", wording.missing(f.type, _noun(strict)))


def _mistakes_of(value: Any, hint: Any, path: str, strict: bool) -> Iterator[FieldError]:
    inner, item = hints.struct_in(hint), hints.item_hint(hint)
    if inner is not None and isinstance(value, dict):
        yield from _mistakes(value, inner, path, strict)
    elif item is not None and isinstance(value, list):
        least, most = hints.bound(hint, "min_length") or 0, hints.bound(hint, "max_length")
        if not least <= len(value) <= (len(value) if most is None else most):
            yield FieldError(path, "out_of_range", wording.out_of_range(value, hint, path))
        for index, each in enumerate(value):
            yield from _mistakes_of(each, item, f"{path}[{index}]", strict)
    elif isinstance(value, dict) and (of_values := hints.value_hint(hint)) is not None:
        for name, each in value.items():
            yield from _mistakes_of(each, of_values, _join(path, name), strict)
    elif _has_nul(value):
        yield FieldError(path, "invalid_format", "The character U+0000 is not allowed.")
    elif not strict and is_null(value) and str not in hints.members(hint):
        yield FieldError(path, "invalid_format", "Leave the parameter out instead of sending null.")
    else:
        yield from _mistake_of_leaf(value, hint, path, strict)


def _mistake_of_leaf(value: Any, hint: Any, path: str, strict: bool) -> Iterator[FieldError]:
    try:
        converted = msgspec.convert(value, hint, strict=strict)
    except msgspec.ValidationError as error:
        yield _explained(str(error), value, hint, path)
        return
    if isinstance(converted, int) and converted not in _INT64:
        yield FieldError(path, "out_of_range", wording.out_of_range(converted, hint, path))
    elif isinstance(value, str) and value.endswith("\n") and hints.bound(hint, "pattern"):
        code = hints.said(hint, "code") or "invalid_format"
        yield FieldError(path, code, wording.wrong(value, hint, path))  # to msgspec, `$` also stands before its newline
    elif isinstance(value, str) and names.is_name(path) and (hidden := names.hidden_in(value)) is not None:
        yield FieldError(path, "invalid_format", hidden)
    elif isinstance(converted, datetime.datetime) and ":" not in value:  # seconds since 1970 to msgspec
        yield FieldError(path, "invalid_format", wording.wrong(value, hint, path))


def _explained(message: str, value: Any, hint: Any, path: str) -> FieldError:
    """A field error for what msgspec refused with `message`."""
    if hints.literals(hint):
        return FieldError(path, "invalid_enum", wording.wrong(value, hint, path))
    if hints.said(hint, "code") == "invalid_decimal":
        return FieldError(path, "invalid_decimal", wording.wrong(value, hint, path))
    if {datetime.date, datetime.datetime}.intersection(hints.members(hint)):
        return FieldError(path, "invalid_format", wording.wrong(value, hint, path))
    if "length" in message or "<=" in message or ">=" in message or "out of range" in message:
        return FieldError(path, "out_of_range", wording.out_of_range(value, hint, path))
    if "matching regex" in message:
        code = hints.said(hint, "code") or "invalid_format"
        return FieldError(path, code, wording.wrong(value, hint, path))
    return FieldError(path, "invalid_format", wording.wrong(value, hint, path))
