"""Bank accounts and lines for tests, as an import leaves them."""

from tests.areas.periods.desk import Desk, Json

_ACCOUNT = """
INSERT INTO bank_accounts (
    id, org_id, legal_entity_id, name, type, usage, currency, status, business_ids, balances, coverage, created_at,
    updated_at, version
)
VALUES (:id, :org_id, :entity, 'Current', 'current', :usage, 'GBP', 'active', :business_ids, '[]',
    '{"fromDate":null,"toDate":null,"gaps":[]}', :now, :now, 1)
"""
_LINE = """
INSERT INTO bank_transactions (
    id, org_id, account_id, date, amount, allocated, currency, status, booking_date, description, raw_description, type,
    source, fingerprint, match_key, search_text, created_at, updated_at, version
)
VALUES (
    :id, :org_id, :account, :date, :amount, :allocated, 'GBP', :status, :booked, 'x', 'x', 'other', 'import', :id, 'x',
    'x', :now, :now, 1
)
"""


def account(desk: Desk, entity: str, business_ids: str = "[]", usage: str = "business") -> str:
    id_ = f"bac_{desk.org_id}_{next(desk.numbers)}"
    values = {"id": id_, "entity": entity, "usage": usage, "business_ids": business_ids}
    desk.store.write(lambda tx: tx.run(_ACCOUNT, **values), desk.org_id)
    return id_


def line(desk: Desk, account_id: str, date: str, amount: int, allocated: int = 0, status: str = "booked") -> str:
    """A line of so many pence; one that is pending has no booking date."""
    id_ = f"btx_{desk.org_id}_{next(desk.numbers):04}"
    values = {"id": id_, "account": account_id, "date": date, "amount": amount, "allocated": allocated}
    booked = None if status == "pending" else date
    desk.store.write(lambda tx: tx.run(_LINE, status=status, booked=booked, **values), desk.org_id)
    return id_


def name_account(desk: Desk, business: Json, account_id: str) -> None:
    """Let a business name an account as its own."""
    sql = "UPDATE businesses SET bank_account_ids = :ids WHERE org_id = :org_id AND id = :id"
    desk.store.write(lambda tx: tx.run(sql, id=business["id"], ids=f'["{account_id}"]'), desk.org_id)
