"""The schemas of the program's structs, in the dialect that generators of clients understand. Pure.

msgspec's are right and leave out what validates nothing: the type beside an enumeration, a constant for an enumeration
of one. A field that may be left out has no default then; told that it is null, generated clients send the null.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gatewayd.contract.wire import schema_of

Json = dict[str, Any]
_REFERENCE = "#/components/schemas/{name}"
_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (str, "string"))  # a bool is an int too


def described(types: Iterable[Any]) -> tuple[list[Json], dict[str, Json]]:
    """The schema of each type, and the components that they refer to, by name."""
    schemas, structs = msgspec.json.schema_components(types, schema_hook=schema_of, ref_template=_REFERENCE)
    named: dict[str, Json] = {}
    plain = [_plain(schema, named) for schema in schemas]
    components = {name: _plain(schema, named) for name, schema in structs.items()}
    return plain, {**components, **named}


def component_of(reference: Json) -> str:
    """The name of the component that a schema refers to."""
    return str(reference["$ref"]).rpartition("/")[2]


def without(schema: Json, members: Iterable[str]) -> Json:
    """The schema of an object without some of its members."""
    left = dict(schema)
    left["properties"] = {name: member for name, member in schema["properties"].items() if name not in members}
    left["required"] = [name for name in schema.get("required", []) if name not in members]
    return left


def used(components: Mapping[str, Json], document: object) -> dict[str, Json]:
    """The components that a document refers to, those that they refer to, and so on."""
    found: dict[str, Json] = {}
    waiting = [document]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
            name = component_of(part) if isinstance(part.get("$ref"), str) else ""
            if name in components and name not in found:
                found[name] = components[name]
                waiting.append(components[name])
    return dict(sorted(found.items()))


def _plain(schema: Any, named: dict[str, Json]) -> Any:
    """The schema and all in it; types with a title of their own go to `named`, and are referred to."""
    if isinstance(schema, list):
        return [_plain(item, named) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _keyword(name, value, named) for name, value in schema.items()}
    if isinstance(plain.get("enum"), list):
        return _constant(plain)
    return _reference(plain, named) if "title" in plain and plain.get("type") != "object" else plain


def _keyword(name: str, value: Any, named: dict[str, Json]) -> Any:
    """What stands behind a keyword of a schema. The names of properties are no keywords: one may be called `title`."""
    if name in ("examples", "enum"):
        return value
    if name == "properties":
        return {member: _left_out(_plain(schema, named)) for member, schema in value.items()}
    return _plain(value, named)


def _reference(schema: Json, named: dict[str, Json]) -> Json:
    name = schema.pop("title")
    beside = {"default": schema.pop("default")} if "default" in schema else {}
    named[name] = schema
    return {"$ref": _REFERENCE.format(name=name), **beside}


def _left_out(member: Json) -> Json:
    """A member without the default that says that it may be left out."""
    return {name: value for name, value in member.items() if name != "default" or value is not None}


def _constant(schema: Json) -> Json:
    """An enumeration with its type, or the one value that there is."""
    values = schema["enum"]
    kind = next(name for of, name in _TYPES if isinstance(values[0], of))
    if values == [True]:
        del schema["enum"]
        return {"type": kind, "const": True, **schema}
    return {"type": kind, **schema}
