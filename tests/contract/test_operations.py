"""What every row promises, derived from the rows: one test for each operation, one function for each promise."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import ALL_SCOPES, narrower
from gatewayd.http.render import PROBLEM_JSON
from tests.contract.conftest import OpenCatalogue
from tests.contract.description import DESCRIPTION, ROWS, standing_alone
from tests.contract.rows import LISTED, OPERATIONS, addresses, example, fields, references, send
from tests.support.api import Reply, TestedApi


def validator(schema: dict[str, object]) -> Draft202012Validator:
    return Draft202012Validator(schema, format_checker=FormatChecker())


PROBLEM = validator(standing_alone(DESCRIPTION["components"]["schemas"]["Problem"]))
OF_ALL = {
    "billing.getPlans",
    "billing.getOperationCosts",
    "organizations.list",
}  # what the instance has, the same for everybody
KEYED = [(b"idempotency-key", b"k1"), (b"content-type", b"application/json")]


class Trial(NamedTuple):
    """A row, and the API over one of everything. Sent is the row's own example, but for what is said."""

    operation: Operation
    api: TestedApi
    ids: dict[str, str]

    @property
    def values(self) -> dict[str, Any]:
        return example(self.operation, self.ids)

    async def send(self, values: dict[str, Any] | None = None, **how: Any) -> Reply:
        return await send(self.api, self.operation, self.values if values is None else values, **how)


Promise = Callable[[Trial], Awaitable[None]]


OF_EVERY_ANSWER = {"content-type", "content-length", "cache-control", "x-content-type-options"}
"""Header fields that need no description, or have it in the answer's media type."""


def headers_are_described(reply: Reply, described: dict[str, Any]) -> None:
    """`described`: those of the answer in the description."""
    names = {name.lower() for name in described["headers"]}
    answered = {name.decode() for name, _ in reply.headers}
    assert answered - OF_EVERY_ANSWER <= names, answered


def is_problem(reply: Reply, status: int, code: str) -> None:
    assert (reply.status, reply.code) == (status, code), reply.body
    if f"Status{status}" in DESCRIPTION["components"]["responses"]:
        headers_are_described(reply, DESCRIPTION["components"]["responses"][f"Status{status}"])
    assert (b"content-type", PROBLEM_JSON[1]) in reply.headers
    assert reply.json()["requestId"] == reply["x-request-id"]
    PROBLEM.validate(reply.json())


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
async def test_a_row_keeps_its_promises(open_catalogue: OpenCatalogue, operation: Operation) -> None:
    """What changes nothing shares a catalogue: all of a GET, and the refusals of the others."""
    reads = operation.method == "GET"
    broken = []
    for together in [(*REFUSALS, *ANSWERS)] if reads else [REFUSALS, *((answer,) for answer in ANSWERS)]:
        async with open_catalogue() as (api, ids):
            broken += await broken_of(together, Trial(operation, api, ids))
    if broken:
        raise ExceptionGroup(f"{operation.id}: {', '.join(name for name, _ in broken)}", [why for _, why in broken])


async def broken_of(promises: Sequence[Promise], given: Trial) -> list[tuple[str, Exception]]:
    """The promises that are not kept, by name."""
    broken: list[tuple[str, Exception]] = []
    for promise in promises:
        try:
            await promise(given)
        except (AssertionError, ValidationError) as error:
            broken.append((promise.__name__, error))
    return broken


# -- what is answered


async def the_example_is_answered_as_described(given: Trial) -> None:
    reply = await given.send()
    assert reply.status == 200, reply.body
    assert reply["content-type"] == (given.operation.gives_file or "application/json")
    headers_are_described(reply, ROWS[given.operation.id].item["responses"]["200"])
    if given.operation.gives_file:
        assert re.fullmatch(r'attachment; filename="[ -~]+"', reply["content-disposition"])
        media_type, _, _ = given.operation.gives_file.partition("/")
        for accepted in (given.operation.gives_file, f"{media_type}/*"):
            assert (await given.send(headers=[(b"accept", accepted.encode())])).status == 200
    else:
        validator(ROWS[given.operation.id].answer).validate(reply.json())


async def no_other_scope_is_needed(given: Trial) -> None:
    given.api.token("org_a", "just", given.operation.scopes)
    assert (await given.send(token="just")).status == 200


async def mounts_and_aliases_answer_the_same_and_a_key_stands_for_one_request(given: Trial) -> None:
    """A write is repeated under its key, so that the same answer proves the same row."""
    replies = [await given.send(at=address, headers=KEYED) for address in addresses(given.operation)]
    assert {reply.status for reply in replies} == {200}
    assert {reply.body for reply in replies} == {replies[0].body}
    if given.operation.takes_key:
        assert all("idempotent-replayed" in reply for reply in replies[1:])
        headers_are_described(replies[1], ROWS[given.operation.id].item["responses"]["200"])
        name, other = _changed(given.operation, given.values)
        is_problem(await given.send({**given.values, name: other}, headers=KEYED), 409, "idempotency_conflict")


ANSWERS: tuple[Promise, ...] = (
    the_example_is_answered_as_described,
    no_other_scope_is_needed,
    mounts_and_aliases_answer_the_same_and_a_key_stands_for_one_request,
)


# -- what is refused, or changes nothing


async def the_example_conforms_to_the_request_schema(given: Trial) -> None:
    operation = given.operation
    values = {n: v for n, v in operation.example.items() if n not in operation.parameters or not operation.has_body}
    validator(ROWS[operation.id].request).validate(msgspec.to_builtins(values))


async def no_token_is_401(given: Trial) -> None:
    for address in addresses(given.operation):
        reply = await given.send(at=address, token=None)
        is_problem(reply, 401, "authentication_required")
        assert reply["www-authenticate"].startswith("Bearer")


async def an_unknown_token_is_401(given: Trial) -> None:
    reply = await given.send(token="unknown")
    is_problem(reply, 401, "invalid_token")
    assert 'error="invalid_token"' in reply["www-authenticate"]


async def each_scope_is_needed(given: Trial) -> None:
    operation = given.operation
    needed = " ".join(operation.scopes)
    for scope in operation.scopes:
        given.api.token("org_a", "lacking", set(ALL_SCOPES) - {scope, narrower(operation.area, scope)})
        reply = await given.send(token="lacking")
        is_problem(reply, 403, "insufficient_scope")
        assert reply["www-authenticate"] == f'Bearer error="insufficient_scope", scope="{needed}"'


async def another_organizations_id_looks_unknown(given: Trial) -> None:
    if given.operation.area == "organizations":
        return  # an administrator of the instance acts on any, and nobody else on one
    for name, prefix in references(given.operation).items():
        foreign = await given.send(token="other")
        unknown = await given.send({**given.values, name: f"{prefix}_{'0' * 26}"})
        for reply in (foreign, unknown):
            if _is_target(given.operation, name):
                is_problem(reply, 404, "not_found")
            else:
                is_problem(reply, 422, "validation_failed")
                assert (name, "unknown_reference") in {(e["path"], e["code"]) for e in reply.json()["errors"]}
        assert _said_of(foreign, name) == _said_of(unknown, name)


async def an_id_of_another_kind_is_not_found(given: Trial) -> None:
    for name, prefix in references(given.operation).items():
        wrong = next(id_ for other, id_ in given.ids.items() if other.partition("_")[0] != prefix.partition("_")[0])
        reply = await given.send({**given.values, name: wrong})
        assert reply.status == (404 if _is_target(given.operation, name) else 422), reply.body


async def lists_hold_nothing_of_another_organization(given: Trial) -> None:
    if "cursor" in fields(given.operation) and not references(given.operation) and given.operation.id not in OF_ALL:
        asked = LISTED.get(given.operation.id, {})
        assert (await given.send(asked)).json()["data"] != []
        nothing = (await given.send(asked, token="other")).json()
        assert nothing.pop("totals", {"count": 0})["count"] == 0
        assert (nothing["data"], nothing["nextCursor"]) == ([], None)
        assert nothing.keys() - {"data", "nextCursor"} <= {"modeUsed", "recordedSince", "resumeCursor", "warnings"}


async def a_cursor_of_nothing_is_refused(given: Trial) -> None:
    if "cursor" in fields(given.operation):
        values = {name: given.ids[prefix] for name, prefix in references(given.operation).items()}
        values |= LISTED.get(given.operation.id, {})
        is_problem(await given.send({**values, "cursor": "AAAA"}), 400, "invalid_cursor")


async def an_unknown_name_is_400(given: Trial) -> None:
    for address in addresses(given.operation):
        reply = await given.send({**given.values, "noSuchField": "x"}, at=address)
        is_problem(reply, 400, "unknown_parameter")
        assert [error["path"] for error in reply.json()["errors"]] == ["noSuchField"]


async def a_bad_value_of_any_field_is_422(given: Trial) -> None:
    bad: object = [[]] if given.operation.has_body else "x" * 5_000
    for name in fields(given.operation):
        reply = await given.send({**given.values, name: bad})
        is_problem(reply, 422, "validation_failed")
        paths = [error["path"] for error in reply.json()["errors"]]
        assert paths, name
        assert all(path.partition("[")[0].partition(".")[0] == name for path in paths), (name, paths)


async def every_required_field_is_asked_for(given: Trial) -> None:
    required = set(ROWS[given.operation.id].request.get("required", [])) - set(given.operation.parameters)
    for name in required:
        reply = await given.send({n: v for n, v in given.values.items() if n != name})
        is_problem(reply, 422, "validation_failed")
        assert (name, "required") in {(e["path"], e["code"]) for e in reply.json()["errors"]}


async def a_wrong_method_is_405(given: Trial) -> None:
    for address in addresses(given.operation):
        path = address.path
        for name in address.in_path:
            path = path.replace(f":{name}", str(given.values[name]))
        reply = await given.api("PUT", path)
        is_problem(reply, 405, "method_not_allowed")
        assert address.method in reply["allow"].split(", ")


async def a_body_that_is_no_json_is_400(given: Trial) -> None:
    if given.operation.takes_key and not given.operation.takes_file:
        alias = next(at for at in addresses(given.operation) if at.method in ("POST", "PATCH") and not at.in_path)
        is_problem(await given.api(alias.method, alias.path, body=b"{]"), 400, "invalid_json")


REFUSALS: tuple[Promise, ...] = (
    the_example_conforms_to_the_request_schema,
    no_token_is_401,
    an_unknown_token_is_401,
    each_scope_is_needed,
    another_organizations_id_looks_unknown,
    an_id_of_another_kind_is_not_found,
    lists_hold_nothing_of_another_organization,
    a_cursor_of_nothing_is_refused,
    an_unknown_name_is_400,
    a_bad_value_of_any_field_is_422,
    every_required_field_is_asked_for,
    a_wrong_method_is_405,
    a_body_that_is_no_json_is_400,
)


def _is_target(operation: Operation, name: str) -> bool:
    """True where the field names what the operation is about, not what it refers to."""
    return name == "id" or name in operation.parameters


def _changed(operation: Operation, values: dict[str, object]) -> tuple[str, object]:
    """A text of the request with another value that decodes as well."""
    names = ("name", "email", "reference", "id", "url", "pattern", "bankTransactionId", "accountId", "legalEntityId")
    more = ("instrumentId", "tenancyId", "propertyId", "ruleId", "lender", *operation.parameters, "fileName")
    for name in (*names, *more, "source", "folderId", "documentId", "q", "code", "operation", "description", "purpose"):
        if isinstance(values.get(name), str):
            return name, f"{values[name]}x"
    if isinstance(values.get("rate"), str):
        return "rate", f"{values['rate']}1"
    raise AssertionError(f"{operation.id} has no text to change")


def _said_of(reply: Reply, field: str) -> object:
    """What is said of one field of a body, which may not be the only one; of a target the whole problem."""
    problem = {name: value for name, value in reply.json().items() if name != "requestId"}
    return [error for error in problem.get("errors", ()) if error["path"] == field] or problem
