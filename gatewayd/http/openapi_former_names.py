"""Former names in the description: parameters and properties that are marked deprecated, behind those of now."""

from collections.abc import Iterable
from typing import Any

from gatewayd.contract import former_names
from gatewayd.contract.operation import Operation

Json = dict[str, Any]


def add(paths: Json, schemas: Json, operations: Iterable[Operation]) -> None:
    """Describe every former name of the operations. Where a member has to be there its own sentence says it."""
    rows = {operation.id: operation for operation in operations}
    described = (each for item in paths.values() for each in item.values())
    for operation in described:
        names = former_names.deprecated(rows[operation["operationId"]].request)
        if not names:
            continue
        _add_parameters(operation["parameters"], names)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        if "$ref" in body:
            _add_properties(schemas[body["$ref"].rpartition("/")[2]], names)


def _add_parameters(parameters: list[Json], names: dict[str, str]) -> None:
    by_name = {parameter["name"]: parameter for parameter in parameters if parameter["in"] == "query"}
    for name, now in names.items():
        if now in by_name and not by_name[now]["required"]:
            kept = {key: by_name[now][key] for key in ("in", "required", "schema")}
            parameters.append({"name": name, **kept, **_deprecated(now)})


def _add_properties(schema: Json, names: dict[str, str]) -> None:
    properties = schema["properties"]
    for name, now in names.items():
        if now in schema.get("required", ()):
            properties[now] = _also_called(properties[now], name)
        elif now in properties:
            kept = {key: value for key, value in properties[now].items() if key != "examples"}
            properties[name] = {**kept, **_deprecated(now)}


def _also_called(schema: Json, name: str) -> Json:
    """A member that has to be there: a second one beside it would be missed by who checks requests."""
    said = f"`{name}`, its former name, is taken too."
    text = schema.get("description", "")
    return schema if said in text else {**schema, "description": f"{text} {said}".strip()}


def _deprecated(now: str) -> Json:
    return {"description": f"The former name of `{now}`.", "deprecated": True}
