"""How SQLite finds lines: never among all that an organization has.

An organization may have millions of lines. SQLite keeps no statistics here, and takes any condition on `org_id` for one
that few rows meet: what else a statement says has to lead it elsewhere.
"""

import re

import apsw
import pytest

from tests.structure.test_sql import CONSTANTS, Constant, empty

__all__ = ["empty"]

_TABLES = "bank_transactions|import_rows|allocations|import_trades|broker_records"
_LARGE = re.compile(rf"\b({_TABLES})\b")
_PARAMETER = re.compile(r":([a-z_0-9]+)")
_ALL_OF_ORG = re.compile(rf"(?:{_TABLES})\w* \(org_id=\?\)$")
_ALL = re.compile(rf"SCAN (?:{_TABLES})\b")

GOES_ON = {
    ("gatewayd/areas/banking/transactions/rows.py", "SELECT"),
    ("gatewayd/ledger/allocations.py", "ALLOCATIONS_SELECT"),
    ("gatewayd/ledger/bank_lines.py", "LINES"),
}
"""The beginning of other statements, which say more."""
WHOLE = {
    ("gatewayd/bundles/sheets.py", "_SELECT_ALLOCATIONS"),
    ("gatewayd/bundles/sheets.py", "_SELECT_LINES_ALLOCATED"),
}
"""What a period is sealed with, once, on a thread."""
RARE = {
    ("gatewayd/areas/banking/accounts/rows.py", "_DELETE"),
    ("gatewayd/ledger/import_runs.py", "_DELETE"),
}
"""An account that was made for a file, and goes with its import that failed."""


@pytest.fixture
def enforcing(empty: apsw.Connection) -> apsw.Connection:
    """As the writer has it: a deletion looks for what refers to the row."""
    empty.execute("PRAGMA foreign_keys = ON")
    return empty


def steps_through_all(connection: apsw.Connection, sql: str) -> list[str]:
    values = dict.fromkeys(_PARAMETER.findall(sql))
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    return [step for step in steps if _ALL_OF_ORG.search(step) or _ALL.search(step)]


def through_all(connection: apsw.Connection, constant: Constant) -> bool:
    """What refers to rows that are deleted is looked for too, and stands in the plan alone."""
    is_near = _LARGE.search(constant.bare) or constant.bare.lstrip().startswith("DELETE")
    if constant.is_template or not is_near:
        return False
    return steps_through_all(connection, constant.sql) != []


def test_no_statement_goes_through_all_lines_of_an_organization(enforcing: apsw.Connection) -> None:
    found = {(one.module, one.name) for one in CONSTANTS if through_all(enforcing, one)}
    assert found == GOES_ON | WHOLE | RARE


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM bank_transactions WHERE org_id = :org_id AND raw_description = :text",
        "SELECT id FROM bank_transactions",
        "DELETE FROM bank_transactions WHERE org_id = :org_id AND id IN ("
        "SELECT id FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id LIMIT :count)",
        "SELECT r.id FROM import_runs r JOIN import_rows s ON s.org_id = :org_id AND s.import_id = r.id"
        " WHERE r.org_id = :org_id AND r.status = 'applied'",
        "DELETE FROM bank_accounts WHERE org_id = :org_id AND id = :id",
    ],
)
def test_a_statement_that_does_is_seen(enforcing: apsw.Connection, sql: str) -> None:
    assert steps_through_all(enforcing, sql) != []


def test_a_statement_that_does_not_is_none(enforcing: apsw.Connection) -> None:
    sql = "DELETE FROM bank_transactions WHERE org_id = :org_id AND id = :id"
    assert steps_through_all(enforcing, sql) == []
