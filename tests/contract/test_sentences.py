"""What fields and parameters mean stands in the description: how a sentence comes there, and how many are lacking."""

import typing
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gatewayd.contract.pages import Page
from gatewayd.contract.sentences import STANDARD, Sentences, Sources, resources_of, structs_in
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.events import EVENT_KINDS
from gatewayd.http.openapi_schemas import described
from tests.contract import sentence_probes as probes
from tests.contract.description import DESCRIPTION
from tests.contract.rows import OPERATIONS

FIELDS_LACKING = 0
PARAMETERS_LACKING = 0
"""How many there may be: it only falls, and what is new has its sentence."""

ANSWERS: dict[Any, list[Any]] = {}
for _operation in OPERATIONS:
    ANSWERS.setdefault(_operation.request, []).append(_operation.response)
_STRUCTS = structs_in(
    [
        *ANSWERS,
        *(operation.response for operation in OPERATIONS if not operation.gives_file),
        *(kind.data for kind in EVENT_KINDS.values()),
    ]
)
SENTENCES = Sentences(Sources(), ANSWERS)


def declared(struct: Any, field: str) -> str:
    """Where the sentence of a field would stand: module, class, name. Of a request its answer's counts."""
    answering = [of for answer in ANSWERS.get(struct, ()) for of in resources_of(answer)]
    struct = next((of for of in answering if field in (typing.get_origin(of) or of).__struct_fields__), struct)
    struct = typing.get_origin(struct) or struct
    base = next((of for of in reversed(struct.__mro__) if field in getattr(of, "__annotations__", {})), struct)
    return f"{base.__module__}:{base.__name__}.{field}"


def test_fields_have_a_sentence() -> None:
    """Under the field, in the body of its class: see `Sentences` for where else it may stand."""
    lacking = {
        declared(struct, field.name)
        for struct in _STRUCTS
        for field in msgspec.structs.fields(struct)
        if SENTENCES.lacks(struct, field)
    }
    assert len(lacking) <= FIELDS_LACKING, "\n".join(["no docstring under:", *sorted(lacking)])


def test_parameters_have_a_sentence() -> None:
    lacking = [
        f"{operation.id}: {field.encode_name}"
        for operation in OPERATIONS
        for field in msgspec.structs.fields(operation.request)
        if (field.encode_name in operation.parameters or not operation.has_body)
        and SENTENCES.lacks(operation.request, field)
    ]
    assert len(lacking) <= PARAMETERS_LACKING, "\n".join(["no sentence for:", *lacking])


def test_what_has_a_sentence_is_described_by_it() -> None:
    """In the file that is checked in, of every struct that has a component there."""
    seen = 0
    for struct in _STRUCTS:
        component = DESCRIPTION["components"]["schemas"].get(struct.__name__ if isinstance(struct, type) else "", {})
        for field in msgspec.structs.fields(struct):
            sentence = SENTENCES.of(struct, field)
            member = component.get("properties", {}).get(field.encode_name)
            if sentence and member is not None:
                seen += 1
                assert member["description"].startswith(sentence), (struct, field.name)
    assert seen > 250


def test_docstrings_have_no_indentation() -> None:
    for component in DESCRIPTION["components"]["schemas"].values():
        assert "\n  " not in component.get("description", "")


# -- how a sentence is found


PROBED = Sentences(Sources(), {probes.ListBerths: [Page[probes.Berth]], probes.MoveBerth: [probes.Berth]})


def said(struct: Any) -> dict[str, str]:
    return {field.name: PROBED.of(struct, field) for field in msgspec.structs.fields(struct)}


def test_a_sentence_stands_under_its_field_and_is_taken_over_from_a_base() -> None:
    assert said(probes.Berth) == {
        "id": STANDARD["id"],
        "quay": "The quay, as the harbour writes it.",
        "since": "The first night. Null: nobody has come yet, nor is anybody expected.",
        "fee": "What a night costs.",
        "light": "Whether it has a lamp.",
    }
    assert said(probes.LitBerth) == {**said(probes.Berth), "light": "Always true.", "watts": ""}


def test_an_update_says_what_it_updates_says() -> None:
    assert said(probes.CreateBerth) == {"quay": "Which quay. Left out: the one by the gate.", "fee": ""}
    assert said(probes.UpdateBerth) == {"quay": "Which quay. Left out: the one by the gate.", "fee": "The new one."}


def test_a_request_says_what_its_answer_says_of_the_same_field() -> None:
    assert said(probes.MoveBerth) == {
        "flag_ship_id": "The flag ship, by its `id`.",
        "quay": "The quay, as the harbour writes it.",
        "reason": "",
    }
    assert said(probes.ListBerths) == {
        "limit": "",  # its type says it
        "cursor": "",
        "quay": "The quay, as the harbour writes it.",
        "light": "Only those that have one.",
    }


def test_what_is_standard_needs_no_sentence_and_a_form_is_none() -> None:
    def lacking(struct: Any) -> list[str]:
        return [field.name for field in msgspec.structs.fields(struct) if PROBED.lacks(struct, field)]

    assert lacking(probes.Berth) == []
    assert lacking(probes.LitBerth) == ["watts"]
    assert lacking(probes.ListBerths) == []
    assert lacking(probes.MoveBerth) == ["reason"]
    assert lacking(probes.CreateBerth) == ["fee"]  # money: that is a form
    assert lacking(Page[probes.Berth]) == []


def test_the_sentence_comes_first_and_the_form_behind_it() -> None:
    _, components = described([probes.LitBerth])
    members = components["LitBerth"]["properties"]
    assert members["since"] == {
        "type": ["string", "null"],
        "format": "date",
        "description": "The first night. Null: nobody has come yet, nor is anybody expected. "
        "A civil date in Europe/London.",
    }
    assert members["fee"]["description"].startswith("What a night costs. Money: a decimal string")
    assert "description" not in members["watts"]
    assert components["LitBerth"]["description"] == "One with a lamp.\n\nWhich burns all night."


def test_a_sentence_stands_beside_a_reference() -> None:
    _, components = described([probes.Harbour])
    assert components["Harbour"]["properties"] == {
        "main": {"$ref": "#/components/schemas/Berth", "description": "The one by the gate."},
        "state": {"$ref": "#/components/schemas/HarbourState", "description": "Whether it takes boats."},
        "others": {"type": "array", "items": {"$ref": "#/components/schemas/Berth"}},
    }


def test_of_a_class_without_a_source_nothing_is_said() -> None:
    made = msgspec.defstruct("Made", [("quay", str)])
    assert Sources().sentence(made, "quay") == ""
    updating = msgspec.defstruct("Made", [("quay", str)], namespace={"__updates__": probes.CreateBerth})
    assert Sources().sentence(updating, "quay") == "Which quay. Left out: the one by the gate."


# -- names of components


class Shelf(Response, frozen=True, kw_only=True):
    """Where books stand."""

    state: Literal["full", "free"]
    kind: probes.Kind
    wood: probes.WoodOfShelf | None
    back: probes.WoodOfShelf


class Case(Response, frozen=True, kw_only=True):
    """Another one."""

    state: Literal["full", "free"]
    kind: Literal["glass", "open"]
    only: Literal["one"]
    many: list[probes.WoodOfShelf]


def test_closed_sets_of_values_are_components_with_the_names_of_their_aliases() -> None:
    """One of one word gets its owner's name before it, as one without a name does."""
    _, components = described([Shelf, Case])
    assert set(components) == {"Shelf", "Case", "ShelfState", "ShelfKind", "CaseKind", "WoodOfShelf"}
    assert components["WoodOfShelf"] == {"type": "string", "enum": ["ash", "oak"]}
    reference = {"$ref": "#/components/schemas/WoodOfShelf"}
    assert components["Shelf"]["properties"]["wood"] == {"anyOf": [reference, {"type": "null"}]}
    assert components["Case"]["properties"]["many"] == {"type": "array", "items": reference}
    assert components["Case"]["properties"]["state"] == {"$ref": "#/components/schemas/ShelfState"}
    assert components["Case"]["properties"]["only"] == {"type": "string", "const": "one"}


class Client(Response, frozen=True, kw_only=True):
    """Whom generated clients would take for themselves."""

    since: Timestamp


def test_a_generic_struct_has_the_name_of_its_argument_first() -> None:
    schemas, components = described([Page[Shelf], Page[Client], Page[Annotated[int, Meta(description="A number.")]]])
    assert [schema["$ref"].rpartition("/")[2] for schema in schemas] == ["ShelfList", "BillingClientList", "List"]
    assert components["ShelfList"]["title"] == "ShelfList"
