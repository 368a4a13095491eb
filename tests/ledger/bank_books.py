"""Bank accounts and their lines, stored as an import leaves them, for tests of what stands on them."""

from collections.abc import Callable
from typing import TypeVar

from gatewayd.ledger.allocating import allocations, bank_lines
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Part
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Books

T = TypeVar("T")

_INSERT_ACCOUNT = """
INSERT INTO bank_accounts (id, org_id, legal_entity_id, name, type, usage, currency, status, business_ids, balances,
    coverage, created_at, updated_at, version)
VALUES (:id, :org_id, :legal_entity_id, 'Current', 'current', 'business', :currency, 'active', :business_ids, '[]',
    '{"fromDate":null,"toDate":null,"gaps":[]}', :now, :now, 1)
"""
_INSERT_LINE = """
INSERT INTO bank_transactions (id, org_id, account_id, date, amount, currency, status, booking_date, description,
    raw_description, counterparty_name, reference, type, source, import_id, fingerprint, match_key, search_text,
    created_at, updated_at, version)
VALUES (:id, :org_id, :account_id, :date, :amount, :currency, :status, :booking_date, :description, :description,
    :counterparty_name, :reference, :type, 'import', :import_id, :id, :match_key, lower(:description), :now, :now, 1)
"""


class BankBooks(Books):
    """An organization with bank accounts."""

    def account(self, entity_id: str | None = None, *business_ids: str, currency: str = "GBP") -> str:
        """A bank account that names this legal entity and these businesses."""
        return self.write(lambda tx: insert_account(tx, entity_id, *business_ids, currency=currency))

    def line(self, account_id: str, amount: int, **fields: object) -> str:
        """A booked line of so many minor units, + in and - out, but for what `fields` say."""
        return self.write(lambda tx: insert_line(tx, account_id, amount, **fields))

    def allocate(self, line_id: str, *parts: Part) -> list[Allocation]:
        return self.write(lambda tx: allocations.allocate(tx, bank_lines.get(tx, line_id), parts))

    def remove(self, *rows: Allocation) -> None:
        self.write(lambda tx: allocations.remove(tx, *rows))

    def line_of(self, line_id: str) -> BankLine:
        return self.store.read(lambda tx: bank_lines.get(tx, line_id), self.org_id)

    def of_line(self, line_id: str) -> list[Allocation]:
        return self.store.read(lambda tx: allocations.of_line(tx, line_id), self.org_id)

    def write(self, work: Callable[[WriteTx], T]) -> T:
        return self.store.write(work, self.org_id)


def insert_account(tx: WriteTx, entity_id: str | None = None, *business_ids: str, currency: str = "GBP") -> str:
    account_id = tx.new_id("bac")
    names = ",".join(f'"{business_id}"' for business_id in business_ids)
    values = {"id": account_id, "legal_entity_id": entity_id, "currency": currency, "business_ids": f"[{names}]"}
    tx.run(_INSERT_ACCOUNT, **values)
    return account_id


def insert_line(tx: WriteTx, account_id: str, amount: int, **fields: object) -> str:
    line_id = tx.new_id("btx")
    values: dict[str, object] = {
        "date": "2026-11-02",
        "currency": "GBP",
        "status": "booked",
        "description": "CARD PAYMENT TESCO STORES 3017",
        "match_key": "tesco stores",
        "counterparty_name": None,
        "reference": None,
        "type": "card",
        "import_id": "imp_1",
        **fields,
    }
    values["booking_date"] = None if values["status"] == "pending" else values["date"]
    tx.run(_INSERT_LINE, id=line_id, account_id=account_id, amount=amount, **values)
    return line_id
