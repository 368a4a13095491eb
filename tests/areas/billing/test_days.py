"""Days of 23, 24 and 25 hours: what was used on each, and when credits expire at the end of one (Domain C8)."""

import datetime
from collections import Counter
from zoneinfo import ZoneInfo

import pytest

from gatewayd.clock import HOUR, MINUTE, Instant, from_wire, to_wire
from tests.areas.billing.conftest import OpenBilling

CHANGES = ("2026-03-29", "2026-10-25")
"""London goes forward and back."""
_DAY = datetime.timedelta(days=1)


def _around(day: str) -> list[Instant]:
    """Instants of 72 hours, at uneven distances, and the edges of all quarters of an hour that begin days."""
    start = from_wire(f"{day}T00:00:00Z") - 24 * HOUR
    uneven = [Instant(start + 37 * number * MINUTE + number) for number in range(72 * 60 // 37)]
    edges = [Instant(start + number * HOUR // 4 - early) for number in range(80, 200, 4) for early in (0, 1000)]
    return uneven + edges


@pytest.mark.parametrize("zone", ["Europe/London", "Europe/Paris", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"])
@pytest.mark.parametrize("change", CHANGES)
async def test_usage_is_of_the_civil_day_on_which_it_occurred(
    open_billing: OpenBilling, change: str, zone: str
) -> None:
    """The reckoning beside it goes from the instants as the requests spell them, by way of `zoneinfo` alone."""
    used = [(to_wire(at), number) for number, at in enumerate(_around(change), 1)]
    expected: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for text, amount in used:
        date = datetime.datetime.fromisoformat(text).astimezone(ZoneInfo(zone)).date().isoformat()
        expected[date] += amount
        count[date] += 1
    middle = datetime.date.fromisoformat(change)
    dates = [(middle + number * _DAY).isoformat() for number in range(-2, 4)]
    assert set(expected) <= set(dates)
    async with open_billing() as billing:
        await billing.do("grants", amount="1000000")
        entries = [{"occurredAt": text, "type": "usage", "amount": f"-{amount}"} for text, amount in used]
        await billing.do("ledger/import", source="test", entries=entries)
        summary = await billing.get("usage", f"fromDate={dates[0]}&toDate={dates[-1]}&timezone={zone}")
        assert [(one["date"], int(one["credits"]), one["operations"]) for one in summary["data"]] == [
            (date, expected[date], count[date]) for date in dates
        ]
        (day,) = (await billing.get("usage", f"fromDate={change}&toDate={change}&timezone={zone}"))["data"]
        assert (int(day["credits"]), day["operations"]) == (expected[change], count[change])
        assert (await billing.get("usage", f"fromDate={change}&toDate={change}&timezone={zone}"))["totals"] == {
            name: day[name] for name in ("credits", "operations", "byOperation")
        }


@pytest.mark.parametrize("day", ["2027-03-28", "2027-07-31", "2027-10-31"])
async def test_credits_can_be_used_until_the_end_of_the_day_on_which_they_expire(
    open_billing: OpenBilling, day: str
) -> None:
    """Midnight in London, in the time of the day that begins."""
    london = ZoneInfo("Europe/London")
    behind = datetime.datetime.combine(datetime.date.fromisoformat(day) + _DAY, datetime.time(), london)
    ends = from_wire(behind.astimezone(datetime.UTC).isoformat())
    async with open_billing() as billing:
        clock = billing.api.clock
        await billing.do("grants", amount="10", expiresAt=to_wire(ends))
        clock.advance(ends - clock.now() - 1000)
        await billing.use("4")
        assert (await billing.get("balance"))["balance"] == "6"
        clock.advance(1000)
        balance = await billing.get("balance")
        assert (balance["balance"], balance["expiringSoon"]) == ("0", [])
        entry = {"occurredAt": to_wire(clock.now()), "type": "usage", "amount": "-1"}
        refused = await billing.post("ledger/import", {"source": "test", "entries": [entry]})
        assert (refused.status, refused.code) == (402, "insufficient_credits")
        clock.advance(3 * HOUR)
        await billing.do("grants", amount="1")
        (expiry,) = (await billing.get("ledger", "type=expiry"))["data"]
        assert (expiry["amount"], expiry["occurredAt"]) == ("-6", to_wire(ends))
        days = f"fromDate={behind.date()}&toDate={behind.date()}"
        assert [one["type"] for one in (await billing.get("ledger", days))["data"]] == ["grant", "expiry"]
