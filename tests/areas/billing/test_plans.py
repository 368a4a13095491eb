"""Plans as they are made, listed, set and retired, field by field."""

import pytest
import trio

from gatewayd.clock import DAY
from tests.areas.billing.conftest import Billing, OpenBilling

_WHOLE: dict[str, object] = {
    "code": "studio",
    "name": "Studio",
    "description": "For a few",
    "currency": "EUR",
    "priceMonthly": "12.00",
    "priceYearly": "0.00",
    "includedCredits": "7.5",
    "rollover": "capped",
    "softLimit": True,
    "limits": {"documents": 0, "storageBytes": None, "connections": 3},
}


async def test_a_plan_is_what_was_asked_for(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        made = await billing.do("plans", **_WHOLE, features=["vectorSearch", "ocr"])
        assert {name: made[name] for name in _WHOLE} == _WHOLE
        assert made["features"] == {"vectorSearch": True, "ocr": True}
        assert (made["status"], made["retiredAt"], made["version"], made["current"]) == ("active", None, 1, False)
        assert made["createdAt"] == made["updatedAt"] == "2026-11-20T09:30:00.000Z"
        plain = await billing.do("plans", code="plain", name="Plain")
        names = ("currency", "priceMonthly", "priceYearly", "includedCredits", "rollover", "softLimit", "features")
        assert [plain[name] for name in names] == ["GBP", None, None, "0", "none", False, {}]
        assert plain["limits"] == {"documents": None, "storageBytes": None, "connections": None}
        assert (await billing.get("plans")) == {"data": [made, plain], "nextCursor": None}


async def test_a_plan_that_retires_stays_with_who_has_it(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        for code in ("one", "two"):
            await billing.do("plans", code=code, name=code)
        await billing.do("plans/current", code="one")
        billing.api.clock.advance(DAY)
        retired = [await billing.do("plans/retire", code=code) for code in ("one", "two")]
        for plan, current in zip(retired, (True, False), strict=True):
            assert (plan["status"], plan["current"], plan["version"]) == ("retired", current, 2)
            assert plan["retiredAt"] == plan["updatedAt"] == "2026-11-21T09:30:00.000Z"
        assert (await billing.get("plans"))["data"] == retired[:1]
        assert (await billing.get("plans", "includeRetired=true"))["data"] == retired
        again = await billing.do("plans/current", code="one")
        assert again["data"] == retired[:1], "it has that one already"
        refused = await billing.post("plans/current", {"code": "two"})
        assert (refused.status, refused.json()["currentState"]) == (409, "retired")


@pytest.mark.parametrize("code", ["none", "studio"])
async def test_a_plan_that_is_set_again_begins_no_month_anew(open_billing: OpenBilling, code: str) -> None:
    async with open_billing() as billing:
        await billing.do("plans", code="studio", name="Studio", includedCredits="5")
        await billing.do("plans/current", code=code)
        before = (await billing.get("ledger"))["data"]
        billing.api.clock.advance(DAY)
        await billing.do("plans/current", code=code)
        assert (await billing.get("ledger"))["data"] == before
        assert len(before) == (0 if code == "none" else 1)


async def _granted(billing: Billing) -> list[str]:
    """What was given so far, the oldest first."""
    entries = (await billing.get("ledger", "order=asc&limit=500"))["data"]
    return [entry["amount"] for entry in entries if entry["type"] == "grant"]


async def _two_plans(billing: Billing) -> None:
    await billing.do("plans", code="small", name="Small", includedCredits="100")
    await billing.do("plans", code="large", name="Large", includedCredits="400")


async def test_a_month_is_granted_once_however_often_the_plan_changes(open_billing: OpenBilling) -> None:
    """100 of the smaller plan, and the 300 more of the larger: never more than the larger includes."""
    async with open_billing() as billing:
        await _two_plans(billing)
        for code in ("small", "large", "small", "none", "large", "none", "small", "large"):
            await billing.do("plans/current", code=code)
        assert await _granted(billing) == ["100", "300"]
        assert (await billing.get("balance"))["available"] == "400"


async def test_a_smaller_plan_grants_from_the_next_month_on(open_billing: OpenBilling) -> None:
    """The months stay those of the day on which the first plan was set, 20 November."""
    async with open_billing() as billing:
        await _two_plans(billing)
        await billing.do("plans/current", code="large")
        billing.api.clock.advance(10 * DAY)
        await billing.do("plans/current", code="small")
        assert await _granted(billing) == ["400"]
        billing.api.clock.advance(19 * DAY)
        assert (await billing.get("balance"))["available"] == "400"
        billing.api.clock.advance(DAY)
        assert (await billing.get("balance"))["available"] == "100"


async def test_who_comes_back_after_the_month_begins_a_new_one(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await _two_plans(billing)
        await billing.do("plans/current", code="small")
        await billing.do("plans/current", code="none")
        billing.api.clock.advance(29 * DAY)
        await billing.do("plans/current", code="small")
        assert await _granted(billing) == ["100"]
        await billing.do("plans/current", code="none")
        billing.api.clock.advance(5 * DAY)
        await billing.do("plans/current", code="small")
        assert await _granted(billing) == ["100", "100"]


async def test_two_changes_at_once_grant_one_month(open_billing: OpenBilling) -> None:
    async with open_billing() as billing, trio.open_nursery() as nursery:
        await _two_plans(billing)
        for code in ("small", "large") * 10:
            nursery.start_soon(billing.post, "plans/current", {"code": code})
        with trio.fail_after(30):
            while nursery.child_tasks:
                await trio.sleep(0.01)
        given = await _granted(billing)
        assert sum(map(int, given)) == 400
