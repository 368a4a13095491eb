"""Bank accounts and lines for tests, as an import leaves them."""

from tests.areas.periods.desk import Desk, Json

_ACCOUNT = """
INSERT INTO bank_accounts (
    id, org_id, legal_entity_id, name, type, usage, currency, status, business_ids, balances, coverage, created_at,
    updated_at, version
)
VALUES (:id, :org_id, :entity, 'Current', 'current', :usage, 'GBP', :status, :business_ids, '[]', :coverage,
    :now, :now, 1)
"""
_STATEMENT = """
INSERT INTO bank_statements (org_id, import_id, statement, account_id, applied, from_date, to_date, opening_balance,
    closing_balance, available_balance, balanced)
VALUES (:org_id, :import_id, 1, :account, :applied, :first, :last, :opening, :closing, NULL, :balanced)
"""
_RUN = """
INSERT INTO import_runs (
    id, org_id, account_id, kind, source, file_name, size_bytes, sha256, status, rows, added, duplicates, replaced,
    refused_rows, refused, currency, created_at, updated_at, version
)
VALUES (
    :id, :org_id, :account, 'bank', 'api', 'a.ofx', 1, :sha256, 'applied', 0, 0, 0, 0, 0, '[]', 'GBP', :now, :now, 1
)
"""
_KEPT = {"coverage": '{"fromDate":"2020-01-01","toDate":"2029-12-31","gaps":[]}', "status": "active"}
NOT_KEPT = '{"fromDate":null,"toDate":null,"gaps":[]}'
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


def account(desk: Desk, entity: str, business_ids: str = "[]", usage: str = "business", **more: str) -> str:
    """An account whose statements hold every day that periods have, but for what `more` says."""
    id_ = f"bac_{desk.org_id}_{next(desk.numbers)}"
    values = {"id": id_, "entity": entity, "usage": usage, "business_ids": business_ids, **_KEPT, **more}
    desk.store.write(lambda tx: tx.run(_ACCOUNT, **values), desk.org_id)
    return id_


def line(desk: Desk, account_id: str, date: str, amount: int, allocated: int = 0, status: str = "booked") -> str:
    """A line of so many pence; one that is pending has no booking date."""
    id_ = f"btx_{desk.org_id}_{next(desk.numbers):04}"
    values = {"id": id_, "account": account_id, "date": date, "amount": amount, "allocated": allocated}
    booked = None if status == "pending" else date
    desk.store.write(lambda tx: tx.run(_LINE, status=status, booked=booked, **values), desk.org_id)
    return id_


def statement(desk: Desk, account_id: str, days: tuple[str, str], balances: tuple[int, int], **more: int) -> None:
    """An applied statement that tells its opening and closing balance, in pence, and adds up, but for `more`."""
    run = {"id": f"imp_{next(desk.numbers):04}", "account": account_id, "sha256": "0" * 64}
    desk.store.write(lambda tx: tx.run(_RUN, **run), desk.org_id)
    told = {"first": days[0], "last": days[1], "opening": balances[0], "closing": balances[1]}
    values = {"import_id": run["id"], "account": account_id, "applied": 1, "balanced": 1, **told, **more}
    desk.store.write(lambda tx: tx.run(_STATEMENT, **values), desk.org_id)


def name_account(desk: Desk, business: Json, account_id: str) -> None:
    """Let a business name an account as its own."""
    sql = "UPDATE businesses SET bank_account_ids = :ids WHERE org_id = :org_id AND id = :id"
    desk.store.write(lambda tx: tx.run(sql, id=business["id"], ids=f'["{account_id}"]'), desk.org_id)
