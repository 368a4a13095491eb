"""What a connection stands for: until when, for which services, and who made it."""

import json
from typing import Any

import pytest

from gatewayd.areas.legal_entities import operations as legal_entities
from gatewayd.areas.legal_entities import rows
from gatewayd.areas.legal_entities.rows import TaxStanding
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity, GetLegalEntity
from gatewayd.clock import DAY, SECOND, Instant, SettableClock, from_wire
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.store import WriteTx
from gatewayd.store.sqlite import connections as writers
from gatewayd.store.sqlite import schema
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import EXPIRY_MAX, Connection, Standing, Tokens
from tests.support.store import START, MemoryStore, make_caller

BEFORE = 19
"""The last migration that knows one grant of an organization."""


@pytest.fixture
def org_id(store: MemoryStore) -> str:
    return store.org()


def save(store: MemoryStore, org_id: str, tokens: Tokens, actor: str = "usr_ann") -> Standing:
    store.write(lambda tx: connections.save(tx, tokens, actor), org_id)
    found = store.read(connections.standing, org_id)
    assert found is not None
    return found


def tokens(scope: str = "read:vat", refresh: str | None = "r", expires_in: int | None = 14_400) -> Tokens:
    return Tokens("a", refresh, scope, expires_in)


def lines(store: MemoryStore, org_id: str) -> list[tuple[str, str, str, audit.Detail]]:
    entries = store.read(audit.list_entries, org_id)
    return [(each.actor, each.action, each.subject, each.detail) for each in reversed(entries)]


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-20T09:30:00.125Z", "2028-05-20T09:30:00.125Z"),
        ("2026-08-31T23:59:59Z", "2028-02-29T23:59:59Z"),
        ("2026-12-31T00:00:00Z", "2028-06-30T00:00:00Z"),
    ],
)
def test_a_grant_lasts_eighteen_months(database_image: bytes, now: str, until: str) -> None:
    store = MemoryStore(database_image, SettableClock(from_wire(now)))
    assert save(store, store.org(), tokens()).granted.expires_at == from_wire(until)
    store.close()


@pytest.mark.parametrize(
    ("refresh", "expires_in", "seconds"),
    [(None, 3600, 3600), (None, 0, 0), (None, -5, 0), (None, 10**30, None), (None, None, None), ("r", 3600, None)],
)
def test_what_nothing_renews_ends_with_its_token(
    store: MemoryStore, org_id: str, refresh: str | None, expires_in: int | None, seconds: int | None
) -> None:
    granted = save(store, org_id, tokens(refresh=refresh, expires_in=expires_in)).granted
    until = from_wire("2028-05-20T09:30:00Z") if seconds is None else START + seconds * SECOND
    assert granted.expires_at == until
    kept = store.read(connections.find, org_id)
    assert kept is not None
    assert kept.expires_at is None or START <= kept.expires_at <= START + EXPIRY_MAX


@pytest.mark.parametrize(
    ("scope", "services"),
    [
        ("", (True, True)),
        ("read:vat", (True, False)),
        ("write:vat hello", (True, False)),
        ("read:self-assessment", (False, True)),
        ("write:self-assessment read:vat", (True, True)),
        ("hello", (False, False)),
    ],
)
def test_a_scope_says_which_services(store: MemoryStore, org_id: str, scope: str, services: tuple[bool, bool]) -> None:
    granted = save(store, org_id, tokens(scope)).granted
    assert (granted.vat, granted.itsa) == services


def test_connecting_again_begins_anew(store: MemoryStore, org_id: str) -> None:
    save(store, org_id, tokens(), "usr_ann")
    store.clock.advance(100 * DAY)
    found = save(store, org_id, tokens(), "usr_bob")
    assert (found.by, found.since) == ("usr_bob", START + 100 * DAY)
    assert found.granted.expires_at == from_wire("2028-08-28T09:30:00Z")


def test_refreshing_changes_nothing_of_the_grant(store: MemoryStore, org_id: str) -> None:
    before = save(store, org_id, tokens("read:vat read:self-assessment"))
    first = store.read(connections.find, org_id)
    assert first is not None
    store.clock.advance(DAY)
    assert store.write(lambda tx: connections.replace(tx, tokens(""), first.generation), org_id)
    assert store.read(connections.standing, org_id) == before
    kept = store.read(connections.find, org_id)
    assert kept is not None
    assert kept.scope == "read:vat read:self-assessment"  # RFC 6749 §5.1
    assert len(lines(store, org_id)) == 1


def test_a_refresh_of_what_was_removed_replaces_nothing_that_came_after(store: MemoryStore, org_id: str) -> None:
    save(store, org_id, tokens())
    first = store.read(connections.find, org_id)
    assert first is not None
    store.write(lambda tx: connections.remove(tx, audit.OPERATOR), org_id)
    store.clock.advance(1)
    save(store, org_id, tokens("read:vat"))
    assert not store.write(lambda tx: connections.replace(tx, tokens("late"), first.generation), org_id)
    kept = store.read(connections.find, org_id)
    assert kept is not None
    assert kept.scope == "read:vat"


def test_each_step_leaves_one_line_and_the_entities_follow(store: MemoryStore, org_id: str) -> None:
    other = store.org()
    made = {each: store.write(_entity, each) for each in (org_id, other)}
    save(store, org_id, tokens(), "usr_ann")
    connected = _shown(store, org_id, made)["taxConnection"]
    assert connected == {"vat": True, "itsa": False, "expiresAt": "2028-05-20T09:30:00.000Z"}
    store.write(lambda tx: connections.remove(tx, audit.OPERATOR), org_id)
    assert _shown(store, org_id, made)["taxConnection"] == {"vat": False, "itsa": False, "expiresAt": None}
    assert lines(store, org_id) == [
        ("usr_ann", "tax.connected", org_id, {"scope": "read:vat"}),
        ("operator", "tax.disconnected", org_id, {}),
    ]
    assert lines(store, other) == []
    assert _shown(store, other, made)["version"] == 1


def test_what_is_not_connected_is_not_disconnected(store: MemoryStore, org_id: str) -> None:
    with pytest.raises(Problem) as caught:
        store.write(lambda tx: connections.remove(tx, "usr_ann"), org_id)
    assert caught.value.code == "tax_not_connected"
    assert lines(store, org_id) == []
    assert store.read(connections.standing, org_id) is None


def test_what_fails_leaves_nothing_of_it(store: MemoryStore, org_id: str) -> None:
    """Tokens, entities and the line stand or fall together."""

    def work(tx: WriteTx) -> None:
        connections.save(tx, tokens(), "usr_ann")
        raise Problem("internal_error", "the disk is full")

    with pytest.raises(Problem):
        store.write(work, org_id)
    assert store.read(connections.find, org_id) is None
    assert store.read(rows.tax_standing, org_id) is None
    assert lines(store, org_id) == []


def test_who_was_connected_before_the_migration_is_connected_as_a_whole_after(store: MemoryStore, org_id: str) -> None:
    sealed = [
        store.write(lambda tx, c=column: tx.seal(f"planted-{c}", f"tax_connections.{c}:{org_id}"), org_id)
        for column in ("access", "refresh")
    ]
    old = writers.open_writer(writers.MEMORY, 0)
    schema.migrate(old, schema.packaged()[:BEFORE], START)
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (org_id,))
    values = (org_id, *sealed, "read:vat", START, 7, "usr_ann", START, START)
    old.execute(f"INSERT INTO tax_connections VALUES ({', '.join('?' * len(values))})", values)
    old.execute("INSERT INTO tax_standings VALUES (?, 1, 0, ?)", (org_id, START + DAY))
    schema.migrate(old, schema.packaged(), START)
    after = MemoryStore(old.serialize("main"))
    old.close()
    kept = after.read(connections.find, org_id)
    assert kept == Connection(None, "planted-access", "planted-refresh", "read:vat", START, 7)
    standing = after.read(connections.standing, org_id)
    assert standing == Standing(None, None, "usr_ann", START, TaxStanding(True, False, Instant(START + DAY)))
    after.close()


def _entity(tx: WriteTx) -> str:
    request = CreateLegalEntity(name="Oak", type="sole_trader")
    return legal_entities.create_legal_entity(tx, make_caller(tx.org_id), request).id


def _shown(store: MemoryStore, org_id: str, made: dict[str, str]) -> Any:
    request = GetLegalEntity(id=made[org_id])
    wire = store.read(lambda tx: legal_entities.get_legal_entity(tx, make_caller(org_id), request), org_id)
    return json.loads(wire)
