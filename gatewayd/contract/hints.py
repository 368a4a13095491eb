"""What a field's type says, read from its annotation: alternatives, lists, structs and bounds."""

import functools
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

fields_of = functools.cache(msgspec.structs.fields)  # of the program's own requests


def members(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a type, without annotations, absence and null."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return members(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        return tuple(m for arg in typing.get_args(hint) for m in members(arg))
    return () if hint in (type(None), msgspec.UnsetType) else (hint,)


def is_list(hint: Any) -> bool:
    """Whether a list is among the alternatives."""
    return any(typing.get_origin(member) is list for member in members(hint))


def struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The struct among the alternatives; None: there is none."""
    for member in members(hint):
        if isinstance(member, type) and issubclass(member, msgspec.Struct):
            return member
    return None


def item_hint(hint: Any) -> Any:
    """The type of the items of the list among the alternatives; None: there is no list."""
    for member in members(hint):
        if typing.get_origin(member) is list:
            return typing.get_args(member)[0]
    return None


def value_hint(hint: Any) -> Any:
    """The type of the values of the mapping among the alternatives; None: there is no mapping."""
    return next((typing.get_args(m)[1] for m in members(hint) if typing.get_origin(m) is dict), None)


def literals(hint: Any) -> tuple[Any, ...]:
    """The values of all enumerations among the alternatives."""
    return tuple(v for m in members(hint) if typing.get_origin(m) is typing.Literal for v in typing.get_args(m))


def metas(hint: Any) -> Iterator[msgspec.Meta]:
    """The annotations anywhere in the alternatives of a type, the outermost first."""
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        yield from (meta for meta in typing.get_args(hint)[1:] if isinstance(meta, msgspec.Meta))
        yield from metas(typing.get_args(hint)[0])
    elif origin in (typing.Union, types.UnionType):
        for arg in typing.get_args(hint):
            yield from metas(arg)


def said(hint: Any, key: str) -> Any:
    """What the first annotation that has `key` in its `extra` says; None: none has."""
    return next((meta.extra[key] for meta in metas(hint) if meta.extra and key in meta.extra), None)


def json_schema(hint: Any) -> dict[str, Any]:
    """What the description says beyond the type, of the first annotation that says anything; empty: none does."""
    return next((meta.extra_json_schema for meta in metas(hint) if meta.extra_json_schema), {})


def bound(hint: Any, name: str) -> Any:
    """The first `ge`, `le`, `min_length`, `max_length` or `pattern` that is set; None: none is."""
    return next((value for meta in metas(hint) if (value := getattr(meta, name)) is not None), None)


def example(hint: Any) -> Any:
    """The first example of the annotations; None: there is none."""
    return next((meta.examples[0] for meta in metas(hint) if meta.examples), None)
