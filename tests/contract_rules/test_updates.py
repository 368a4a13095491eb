"""Requests to change a resource have the fields of the request to create it (CONTRIBUTING, "Adding a resource")."""

from typing import Annotated

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.updates import updates
from gatewayd.contract.wire import Id, Request, Response, Version

Quay = Annotated[str, Meta(min_length=1, pattern=r"\S")]
Fee = Annotated[str | None, Meta(description="Null: she lies there for nothing.")]


class Mooring(Response, frozen=True, kw_only=True):
    """Where a boat lies."""

    id: Id
    quay: str
    boat_name: str | None
    fee: Fee
    tags: list[str]


class CreateMooring(Request, frozen=True, kw_only=True):
    """A new mooring."""

    harbour_id: Id
    quay: Quay
    boat_name: str | None = None
    fee: str = "10.00"
    tags: list[str] | None = None
    hidden: bool | None = None


@updates(CreateMooring, of=Mooring, without=("harbour_id",))
class UpdateMooring(Request, frozen=True, kw_only=True):
    """The fields to change."""

    id: Id
    expected_version: Version | None = None
    closed: bool = False
    tags: list[str] | UnsetType | None = UNSET
    reasons: list[str] = msgspec.field(default_factory=list)


def read(body: str) -> UpdateMooring:
    return msgspec.json.decode(body, type=UpdateMooring)


def types_of(struct: type[msgspec.Struct]) -> dict[str, object]:
    return {field.name: field.type for field in msgspec.structs.fields(struct)}


def test_what_is_absent_is_unset() -> None:
    request = read('{"id": "moor_1"}')
    assert request.id == "moor_1"
    assert [getattr(request, name) for name in ("quay", "boat_name", "fee", "tags", "hidden")] == [UNSET] * 5
    assert request.expected_version is None


def test_null_is_taken_where_the_answer_can_be_null() -> None:
    request = read('{"id": "moor_1", "boatName": null, "fee": null}')
    assert (request.boat_name, request.fee) == (None, None)


@pytest.mark.parametrize("name", ["quay", "hidden"])  # the answer's is never null; the answer has none
def test_null_is_refused_elsewhere(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{name}"):
        read(f'{{"id": "moor_1", "{name}": null}}')


def test_a_type_keeps_what_its_annotations_ask_for() -> None:
    assert types_of(UpdateMooring)["quay"] == Quay | UnsetType
    with pytest.raises(msgspec.ValidationError, match=r"\$\.quay"):
        read('{"id": "moor_1", "quay": ""}')


def test_what_is_spelled_out_stays() -> None:
    request = read('{"id": "moor_1", "tags": null}')
    assert (request.tags, request.closed, request.reasons) == (None, False, [])
    with pytest.raises(msgspec.ValidationError, match="expectedVersion"):
        read('{"id": "moor_1", "expectedVersion": 0}')


@pytest.mark.parametrize("name", ["harbourId", "harbour"])
def test_what_nothing_changes_is_an_unknown_field(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"unknown field `{name}`"):
        read(f'{{"id": "moor_1", "{name}": "harb_1"}}')


def test_ids_come_first_then_the_fields_of_create_in_its_order() -> None:
    expected = ["id", "expected_version", "quay", "boat_name", "fee", "tags", "hidden", "closed", "reasons"]
    assert list(types_of(UpdateMooring)) == expected


def test_the_class_is_what_it_was() -> None:
    assert (UpdateMooring.__name__, UpdateMooring.__qualname__) == ("UpdateMooring", "UpdateMooring")
    assert (UpdateMooring.__module__, UpdateMooring.__doc__) == (__name__, "The fields to change.")
    assert issubclass(UpdateMooring, Request)
    assert UpdateMooring.__struct_config__.frozen
    assert vars(UpdateMooring)["__updates__"] is CreateMooring


def test_methods_and_fields_of_a_base_stay() -> None:
    class OfAMooring(Request, frozen=True, kw_only=True):
        mooring_id: Id

    @updates(CreateMooring, of=Mooring)
    class Move(OfAMooring, frozen=True, kw_only=True):
        """Where to."""

        def where(self) -> str:
            return self.mooring_id

    assert msgspec.json.decode('{"mooringId": "moor_1"}', type=Move).where() == "moor_1"
    assert Move.__qualname__ == "test_methods_and_fields_of_a_base_stay.<locals>.Move"


def test_a_name_that_create_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^CreateMooring has no pier, wharf\.$"):
        updates(CreateMooring, of=Mooring, without=("wharf", "quay", "pier"))


def test_what_is_spelled_out_cannot_be_left_out_as_well() -> None:
    with pytest.raises(TypeError, match=r"^Rename spells out quay\.$"):

        @updates(CreateMooring, of=Mooring, without=("quay",))
        class Rename(Request, frozen=True, kw_only=True):
            """Which quay."""

            quay: Quay | UnsetType = UNSET
