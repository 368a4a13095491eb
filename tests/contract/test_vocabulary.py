"""Every row keeps to the words of requests that CONTRIBUTING has, and the words of before are taken as ever."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import msgspec.inspect
import pytest

from gatewayd.contract import former_names
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import PageRequest, SortOrder, SyncRequest
from gatewayd.errors import Problem
from tests.contract import promises
from tests.contract.description import DESCRIPTION, ROWS
from tests.contract.rows import OPERATIONS, query_of
from tests.support.given_fields import names_in

PROMISED: Final = promises.read()

_MAKES_ANOTHER: Final = "it makes another resource, whose version nobody has read"
_OF_THE_AUTHORITY: Final = "the tax authority's own name, which is passed on"
_STATE_SAYS_IT: Final = "only its state changes it, and another state is refused"
_SOME_OF_THEM: Final = "some of the documents whose changes `vault.listDocuments` tells"
STATES: Final = "Archived|Closed|Deleted|Former|Retired|Reversed|Superseded"
"""In which rows are that a list may leave out."""
OTHER_WORDS: Final[Mapping[tuple[str, str], str]] = {
    ("webhooks.listDeliveries", "id"): "Spec §4 Webhooks",
    ("webhooks.get", "id"): "below the path that Spec §4 Webhooks gives",
    ("banking.listAllocations", "includeTotals"): "it adds to the answer, and hides no rows",
    ("vault.getFolder", "includeCounts"): "it adds to the answer, and hides no rows",
    ("vault.getFolders", "includeCounts"): "it adds to the answer, and hides no rows",
    ("assets.importTransactions", "expectedVersion"): _MAKES_ANOTHER,
    ("banking.importStatement", "expectedVersion"): _MAKES_ANOTHER,
    ("banking.stateBalance", "expectedVersion"): _MAKES_ANOTHER,
    ("accounting.refundClient", "clientId"): "it makes a refund, and names whose it is as a payment does",
    ("vault.generateAndCacheThumbnail", "expectedVersion"): "the version that it answers is that of the picture",
    ("businesses.syncTaxBusiness", "expectedVersion"): "it takes over whatever the tax authority has",
    ("organizations.delete", "expectedVersion"): "an organization has no version; its name is asked for instead",
    ("billing.createPlan", "externalId"): "`code` is the caller's own identifier",
    ("vat.getLiabilities", "from"): _OF_THE_AUTHORITY,
    ("vat.getLiabilities", "to"): _OF_THE_AUTHORITY,
    ("vat.getObligations", "from"): _OF_THE_AUTHORITY,
    ("vat.getObligations", "to"): _OF_THE_AUTHORITY,
    ("vat.getPayments", "from"): _OF_THE_AUTHORITY,
    ("vat.getPayments", "to"): _OF_THE_AUTHORITY,
    ("itsaCalculations.get", "calculationId"): _OF_THE_AUTHORITY,
    ("assets.applyImport", "expectedVersion"): _STATE_SAYS_IT,
    ("assets.undoImport", "expectedVersion"): _STATE_SAYS_IT,
    ("banking.applyImport", "expectedVersion"): _STATE_SAYS_IT,
    ("banking.undoImport", "expectedVersion"): _STATE_SAYS_IT,
    ("billing.getLedger", "sort"): "it goes by when entries occurred, and by nothing else",
    ("billing.getPlans", "updatedSince"): "the operator's plans, which are few and none of the organization's own rows",
    ("vault.listLinks", "updatedSince"): "a document has few",
    ("vault.getFolderDocuments", "updatedSince"): _SOME_OF_THEM,
    ("vault.getOrganizationDocuments", "updatedSince"): _SOME_OF_THEM,
    ("vault.getStarredDocuments", "updatedSince"): _SOME_OF_THEM,
    ("vault.listTrash", "updatedSince"): _SOME_OF_THEM,
}
"""What is called otherwise, or lacks what the rule asks for: operation and member, each with its reason."""


def members(operation: Operation) -> list[str]:
    """The names that a request has on the wire, those of structs inside it behind a dot."""
    return list(names_in(msgspec.inspect.type_info(operation.request)))


def answered(operation: Operation) -> set[str]:
    """The names of all fields that an answer has, at whatever depth."""
    if operation.gives_file:
        return set()
    return {name.rpartition(".")[2] for name in names_in(msgspec.inspect.type_info(operation.response))}


# -- one rule each: the members, or "" for the row itself, that do not keep it


def ranges(operation: Operation) -> Iterator[str]:
    """Of days `fromDate` and `toDate`, or after the field of the answer; of moments `since` and `until`."""
    if operation.method != "GET" and not issubclass(operation.request, PageRequest):
        return
    fields = answered(operation)
    for name in members(operation):
        last = name.rpartition(".")[2]
        what = re.fullmatch(r"(\w*?)(From|To|Before|After|Since|Until)", last)
        bare = last in ("from", "to", "before", "after")
        if bare or (what is not None and last != "updatedSince" and not fields & {what[1], f"{what[1]}At"}):
            yield name


def days(operation: Operation) -> Iterator[str]:
    """`asOfDate`, and `asOf` of a moment."""
    yield from (name for name in members(operation) if re.fullmatch(r"at|on|day|asAt|\w+On|\w+AsOf(Date)?", name))


def targets(operation: Operation) -> Iterator[str]:
    """`id`, or in a path `<resource>Id`."""
    fields = [name for name in members(operation) if "." not in name]
    for name in operation.parameters:
        if not re.fullmatch(r"[a-z]\w*Id|position", name):
            yield name
    if not operation.parameters and "id" not in fields:
        about = _resource(operation)
        yield from (name for name in fields if about and name == f"{about[0].lower()}{about[1:]}Id")
    if former_names.TARGET in fields and operation.parameters and "id" not in operation.parameters:
        yield "id"


def _resource(operation: Operation) -> str:
    """What a row says that it is about, by its name: `Calculation` of `itsaCalculations.get`."""
    area, _, name = operation.id.partition(".")
    verb = re.match(r"[a-z]+", name)
    return name[verb.end() :] if verb and verb.end() < len(name) else re.findall(r"[A-Z]?[a-z]+", area)[-1].rstrip("s")


def hidden_rows(operation: Operation) -> Iterator[str]:
    """`include<State>`, a state of what is listed."""
    for name in members(operation):
        if re.match(r"(include|with|show|exclude|only)[A-Z]", name) and not re.fullmatch(rf"include({STATES})", name):
            yield name


def orders(operation: Operation) -> Iterator[str]:
    """`sort` and `order`, of a list that can be sorted both of them, and `order` the same everywhere."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(operation.request)}
    yield from (name for name in members(operation) if re.fullmatch(r"(sort|order)(By|Order|Direction)", name))
    if ("sort" in fields) != ("order" in fields):
        yield "sort" if "order" in fields else "order"
    if "order" in fields and fields["order"] not in (SortOrder, SortOrder | None):
        yield "order"


def changes(operation: Operation) -> Iterator[str]:
    """`updatedSince` of every list of what changes."""
    if not re.search(r"\.list|\.get\w+s$", operation.id) or not issubclass(operation.request, PageRequest):
        return
    if "updatedAt" in answered(operation) and not issubclass(operation.request, SyncRequest):
        yield "updatedSince"


def texts(operation: Operation) -> Iterator[str]:
    """`q`."""
    yield from (name for name in members(operation) if name in ("query", "search", "text", "term"))


def several_values(operation: Operation) -> Iterator[str]:
    """A filter has the name of the field that it filters, however many values it takes."""
    if not issubclass(operation.request, PageRequest):
        return
    for field in msgspec.structs.fields(operation.request):
        name = field.encode_name
        if re.search(r"[^su]s$", name) and not name.endswith("Ids") and "list[" in str(field.type):
            yield name


def versions(operation: Operation) -> Iterator[str]:
    """`expectedVersion` wherever a resource is changed that has a version."""
    if operation.method == "GET" or not {"id", *operation.parameters} & set(members(operation)):
        return
    verb = re.match(r"[a-z]+", operation.id.partition(".")[2])
    gone = verb is not None and verb[0] in ("delete", "remove", "revoke")
    if (gone or "version" in answered(operation)) and "expectedVersion" not in members(operation):
        yield "expectedVersion"


def external_ids(operation: Operation) -> Iterator[str]:
    """`externalId` of what is created, and of its list."""
    if re.search(r"\.create", operation.id) and "externalId" not in members(operation):
        yield "externalId"
    a_list = re.search(r"\.list|\.get\w+s$", operation.id) and issubclass(operation.request, PageRequest)
    if a_list and "externalId" in answered(operation) and "externalId" not in members(operation):
        yield "externalId"


def verbs(operation: Operation) -> Iterator[str]:
    """Of rows beyond the specification: pages are of `list`, and only what reads is called `list` or `get`."""
    name = operation.id.partition(".")[2]
    if operation.id in PROMISED:
        return
    if re.match(r"list|get", name) and operation.kind == "write":
        yield ""
    if re.match(r"fetch|find|show|set[A-Z]\w*s$|edit|modify|destroy|add[A-Z]", name):
        yield ""


def paths(operation: Operation) -> Iterator[str]:
    """Of rows beyond the specification: `/<area>/<operation>`, or of a resource by its id and a verb."""
    if operation.id in PROMISED:
        return
    segments = operation.path.split("/")[1:]
    if any(not re.fullmatch(r":?[a-z][a-zA-Z]*|[a-z-]+", segment) for segment in segments):
        yield ""


RULES: Final = (
    *(ranges, days, targets, hidden_rows, orders, changes, texts, several_values),
    *(versions, external_ids, verbs, paths),
)


FORMER: Final = [(operation, name) for operation in OPERATIONS for name in former_names.taken(operation)]
_OF_TYPES: Final = {"datetime.datetime": "2026-11-20T09:30:00Z", "datetime.date": "2026-11-20"}


def sample(operation: Operation, name: str) -> Any:
    """A value that a member takes: the one of the row's example, else one of its type."""
    if name in operation.example:
        return operation.example[name]
    (field,) = (field for field in msgspec.structs.fields(operation.request) if field.encode_name == name)
    return next((value for kind, value in _OF_TYPES.items() if kind in str(field.type)), "some_text")


def decoded(operation: Operation, values: Mapping[str, Any]) -> msgspec.Struct:
    decoder = RequestDecoder(operation)
    return decoder.body(msgspec.json.encode(values)) if operation.has_body else decoder.query(query_of(values))


@pytest.mark.parametrize(("operation", "name"), FORMER, ids=lambda value: getattr(value, "id", value))
def test_every_former_name_says_the_same_as_the_one_of_now(operation: Operation, name: str) -> None:
    now = former_names.taken(operation)[name]
    value = sample(operation, now)
    rest = {key: kept for key, kept in operation.example.items() if key != now}
    request = decoded(operation, {**rest, now: value})
    assert decoded(operation, {**rest, name: value}) == request
    assert decoded(operation, {**rest, now: value, name: value}) == request
    with pytest.raises(Problem) as caught:
        decoded(operation, {**rest, now: value, name: "another"})
    assert [(error.path, error.code) for error in caught.value.errors] == [(name, "conflict")]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_no_name_of_before_is_one_of_now(operation: Operation) -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(operation.request)}
    names = former_names.taken(operation)
    assert not fields & names.keys()
    assert set(names.values()) <= fields


def test_former_names_are_described_and_deprecated() -> None:
    """But for members that have to be there: of those the sentence says it."""
    told = {
        (row["operationId"], parameter["name"])
        for item in DESCRIPTION["paths"].values()
        for row in item.values()
        for parameter in row["parameters"]
        if parameter.get("deprecated")
    }
    for operation in OPERATIONS:
        for name, now in former_names.deprecated(operation.request).items():
            if not operation.has_body:
                assert (operation.id, name) in told
            elif now in ROWS[operation.id].request.get("required", ()):
                assert f"`{name}`" in ROWS[operation.id].request["properties"][now]["description"]
            else:
                assert ROWS[operation.id].request["properties"][name]["deprecated"] is True


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_row_keeps_to_the_words(rule: Any) -> None:
    broken = {(o.id, name or rule.__name__) for o in OPERATIONS for name in rule(o)}
    assert sorted(broken - OTHER_WORDS.keys()) == []


def test_no_other_word_is_excused_that_is_not_there() -> None:
    broken = {(o.id, name or rule.__name__) for rule in RULES for o in OPERATIONS for name in rule(o)}
    assert sorted(OTHER_WORDS.keys() - broken) == []
