"""What administrators of the instance do: who may, what is refused, and what is left behind."""

import pytest

from gatewayd.clock import DAY
from gatewayd.ledger.credits import costs, plans
from tests.areas.billing.conftest import Billing, OpenBilling
from tests.support import purses

_PLAN: dict[str, object] = {"code": "studio", "name": "Studio", "includedCredits": "100"}
_GRANT_ID = "gra_00000000000000000000000000"
_ENTRY = {"occurredAt": "2026-01-01T00:00:00Z", "type": "grant", "amount": "1"}
_CHANGES: dict[str, dict[str, object]] = {
    "grants": {"amount": "1"},
    "grants/void": {"id": _GRANT_ID},
    "ledger/refund": {"id": "led_00000000000000000000000000"},
    "ledger/adjust": {"amount": "1", "description": "x"},
    "ledger/import": {
        "source": "x",
        "entries": [{"occurredAt": "2026-01-01T00:00:00Z", "type": "grant", "amount": "1"}],
    },
    "plans": _PLAN,
    "plans/retire": {"code": "studio"},
    "plans/current": {"code": "none"},
    "costs": {"operation": "crm.createLead", "credits": "1"},
}


@pytest.mark.parametrize("path", _CHANGES)
async def test_an_owner_changes_nothing(open_billing: OpenBilling, path: str) -> None:
    async with open_billing() as billing:
        reply = await billing.post(path, _CHANGES[path], token="owner")
        assert (reply.status, reply.code) == (403, "forbidden")
        assert (await billing.get("balance", token="owner"))["balance"] == "0"


@pytest.mark.parametrize(
    ("path", "body", "field", "code"),
    [
        ("grants", {"amount": "0"}, "amount", "out_of_range"),
        ("grants", {"amount": "-1"}, "amount", "out_of_range"),
        ("grants", {"amount": "1000000000.000001"}, "amount", "out_of_range"),
        ("grants", {"amount": "1.0000001"}, "amount", "invalid_decimal"),
        ("grants", {"amount": "1", "expiresAt": "2026-11-20T09:30:00Z"}, "expiresAt", "out_of_range"),
        ("ledger/adjust", {"amount": "0", "description": "x"}, "amount", "out_of_range"),
        ("plans", {**_PLAN, "code": "none"}, "code", "conflict"),
        ("plans", {**_PLAN, "priceMonthly": "-1"}, "priceMonthly", "out_of_range"),
        ("plans", {**_PLAN, "priceMonthly": "1.005"}, "priceMonthly", "invalid_decimal"),
        ("plans", {**_PLAN, "includedCredits": "-1"}, "includedCredits", "out_of_range"),
        ("plans/current", {"code": "nowhere"}, "code", "unknown_reference"),
        ("costs", {"operation": "crm.createLead", "credits": "-1"}, "credits", "out_of_range"),
        (
            "costs",
            {"operation": "crm.createLead", "credits": "1", "effectiveFrom": "2026-11-19"},
            "effectiveFrom",
            "out_of_range",
        ),
        ("costs", {"operation": "crm.createLeads", "credits": "1"}, "operation", "unknown_reference"),
        ("costs", {"operation": "billing.getPlans", "credits": "0"}, "operation", "unknown_reference"),
        ("costs", {"operation": "vault.parse", "credits": "1"}, "unit", "conflict"),
        ("costs", {"operation": "crm.createLead", "unit": "page", "credits": "1"}, "unit", "conflict"),
    ],
)
async def test_values_that_are_refused(
    open_billing: OpenBilling, path: str, body: dict[str, object], field: str, code: str
) -> None:
    async with open_billing() as billing:
        reply = await billing.post(path, body)
        assert reply.status == 422, reply.body
        assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [(field, code)]


async def test_an_adjustment_of_nothing_is_told_what_is_asked(open_billing: OpenBilling) -> None:
    """It may be below 0 as well."""
    async with open_billing() as billing:
        reply = await billing.post("ledger/adjust", {"amount": "0", "description": "x"})
        (error,) = reply.json()["errors"]
        assert "less than 0 to take" in error["message"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vault.pars", "vault.parse?"),
        ("CRM.createlead".lower(), "crm.createLead?"),
        ("sales.createLead", "crm.createLead?"),
        ("vault.search", "operations have their ids."),
    ],
)
async def test_a_name_that_nothing_is_charged_under_is_told_which_was_meant(
    open_billing: OpenBilling, name: str, told: str
) -> None:
    async with open_billing() as billing:
        (error,) = (await billing.post("costs", {"operation": name, "credits": "1"})).json()["errors"]
        assert error["message"].endswith(told)
        (unit,) = (await billing.post("costs", {"operation": "vault.parse", "credits": "1"})).json()["errors"]
        assert unit["message"] == "vault.parse is charged by page and by mb."
        assert (await billing.get("costs"))["data"] == []


async def _code(billing: Billing, path: str, **body: object) -> tuple[int, str]:
    reply = await billing.post(path, body)
    return reply.status, reply.code


async def test_a_grant_is_taken_back_once(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        grant = await billing.do("grants", amount="10")
        await billing.use("4")
        voided = await billing.do("grants/void", id=grant["id"], description="Given twice")
        assert (voided["voided"], voided["remaining"], voided["status"]) == ("6", "0", "voided")
        assert await _code(billing, "grants/void", id=grant["id"]) == (409, "invalid_state")
        assert (await billing.get("balance"))["balance"] == "0"
        (entry,) = (await billing.get("ledger", "type=void"))["data"]
        assert (entry["amount"], entry["grantId"], entry["description"]) == ("-6", grant["id"], "Given twice")


async def test_refunds_are_at_most_what_was_used(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("grants", amount="10")
        (used,) = await billing.use("4")
        await billing.do("ledger/refund", id=used["id"], amount="2.999999")
        await billing.do("ledger/refund", id=used["id"], amount="0.000001")
        assert await _code(billing, "ledger/refund", id=used["id"], amount="1.000001") == (422, "validation_failed")
        rest = await billing.do("ledger/refund", id=used["id"])
        assert (rest["amount"], rest["balanceAfter"]) == ("1", "10")
        assert await _code(billing, "ledger/refund", id=used["id"]) == (422, "validation_failed")
        assert await _code(billing, "ledger/refund", id=rest["id"]) == (409, "invalid_state")


async def test_a_refund_of_a_grant_that_has_expired_goes_to_a_new_one(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        body = {"amount": "10", "expiresAt": "2026-11-21T00:00:00Z", "category": "paid", "priority": 7}
        expired = await billing.do("grants", **body)
        (used,) = await billing.use("4")
        billing.api.clock.advance(DAY)
        refund = await billing.do("ledger/refund", id=used["id"])
        assert refund["grantId"] != expired["id"]
        grants = (await billing.get("grants"))["data"]
        assert [
            (one["source"], one["category"], one["priority"], one["remaining"], one["status"]) for one in grants
        ] == [
            ("refund", "paid", 7, "4", "active"),
            ("grant", "paid", 7, "0", "expired"),
        ]


async def test_adjustments_add_and_take(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        added = await billing.do("ledger/adjust", amount="5", description="Moved")
        taken = await billing.do("ledger/adjust", amount="-2", description="Counted twice")
        assert [one["balanceAfter"] for one in (*added["data"], *taken["data"])] == ["5", "3"]
        assert await _code(billing, "ledger/adjust", amount="-4", description="x") == (402, "insufficient_credits")


async def test_an_import_is_all_or_nothing_and_each_entry_once(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        given = {"occurredAt": "2026-01-01T00:00:00Z", "type": "purchase", "amount": "10", "externalId": "a"}
        used = {"occurredAt": "2026-02-01T00:00:00Z", "type": "usage", "amount": "-3", "externalId": "b"}
        too_much = {**used, "amount": "-8", "externalId": "c"}
        assert await _code(billing, "ledger/import", source="x", entries=[given, used, too_much]) == (
            402,
            "insufficient_credits",
        )
        assert (await billing.get("ledger"))["data"] == []
        done = await billing.do("ledger/import", source="x", entries=[given, used])
        again = await billing.do("ledger/import", source="x", entries=[given, used])
        assert [(one["added"], one["duplicates"]) for one in (done, again)] == [(2, 0), (0, 2)]
        entries = (await billing.get("ledger", "order=asc"))["data"]
        assert [(one["occurredAt"][:10], one["amount"], one["externalId"], one["importId"]) for one in entries] == [
            ("2026-01-01", "10", "a", done["importId"]),
            ("2026-02-01", "-3", "b", done["importId"]),
        ]
        assert entries[0]["bookedAt"] == "2026-11-20T09:30:00.000Z"


@pytest.mark.parametrize(
    ("entry", "field", "code"),
    [
        ({"type": "usage", "amount": "3"}, "amount", "out_of_range"),
        ({"type": "grant", "amount": "-3"}, "amount", "out_of_range"),
        ({"type": "grant", "amount": "3", "operation": "vault.parse"}, "operation", "conflict"),
        ({"type": "grant", "amount": "3", "occurredAt": "2026-11-20T09:30:01Z"}, "occurredAt", "out_of_range"),
        ({"type": "expiry", "amount": "-3"}, "type", "invalid_enum"),
        ({"type": "usage", "amount": "-3", "operation": "vault.pars"}, "operation", "unknown_reference"),
    ],
)
async def test_entries_that_are_not_imported(
    open_billing: OpenBilling, entry: dict[str, object], field: str, code: str
) -> None:
    async with open_billing() as billing:
        entries = [{"occurredAt": "2026-01-01T00:00:00Z", **entry}]
        reply = await billing.post("ledger/import", {"source": "x", "entries": entries})
        assert reply.status == 422
        assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [(f"entries[0].{field}", code)]


async def test_one_plan_is_current_until_it_is_another(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("plans", **_PLAN)
        await billing.do("plans", code="firm", name="Firm", softLimit=True, features=["vectorSearch"])
        assert await _code(billing, "plans", **_PLAN) == (409, "already_exists")
        plans = await billing.do("plans/current", code="studio")
        assert [(one["code"], one["current"]) for one in plans["data"]] == [("studio", True), ("firm", False)]
        assert (await billing.get("balance"))["available"] == "100"
        assert (await billing.do("plans/current", code="studio")) == plans
        assert (await billing.get("balance"))["available"] == "100", "to set it again grants nothing"
        await billing.do("plans/retire", code="studio")
        assert await _code(billing, "plans/retire", code="studio") == (409, "invalid_state")
        assert [one["status"] for one in (await billing.get("plans"))["data"]] == ["retired", "active"]
        await billing.do("plans/current", code="firm")
        assert [one["code"] for one in (await billing.get("plans"))["data"]] == ["firm"]
        assert len((await billing.get("plans", "includeRetired=true"))["data"]) == 2
        assert await _code(billing, "plans/current", code="studio") == (409, "invalid_state")
        await billing.do("plans/current", code="none")
        assert (await billing.get("balance"))["planId"] is None
        missing = await billing.post("plans/retire", {"code": "nowhere"})
        assert (missing.status, missing.code) == (404, "not_found")


async def test_costs_follow_each_other_by_date(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        parse = {"operation": "vault.parse", "unit": "page"}
        await billing.do("costs", **parse, credits="0.5")
        later = await billing.do("costs", **parse, credits="0.75", effectiveFrom="2027-01-01")
        between = await billing.do("costs", **parse, credits="0.6", effectiveFrom="2026-12-01")
        assert (later["effectiveTo"], between["effectiveTo"]) == (None, "2026-12-31")
        days = ("2026-11-19", "2026-11-20", "2026-11-30", "2026-12-01", "2026-12-31", "2027-01-01")
        found = [[one["credits"] for one in (await billing.get("costs", f"asOfDate={day}"))["data"]] for day in days]
        assert found == [[], ["0.5"], ["0.5"], ["0.6"], ["0.6"], ["0.75"]]
        assert [one["credits"] for one in (await billing.get("costs"))["data"]] == ["0.5"]
        corrected = await billing.do("costs", **parse, credits="0.4")
        assert (corrected["credits"], corrected["effectiveTo"]) == ("0.4", "2026-11-30")


@pytest.mark.parametrize("name", ["vault.transcribe", "vault.parse"])
async def test_a_cost_that_nothing_is_charged_by_any_more_is_taken_out(open_billing: OpenBilling, name: str) -> None:
    """Another version charged for the name, or by the call."""
    async with open_billing() as billing:
        await billing.do("costs", operation="crm.createLead", credits="3")
        await billing.do("costs", operation="vault.parse", unit="page", credits="2")
        for days in (0, 2, 9):
            await billing.api.store.write(lambda tx, days=days: purses.price(tx, name, 7_000_000, days))

        async def listed(day: str = "") -> list[tuple[str, str, bool, str | None]]:
            found = (await billing.get("costs", f"asOfDate={day}" if day else ""))["data"]
            return [(one["operation"], one["credits"], one["known"], one["effectiveTo"]) for one in found]

        others = [("crm.createLead", "3", True, None), ("vault.parse", "2", True, None)]
        assert sorted(await listed()) == sorted([*others, (name, "7", False, "2026-11-21")])
        billing.api.clock.advance(2 * DAY)
        assert await _code(billing, "costs", operation=name, credits="1") == (422, "validation_failed")
        refused = {"operation": name, "credits": "0", "effectiveFrom": "2026-11-21"}
        assert await _code(billing, "costs", **refused) == (422, "validation_failed")
        ended = await billing.do("costs", operation=name, credits="0", effectiveFrom="2026-11-25")
        assert (ended["credits"], ended["effectiveFrom"], ended["known"]) == ("0", "2026-11-25", False)
        assert (name, "7", False, "2026-11-24") in await listed("2026-11-24")
        assert await listed("2026-11-25") == await listed("2026-12-01") == others
        assert await _code(billing, "costs", **{**refused, "effectiveFrom": "2026-11-25"}) == (422, "validation_failed")
        await billing.do("costs", **{**refused, "effectiveFrom": "2026-11-24"})
        assert (name, "7", False, "2026-11-23") in await listed("2026-11-23")
        assert await listed("2026-11-24") == others
        await billing.do("costs", operation=name, credits="0")
        assert (name, "7", False, "2026-11-21") in await listed("2026-11-21")
        assert await listed() == others
        assert await _code(billing, "costs", operation=name, credits="0") == (422, "validation_failed")


async def test_there_are_only_so_many_plans_and_costs(
    open_billing: OpenBilling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "MOST", 1)
    monkeypatch.setattr(costs, "MOST", 1)
    async with open_billing() as billing:
        await billing.do("plans", **_PLAN)
        assert await _code(billing, "plans", code="firm", name="Firm") == (409, "limit_reached")
        await billing.do("costs", operation="crm.createLead", credits="1")
        await billing.do("costs", operation="crm.createLead", credits="0")  # which ends it, and makes no further one
        assert await _code(billing, "costs", operation="tax.forward", credits="1") == (409, "limit_reached")


@pytest.mark.parametrize("kind", ["plans", "costs"])
async def test_what_there_is_comes_page_by_page(open_billing: OpenBilling, kind: str) -> None:
    async with open_billing() as billing:
        for name in ("crm.createLead", "tax.forward", "vault.parse"):
            unit = {"unit": "page"} if name == "vault.parse" else {}
            await billing.do("costs", operation=name, credits="1", **unit)
            await billing.do("plans", code=name.replace(".", "_").lower(), name=name)
        whole = await billing.get(kind)
        assert (len(whole["data"]), whole["nextCursor"]) == (3, None)
        first = await billing.get(kind, "limit=2")
        assert first["data"] == whole["data"][:2]
        rest = await billing.get(kind, f"limit=2&cursor={first['nextCursor']}")
        assert (rest["data"], rest["nextCursor"]) == (whole["data"][2:], None)
