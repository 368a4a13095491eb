"""Plans as they are made, listed, set and retired, field by field."""

import pytest

from gatewayd.clock import DAY
from tests.areas.billing.conftest import OpenBilling

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
