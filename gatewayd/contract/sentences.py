"""What fields mean: the docstring under each in the body of its class, for the description of the API.

Python keeps no docstring of an attribute, so the sources are read, each module once, when a description is made. A
sentence is written once: a struct takes over those of its bases, an update those of what it updates (`__updates__`), a
request those of its answer's fields of the same name; and what every resource and list has is said here.
"""

import ast
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo

from gatewayd.contract import wire

STANDARD: Final[Mapping[str, str]] = {
    "id": "The identifier, given by the service; it never changes.",
    "external_id": "Your own identifier, unique per kind of resource. Null: none.",
    "created_at": "When it was created.",
    "updated_at": "When it last changed. `updatedSince` of its list compares with this.",
    "version": "1 when it is created, and one more with every change. See `expectedVersion`.",
    "expected_version": "The version you last read; another one stored answers `version_conflict`. Without it the "
    "change is made whatever is stored.",
    "limit": "How many to answer at most.",
    "cursor": "`nextCursor` of the page before.",
    "updated_since": "Only what changed at this instant or later, in the order of `updatedAt`, oldest first.",
    "next_cursor": "The `cursor` of the page that follows. Null: this is the last.",
    "data": "What is on this page.",
}
"""Of fields that every resource or list has, where nothing else is said of them."""

_FORM_TYPES: Final = (
    *(wire.Amount, wire.AmountText, wire.CreditAmount, wire.CreditsText, wire.DecimalText, wire.CountryCode),
    *(wire.Currency, wire.Date, wire.DateText, wire.Id, wire.Since, wire.Timestamp),
)


def _metas(annotation: Any) -> Iterator[Meta]:
    """What is noted on a type itself, or on the alternatives of a union."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        inner, *notes = typing.get_args(annotation)
        yield from (note for note in notes if isinstance(note, Meta))
        yield from _metas(inner)
    elif origin in (typing.Union, types.UnionType):
        for alternative in typing.get_args(annotation):
            yield from _metas(alternative)


_FORMS: Final = frozenset(note.description for of in _FORM_TYPES for note in _metas(of))


def meaning_of(annotation: Any) -> str:
    """What a type says of its values beyond their form; empty: nothing."""
    said = (note.description for note in _metas(annotation) if note.description not in _FORMS)
    return next((text for text in said if text), "")


class _Field(NamedTuple):
    """A field as the body of its class has it. `names` are those in its annotation."""

    sentence: str
    names: tuple[str, ...]


_NOTHING: Final = _Field("", ())


class Sources:
    """The bodies of classes, read from the files of their modules as they are asked for."""

    def __init__(self) -> None:
        self._modules: dict[str, dict[str, dict[str, _Field]]] = {}

    def sentence(self, struct: Any, field: str) -> str:
        """What stands under a field: of the struct, its nearest base, or what it updates. Empty: nothing."""
        struct = typing.get_origin(struct) or struct
        for base in _structs(struct):
            if sentence := self._field(base, field).sentence:
                return sentence
        updated = getattr(struct, "__updates__", None)
        return "" if updated is None else self.sentence(updated, field)

    def literal_name(self, struct: Any, field: str, values: frozenset[object]) -> str:
        """The name of the alias by which a field has its closed set of values. Empty: they stand in the field.

        One in the annotation counts before another in the module, which may be what a list is made of.
        """
        struct = typing.get_origin(struct) or struct
        for base in _structs(struct):
            module = sys.modules[base.__module__]
            declared = self._field(base, field)
            for name in (*declared.names, *(vars(module) if declared.names else ())):
                if _closed_set(_named(module, name)) == values:
                    return str(name).rpartition(".")[2].lstrip("_")
        updated = getattr(struct, "__updates__", None)
        return "" if updated is None else self.literal_name(updated, field, values)

    def _field(self, base: type, field: str) -> _Field:
        if base.__module__ not in self._modules:
            self._modules[base.__module__] = _classes(base.__module__)
        return self._modules[base.__module__].get(base.__name__, {}).get(field, _NOTHING)


def _structs(struct: type) -> Iterator[type]:
    """A struct and its bases, as far as fields may stand in them."""
    return (base for base in struct.__mro__ if issubclass(base, msgspec.Struct) and base is not msgspec.Struct)


def _named(module: types.ModuleType, name: str) -> Any:
    """What a name of an annotation stands for; None: nothing that is there when the program runs."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _classes(module: str) -> dict[str, dict[str, _Field]]:
    """The fields of each class of a module, by name; of one without a source none."""
    file = getattr(sys.modules[module], "__file__", None)
    if file is None or not Path(file).is_file():
        return {}
    body = ast.parse(Path(file).read_text("utf-8")).body
    return {node.name: dict(_fields(node.body)) for node in body if isinstance(node, ast.ClassDef)}


def _fields(body: Sequence[ast.stmt]) -> Iterator[tuple[str, _Field]]:
    for statement, below in zip(body, (*body[1:], None), strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            nodes = (node for node in ast.walk(statement.annotation) if isinstance(node, ast.Name | ast.Attribute))
            names = tuple(map(ast.unparse, nodes))
            yield statement.target.id, _Field(_text(below), names)


def _text(statement: ast.stmt | None) -> str:
    """The text of a docstring, its paragraphs in one line each; empty where the statement is none."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return ""
    text = statement.value.value
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(text)) if isinstance(text, str) else ""


class Sentences:
    """What each field means. `answers` are the responses of the operations that take a request."""

    def __init__(self, sources: Sources, answers: Mapping[Any, Sequence[Any]]) -> None:
        self._sources, self._answers = sources, answers

    def of(self, struct: Any, field: FieldInfo) -> str:
        """The sentence of a field without what its type says. Empty: there is none, or the type says it all."""
        if sentence := self._sources.sentence(struct, field.name):
            return sentence
        if meaning_of(field.type):
            return ""
        return self._of_answer(struct, field.name) or STANDARD.get(field.name, "") or _target(struct, field)

    def lacks(self, struct: Any, field: FieldInfo) -> bool:
        """Whether nothing says what a field means."""
        return not self.of(struct, field) and not meaning_of(field.type)

    def _of_answer(self, request: Any, name: str) -> str:
        """What is said of the field of the same name in what a request is answered with."""
        for answer in self._answers.get(request, ()):
            for resource in resources_of(answer):
                field = _field_named(resource, name)
                if field is not None and (said := self._sources.sentence(resource, name) or meaning_of(field.type)):
                    return said
        return ""


def _target(struct: Any, field: FieldInfo) -> str:
    """Of an id that a request cannot go without: it names what the operation is about."""
    name = str(field.name)
    if field.required and name.endswith("_id") and isinstance(struct, type) and issubclass(struct, wire.Request):
        return f"The {name.removesuffix('_id').replace('_', ' ')}, by its `id`."
    return ""


def resources_of(answer: Any) -> Iterator[Any]:
    """The structs whose fields a request's are called as: the answer, and what it lists."""
    if not _is_struct(answer):
        return
    yield answer
    listed = _field_named(answer, "data")
    if listed is not None:
        yield from (part for part in typing.get_args(listed.type) if _is_struct(part))


def _field_named(struct: Any, name: str) -> FieldInfo | None:
    return next((field for field in msgspec.structs.fields(struct) if field.name == name), None)


def _is_struct(annotation: Any) -> bool:
    base = typing.get_origin(annotation) or annotation
    return isinstance(base, type) and issubclass(base, msgspec.Struct)


def structs_in(annotations: Sequence[Any]) -> list[Any]:
    """The structs that types are made of, each once, with those that their fields are made of."""
    found: dict[Any, None] = {}
    waiting = list(reversed(annotations))
    while waiting:
        annotation = waiting.pop()
        if not _is_struct(annotation):
            waiting += [part for part in reversed(typing.get_args(annotation)) if not isinstance(part, Meta | str)]
        elif annotation not in found:
            found[annotation] = None
            waiting += [field.type for field in reversed(msgspec.structs.fields(annotation))]
    return list(found)


def _closed_set(annotation: Any) -> frozenset[object] | None:
    """The values of a type that is nothing but a closed set of them."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _closed_set(typing.get_args(annotation)[0])
    return frozenset(typing.get_args(annotation)) if typing.get_origin(annotation) is Literal else None


def literals_in(annotation: Any) -> Iterator[frozenset[object]]:
    """The closed sets of values in a type."""
    if typing.get_origin(annotation) is Literal:
        yield frozenset(typing.get_args(annotation))
    elif typing.get_origin(annotation) is not None:
        for part in typing.get_args(annotation):
            yield from literals_in(part)
