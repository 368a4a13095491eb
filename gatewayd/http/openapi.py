"""The OpenAPI 3.1.1 description, derived from the rows."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gatewayd.contract.operation import Area, Operation
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.scopes import EXTENSION_SCOPES
from gatewayd.contract.signatures import function_of
from gatewayd.contract.wire import encode, schema_of
from gatewayd.errors import COMMON_ERRORS, ERRORS, FIELD_CODES
from gatewayd.events import EVENT_KINDS
from gatewayd.http import openapi_former_names
from gatewayd.http.security_schemes import ProviderUrls, required, schemes

_REFERENCE = "#/components/schemas/{name}"
_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "integer"), (str, "string"))  # a bool is an int too
OPENAPI_VERSION = "3.1.1"  # Spec §9
INTERFACE_VERSION = "1.0.0"  # Spec §9
MOUNT = "/api/rpc"

Json = dict[str, Any]


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


def without_members(schema: Json, members: Iterable[str]) -> Json:
    """The schema of an object without some of its members."""
    left = dict(schema)
    left["properties"] = {name: member for name, member in schema["properties"].items() if name not in members}
    left["required"] = [name for name in schema.get("required", []) if name not in members]
    return left


def components_used(components: Mapping[str, Json], document: object) -> dict[str, Json]:
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


def describe(areas: Iterable[Area], public_url: str, events: Mapping[str, Any], provider: ProviderUrls) -> Json:
    """The whole document. `events` maps each event kind to the struct of a delivery's body and a sample of it."""
    areas = tuple(areas)
    operations = [operation for area in areas for operation in area.operations]
    types = [o.request for o in operations] + [o.response for o in operations if not o.gives_file]
    types += [body for body, _ in events.values()]
    found, components = described(types)
    names = dict(zip(map(_key, types), found, strict=True))
    paths: Json = {}
    for area in areas:
        for operation in area.operations:
            item = paths.setdefault(_template(operation.path), {})
            item[operation.method.lower()] = _operation(operation, area.title, names, components)
    hooks = {kind: _webhook(kind, names[_key(body)], sample) for kind, (body, sample) in events.items()}
    components |= _bodies(operations, names, components)
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
            "schemas": {**components_used(components, [paths, hooks]), "Problem": _PROBLEM},
            "responses": _responses(operations),
            "securitySchemes": schemes(provider),
        },
    }


def explanation(operation: Operation) -> str:
    """What the handler's docstring says: a line of summary, then the rest. Empty where it has none."""
    return inspect.cleandoc(function_of(operation).__doc__ or "").strip()


def _key(described: Any) -> str:
    return repr(described)


def _template(path: str) -> str:
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in path.split("/"))


def _operation(operation: Operation, tag: str, names: Mapping[str, Json], components: Mapping[str, Json]) -> Json:
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
                "headers": {"X-Request-Id": {"schema": {"type": "string"}}, **(_NAMED if operation.gives_file else {})},
                "content": _answer(operation, names),
            },
            **{str(status): {"$ref": f"#/components/responses/{name}"} for status, name in _statuses(operation)},
        },
        "x-required-scopes": list(operation.scopes),
        "x-error-codes": _codes(operation),
        "x-aliases": [operation.alias] if operation.alias != operation.path else [],
    }
    schema = components[component_of(names[_key(operation.request)])]
    in_path = set(operation.parameters)
    described["parameters"] = _parameters(operation, schema, in_path)
    if operation.has_body:
        described["requestBody"] = _body(operation, names, schema, in_path)
    if operation.takes_file:
        described["requestBody"] = _FILE
    if operation.takes_key:
        described["parameters"].append(_IDEMPOTENCY_KEY)
    if operation.overrides_closing:
        described["parameters"].append(_PERIOD_OVERRIDE)
    if operation.extension:
        described["x-extension"] = True
    return described


def _answer(operation: Operation, names: Mapping[str, Json]) -> Json:
    if operation.gives_file:
        text = operation.gives_file.startswith("text/")
        return {operation.gives_file: {"schema": _TEXT if text else {}}}  # bytes have no type in OpenAPI 3.1
    return {"application/json": {"schema": names[_key(operation.response)]}}


def _parameters(operation: Operation, schema: Json, in_path: set[str]) -> list[Json]:
    required = schema.get("required", [])
    parameters = []
    for name, member in schema.get("properties", {}).items():
        if name not in in_path and operation.has_body:
            continue
        member = dict(member)
        parameter: Json = {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in required,
            "schema": member,
        }
        if "description" in member:
            parameter["description"] = member.pop("description")
        if name in operation.example:
            parameter["example"] = operation.example[name]
        parameters.append(parameter)
    return parameters


def _body(operation: Operation, names: Mapping[str, Json], schema: Json, in_path: set[str]) -> Json:
    required = [name for name in schema.get("required", []) if name not in in_path]
    example = {name: value for name, value in operation.example.items() if name not in in_path}
    return {
        "required": bool(required),
        "content": {"application/json": {"schema": names[_key(operation.request)], "example": example}},
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
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, found in sorted(by_status.items())
    }


def _webhook(kind: str, schema: Json, sample: object) -> Json:
    constant: Json = {"type": "string", "const": kind}
    headers = {"X-Service-Event": ("The event kind.", constant, kind), **_WEBHOOK_HEADERS}
    return {
        "post": {
            **({"x-extension": True} if EVENT_KINDS[kind].extension else {}),
            "operationId": f"on.{kind}",
            "summary": f"{kind} is delivered to a subscription",
            "description": EVENT_KINDS[kind].meaning,
            "security": [],
            "parameters": [
                {"name": name, "in": "header", "required": True, "description": text, "schema": of, "example": value}
                for name, (text, of, value) in headers.items()
            ]
            + [_REPLAYED_FROM],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": schema, "example": msgspec.json.decode(encode(sample))}},
            },
            "responses": _WEBHOOK_ANSWERS,
        }
    }


_TEXT: Json = {"type": "string"}
_WEBHOOK_HEADERS: Mapping[str, tuple[str, Json, str]] = {
    "X-Service-Signature": (
        "`t=<unix seconds>,v1=<hex HMAC-SHA256 of t, a dot and the raw body>`, keyed with the whole secret. While a "
        "rotation lasts there is a second `v1`, of the old secret.",
        _TEXT,
        "t=1795167000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
    ),
    "X-Service-Delivery": (
        "The delivery's own id; the same on every attempt.",
        _TEXT,
        "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
    ),
    "webhook-id": (
        "The delivery id, as `id` in the body. Where an event is sent again it is the first delivery's (Standard "
        "Webhooks): act once on each.",
        _TEXT,
        "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
    ),
    "webhook-timestamp": ("When the attempt was made, unix seconds (Standard Webhooks).", _TEXT, "1795167000"),
    "webhook-signature": (
        "`v1,<base64 HMAC-SHA256 of webhook-id, webhook-timestamp and the raw body, joined by dots>`, keyed with the "
        "bytes that the secret has as base64 behind `whsec_`; several are parted by spaces (Standard Webhooks).",
        _TEXT,
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
}
_REPLAYED_FROM: Json = {
    "name": "X-Service-Replayed-From",
    "in": "header",
    "required": False,
    "description": "Where an event is sent again, the id of its first delivery.",
    "schema": _TEXT,
    "example": "wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
}
_WEBHOOK_ANSWERS: Json = {
    "2XX": {"description": "Received, within 10 seconds."},
    "410": {"description": "The receiver is gone: the subscription is disabled, and the delivery not tried again."},
    "default": {
        "description": "Not received: tried again with growing waits, 8 times in all. So is no answer within 10 "
        "seconds, and a redirect, which is not followed. `Retry-After` lengthens the wait, up to 6 hours."
    },
}


_NAMED: Json = {
    "Content-Disposition": {
        "description": "`attachment`, with the name under which to keep the file.",
        "schema": {"type": "string", "pattern": '^attachment; filename="[ -~]+"$'},
    }
}
_FILE: Json = {
    "required": True,
    "description": "The file itself, of any media type.",
    "content": {"application/octet-stream": {"schema": {}}},  # bytes as they are have no type in OpenAPI 3.1
}
_IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes a retry safe: within 24 hours the same key and request get the first answer again. 409 "
    "`idempotency_conflict` is another request under the key or, with `outcome`, one that is under way (`pending`) "
    "or broke off so that nobody knows whether it was done (`unknown`), which is not run again under the key.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$",
    },
}
_PERIOD_OVERRIDE: Json = {
    "name": "Period-Override",
    "in": "header",
    "description": "`closing`: it is written also where a period is being closed. Without it that is 409 "
    "`period_closed` with `state` `closing`; what is closed (`state` `closed`) is refused in any case.",
    "schema": {"type": "string", "enum": ["closing"]},
}
_PROBLEM: Json = {
    "type": "object",
    "title": "Problem",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "code", "message", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "enum": sorted(ERRORS)},
        "message": {"type": "string"},
        "requestId": {"type": "string"},
        "outcome": {
            "type": "string",
            "enum": ["pending", "unknown"],
            "description": "With `idempotency_conflict`, of the first request under the key: it is still under way, or "
            "broke off and nobody knows whether it was done.",
        },
        "state": {
            "type": "string",
            "enum": ["closing", "closed"],
            "description": "With `period_closed`, of the period that holds `date`: one that is being closed takes what "
            "is sent with `Period-Override: closing`.",
        },
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["path", "code", "message"],
                "properties": {
                    "path": {"type": "string", "description": "Dotted from the body's root: `lines[0].unitPrice`."},
                    "code": {"type": "string", "enum": sorted(FIELD_CODES)},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
_INTRODUCTION = """\
Every request carries `Authorization: Bearer <token>`, an API key or an OAuth 2.0 access token, and acts on behalf of \
one organization. Money is a decimal string. Lists answer `data` and `nextCursor`. Unknown fields and parameters are \
refused. Errors are `application/problem+json` with a `code`.

Operations marked `x-extension` are this service's own: """ + ", ".join(f"`{scope}`" for scope in EXTENSION_SCOPES)
