"""Balance, ledger and usage as clients read them: the example of Domain C8, days of 23 and 25 hours, pages."""

import pytest

from gatewayd.clock import DAY, HOUR, Instant, from_wire, to_wire
from tests.areas.billing.conftest import Billing, OpenBilling
from tests.support.store import START


async def test_the_example_of_the_domain(open_billing: OpenBilling) -> None:
    """Domain C8, in which a refund of 20 of the last leaves 450."""
    async with open_billing() as billing:
        first = await billing.do("grants", amount="100", expiresAt="2027-04-01T00:00:00Z")
        second = await billing.do("grants", amount="500", type="purchase")
        used = [entry for amount in ("30", "90", "50") for entry in await billing.use(amount)]
        refund = await billing.do("ledger/refund", id=used[-1]["id"], amount="20")
        entries = (await billing.get("ledger", "order=asc"))["data"]
        told = [(one["type"], one["amount"], one["balanceAfter"], one["grantId"]) for one in entries]
        refunded = ("refund", "20", "450", second["id"])
        assert sorted(told) == sorted(
            [
                ("grant", "100", "100", first["id"]),
                ("purchase", "500", "600", second["id"]),
                ("usage", "-30", "570", first["id"]),
                ("usage", "-70", "500", first["id"]),
                ("usage", "-20", "480", second["id"]),
                ("usage", "-50", "430", second["id"]),
                refunded,
            ]
        )
        assert sorted(one["sequence"] for one in entries) == [1, 2, 3, 4, 5, 6, 7]
        assert refund["reversalOf"] == used[-1]["id"]
        balance = await billing.get("balance")
        assert (balance["balance"], balance["available"], balance["lifetimeUsed"]) == ("450", "450", "150")
        grants = (await billing.get("grants"))["data"]
        assert [(one["id"], one["remaining"], one["status"]) for one in grants] == [
            (second["id"], "450", "active"),
            (first["id"], "0", "used"),
        ]


async def test_the_balance_at_other_instants(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        clock = billing.api.clock
        await billing.do("grants", amount="100", expiresAt="2026-11-25T00:00:00Z")
        clock.advance(DAY)
        await billing.do("grants", amount="7.5")
        clock.advance(DAY)
        await billing.use("60")
        clock.advance(10 * DAY)  # the rest of the first has expired, and nothing has booked it
        asked = (
            "2026-11-01",
            "2026-11-20T10",
            "2026-11-21T10",
            "2026-11-22T10",
            "2026-11-24",
            "2026-11-25",
            "2027-01-01",
        )
        stamps = [f"{one}:00:00Z" if "T" in one else f"{one}T00:00:00Z" for one in asked]

        async def balances() -> list[str]:
            return [(await billing.get("balance", f"asOf={stamp}"))["balance"] for stamp in stamps]

        expected = ["0", "100", "107.5", "47.5", "47.5", "7.5", "7.5"]
        assert await balances() == expected
        await billing.do("grants", amount="1")  # which books the expiry first
        assert await balances() == [*expected[:-1], "8.5"]


async def test_who_has_nothing_is_told_so(open_billing: OpenBilling) -> None:
    """Under a plan that includes nothing, any credit at all is not little."""
    async with open_billing() as billing:
        names = ("balance", "available", "held", "lifetimeGranted", "lifetimeUsed")
        found = await billing.get("balance")
        assert ([found[name] for name in names], found["lowBalance"]) == (["0"] * 5, False)
        past = await billing.get("balance", "asOf=2026-11-01T00:00:00Z")
        assert [past[name] for name in names] == ["0"] * 5
        await billing.do("plans", code="studio", name="Studio")
        (plan,) = (await billing.do("plans/current", code="studio"))["data"]
        found = await billing.get("balance")
        assert (found["planId"], found["lowBalance"], found["unit"]) == (plan["id"], True, "credit")
        await billing.do("grants", amount="0.000001")
        found = await billing.get("balance")
        assert (found["available"], found["lowBalance"]) == ("0.000001", False)


async def test_what_was_imported_later_is_in_no_balance_before(open_billing: OpenBilling) -> None:
    """A balance that is past is what was booked by then, whenever it is said to have occurred."""
    async with open_billing() as billing:
        await billing.do("grants", amount="10")
        billing.api.clock.advance(2 * DAY)
        await billing.use("3", occurredAt="2026-11-21T00:00:00Z")
        billing.api.clock.advance(DAY)
        await billing.use("1", occurredAt="2026-11-01T00:00:00Z")
        billing.api.clock.advance(DAY)
        asked = {
            "2026-11-10T00:00:00": "0",
            "2026-11-21T00:00:00": "10",
            "2026-11-22T09:29:59.999": "10",
            "2026-11-22T09:30:00": "7",
            "2026-11-23T09:29:59.999": "7",
            "2026-11-23T09:30:00": "6",
        }
        found = {at: (await billing.get("balance", f"asOf={at}Z"))["balance"] for at in asked}
        assert found == asked


async def test_what_expires_soon_is_told(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        for amount, until in (("1", "2026-12-01"), ("2", "2026-12-01"), ("4", "2026-11-28"), ("8", "2027-02-01")):
            await billing.do("grants", amount=amount, expiresAt=f"{until}T00:00:00Z")
        balance = await billing.get("balance")
        assert balance["expiringSoon"] == [
            {"amount": "4", "expiresAt": "2026-11-28T00:00:00.000Z"},
            {"amount": "3", "expiresAt": "2026-12-01T00:00:00.000Z"},
        ]
        assert balance["planId"] is None
        assert balance["lowBalance"] is False
        later = await billing.get("balance", "asOf=2026-12-02T00:00:00Z")
        assert (later["balance"], later["expiringSoon"]) == ("8", [])


_WORK = {None, "vault.parse", "tax.forward"}


async def test_pages_hold_each_entry_once_in_either_order(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("grants", amount="100")
        for number in range(7):
            billing.api.clock.advance(HOUR * (number % 2))
            await billing.use("1", operation="vault.parse" if number % 3 else "tax.forward")
        for order in ("asc", "desc"):
            for filters, used in (
                ("", _WORK),
                ("&type=usage&type=grant", _WORK),
                ("&operation=vault.parse", {"vault.parse"}),
                ("&type=usage&operation=tax.forward", {"tax.forward"}),
            ):
                whole = (await billing.get("ledger", f"order={order}{filters}"))["data"]
                assert {one["operation"] for one in whole} == used
                numbers = [one["sequence"] for one in whole]
                assert numbers == sorted(numbers, reverse=order == "desc") != []
                assert await _walked(billing, f"order={order}{filters}&limit=2") == whole


async def _walked(billing: Billing, query: str) -> list[object]:
    found, cursor = [], ""
    while True:
        page = await billing.get("ledger", query + cursor)
        found += page["data"]
        if page["nextCursor"] is None:
            return found
        cursor = f"&cursor={page['nextCursor']}"


async def test_dates_of_the_ledger_are_of_when_entries_occurred(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        first = {"occurredAt": "2026-11-11T00:00:00Z", "type": "grant", "amount": "100"}
        await billing.do("ledger/import", source="test", entries=[first])
        await billing.use("3", occurredAt="2026-11-10T23:59:59Z")
        await billing.use("4", occurredAt="2026-11-11T00:00:00Z")
        found = (await billing.get("ledger", "fromDate=2026-11-11&toDate=2026-11-11"))["data"]
        assert [one["amount"] for one in found] == ["-4", "100"]
        found = (await billing.get("ledger", "fromDate=2026-11-11&order=asc"))["data"]
        assert [one["amount"] for one in found] == ["100", "-4"]
        found = (await billing.get("ledger", "toDate=2026-11-10"))["data"]
        assert [one["amount"] for one in found] == ["-3"]
        found = (await billing.get("ledger", "fromDate=0001-01-01&toDate=9999-12-31"))["data"]
        assert [one["amount"] for one in found] == ["-4", "100", "-3"]
        reply = await billing.api("GET", "/billing/ledger", query="fromDate=2026-11-11&toDate=2026-11-10")
        assert reply.json()["errors"][0]["code"] == "date_order"


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [("Europe/London", "2026-10-25", 25), ("Europe/London", "2026-03-29", 23), ("Asia/Kathmandu", "2026-10-25", 24)],
)
async def test_a_day_has_as_many_hours_as_it_has(open_billing: OpenBilling, zone: str, day: str, hours: int) -> None:
    """One credit in each quarter of an hour around the day: as many are counted as the day has."""
    async with open_billing() as billing:
        await billing.do("grants", amount="1000")
        start = from_wire(f"{day}T00:00:00Z") - 12 * HOUR
        quarters = [Instant(start + number * HOUR // 4) for number in range(4 * 60)]
        entries = [{"occurredAt": to_wire(at), "type": "usage", "amount": "-1"} for at in quarters]
        await billing.do("ledger/import", source="test", entries=entries)
        summary = await billing.get("usage", f"fromDate={day}&toDate={day}&timezone={zone}")
        assert [(one["date"], one["credits"], one["operations"]) for one in summary["data"]] == [
            (day, str(4 * hours), 4 * hours)
        ]


async def test_every_day_is_there_and_the_sums_are_the_ledgers(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("grants", amount="100")
        (first,) = await billing.use("10", occurredAt="2026-11-02T10:00:00Z", operation="vault.parse")
        await billing.use("2.25", occurredAt="2026-11-04T10:00:00Z", operation="tax.forward")
        await billing.do("ledger/refund", id=first["id"], amount="4")
        summary = await billing.get("usage", "fromDate=2026-11-01&toDate=2026-11-05")
        days = [(one["date"][-2:], one["credits"], one["operations"]) for one in summary["data"]]
        assert days == [("01", "0", 0), ("02", "6", 1), ("03", "0", 0), ("04", "2.25", 1), ("05", "0", 0)]
        by_operation = {"tax.forward": {"credits": "2.25", "count": 1}, "vault.parse": {"credits": "6", "count": 1}}
        assert summary["totals"] == {"credits": "8.25", "operations": 2, "byOperation": by_operation}
        ledger = await billing.get("ledger", "fromDate=2026-11-01&toDate=2026-11-05&type=usage&type=refund")
        assert sum(float(one["amount"]) for one in ledger["data"]) == -8.25
        uneven = "fromDate=2026-11-01&toDate=2026-11-05&timezone=Asia/Kathmandu"
        assert [one["credits"] for one in (await billing.get("usage", uneven))["data"]] == ["0", "6", "0", "2.25", "0"]
        grouped = await billing.get("usage", "fromDate=2026-11-01&toDate=2026-11-05&groupBy=operation")
        assert (grouped["data"], grouped["totals"]) == ([], summary["totals"])


async def test_what_was_refunded_whole_was_done_all_the_same(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        await billing.do("grants", amount="10")
        (used,) = await billing.use("10", operation="vault.parse")
        await billing.do("ledger/refund", id=used["id"])
        totals = (await billing.get("usage"))["totals"]
        assert totals == {"credits": "0", "operations": 1, "byOperation": {"vault.parse": {"credits": "0", "count": 1}}}


async def test_a_page_has_fifty_entries_by_default(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        entries = [{"occurredAt": billing.wire_now(), "type": "grant", "amount": "1"}] * 51
        await billing.do("ledger/import", source="test", entries=entries)
        page = await billing.get("ledger")
        assert [one["sequence"] for one in page["data"]] == list(range(51, 1, -1))
        rest = await billing.get("ledger", f"cursor={page['nextCursor']}")
        assert ([one["sequence"] for one in rest["data"]], rest["nextCursor"]) == ([1], None)


async def test_usage_is_of_the_last_thirty_days_by_default(open_billing: OpenBilling) -> None:
    async with open_billing() as billing:
        summary = await billing.get("usage")
        assert (summary["fromDate"], summary["toDate"], len(summary["data"])) == ("2026-10-22", "2026-11-20", 30)
        far = await billing.get("usage", "timezone=Pacific/Kiritimati")
        assert far["toDate"] == "2026-11-20"
        assert len((await billing.get("usage", "fromDate=2025-01-01&toDate=2026-01-01"))["data"]) == 366
        back = await billing.get("usage", "toDate=2026-11-10")
        assert (back["fromDate"], back["timezone"], len(back["data"])) == ("2026-10-12", "Europe/London", 30)
        billing.api.clock.advance(from_wire("2026-11-20T10:00:00Z") - START)
        assert (await billing.get("usage", "timezone=Pacific/Kiritimati"))["toDate"] == "2026-11-21"


@pytest.mark.parametrize(
    ("query", "path", "code"),
    [
        ("timezone=Europe/Nowhere", "timezone", "invalid_format"),
        ("timezone=Europe", "timezone", "invalid_format"),
        ("timezone=leapseconds", "timezone", "invalid_format"),
        ("timezone=tzdata.zi", "timezone", "invalid_format"),
        ("fromDate=2026-11-02&toDate=2026-11-01", "toDate", "date_order"),
        ("toDate=0001-01-01", "toDate", "out_of_range"),
        ("toDate=1900-01-29", "fromDate", "out_of_range"),
        ("fromDate=2200-01-01&toDate=2199-12-31", "fromDate", "out_of_range"),
        ("fromDate=2025-01-01&toDate=2026-01-02", "toDate", "range_too_long"),
    ],
)
async def test_ranges_and_zones_that_are_refused(open_billing: OpenBilling, query: str, path: str, code: str) -> None:
    async with open_billing() as billing:
        reply = await billing.api("GET", "/billing/usage", query=query)
        assert reply.status == 422
        assert [(one["path"], one["code"]) for one in reply.json()["errors"]] == [(path, code)]


async def test_entries_are_found_by_the_callers_identifier(open_billing: OpenBilling) -> None:
    """An amount that is taken of two grants is two entries of one identifier."""
    async with open_billing() as billing:
        day = {"occurredAt": "2026-01-01T00:00:00Z"}
        lines = [
            {**day, "type": "purchase", "amount": "10", "externalId": "a"},
            {**day, "type": "purchase", "amount": "5", "externalId": "b"},
            {"occurredAt": "2026-02-01T00:00:00Z", "type": "usage", "amount": "-12", "externalId": "c"},
        ]
        await billing.do("ledger/import", source="former.csv", entries=lines)

        async def found(query: str) -> list[tuple[str, str]]:
            entries = (await billing.get("ledger", query))["data"]
            return [(one["externalId"], one["amount"]) for one in entries]

        parts = [("c", "-2"), ("c", "-10")]
        assert await found("externalId=a") == [("a", "10")]
        assert await found("externalId=c") == parts
        assert await found("externalId=c&order=asc") == parts[::-1]
        assert await found("externalId=c&type=purchase") == []
        assert await found("externalId=c&fromDate=2026-02-02") == []
        assert await found("externalId=c&toDate=2026-02-01&operation=vault.parse") == []
        assert await found("externalId=x") == []
        for order, expected in (("desc", parts), ("asc", parts[::-1])):
            page = await billing.get("ledger", f"externalId=c&limit=1&order={order}")
            rest = await found(f"externalId=c&limit=1&order={order}&cursor={page['nextCursor']}")
            assert [*[("c", one["amount"]) for one in page["data"]], *rest] == expected
