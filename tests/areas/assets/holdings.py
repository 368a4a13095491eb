"""Holdings for tests: rows of accounts and instruments, and transactions as they are stored, without operations."""

import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from gatewayd.areas.assets.books.accounts import ACCOUNTS
from gatewayd.areas.assets.books.instruments import INSTRUMENTS, Ratio
from gatewayd.areas.assets.books.portfolios import PORTFOLIOS
from gatewayd.areas.assets.books.transactions import TRANSACTIONS, AssetTransaction
from gatewayd.areas.assets.gains import losses, operations
from gatewayd.areas.assets.pools import recording
from gatewayd.areas.assets.pools.exact import cost_of, quantity_of
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.money import Money
from gatewayd.performing.performer import encoded
from gatewayd.store import WriteTx
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import expect_form

T = TypeVar("T")
_OPERATIONS = {row.id.partition(".")[2]: row for row in (*operations.OPERATIONS, *losses.OPERATIONS)}
_DECODERS = {name: RequestDecoder(row) for name, row in _OPERATIONS.items()}

_TABLES = {
    "asset_days": "scope_id, instrument_id, date, inputs, outcome, disposes, gain, fifo_gain",
    "asset_holdings": "scope_id, instrument_id, portfolio_id, quantity, is_open, cost, fifo_cost, first_acquired_date, "
    "last_date",
    "asset_cash": "account_id, currency, balance",
}


class Holdings:
    """A person with a portfolio in pounds, an account without a wrapper, and an instrument."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()
        self.caller = make_caller(self.org_id)
        self.names = itertools.count(1)
        self.person = self.entity("individual")
        self.portfolio = self.new_portfolio(self.person)
        self.account = self.new_account()
        self.share = self.instrument()

    def entity(self, type_: str, **values: object) -> str:
        told = {"taxResidency": "england_ni"} if type_ == "individual" else {}
        request = msgspec.convert({"name": "Ash Brown", "type": type_, **told, **values}, CreateLegalEntity)
        return self.write(lambda tx: create_legal_entity(tx, self.caller, request).id)

    def new_portfolio(self, entity_id: str, currency: str = "GBP", method: str = "section_104") -> str:
        values = {
            "legal_entity_id": entity_id,
            "name": "Shares",
            "base_currency": currency,
            "cost_basis_method": method,
            "is_default": False,
        }
        return self.write(lambda tx: PORTFOLIOS.insert(tx, PORTFOLIOS.new(tx, None, **values)).id)

    def new_account(self, portfolio_id: str | None = None, wrapper: str = "none", short: bool = False) -> str:
        portfolio_id = portfolio_id or self.portfolio

        def add(tx: WriteTx) -> str:
            portfolio = PORTFOLIOS.get(tx, portfolio_id)
            row = ACCOUNTS.new(
                tx,
                None,
                portfolio_id=portfolio_id,
                legal_entity_id=portfolio.legal_entity_id,
                name="Broker",
                type="brokerage",
                tax_wrapper=wrapper,
                currency=portfolio.base_currency,
                tracking_mode="transactions",
                allow_short=short,
                status="open",
            )
            return ACCOUNTS.insert(tx, row).id

        return self.write(add)

    def instrument(self, **values: object) -> str:
        given = {
            "name": f"Share {next(self.names)}",
            "asset_class": "equity",
            "currency": "GBP",
            "cgt_exempt": False,
            "listed": True,
            "splits": [],
            "is_active": True,
            **values,
        }
        return self.write(lambda tx: INSTRUMENTS.insert(tx, INSTRUMENTS.new(tx, None, **given)).id)

    # -- transactions

    def enter(self, type_: str, date: str, quantity: object = None, gross: str | None = None, **more: Any) -> str:
        """Store and record one transaction; `fees` and `taxes` are texts."""
        return self.write(lambda tx: self.enter_in(tx, type_, date, quantity, gross, **more))

    def enter_in(
        self, tx: WriteTx, type_: str, date: str, quantity: object = None, gross: str | None = None, **more: Any
    ) -> str:
        row = self.stored(tx, type_, date, quantity, gross, **more)
        recording.record(tx, [row])
        return row.id

    def stored(
        self, tx: WriteTx, type_: str, date: str, quantity: object = None, gross: str | None = None, **more: Any
    ) -> AssetTransaction:
        """A transaction that is stored and not recorded."""
        account = ACCOUNTS.get(tx, more.pop("account", self.account))
        portfolio = PORTFOLIOS.get(tx, account.portfolio_id)
        currency = more.pop("currency", portfolio.base_currency)
        amounts = {name: Money.of(more.pop(name, "0"), currency) for name in ("fees", "taxes", "net_amount")}
        fx_rate = more.pop("fx_rate", "1")
        row = TRANSACTIONS.new(
            tx,
            None,
            account_id=account.id,
            portfolio_id=portfolio.id,
            legal_entity_id=account.legal_entity_id,
            instrument_id=more.pop("instrument", self.share),
            type=type_,
            trade_date=date,
            quantity=None if quantity is None else str(quantity),
            gross_amount=None if gross is None else Money.of(gross, currency),
            gross_base=None if gross is None else in_base(gross, fx_rate, portfolio.base_currency),
            currency=currency,
            base_currency=portfolio.base_currency,
            fx_rate=fx_rate,
            spouse_transfer=more.pop("spouse_transfer", False),
            source="api",
            **amounts,
            **more,
        )
        return TRANSACTIONS.insert(tx, row)

    def buy(self, date: str, quantity: object, gross: str, **more: Any) -> str:
        return self.enter("buy", date, quantity, gross, **more)

    def sell(self, date: str, quantity: object, gross: str, **more: Any) -> str:
        return self.enter("sell", date, quantity, gross, **more)

    def split(self, date: str, numerator: int, denominator: int = 1, **more: Any) -> str:
        return self.enter("split", date, split_ratio=Ratio(numerator=numerator, denominator=denominator), **more)

    def transfer(self, date: str, quantity: object, sender: str, receiver: str, **more: Any) -> list[str]:
        """Both rows of a transfer."""

        def move(tx: WriteTx) -> list[str]:
            gross = more.pop("gross", None)
            out = self.stored(
                tx, "transfer_out", date, quantity, gross, account=sender, counter_account_id=receiver, **more
            )
            given = {"counter_account_id": sender, "linked_transaction_id": out.id, **more}
            into = self.stored(tx, "transfer_in", date, quantity, gross, account=receiver, **given)
            TRANSACTIONS.save(tx, replace(out, linked_transaction_id=into.id))
            recording.record(tx, [out, into])
            return [out.id, into.id]

        return self.write(move)

    def reverse(self, *ids: str) -> None:
        """What a reversal does: the rows are marked, and their effect is taken out."""

        def take_back(tx: WriteTx) -> None:
            rows = [TRANSACTIONS.get(tx, id_) for id_ in ids]
            for row in rows:
                TRANSACTIONS.save(tx, replace(row, reversed_by_id="txn_reversal"))
            recording.take_back(tx, rows)

        self.write(take_back)

    # -- what is there

    def ask(self, operation: str, **query: object) -> Any:
        """What a read of gains answers to a query; of a list its items and the cursor."""
        answer = msgspec.json.decode(encoded(self.answer(operation, **query)))
        expect_form(answer, _OPERATIONS[operation].response)
        return answer

    def answer(self, operation: str, **query: object) -> Any:
        """What the handler of a read of gains answers."""
        row = _OPERATIONS[operation]
        request = _DECODERS[operation].query(urlencode(query))
        return self.store.read(lambda tx: row.handler(tx, self.caller, request), self.org_id)

    def post(self, operation: str, **body: object) -> Any:
        """What a write of gains answers to a body."""
        row = _OPERATIONS[operation]
        request = _DECODERS[operation].body(msgspec.json.encode(body))
        answer = msgspec.json.decode(encoded(self.write(lambda tx: row.handler(tx, self.caller, request))))
        expect_form(answer, row.response)
        return answer

    def pool(self, instrument: str | None = None, scope: str | None = None) -> tuple[Any, Any]:
        """Quantity and cost of the pool, or of an account on average, after the last day."""
        found = self.holding("quantity, cost", instrument, scope)
        return (Fraction(0), Fraction(0)) if found is None else (quantity_of(found[0]), _money(found[1]))

    def holding(self, columns: str, instrument: str | None = None, scope: str | None = None) -> tuple[Any, ...] | None:
        sql = f"SELECT {columns} FROM asset_holdings WHERE scope_id = ? AND instrument_id = ?"
        return self.store.connection.execute(sql, (scope or self.person, instrument or self.share)).fetchone()

    def gains(self, instrument: str | None = None, scope: str | None = None, column: str = "gain") -> dict[str, int]:
        """The gains by date, in pence."""
        sql = f"SELECT date, {column} FROM asset_days WHERE scope_id = ? AND instrument_id = ? AND disposes = 1"
        rows = self.store.connection.execute(sql, (scope or self.person, instrument or self.share))
        return {date: gain for date, gain in rows if gain is not None}

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that recording keeps."""
        return {
            table: sorted(self.store.connection.execute(f"SELECT {columns} FROM {table}"), key=repr)
            for table, columns in _TABLES.items()
        }

    def write(self, work: Callable[[WriteTx], T]) -> T:
        return self.store.write(work, self.org_id)


def in_base(gross: str, fx_rate: str, currency: str) -> Money:
    """An amount at a rate of exchange, to the minor unit."""
    return Money.of(str(round(Decimal(gross) * Decimal(fx_rate), 2)), currency)


def costs(values: Sequence[str]) -> Fraction:
    """What these costs are together."""
    return sum((_money(value) for value in values), Fraction(0))


def _money(text: str) -> Fraction:
    return Fraction(cost_of(text), 10**20)
