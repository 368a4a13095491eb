"""Requests that change a resource, derived from those that create it."""

from collections.abc import Callable, Collection
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType
from msgspec.structs import FieldInfo

S = TypeVar("S", bound=msgspec.Struct)

_Field = tuple[str, Any] | tuple[str, Any, Any]
"""Name, type and default, as `defstruct` takes them."""
_MADE_ANEW = frozenset({"__annotations__", "__slots__"})
"""What of a class belongs to its own fields alone."""


def updates(
    create: type[msgspec.Struct], *, of: type[msgspec.Struct], without: Collection[str] = ()
) -> Callable[[type[S]], type[S]]:
    """A decorator of a request: it has the fields of `create` too, each of which may be left out.

    A field is `T | UnsetType = UNSET`, and null as well where the field of that name in `of`, the answer, can be null.
    `without` are those of `create` that nothing changes. What the class spells out stays as it is: what `create` does
    not have, what is meant otherwise, and what somebody reads by name, for mypy sees nothing else. First comes what has
    no default and `expected_version`, then the fields of `create` in its order, then the others. `__updates__` of the
    class is `create`.

    Raises `TypeError` for a name in `without` that `create` does not have, or that the class spells out.
    """
    created = {field.name: field.type for field in msgspec.structs.fields(create)}
    nullable = {field.name for field in msgspec.structs.fields(of) if _takes_null(field.type)}
    if unknown := set(without) - created.keys():
        raise TypeError(f"{create.__name__} has no {', '.join(sorted(unknown))}.")
    changed = {name: _changed(name, hint, name in nullable) for name, hint in created.items() if name not in without}

    def derived(update: type[S]) -> type[S]:
        own = _own_fields(update)
        if contradicted := own.keys() & set(without):
            raise TypeError(f"{update.__name__} spells out {', '.join(sorted(contradicted))}.")
        which = {name: field for name, field in own.items() if len(field) == 2 or name == "expected_version"}
        fields = {**which, **changed, **own}  # a name keeps the place where it stood first
        kept = {name: value for name, value in vars(update).items() if name not in _MADE_ANEW | own.keys()}
        made = msgspec.defstruct(
            update.__name__,
            fields.values(),
            bases=update.__bases__,
            module=update.__module__,
            namespace={**kept, "__qualname__": update.__qualname__, "__updates__": create},
            frozen=update.__struct_config__.frozen,
            kw_only=True,
        )
        return cast(type[S], made)

    return derived


def _own_fields(struct: type[msgspec.Struct]) -> dict[str, _Field]:
    """The fields that a class spells out, without those of its bases."""
    spelled_out = vars(struct).get("__annotations__", {})
    return {field.name: _given(field) for field in msgspec.structs.fields(struct) if field.name in spelled_out}


def _given(field: FieldInfo) -> _Field:
    if field.default_factory is not NODEFAULT:
        return field.name, field.type, msgspec.field(default_factory=field.default_factory)
    return (field.name, field.type) if field.required else (field.name, field.type, field.default)


def _changed(name: str, hint: Any, takes_null: bool) -> _Field:
    """The field of a request to change what a request to create has as `hint`."""
    kinds = [kind for kind in _kinds(hint) if kind is not NoneType]
    return name, Union[(*kinds, UnsetType, *([None] if takes_null else []))], UNSET


def _takes_null(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _takes_null(get_args(hint)[0])
    return hint is NoneType or any(_takes_null(kind) for kind in _kinds(hint) if kind is not hint)


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The types of a union; of any other type that one."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
