"""How SQLite finds lines: never among all that an organization has.

An organization may have millions of lines. SQLite keeps no statistics here, and takes any condition on `org_id` for one
that few rows meet: what else a statement says has to lead it elsewhere.
"""

import re

import apsw
import pytest

from tests.structure.test_sql import CONSTANTS, Constant, empty

__all__ = ["empty"]

_LARGE = re.compile(r"\b(bank_transactions|import_rows|allocations)\b")
_PARAMETER = re.compile(r":([a-z_0-9]+)")
_ALL_OF_ORG = re.compile(r"(?:bank_transactions|import_rows|allocations)\w* \(org_id=\?\)$")
_ALL = re.compile(r"SCAN (?:bank_transactions|import_rows|allocations)\b")

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


def steps_through_all(connection: apsw.Connection, sql: str) -> list[str]:
    values = dict.fromkeys(_PARAMETER.findall(sql))
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    return [step for step in steps if _ALL_OF_ORG.search(step) or _ALL.search(step)]


def through_all(connection: apsw.Connection, constant: Constant) -> bool:
    if constant.is_template or not _LARGE.search(constant.bare):
        return False
    return steps_through_all(connection, constant.sql) != []


def test_no_statement_goes_through_all_lines_of_an_organization(empty: apsw.Connection) -> None:
    found = {(one.module, one.name) for one in CONSTANTS if through_all(empty, one)}
    assert found == GOES_ON | WHOLE


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM bank_transactions WHERE org_id = :org_id AND raw_description = :text",
        "SELECT id FROM bank_transactions",
        "DELETE FROM bank_transactions WHERE org_id = :org_id AND id IN ("
        "SELECT id FROM bank_transactions WHERE org_id = :org_id AND import_id = :import_id LIMIT :count)",
        "SELECT r.id FROM import_runs r JOIN import_rows s ON s.org_id = :org_id AND s.import_id = r.id"
        " WHERE r.org_id = :org_id AND r.status = 'applied'",
    ],
)
def test_a_statement_that_does_is_seen(empty: apsw.Connection, sql: str) -> None:
    assert steps_through_all(empty, sql) != []


def test_a_statement_that_does_not_is_none(empty: apsw.Connection) -> None:
    sql = "DELETE FROM bank_transactions WHERE org_id = :org_id AND id = :id"
    assert steps_through_all(empty, sql) == []
