"""`obligations.sync`: what is asked, taken over and told, each of its errors, and that a failure changes nothing."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from gatewayd.tax.sync.obligation_inquiry import BYTES_MAX, ROWS_MAX
from tests.support.api import Reply
from tests.tax.conftest import HEADERS, OpenTax, with_header
from tests.tax.recording import Recorded, Stream, answer, hang, hang_up
from tests.tax.registry import NINO, TRADE, House, open_house

SECONDS = 60.0
SYNC = "/api/rpc/obligations/sync"
SCOPES = ("entities:read", "entities:write", "periods:read", "periods:write", "tax:read")
VAT, UPDATES, DECLARATIONS = "/organisations/vat/", "/income-and-expenditure", "/crystallisation"
NOTHING = answer(b'{"code":"NO_OBLIGATIONS_FOUND","message":"x"}', "404 Not Found")
Json = dict[str, Any]

RETURN = {"start": "2026-07-01", "end": "2026-09-30", "due": "2026-11-09", "status": "O", "periodKey": "#A3B"}
UPDATE = {
    "periodStartDate": "2026-04-06",
    "periodEndDate": "2026-10-05",
    "dueDate": "2026-11-07",
    "status": "fulfilled",
    "receivedDate": "2026-11-06",
}
DECLARATION = {
    "periodStartDate": "2025-04-06",
    "periodEndDate": "2026-04-05",
    "dueDate": "2027-01-31",
    "status": "open",
}


class Office:
    """The authority: what it answers by a part of the path, and what it was asked."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.answers: dict[str, bytes] = {}
        house.registry.server.script = self.script

    async def script(self, stream: Stream, request: Recorded) -> None:
        if self.house.registry.meanwhile is not None:
            await self.house.registry.meanwhile()
        found = next((body for part, body in self.answers.items() if part in request.target), NOTHING)
        await stream.send_all(found)

    def says(self, part: str, *obligations: Json) -> None:
        self.answers[part] = answer(json.dumps({"obligations": obligations}).encode())

    @property
    def asked(self) -> list[str]:
        return [request.target for request in self.house.registry.server.requests]

    async def sync(self, token: str = "deadlines", **request: object) -> Reply:
        values = {"legalEntityId": self.house.person, **request}
        return await self.house.tax.api("POST", SYNC, json=values, headers=HEADERS, token=token)

    async def synced(self, **request: object) -> Json:
        reply = await self.sync(**request)
        assert reply.status == 200, reply.body
        document: Json = reply.json()
        return document

    async def obligations(self, query: str = "") -> list[Json]:
        reply = await self.house.tax.api("GET", "/obligations/list", query=query, token="deadlines")
        found: list[Json] = reply.json()["data"]
        return found

    async def company(self) -> str:
        vat = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard", "staggerGroup": 1}
        firm = {"name": "Elm Ltd", "type": "limited_company", "companyNumber": "01234567", "vatNumber": "GB980780684"}
        return str((await self.house.make("legalEntity/createLegalEntity", **firm, vat=vat))["id"])


@asynccontextmanager
async def open_office(open_tax: OpenTax, **settings: Any) -> AsyncIterator[Office]:
    async with open_house(open_tax, **settings) as house:
        house.tax.api.token("org_a", "deadlines", SCOPES)
        house.tax.api.token("org_b", "stranger", SCOPES)
        with trio.fail_after(SECONDS):
            yield Office(house)


async def refused(office: Office, code: str, **request: object) -> Reply:
    """Refused with that code, as the record says, and nothing has changed."""
    before = await office.obligations("limit=100")
    reply = await office.sync(**request)
    assert reply.code == code, reply.body
    call = office.house.tax.calls()[0]
    assert (call.operation, call.status, call.code) == ("obligations.sync", reply.status, code)
    assert await office.obligations("limit=100") == before
    return reply


async def test_what_the_authority_has_takes_the_place_of_what_was_predicted(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        company = await office.company()
        (predicted,) = [
            one for one in await office.obligations("kind=vat_return") if one["periodEndDate"] == RETURN["end"]
        ]
        office.says("status=O", RETURN)
        document = await office.synced(legalEntityId=company)
        (confirmed,) = document["obligations"]
        again = await office.synced(legalEntityId=company)
    assert (confirmed["id"], confirmed["source"], confirmed["dueDate"], confirmed["predictedDueDate"]) == (
        *(predicted["id"], "tax_authority"),
        *("2026-11-09", "2026-11-07"),
    )
    assert document["differences"] == [
        {
            "obligationId": predicted["id"],
            "kind": "vat_return",
            "businessId": None,
            "periodEndDate": "2026-09-30",
            "field": "dueDate",
            "local": "2026-11-07",
            "remote": "2026-11-09",
        }
    ]
    assert document["unknownSources"] == []
    assert again["differences"] == []
    assert again["obligations"][0]["version"] == confirmed["version"]


async def test_the_requests_are_those_of_the_interfaces(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        await office.synced(legalEntityId=await office.company())
        await office.synced()
        requests = office.house.registry.server.requests
    assert office.asked == [
        "/organisations/vat/980780684/obligations?status=O",
        "/organisations/vat/980780684/obligations?from=2025-11-20&to=2026-11-20&status=F",
        f"/obligations/details/{NINO}/income-and-expenditure?fromDate=2025-04-06&toDate=2026-04-05",
        f"/obligations/details/{NINO}/income-and-expenditure?fromDate=2026-04-06&toDate=2027-04-05",
        f"/obligations/details/{NINO}/crystallisation",
        f"/individuals/person/itsa-status/{NINO}/2026-27",
    ]
    versions = [request.values("accept")[0].decode() for request in requests]
    of_vat, of_income_tax = 2 * ["application/vnd.hmrc.1.0+json"], 3 * ["application/vnd.hmrc.3.0+json"]
    assert versions == [*of_vat, *of_income_tax, "application/vnd.hmrc.2.0+json"]
    assert {request.values("authorization")[0] for request in requests} == {b"Bearer first"}
    assert all(request.values("gov-client-device-id") for request in requests)


async def test_updates_are_of_the_business_that_the_authority_knows(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        oak = await office.house.business()
        await office.house.known_as(oak, TRADE)
        other = {
            "typeOfBusiness": "uk-property",
            "businessId": "XPIS00000000009",
            "obligationDetails": [UPDATE, UPDATE],
        }
        trade = {"typeOfBusiness": "self-employment", "businessId": TRADE, "obligationDetails": [UPDATE]}
        office.says("fromDate=2026-04-06", trade, other)
        office.says(DECLARATIONS, DECLARATION)
        document = await office.synced()
        updates = await office.obligations(f"businessId={oak}&dueDateTo=2026-12-31")
    assert [(one["kind"], one["businessId"], one["status"]) for one in document["obligations"]] == [
        ("itsa_quarterly_update", oak, "fulfilled"),
        ("itsa_final_declaration", None, "open"),
    ]
    assert document["unknownSources"] == [{"taxBusinessId": "XPIS00000000009", "obligationCount": 2}]
    assert [(one["periodEndDate"], one["status"]) for one in updates] == [
        ("2026-07-05", "fulfilled"),  # met with the later one (Domain C7)
        ("2026-10-05", "fulfilled"),
    ]
    told = {(one["periodEndDate"], one["field"], one["remote"]) for one in document["differences"]}
    assert ("2026-10-05", "status", "fulfilled") in told
    assert ("2026-10-05", "receivedDate", "2026-11-06") in told


def return_to(start: str, end: str, **values: object) -> Json:
    return {**RETURN, "start": start, "end": end, **values}


async def test_a_predicted_return_that_the_authority_passes_over_is_told(open_tax: OpenTax) -> None:
    """It names the quarters to June and to December, and none between them; what is to come it need not name yet."""
    async with open_office(open_tax) as office:
        company = await office.company()
        office.says("status=O", return_to("2026-10-01", "2026-12-31"), return_to("2026-04-01", "2026-06-30"))
        for dry_run in (True, False):
            found = await office.synced(legalEntityId=company, dryRun=dry_run)
            missing = [one for one in found["differences"] if one["remote"] is None and one["field"] == "status"]
            assert [(one["kind"], one["periodEndDate"], one["local"]) for one in missing] == [
                ("vat_return", "2026-09-30", "open")
            ]
        (kept,) = [one for one in await office.obligations("kind=vat_return") if one["periodEndDate"] == "2026-09-30"]
        assert (missing[0]["obligationId"], kept["confidence"]) == (kept["id"], "predicted")


async def test_a_predicted_update_of_a_year_that_the_authority_told_of_is_told(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        oak = await office.house.business()
        await office.house.known_as(oak, TRADE)
        update = {**UPDATE, "status": "open", "receivedDate": None}
        ends = []
        for said in (update, UPDATE):  # the second was received, and meets the one before it
            rows = {"typeOfBusiness": "self-employment", "businessId": TRADE, "obligationDetails": [said]}
            office.says("fromDate=2026-04-06", rows)
            found = await office.synced(taxes=["income_tax"], dryRun=True)
            missing = [one for one in found["differences"] if (one["local"], one["remote"]) == ("open", None)]
            ends.append({one["periodEndDate"] for one in missing})
        assert ends == [{"2026-07-05", "2027-01-05", "2027-04-05"}, {"2027-01-05", "2027-04-05"}]


async def test_a_dry_run_tells_and_changes_nothing(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        company = await office.company()
        office.says("status=O", RETURN, RETURN | {"start": "2020-01-01", "end": "2020-03-31", "due": "2020-05-07"})
        before = await office.obligations("limit=100")
        document = await office.synced(legalEntityId=company, dryRun=True)
        assert await office.obligations("limit=100") == before
    assert [one["dueDate"] for one in document["obligations"]] == ["2026-11-07"]
    new = [one for one in document["differences"] if one["obligationId"] is None]
    assert [(one["field"], one["local"], one["remote"]) for one in new] == [
        ("periodStartDate", None, "2020-01-01"),
        ("dueDate", None, "2020-05-07"),
        ("status", None, "open"),
    ]


async def test_one_tax_alone_is_asked_for(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        await office.synced(taxes=["income_tax"])
        assert len(office.asked) == 4
        reply = await office.sync(taxes=["income_tax", "vat"])
        assert [(error["path"], error["code"]) for error in reply.json()["errors"]] == [("taxes[1]", "required")]
        nobody = {"name": "Ash", "type": "sole_trader"}
        without = (await office.house.make("legalEntity/createLegalEntity", **nobody))["id"]
        reply = await office.sync(legalEntityId=without)
        assert [(error["path"], error["code"]) for error in reply.json()["errors"]] == [("legalEntityId", "required")]
        assert len(office.asked) == 4


def status(*details: Json, year: str = "2026-27") -> bytes:
    return answer(json.dumps({"itsaStatuses": [{"taxYear": year, "itsaStatusDetails": details}]}).encode())


def detail(submitted_on: str, status: str, reason: str | None = "Sign up - return available") -> Json:
    return {"submittedOn": submitted_on, "status": status, "statusReason": reason}


async def entity(office: Office) -> Json:
    query = f"id={office.house.person}"
    reply = await office.house.tax.api("GET", "/legalEntity/getLegalEntity", query=query, token="deadlines")
    found: Json = reply.json()
    return found


STATUS = "/itsa-status/"


async def test_the_latest_status_of_the_year_is_kept_with_its_time(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        assert (await entity(office))["itsaStatus"] is None
        office.answers[STATUS] = status(
            detail("2026-06-01T08:00:00.000Z", "MTD Mandated"), detail("2026-02-01T08:00:00.000Z", "No Status", None)
        )
        await office.synced(dryRun=True)
        assert (await entity(office))["itsaStatus"] is None
        await office.synced()
        found = await entity(office)
        await office.synced()
        again = await entity(office)
        office.answers[STATUS] = status(detail("2026-07-01T08:00:00.000Z", "MTD Exempt", None))
        await office.synced()
        changed = await entity(office)
    assert found["itsaStatus"] == {
        "taxYear": "2026-27",
        "status": "MTD Mandated",
        "reason": "Sign up - return available",
        "fetchedAt": "2026-11-20T09:30:00.000Z",
    }
    assert again["version"] == found["version"]
    assert (changed["itsaStatus"]["status"], changed["itsaStatus"]["reason"]) == ("MTD Exempt", None)
    assert changed["version"] == found["version"] + 1


async def test_a_status_goes_with_the_number_that_it_was_said_of(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        office.answers[STATUS] = status(detail("2026-06-01T08:00:00.000Z", "MTD Voluntary"))
        await office.synced()
        change = {"id": office.house.person, "name": "Ash"}
        assert (await office.house.make("legalEntity/updateLegalEntity", **change))["itsaStatus"] is not None
        change["nino"] = "AA123459A"
        assert (await office.house.make("legalEntity/updateLegalEntity", **change))["itsaStatus"] is None


@pytest.mark.parametrize(
    "said", [answer(b'{"code":"CLIENT_NOT_MTD_ENROLLED"}', "403 X"), NOTHING, status(), status(year="2025-26")]
)
async def test_a_status_that_is_not_told_leaves_what_was_kept(open_tax: OpenTax, said: bytes) -> None:
    async with open_office(open_tax) as office:
        office.answers[STATUS] = status(detail("2026-06-01T08:00:00.000Z", "MTD Voluntary"))
        await office.synced()
        office.answers[STATUS] = said
        office.says(DECLARATIONS, DECLARATION)
        assert len((await office.synced())["obligations"]) == 1
        assert (await entity(office))["itsaStatus"]["status"] == "MTD Voluntary"


async def test_a_status_that_cannot_be_read_is_the_answer_to_the_whole(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        office.answers[STATUS] = answer(b'{"itsaStatuses":[{"taxYear":7}]}')
        await refused(office, "tax_upstream_error")


async def test_no_answer_that_was_kept_will_do(open_tax: OpenTax) -> None:
    async with open_office(open_tax, cache_seconds=60.0) as office:
        company = await office.company()
        await office.synced(legalEntityId=company)
        office.says("status=O", RETURN)
        assert len((await office.synced(legalEntityId=company))["obligations"]) == 1


async def test_against_the_sandbox_authority(open_tax: OpenTax) -> None:
    """Its trade has this year's updates: those that were due are met, the others are open."""
    async with open_tax(mode="sandbox") as tax:
        tax.api.token("org_a", "deadlines", SCOPES)
        with trio.fail_after(SECONDS):
            entity = {"name": "Ann", "type": "sole_trader", "nino": NINO, "vatNumber": "GB980780684"}
            vat = {"status": "registered", "effectiveDate": "2017-01-01", "scheme": "standard"}
            made = await tax.api(
                "POST", "/legalEntity/createLegalEntity", json={**entity, "vat": vat}, token="deadlines"
            )
            assert made.status == 200, made.body
            request = {"legalEntityId": made.json()["id"]}
            synced = await tax.api(
                "POST", "/api/rpc/businesses/syncTaxBusiness", json=request, headers=HEADERS, token="deadlines"
            )
            assert synced.status == 200, synced.body
            reply = await tax.api("POST", SYNC, json=request, headers=HEADERS, token="deadlines")
    assert reply.status == 200, reply.body
    found = {(one["kind"], one["periodEndDate"], one["status"]) for one in reply.json()["obligations"]}
    assert ("itsa_final_declaration", "2026-04-05", "open") in found
    assert ("vat_return", "2017-03-31", "fulfilled") in found
    assert ("itsa_quarterly_update", "2026-10-05", "fulfilled") in found
    assert ("itsa_quarterly_update", "2027-01-05", "open") in found


# -- refusals


async def test_another_organizations_entity_is_not_found(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        foreign, unknown = await office.sync("stranger"), await office.sync(legalEntityId="ent_x")
        for reply in (foreign, unknown):
            assert (reply.status, reply.json()["errors"][0]["code"]) == (422, "unknown_reference")
        assert office.asked == []


async def test_obligations_sync_invalid_state(open_tax: OpenTax) -> None:
    archive = "UPDATE legal_entities SET archived_at = :now WHERE org_id = :org_id AND id = :id"
    async with open_office(open_tax) as office:
        await office.house.write(lambda tx: tx.run(archive, id=office.house.person))
        assert (await refused(office, "invalid_state")).json()["currentState"] == "archived"
        assert office.asked == []


async def test_obligations_sync_version_conflict(open_tax: OpenTax) -> None:
    """The number was changed while the authority was asked: what it says is of somebody else."""
    async with open_office(open_tax) as office:
        company = await office.company()
        office.says("status=O", RETURN)

        async def change() -> None:
            sql = "UPDATE legal_entities SET vat_number = '123456782' WHERE org_id = :org_id AND id = :id"
            await office.house.write(lambda tx: tx.run(sql, id=company))

        office.house.meanwhile(change)
        assert (await refused(office, "version_conflict", legalEntityId=company)).status == 409


async def test_obligations_sync_tax_not_configured(open_tax: OpenTax) -> None:
    async with open_tax(mode="off") as tax:
        tax.api.token("org_a", "deadlines", SCOPES)
        reply = await tax.api("POST", SYNC, json={"legalEntityId": "ent_x"}, headers=HEADERS, token="deadlines")
    assert (reply.status, reply.code) == (503, "tax_not_configured")


async def test_obligations_sync_tax_not_connected(open_tax: OpenTax) -> None:
    async with open_office(open_tax, mode="hmrc") as office:
        await office.house.write(lambda tx: tx.run("DELETE FROM tax_connections WHERE org_id = :org_id"))
        await refused(office, "tax_not_connected")
        assert office.asked == []


async def test_obligations_sync_fraud_headers_invalid(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        request = {"legalEntityId": office.house.person}
        reply = await office.house.tax.api("POST", SYNC, json=request, headers=(), token="deadlines")
        assert (reply.status, reply.code) == (400, "fraud_headers_invalid")
        assert office.asked == []


async def test_obligations_sync_test_header_in_production(open_tax: OpenTax) -> None:
    async with open_office(open_tax, fraud_headers="off") as office:
        headers = with_header(b"gov-test-scenario", b"OPEN")
        request = {"legalEntityId": office.house.person}
        reply = await office.house.tax.api("POST", SYNC, json=request, headers=headers, token="deadlines")
        assert (reply.status, reply.code) == (400, "test_header_in_production")


async def test_obligations_sync_tax_reauthorisation_required(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        office.answers[UPDATES] = answer(b'{"code":"INVALID_CREDENTIALS"}', "401 Unauthorized")
        await refused(office, "tax_reauthorisation_required")


@pytest.mark.parametrize("part", ["fromDate=2025", "fromDate=2026", DECLARATIONS])
@pytest.mark.parametrize("status", [400, 403, 500, 302])
async def test_obligations_sync_tax_upstream_error(open_tax: OpenTax, part: str, status: int) -> None:
    """Whichever question fails, nothing is taken over of the others."""
    async with open_office(open_tax) as office:
        office.says(DECLARATIONS, DECLARATION)
        office.answers[part] = answer(b'{"code":"RULE_X"}', f"{status} X")
        reply = await refused(office, "tax_upstream_error")
    assert reply.json()["upstream"] == {"status": status, "code": "RULE_X"}


async def test_the_authority_asks_for_patience(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        office.answers[UPDATES] = answer(b"{}", "429 X", b"Retry-After: 7\r\n")
        reply = await refused(office, "rate_limited")
    assert reply["retry-after"] == "7"


async def test_obligations_sync_tax_upstream_timeout(open_tax: OpenTax) -> None:
    async with open_office(open_tax, timeout_seconds=0.4) as office:
        office.house.registry.server.script = hang
        await refused(office, "tax_upstream_timeout")


async def test_the_authority_hangs_up(open_tax: OpenTax) -> None:
    async with open_office(open_tax) as office:
        office.house.registry.server.script = hang_up
        await refused(office, "tax_upstream_error")


def _declared(**values: object) -> bytes:
    return json.dumps({"obligations": [DECLARATION | values]}).encode()


NONSENSE = {
    "no JSON": b"<html>",
    "no list": b'{"obligations":{}}',
    "null": b"null",
    "no date": _declared(dueDate="soon"),
    "a date that is not there": _declared(dueDate="2026-02-30"),
    "an unknown status": _declared(status="lost"),
    "a period that ends before it starts": _declared(periodStartDate="2026-04-06"),
    "more than is sane": json.dumps({"obligations": [DECLARATION] * (ROWS_MAX + 1)}).encode(),
    "too large": json.dumps({"obligations": [], "x": "x" * BYTES_MAX}).encode(),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_is_refused_as_a_whole(open_tax: OpenTax, body: bytes) -> None:
    async with open_office(open_tax) as office:
        office.answers[DECLARATIONS] = answer(body)
        await refused(office, "tax_upstream_error")
