"""Keys that are held: whatever they ask for, nothing that is another legal entity's or of another day leaves.

The organization has two legal entities with one of everything each. What a key answers that is held to the first must
be, byte for byte, what it was before the second had any books: then no name, no figure and no sum of it is in there.
"""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.errors import Problem
from gatewayd.performing import holding
from gatewayd.performing.performer import Performer
from gatewayd.store import ReadTx
from tests.contract.rows import BY_ID, OPERATIONS, fields, send
from tests.ledger import bank_books
from tests.performing.two_owners import EARLY, LATE, ORG, Owner, hold, keep_books, made, requests_of, sent
from tests.support.api import Reply, TestedApi, Tuning, open_api

HELD = [operation for operation in OPERATIONS if operation.held is not None]
CLOSED = [operation for operation in OPERATIONS if operation.held is None]
OF_ORGANIZATION = frozenset(
    "clientId documentId externalId importId institutionId instrumentId ruleId tenantId".split()  # noqa: SIM905
)
"""Fields with ids of what is the organization's, by which lists that are bound otherwise may be narrowed."""
TODAY = "2026-11-20"
LINE = {"description": "Work", "unitPrice": "50.00", "vatCode": "outside_scope"}


class Books(NamedTuple):
    """An organization with two legal entities, and the answers of before there was the second."""

    api: TestedApi
    mine: Owner
    theirs: Owner
    before: dict[tuple[str, int], bytes]

    async def ask(self, operation_id: str, values: dict[str, Any], token: str = "held") -> Reply:
        return await send(self.api, BY_ID[operation_id], values, token=token)


def each_request(ids: dict[str, str]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    for operation_id, asked in requests_of(ids).items():
        for number, values in enumerate(asked):
            yield (operation_id, number), values


@pytest.fixture
async def books(database_image: bytes, tmp_path: Path) -> AsyncIterator[Books]:
    async with open_api(tmp_path, database_image, OPERATIONS, Tuning()) as api:
        api.token(ORG, "good", ALL_SCOPES)
        mine, theirs = Owner("Quince", 100), Owner("Zebra", 77_771)
        await keep_books(api, mine)
        hold(api, "held", mine.ids["ent"])
        before = {
            key: (await send(api, BY_ID[key[0]], values, token="held")).body for key, values in each_request(mine.ids)
        }
        await keep_books(api, theirs)
        yield Books(api, mine, theirs, before)


async def test_nothing_of_another_legal_entity_is_in_any_answer(books: Books) -> None:
    foreign = {id_ for key, id_ in books.theirs.ids.items() if key != "ins"}
    for key, values in each_request(books.mine.ids):
        reply = await books.ask(key[0], values)
        assert reply.status == 200, (key, reply.body)
        text = reply.body.decode()
        assert "Zebra" not in text, key
        assert "77771" not in text, key
        assert not [id_ for id_ in foreign if id_ in text], key
        assert reply.body == books.before[key], key


async def test_what_is_asked_for_says_something_of_the_held_one(books: Books) -> None:
    """Or the test above would see nothing."""
    for operation_id in (
        "accounting.listInvoices",
        "landlord.listProperties",
        "banking.listAccounts",
        "businesses.list",
    ):
        assert b"Zebra" in (await books.ask(operation_id, {}, token="good")).body, operation_id
    empty = {"legalEntity.listTaxYears", "legalEntity.listVatYears", "assets.listCapitalLosses"}
    for (operation_id, _), values in each_request(books.mine.ids):
        answer = (await books.ask(operation_id, values)).body
        assert b'"data":[]' not in answer or operation_id in empty, (operation_id, values)


def test_each_operation_that_is_open_is_asked_for() -> None:
    assert requests_of(defaultdict(str)).keys() == {operation.id for operation in HELD}


@pytest.mark.parametrize("operation", HELD, ids=lambda operation: operation.id)
def test_each_id_that_is_given_leads_to_its_legal_entity(operation: Operation) -> None:
    held = operation.held
    assert held is not None
    names = {field.encode_name: field.name for field in msgspec.structs.fields(operation.request)}
    ids = {name for name in names if name == "id" or name.endswith(("Id", "Ids"))} - OF_ORGANIZATION
    assert {names[name] for name in ids} == {*held.leads, *filter(None, [held.entity])}


LOOKED_AFTER = frozenset(holding._REFERENCES) | {"legalEntityId"}
"""What is taken out of answers where it is somebody else's."""
ITS_OWN = frozenset(
    [
        "accountId",
        "allocationId",
        "allocationIds",
        "bankAccountIds",
        "businessIds",
        "clientPaymentId",
        "mortgageId",
        "obligationIds",
        "periodId",
        "portfolioId",
        "propertyIds",
        "reversedById",
        "reversesTransactionId",
        "sourceId",
        "supersededById",
        "tenancyId",
        "transactionId",
        "transactionIds",
        "unitId",
    ]
)
"""Ids of what belongs to the same legal entity as what names it, by the rules of its area."""
OF_ALL = frozenset(
    [
        "clientId",
        "documentId",
        "documentIds",
        "fromInstrumentId",
        "importId",
        "institutionId",
        "instrumentId",
        "lastImportId",
        "pdfDocumentId",
        "ruleId",
        "tenantId",
        "tenantIds",
        "endToEndId",
        "externalId",
        "fitId",
        "foreignPropertyId",
        "taxBusinessId",
    ]
)
"""Ids of what is the organization's, none of which is open to a key that is held, and what others gave."""


def test_each_id_in_an_answer_is_accounted_for() -> None:
    """A new member that names something is looked after, its own or the organization's: somebody has to say which."""
    description = json.loads(Path("docs/openapi.json").read_text())
    schemas = description["components"]["schemas"]
    found = set()
    for operation in (row for rows in description["paths"].values() for row in rows.values()):
        if operation["x-held-keys"] != "none":
            for name in _reached(schemas, operation["responses"]["200"], set()):
                found |= {member for member in schemas[name].get("properties", {}) if member.endswith(("Id", "Ids"))}
    assert found == LOOKED_AFTER & found | ITS_OWN | OF_ALL


def _reached(schemas: Any, node: Any, names: set[str]) -> set[str]:
    """The components that a part of the description leads to."""
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name in schemas and name not in names:
            names.add(name)
            _reached(schemas, schemas[name], names)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _reached(schemas, child, names)
    return names


async def test_what_is_not_open_is_refused(database_image: bytes, tmp_path: Path) -> None:
    """Before anything of the request is looked at."""
    async with open_api(tmp_path, database_image, OPERATIONS, Tuning()) as api:
        hold(api, "held", "ent_1")
        hold(api, "dated", first=LATE)
        for operation in CLOSED:
            for token in ("held", "dated"):
                reply = await send(api, operation, {}, token=token)
                assert (reply.status, reply.json()["code"]) == (403, "forbidden"), operation.id


async def test_what_is_anothers_is_not_found_as_what_is_not_there(books: Books) -> None:
    """Whichever field names it, and beside whatever else."""
    keys = {id_: key for key, id_ in books.mine.ids.items()}
    for (operation_id, _), values in each_request(books.mine.ids):
        for name, value in values.items():
            many = isinstance(value, list)
            key = keys.get(value[0] if many else value)
            if key in (None, "ins"):
                continue
            answers = []
            for other in (books.theirs.ids[str(key)], f"{key}_01kaaaaaaaaaaaaaaaaaaaaaaa".replace("lets", "biz")):
                reply = await books.ask(operation_id, {**values, name: [other] if many else other})
                answers.append((reply.status, reply.json().get("code"), reply.json().get("message")))
            assert answers[0][:2] == (404, "not_found"), (operation_id, name)
            assert answers[0] == answers[1], (operation_id, name)


# -- days


FIRST, LAST = "2026-07-01", "2026-12-31"


async def test_nothing_of_a_day_outside_is_in_any_answer(books: Books) -> None:
    hold(books.api, "dated", books.mine.ids["ent"], first=FIRST, last=LAST)
    early = {id_ for key, id_ in books.mine.ids.items() if key.endswith("_early")}
    asked = 0
    for (operation_id, _), values in each_request(books.mine.ids):
        held = BY_ID[operation_id].held
        assert held is not None
        if "taxYear" in values:
            values = {name: value for name, value in values.items() if name != "taxYear"}
            values |= {"fromDate": FIRST, "toDate": LAST} if held.keeps_days else {"taxYear": "2026-27"}
        reply = await books.ask(operation_id, values, "dated")
        if not held.keeps_days:
            assert (reply.status, reply.json()["code"]) == (403, "forbidden"), operation_id
            continue
        text = reply.body.decode()
        assert reply.status == 200 or operation_id == "periods.get", (operation_id, text)
        assert EARLY not in text, (operation_id, values)
        assert not [id_ for id_ in early if id_ in text], (operation_id, values)
        assert "Zebra" not in text, operation_id
        asked += reply.status == 200
    assert asked > 30


@pytest.mark.parametrize(
    ("operation_id", "field", "key"),
    [
        ("accounting.getInvoice", "invoiceId", "inv_early"),
        ("banking.getTransaction", "transactionId", "btx_early"),
        ("banking.getAllocation", "allocationId", "alc_early"),
        ("assets.getTransaction", "id", "txn_early"),
        ("landlord.getPropertyValuation", "id", "val_early"),
        ("periods.get", "id", "per"),
    ],
)
async def test_what_is_of_another_day_is_not_found(books: Books, operation_id: str, field: str, key: str) -> None:
    hold(books.api, "dated", first=FIRST, last=LAST)
    hold(books.api, "ended", last="2026-03-31")
    hold(books.api, "open", first="2020-01-01", last="2030-01-01")
    found = {token: (await books.ask(operation_id, {field: books.mine.ids[key]}, token)).status for token in ("open",)}
    for token in ("dated", "ended"):
        found[token] = (await books.ask(operation_id, {field: books.mine.ids[key]}, token)).status
    assert found == {"open": 200, "dated": 404, "ended": 404}


@pytest.mark.parametrize(
    ("values", "status", "paths"),
    [
        ({"fromDate": FIRST, "toDate": LAST}, 200, []),
        ({"fromDate": "2026-06-30", "toDate": LAST}, 422, ["fromDate"]),
        ({"fromDate": FIRST, "toDate": "2027-01-01"}, 422, ["toDate"]),
        ({"taxYear": "2026-27"}, 422, ["taxYear"]),
        ({}, 422, ["fromDate", "toDate"]),
        ({"fromDate": FIRST, "toDate": LAST, "compare": "previous_year"}, 422, ["compare"]),
        ({"fromDate": FIRST, "toDate": LAST, "compare": "none"}, 200, []),
    ],
)
async def test_a_sum_is_of_days_that_are_given_and_held(
    books: Books, values: dict[str, Any], status: int, paths: list[str]
) -> None:
    hold(books.api, "dated", first=FIRST, last=LAST)
    reply = await books.ask("businesses.businessPnl", {"id": books.mine.ids["biz"], **values}, "dated")
    assert reply.status == status, reply.body
    assert [error["path"] for error in reply.json().get("errors", [])] == paths


async def test_a_period_names_no_days_of_a_sum(books: Books) -> None:
    hold(books.api, "dated", first=FIRST, last=LAST)
    asked = {"id": books.mine.ids["biz"], "periodId": books.mine.ids["per"]}
    reply = await books.ask("businesses.businessPnl", asked, "dated")
    assert [error["path"] for error in reply.json()["errors"]] == ["periodId", "fromDate", "toDate"]


async def test_a_tax_year_that_is_held_whole_is_open(books: Books) -> None:
    hold(books.api, "dated", first="2026-04-06", last="2027-04-05")
    asked = {"id": books.mine.ids["biz"], "taxYear": "2026-27"}
    assert (await books.ask("businesses.businessPnl", asked, "dated")).status == 200
    events = await books.ask("assets.listIncomeEvents", {"portfolioId": books.mine.ids["prt"], "taxYear": "2026-27"})
    assert events.status == 200
    for first, last in (("2026-04-07", "2027-04-05"), ("2026-04-06", "2027-04-04")):
        hold(books.api, "dated", first=first, last=last)
        reply = await books.ask("businesses.businessPnl", asked, "dated")
        assert [error["path"] for error in reply.json()["errors"]] == ["taxYear"]


async def test_how_things_are_today_is_open_to_keys_that_hold_today(books: Books) -> None:
    hold(books.api, "now", first=TODAY, last=TODAY)
    hold(books.api, "before", last="2026-11-19")
    hold(books.api, "after", first="2026-11-21")
    answers = {
        token: (await books.ask("banking.listAccounts", {}, token)).status for token in ("now", "before", "after")
    }
    assert answers == {"now": 200, "before": 403, "after": 403}


async def test_open_ends_are_days_without_end(books: Books) -> None:
    account = {"accountId": books.mine.ids["bac"]}
    hold(books.api, "from", first=LATE)
    hold(books.api, "to", last=EARLY)
    for token, day, message in (("from", LATE, f"from {LATE} on"), ("to", EARLY, f"up to {EARLY}")):
        lines = (await books.ask("banking.getTransactions", account, token)).json()["data"]
        assert {line["date"] for line in lines} == {day}
        other = await books.ask("banking.getTransactions", {**account, "fromDate": EARLY, "toDate": LATE}, token)
        assert message in other.json()["message"]


# -- legal entities


async def test_who_is_held_to_several_says_which(books: Books) -> None:
    both = (books.mine.ids["ent"], books.theirs.ids["ent"])
    hold(books.api, "two", *both)
    reply = await books.ask("accounting.listInvoices", {}, "two")
    assert [(each["path"], each["code"]) for each in reply.json()["errors"]] == [("legalEntityId", "required")]
    for owner in (books.mine, books.theirs):
        reply = await books.ask("accounting.listInvoices", {"legalEntityId": owner.ids["ent"]}, "two")
        assert {row["legalEntityId"] for row in reply.json()["data"]} == {owner.ids["ent"]}
        reply = await books.ask("accounting.listInvoices", {"businessId": owner.ids["biz"]}, "two")
        assert {row["businessId"] for row in reply.json()["data"]} == {owner.ids["biz"]}
    listed = (await books.ask("legalEntity.getLegalEntities", {}, "two")).json()["data"]
    assert {row["id"] for row in listed} == {*both}


async def test_what_leads_to_nobody_asks_for_something_that_does(books: Books) -> None:
    reply = await books.ask("banking.listTransactions", {})
    assert [(each["path"], each["code"]) for each in reply.json()["errors"]] == [("accountId", "required")]
    reply = await books.ask("banking.listAllocations", {"category": "adminCosts"})
    assert [(each["path"], each["code"]) for each in reply.json()["errors"]] == [("bankTransactionId", "required")]


async def test_a_bank_account_of_nobody_is_not_seen(books: Books) -> None:
    nobodys = await made(books.api, "banking.createAccount", name="Petty cash", institutionId="inst_barclays")
    listed = (await books.ask("banking.listAccounts", {})).json()["data"]
    assert [row["id"] for row in listed] == [books.mine.ids["bac"]]
    assert (await books.ask("banking.getAccountDetails", {"accountId": nobodys})).status == 404


async def test_changes_and_removals_are_not_followed(books: Books) -> None:
    for operation in HELD:
        if "updatedSince" in fields(operation):
            asked = {"updatedSince": "2026-01-01T00:00:00Z"} | requests_of(books.mine.ids)[operation.id][0]
            reply = await books.ask(operation.id, asked)
            assert [(each["path"], each["code"]) for each in reply.json()["errors"]] == [("updatedSince", "conflict")]


async def test_pages_follow_each_other_within_what_is_held(books: Books) -> None:
    seen, cursor = [], None
    while True:
        asked = {"limit": 1} if cursor is None else {"limit": 1, "cursor": cursor}
        page = (await books.ask("accounting.listInvoices", asked)).json()
        seen += [row["id"] for row in page["data"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert {*seen} == {books.mine.ids["inv"], books.mine.ids["inv_early"]}
    others = (await books.ask("accounting.listInvoices", {"limit": 1}, "good")).json()["nextCursor"]
    reply = await books.ask("accounting.listInvoices", {"limit": 1, "cursor": others})
    assert reply.json()["code"] == "invalid_cursor"


async def test_others_who_own_a_part_are_of_no_name(books: Books) -> None:
    shares = [
        {"legalEntityId": books.mine.ids["ent"], "sharePercent": "40"},
        {"legalEntityId": books.theirs.ids["ent"], "sharePercent": "35"},
        {"name": "Ben Oak", "sharePercent": "25"},
    ]
    await sent(books.api, "landlord.updateProperty", id=books.mine.ids["prop"], owners=shares)
    for operation_id, asked in (
        ("landlord.getProperty", {"id": books.mine.ids["prop"]}),
        ("landlord.listProperties", {}),
    ):
        answer = (await books.ask(operation_id, asked)).json()
        owners = (answer["data"][0] if "data" in answer else answer)["owners"]
        assert [(part["legalEntityId"], part["name"], part["sharePercent"]) for part in owners] == [
            (books.mine.ids["ent"], None, "40"),
            (None, None, "35"),
            (None, "Ben Oak", "25"),
        ]
    hold(books.api, "theirs", books.theirs.ids["ent"])
    found = await books.ask("landlord.getProperty", {"id": books.mine.ids["prop"]}, "theirs")
    assert found.status == 404, "a part of a property of another business is not seen"


async def test_the_other_side_of_what_spouses_gave_is_not_named(books: Books) -> None:
    gift = {"accountId": books.mine.ids["acc"], "counterAccountId": books.theirs.ids["acc"], "type": "transfer_out"}
    gift |= {"instrumentId": books.mine.ids["ins"], "tradeDate": "2026-11-02", "quantity": "1", "spouseTransfer": True}
    given = (await sent(books.api, "assets.createTransaction", **gift)).json()
    assert given["counterAccountId"] == books.theirs.ids["acc"]
    answer = (await books.ask("assets.getTransaction", {"id": given["id"]})).json()
    assert (answer["id"], answer["counterAccountId"], answer["linkedTransactionId"]) == (given["id"], None, None)
    listed = await books.ask("assets.listTransactions", {"accountId": books.mine.ids["acc"]})
    assert books.theirs.ids["acc"] not in listed.body.decode()
    assert given["linkedTransactionId"] not in listed.body.decode()
    hold(books.api, "two", books.mine.ids["ent"], books.theirs.ids["ent"])
    both = (await books.ask("assets.getTransaction", {"id": given["id"]}, "two")).json()
    assert both["counterAccountId"] == books.theirs.ids["acc"]


async def test_what_was_paid_into_nobodys_account_names_no_line_of_it(books: Books) -> None:
    """One of another legal entity takes no payment of the invoice in the first place."""
    bill = {"clientId": books.mine.ids["cli"], "status": "issued", "issueDate": LATE, "lines": [LINE]}
    invoice = await made(books.api, "accounting.createInvoice", **bill, legalEntityId=books.mine.ids["ent"])
    line = await books.api.store.write(
        lambda tx: bank_books.insert_line(tx, bank_books.insert_account(tx), 5000, date=LATE), ORG
    )
    await sent(books.api, "accounting.recordPayment", invoiceId=invoice, bankTransactionId=line, amount="50.00")
    (payment,) = (await books.ask("accounting.getInvoice", {"invoiceId": invoice})).json()["payments"]
    assert (payment["amount"], payment["bankTransactionId"]) == ("50.00", None)
    assert line not in (await books.ask("accounting.listInvoices", {})).body.decode()


async def test_an_answer_that_names_somebody_else_does_not_leave(books: Books) -> None:
    """Whatever a handler does with the request that it is given."""

    def wrong(tx: ReadTx, caller: Caller, request: Any) -> object:
        asked = msgspec.structs.replace(request, legal_entity_id=books.theirs.ids["ent"])
        return BY_ID["accounting.listInvoices"].handler(tx, caller, asked)

    row = replace(BY_ID["accounting.listInvoices"], handler=wrong)
    request = msgspec.convert({}, row.request)
    caller = hold(books.api, "held", books.mine.ids["ent"])
    with pytest.raises(Problem) as caught:
        await books.api.store.read(lambda tx: holding.answer(tx, row, caller, request), ORG)
    assert caught.value.code == "not_found"


@pytest.mark.parametrize("kind", ["write", "call"])
async def test_what_is_performed_without_the_gate_is_refused_too(books: Books, kind: str) -> None:
    row = next(operation for operation in OPERATIONS if operation.kind == kind)
    caller = hold(books.api, "held", books.mine.ids["ent"])
    with pytest.raises(Problem) as caught:
        await Performer(books.api.store).perform(row, caller, msgspec.convert({}, msgspec.Struct))
    assert caught.value.code == "forbidden"


async def test_an_answer_is_kept_for_who_is_held_alike(books: Books) -> None:
    """The same address, by the same credential, before and after it is held to something else."""
    for owner in (books.mine, books.theirs, books.mine):
        hold(books.api, "held", owner.ids["ent"])
        listed = (await books.ask("businesses.list", {})).json()["data"]
        assert {row["legalEntityId"] for row in listed} == {owner.ids["ent"]}
