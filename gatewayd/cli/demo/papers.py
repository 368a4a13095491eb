"""A sale by papers: a quote that its client accepts at a link, a deposit, the rest, and what is still owed of it.

Then a supplier's bill, taken from the document that it came as, and paid by its bank line.
"""

from collections.abc import Callable
from typing import Any, Final

from gatewayd.cli.demo.browser import fill_in
from gatewayd.cli.demo.documents import INVOICE_NAME
from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed, HttpClient
from gatewayd.clock import days_after

_CLIENT: Final = {
    "name": "Juniper Books Ltd",
    "kind": "company",
    "email": "orders@juniper.example",
    "billingAddress": {"line1": "31 Bookend Street", "town": "Leeds", "postcode": "LS2 7EW", "countryCode": "GB"},
    "paymentTermsDays": 14,
}
_ACCEPTS: Final = "June Juniper"
_LINES: Final = ({"description": "Bookshelves, oak, made and fitted", "unitPrice": "2400.00"},)
_DEPOSIT, _GROSS_OF_DEPOSIT, _GROSS_OF_REST = "25", "720.00", "2160.00"  # of 2,400.00 and its VAT at 20 %
_PAID_OF_REST, _OWED = "1000.00", "1160.00"
_SUPPLIER: Final = {"name": "Northern Hardwoods Ltd", "vatNumber": "GB123456782"}
_BILL_TOTAL: Final = ("512.40", "85.40")
"""What the document says: with VAT, and the VAT."""


class PapersScene:
    """The shop, with a key that writes its books, and whoever has a link, without one."""

    def __init__(self, api: ApiClient, firm: Firm, stranger: HttpClient | None = None) -> None:
        """`stranger` opens the links: by default somebody who is not signed in anywhere."""
        self._firm = firm
        self._api = api
        self._stranger = stranger or HttpClient()

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. `today` is ISO. Raises `DemoFailed`."""
        client = await self._api.post("/clients", _CLIENT)
        quote = await self._accepted_quote(client["id"], say)
        await self._deposit(quote["id"], say)
        await self._rest(quote["id"], say)
        await self._account(client["id"], today, say)
        await self._bill(say)

    async def _accepted_quote(self, client_id: str, say: Callable[[str], None]) -> dict[str, Any]:
        seller = {"legalEntityId": self._firm.entity_id, "businessId": self._firm.business_id, "clientId": client_id}
        quote = await self._api.post("/quotes", {**seller, "reference": "Bookshelves", "lines": _LINES})
        await self._api.post(f"/quotes/{quote['id']}/issue", {})
        link = await self._link(quote["id"])
        sent = await fill_in(self._stranger, link, f"{link}/accept", {"name": _ACCEPTS})
        sent.expect(303)
        quote = await self._api.get(f"/quotes/{quote['id']}")
        if (quote["status"], quote["answeredBy"]) != ("accepted", _ACCEPTS):
            raise DemoFailed(f"the quote was not accepted: {quote}")
        say(f"13. The shop quotes {_CLIENT['name']} {quote['grossTotal']} for bookshelves. No mail server is set here,")
        say("     which would send it: its link does, where it is read without signing in.")
        say(f"     {quote['answeredBy']} accepts {quote['number']} there.")
        return quote

    async def _deposit(self, quote_id: str, say: Callable[[str], None]) -> None:
        """A quarter, as a PDF, and paid."""
        wanted = {"percent": _DEPOSIT, "status": "issued"}
        invoice = await self._api.post(f"/quotes/{quote_id}/invoice", wanted)
        path = f"/invoices/{invoice['id']}"
        pdf = (await self._api.http.get(f"{self._api.base}{path}/pdf", self._api.authorization)).expect().body
        kept = (await self._api.get(path))["pdfDocumentId"]
        paid = await self._api.post(f"{path}/payments", {"amount": _GROSS_OF_DEPOSIT, "method": "card"})
        if not pdf.startswith(b"%PDF-") or kept is None or paid["status"] != "paid":
            raise DemoFailed(f"the deposit is no PDF that is kept, or it is not paid: {paid}")
        say(f"     A deposit of {_DEPOSIT} %, {invoice['number']}, is {invoice['grossTotal']}; its PDF,")
        say(f"     {len(pdf)} bytes, is kept in the vault, and it is paid by card.")

    async def _rest(self, quote_id: str, say: Callable[[str], None]) -> None:
        """What is left of the quote, seen by the client and paid in part."""
        invoice = await self._api.post(f"/quotes/{quote_id}/invoice", {"status": "issued"})
        path = f"/invoices/{invoice['id']}"
        if (invoice["grossTotal"], invoice["viewedAt"]) != (_GROSS_OF_REST, None):
            raise DemoFailed(f"the rest is another, or was seen before: {invoice}")
        link = await self._link(invoice["id"])
        (await self._stranger.get(link)).expect()
        viewed = (await self._api.get(path))["viewedAt"]
        paid = await self._api.post(f"{path}/payments", {"amount": _PAID_OF_REST})
        page = (await self._stranger.get(link)).expect().body.decode()
        if viewed is None or paid["status"] != "part_paid" or "£1,160.00" not in page:
            raise DemoFailed(f"the rest was not seen, or not paid in part: {paid}")
        say(f"     The rest, {invoice['number']}, is {invoice['grossTotal']}. The client opened its link at {viewed}")
        say(f"     and paid {_PAID_OF_REST}; whoever opens it sees what is due now: {link}")

    async def _account(self, client_id: str, today: str, say: Callable[[str], None]) -> None:
        wanted = {"fromDate": days_after(today, -1), "toDate": today}
        told = (await self._api.get(f"/clients/{client_id}/statement", wanted))["currencies"]
        aged = await self._api.get("/invoices/aged-debtors")
        of_client = [each["owed"] for each in aged["clients"] if each["clientId"] == client_id]
        if [each["balance"] for each in told] != [_OWED] or of_client != [_OWED]:
            raise DemoFailed(f"the account of the client is another: {told}, {of_client}")
        amounts = ", ".join(line["amount"] for line in told[0]["lines"])
        say(f"     Its statement of account: {amounts}; it owes {told[0]['balance']}.")
        (everybody,) = aged["totals"]
        said = f"{everybody['owed']} {everybody['currency']}, of which {everybody['overdue']} overdue"
        say(f"     Aged debtors: all clients owe {said}.")

    async def _bill(self, say: Callable[[str], None]) -> None:
        """The supplier's invoice that was uploaded; its bank line, which was allocated by hand, pays it."""
        supplier = await self._api.post("/clients", _SUPPLIER)
        documents = (await self._api.get("/vault/documents"))["data"]
        document_id = next(each["id"] for each in documents if each["name"] == INVOICE_NAME)
        (proposing,) = (await self._api.get("/vault/proposals", {"documentId": document_id}))["data"]
        proposed = next((each for each in proposing["proposals"] if each["kind"] == "bill"), None)
        if proposed is None or proposed["bill"]["supplierId"] != supplier["id"]:
            raise DemoFailed(f"no bill of {supplier['name']} is proposed: {proposing}")
        of = {"businessId": self._firm.business_id, "category": "costOfGoods", "vatCode": "standard"}
        bill = await self._api.post("/bills/accept", {"documentId": document_id, **of})
        if (bill["grossTotal"], bill["vatTotal"]) != _BILL_TOTAL or bill["documentIds"] != [document_id]:
            raise DemoFailed(f"the bill is not what the document says: {bill}")
        say(f"14. The timber's invoice proposes a bill: {proposed['reason']}")
        say(f"     One step enters it: {bill['number']}, {bill['grossTotal']}, of it VAT {bill['vatTotal']}.")
        paid = await self._api.post(f"/bills/{bill['id']}/payments", {"bankTransactionId": await self._freed()})
        if (paid["status"], paid["balanceDue"]) != ("paid", "0.00"):
            raise DemoFailed(f"the bill is not paid: {paid}")
        say("     Its bank line, which was allocated by hand before, is freed and pays it: the timber counts once.")

    async def _freed(self) -> str:
        """The bank line of the timber, of which nothing is allocated any more; its id."""
        listed = (await self._api.get("/allocations", {"limit": "100"}))["data"]
        (timber,) = (each for each in listed if "NORTHERN HARDWOODS" in (each["description"] or ""))
        url = f"{self._api.base}/allocations/{timber['id']}"
        (await self._api.http.delete(url, self._api.authorization)).expect()
        return str(timber["sourceId"])

    async def _link(self, paper_id: str) -> str:
        """The address under which whoever has it sees an invoice or a quote."""
        made = await self._api.post(f"/sendings/{paper_id}/link", {})
        return str(made["link"])
