"""Members of requests that had another name before, and the target of a request by `id`."""

import dataclasses
from typing import ClassVar

import msgspec
import pytest

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Date, Id, Request, Version
from gatewayd.errors import Problem
from gatewayd.http.openapi_former_names import add
from tests.contract_rules.rows import Colour, decoder, row


class ListThings(SyncRequest, frozen=True, kw_only=True):
    former_names: ClassVar = {"on": "asOfDate", "colours": "colour"}

    as_of_date: Date | None = None
    colour: list[Colour] | None = None


class ListSmallThings(ListThings, frozen=True, kw_only=True):
    former_names: ClassVar = {"atMost": "size"}

    size: int | None = None


class ChangeThing(Request, frozen=True, kw_only=True):
    former_names: ClassVar = {"rev": "expectedVersion"}

    thing_id: Id
    expected_version: Version | None = None


LIST, SMALL = decoder(ListThings), decoder(ListSmallThings)
CHANGE = RequestDecoder(
    dataclasses.replace(row(ChangeThing), method="PATCH", path="/things/:thingId", id="things.changeThing")
)


def faults(caught: pytest.ExceptionInfo[Problem]) -> list[tuple[str, str]]:
    return [(error.path, error.code) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("on=2026-11-20", "asOfDate=2026-11-20"),
        ("colours=red,blue", "colour=red&colour=blue"),
        ("on=2026-11-20&colours=red", "colour=red&asOfDate=2026-11-20"),
        ("on=2026-11-20&asOfDate=2026-11-20", "asOfDate=2026-11-20"),
        ("colours=red&colour=red&colours=blue&colour=blue", "colour=red,blue"),
    ],
)
def test_a_query_says_the_same_by_the_former_name(former: str, now: str) -> None:
    assert LIST.query(former) == LIST.query(now) != LIST.query("")


def test_former_names_are_those_of_what_a_request_extends_too() -> None:
    assert SMALL.query("on=2026-11-20&atMost=3") == SMALL.query("asOfDate=2026-11-20&size=3")
    with pytest.raises(Problem) as caught:
        LIST.query("atMost=3")
    assert caught.value.code == "unknown_parameter"


def test_two_names_with_two_values_are_a_conflict() -> None:
    with pytest.raises(Problem) as caught:
        LIST.query("on=2026-11-20&asOfDate=2026-11-21")
    assert faults(caught) == [("on", "conflict")]
    assert "`asOfDate`" in caught.value.errors[0].message
    with pytest.raises(Problem) as caught:
        CHANGE.body(b'{"rev": 1, "expectedVersion": 2}', {"thingId": "t"})
    assert faults(caught) == [("rev", "conflict")]


def test_a_former_name_given_twice_is_refused_as_any_other() -> None:
    with pytest.raises(Problem) as caught:
        LIST.query("on=2026-11-20&on=2026-11-20")
    assert caught.value.code == "invalid_request"


def test_what_is_wrong_has_the_name_that_was_given() -> None:
    with pytest.raises(Problem) as caught:
        LIST.query("on=soon&limit=0")
    assert sorted(faults(caught)) == [("limit", "out_of_range"), ("on", "invalid_format")]
    with pytest.raises(Problem) as caught:
        LIST.query("colours=green")
    assert faults(caught) == [("colours[0]", "invalid_enum")]
    with pytest.raises(Problem) as caught:
        LIST.query("asOfDate=soon")
    assert faults(caught) == [("asOfDate", "invalid_format")]
    with pytest.raises(Problem) as caught:
        CHANGE.body(b'{"rev": 0}', {"thingId": "t"})
    assert faults(caught) == [("rev", "out_of_range")]


def test_what_is_not_known_is_still_said_beside_a_former_name() -> None:
    with pytest.raises(Problem) as caught:
        LIST.query("on=2026-11-20&colors=red")
    assert faults(caught) == [("colors", "unknown_parameter")]


def test_the_target_is_id_whatever_a_path_calls_it() -> None:
    by_path = CHANGE.body(b'{"expectedVersion": 3}', {"thingId": "t"})
    assert CHANGE.body(b'{"id": "t", "rev": 3}') == CHANGE.body(b'{"thingId": "t", "expectedVersion": 3}') == by_path
    assert CHANGE.body(b'{"id": "t", "rev": 3}', {"thingId": "t"}) == by_path
    for body, path in ((b'{"id": "u"}', {"thingId": "t"}), (b'{"id": "u", "thingId": "t"}', {})):
        with pytest.raises(Problem) as caught:
            CHANGE.body(body, path)
        assert [code for _, code in faults(caught)] == ["conflict"]
    with pytest.raises(Problem) as caught:
        CHANGE.body(b"{}")
    assert faults(caught) == [("thingId", "required")]


def test_the_description_calls_them_deprecated() -> None:
    reads = dataclasses.replace(row(ListThings), id="things.list", path="/things")
    changes = dataclasses.replace(row(ChangeThing), method="PATCH", path="/things/:thingId", id="things.changeThing")
    colour = {"type": "array"}
    paths = {
        "/things": {
            "get": {
                "operationId": reads.id,
                "parameters": [{"name": "colour", "in": "query", "required": False, "schema": colour, "example": []}],
            }
        },
        "/things/{thingId}": {
            "patch": {
                "operationId": changes.id,
                "parameters": [],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Change"}}}},
            }
        },
    }
    version = {"type": "integer", "description": "What was read."}
    schemas = {"Change": {"type": "object", "properties": {"expectedVersion": version}}}
    add(paths, schemas, [reads, changes])
    assert paths["/things"]["get"]["parameters"][1:] == [
        {
            "name": "colours",
            "in": "query",
            "required": False,
            "schema": colour,
            "description": "The former name of `colour`.",
            "deprecated": True,
        }
    ]
    assert schemas["Change"]["properties"]["rev"] == {
        "type": "integer",
        "description": "The former name of `expectedVersion`.",
        "deprecated": True,
    }
    schemas["Change"]["required"] = ["expectedVersion"]
    del schemas["Change"]["properties"]["rev"]
    add(paths, schemas, [reads, changes])
    add(paths, schemas, [reads, changes])
    said = "What was read. `rev`, its former name, is taken too."
    assert schemas["Change"]["properties"] == {"expectedVersion": {"type": "integer", "description": said}}


def test_a_request_without_other_names_has_none() -> None:
    class Plain(Request, frozen=True, kw_only=True):
        id: Id

    assert msgspec.to_builtins(decoder(Plain).query("", {"id": "t"})) == {"id": "t"}
