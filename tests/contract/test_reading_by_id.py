"""Whatever is listed, or named by an event, is read by its id, and answered as the list has it."""

import typing
from typing import Any

import msgspec
import pytest

from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Page
from gatewayd.events.kinds import ResourceEvents
from gatewayd.events.resources import RESOURCES
from gatewayd.following import ANSWERS
from tests.contract.conftest import OpenCatalogue
from tests.contract.rows import BY_ID, LISTED, OPERATIONS, example, references, send

UNREAD = {
    "legalEntity.listTaxYears": "its id is that of the legal entity, which has few",
    "legalEntity.listVatYears": "its id is that of the legal entity, which has few",
    "assets.listIncomeEvents": "made of a transaction, which is read by its id",
    "banking.listInstitutions": "what the program knows, the same for everybody",
    "vault.listLinks": "a document has few",
    "billing.getLedger": "entries of an account, which is read from day to day",
    "billing.getPlans": "a few, which are known by their code",
    "billing.listGrants": "an entry of the ledger says what a grant was",
    "organizations.list": "the operator's, who has few",
    "access.list": "each is shown where it is made",
}
"""Lists whose rows have an id and are not read by it, and why."""
OTHERWISE = {"legalEntity.getLegalEntities": {"utr", "nino"}}
"""What is masked in a list."""
READ_IN = {"landlord.listLinkedTransactions": "banking"}
"""Lists of another area's rows."""
ASKED = {"vault.getDocument": {"includeDeleted": "true"}}
"""What a read has to be asked for beside the id, that it answers whatever a list has."""


def item_of(operation: Operation) -> type[msgspec.Struct] | None:
    """What a list holds; None: it is no list."""
    kind = typing.get_origin(operation.response) or operation.response
    if operation.method != "GET" or not (isinstance(kind, type) and issubclass(kind, Page)):
        return None
    (data,) = (field.type for field in msgspec.structs.fields(operation.response) if field.name == "data")
    item: type[msgspec.Struct] = typing.get_args(data)[0]
    return item


def target(operation: Operation) -> str | None:
    """The one field that a read has to be given, where that is an id, as the wire spells it."""
    required = [field for field in msgspec.structs.fields(operation.request) if field.required]
    names = [field.encode_name for field in required]
    return names[0] if len(names) == 1 and names[0].lower().endswith("id") else None


def reads_of(item: type[msgspec.Struct]) -> list[Operation]:
    """What answers one of these, or more of it, for its id."""
    return [
        operation
        for operation in OPERATIONS
        if operation.method == "GET"
        and isinstance(operation.response, type)
        and (issubclass(operation.response, item) or issubclass(item, operation.response))
        and target(operation) is not None
    ]


LISTS = {operation.id: item for operation in OPERATIONS if (item := item_of(operation)) is not None}


def test_whatever_is_listed_by_an_id_is_read_by_it() -> None:
    listed = {name: item for name, item in LISTS.items() if "id" in item.__struct_fields__}
    assert len(listed) > 30
    assert {name for name, item in listed.items() if not reads_of(item)} == UNREAD.keys()


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
def test_whatever_an_event_names_is_read_by_its_id(resource: ResourceEvents) -> None:
    assert reads_of(ANSWERS[resource.table])


READ = [name for name, item in LISTS.items() if name not in UNREAD and "id" in item.__struct_fields__]


@pytest.mark.parametrize("listing", [name for name in READ if name != "vault.getRecentDocuments"])
async def test_what_is_read_is_what_the_list_has(open_catalogue: OpenCatalogue, listing: str) -> None:
    operation = BY_ID[listing]
    (read,) = (read for read in reads_of(LISTS[listing]) if read.area == READ_IN.get(listing, operation.area))
    name = target(read)
    assert name is not None
    async with open_catalogue() as (api, ids):
        values: dict[str, Any] = {name: example(operation, ids)[name] for name in references(operation)}
        asked: Any = LISTED.get(listing, {})
        values |= asked
        rows: list[dict[str, Any]] = (await send(api, operation, values)).json()["data"]
        assert rows
        for row in rows:
            answer = await send(api, read, {name: row["id"], **ASKED.get(read.id, {})})
            assert answer.status == 200, answer.body
            read_alone = {member: value for member, value in answer.json().items() if member in row}
            assert read_alone.keys() == row.keys()
            told_otherwise = {member for member, value in row.items() if value != read_alone[member]}
            assert told_otherwise <= OTHERWISE.get(listing, set())
