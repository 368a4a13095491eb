"""What every row promises, derived from the rows: each test runs for each operation there is."""

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import ALL_SCOPES, narrower
from gatewayd.http.render import PROBLEM_JSON
from tests.contract.conftest import OpenCatalogue
from tests.contract.description import DESCRIPTION, ROWS, standing_alone
from tests.contract.rows import OPERATIONS, addresses, example, fields, references, send
from tests.support.api import Reply

PROBLEM = standing_alone(DESCRIPTION["components"]["schemas"]["Problem"])

each = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
each_write = pytest.mark.parametrize(
    "operation",
    [o for o in OPERATIONS if o.takes_key],
    ids=lambda operation: operation.id,
)
each_plain_list = pytest.mark.parametrize(
    "operation",
    [o for o in OPERATIONS if "cursor" in fields(o) and not references(o)],
    ids=lambda operation: operation.id,
)
each_list = pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if "cursor" in fields(o)], ids=lambda operation: operation.id
)
each_with_references = pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if references(o)], ids=lambda operation: operation.id
)


def conforms(document: object, schema: dict[str, object]) -> None:
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(document)


def is_problem(reply: Reply, status: int, code: str) -> None:
    assert (reply.status, reply.code) == (status, code), reply.body
    assert (b"content-type", PROBLEM_JSON[1]) in reply.headers
    assert reply.json()["requestId"] == reply["x-request-id"]
    conforms(reply.json(), PROBLEM)


@each
async def test_the_example_is_answered_as_described(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        reply = await send(api, operation, example(operation, ids))
    assert reply.status == 200, reply.body
    assert reply["content-type"] == (operation.gives_file or "application/json")
    if not operation.gives_file:
        conforms(reply.json(), ROWS[operation.id].answer)


@each
async def test_the_example_conforms_to_the_request_schema(operation: Operation) -> None:
    values = {n: v for n, v in operation.example.items() if n not in operation.parameters or not operation.has_body}
    conforms(msgspec.to_builtins(values), ROWS[operation.id].request)


@each
async def test_no_token_is_401(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        for address in addresses(operation):
            reply = await send(api, operation, example(operation, ids), at=address, token=None)
            is_problem(reply, 401, "authentication_required")
            assert reply["www-authenticate"].startswith("Bearer")


@each
async def test_an_unknown_token_is_401(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        reply = await send(api, operation, example(operation, ids), token="unknown")
        is_problem(reply, 401, "invalid_token")
        assert 'error="invalid_token"' in reply["www-authenticate"]


@each
async def test_each_scope_is_needed(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    needed = " ".join(operation.scopes)
    async with open_catalogue() as (api, ids):
        for scope in operation.scopes:
            api.token("org_a", "lacking", set(ALL_SCOPES) - {scope, narrower(operation.area, scope)})
            reply = await send(api, operation, example(operation, ids), token="lacking")
            is_problem(reply, 403, "insufficient_scope")
            assert reply["www-authenticate"] == f'Bearer error="insufficient_scope", scope="{needed}"'


@each
async def test_no_other_scope_is_needed(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        api.token("org_a", "just", operation.scopes)
        assert (await send(api, operation, example(operation, ids), token="just")).status == 200


@each_with_references
async def test_another_organizations_id_looks_unknown(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        for name, prefix in references(operation).items():
            values = example(operation, ids)
            foreign = await send(api, operation, values, token="other")
            unknown = await send(api, operation, {**values, name: f"{prefix}_{'0' * 26}"})
            for reply in (foreign, unknown):
                if _is_target(operation, name):
                    is_problem(reply, 404, "not_found")
                else:
                    is_problem(reply, 422, "validation_failed")
                    assert (name, "unknown_reference") in {(e["path"], e["code"]) for e in reply.json()["errors"]}
            assert _said_of(foreign, name) == _said_of(unknown, name)


@each_with_references
async def test_an_id_of_another_kind_is_not_found(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        for name, prefix in references(operation).items():
            wrong = next(id_ for other, id_ in ids.items() if other != prefix)
            reply = await send(api, operation, {**example(operation, ids), name: wrong})
            assert reply.status == (404 if _is_target(operation, name) else 422), reply.body


@each_plain_list
async def test_lists_hold_nothing_of_another_organization(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, _):
        assert (await send(api, operation, {})).json()["data"] != []
        assert (await send(api, operation, {}, token="other")).json() == {"data": [], "nextCursor": None}


@each_list
async def test_a_cursor_of_nothing_is_refused(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        values = {name: ids[prefix] for name, prefix in references(operation).items()}
        is_problem(await send(api, operation, {**values, "cursor": "AAAA"}), 400, "invalid_cursor")


@each
async def test_an_unknown_name_is_400(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        for address in addresses(operation):
            reply = await send(api, operation, {**example(operation, ids), "noSuchField": "x"}, at=address)
            is_problem(reply, 400, "unknown_parameter")
            assert [error["path"] for error in reply.json()["errors"]] == ["noSuchField"]


@each
async def test_a_bad_value_of_any_field_is_422(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    bad: object = [[]] if operation.has_body else "x" * 5_000
    async with open_catalogue() as (api, ids):
        for name in fields(operation):
            reply = await send(api, operation, {**example(operation, ids), name: bad})
            is_problem(reply, 422, "validation_failed")
            paths = [error["path"] for error in reply.json()["errors"]]
            assert paths, name
            assert all(path.partition("[")[0].partition(".")[0] == name for path in paths), (name, paths)


@each
async def test_every_required_field_is_asked_for(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    required = set(ROWS[operation.id].request.get("required", [])) - set(operation.parameters)
    async with open_catalogue() as (api, ids):
        for name in required:
            values = {n: v for n, v in example(operation, ids).items() if n != name}
            reply = await send(api, operation, values)
            is_problem(reply, 422, "validation_failed")
            assert (name, "required") in {(e["path"], e["code"]) for e in reply.json()["errors"]}


@each
async def test_a_wrong_method_is_405(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, ids):
        for address in addresses(operation):
            path = address.path
            for name in address.in_path:
                path = path.replace(f":{name}", str(example(operation, ids)[name]))
            reply = await api("PUT", path)
            is_problem(reply, 405, "method_not_allowed")
            assert address.method in reply["allow"].split(", ")


@each
async def test_mounts_and_aliases_answer_the_same(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    """A write is repeated under its key, so that the same answer proves the same row."""
    headers = [(b"idempotency-key", b"k1"), (b"content-type", b"application/json")]
    async with open_catalogue() as (api, ids):
        values = example(operation, ids)
        replies = [await send(api, operation, values, at=a, headers=headers) for a in addresses(operation)]
    assert {reply.status for reply in replies} == {200}
    assert {reply.body for reply in replies} == {replies[0].body}
    if operation.takes_key:
        assert all("idempotent-replayed" in reply for reply in replies[1:])


@each_write
async def test_a_key_with_another_body_is_a_conflict(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    headers = [(b"idempotency-key", b"k1"), (b"content-type", b"application/json")]
    async with open_catalogue() as (api, ids):
        values = example(operation, ids)
        assert (await send(api, operation, values, headers=headers)).status == 200
        name, other = _changed(operation, values)
        reply = await send(api, operation, {**values, name: other}, headers=headers)
        is_problem(reply, 409, "idempotency_conflict")


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if o.takes_key and not o.takes_file], ids=lambda operation: operation.id
)
async def test_a_body_that_is_no_json_is_400(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    async with open_catalogue() as (api, _):
        path = addresses(operation)[-1].path  # the alias, which takes a body in any case
        is_problem(await api(addresses(operation)[-1].method, path, body=b"{]"), 400, "invalid_json")


def _is_target(operation: Operation, name: str) -> bool:
    """True where the field names what the operation is about, not what it refers to."""
    return name == "id" or name in operation.parameters


def _changed(operation: Operation, values: dict[str, object]) -> tuple[str, object]:
    """A text of the request with another value that decodes as well."""
    names = (
        "name",
        "email",
        "reference",
        "id",
        "url",
        "pattern",
        "bankTransactionId",
        "accountId",
        "legalEntityId",
        "instrumentId",
    )
    for name in (*names, "instrumentId", *operation.parameters):
        if isinstance(values.get(name), str):
            return name, f"{values[name]}x"
    if isinstance(values.get("fileName"), str):
        return "fileName", f"{values['fileName']}x"
    if isinstance(values.get("rate"), str):
        return "rate", f"{values['rate']}1"
    raise AssertionError(f"{operation.id} has no text to change")


def _said_of(reply: Reply, field: str) -> object:
    """What is said of one field of a body, which may not be the only one; of a target the whole problem."""
    problem = {name: value for name, value in reply.json().items() if name != "requestId"}
    return [error for error in problem.get("errors", ()) if error["path"] == field] or problem
