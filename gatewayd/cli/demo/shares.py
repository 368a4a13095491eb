"""The owner keeps her shares with two brokers: what she gains on a sale is one figure over both, and is explained."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.clock import days_after

SHARE: Final = {"symbol": "LRCH", "exchangeMic": "XLON", "name": "Larch Group"}
_BROKERS: Final = ("Aldgate Dealing", "Birch Street Shares")
_SOLD: Final = -45
"""When she sells, in days from today: long enough ago that nothing bought from now on is matched with it."""
_RULES: Final = {
    "same_day": "of that very day",
    "thirty_days": "of the 30 days after it",
    "pool": "of the section 104 pool",
}


class _Trade(NamedTuple):
    """With which broker, days from today, what, how many, at what price."""

    broker: int
    day: int
    type: str
    quantity: str
    price: str


_TRADES: Final = (
    _Trade(0, _SOLD - 380, "buy", "1000", "4.00"),
    _Trade(1, _SOLD - 200, "buy", "500", "4.60"),  # the pool: 1,500 for 6,300, or 4.20 each
    _Trade(0, _SOLD, "sell", "600", "5.00"),
    _Trade(1, _SOLD, "buy", "100", "4.90"),
    _Trade(1, _SOLD + 9, "buy", "200", "4.50"),
)


_PAID_IN: Final = ("4500.00", "4000.00")
_PAID_IN_DAYS: Final = (_SOLD - 381, _SOLD - 201)
"""What came into each account, and when, in days from today: the day before the first purchase."""
_WEEKS: Final = 36
"""For how many weeks there are prices."""


def _price_of(week: int) -> str:
    """From 4.12 on a little more each week, with an ebb each third one. Pounds."""
    pence = 412 + 2 * week - (5 if week % 3 == 2 else 0)
    return f"{pence // 100}.{pence % 100:02}"


class SharesScene:
    """The owner, with a key that reads and writes books."""

    def __init__(self, api: ApiClient, firm: Firm) -> None:
        self._firm = firm
        self._api = api.under("/assets")

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. `today` is ISO. Raises `DemoFailed`."""
        seller, instrument_id = await self._trade(today)
        first, second = _BROKERS
        say(f"10. {self._firm.person_name} has shares of {SHARE['name']} with two brokers, {first} and {second}.")
        await self._explain(instrument_id, days_after(today, _SOLD), say)
        alone = await self._sale({"accountId": seller, "instrumentId": instrument_id}, days_after(today, _SOLD))
        say(f"     By its own average cost the first would call it {alone['gain']}.")

    async def _trade(self, today: str) -> tuple[str, str]:
        """Two accounts, and what was bought and sold in them; answers the ids of the first and of the instrument."""
        owner = {"legalEntityId": self._firm.person_id, "name": "Shares"}
        portfolio = await self._api.post("/createPortfolio", owner)
        accounts = []
        for name in _BROKERS:
            account = {"portfolioId": portfolio["id"], "name": name, "type": "brokerage", "currency": "GBP"}
            accounts.append((await self._api.post("/createAccount", account))["id"])
        for account_id, day, amount in zip(accounts, _PAID_IN_DAYS, _PAID_IN, strict=True):
            paid_in = {"accountId": account_id, "type": "deposit", "grossAmount": amount}
            await self._api.post("/createTransaction", {**paid_in, "tradeDate": days_after(today, day)})
        made: dict[str, Any] = {}
        for trade in _TRADES:
            values = {"type": trade.type, "quantity": trade.quantity, "unitPrice": trade.price, "instrument": SHARE}
            place = {"accountId": accounts[trade.broker], "tradeDate": days_after(today, trade.day)}
            made = await self._api.post("/createTransaction", {**values, **place})
        await self._price(today)
        return accounts[0], str(made["instrumentId"])

    async def _price(self, today: str) -> None:
        """What the share cost at the end of each week of the last months, as a file."""
        symbol, days = SHARE["symbol"], [days_after(today, 7 * (week - _WEEKS)) for week in range(_WEEKS)]
        rows = [f"{day},{symbol},{_price_of(week)},GBP\n" for week, day in enumerate(days)]
        content = "".join(("date,symbol,price,currency\n", *rows)).encode()
        url = f"{self._api.base}/importPrices?fileName=prices.csv"
        run = (await self._api.http.post_file(url, content, self._api.authorization)).expect().json()
        if run["added"] != _WEEKS:
            raise DemoFailed(f"the prices were not taken: {run}")

    async def _explain(self, instrument_id: str, date: str, say: Callable[[str], None]) -> None:
        wanted = {"legalEntityId": self._firm.person_id, "instrumentId": instrument_id}
        sold = await self._sale(wanted, date)
        if [match["rule"] for match in sold["matches"]] != list(_RULES):
            raise DemoFailed(f"the sale is not explained as it should be: {sold}")
        say(f"     On {date} she sells {sold['disposed']} with the first, for {sold['proceeds']} {sold['currency']}:")
        for match in sold["matches"]:
            bought = "" if match["date"] is None else f", bought with the second on {match['date']}"
            say(f"       {match['quantity']:>3} are {_RULES[match['rule']]}{bought}: they cost {match['cost']}")
        pool = sold["poolBefore"]
        say(f"     The pool of both brokers had {pool['quantity']} for {pool['cost']}. Her gain is {sold['gain']}.")

    async def _sale(self, wanted: Mapping[str, str], date: str) -> dict[str, Any]:
        """The day of the sale, of a pool or of an account."""
        days = (await self._api.get("/explainPosition", wanted))["data"]
        sale = next((day for day in days if day["date"] == date), None)
        if sale is None:
            raise DemoFailed(f"nothing was sold on {date}: {days}")
        return dict(sale)
