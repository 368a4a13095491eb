"""The firm's shop: it issues an invoice, subscribes to leads, and a lead comes in."""

from collections.abc import Callable
from typing import Any

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed


class ShopScene:
    """The shop, with a key that writes invoices, leads and subscriptions."""

    def __init__(self, api: ApiClient, firm: Firm) -> None:
        self._firm = firm
        self._api = api

    async def issue(self, say: Callable[[str], None]) -> None:
        """An invoice, sent twice under one key. Raises `DemoFailed`."""
        lines = [
            {"description": "Oak front door", "unitPrice": "1240.00"},
            {"description": "Fitting", "quantity": "6.5", "unit": "hours", "unitPrice": "42.50"},
        ]
        seller = {"legalEntityId": self._firm.entity_id, "businessId": self._firm.business_id}
        request = {**seller, "clientId": self._firm.client_id, "status": "issued", "lines": lines}
        invoice = await self._api.post("/invoices", request, {"Idempotency-Key": "demo-1"})
        again = await self._api.post("/invoices", request, {"Idempotency-Key": "demo-1"})
        listed = await self._api.get("/invoices?status=issued")
        if again != invoice or [row["id"] for row in listed["data"]].count(invoice["id"]) != 1:
            raise DemoFailed("the invoice was not made exactly once")
        say(
            f"3. With an API key, the firm's shop issues {invoice['number']}: {invoice['netTotal']}"
            f" + VAT {invoice['vatTotal']} = {invoice['grossTotal']} {invoice['currency']}."
            " Sent twice by mistake, it is made once."
        )

    async def subscribe(self, url: str, say: Callable[[str], None]) -> dict[str, Any]:
        """A subscription to leads, with its secret."""
        subscription = await self._api.post("/webhooks/subscriptions", {"url": url, "events": ["lead.created"]})
        say(f"4. The shop subscribes to lead.created at {url}; the secret is shown this once.")
        return subscription

    async def lead(self, name: str = "Bea Birch", email: str = "bea@birch.example") -> str:
        """The id of a lead that came in."""
        asked = {"source": "website", "name": name, "email": email}
        lead = await self._api.post("/crm/createLead", asked)
        return str(lead["id"])
