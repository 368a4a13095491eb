"""A person with portfolios and accounts, whose transactions are entered as a request would."""

from typing import Any, ClassVar

from msgspec.structs import replace

from gatewayd.areas.assets import AREA
from gatewayd.areas.assets.books.accounts import ACCOUNTS, AssetAccountRow
from gatewayd.areas.assets.books.instruments import INSTRUMENTS
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS, Portfolio
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore

_OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}
_SELECT_CASH = """
SELECT account_id, currency, balance FROM asset_cash WHERE org_id = :org_id AND balance <> 0
"""
_SELECT_NET = """
SELECT account_id, currency, sum(net_amount) FROM asset_transactions WHERE org_id = :org_id
GROUP BY account_id, currency HAVING sum(net_amount) <> 0
"""

Json = dict[str, Any]


class Broking(Books):
    """A person with two general accounts and an ISA in one portfolio in pounds, and two instruments."""

    operations: ClassVar = _OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(row) for name, row in _OPERATIONS.items()}

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.owner = self.entity(name="Ann Oak")
        self.portfolio_id = self.portfolio(self.owner)
        self.first = self.account()
        self.second = self.account()
        self.isa = self.account(tax_wrapper="isa")
        self.vod = self.instrument(name="Vodafone", symbol="VOD")
        self.aapl = self.instrument(name="Apple", symbol="AAPL", currency="USD", domicile_country="US")

    def portfolio(self, owner: str, currency: str = "GBP", **fields: object) -> str:
        made = self.store.write(lambda tx: insert_portfolio(tx, owner, currency, **fields), self.org_id)
        return made.id

    def account(self, portfolio_id: str | None = None, owner: str | None = None, **fields: object) -> str:
        place = (portfolio_id or self.portfolio_id, owner or self.owner)
        return self.store.write(lambda tx: insert_account(tx, *place, **fields), self.org_id).id

    def change_account(self, account_id: str, **fields: Any) -> None:
        """Store an account as something has left it."""

        def change(tx: WriteTx) -> None:
            ACCOUNTS.update(tx, replace(ACCOUNTS.get(tx, account_id), **fields))

        self.store.write(change, self.org_id)

    def instrument(self, **fields: Any) -> str:
        given = InlineInstrument(**fields)
        return self.store.write(lambda tx: find_or_create(tx, given, "instrument", "GBP"), self.org_id).id

    def named(self, instrument_id: str) -> Json:
        """What is stored of an instrument."""
        found = self.store.read(lambda tx: INSTRUMENTS.get(tx, instrument_id), self.org_id)
        return {name: getattr(found, name) for name in found.__struct_fields__}

    def enter(self, kind: str, date: str, **fields: object) -> Json:
        """Enter a transaction of the first account and Vodafone, but for what `fields` say; None leaves one out."""
        values: Json = {"accountId": self.first, "type": kind, "tradeDate": date, "instrumentId": self.vod, **fields}
        return self.post("createTransaction", **{name: value for name, value in values.items() if value is not None})

    def buy(self, quantity: str = "100", date: str = "2026-05-01", **fields: object) -> Json:
        return self.enter("buy", date, **{"quantity": quantity, "unitPrice": "2", **fields})

    def sell(self, quantity: str = "100", date: str = "2026-06-01", **fields: object) -> Json:
        return self.enter("sell", date, **{"quantity": quantity, "unitPrice": "3", **fields})

    def reverse(self, made: Json, **fields: object) -> Json:
        values = {"accountId": made["accountId"], "type": "reversal", "tradeDate": made["tradeDate"]}
        return self.post("createTransaction", **{**values, "reversesTransactionId": made["id"], **fields})

    def listed(self, query: str = "") -> list[Json]:
        return self.get("listTransactions", query)[0]

    def cash(self) -> dict[tuple[str, str], int]:
        """What is kept of cash, by account and currency, where it is not nothing."""
        return self._by_account(_SELECT_CASH)

    def net(self) -> dict[tuple[str, str], int]:
        """The net amounts of all transactions, summed alike."""
        return self._by_account(_SELECT_NET)

    def _by_account(self, sql: str) -> dict[tuple[str, str], int]:
        rows = self.store.read(lambda tx: tx.rows(sql), self.org_id)
        return {(account, currency): amount for account, currency, amount in rows}


def insert_portfolio(tx: WriteTx, owner: str, currency: str = "GBP", **fields: object) -> Portfolio:
    """A portfolio, stored as its operation leaves it."""
    values = {"legal_entity_id": owner, "name": "Shares", "base_currency": currency, "is_default": False}
    return PORTFOLIOS.insert(tx, PORTFOLIOS.new(tx, None, cost_basis_method="section_104", **values, **fields))


def insert_account(tx: WriteTx, portfolio_id: str, owner: str, **fields: object) -> AssetAccountRow:
    """A general account in pounds but for what `fields` say, stored as its operation leaves it."""
    values = {"portfolio_id": portfolio_id, "legal_entity_id": owner, "name": "Broker", "type": "brokerage"}
    values |= {"tax_wrapper": "none", "currency": "GBP", "tracking_mode": "transactions", "status": "open"}
    return ACCOUNTS.insert(tx, ACCOUNTS.new(tx, None, **{**values, "allow_short": False, **fields}))
