"""The owner's last quarter is closed and sealed, a deadline of her own is noted, and her calendar subscribes to all."""

from collections.abc import Callable
from typing import Any, Final

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.clock import days_after

_INSURANCE: Final = "Public liability insurance"
_LESSONS: Final = (
    ("turnover", "in", "288.00", "Nine piano lessons, in cash"),
    ("adminCosts", "out", "21.95", "Sheet music"),
)
_DUE: Final = 40
"""In how many days the insurance is due."""


class QuartersScene:
    """The owner, with a key that closes periods."""

    def __init__(self, api: ApiClient, firm: Firm) -> None:
        self._firm = firm
        self._api = api

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. `today` is ISO. Raises `DemoFailed`."""
        await self._teach(today)
        period = await self._last_quarter(today)
        elsewhere = {"force": True, "reason": "The quarters before it were kept elsewhere"}
        closed = await self._api.post("/periods/close", {"id": period["id"], **elsewhere})
        seal = await self._api.post("/periods/seal", {"id": period["id"]})
        if closed["status"] != "closed" or seal["periodId"] != period["id"]:
            raise DemoFailed(f"the quarter is not closed and sealed: {closed}, {seal}")
        say(
            f"15. {self._firm.person_name}'s quarter to {period['endDate']} is closed: nothing changes it unnoticed."
            f" What its books were is sealed:\n     {seal['sha256']}."
        )
        await self._note(today, say)

    async def _teach(self, today: str) -> None:
        """Her other trade: lessons paid in cash, sheets of music, and lessons that are invoiced and not paid."""
        listed = await self._api.get("/businesses/list", {"type": "self_employment"})
        (trade,) = (each["id"] for each in listed["data"])
        of = {"businessId": trade}
        for category, direction, amount, text in _LESSONS:
            part = {**of, "category": category, "direction": direction, "amount": amount, "description": text}
            await self._api.post("/allocations", {"parts": [part], "date": days_after(today, -9)})
        lines = [{"description": "Piano lessons, autumn", "quantity": "6", "unit": "lessons", "unitPrice": "32.00"}]
        pupil = {"clientId": self._firm.pupil_id, "legalEntityId": self._firm.person_id, **of}
        await self._api.post("/invoices", {**pupil, "status": "issued", "lines": lines})

    async def _last_quarter(self, today: str) -> dict[str, Any]:
        """The one of what she lets that ended last."""
        wanted = {"legalEntityId": self._firm.person_id, "type": "itsa_quarter", "limit": "100"}
        quarters = (await self._api.get("/periods/list", wanted))["data"]
        ended = [
            quarter
            for quarter in quarters
            if quarter["endDate"] < today and quarter["businessId"] == self._firm.lets_id
        ]
        if not ended:
            raise DemoFailed(f"no quarter has ended: {quarters}")
        return dict(max(ended, key=lambda quarter: str(quarter["endDate"])))

    async def _note(self, today: str, say: Callable[[str], None]) -> None:
        """Deadlines of one's own, one of which is met, and the feed of all."""
        of = {"legalEntityId": self._firm.entity_id}
        policy = {**of, "name": _INSURANCE, "dueDate": days_after(today, _DUE)}
        await self._api.post("/obligations/create", policy)
        service = {**of, "name": "Service of the dust extraction", "dueDate": days_after(today, -5)}
        made = await self._api.post("/obligations/create", service)
        await self._api.post("/obligations/fulfil", {"id": made["id"], "receivedDate": days_after(today, -6)})
        feed = await self._api.post("/obligations/feeds/create", {"name": "Deadlines of Oak & Son", **of})
        say(f"     {_INSURANCE} is noted, too. A calendar that subscribes to this knows all deadlines:")
        say(f"     {feed['url']}")
