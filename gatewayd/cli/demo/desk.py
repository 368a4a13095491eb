"""What lies on the firm's desk when the play ends, for the reader to go on with: nothing of it is done yet.

A draft, an invoice in dollars, two that recur, quotes, bills, bank lines that wait, a statement and a broker's file to
be looked at before they are taken, two papers for one bank line, a house that nobody lives in yet.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from gatewayd.cli.demo.books import Line, statement
from gatewayd.cli.demo.documents import DocumentsScene, gas_record, pdf_of
from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.cli.demo.shares import SHARE
from gatewayd.clock import days_after

HOUSE: Final = "21 Tanner Row"
POSTCODE: Final = "LS6 2QT"
_WAITING: Final = (
    Line("-250.00", "CASH WITHDRAWAL", "LEEDS BRIGGATE"),
    Line("-77.10", "ASH IRONMONGERS", "INVOICE 1107"),
    Line("-1500.00", "TRANSFER", "TO TAX RESERVE"),
)
_DIESEL: Final = (
    Line("-58.20", "OTLEY ROAD SERVICES", "DIESEL"),
    Line("-61.40", "OTLEY ROAD SERVICES", "DIESEL"),
)
"""What is allocated by hand, both times alike: a rule can be learned from that."""
_PREVIEWED: Final = (Line("-42.60", "OTLEY ROAD SERVICES", "DIESEL"),)
_RESERVE: Final = (Line("1500.00", "TRANSFER", "FROM CURRENT ACCOUNT"),)
_BILL: Final = (
    "Ash Ironmongers Ltd",
    "3 Foundry Street, Leeds LS9 8AG    VAT GB 246 8135 51",
    "Invoice 1107 of {date}",
    "Hinges, brass, 12 pairs       64.25",
    "VAT 20 %       12.85",
    "Total due       GBP 77.10",
)
_REMINDER: Final = (
    "Ash Ironmongers Ltd\nReminder\nInvoice 1107 of {date}\nTotal due GBP 77.10\nPlease ignore this if you have paid.\n"
)
_TRADES: Final = """Date,Type,Symbol,Name,Quantity,Price,Amount,Currency
{date},{type},{symbol},{name},{quantity},{price},{amount},GBP
"""


class DeskScene:
    """The firm and its owner, with a key that reads and writes books and papers."""

    def __init__(self, api: ApiClient, firm: Firm, documents: DocumentsScene) -> None:
        self._firm = firm
        self._api = api
        self._documents = documents

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told at the end. `today` is ISO. Raises `DemoFailed`."""
        await self._ahead()
        await self._sales()
        await self._again(today)
        await self._offers()
        await self._bills(today)
        await self._travels(today)
        waiting = await self._bank(today)
        await self._shares(today)
        await self._house(today)
        await self._papers(today)
        say("17. The rest is left to you: draft invoices, two that recur, three quotes, bills,")
        say(f"     {waiting} bank lines that wait to be allocated, a statement and a broker's file to look at before")
        say("     they are applied, a bill and its reminder for one line, and")
        say(f"     {HOUSE}, which is empty and lacks what its gas record proves.")

    async def _sales(self) -> None:
        """A draft, and an invoice in dollars, by the rate of the day; and what may become one."""
        seller = {"legalEntityId": self._firm.entity_id, "businessId": self._firm.business_id}
        wardrobe = [
            {"description": "Built-in wardrobe, ash", "unitPrice": "1380.00"},
            {"description": "Fitting", "quantity": "9", "unit": "hours", "unitPrice": "42.50"},
        ]
        draft = {**seller, "clientId": self._firm.client_id, "reference": "Flat 3, Canal Wharf", "lines": wardrobe}
        await self._api.post("/invoices", draft)
        abroad = {"name": "Maple Street Design Inc", "kind": "company", "countryCode": "US", "currency": "USD"}
        client = await self._api.post("/clients", abroad)
        await self._api.post("/assets/recordExchangeRate", {"currency": "USD", "rate": "0.7641"})
        drawings = [{"description": "Drawings of a staircase", "unitPrice": "900.00", "vatCode": "outside_scope"}]
        sold = {"clientId": client["id"], "status": "issued", "currency": "USD", "lines": drawings}
        await self._api.post("/invoices", {**seller, **sold})
        lead = (await self._api.get("/crm/listLeads", {"status": "new"}))["data"][-1]
        hoped = {"name": "Larch & Co: two staircases", "leadId": lead["id"], "stage": "proposal", "amount": "9700.00"}
        await self._api.post("/crm/createOpportunity", hoped)

    async def _again(self, today: str) -> None:
        """What is invoiced again and again: one by the month from the week after next, and one that was paused."""
        upkeep = [{"description": "Upkeep of the showroom, a month", "unitPrice": "180.00"}]
        common = {"legalEntityId": self._firm.entity_id, "clientId": self._firm.client_id, "unit": "month"}
        start = days_after(today, 12)
        await self._api.post(
            "/recurring-invoices",
            {**common, "startDate": start, "makes": "issued", "reference": "Upkeep", "lines": upkeep},
        )
        hire = [{"description": "Hire of a scaffold tower, three months", "unitPrice": "240.00"}]
        paused = await self._api.post(
            "/recurring-invoices", {**common, "startDate": today, "every": 3, "reference": "Tower", "lines": hire}
        )
        await self._api.post(f"/recurring-invoices/{paused['id']}/pause", {})

    async def _travels(self, today: str) -> None:
        """A journey that the firm may pay its carpenter for by the mile."""
        journey = {"vehicleKind": "car", "vehicle": "YK19 ASH", "miles": "46.5", "purpose": "Measuring a staircase"}
        places = {"fromPlace": "Workshop, Otley", "toPlace": "Canal Wharf, York", "driver": "Joe Ash"}
        of = {"businessId": self._firm.business_id, "date": days_after(today, -3)}
        await self._api.post("/journeys", {**of, **journey, **places})

    async def _offers(self) -> None:
        """Three quotes: a draft, one that the client has, and one that was accepted."""
        common = {"legalEntityId": self._firm.entity_id, "clientId": self._firm.client_id}
        for reference, price in (
            ("Showroom", "2150.00"),
            ("Reception desk", "1840.00"),
            ("Spiral staircase", "6400.00"),
        ):
            lines = [{"description": f"{reference}, made and fitted", "unitPrice": price}]
            quote = await self._api.post("/quotes", {**common, "reference": reference, "lines": lines})
            if reference != "Showroom":
                await self._api.post(f"/quotes/{quote['id']}/issue", {})
        await self._api.post(f"/quotes/{quote['id']}/accept", {})

    async def _bills(self, today: str) -> None:
        """Three bills of a supplier: one that is paid in cash, one that is owed, and a draft."""
        supplier = await self._api.post("/clients", {"name": "Rowan Timber Ltd", "paymentTermsDays": 14})
        common = {"supplierId": supplier["id"], "businessId": self._firm.business_id, "billDate": today}
        for number, amount, status in (
            ("RT-3301", "36.00", "awaiting_payment"),
            ("RT-3318", "412.50", "awaiting_payment"),
            ("RT-3320", "96.20", "draft"),
        ):
            line = {"description": "Timber", "amount": amount, "category": "costOfGoods", "vatCode": "standard"}
            bill = await self._api.post("/bills", {**common, "number": number, "status": status, "lines": [line]})
            if number == "RT-3301":
                await self._api.post(f"/bills/{bill['id']}/payments", {"method": "cash"})

    async def _ahead(self) -> None:
        """What the client left on account, for no invoice so far, and an invoice of another that will not be paid."""
        common = {"legalEntityId": self._firm.entity_id, "clientId": self._firm.client_id}
        await self._api.post("/client-payments", {**common, "amount": "40.00", "invoices": [], "method": "cash"})
        line = {"description": "Repair of a chair", "unitPrice": "30.00"}
        gone = {"legalEntityId": self._firm.entity_id, "client": {"name": "Cedar Cafe Ltd", "kind": "company"}}
        invoice = await self._api.post("/invoices", {**gone, "status": "issued", "lines": [line]})
        await self._api.post(f"/invoices/{invoice['id']}/write-off", {"reason": "Cedar Cafe closed and owns nothing"})

    async def _bank(self, today: str) -> int:
        """Lines that wait, of a transfer both ends, and a statement that is only looked at; answers how many wait."""
        (account,) = (await self._api.get("/accounts"))["data"]
        reserve = {"name": "Tax reserve", "type": "savings", "legalEntityId": self._firm.entity_id}
        reserve |= {"sortCode": "204891", "accountNumber": "60168822"}
        made = await self._api.post("/accounts", reserve)
        lines = statement(today, (*_WAITING, *_DIESEL), "6042.35", first=101)
        taken = await self._import(account["id"], lines, False)
        await self._import(made["id"], statement(today, _RESERVE, "1500.00", account="60168822"), False)
        await self._import(account["id"], statement(today, _PREVIEWED, "5999.75", first=201), True)
        hinges = {
            "name": "Hinges and locks",
            "mode": "propose",
            "conditions": {"text": "ash ironmongers"},
            "outcome": {"category": "costOfGoods", "businessId": self._firm.business_id, "vatCode": "standard"},
        }
        await self._api.post("/allocations/rules", hinges)
        proposals = (await self._api.get("/allocations/proposals", {"accountId": account["id"]}))["data"]
        part = {"category": "carVanTravelExpenses", "businessId": self._firm.business_id, "vatCode": "standard"}
        diesel = [each["bankTransactionId"] for each in proposals if "DIESEL" in each["description"]]
        await self._api.post("/allocations/many", {"bankTransactionIds": diesel, "parts": [part]})
        return int(taken["added"]) - len(diesel)

    async def _import(self, account_id: str, content: bytes, preview: bool) -> dict[str, Any]:
        query = {"fileName": "statement.ofx", "preview": str(preview).lower()}
        return await self._send(f"/accounts/{account_id}/imports", query, content)

    async def _send(self, path: str, query: dict[str, str], content: bytes) -> dict[str, Any]:
        """A file; what became of it."""
        url = f"{self._api.base}{path}?{urlencode(query)}"
        run = (await self._api.http.post_file(url, content, self._api.authorization)).expect().json()
        if run["status"] != ("previewed" if query["preview"] == "true" else "applied") or run["refusedRows"]:
            raise DemoFailed(f"the file was not taken: {run}")
        return run

    async def _shares(self, today: str) -> None:
        """A sale, a dividend out of a broker's file, the file of a purchase that is only looked at, and a price."""
        accounts = (await self._api.get("/assets/listAccounts"))["data"]
        account = next(each for each in accounts if each["name"] == "Aldgate Dealing")
        sold = {"type": "sell", "quantity": "100", "unitPrice": "4.80", "instrument": SHARE}
        place = {"accountId": account["id"], "tradeDate": days_after(today, -12)}
        await self._api.post("/assets/createTransaction", {**sold, **place})
        named = {"symbol": SHARE["symbol"], "name": SHARE["name"]}
        dividend = {"date": days_after(today, -8), "type": "Dividend", "quantity": "", "price": "", "amount": "45.00"}
        purchase = {
            "date": days_after(today, -1),
            "type": "Buy",
            "quantity": "50",
            "price": "4.80",
            "amount": "-240.00",
        }
        path = f"/assets/accounts/{account['id']}/imports"
        for values, name, preview in ((dividend, "dividends.csv", "false"), (purchase, "trades.csv", "true")):
            content = _TRADES.format(**named, **values).encode()
            await self._send(path, {"fileName": name, "preview": preview}, content)
        rest = {"legalEntityId": self._firm.person_id, "name": "For the children"}
        await self._api.post("/assets/createPortfolio", rest)
        (instrument,) = (await self._api.get("/assets/searchInstruments", {"q": SHARE["symbol"]}))["data"]
        quoted = {"instrumentId": instrument["id"], "date": days_after(today, -1), "price": "4.82", "currency": "GBP"}
        await self._api.post("/assets/recordPrice", quoted)

    async def _house(self, today: str) -> None:
        """Two flats that are empty, and somebody who looks for one."""
        address = {"line1": HOUSE, "town": "Leeds", "postcode": POSTCODE, "countryCode": "GB"}
        bought = {"acquisitionDate": days_after(today, -30), "purchasePrice": "228000.00"}
        house = {"name": HOUSE, "type": "house", "gasSupply": True, "address": address, **bought}
        made = await self._api.post("/landlord/createProperty", {"businessId": self._firm.lets_id, **house})
        for name, rent in (("Flat 1", "925.00"), ("Flat 2", "850.00")):
            unit = {"propertyId": made["id"], "name": name, "type": "flat", "bedrooms": 2, "marketRent": rent}
            await self._api.post("/landlord/createPropertyUnit", unit)
        await self._api.post(
            "/landlord/createTenant", {"kind": "person", "name": "Tom Alder", "email": "tom.alder@example.net"}
        )

    async def _papers(self, today: str) -> None:
        """A bill and its reminder, a gas record, an upload that is not confirmed, and a mistake.

        They are read while the reader reads.
        """
        date = days_after(today, -4)
        bill = tuple(line.format(date=date) for line in _BILL)
        record = gas_record(f"{HOUSE}, Leeds, {POSTCODE}", "GS-20433", days_after(today, -2), days_after(today, 362))
        upload = self._documents.upload
        await upload("ash-ironmongers-1107.pdf", pdf_of(bill), None)
        await upload("ash-ironmongers-reminder.txt", _REMINDER.format(date=date).encode(), None)
        await upload("gas-safety-tanner-row.pdf", pdf_of(record), None)
        copy = await upload("insurance (1).txt", b"Dear customer,\nthe cover of your van is renewed.\n", None)
        removed = await self._api.http.delete(f"{self._api.base}/vault/documents/{copy}", self._api.authorization)
        removed.expect()
        await self._documents.send("van-mot-2026.txt", b"MOT test certificate. Result: pass.\n", None)
