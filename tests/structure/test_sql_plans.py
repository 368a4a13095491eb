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
_DELETED = re.compile(r"\s*DELETE FROM (\w+)")
_SCANNED = re.compile(r"SCAN (\w+)")

GOES_ON = {
    ("gatewayd/areas/banking/transactions/rows.py", "SELECT"),
    ("gatewayd/ledger/allocating/allocations.py", "ALLOCATIONS_SELECT"),
    ("gatewayd/ledger/allocating/bank_lines.py", "LINES"),
}
"""The beginning of other statements, which say more."""
WHOLE = {
    ("gatewayd/bundles/sheets.py", "_SELECT_ALLOCATIONS"),
    ("gatewayd/bundles/sheets.py", "_SELECT_LINES_ALLOCATED"),
}
"""What a period is sealed with, once, on a thread."""
RARE = {
    ("gatewayd/areas/banking/accounts/rows.py", "ACCOUNTS_DELETE"),
    ("gatewayd/ledger/imports/import_runs.py", "RUNS_DELETE"),
    ("gatewayd/identity/people/organizations.py", "_DELETE"),
}
"""An account that was made for a file, and goes with its import that failed; an organization that has nothing left."""


@pytest.fixture
def enforcing(empty: apsw.Connection) -> apsw.Connection:
    """As the writer has it: a deletion looks for what refers to the row."""
    empty.execute("PRAGMA foreign_keys = ON")
    return empty


def steps_of(connection: apsw.Connection, sql: str) -> list[str]:
    values = dict.fromkeys(_PARAMETER.findall(sql))
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]


def steps_through_all(connection: apsw.Connection, sql: str) -> list[str]:
    return [step for step in steps_of(connection, sql) if _ALL_OF_ORG.search(step) or _ALL.search(step)]


def through_all(connection: apsw.Connection, constant: Constant) -> bool:
    """What refers to rows that are deleted is looked for too, and stands in the plan alone."""
    is_near = _LARGE.search(constant.bare) or constant.bare.lstrip().startswith("DELETE")
    if constant.is_template or not is_near:
        return False
    return steps_through_all(connection, constant.sql) != []


def test_no_statement_goes_through_all_lines_of_an_organization(enforcing: apsw.Connection) -> None:
    found = {(one.module, one.name) for one in CONSTANTS if through_all(enforcing, one)}
    assert found == GOES_ON | WHOLE | RARE


def test_what_a_period_is_sealed_with_is_read_in_its_order(enforcing: apsw.Connection) -> None:
    """Neither sorted nor listed first: that would hold all allocations of the period in memory."""
    steps = {one.name: steps_of(enforcing, one.sql) for one in CONSTANTS if (one.module, one.name) in WHOLE}
    assert len(steps) == len(WHOLE)
    for found in steps.values():
        assert not [step for step in found if "TEMP B-TREE" in step or "LIST SUBQUERY" in step]


def referring_to(connection: apsw.Connection, table: str) -> set[str]:
    """The tables with a foreign key to another."""
    sql = 'SELECT m.name FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) k WHERE k."table" = ?'
    return {str(name) for (name,) in connection.execute(sql, (table,))}


def seeks_in_vain(connection: apsw.Connection, constant: Constant) -> set[str]:
    """The tables that a deletion goes through whole to see that nothing refers to the row."""
    deleted = _DELETED.match(constant.bare)
    if constant.is_template or deleted is None:
        return set()
    scanned = {found[1] for step in steps_of(connection, constant.sql) if (found := _SCANNED.match(step))}
    return scanned & referring_to(connection, deleted[1])


def test_a_deletion_finds_what_refers_to_the_row(enforcing: apsw.Connection) -> None:
    found = {(one.module, one.name): seeks_in_vain(enforcing, one) for one in CONSTANTS}
    assert {key for key, tables in found.items() if tables} == RARE


def test_a_deletion_that_does_not_find_it_is_seen(enforcing: apsw.Connection) -> None:
    enforcing.execute("DROP INDEX vault_links_of_document")
    key = ("gatewayd/areas/vault/documents/rows.py", "DOCUMENTS_DELETE")
    (constant,) = [one for one in CONSTANTS if (one.module, one.name) == key]
    assert seeks_in_vain(enforcing, constant) == {"vault_links"}


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
