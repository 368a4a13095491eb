"""The JSON Schemas of the description: components under names that are identifiers, with what their fields mean."""

import inspect
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import FieldInfo

from gatewayd.contract.sentences import Sentences, Sources, literals_in, structs_in
from gatewayd.contract.wire import Request, schema_of

Json = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/{name}"
_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (str, "string"))  # a bool is an int too
_SAY_TOO_LITTLE: Final = frozenset(
    {
        *("AccountStatus", "AccountType", "EnteredKind", "EntityType", "EntryType", "EventType", "GivenStatus"),
        *("GivenType", "GrantStatus", "GroupBy", "IgnoredKind", "LineType", "LinkType", "LiveStatus", "MatchField"),
        *("NoticeKindField", "RateSource", "RateType", "RunSource", "RunStatus", "SourceType", "StatusFilter"),
        *("UnitFilter",),
    }
)
"""Aliases that are understood in their file alone, of two words or more. Those of one word say too little too."""
_NULL: Final[Json] = {"type": "null"}
_VALUES: Final = ("examples", "enum", "default")
_OF_MAPS: Final = ("additionalProperties", "propertyNames")
"""Closed sets in maps have no names: what openapi-generator makes of a map of components is refused by mypy."""
_OTHERWISE_CALLED: Final[Mapping[str, str]] = {
    "Client": "BillingClient",
    "Event": "RecordedEvent",
    "ItsaStatuses": "ItsaStatusList",
    "Page": "List",
    "SyncPage": "Page",
    "TaxYears": "TaxYearList",
    "WhatIf": "WhatIfComparison",
}
"""Structs whose names generated clients have for something of their own, or whose members are called as they are; and
pages, which have one name whether or not they tell what was removed.
"""


def described(types: Sequence[Any], answers: Mapping[Any, Sequence[Any]] | None = None) -> tuple[list[Json], Json]:
    """The schema of each type, and the components that they refer to, by name.

    `answers` are the responses of the operations that take a request: it takes over what is said of their fields.
    Where two structs are called alike their components have the names of their modules too.
    """
    structs = structs_in(types)
    schemas, raw = msgspec.json.schema_components([*types, *structs], schema_hook=schema_of, ref_template=_REFERENCE)
    given_names = [component_of(schema) for schema in schemas[len(types) :]]
    called = Counter(map(name_of, structs))
    names = {
        given: name_of(struct) if called[name_of(struct)] == 1 else given
        for given, struct in zip(given_names, structs, strict=True)
    }
    sources = Sources()
    writer = _Writer(names, Sentences(sources, answers or {}), _names_of_values(structs, sources, set(names.values())))
    components = {
        names[given]: writer.component(struct, raw[given]) for given, struct in zip(given_names, structs, strict=True)
    }
    plain = [writer.plain(schema) for schema in schemas[: len(types)]]
    return plain, {**components, **writer.named}


def name_of(struct: Any) -> str:
    """The name of a struct's component. Of a generic one the argument's stands before its own: `InvoicePage`."""
    base = typing.get_origin(struct) or struct
    name = _OTHERWISE_CALLED.get(base.__name__, base.__name__)
    return "".join([*(name_of(part) for part in typing.get_args(struct) if part in structs_in([part])), name])


def component_of(reference: Json) -> str:
    """The name of the component that a schema refers to."""
    return str(reference["$ref"]).rpartition("/")[2]


def without_members(schema: Json, members: Iterable[str]) -> Json:
    """The schema of an object without some of its members."""
    left = dict(schema)
    left["properties"] = {name: member for name, member in schema["properties"].items() if name not in members}
    left["required"] = [name for name in schema.get("required", []) if name not in members]
    return left


def without_null(schema: Json) -> Json:
    """The schema of a value that is left out where there is none: of a parameter."""
    if isinstance(schema.get("type"), list):
        return {**schema, "type": next(kind for kind in schema["type"] if kind != "null")}
    alternatives = [each for each in schema.get("anyOf", ()) if each != _NULL]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if not alternatives:
        return rest
    return {**alternatives[0], **rest} if len(alternatives) == 1 else {"anyOf": alternatives, **rest}


def with_told_defaults(component: Json) -> Json:
    """A component whose members say in words what holds without them: `default` reads as a promise of a value to
    openapi-typescript, which then has a request's members required.
    """
    if "properties" not in component:
        return component
    return {**component, "properties": {name: _told(member) for name, member in component["properties"].items()}}


def _told(member: Json) -> Json:
    if "default" not in member:
        return member
    told = {name: value for name, value in member.items() if name != "default"}
    default = f"Default: `{msgspec.json.encode(member['default']).decode()}`."
    return {**told, "description": _joined(member.get("description", ""), default)}


def components_used(components: Mapping[str, Json], document: object) -> dict[str, Json]:
    """The components that a document refers to, those that they refer to, and so on."""
    used: dict[str, Json] = {}
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
            name = component_of(part) if isinstance(part.get("$ref"), str) else ""
            if name in components and name not in used:
                used[name] = components[name]
                waiting.append(components[name])
    return dict(sorted(used.items()))


# -- closed sets of values


class _Place(NamedTuple):
    """A field that has a closed set of values."""

    struct: Any
    field: str
    values: frozenset[object]

    @property
    def name(self) -> str:
        return name_of(self.struct) + _capitalized(self.field)


def _names_of_values(structs: Sequence[Any], sources: Sources, taken: set[str]) -> dict[_Place, str]:
    """The name of the component for each: its alias's, where no other set has that, else the owner's and the field's.

    Of several owners the first that is no request counts; fields without an alias share a name where field and values
    are the same. What a struct is called already is followed by `Value`.
    """
    places = list(_places(structs))
    aliases = {place: sources.literal_name(place.struct, place.field, place.values) for place in places}
    sets: dict[str, set[frozenset[object]]] = {}
    for place, alias in aliases.items():
        sets.setdefault(alias, set()).add(place.values)
    names: dict[_Place, str] = {}
    owned: dict[tuple[str, str, frozenset[object]], str] = {}
    for place in sorted(places, key=lambda place: issubclass(typing.get_origin(place.struct) or place.struct, Request)):
        alias = aliases[place]
        if len(sets[alias]) == 1 and _is_telling(alias) and alias not in taken:
            names[place] = alias
        else:
            name = f"{place.name}Value" if place.name in taken else place.name
            names[place] = owned.setdefault((alias, "" if alias else place.field, place.values), name)
    return names


def _is_telling(alias: str) -> bool:
    return sum(letter.isupper() for letter in alias) > 1 and alias not in _SAY_TOO_LITTLE


def _places(structs: Sequence[Any]) -> Iterator[_Place]:
    for struct in structs:
        for field in msgspec.structs.fields(struct):
            yield from _places_of(struct, field)


def _places_of(struct: Any, field: FieldInfo) -> Iterator[_Place]:
    return (_Place(struct, field.name, values) for values in literals_in(field.type))


def _capitalized(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


# -- what msgspec says, written for readers and generators


class _Writer:
    """Schemas as they stand in the description. What has a name of its own goes to `named`, and is referred to."""

    def __init__(self, names: Mapping[str, str], sentences: Sentences, values: Mapping[_Place, str]) -> None:
        self._names, self._sentences, self._values = names, sentences, values
        self.named: dict[str, Json] = {}

    def component(self, struct: Any, raw: Json) -> Json:
        """The component of a struct."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
        told = inspect.cleandoc((typing.get_origin(struct) or struct).__doc__ or "")
        members = {
            name: self._member(struct, fields[name], schema) if name in fields else self.plain(schema)
            for name, schema in raw["properties"].items()
        }
        return {**raw, "title": name_of(struct), **({"description": told} if told else {}), "properties": members}

    def _member(self, struct: Any, field: FieldInfo, raw: Json) -> Json:
        """A member with its sentence, and behind that what its type says. A default of null says what all know."""
        values = {place.values: self._values[place] for place in _places_of(struct, field)}
        schema = {name: value for name, value in self.plain(raw, values).items() if (name, value) != ("default", None)}
        text = _joined(self._sentences.of(struct, field), schema.pop("description", ""))
        return {**schema, **({"description": text} if text else {})}

    def plain(self, schema: Any, values: Mapping[frozenset[object], str] | None = None) -> Any:
        """A schema and all in it. `values` are the names of the closed sets in it."""
        values = values or {}
        if isinstance(schema, list):
            return [self.plain(item, values) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if isinstance(schema.get("$ref"), str):
            return {**schema, "$ref": _REFERENCE.format(name=self._names[component_of(schema)])}
        plain = {
            name: value if name in _VALUES else self.plain(value, {} if name in _OF_MAPS else values)
            for name, value in schema.items()
        }
        if isinstance(plain.get("enum"), list):
            plain = _constant(plain)
            name = plain.get("title", values.get(frozenset(plain.get("enum", ()))))
            return plain if name is None else self._reference({**plain, "title": name})
        if "anyOf" in plain:
            plain = _nullable(plain)
        return self._reference(plain) if "title" in plain and plain.get("type") != "object" else plain

    def _reference(self, schema: Json) -> Json:
        name = schema.pop("title")
        beside = {"default": schema.pop("default")} if "default" in schema else {}
        self.named[name] = schema
        return {"$ref": _REFERENCE.format(name=name), **beside}


def _joined(*texts: str) -> str:
    return " ".join(text for text in texts if text)


def _nullable(schema: Json) -> Json:
    """Of a type or null one schema, whose other keywords say nothing of null. A reference stays beside null."""
    alternatives = [each for each in schema["anyOf"] if each != _NULL]
    if len(alternatives) > 1 or len(schema["anyOf"]) == 1:
        return schema
    (of,) = alternatives
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if "type" not in of or "const" in of or "enum" in of:
        form = {"description": of.pop("description")} if "description" in of else {}
        return {**schema, **form}
    return {**of, **rest, "type": [of["type"], "null"]}


def _constant(schema: Json) -> Json:
    """An enumeration with its type, or the one value that there is."""
    values = schema.pop("enum")
    kind = next(name for of, name in _TYPES if isinstance(values[0], of))
    return {"type": kind, **({"const": values[0]} if len(values) == 1 else {"enum": values}), **schema}
