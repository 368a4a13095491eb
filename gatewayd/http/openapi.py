"""The OpenAPI 3.1.1 description, derived from the rows."""

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Area, Operation
from gatewayd.contract.pages import PageRequest, SyncRequest
from gatewayd.contract.scopes import EXTENSION_SCOPES
from gatewayd.contract.signatures import function_of
from gatewayd.contract.wire import encode
from gatewayd.errors import COMMON_ERRORS, ERRORS
from gatewayd.events import EVENT_KINDS
from gatewayd.http import openapi_former_names
from gatewayd.http.openapi_headers import (
    HEADERS,
    IDEMPOTENCY_KEY,
    PERIOD_OVERRIDE,
    REPLAYED_FROM,
    WEBHOOK_ANSWERS,
    WEBHOOK_HEADERS,
    of_problem,
    of_success,
)
from gatewayd.http.openapi_problems import PROBLEM_SCHEMAS, example_of
from gatewayd.http.openapi_schemas import (
    Json,
    component_of,
    components_used,
    described,
    with_told_defaults,
    without_members,
    without_null,
)
from gatewayd.http.security_schemes import ProviderUrls, required, schemes

OPENAPI_VERSION = "3.1.1"  # Spec §9
INTERFACE_VERSION = "1.0.0"  # Spec §9
MOUNT = "/api/rpc"
_ANSWERS = "answer_examples.json"


class _Parts(NamedTuple):
    """What operations are described with: the schema of each type, the components, and an answer of each operation."""

    names: Mapping[str, Json]
    components: Mapping[str, Json]
    examples: Mapping[str, Any]


def answer_examples() -> Mapping[str, Any]:
    """An answer of each operation that answers JSON, by its id, as `make generate` writes it (`tests/contract`)."""
    examples: Mapping[str, Any] = msgspec.json.decode(Path(__file__).with_name(_ANSWERS).read_bytes())
    return examples


def describe(areas: Iterable[Area], public_url: str, events: Mapping[str, Any], provider: ProviderUrls) -> Json:
    """The whole document. `events` maps each event kind to the struct of a delivery's body and a sample of it."""
    areas = tuple(areas)
    operations = [operation for area in areas for operation in area.operations]
    types = [o.request for o in operations] + [o.response for o in operations if not o.gives_file]
    types += [body for body, _ in events.values()]
    schemas, components = described(types, _answers(operations))
    names = dict(zip(map(_key, types), schemas, strict=True))
    parts = _Parts(names, components, answer_examples())
    paths: Json = {}
    for area in areas:
        for operation in area.operations:
            item = paths.setdefault(_template(operation.path), {})
            item[operation.method.lower()] = _operation(operation, area.title, parts)
    hooks = {kind: _webhook(kind, names[_key(body)], sample) for kind, (body, sample) in events.items()}
    components |= _bodies(operations, names, components)
    components = {name: with_told_defaults(component) for name, component in components.items()}
    openapi_former_names.add(paths, components, operations)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "gatewayd",
            "version": INTERFACE_VERSION,
            "summary": "Accounting and tax compliance for small firms.",
            "description": _INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
        "servers": [{"url": public_url + MOUNT}],
        "security": required(()),
        "tags": [{"name": area.title} for area in areas],
        "paths": paths,
        "webhooks": hooks,
        "components": {
            "schemas": {**components_used(components, [paths, hooks]), **PROBLEM_SCHEMAS},
            "responses": _responses(operations),
            "headers": dict(HEADERS),
            "securitySchemes": schemes(provider),
        },
    }


def _answers(operations: Iterable[Operation]) -> dict[Any, list[Any]]:
    """What each request is answered with."""
    answers: dict[Any, list[Any]] = {}
    for operation in operations:
        answers.setdefault(operation.request, []).append(operation.response)
    return answers


def explanation(operation: Operation) -> str:
    """What the handler's docstring says: a line of summary, then the rest. Empty where it has none."""
    return inspect.cleandoc(function_of(operation).__doc__ or "").strip()


def _key(described: Any) -> str:
    return repr(described)


def _template(path: str) -> str:
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in path.split("/"))


def _operation(operation: Operation, tag: str, parts: _Parts) -> Json:
    names, components = parts.names, parts.components
    summary, _, description = explanation(operation).partition("\n")
    described: Json = {
        "operationId": operation.id,
        "summary": summary.strip(),
        "description": description.strip(),
        "tags": [tag],
        "security": required(operation.scopes),
        "responses": {
            "200": {
                "description": "Done.",
                "headers": of_success(operation),
                "content": _answer(operation, names, parts.examples),
            },
            **{str(status): {"$ref": f"#/components/responses/{name}"} for status, name in _statuses(operation)},
        },
        "x-required-scopes": list(operation.scopes),
        "x-held-keys": _held_keys(operation.held),
        "x-error-codes": _codes(operation),
        "x-aliases": [operation.alias] if operation.alias != operation.path else [],
    }
    schema = components[component_of(names[_key(operation.request)])]
    in_path = set(operation.parameters)
    described["parameters"] = _parameters(operation, schema, in_path, components)
    if operation.has_body:
        described["requestBody"] = _body(operation, names, schema, in_path)
    if operation.takes_file:
        described["requestBody"] = _FILE
    if operation.takes_key:
        described["parameters"].append(IDEMPOTENCY_KEY)
    if operation.overrides_closing:
        described["parameters"].append(PERIOD_OVERRIDE)
    if operation.extension:
        described["x-extension"] = True
    return described


def _held_keys(held: HeldBy | None) -> str:
    """To which keys that are held it is open: `none`, those of `entities`, or those of `entities` and `days`."""
    return "none" if held is None else "entities and days" if held.keeps_days else "entities"


def _answer(operation: Operation, names: Mapping[str, Json], examples: Mapping[str, Any]) -> Json:
    if operation.gives_file:
        schema = {"type": "string"} if operation.gives_file.startswith("text/") else {}  # bytes have no type in 3.1
        return {operation.gives_file: {"schema": schema}}
    answer: Json = {"schema": names[_key(operation.response)]}
    if operation.id in examples:
        answer["examples"] = _example(examples[operation.id])
    return {"application/json": answer}


def _example(value: object) -> Json:
    """The one example of a body. In `examples`, since the viewer of `/docs` makes one up in the place of `example`."""
    return {"example": {"value": value}}


def _parameters(operation: Operation, schema: Json, in_path: set[str], components: Mapping[str, Json]) -> list[Json]:
    required = schema.get("required", [])
    parameters = []
    for name, member in schema.get("properties", {}).items():
        if name not in in_path and operation.has_body:
            continue
        member = without_null(member)
        parameter: Json = {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "schema": member,
        }
        told = components[component_of(member)].get("description") if "$ref" in member else None
        if text := member.pop("description", told):
            parameter["description"] = text
        if name in operation.example:
            parameter["example"] = operation.example[name]
        parameters.append(parameter)
    return parameters


def _body(operation: Operation, names: Mapping[str, Json], schema: Json, in_path: set[str]) -> Json:
    required = [name for name in schema.get("required", []) if name not in in_path]
    example = {name: value for name, value in operation.example.items() if name not in in_path}
    return {
        "required": bool(required),
        "content": {"application/json": {"schema": names[_key(operation.request)], "examples": _example(example)}},
    }


def _bodies(operations: Iterable[Operation], names: Mapping[str, Json], components: Mapping[str, Json]) -> Json:
    """The components of bodies, without what stands in the path."""
    found: Json = {}
    for operation in operations:
        if operation.has_body and operation.parameters:
            name = component_of(names[_key(operation.request)])
            found[name] = without_members(components[name], operation.parameters)
    return found


def _statuses(operation: Operation) -> list[tuple[int, str]]:
    statuses = {ERRORS[code].status for code in _codes(operation) if code in ERRORS}  # a field's code comes with 422
    return [(status, f"Status{status}") for status in sorted(statuses)]


def _codes(operation: Operation) -> list[str]:
    """Every code that the operation may answer with, the common ones first."""
    codes = dict.fromkeys((*COMMON_ERRORS, *operation.errors))
    if issubclass(operation.request, PageRequest):
        codes["invalid_cursor"] = None
    if issubclass(operation.request, SyncRequest):
        codes["cursor_expired"] = None
    if operation.takes_key:
        codes["idempotency_conflict"] = None
    if operation.takes_file:
        codes["request_timeout"] = None
    return list(codes)


def _responses(operations: Iterable[Operation]) -> Json:
    """One response per status, naming the codes that come with it."""
    codes = {code for operation in operations for code in _codes(operation) if code in ERRORS}
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(ERRORS[code].status, []).append(code)
    return {
        f"Status{status}": {
            "description": " ".join(f"`{code}`: {ERRORS[code].title}." for code in found),
            "headers": of_problem(status),
            "content": {
                "application/problem+json": {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": _example(example_of(found[0])),
                }
            },
        }
        for status, found in sorted(by_status.items())
    }


def _webhook(kind: str, schema: Json, sample: object) -> Json:
    constant: Json = {"type": "string", "const": kind}
    headers = {"X-Service-Event": ("The event kind.", constant, kind), **WEBHOOK_HEADERS}
    return {
        "post": {
            **({"x-extension": True} if EVENT_KINDS[kind].extension else {}),
            # Nothing that a client calls: openapi-generator would make Python of it that does not parse.
            "x-internal": True,
            "operationId": f"on.{kind}",
            "summary": f"{kind} is delivered to a subscription",
            "description": EVENT_KINDS[kind].meaning,
            "security": [],
            "parameters": [
                {"name": name, "in": "header", "required": True, "description": text, "schema": of, "example": value}
                for name, (text, of, value) in headers.items()
            ]
            + [REPLAYED_FROM],
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {"schema": schema, "examples": _example(msgspec.json.decode(encode(sample)))}
                },
            },
            "responses": WEBHOOK_ANSWERS,
        }
    }


_FILE: Json = {
    "required": True,
    "description": "The file itself, of any media type.",
    "content": {"application/octet-stream": {"schema": {}}},  # bytes as they are have no type in OpenAPI 3.1
}
_INTRODUCTION = """\
Every request carries `Authorization: Bearer <token>`, an API key or an OAuth 2.0 access token, and acts on behalf of \
one organization. Money is a decimal string. Lists answer `data` and `nextCursor`. Unknown fields and parameters are \
refused. Errors are `application/problem+json` with a `code`. A change is guarded by `expectedVersion`: `If-Match` is \
refused, for answers have no entity tags.

Operations marked `x-extension` are this service's own: """ + ", ".join(f"`{scope}`" for scope in EXTENSION_SCOPES)
