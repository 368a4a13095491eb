"""The audit log as it is read, and as it ends."""

from functools import partial
from typing import Any

import pytest

from gatewayd.clock import DAY, MINUTE, SECOND
from gatewayd.errors import Problem
from gatewayd.identity import audit, audit_search
from gatewayd.identity.audit import Act, Action, Retention
from gatewayd.identity.audit_search import NamedEntry, Sought
from tests.support.store import MemoryStore


class Log:
    """A log, and what is found in it."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org("Oak & Son")
        self.ann = store.user(self.org_id, email="ann@example.com")

    def add(self, action: Action, subject: str = "x", actor: str = "operator", org_id: str | None = None) -> None:
        act = Act(actor=actor, action=action, subject=subject, org_id=org_id)
        self.store.write(lambda tx: audit.record(tx, act))

    def find(self, limit: int = 100, **sought: Any) -> list[NamedEntry]:
        """Every entry, by pages of `limit`."""
        found: list[NamedEntry] = []
        before: str | None = None
        while True:
            page = self.store.read(partial(audit_search.find, sought=Sought(**sought), before=before, limit=limit))
            assert len(page.entries) <= limit
            found += page.entries
            if page.older is None:
                return found
            before = page.older

    def actions(self, limit: int = 100, **sought: Any) -> list[str]:
        return [entry.action for entry in self.find(limit, **sought)]


@pytest.fixture
def log(store: MemoryStore) -> Log:
    return Log(store)


def test_pages_hold_each_entry_once_newest_first(log: Log) -> None:
    for number in range(25):
        log.add("key.created" if number % 2 else "client.revoked", subject=str(number))
    whole = log.find(subject=None, action=None)
    for limit in (1, 4, 24, 1000):
        assert log.find(limit) == whole
        assert log.find(limit, action="key.") == [entry for entry in whole if entry.action.startswith("key.")]
        both = log.find(limit, action="")
        assert both == whole
    assert [entry.id for entry in whole] == sorted((entry.id for entry in whole), reverse=True)


def test_each_filter(log: Log) -> None:
    log.add("key.created", "key_1", log.ann, log.org_id)
    log.add("key.revoked", "key_1")
    log.add("grant.revoked", "grt_1", "nobody")
    org = log.actions(org_id=log.org_id)
    assert "key.created" in org
    assert {"key.revoked", "grant.revoked"}.isdisjoint(org)
    assert log.actions(actor=log.ann) == log.actions(actor=" ANN@example.com") == ["key.created"]
    assert log.actions(actor="nobody") == ["grant.revoked"]
    assert log.actions(subject="key_1") == ["key.revoked", "key.created"]
    log.add("user.disabled", log.ann)
    assert log.actions(subject="ann@example.com") == log.actions(subject=log.ann) == ["user.disabled"]
    assert log.actions(action="key.") == log.actions(action="key") == ["key.revoked", "key.created"]
    assert log.actions(action="key.revoked") == ["key.revoked"]
    assert log.actions(action="key.", actor=log.ann, subject="key_1", org_id=log.org_id) == ["key.created"]
    assert log.actions(actor="stranger@example.com") == []


def test_since_is_included_and_until_is_not(log: Log) -> None:
    log.store.clock.advance(DAY)
    first = log.store.now()
    log.add("key.created")
    log.store.clock.advance(SECOND)
    second = log.store.now()
    log.add("key.rotated")
    log.store.clock.advance(SECOND)
    log.add("key.revoked")
    assert log.actions(since=first, until=second) == ["key.created"]
    assert log.actions(since=second) == ["key.revoked", "key.rotated"]
    assert log.actions(since=first, until=log.store.now()) == ["key.rotated", "key.created"]


def test_an_action_that_there_is_not_is_refused_with_those_there_are(log: Log) -> None:
    with pytest.raises(Problem) as caught:
        log.find(action="users.")
    assert caught.value.code == "validation_failed"
    (error,) = caught.value.errors
    assert (error.path, "organization, user," in error.message) == ("action", True)


def test_ids_have_the_names_of_now(log: Log) -> None:
    log.add("user.disabled", log.ann, log.ann, log.org_id)
    log.add("client.revoked", "app_none", "operator")
    none, ann = log.find(2)[:2]
    assert (ann.actor_name, ann.subject_name, ann.org_name) == ("ann@example.com", "ann@example.com", "Oak & Son")
    assert (none.actor_name, none.subject_name, none.org_name) == (None, None, None)


def test_what_comes_later_is_found_from_where_one_was(log: Log) -> None:
    begin = log.store.read(audit_search.newest)
    log.add("key.created", actor=log.ann)
    log.add("client.revoked")
    log.add("key.revoked", org_id=log.org_id)

    def later(after: str, limit: int = 10, **sought: Any) -> tuple[list[str], str]:
        found, last = log.store.read(lambda tx: audit_search.find_later(tx, Sought(**sought), after, limit))
        return [entry.action for entry in found], last

    found, last = later(begin)
    assert found == ["key.created", "client.revoked", "key.revoked"]
    assert later(last) == ([], last)
    assert later(begin, action="key.")[0] == ["key.created", "key.revoked"]
    assert later(begin, actor="ann@example.com")[0] == ["key.created"]
    assert later(begin, org_id=log.org_id)[0] == ["key.revoked"]
    assert later(begin, subject="y")[0] == []
    step, place = later(begin, limit=1, action="client.")
    assert step == []
    assert later(place, limit=1, action="client.")[0] == ["client.revoked"]


def test_an_empty_log_has_no_newest(store: MemoryStore) -> None:
    assert store.read(audit_search.newest) == ""
    assert store.read(lambda tx: audit_search.find(tx, Sought(), None, 10)).entries == []


def test_sign_ins_end_sooner_than_what_was_done(log: Log) -> None:
    start = log.find()
    log.add("user.signed_in")
    log.add("network.sign_in_failed")
    retention = Retention(days=30, sign_in_days=10)
    log.store.clock.advance(10 * DAY)
    assert log.store.write(retention.sweep) == 0
    log.add("user.signed_out")
    log.store.clock.advance(MINUTE)
    assert log.store.write(retention.sweep) == 2
    assert log.actions() == ["user.signed_out", *[entry.action for entry in start]]
    log.store.clock.advance(20 * DAY)
    assert log.store.write(retention.sweep) == len(start) + 1
    assert log.actions() == []


def test_a_sweep_is_bounded(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "SWEEP_ROWS", 3)
    before = len(log.find())
    for _ in range(4):
        log.add("user.signed_in")
    log.store.clock.advance(20 * DAY)
    retention = Retention(days=10, sign_in_days=5)
    swept = [log.store.write(retention.sweep) for _ in range(4)]
    assert max(swept) == 3
    assert sum(swept) == before + 4


@pytest.mark.sqlite_only("PostgreSQL plans by statistics")
@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("org_id = :org", "audit_log_of_org"),
        ("actor = :actor", "audit_log_by_actor"),
        ("subject = :subject", "audit_log_by_subject"),
        ("action = :action", "audit_log_by_action"),
    ],
)
def test_each_filter_goes_by_an_index(store: MemoryStore, condition: str, index: str) -> None:
    sql = f"{audit_search._SELECT_ANY_ORG} AND {condition}{audit_search._ORDER}"
    plan = " ".join(store.read(lambda tx: [str(row[3]) for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", **_NAMES)]))
    assert index in plan
    assert "TEMP B-TREE" not in plan


_NAMES: dict[str, object] = dict.fromkeys(("before", "count", "org", "actor", "subject", "action"), "x") | {"count": 1}
