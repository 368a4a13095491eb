"""Every table of an organization in a statement is bound to it: a condition on one side of a join is not enough."""

import pytest
import sqlglot

from tests.structure.bindings import unbound
from tests.structure.test_sql import CONSTANTS, Constant, columns, parsed

__all__ = ["columns"]

ANY_ORGANIZATION = {
    "gatewayd/identity/tokens/authentication.py": {"_FIND_KEY"},  # finds out which organization a key belongs to
    "gatewayd/identity/keys/api_keys.py": {
        "_LIST_ALL",
        "_OWNER",
        "_NOTE_USE",
    },  # the operator's; the daemon's own record
    "gatewayd/identity/audit.py": {"_INSERT", "_LIST_ALL"},  # what is done to the instance has no organization
    "gatewayd/identity/people/memberships.py": {"_OF_USER", "_LIST_ALL"},  # a user's organizations; the operator's list
    "gatewayd/webhooks/queue/delivery_queue.py": {"_NEXT_HEAD"},  # the dispatcher works for all of them
}
"""Statements that go beyond one organization. Elsewhere the name of such a constant ends in `_ANY_ORG`."""

BY_REFERENCE = {
    ("gatewayd/webhooks/subscribers/missed_events.py", "_SELECT_MISSED"): [
        "o"
    ],  # deliveries of the organization's events
    ("gatewayd/webhooks/queue/delivery_queue.py", "_SELECT_DUE"): [
        "e"
    ],  # the event of one of the organization's deliveries
    ("gatewayd/webhooks/queue/delivery_queue.py", "_CANCEL"): [
        "deliveries"
    ],  # by ids that were read for the organization
}
"""Tables that are reached from one that is bound, along a reference that never leaves its organization."""

TABLES = {
    "a": {"id", "org_id", "b_id"},
    "b": {"id", "org_id"},
    "free": {"id"},
}


def goes_beyond(constant: Constant) -> bool:
    return constant.name.endswith("_ANY_ORG") or constant.name in ANY_ORGANIZATION.get(constant.module, ())


def fault(constant: Constant, columns: dict[str, set[str]]) -> str | None:
    found = unbound(parsed(constant), columns)
    if goes_beyond(constant):
        return None if found else f"{constant.where} is bound: it is no exception"
    if found == BY_REFERENCE.get((constant.module, constant.name), []):
        return None
    return f"{constant.where} is not bound in {found}: {constant.sql}"


def test_statements_are_bound_to_their_organization(columns: dict[str, set[str]]) -> None:
    assert [found for constant in CONSTANTS if (found := fault(constant, columns)) is not None] == []


def test_the_exceptions_are_still_there() -> None:
    named = {(constant.module, constant.name) for constant in CONSTANTS}
    assert {(m, n) for m, names in ANY_ORGANIZATION.items() for n in names} - named == set()
    assert BY_REFERENCE.keys() - named == set()


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT id FROM a WHERE org_id = :org_id", []),
        ("SELECT id FROM a WHERE :org_id = a.org_id AND id = :id", []),
        ("SELECT id FROM a WHERE id = :id", ["a"]),
        ("SELECT id, :org_id FROM a", ["a"]),
        ("SELECT id FROM a WHERE org_id = :org_id OR id = :id", ["a"]),
        ("SELECT id FROM a WHERE org_id = :other", ["a"]),
        ("SELECT id FROM a WHERE NOT org_id = :org_id", ["a"]),
        ("SELECT id FROM free WHERE id = :id", []),
        ("SELECT a.id FROM a JOIN b ON b.id = a.b_id WHERE a.org_id = :org_id", ["b"]),
        ("SELECT a.id FROM a JOIN b ON b.id = a.b_id AND b.org_id = a.org_id WHERE a.org_id = :org_id", []),
        ("SELECT a.id FROM a JOIN b ON b.id = a.b_id AND b.org_id = a.org_id WHERE b.org_id = :org_id", []),
        ("SELECT a.id FROM a JOIN b ON b.id = a.b_id AND b.org_id = a.org_id", ["a", "b"]),
        ("SELECT x.id FROM a x LEFT JOIN b y ON y.org_id = x.org_id WHERE x.org_id = :org_id", []),
        ("SELECT x.id FROM a x LEFT JOIN b y ON y.org_id = x.org_id AND x.org_id = :org_id", ["x", "y"]),
        ("SELECT x.id FROM a x, a y WHERE org_id = :org_id", ["x", "y"]),
        ("SELECT id FROM a WHERE org_id = :org_id AND b_id IN (SELECT id FROM b)", ["b"]),
        ("SELECT id FROM a WHERE org_id = :org_id AND EXISTS (SELECT 1 FROM b WHERE b.org_id = a.org_id)", []),
        ("SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE org_id = :org_id)", ["a"]),
        ("WITH mine AS (SELECT id FROM a WHERE org_id = :org_id) SELECT id FROM mine", []),
        ("WITH all_of_them AS (SELECT id FROM a) SELECT id FROM all_of_them", ["a"]),
        ("SELECT id FROM a WHERE org_id = :org_id UNION ALL SELECT id FROM b", ["b"]),
        ("UPDATE a SET b_id = :b WHERE id = :id AND org_id = :org_id", []),
        ("UPDATE a SET org_id = :org_id WHERE id = :id", ["a"]),
        ("DELETE FROM a WHERE id = :id", ["a"]),
        ("INSERT INTO a (id, org_id) VALUES (:id, :org_id)", []),
        ("INSERT INTO a (id, org_id) VALUES (:org_id, :id)", ["a"]),
        ("INSERT INTO a (id, org_id) SELECT id, org_id FROM b WHERE org_id = :org_id", []),
        ("INSERT INTO a (id, org_id) SELECT id, :org_id FROM b", ["b"]),
        ("INSERT INTO a (id, org_id) VALUES (:id, :org_id) ON CONFLICT (id) DO UPDATE SET b_id = 1", ["a"]),
        ("INSERT INTO a (id, org_id) VALUES (:id, :org_id) ON CONFLICT (org_id, id) DO UPDATE SET b_id = 1", []),
        (
            "INSERT INTO a (id, org_id) VALUES (:id, :org_id) ON CONFLICT (id) DO UPDATE SET b_id = 1"
            " WHERE a.org_id = :org_id",
            [],
        ),
    ],
)
def test_a_table_that_is_not_bound_is_seen(sql: str, found: list[str]) -> None:
    assert unbound(sqlglot.parse_one(sql, dialect="sqlite"), TABLES) == found
