"""Properties with their units, tenancies and mortgages, stored as their operations leave them."""

from typing import Any

from gatewayd.store import WriteTx

LETS: dict[str, Any] = {
    "name": "12 Oak Street",
    "jurisdiction": "england",
    "type": "house",
    "use": "residential_let",
    "owners": "[]",
    "owner_share_percent": "100",
    "currency": "GBP",
    "licensing": "unknown",
    "status": "active",
    "search_text": "12 oak street",
}
_UNIT: dict[str, Any] = {"type": "room", "currency": "GBP"}
TENANCY: dict[str, Any] = {
    "tenant_ids": "[]",
    "type": "assured_periodic",
    "start_date": "2026-04-06",
    "rent_frequency": "monthly",
    "rent_due_day": 6,
    "bills_included": 0,
    "currency": "GBP",
    "rent_history": '[{"fromDate":"2026-04-06","amount":"900.00","notice":null}]',
}
MORTGAGE: dict[str, Any] = {
    "lender": "Building Society",
    "type": "repayment",
    "interest_rate": "6",
    "rate_history": '[{"fromDate":"2025-04-06","interestRate":"6"}]',
    "balance_history": "[]",
    "original_amount": 100_000_00,
    "start_date": "2025-04-06",
    "business_purpose_percent": "100",
    "currency": "GBP",
}


def insert_property(tx: WriteTx, business_id: str, **fields: Any) -> str:
    """A house that is let to live in and that the owner of the business has alone, but for what `fields` say."""
    return _insert(tx, "properties", "prop", {**LETS, "business_id": business_id, **fields})


def insert_unit(tx: WriteTx, property_id: str, **fields: Any) -> str:
    name = str(fields.get("name", "Room 1"))
    return _insert(tx, "property_units", "unit", {**_UNIT, "property_id": property_id, "name": name, **fields}, name)


def insert_tenancy(tx: WriteTx, property_id: str, **fields: Any) -> str:
    return _insert(tx, "tenancies", "tcy", {**TENANCY, "property_id": property_id, **fields})


def insert_mortgage(tx: WriteTx, property_id: str, **fields: Any) -> str:
    """A repayment loan of 100,000.00 at 6 % since 6 April 2025, but for what `fields` say."""
    return _insert(tx, "mortgages", "mtg", {**MORTGAGE, "property_id": property_id, **fields})


def _insert(tx: WriteTx, table: str, prefix: str, values: dict[str, Any], name: str | None = None) -> str:
    id_ = tx.new_id(prefix)
    values = {"id": id_, "created_at": tx.now, "updated_at": tx.now, "version": 1, **values}
    if name is not None:
        values["name_key"] = name.casefold()
    columns = ("org_id", *values)
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"
    tx.run(sql, **values)
    return id_
