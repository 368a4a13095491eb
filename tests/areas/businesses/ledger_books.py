"""A business whose money is allocated and whose work is invoiced, for tests of its profit and loss."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from gatewayd.areas.businesses import AREA
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.http.render import success
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Part
from gatewayd.ledger.allocating.allocations import Entry
from gatewayd.ledger.allocating.categories import Category
from tests.ledger.bank_books import BankBooks
from tests.support.wire import expect_form

Json = dict[str, Any]
OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}
DECODERS = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}


class LedgerBooks(BankBooks):
    """An organization with businesses."""

    def trade(self, entity_id: str | None = None, **fields: object) -> str:
        """A business, by default a self-employment on cash basis of somebody who is not registered for VAT."""
        owner = entity_id or self.unregistered_entity()
        body = {"legalEntityId": owner, "type": "self_employment", "name": "Joinery", **fields}
        return str(self.change("create", **body)["id"])

    def change(self, operation: str, /, **body: object) -> Json:
        """Call a write of the businesses."""
        request, row = DECODERS[operation].body(msgspec.json.encode(body)), OPERATIONS[operation]
        return _shown(self.write(lambda tx: row.handler(tx, self.caller, request)), row)

    def ask(self, operation: str, /, **query: object) -> Json:
        """Call a read of the businesses with a query string."""
        text = urlencode({name: str(value).lower() if value is True else value for name, value in query.items()})
        request, row = DECODERS[operation].query(text), OPERATIONS[operation]
        return _shown(self.store.read(lambda tx: row.handler(tx, self.caller, request), self.org_id), row)

    def pnl(self, business_id: str, first: str = "2026-04-06", last: str = "2027-04-05", **query: object) -> Json:
        """Profit and loss from one day to another."""
        return self.ask("businessPnl", id=business_id, fromDate=first, toDate=last, **query)

    def enter(
        self, business_id: str, category: Category, amount: int, date: str = "2026-11-02", **more: Any
    ) -> Allocation:
        """An entry of minor units that no bank line shows: income comes in, and all else goes out, but for `more`."""
        currency = more.pop("currency", "GBP")
        direction = more.pop("direction", "in" if category in ("turnover", "periodAmount", "otherIncome") else "out")
        part = Part(
            category=category,
            business_id=business_id,
            direction=direction,
            amount=amount,
            description="Entry",
            **more,
        )
        (entered,) = self.write(lambda tx: allocations.enter(tx, [part], Entry(date, currency)))
        return entered

    def set(self, allocation_id: str, /, **columns: object) -> None:
        """Write columns of an allocation that no operation writes yet."""
        changes = ", ".join(f"{name} = :{name}" for name in columns)
        sql = f"UPDATE allocations SET {changes} WHERE org_id = :org_id AND id = :id"
        self.write(lambda tx: tx.run(sql, id=allocation_id, **columns))


def lines(account: Json, *kinds: str) -> dict[str, str]:
    """The amount of each category of an account, or of some of its kinds of lines."""
    return {
        line["category"]: line["amount"] for kind in kinds or ("income", "expenses") for line in account.get(kind, ())
    }


def _shown(answer: object, operation: Operation) -> Json:
    document: Json = msgspec.json.decode(success(answer).body)
    expect_form(document, operation.response)
    return document
