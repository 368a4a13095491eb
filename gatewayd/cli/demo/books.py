"""The shop keeps its books: a bank statement comes in, its lines find what they are for, and the quarter is told."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.clock import days_after


class Line(NamedTuple):
    """A line of a statement: what came in, or went out, of or to whom, and what else the bank says."""

    amount: str
    name: str
    memo: str


_LINES: Final = (
    Line("6636.00", "BIRCH INTERIORS LTD", "INV-000001"),
    Line("-96.40", "SCREWFIX LEEDS", "CARD 4417"),
    Line("-38.15", "SCREWFIX YORK", "CARD 4417"),
    Line("-512.40", "NORTHERN HARDWOODS", "NH-20417"),
)
_OPENING: Final = "2000.00"
_CLOSING: Final = "7989.05"
ACCOUNT: Final = "60161331"
_VAT_OF_TIMBER = "85.40"
_OFX: Final = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>{day}<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>GBP
<BANKACCTFROM><BANKID>204891<ACCTID>{account}<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>{day}<DTEND>{day}
{lines}
</BANKTRANLIST><LEDGERBAL><BALAMT>{closing}<DTASOF>{day}</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
"""
_LINE: Final = "<STMTTRN><TRNTYPE>OTHER<DTPOSTED>{day}<TRNAMT>{amount}<FITID>{number}<NAME>{name}<MEMO>{memo}</STMTTRN>"


def statement(day: str, lines: Sequence[Line], closing: str, first: int = 1, account: str = ACCOUNT) -> bytes:
    """What the firm's bank offers for download: lines of one day, ISO, the first of which the bank calls `first`."""
    day = day.replace("-", "")
    rows = "\n".join(
        _LINE.format(day=day, amount=amount, number=number, name=name, memo=memo)
        for number, (amount, name, memo) in enumerate(lines, start=first)
    )
    return _OFX.format(day=day, lines=rows, closing=closing, account=account).encode("ascii")


class BooksScene:
    """The shop, with a key that reads and writes books."""

    def __init__(self, api: ApiClient, firm: Firm) -> None:
        self._firm = firm
        self._api = api

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. Raises `DemoFailed`."""
        account_id = await self._account()
        await self._import(account_id, statement(today, _LINES, _CLOSING), say)
        before = {"date": days_after(today, -1), "balance": _OPENING}
        await self._api.post(f"/accounts/{account_id}/balances", before)
        await self._allocate(account_id, say)
        await self._report(today, say)

    async def _account(self) -> str:
        values = {
            "name": "Current account",
            "legalEntityId": self._firm.entity_id,
            "businessIds": [self._firm.business_id],
            "sortCode": "204891",
            "accountNumber": ACCOUNT,
        }
        account = await self._api.post("/accounts", values)
        rule = {
            "name": "Screws and fittings",
            "mode": "apply",
            "conditions": {"text": "screwfix"},
            "outcome": {"category": "costOfGoods", "businessId": self._firm.business_id, "vatCode": "standard"},
        }
        await self._api.post("/allocations/rules", rule)
        return str(account["id"])

    async def _import(self, account_id: str, content: bytes, say: Callable[[str], None]) -> None:
        url = f"{self._api.base}/accounts/{account_id}/imports?{urlencode({'fileName': 'statement.ofx'})}"
        run = (await self._api.http.post_file(url, content, self._api.authorization)).expect().json()
        if (run["status"], run["added"]) != ("applied", len(_LINES)):
            raise DemoFailed(f"the statement was not imported: {run}")
        say(f"8. Its bank's statement, {run['format'].upper()}, is imported: {run['added']} lines, none of them twice.")

    async def _allocate(self, account_id: str, say: Callable[[str], None]) -> None:
        """What the rule took is gone; an invoice's payment is proposed; the rest is said by hand."""
        page = await self._api.get("/allocations/proposals", {"accountId": account_id})
        waiting = {line["unallocatedAmount"]: line for line in page["data"]}
        if sorted(waiting) != ["-512.40", "6636.00"]:
            raise DemoFailed(f"other lines wait than were expected: {sorted(waiting)}")
        say("     A rule takes two of them for costOfGoods by itself, with their VAT.")
        line = waiting["6636.00"]
        best = next((proposal for proposal in line["proposals"] if proposal["invoiceId"] is not None), None)
        if best is None:
            raise DemoFailed("no invoice was proposed for the money that came in")
        say(f"     Of the 6636.00 that came in it says, with {best['score']} of 100: {best['reason']}")
        paid = await self._api.post(
            f"/invoices/{best['invoiceId']}/payments", {"bankTransactionId": line["bankTransactionId"]}
        )
        part = {"category": "costOfGoods", "businessId": self._firm.business_id, "vatAmount": _VAT_OF_TIMBER}
        timber = {"bankTransactionId": waiting["-512.40"]["bankTransactionId"], "parts": [part]}
        allocated = await self._api.post("/allocations", timber)
        if paid["status"] != "paid" or allocated["unallocatedAmount"] != "0.00":
            raise DemoFailed("the lines were not allocated")
        say(f"     So {paid['number']} is paid, and the timber is allocated by hand: nothing is left to explain.")

    async def _report(self, today: str, say: Callable[[str], None]) -> None:
        first = f"{today[:5]}{(int(today[5:7]) - 1) // 3 * 3 + 1:02}-01"
        wanted = {"id": self._firm.business_id, "fromDate": first, "toDate": today}
        account = await self._api.get("/businesses/businessPnl", wanted)
        totals = account["totals"]
        if account["unallocated"]["count"] != 0:
            raise DemoFailed(f"something is unallocated still: {account['unallocated']}")
        say(
            f"9. Profit and loss since {first}, {account['basis']}, without VAT: income {totals['income']},"
            f" expenses {totals['expenses']}, profit {totals['netProfit']}."
        )
        due = await self._api.get("/obligations/list", {"status": "open", "dueDateFrom": today, "limit": "1"})
        if not due["data"]:
            raise DemoFailed("nothing is due")
        (following,) = due["data"]
        what, days = following["kind"].replace("_", " "), following["daysUntilDue"]
        say(f"     The next deadline: {what} for the days to {following['periodEndDate']},")
        say(f"     due on {following['dueDate']}, in {days} days.")
