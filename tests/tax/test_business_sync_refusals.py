"""`syncTaxBusiness` with each of its errors, and what a failure leaves on the businesses: nothing else changes."""

import json
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from gatewayd.areas.businesses import tax_sync
from gatewayd.areas.businesses.rows import MAX_PER_ENTITY
from gatewayd.clock import DAY
from gatewayd.store import WriteTx
from gatewayd.tax.authority.upstream import ANSWER_BYTES_MAX
from gatewayd.tax.sync.business_details import LIST_BYTES_MAX, SOURCES_MAX
from tests.support.api import ANSWER_SECONDS, Reply
from tests.support.store import START
from tests.tax.conftest import HEADERS, OpenTax, with_header
from tests.tax.recording import answer, hang, hang_up
from tests.tax.registry import ABROAD, LETS, SYNC, TRADE, House, lets, open_house, settle, trade

SECONDS = 60.0
OPERATION = "businesses.syncTaxBusiness"
_ARCHIVE = "UPDATE legal_entities SET archived_at = :now WHERE org_id = :org_id AND id = :id"


def errors(reply: Reply) -> list[tuple[str, str]]:
    assert (reply.status, reply.code) == (422, "validation_failed"), reply.body
    return [(error["path"], error["code"]) for error in reply.json()["errors"]]


async def refused(house: House, code: str, **request: object) -> Reply:
    """The whole person is refused with that code, and the record says so."""
    reply = await house.sync(**(request or {"legalEntityId": house.person}))
    assert reply.code == code, reply.body
    call = house.tax.calls()[0]
    assert (call.operation, call.status, call.code) == (OPERATION, reply.status, code)
    return reply


# -- what is asked for


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, "required"),
        ({"dryRun": True}, "required"),
        ({"id": None, "legalEntityId": None}, "required"),
        ({"id": "biz_x", "legalEntityId": "ent_x"}, "conflict"),
    ],
)
async def test_one_of_the_two_is_named(open_tax: OpenTax, request_: dict[str, Any], code: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            assert errors(await house.sync(**request_)) == [("legalEntityId", code)]
            assert house.tax.calls() == []


async def test_sync_tax_business_nino_required(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            firm = {"name": "Elm Ltd", "type": "limited_company", "companyNumber": "01234567"}
            company = (await house.make("legalEntity/createLegalEntity", **firm))["id"]
            business = await house.business(legalEntityId=company, type="company_trade")
            assert errors(await house.sync(legalEntityId=company)) == [("legalEntityId", "nino_required")]
            assert errors(await house.sync(id=business)) == [("id", "nino_required")]
            assert house.registry.asked == []


@pytest.mark.parametrize("dry", [True, False])
async def test_another_organizations_are_not_found(open_tax: OpenTax, dry: bool) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            before = house.kept()
            for target in ({"id": oak}, {"legalEntityId": house.person}):
                (name,) = target
                foreign = await house.sync(token="other", dryRun=dry, **target)
                unknown = await house.sync(**{name: f"{target[name][:4]}{'0' * 26}"}, dryRun=dry)
                assert (foreign.status, foreign.code) == (unknown.status, unknown.code) == (404, "not_found")
                assert foreign.json()["message"] == unknown.json()["message"]
            assert (house.registry.asked, house.kept()) == ([], before)
            assert house.tax.calls("org_b")[0].status == 404


async def test_sync_tax_business_invalid_state_of_the_entity(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            await house.write(lambda tx: tx.run(_ARCHIVE, id=house.person))
            reply = await refused(house, "invalid_state")
            assert reply.json()["currentState"] == "archived"
            assert house.registry.asked == []


# -- before the authority


async def test_sync_tax_business_tax_not_configured(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="off") as tax:
            person = await settle(tax)
            reply = await tax.api("POST", SYNC, json={"legalEntityId": person}, headers=HEADERS, token="sync")
            assert (reply.status, reply.code) == (503, "tax_not_configured")
            assert [call.code for call in tax.calls()] == ["tax_not_configured"]


async def test_sync_tax_business_tax_not_connected(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), mode="hmrc") as house:
            oak = await house.business()
            await house.write(lambda tx: tx.run("DELETE FROM tax_connections WHERE org_id = :org_id"))
            assert (await refused(house, "tax_not_connected")).status == 409
            assert house.one(oak).tax_sync.status == "never"
            assert house.registry.asked == []


async def test_sync_tax_business_fraud_headers_invalid(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            request = {"legalEntityId": house.person}
            for headers in ((), with_header(b"gov-client-device-id", b"x")):
                reply = await house.tax.api("POST", SYNC, json=request, headers=headers, token="sync")
                assert (reply.status, reply.code) == (400, "fraud_headers_invalid")
            assert [error["path"] for error in reply.json()["errors"]] == ["Gov-Client-Device-ID"]
            assert house.registry.asked == []


async def test_sync_tax_business_test_header_in_production(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), fraud_headers="off") as house:
            headers = with_header(b"gov-test-scenario", b"PROPERTY")
            request = {"legalEntityId": house.person}
            reply = await house.tax.api("POST", SYNC, json=request, headers=headers, token="sync")
            assert (reply.status, reply.code) == (400, "test_header_in_production")
            assert house.registry.asked == []


# -- the authority refuses, fails, or talks nonsense


async def test_sync_tax_business_tax_reauthorisation_required(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            oak = await house.business()
            house.registry.failing["list"] = answer(b'{"code":"INVALID_CREDENTIALS"}', "401 Unauthorized")
            reply = await refused(house, "tax_reauthorisation_required", id=oak)
            row = house.one(oak)
    assert reply.status == 409
    assert reply.json()["upstream"] == {"status": 401, "code": "INVALID_CREDENTIALS"}
    assert (row.tax_sync.status, row.tax_sync.error) == ("failed", "INVALID_CREDENTIALS")


@pytest.mark.parametrize("end", ["list", TRADE])
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "FORMAT_NINO"),
        (403, "CLIENT_OR_AGENT_NOT_AUTHORISED"),
        (406, "ACCEPT_HEADER_INVALID"),
        (500, "X"),
        (302, None),
    ],
)
async def test_sync_tax_business_tax_upstream_error(open_tax: OpenTax, end: str, status: int, code: str | None) -> None:
    """Nothing is changed but the record of the comparison, which keeps when the last good one was."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            await house.person_synced()
            house.registry.sources[0]["tradingName"] = "Other"
            house.tax.api.clock.advance(DAY)
            before = house.one(oak)
            house.registry.failing[end] = answer(json.dumps({"code": code or "x"}).encode(), f"{status} X")
            reply = await refused(house, "tax_upstream_error")
            after = house.one(oak)
    assert reply.status == 502
    assert reply.json()["upstream"] == {"status": status, "code": code if code != "X" else None}
    assert (after.trading_name, after.version, after.tax_sync.latency) == (
        "Oak Plastering",
        before.version,
        before.tax_sync.latency,
    )
    assert (after.tax_sync.status, after.tax_sync.synced_at) == ("failed", START)
    assert after.tax_sync.error == (code if code not in ("X", None) else "tax_upstream_error")


async def test_the_authority_hangs_up(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.registry.server.script = hang_up
            assert (await refused(house, "tax_upstream_error")).status == 502
            assert house.one(oak).tax_sync.status == "failed"


async def test_sync_tax_business_tax_upstream_timeout(open_tax: OpenTax, leaping_clock: MockClock) -> None:
    """The requests of one call have one deadline; others are served meanwhile."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), timeout_seconds=ANSWER_SECONDS - 1) as house:
            oak = await house.business()
            house.registry.server.script = hang
            async with trio.open_nursery() as nursery:
                nursery.start_soon(refused, house, "tax_upstream_timeout")
                while not house.registry.server.requests:
                    await trio.sleep(0.01)
                assert (await house.business_shown(oak))["taxSync"]["status"] == "never"
                leaping_clock.jump(ANSWER_SECONDS - 1)
            row = house.one(oak)
    assert (row.tax_sync.status, row.tax_sync.error) == ("failed", "tax_upstream_timeout")


NONSENSE = {
    "no JSON": b"<html>",
    "no object": b"[]",
    "nothing": b"",
    "null": b"null",
    "not UTF-8": b'{"listOfBusinesses":[{"typeOfBusiness":"\xff"}]}',
    "no list": b'{"listOfBusinesses":{}}',
    "no id": b'{"listOfBusinesses":[{"typeOfBusiness":"uk-property"}]}',
    "an id that is a path": b'{"listOfBusinesses":[{"typeOfBusiness":"uk-property","businessId":"../../x"}]}',
    "an id with more": b'{"listOfBusinesses":[{"typeOfBusiness":"uk-property","businessId":"XAIS00000000001\\n"}]}',
    "a long name": json.dumps({"listOfBusinesses": [trade(tradingName="x" * 106)]}).encode(),
    "deep": b"[" * 100_000,
}
_MANY = [lets(businessId=f"XPIS{number:011d}") for number in range(SOURCES_MAX + 1)]
NONSENSE |= {
    "a list longer than is sane": json.dumps({"listOfBusinesses": _MANY}).encode(),
    "a large answer": json.dumps({"listOfBusinesses": [], "x": "x" * LIST_BYTES_MAX}).encode(),
    "an answer of 5 MiB": json.dumps({"listOfBusinesses": [], "x": "x" * (ANSWER_BYTES_MAX - 100)}).encode(),
    "more than 5 MiB": b'"' + b"x" * ANSWER_BYTES_MAX + b'"',
}


@pytest.mark.parametrize("name", NONSENSE)
async def test_a_list_that_makes_no_sense(open_tax: OpenTax, name: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            oak = await house.business()
            house.registry.failing["list"] = answer(NONSENSE[name])
            reply = await refused(house, "tax_upstream_error")
            kept = house.kept()
    assert reply.status == 502
    assert len(reply.body) < 1_000
    assert [(row.id, row.tax_sync.status) for row in kept] == [(oak, "failed")]


@pytest.mark.parametrize(
    "details",
    [
        trade(businessId=LETS),
        trade(typeOfBusiness="space-property"),
        trade(tradingType="x" * 36),
        trade(tradingName=7),
        trade(commencementDate="2025-02-30"),
        trade(cessationDate="soon"),
        trade(quarterlyTypeChoice={"quarterlyPeriodType": "monthly", "taxYearOfChoice": "2026-27"}),
        trade(latencyDetails={"latencyEndDate": "2027-04-05"}),
        trade(yearOfMigration="22"),
        trade(businessAddressLineOne="x" * 81),
        trade(businessAddressCountryCode="gb"),
    ],
    ids=lambda details: next(n for n in details if details[n] != trade().get(n)),
)
async def test_details_that_make_no_sense(open_tax: OpenTax, details: dict[str, Any]) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.registry.failing[TRADE] = answer(json.dumps(details).encode())
            await refused(house, "tax_upstream_error")
            row = house.one(oak)
    assert (row.tax_sync.status, row.tax_business_id, row.version) == ("failed", None, 1)


async def test_the_authority_has_nobody(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            oak, club = await house.business(), await house.business(type="other")
            reply = await refused(house, "not_found")
            found = {row.id: row.tax_sync for row in house.kept()}
            statuses = {id_: (one.status, one.synced_at, one.error) for id_, one in found.items()}
    assert reply.status == 404
    assert reply.json()["upstream"] == {"status": 404, "code": "MATCHING_RESOURCE_NOT_FOUND"}
    assert statuses == {oak: ("not_found", START, "MATCHING_RESOURCE_NOT_FOUND"), club: ("never", None, None)}


async def test_one_that_the_authority_does_not_have(open_tax: OpenTax) -> None:
    """Neither by its id there, nor by its kind; and the other one of the person is not touched."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            known = await house.business(type="foreign_property")
            await house.known_as(known, ABROAD)
            untold = await house.business(type="uk_property")
            trading = await house.business()
            assert (await refused(house, "not_found", id=known)).json()["upstream"]["status"] == 404
            assert "upstream" not in (await refused(house, "not_found", id=untold)).json()
            statuses = [house.one(id_).tax_sync.status for id_ in (known, untold, trading)]
    assert statuses == ["not_found", "not_found", "never"]


async def test_patience_is_passed_on(open_tax: OpenTax) -> None:
    """Nothing was learnt, so that nothing is said of the business."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.registry.failing["list"] = answer(b"{}", "429 X", b"Retry-After: 7\r\n")
            reply = await refused(house, "rate_limited")
            status = house.one(oak).tax_sync.status
    assert (reply.status, reply["retry-after"], status) == (429, "7", "never")


# -- the books refuse; then nothing is written at all


async def test_sync_tax_business_already_exists(open_tax: OpenTax) -> None:
    """The authority has another property business than the one that is kept: a person has one."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), lets()) as house:
            oak = await house.business()
            kept = await house.business(type="uk_property")
            await house.known_as(kept, "XAIS00000000999")
            reply = await refused(house, "already_exists")
            row = house.one(oak)
    assert (reply.json()["existingId"], reply.json()["field"]) == (kept, "type")
    assert (row.tax_sync.status, row.version) == ("never", 1)


async def test_sync_tax_business_limit_reached(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets()) as house:

            def fill(tx: WriteTx) -> None:
                for _ in range(MAX_PER_ENTITY):
                    tax_sync.adopt(tx, house.person, {"type": "other"})

            await house.write(fill)
            await refused(house, "limit_reached")
            assert len(house.kept()) == MAX_PER_ENTITY


# -- what changes while the authority is asked


async def test_sync_tax_business_version_conflict_of_the_number(open_tax: OpenTax) -> None:
    """What was said of one person is not written to the books of another."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.meanwhile(lambda: house.make("legalEntity/updateLegalEntity", id=house.person, nino="AA123456B"))
            await refused(house, "version_conflict", id=oak)
            row = house.one(oak)
    assert (row.tax_business_id, row.version) == (None, 1)


async def test_a_business_that_is_another_one_meanwhile(open_tax: OpenTax) -> None:
    """A second one of the kind makes it doubtful which is meant."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.meanwhile(lambda: house.business(name="Elm"))
            await refused(house, "version_conflict", id=oak)
            assert [row.version for row in house.kept()] == [1, 1]


async def test_a_business_that_is_gone_meanwhile(open_tax: OpenTax) -> None:
    async def delete(house: House) -> None:
        for table in ("obligation_events", "obligations", "periods", "businesses"):
            sql = f"DELETE FROM {table} WHERE org_id = :org_id"
            await house.write(lambda tx, sql=sql: tx.run(sql))

    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.meanwhile(lambda: delete(house))
            reply = await refused(house, "not_found", id=oak)
            assert "upstream" not in reply.json()


async def test_a_caller_that_goes_leaves_the_business_alone(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            house.registry.server.script = hang
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(house.sync, id=oak))
                while not house.registry.server.requests:
                    await trio.sleep(0.01)
                nursery.cancel_scope.cancel()
            assert [(call.status, call.code) for call in house.tax.calls()] == [(0, None)]
            assert house.one(oak).tax_sync.status == "never"
