"""Requests at the bounds of what a schema allows: for every field values just inside, and values just outside.

The schemas are those of the description that is checked in. Each request is right but for the one field it is about.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from tests.contract.texts import texts

UNKNOWN = "noSuchField"
_OTHER_TYPES: Mapping[str, object] = {
    "string": "text",
    "integer": 7,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
_NO_SUCH_TEXT = {  # in a query all is text
    "integer": ("", "text", "1.5", "null", "0x1"),
    "boolean": ("", "text", "2", "null"),
    "array": (),
    "string": (),
}

Json = dict[str, Any]
Put = Callable[[Any], Json]


class Trial(NamedTuple):
    """A request, the field that it is about, and whether that is as the schema wants it."""

    path: str
    inside: bool
    why: str
    request: Json

    @property
    def field(self) -> str:
        """The field of the request itself that it is about, or in."""
        return self.path.partition(".")[0].partition("[")[0]


class Values(NamedTuple):
    """What one field is given, apart from what may stand in it."""

    inside: tuple[object, ...]
    outside: tuple[object, ...]


def trials(schema: Json, *, in_query: bool) -> Iterator[Trial]:
    """Every trial of a request. `in_query`: its values are texts, and a null cannot be sent."""
    yield from _Walk(schema["components"]["schemas"], in_query).fields(schema, "", lambda value: value)


def sample(schema: Json) -> Any:
    """A value of the schema with every field there is."""
    return _Walk(schema["components"]["schemas"], in_query=False).sample(schema)


class _Walk:
    """A walk over the schemas of one request."""

    def __init__(self, components: Json, in_query: bool) -> None:
        self._components = components
        self._in_query = in_query

    def fields(self, schema: Json, path: str, put: Put) -> Iterator[Trial]:
        """Each field of an object, given and left out, and one that it does not have."""
        assert schema["additionalProperties"] is False, path
        whole, required = self.sample(schema), schema.get("required", [])
        yield Trial(path, True, "has every field", put(whole))
        for name, member in schema.get("properties", {}).items():
            where = f"{path}.{name}" if path else name
            rest = {other: whole[other] for other in required if other != name}
            yield Trial(where, name not in required, "left out", put(rest))
            yield from self._field(member, where, _put_in(put, rest, name))
        unknown = {**{name: whole[name] for name in required}, UNKNOWN: "x"}
        yield Trial(f"{path}.{UNKNOWN}" if path else UNKNOWN, False, "unknown", put(unknown))

    def _field(self, described: Json, path: str, put: Put) -> Iterator[Trial]:
        schema, nullable = self._resolved(described)
        inside, outside = self._values(schema, path)
        for value in inside:
            yield Trial(path, True, f"is {value!r:.80}", put(value))
        for value in (*outside, *self._of_other_types(schema)):
            yield Trial(path, False, f"is {value!r:.80}", put(value))
        if not self._in_query:
            yield Trial(path, nullable, "is null", put(None))
        if schema.get("type") == "object":
            yield from self.fields(schema, path, put)
        if schema.get("type") == "array":
            one = self.sample(schema["items"])
            yield from self._field(schema["items"], f"{path}[0]", lambda value: put([value]))
            second = self._field(schema["items"], f"{path}[1]", lambda value: put([one, value]))
            yield from islice((trial for trial in second if not trial.inside), 1)

    def _values(self, schema: Json, path: str) -> Values:
        if "enum" in schema:
            return _values_of_enum(schema["enum"])
        match schema["type"]:
            case "string":
                found = texts(schema)
                assert not found.endless, f"{path} may become as long as it likes"
                return Values(found.inside, found.outside)
            case "integer":
                return _values_of_integer(schema)
            case "boolean":
                return Values((True, False), ())
            case "array":
                return _values_of_array(schema, self.sample(schema["items"]), 1 if self._in_query else 0)
        assert schema["type"] == "object", schema
        return Values((), ())

    def _of_other_types(self, schema: Json) -> tuple[object, ...]:
        kind = schema["type"]
        if self._in_query:
            return _NO_SUCH_TEXT[kind]
        return tuple(value for other, value in _OTHER_TYPES.items() if other != kind)

    def sample(self, described: Json) -> Any:
        schema, _ = self._resolved(described)
        if "enum" in schema:
            return schema["enum"][0]
        match schema["type"]:
            case "object":
                return {name: self.sample(member) for name, member in schema.get("properties", {}).items()}
            case "array":
                return [self.sample(schema["items"])] * max(1, schema.get("minItems", 1))
            case "string":
                return texts(schema).inside[0]
            case "integer":
                return schema["minimum"]
        return True

    def _resolved(self, schema: Json) -> tuple[Json, bool]:
        """What a value that is not null must be, and whether it may be null."""
        if "$ref" in schema:
            return self._resolved(self._components[schema["$ref"].rpartition("/")[2]])
        if "const" in schema and schema["type"] == "string":
            return {**schema, "enum": [schema["const"]]}, False
        if isinstance(schema.get("type"), list):
            kind, null = schema["type"]
            return {**schema, "type": kind}, null == "null"
        if "anyOf" not in schema:
            return schema, schema.get("type") == "null"
        others = [one for one in schema["anyOf"] if one.get("type") != "null"]
        assert len(others) == 1, "one field is of one type"
        return self._resolved(others[0])[0], len(others) < len(schema["anyOf"])


def _put_in(put: Put, rest: Json, name: str) -> Put:
    return lambda value: put({**rest, name: value})


def _values_of_enum(allowed: list[Any]) -> Values:
    if isinstance(allowed[0], int):
        near = [value + step for value in allowed for step in (-1, 1)]
    else:
        near = [other for value in allowed for other in ("", f"{value}x", value[:-1], value.upper(), f" {value}")]
    return Values(tuple(allowed), tuple(value for value in near if value not in allowed))


def _values_of_integer(schema: Json) -> Values:
    least, most = schema["minimum"], schema.get("maximum")
    if most is None:
        return Values((least, least + 1), (least - 1,))
    return Values((least, most), (least - 1, most + 1))


def _values_of_array(schema: Json, item: object, shortest: int) -> Values:
    """`shortest`: how few items can be sent at all."""
    least, most = max(shortest, schema.get("minItems", 0)), schema.get("maxItems")
    inside = [least] if most is None else [least, most]
    outside = ([least - 1] if least > shortest else []) + ([] if most is None else [most + 1])
    return Values(tuple([item] * count for count in inside), tuple([item] * count for count in outside))
