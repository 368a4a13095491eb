"""Pages of the two lists stay flat, however many rows there are: each walks an index in its order."""

from typing import Any

import apsw
import pytest

from tests.areas.periods.desk import Desk

COUNT = 10_000
_SEED = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
INSERT INTO obligations (
    id, org_id, kind, legal_entity_id, slot, period_start_date, period_end_date, due_date, status, dismissed,
    fulfilled_at, source, confidence, currency, created_at, updated_at, version
)
SELECT 'obl_' || n, :org_id, 'custom', :entity, 'obl_' || n, '2020-01-01', '2020-01-31',
    date('2000-01-01', '+' || n || ' days'), 'fulfilled', 0, 1, 'local', 'confirmed', 'GBP', n, n, 1
FROM numbers
"""
OBLIGATIONS = (
    "",
    "legalEntityId={entity}",
    "businessId={business}",
    "kind=vat_return",
    "kind=vat_return&kind=vat_payment",
    "status=open",
    "status=overdue",
    "status=fulfilled",
    "status=open&status=overdue",
    "legalEntityId={entity}&status=overdue",
    "periodId=per_x",
    "externalId=none",
    "dueDateFrom=2027-01-01&dueDateTo=2027-02-01",
    "updatedSince=2026-01-01T00:00:00Z",
)
PERIODS = (
    "",
    "legalEntityId={entity}",
    "businessId={business}",
    "type=vat_period",
    "status=closed",
    "taxYear=2026-27",
    "fromDate=2026-07-01&toDate=2026-07-31",
    "includeArchived=true",
    "updatedSince=2026-01-01T00:00:00Z",
)


def plan_of(desk: Desk, operation: str, query: str) -> list[str]:
    """How the statement of the list is carried out."""
    connection, asked = desk.store.connection, list[tuple[str, Any]]()

    def note(cursor: apsw.Cursor, sql: str, values: Any) -> bool:
        asked.append((sql, values))
        return True

    before, connection.exec_trace = connection.exec_trace, note
    desk.ask(operation, query)
    connection.exec_trace = before
    table = operation.partition(".")[0]
    ((sql, values), *_) = [found for found in asked if f"FROM {table}" in found[0] and "LIMIT" in found[0]]
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


@pytest.mark.parametrize(
    ("operation", "query"),
    [*(("obligations.list", query) for query in OBLIGATIONS), *(("periods.list", query) for query in PERIODS)],
)
def test_every_list_walks_an_index_in_its_order(desk: Desk, operation: str, query: str) -> None:
    trade = desk.create()
    desk.vat_company()
    plan = plan_of(desk, operation, query.format(entity=desk.person, business=trade["id"]))
    assert [line for line in plan if line.startswith("SCAN") or "TEMP B-TREE" in line] == []
    assert [line for line in plan if "USING INDEX" in line] != []


def test_ten_thousand_obligations_are_read_page_by_page(desk: Desk) -> None:
    connection = desk.store.connection
    connection.execute(_SEED, {"count": COUNT, "org_id": desk.org_id, "entity": desk.person})
    steps = []
    for query in ("limit=50", "limit=50&status=fulfilled", f"limit=50&legalEntityId={desk.person}"):
        before = connection.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0]
        first = desk.ask("obligations.list", query)
        read = connection.status(apsw.SQLITE_DBSTATUS_CACHE_HIT)[0] - before
        steps.append(read)
        following = desk.ask("obligations.list", f"{query}&cursor={first['nextCursor']}")
        assert [one["dueDate"] for one in first["data"]] < [one["dueDate"] for one in following["data"]]
    assert max(steps) < 1000, "pages of the file that one page of the list looks at"


@pytest.mark.parametrize("operation", ["periods.list", "obligations.list"])
def test_a_list_in_the_order_of_change_goes_on_after_its_first_page(desk: Desk, operation: str) -> None:
    desk.vat_company()
    query = "updatedSince=2026-01-01T00:00:00Z&limit=100"
    whole = desk.ask(operation, query)["data"]
    page = desk.ask(operation, "updatedSince=2026-01-01T00:00:00Z&limit=1")
    found = page["data"]
    while page["nextCursor"] is not None:
        page = desk.ask(operation, f"updatedSince=2026-01-01T00:00:00Z&limit=1&cursor={page['nextCursor']}")
        found += page["data"]
    assert len(whole) > 1
    assert found == whole
