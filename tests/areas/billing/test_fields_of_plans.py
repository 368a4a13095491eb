"""What a plan says of bytes, and what a cost says of itself."""

from tests.areas.billing.conftest import OpenBilling


async def test_a_plan_keeps_how_many_bytes_it_allows(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        made = await billing.do("plans", code="studio", name="Studio", limits={"storageBytes": 1_000_000})
        assert made["limits"] == {"documents": None, "storageBytes": 1_000_000, "connections": None}
        assert (await billing.get("plans"))["data"] == [made]


async def test_a_cost_says_what_it_is_of(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        made = await billing.do("costs", operation="vault.parse", credits="2", unit="page", description="A read page")
        assert (made["description"], made["credits"]) == ("A read page", "2")
        plain = await billing.do("costs", operation="crm.createLead", credits="1")
        assert plain["description"] is None
        listed = (await billing.get("costs"))["data"]
        assert {one["operation"]: one["description"] for one in listed} == {
            "vault.parse": "A read page",
            "crm.createLead": None,
        }


async def test_plans_and_costs_come_page_by_page(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        for code in ("studio", "atelier", "works"):
            await billing.do("plans", code=code, name=code)
        for operation, unit in (("vault.parse", "page"), ("vault.parse", "mb"), ("crm.createLead", "call")):
            await billing.do("costs", operation=operation, unit=unit, credits="1")
        for path in ("plans", "costs"):
            whole = (await billing.get(path))["data"]
            first = await billing.get(path, "limit=2")
            rest = await billing.get(path, f"limit=2&cursor={first['nextCursor']}")
            assert (len(first["data"]), rest["nextCursor"]) == (2, None)
            assert [*first["data"], *rest["data"]] == whole
