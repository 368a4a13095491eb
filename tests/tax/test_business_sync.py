"""`syncTaxBusiness`: what is compared, what is taken over, what is added, and what a dry run leaves alone."""

import pytest
import trio

from gatewayd.areas.businesses import tax_sync
from gatewayd.areas.businesses.shapes import BusinessRow, Latency, TaxSync
from gatewayd.clock import DAY
from gatewayd.contract.wire import Address
from gatewayd.ledger.calendar import period_locks
from tests.support.store import START
from tests.tax.conftest import HEADERS, OpenTax, with_header
from tests.tax.recording import answer
from tests.tax.registry import (
    ABROAD,
    GONE,
    LETS,
    NINO,
    SYNC,
    TRADE,
    lets,
    open_house,
    settle,
    told,
    trade,
)

SECONDS = 60.0
ADDRESS = {"line1": "2 Elm", "line2": None, "town": None, "county": None, "postcode": None, "countryCode": "GB"}


def shown(row: BusinessRow) -> dict[str, object]:
    names = ("trading_name", "trading_type", "commencement_date", "accounting_basis")
    return {name: getattr(row, name) for name in (*names, "quarterly_period_type", "quarterly_period_tax_year")}


THEIRS = {
    "trading_name": "Oak Plastering",
    "trading_type": "Plastering",
    "commencement_date": "2025-05-01",
    "accounting_basis": "accruals",
    "quarterly_period_type": "calendar",
    "quarterly_period_tax_year": "2026-27",
}


async def test_what_the_authority_says_is_taken_over(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business(tradingName="Oaks", commencementDate="2025-05-01", tradingType="Plastering")
            document = await house.business_synced(oak)
            row = house.one(oak)
    assert shown(row) == THEIRS
    assert (row.name, row.tax_business_id, row.version) == ("Oak", TRADE, 2)
    assert row.address == Address(line1="1 Acme Rd.", line2="Leeds", postcode="LS1 4DY", country_code="GB")
    addresses = [(one["local"], one["remote"]) for one in document["changes"] if one["field"] == "address"]
    assert addresses == [(None, document["business"]["address"])]
    assert {change for change in told(document) if change[0] != "address"} == {
        ("taxBusinessId", None, TRADE),
        ("tradingName", "Oaks", "Oak Plastering"),
        ("accountingBasis", "cash", "accruals"),
        ("quarterlyPeriodType", "standard", "calendar"),
        ("quarterlyPeriodTaxYear", None, "2026-27"),
    }
    assert {(one["businessId"], one["taxBusinessId"]) for one in document["changes"]} == {(oak, TRADE)}
    assert document["syncedAt"] == document["business"]["taxSync"]["syncedAt"]
    assert document["business"]["taxSync"] == {
        "status": "in_sync",
        "syncedAt": document["syncedAt"],
        "error": None,
        "latency": {
            "endDate": "2027-04-05",
            "taxYear1": "2025-26",
            "indicator1": "A",
            "taxYear2": "2026-27",
            "indicator2": "Q",
        },
        "yearOfMigration": "2022",
    }
    assert document["business"]["tradingName"] == "Oak Plastering"
    assert house.registry.asked == ["list", TRADE]


async def test_the_requests_are_those_of_the_interface_and_recorded(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            fields = with_header(b"accept-encoding", b"gzip", of=HEADERS)
            reply = await house.tax.api("POST", SYNC, json={"id": oak}, headers=fields, token="sync")
            calls = house.tax.calls()
    assert reply.status == 200
    for request in house.registry.server.requests:
        assert request.line.startswith(f"GET /individuals/business/details/{NINO}/")
        assert request.values("accept") == [b"application/vnd.hmrc.2.0+json"]
        assert request.values("authorization") == [b"Bearer first"]
        assert request.values("gov-client-device-id") == [dict(HEADERS)[b"gov-client-device-id"]]
        assert request.values("accept-encoding") == [b"identity"]
        assert request.values("content-type") == []
    assert [(call.operation, call.status, call.code) for call in calls] == [("businesses.syncTaxBusiness", 200, None)]


async def test_a_second_comparison_finds_nothing_and_asks_once(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            await house.business_synced(oak)
            house.tax.api.clock.advance(DAY)
            document = await house.business_synced(oak)
            row = house.one(oak)
    assert document["changes"] == []
    assert (row.version, row.tax_sync.synced_at) == (2, START + DAY)
    assert house.registry.asked == ["list", TRADE, TRADE]


async def test_no_answer_that_was_kept_will_do(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), cache_seconds=60.0) as house:
            oak = await house.business()
            await house.business_synced(oak)
            house.registry.sources[0]["tradingName"] = "Other"
            document = await house.business_synced(oak)
    assert told(document) == {("tradingName", "Oak Plastering", "Other")}


async def test_what_the_authority_does_not_say_stays(open_tax: OpenTax) -> None:
    ours = {"tradingName": "Lets", "accountingBasis": "accruals", "address": ADDRESS}
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets(commencementDate=None)) as house:
            made = await house.business(type="uk_property", commencementDate="2019-01-01", **ours)
            document = await house.business_synced(made)
    assert told(document) == {("taxBusinessId", None, LETS)}
    assert document["business"] | ours == document["business"]
    assert document["business"]["commencementDate"] == "2019-01-01"


async def test_property_that_is_somewhere_stays_where_it_is(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets(typeOfBusiness="property-unspecified")) as house:
            made = await house.business(type="uk_property", commencementDate="2020-04-06")
            await house.known_as(made, LETS)
            document = await house.business_synced(made)
    assert document["changes"] == []
    assert document["business"]["type"] == "uk_property"


async def test_the_type_is_the_authoritys(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets()) as house:
            made = await house.business(commencementDate="2020-04-06")
            await house.known_as(made, LETS)
            document = await house.business_synced(made)
    assert told(document) == {("type", "self_employment", "uk_property")}
    assert document["business"]["type"] == "uk_property"


# -- all of a person's


async def test_sources_that_nobody_has_are_added(open_tax: OpenTax) -> None:
    abroad = {"businessId": ABROAD, "typeOfBusiness": "foreign-property", "cessationDate": "2025-01-31"}
    strange = {"businessId": "XSIS00000000009", "typeOfBusiness": "space-property"}
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), lets(), abroad, strange) as house:
            oak = await house.business()
            document = await house.person_synced()
            kept = house.kept()
    assert [(row.tax_business_id, row.name, row.status) for row in kept] == [
        (TRADE, "Oak", "active"),
        (LETS, "UK property", "active"),
        (ABROAD, "Foreign property", "ceased"),
    ]
    assert [one["id"] for one in document["businesses"]] == [row.id for row in kept]
    assert kept[0].id == oak
    assert {one["taxSync"]["status"] for one in document["businesses"]} == {"in_sync"}
    added = [one for one in document["changes"] if one["taxBusinessId"] == LETS]
    assert [(one["businessId"], one["field"], one["local"], one["remote"]) for one in added] == [
        (kept[1].id, "taxBusinessId", None, LETS),
        (kept[1].id, "type", None, "uk_property"),
        (kept[1].id, "commencementDate", None, "2020-04-06"),
    ]
    assert house.registry.asked == ["list", TRADE, LETS, ABROAD]


async def test_what_the_authority_does_not_have_is_not_found(open_tax: OpenTax) -> None:
    """Of the kinds that it could have; those that are archived, or of another kind, are left alone."""
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business(tradingName="Oak Plastering")
            elm = await house.business(name="Elm")
            club = await house.business(type="other", name="Club")
            old = await house.business(name="Old")
            await house.make("businesses/archive", id=old, force=True)
            document = await house.person_synced()
            kept = {row.id: row for row in house.kept()}
    statuses = {one["id"]: one["taxSync"]["status"] for one in document["businesses"]}
    assert statuses == {oak: "in_sync", elm: "not_found"}
    assert {kept[club].tax_sync.status, kept[old].tax_sync.status} == {"never"}
    assert kept[elm].tax_sync.synced_at == START


async def test_a_source_that_is_listed_and_gone_is_not_found(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), lets()) as house:
            made = await house.business(type="uk_property")
            house.registry.failing[LETS] = answer(GONE, "404 Not Found")
            document = await house.person_synced()
            status = house.one(made).tax_sync.status
    assert {one["taxBusinessId"]: one["taxSync"]["status"] for one in document["businesses"]} == {
        TRADE: "in_sync",
        None: "not_found",
    }
    assert status == "not_found"


async def test_an_archived_business_is_known_again_and_stays_archived(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            await house.known_as(oak, TRADE)
            await house.make("businesses/archive", id=oak, force=True)
            document = await house.person_synced()
            kept = house.kept()
    assert [row.id for row in kept] == [oak]
    assert [one["status"] for one in document["businesses"]] == ["archived"]
    assert kept[0].trading_name == "Oak Plastering"


# -- what is told and not taken over


async def test_a_cessation_that_the_authority_has_not_been_told_of_stays(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets()) as house:
            made = await house.business(type="uk_property", commencementDate="2020-04-06")
            await house.make("businesses/setStatus", id=made, status="ceased", effectiveDate="2026-10-31")
            document = await house.business_synced(made)
    assert ("cessationDate", "2026-10-31", None) in told(document)
    business = document["business"]
    assert (business["status"], business["taxSync"]["status"]) == ("ceased", "differs")


async def test_a_cessation_at_the_authority_ends_the_business(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets(cessationDate="2026-10-31")) as house:
            made = await house.business(type="uk_property", commencementDate="2020-04-06")
            business = (await house.business_synced(made))["business"]
    assert (business["status"], business["cessationDate"]) == ("ceased", "2026-10-31")
    assert business["taxSync"]["status"] == "in_sync"


async def test_the_basis_of_closed_books_stays(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            await house.write(lambda tx: period_locks.close(tx, house.person, "2025-04-06", "2026-04-05"))
            document = await house.business_synced(oak)
            row = house.one(oak)
    assert ("accountingBasis", "cash", "accruals") in told(document)
    assert (row.accounting_basis, row.trading_name, row.tax_sync.status) == ("cash", "Oak Plastering", "differs")


# -- a dry run


@pytest.mark.parametrize("whole", [True, False])
async def test_a_dry_run_writes_nothing(open_tax: OpenTax, whole: bool) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), lets()) as house:
            oak = await house.business()
            before = house.kept()
            dry = {"legalEntityId": house.person} if whole else {"id": oak}
            first = (await house.sync(**dry, dryRun=True)).json()
            assert house.kept() == before
            real = (await house.sync(**dry)).json()
    ours = [one for one in first["changes"] if one["businessId"] == oak]
    assert ours == [one for one in real["changes"] if one["taxBusinessId"] == TRADE]
    others = [one for one in first["changes"] if one["businessId"] is None]
    assert {one["taxBusinessId"] for one in others} == ({LETS} if whole else set())
    assert len(first["changes"]) == len(real["changes"])
    business = first["businesses"][0] if whole else first["business"]
    assert (business["taxSync"]["status"], business["taxBusinessId"]) == ("never", None)


async def test_a_dry_run_that_fails_leaves_no_trace_on_the_business(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            oak = await house.business()
            before = house.kept()
            reply = await house.sync(id=oak, dryRun=True)
            assert (reply.status, house.kept()) == (404, before)


# -- the other modes


async def test_the_sandbox_answers(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="sandbox") as tax:
            person = await settle(tax)

            async def synced(scenario: bytes | None) -> list[tuple[str, str]]:
                headers = HEADERS if scenario is None else with_header(b"gov-test-scenario", scenario)
                reply = await tax.api("POST", SYNC, json={"legalEntityId": person}, headers=headers, token="sync")
                assert reply.status == 200, reply.body
                return [(one["type"], one["taxSync"]["status"]) for one in reply.json()["businesses"]]

            assert await synced(None) == [("self_employment", "in_sync")]
            assert await synced(b"BUSINESS_AND_PROPERTY") == [
                ("self_employment", "in_sync"),
                ("uk_property", "in_sync"),
                ("foreign_property", "in_sync"),
            ]
            assert (await synced(b"FOREIGN_PROPERTY"))[2] == ("foreign_property", "in_sync")
            assert (await synced(b"DYNAMIC"))[0] == ("self_employment", "in_sync")


@pytest.mark.parametrize(
    ("scenario", "status", "code"),
    [(b"NOT_FOUND", 404, "not_found"), (b"QUARTERLY_ONE_MET", 502, "tax_upstream_error")],
)
async def test_the_sandbox_refuses(open_tax: OpenTax, scenario: bytes, status: int, code: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="sandbox") as tax:
            person = await settle(tax)
            headers = with_header(b"gov-test-scenario", scenario)
            reply = await tax.api("POST", SYNC, json={"legalEntityId": person}, headers=headers, token="sync")
    assert (reply.status, reply.code) == (status, code)
    assert reply.json()["upstream"]["code"] in ("MATCHING_RESOURCE_NOT_FOUND", "RULE_INCORRECT_GOV_TEST_SCENARIO")


@pytest.mark.parametrize("mode", ["hmrc", "forward"])
async def test_a_tax_service_is_asked_at_the_authoritys_paths(open_tax: OpenTax, mode: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), mode=mode) as house:
            await house.person_synced()
    assert house.registry.asked == ["list", TRADE]


# -- once, and at once


async def test_a_key_makes_a_retry_safe(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, lets()) as house:
            headers = [*HEADERS, (b"idempotency-key", b"k1")]
            request = {"legalEntityId": house.person}
            replies = [await house.tax.api("POST", SYNC, json=request, headers=headers, token="sync") for _ in range(2)]
            calls = len(house.tax.calls())
    assert [reply.status for reply in replies] == [200, 200]
    assert replies[0].body == replies[1].body
    assert "idempotent-replayed" in replies[1]
    assert (len(house.registry.asked), calls) == (2, 1)


async def test_a_key_may_be_used_again_after_a_failure(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            headers = [*HEADERS, (b"idempotency-key", b"k1")]
            request = {"legalEntityId": house.person}
            first = await house.tax.api("POST", SYNC, json=request, headers=headers, token="sync")
            house.registry.sources.append(lets())
            second = await house.tax.api("POST", SYNC, json=request, headers=headers, token="sync")
    assert (first.status, second.status) == (404, 200)


async def test_two_at_once_add_a_source_once(open_tax: OpenTax) -> None:
    documents = []
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade(), lets()) as house:
            both = trio.Event()
            arrived = []

            async def meet() -> None:
                """No list is answered before both have asked for it."""
                arrived.append(1)
                if len(arrived) == 2:
                    both.set()
                await both.wait()

            house.registry.meanwhile = meet

            async def sync() -> None:
                documents.append(await house.person_synced())

            async with trio.open_nursery() as nursery:
                nursery.start_soon(sync)
                nursery.start_soon(sync)
            kept = house.kept()
    assert sorted(str(row.tax_business_id) for row in kept) == sorted([TRADE, LETS])
    assert sorted(len(document["changes"]) for document in documents)[0] == 0
    assert documents[0]["businesses"][0]["id"] == documents[1]["businesses"][0]["id"]


# -- what changes while the authority is asked


async def test_what_was_changed_meanwhile_is_what_is_compared(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business(tradingName="Oaks")
            house.meanwhile(lambda: house.make("businesses/update", id=oak, tradingName="Oak Plastering"))
            document = await house.business_synced(oak)
            row = house.one(oak)
    assert "tradingName" not in {one["field"] for one in document["changes"]}
    assert row.version == 3


async def test_a_business_that_was_archived_meanwhile_is_compared_and_stays_so(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(open_tax, trade()) as house:
            oak = await house.business()
            await house.known_as(oak, TRADE)
            house.meanwhile(lambda: house.make("businesses/archive", id=oak, force=True))
            business = (await house.business_synced(oak))["business"]
    assert (business["status"], business["taxSync"]["status"]) == ("archived", "in_sync")


async def test_what_was_known_of_a_business_stays_when_it_is_not_found(open_tax: OpenTax) -> None:
    latency = Latency(end_date="2027-04-05", tax_year1="2025-26", indicator1="A", tax_year2="2026-27", indicator2="Q")
    with trio.fail_after(SECONDS):
        async with open_house(open_tax) as house:
            oak = await house.business()
            record = TaxSync(status="in_sync", synced_at=START, error=None, latency=latency, year_of_migration="2022")
            await house.write(lambda tx: tax_sync.take_over(tx, oak, {"tax_business_id": TRADE}, record))
            assert (await house.sync(id=oak)).status == 404
            sync = (await house.business_shown(oak))["taxSync"]
    assert (sync["status"], sync["error"]) == ("not_found", "MATCHING_RESOURCE_NOT_FOUND")
    assert (sync["latency"]["endDate"], sync["yearOfMigration"]) == ("2027-04-05", "2022")
