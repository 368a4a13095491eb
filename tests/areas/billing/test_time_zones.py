"""Days of credits are those of the organization's time zone: when they end, when months of plans begin (Domain B8).

It is 20 November 2026, 9:30 in London.
"""

import pytest

from gatewayd.clock import DAY, from_wire
from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.ledger.credits import booking
from tests.areas.billing.conftest import Billing, OpenBilling


async def move(billing: Billing, zone: str) -> None:
    """Give the organization another time zone."""
    await billing.api.store.write(lambda tx: organizations.set_time_zone(tx, "org_a", zone, audit.OPERATOR))


def go_to(billing: Billing, instant: str) -> None:
    clock = billing.api.clock
    clock.advance(from_wire(instant) - clock.now())


async def months(billing: Billing) -> list[tuple[str, str, str]]:
    """What plans granted: how much, since when, and until when; the oldest first."""
    granted = {one["id"]: one for one in (await billing.get("grants"))["data"]}
    entries = (await billing.get("ledger", "order=asc&type=grant"))["data"]
    return [(one["amount"], one["occurredAt"], granted[one["grantId"]]["expiresAt"]) for one in entries]


async def included(billing: Billing, code: str, amount: str) -> None:
    await billing.do("plans", code=code, name=code, includedCredits=amount)


@pytest.mark.parametrize(
    ("zone", "day", "ends"),
    [
        ("Europe/London", "2027-03-28", "2027-03-28T23:00:00.000Z"),  # a day of 23 hours
        ("Europe/London", "2027-10-31", "2027-11-01T00:00:00.000Z"),  # of 25
        ("America/New_York", "2027-03-14", "2027-03-15T04:00:00.000Z"),  # of 23: UTC-4 from 2 o'clock on
        ("America/New_York", "2027-11-07", "2027-11-08T05:00:00.000Z"),  # of 25: UTC-5 again
        ("Asia/Tokyo", "2027-01-31", "2027-01-31T15:00:00.000Z"),
        ("Asia/Kathmandu", "2026-11-20", "2026-11-20T18:15:00.000Z"),
        ("Asia/Beirut", "2027-03-27", "2027-03-27T22:00:00.000Z"),  # the next day begins at 1 o'clock
    ],
)
async def test_credits_end_with_their_day_where_the_organization_is(
    open_billing: OpenBilling, zone: str, day: str, ends: str
) -> None:
    async with open_billing() as billing:
        await move(billing, zone)
        made = await billing.do("grants", amount="10", expiresDate=day)
        assert made["expiresAt"] == ends
        billing.api.clock.advance(from_wire(ends) - billing.api.clock.now() - 1000)
        assert (await billing.get("balance"))["balance"] == "10"
        billing.api.clock.advance(1000)
        assert (await billing.get("balance"))["balance"] == "0"


async def test_what_was_given_keeps_its_instant_when_the_organization_moves(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        before = await billing.do("grants", amount="1", expiresDate="2027-01-31")
        await move(billing, "America/New_York")
        after = await billing.do("grants", amount="1", expiresDate="2027-01-31")
        assert (before["expiresAt"], after["expiresAt"]) == ("2027-02-01T00:00:00.000Z", "2027-02-01T05:00:00.000Z")
        listed = {one["id"]: one["expiresAt"] for one in (await billing.get("grants"))["data"]}
        assert listed == {one["id"]: one["expiresAt"] for one in (before, after)}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"expiresDate": "2026-11-19"}, "out_of_range"),
        ({"expiresDate": "9999-12-31"}, "out_of_range"),
        ({"expiresDate": "2027-01-31", "expiresAt": "2027-01-31T00:00:00Z"}, "conflict"),
    ],
)
async def test_days_on_which_no_credits_end(open_billing: OpenBilling, body: dict[str, str], code: str) -> None:
    async with open_billing() as billing:
        refused = await billing.post("grants", {"amount": "1", **body})
        assert [(one["path"], one["code"]) for one in refused.json()["errors"]] == [("expiresDate", code)]


async def test_months_of_a_plan_begin_at_the_organizations_midnight(open_billing: OpenBilling) -> None:
    """At 16:00 in London it is 1 o'clock of the 21st in Tokyo: months begin on the 21st, at 15:00 UTC of the 20th."""
    async with open_billing() as billing:
        await move(billing, "Asia/Tokyo")
        await included(billing, "small", "100")
        go_to(billing, "2026-11-20T16:00:00Z")
        await billing.do("plans/current", code="small")
        go_to(billing, "2026-12-20T15:00:00Z")
        await billing.do("grants", amount="1", type="purchase")
        assert await months(billing) == [
            ("100", "2026-11-20T16:00:00.000Z", "2026-12-20T15:00:00.000Z"),
            ("100", "2026-12-20T15:00:00.000Z", "2027-01-20T15:00:00.000Z"),
        ]


@pytest.mark.parametrize(
    ("zone", "second", "third"),
    [
        ("America/New_York", "2027-01-20T05:00:00.000Z", "2027-02-20T05:00:00.000Z"),
        ("Asia/Tokyo", "2027-01-19T15:00:00.000Z", "2027-02-19T15:00:00.000Z"),
    ],
)
async def test_a_month_that_has_begun_ends_when_it_was_to_though_the_organization_moves(
    open_billing: OpenBilling, zone: str, second: str, third: str
) -> None:
    """There is no hour without credits, and none with those of two months."""
    async with open_billing() as billing:
        await included(billing, "small", "100")
        await billing.do("plans/current", code="small")
        billing.api.clock.advance(10 * DAY)
        await move(billing, zone)
        for instant in ("2026-12-19T23:59:59Z", "2026-12-20T00:00:00Z", "2026-12-20T06:00:00Z"):
            go_to(billing, instant)
            await billing.api.store.write(booking.book_due, "org_a")
            assert (await billing.get("balance"))["balance"] == "100"
        go_to(billing, second)
        await billing.do("grants", amount="1", type="purchase")
        assert await months(billing) == [
            ("100", "2026-11-20T09:30:00.000Z", "2026-12-20T00:00:00.000Z"),
            ("100", "2026-12-20T00:00:00.000Z", second),
            ("100", second, third),
        ]


@pytest.mark.parametrize(
    ("zone", "instant", "granted"),
    [
        ("Asia/Tokyo", "2026-12-19T20:00:00Z", ["100", "300"]),  # of the first month, which ends at midnight in London
        ("America/New_York", "2026-12-20T03:00:00Z", ["100", "100", "300"]),  # of the second, which began then
    ],
)
async def test_a_month_is_granted_once_between_two_midnights(
    open_billing: OpenBilling, zone: str, instant: str, granted: list[str]
) -> None:
    """A larger plan in the hours between London's midnight and the new one grants what it includes more."""
    async with open_billing() as billing:
        await included(billing, "small", "100")
        await included(billing, "large", "400")
        await billing.do("plans/current", code="small")
        await move(billing, zone)
        go_to(billing, instant)
        await billing.do("plans/current", code="large")
        assert [amount for amount, _, _ in await months(billing)] == granted
        assert (await billing.get("balance"))["balance"] == "400"


async def test_days_of_the_ledger_and_of_usage_are_the_organizations(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("grants", amount="10")
        go_to(billing, "2026-11-20T20:00:00Z")
        await billing.use("4")
        one = "fromDate=2026-11-21&toDate=2026-11-21"
        assert (await billing.get("ledger", one))["data"] == []
        await move(billing, "Asia/Tokyo")
        assert [each["type"] for each in (await billing.get("ledger", one))["data"]] == ["usage"]
        summary = await billing.get("usage")
        assert (summary["timezone"], summary["toDate"]) == ("Asia/Tokyo", "2026-11-21")
        assert summary["data"][-1]["credits"] == "4"
        assert (await billing.get("usage", "timezone=Europe/London"))["toDate"] == "2026-11-20"
