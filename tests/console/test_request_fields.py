"""Fields of forms follow from requests: each operation's, with its own example."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from werkzeug.datastructures import MultiDict

from gatewayd.console.components.shapes import Option
from gatewayd.console.operations.request_fields import RequestFields, Wording, fields_of, texts_of, words_of
from gatewayd.contract.operation import Operation
from gatewayd.contract.sentences import Sentences, Sources
from gatewayd.errors import FieldError
from tests.support.rows import CATALOGUE

SENTENCES = Sentences(Sources(), {row.request: [row.response] for row in CATALOGUE.operations})
ROWS = {row.id: row for row in CATALOGUE.operations}
BODIES = [row for row in CATALOGUE.operations if row.method == "POST" and not row.takes_file]


def form_of(texts: dict[str, list[str]]) -> MultiDict[str, str]:
    return MultiDict([(name, text) for name, each in texts.items() for text in each])


def enterable(value: Any, fields: RequestFields, path: str = "") -> Any:
    """What of an example a form has fields for: no lists within rows, no maps, and no false, which is an empty box."""
    row = next((leaf for leaf in fields.leaves if leaf.path == path and leaf.inner), None)
    if row is not None:
        return [enterable(each, fields.of_row(row)) for each in value]
    if isinstance(value, dict):
        inner = {name: enterable(each, fields, f"{path}.{name}" if path else name) for name, each in value.items()}
        return {name: each for name, each in inner.items() if each is not None and each != {}}
    return value if any(leaf.path == path for leaf in fields.leaves) else None


@pytest.mark.parametrize("row", BODIES, ids=lambda row: row.id)
def test_a_form_brings_back_what_it_was_given(row: Operation) -> None:
    fields = fields_of(row.request, (), SENTENCES)
    example = enterable(msgspec.to_builtins(row.example), fields)
    sent = fields.values(form_of(texts_of(example, fields.leaves)))
    boxes = {leaf.path for leaf in fields.leaves if leaf.kind == "checkbox"}
    boxes |= {f"{leaf.path}.{each.path}" for leaf in fields.leaves for each in leaf.inner if each.kind == "checkbox"}
    assert without_unticked(sent, boxes) == without_unticked(example, boxes)
    for field, leaf in zip(fields.shown({}), fields.leaves, strict=True):
        assert field.label
        assert field.name == leaf.path
        assert "`" not in field.hint
        assert "Null:" not in field.hint


def without_unticked(values: Any, boxes: set[str], prefix: str = "") -> dict[str, Any]:
    return {path: value for path, value in flat(values, prefix) if path not in boxes or value}


def flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for each in value:
                yield from flat(each, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize(
    ("operation", "path", "kind"),
    [
        ("crm.createLead", "email", "email"),
        ("crm.createLead", "notes", "textarea"),
        ("crm.createLead", "status", "select"),
        ("crm.createLead", "source", "text"),
        ("webhooks.create", "url", "text"),
        ("webhooks.update", "enabled", "checkbox"),
        ("webhooks.recover", "since", "instant"),
        ("webhooks.recover", "statuses", "choices"),
        ("webhooks.recover", "perSecond", "number"),
        ("accounting.createClient", "billingAddress.postcode", "text"),
        ("landlord.recordRent", "amount", "money"),
        ("landlord.recordRent", "date", "date"),
    ],
)
def test_a_field_is_entered_as_its_type_wants(operation: str, path: str, kind: str) -> None:
    fields = fields_of(ROWS[operation].request, (), SENTENCES)
    assert {leaf.path: leaf.kind for leaf in fields.leaves}[path] == kind


def test_what_is_required_and_how_long_it_may_be() -> None:
    source, name = fields_of(ROWS["crm.createLead"].request, ("source", "name"), SENTENCES).shown({})
    assert (source.required, source.most, name.required, name.most) == (True, 64, False, 160)
    address = fields_of(ROWS["accounting.createClient"].request, ("billingAddress",), SENTENCES)
    assert not any(field.required for field in address.shown({})), "an address may be left out whole"


def test_what_is_emptied_is_taken_away_only_where_the_form_changes_something() -> None:
    fields = fields_of(ROWS["webhooks.update"].request, ("externalId", "url"), SENTENCES)
    form = MultiDict([("externalId", " "), ("url", "")])
    assert fields.values(form) == {}
    assert fields.values(form, clears=True) == {"externalId": None}
    assert fields.values(MultiDict(), clears=True) == {}, "a field that the page does not show stays as it is"


def test_numbers_and_instants() -> None:
    fields = fields_of(ROWS["webhooks.recover"].request, ("since", "perSecond", "dryRun"), SENTENCES)
    form = MultiDict([("since", "2026-11-22T09:00"), ("perSecond", "7"), ("dryRun", "true")])
    assert fields.values(form) == {"since": "2026-11-22T09:00:00Z", "perSecond": 7, "dryRun": True}
    form = MultiDict([("since", "2026-11-22T09:00:00.125Z"), ("perSecond", "seven")])
    assert fields.values(form) == {"since": "2026-11-22T09:00:00.125Z", "perSecond": "seven", "dryRun": False}


def test_errors_stand_with_their_fields_and_the_others_are_told() -> None:
    fields = fields_of(ROWS["webhooks.create"].request, ("url", "events"), SENTENCES, {"url": Wording("URL", "Where.")})
    errors = [FieldError("events[1]", "unknown_event", "Not one."), FieldError("externalId", "taken", "It is taken.")]
    url, events = fields.shown({"events": ["a", "b"]}, errors, {"events": [Option("a", "A")]})
    assert (url.label, url.hint, url.error) == ("URL", "Where.", "")
    assert (events.kind, events.values, events.error) == ("choices", ("a", "b"), "Not one.")
    assert fields.elsewhere(errors) == errors[1:]


def test_a_filter_leaves_everything_open() -> None:
    request = ROWS["webhooks.list"].request
    fields = fields_of(request, ("enabled", "externalId"), SENTENCES, is_filter=True)
    enabled, external = fields.shown({"enabled": ["false"]})
    assert (enabled.kind, enabled.value, [each.value for each in enabled.options]) == (
        "select",
        "false",
        ["", "true", "false"],
    )
    assert not external.required
    assert not external.hint
    assert fields.query(MultiDict([("enabled", ""), ("externalId", "x"), ("other", "y")])) == {"externalId": ["x"]}
    status, *_ = fields_of(ROWS["webhooks.listDeliveries"].request, ("status",), SENTENCES, is_filter=True).shown({})
    assert status.kind == "select"


def test_a_name_that_a_request_does_not_have_is_a_fault_of_the_page() -> None:
    with pytest.raises(KeyError):
        fields_of(ROWS["crm.createLead"].request, ("colour",), SENTENCES)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("legalEntityId", "Legal entity"),
        ("createdAt", "Created at"),
        ("address.line1", "Line 1"),
        ("part_paid", "Part paid"),
        ("id", "ID"),
        ("vatNumber", "VAT number"),
    ],
)
def test_names_become_words(name: str, words: str) -> None:
    assert words_of(name) == words


LINES = ("clientId", "lines.description", "lines.unitPrice")


def test_rows_have_the_fields_that_are_named_and_carry_the_others_where_something_is_changed() -> None:
    request = ROWS["accounting.updateInvoice"].request
    fields = fields_of(request, LINES, SENTENCES, {"lines": Wording("Sold", "", one="line")}, carries=True)
    there = {"clientId": "c", "lines": [{"description": "Oak", "unitPrice": "1", "cisLabour": True}, {"unit": "day"}]}
    client, lines = fields.shown(texts_of(there, fields.leaves))
    assert (client.value, lines.kind, lines.label, lines.one, lines.most) == ("c", "rows", "Sold", "line", 200)
    first, second = lines.rows
    entered = [each.name for each in first if each.kind != "carried"]
    assert entered == ["lines.0.description", "lines.0.unitPrice"]
    assert {each.name: each.values for each in first if each.values and each.kind == "carried"} == {
        "lines.0.cisLabour": ("true",)
    }
    assert [each.values for each in second if each.name == "lines.1.unit"] == [("day",)]
    form = form_of({"lines.4.description": ["Elm"], "lines.4.cisLabour": ["true"], "lines.9.unit": ["day"]})
    (line,) = fields.values(form)["lines"]
    assert (line["description"], line["cisLabour"]) == ("Elm", True), "a row without anything entered is none"
    assert fields.values(form_of({"lines.0.description": [""]}), clears=True) == {"lines": None}
    plain = fields_of(request, LINES, SENTENCES)
    assert len(plain.shown({})[1].rows[0]) == 2


def test_what_is_wrong_with_a_row_is_said_in_its_field_or_above_all_of_them() -> None:
    fields = fields_of(ROWS["accounting.createInvoice"].request, LINES, SENTENCES)
    errors = [
        FieldError("lines[1].unitPrice", "required", "Say it."),
        FieldError("lines[0].category", "conflict", "Not this."),
        FieldError("lines", "out_of_range", "Too many."),
    ]
    given = {"lines.0.description": ["a"], "lines.1.description": ["b"]}
    _, lines = fields.shown(given, errors)
    assert [each.error for row in lines.rows for each in row] == ["", "", "", "Say it."]
    assert lines.error == "Too many. Row 1: Not this."
    assert fields.elsewhere(errors) == []


def test_a_name_that_a_row_does_not_have_is_a_fault_of_the_page() -> None:
    with pytest.raises(KeyError):
        fields_of(ROWS["accounting.createInvoice"].request, ("lines.colour",), SENTENCES)
    address = fields_of(ROWS["accounting.createClient"].request, ("billingAddress.town",), SENTENCES)
    assert [leaf.path for leaf in address.leaves] == ["billingAddress.town"]
