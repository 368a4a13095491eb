"""The description that `/openapi.json` serves."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator

from gatewayd.clock import to_wire
from gatewayd.contract.operation import Area, Operation
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.contract.scopes import described as scopes_described
from gatewayd.contract.wire import Response
from gatewayd.errors import ERRORS, FIELD_CODES
from gatewayd.events import EVENT_KINDS, EventBody, sequence_of
from gatewayd.http.openapi import describe
from gatewayd.http.openapi import described as schemas_of
from gatewayd.http.security_schemes import ProviderUrls
from gatewayd.webhooks.signature import signed_headers
from tests.contract.promises import read
from tests.contract.rows import OPERATIONS
from tests.http.probes import OPERATIONS as PROBES
from tests.support.rows import CATALOGUE
from tests.support.store import START

METHODS = ("get", "post", "patch", "delete")
ORIGIN = "https://gateway.example.com"
URLS = ProviderUrls(f"{ORIGIN}/authorize", f"{ORIGIN}/token", f"{ORIGIN}/discovery")
_DELIVERED = {
    kind.name: (
        EventBody[kind.data],  # type of the body
        EventBody(
            id="wdlv_01k0000000000000000000000a",
            event=kind.name,
            data=kind.sample,
            sent_at=to_wire(START),
            event_id="evt_01k0000000000000000000000a",
            sequence=sequence_of(START, "evt_01k0000000000000000000000a"),
        ),
    )
    for kind in EVENT_KINDS.values()
}
DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(describe(CATALOGUE.areas, ORIGIN, _DELIVERED, URLS)))


def described(operation: Operation) -> dict[str, Any]:
    """The row in the document."""
    template = re.sub(r":(\w+)", r"{\1}", operation.path)
    item: dict[str, Any] = DOCUMENT["paths"][template][operation.method.lower()]
    return item


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def test_it_is_valid_openapi() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_it_carries_the_versions_of_the_specification() -> None:
    assert (DOCUMENT["openapi"], DOCUMENT["info"]["version"]) == ("3.1.1", "1.0.0")
    assert DOCUMENT["servers"] == [{"url": "https://gateway.example.com/api/rpc"}]


def test_it_lists_what_is_promised_and_built_and_the_extensions() -> None:
    listed = {row["operationId"]: (method, path) for method, path, row in operations() if "x-extension" not in row}
    promised = {
        id_: (p.method, "/".join(f"{{{part[1:]}}}" if part[:1] == ":" else part for part in p.path.split("/")))
        for id_, p in read().items()
    }
    assert listed == promised
    extensions = {row["operationId"] for _, _, row in operations() if row.get("x-extension")}
    assert extensions == {operation.id for operation in OPERATIONS if operation.extension}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_each_operation_says_what_a_reader_needs(operation: Operation) -> None:
    row = described(operation)
    assert 10 <= len(row["summary"]) <= 120
    assert row["summary"].endswith(".")
    assert row["security"] == [{"apiKey": list(operation.scopes)}, {"oauth2": list(operation.scopes)}]
    assert row["x-required-scopes"] == list(operation.scopes)
    assert set(operation.scopes) <= ALL_SCOPES.keys()
    codes = row["x-error-codes"]
    assert set(operation.errors) <= set(codes) <= ERRORS.keys() | FIELD_CODES
    assert len(codes) == len(set(codes))
    statuses = {str(ERRORS[code].status) for code in codes if code in ERRORS}
    assert set(row["responses"]) == {"200"} | statuses
    assert row["x-aliases"] == ([operation.alias] if operation.alias != operation.path else [])
    names = {parameter["name"] for parameter in row["parameters"]}
    assert ("Idempotency-Key" in names) == (operation.kind != "read" and operation.method != "GET")
    assert {p["name"] for p in row["parameters"] if p["in"] == "path"} == set(operation.parameters)
    assert ("requestBody" in row) == (operation.has_body or operation.takes_file)


def test_the_schemes_say_how_to_be_let_in() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert {name: (one["type"], bool(one["description"])) for name, one in schemes.items()} == {
        "apiKey": ("http", True),
        "oauth2": ("oauth2", True),
        "openIdConnect": ("openIdConnect", True),
    }
    assert schemes["apiKey"]["scheme"] == "bearer"
    assert schemes["oauth2"]["flows"] == {
        "authorizationCode": {
            "authorizationUrl": URLS.authorization,
            "tokenUrl": URLS.token,
            "refreshUrl": URLS.token,
            "scopes": scopes_described(),
        }
    }
    assert schemes["openIdConnect"]["openIdConnectUrl"] == URLS.discovery
    assert DOCUMENT["security"] == [{"apiKey": []}, {"oauth2": []}]


def test_every_event_kind_is_described_with_a_sample_that_conforms() -> None:
    assert list(DOCUMENT["webhooks"]) == list(EVENT_KINDS)
    for kind, item in DOCUMENT["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        example = content["examples"]["example"]["value"]
        assert example["event"] == kind
        schema = {**content["schema"], "components": DOCUMENT["components"]}  # so that references can be followed
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(example)
        data = DOCUMENT["components"]["schemas"][type(EVENT_KINDS[kind].sample).__name__]
        assert data["required"] == list(example["data"])
        assert item["post"]["description"] == EVENT_KINDS[kind].meaning
        assert item["post"].get("x-extension", False) == EVENT_KINDS[kind].extension
        assert item["post"]["x-internal"] is True  # or openapi-generator makes Python of it that does not parse


def test_a_webhook_names_the_headers_that_are_sent_and_the_answers_that_count() -> None:
    signed = [name for name, _ in signed_headers(["whsec_MDAwMDAwMDA="], "wdlv_1", 1, b"{}")]
    for kind, item in DOCUMENT["webhooks"].items():
        parameters = {one["name"]: one for one in item["post"]["parameters"]}
        replayed_from = parameters.pop("X-Service-Replayed-From")
        assert (replayed_from["required"], replayed_from["in"]) == (False, "header")
        assert set(parameters) == {"X-Service-Event", "X-Service-Delivery", *signed}
        assert parameters["X-Service-Event"]["schema"] == {"type": "string", "const": kind}
        assert all(one["required"] and one["in"] == "header" and one["example"] for one in parameters.values())
        assert set(item["post"]["responses"]) == {"2XX", "410", "default"}


def test_problems_close_over_the_known_codes() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert set(schemas["ProblemCode"]["enum"]) == set(ERRORS)
    assert set(schemas["FieldErrorCode"]["enum"]) == FIELD_CODES


def test_each_status_is_described_with_its_header_fields_and_a_problem_that_conforms() -> None:
    schema = {**DOCUMENT["components"]["schemas"]["Problem"], "components": DOCUMENT["components"]}
    of_problems = Draft202012Validator(schema, format_checker=FormatChecker())
    for name, response in DOCUMENT["components"]["responses"].items():
        example = response["content"]["application/problem+json"]["examples"]["example"]["value"]
        of_problems.validate(example)
        assert f"Status{example['status']}" == name
        assert f"`{example['code']}`: {example['title']}." in response["description"]
        assert "X-Request-Id" in response["headers"]
    assert "Retry-After" in DOCUMENT["components"]["responses"]["Status429"]["headers"]
    assert "WWW-Authenticate" in DOCUMENT["components"]["responses"]["Status401"]["headers"]


def test_header_fields_have_an_example_that_conforms() -> None:
    for header in DOCUMENT["components"]["headers"].values():
        assert header["description"].endswith(".")
        Draft202012Validator(header["schema"]).validate(header["example"])


def test_parameters_of_a_query_are_never_null() -> None:
    """They are left out: a query has no null."""
    parameters = [parameter for _, _, row in operations() for parameter in row["parameters"]]
    assert len(parameters) > 500
    assert [p for p in parameters if '"null"' in msgspec.json.encode(p["schema"]).decode()] == []


def test_defaults_are_told_in_words_in_bodies_and_stand_in_parameters() -> None:
    """`default` has a member of a request required in the types of openapi-typescript."""
    schemas = DOCUMENT["components"]["schemas"]
    members = [member for schema in schemas.values() for member in schema.get("properties", {}).values()]
    assert [member for member in members if "default" in member] == []
    assert schemas["CreateInvoice"]["properties"]["kind"]["description"].endswith('Default: `"invoice"`.')
    limit = next(p for p in DOCUMENT["paths"]["/invoices"]["get"]["parameters"] if p["name"] == "limit")
    assert (limit["schema"]["default"], limit["required"]) == (50, False)


def test_names_of_components_are_identifiers() -> None:
    names = DOCUMENT["components"]["schemas"]
    assert [name for name in names if not re.fullmatch("[A-Z][A-Za-z0-9]*", name)] == []
    assert "Client" not in names  # generated clients have a class of that name
    assert {"InvoicePage", "LeadStatus", "EventKind", "BankAccountType"} <= names.keys()


def every_schema(part: object) -> Iterator[dict[str, Any]]:
    """Every object of the document that says what a value is."""
    if isinstance(part, list):
        for item in part:
            yield from every_schema(item)
    elif isinstance(part, dict):
        if any(word in part and not isinstance(part[word], dict) for word in ("type", "enum", "const", "default")):
            yield part
        for name, member in part.items():
            if name not in ("example", "examples"):
                yield from every_schema(member)


def test_schemas_say_what_generators_of_clients_ask_for() -> None:
    """A type beside what is enumerated, no constant as an enumeration, no null as a default, no pairs."""
    found = list(every_schema(DOCUMENT))
    assert len(found) > 1000
    for schema in found:
        assert "type" in schema or "$ref" in schema or not {"enum", "const", "default"} & schema.keys(), schema
        assert schema.get("enum") != [True], schema
        assert schema.get("default", "") is not None, schema
        assert isinstance(schema.get("items", {}), dict), schema


class Book(Response, frozen=True, kw_only=True):
    """A response whose fields are called as keywords of schemas are."""

    title: str | None
    type: str
    properties: list[str]
    default: str
    enum: list[str]
    examples: list[str]


def test_fields_may_be_called_as_keywords_are() -> None:
    schemas, components = schemas_of([Book])
    assert schemas == [{"$ref": "#/components/schemas/Book"}]
    of_title = {"type": ["string", "null"]}
    several = {"type": "array", "items": {"type": "string"}}
    text = {"type": "string"}
    assert list(components) == ["Book"]
    assert components["Book"]["properties"] == {
        "title": of_title,
        "type": text,
        "properties": several,
        "default": text,
        "enum": several,
        "examples": several,
    }


def test_every_component_is_referred_to() -> None:
    written = msgspec.json.encode(DOCUMENT).decode()
    for name in DOCUMENT["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in written, name


def test_path_parameters_stay_out_of_the_body() -> None:
    document = describe([Area("probe", "Probe", PROBES)], "https://x.example", {}, URLS)
    row = document["paths"]["/things/{thingId}"]["patch"]
    name = row["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert list(document["components"]["schemas"][name]["properties"]) == ["word"]
    assert [p["name"] for p in row["parameters"] if p["in"] == "path"] == ["thingId"]
    OpenAPIV31SpecValidator(document).validate()
