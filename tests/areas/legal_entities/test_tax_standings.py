"""What the tax authority grants stands in every entity of the organization, and only there."""

from typing import Any

import pytest

from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES, RENDERED_AT_ONCE, TaxStanding, change_tax_standing
from gatewayd.clock import SECOND, Instant, from_wire, to_wire
from gatewayd.store.sqlite import connections, schema
from tests.areas.legal_entities.entities import COMPANY, NINO, PERSON, Firm
from tests.support.store import START, MemoryStore

NOT_CONNECTED = {"vat": False, "itsa": False, "expiresAt": None}
BOTH = TaxStanding(vat=True, itsa=True, expires_at=from_wire("2028-05-20T09:30:00Z"))
SHOWN = {"vat": True, "itsa": True, "expiresAt": "2028-05-20T09:30:00.000Z"}
BEFORE = 11
"""The last migration that knows nothing of standings."""


def change(firm: Firm, standing: TaxStanding | None) -> None:
    firm.store.write(lambda tx: change_tax_standing(tx, standing), firm.org_id)


def test_every_entity_says_it_and_has_changed(firm: Firm) -> None:
    other = Firm(firm.store)
    theirs = other.create(**PERSON)
    first, second = firm.create(**COMPANY), firm.create(**PERSON, nino=NINO, utr="1955839661")
    firm.store.clock.advance(SECOND)
    change(firm, BOTH)
    for before in (first, second):
        after = firm.get(before["id"])
        changed = {"taxConnection": SHOWN, "version": 2, "updatedAt": to_wire(Instant(START + SECOND))}
        assert after == {**before, **changed}
    assert other.get(theirs["id"]) == theirs
    listed = firm.page(updatedSince=to_wire(Instant(START + 1)))["data"]
    assert [each["taxConnection"] for each in listed] == [SHOWN, SHOWN]


def test_an_entity_that_is_made_or_changed_later_says_it_too(firm: Firm) -> None:
    assert firm.create(**COMPANY)["taxConnection"] == NOT_CONNECTED
    change(firm, BOTH)
    made = firm.create(**PERSON)
    assert (made["taxConnection"], made["version"]) == (SHOWN, 1)
    assert firm.update(made["id"], name="Elm")["taxConnection"] == SHOWN
    change(firm, None)
    assert firm.get(made["id"])["taxConnection"] == NOT_CONNECTED
    assert firm.create(**PERSON)["taxConnection"] == NOT_CONNECTED


@pytest.mark.parametrize("standing", [None, BOTH])
def test_what_does_not_change_is_no_change(firm: Firm, standing: TaxStanding | None) -> None:
    made = firm.create(**COMPANY)
    change(firm, standing)
    version = firm.get(made["id"])["version"]
    change(firm, standing)
    assert firm.get(made["id"])["version"] == version == (1 if standing is None else 2)


def test_one_service_alone(firm: Firm) -> None:
    made = firm.create(**COMPANY)
    change(firm, BOTH._replace(itsa=False))
    assert firm.get(made["id"])["taxConnection"] == {**SHOWN, "itsa": False}
    change(firm, BOTH._replace(vat=False))
    assert firm.get(made["id"])["taxConnection"] == {**SHOWN, "vat": False}


@pytest.mark.parametrize("more", [0, 1])
def test_however_many_there_are(firm: Firm, more: int) -> None:
    ids = [firm.create(**PERSON)["id"] for _ in range(RENDERED_AT_ONCE + more)]
    change(firm, BOTH)
    assert all(firm.get(each)["taxConnection"] == SHOWN for each in (ids[0], ids[RENDERED_AT_ONCE - 1], ids[-1]))
    assert {firm.get(each)["version"] for each in ids} == {2}


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        ("", {"vat": True, "itsa": True}),
        ("read:vat", {"vat": True, "itsa": False}),
        ("hello write:vat", {"vat": True, "itsa": False}),
        ("read:self-assessment read:vatx", {"vat": False, "itsa": True}),
        ("write:self-assessment read:vat", {"vat": True, "itsa": True}),
    ],
)
def test_who_was_connected_before_the_migration_says_it_after(
    store: MemoryStore, scope: str, shown: dict[str, Any]
) -> None:
    """The stored form is the one that the columns give."""
    firm = Firm(store)
    made = firm.create(**{**COMPANY, "name": '"taxConnection":{"vat":false,"itsa":false,"expiresAt":null}'})
    old = connections.open_writer(connections.MEMORY, 0)
    schema.migrate(old, schema.packaged()[:BEFORE], START)
    columns = [row[1] for row in old.execute("PRAGMA table_info(legal_entities)")]
    (row,) = store.connection.execute("SELECT * FROM legal_entities")  # columns have been renamed and added since
    old.execute("INSERT INTO organizations (id, name, created_at) VALUES (?, 'Oak', 0)", (firm.org_id,))
    # What is served has grown too: one of today's members was not there then.
    then = [v.replace(b'"incorporationDate":null,', b"") if isinstance(v, bytes) else v for v in row]
    old.execute(f"INSERT INTO legal_entities VALUES ({', '.join('?' * len(columns))})", then[: len(columns)])
    old.execute(
        "INSERT INTO tax_connections VALUES (?, x'00', NULL, ?, NULL, 1, 'operator', ?, ?)",
        (firm.org_id, scope, START + 125_000, START),
    )
    schema.migrate(old, schema.packaged(), START)
    firm.store = MemoryStore(old.serialize("main"))
    old.close()
    found = firm.get(made["id"])
    assert found == {**made, "taxConnection": {**shown, "expiresAt": "2028-05-20T09:30:00.000Z"}}
    assert firm.store.read(lambda tx: LEGAL_ENTITIES.stale(tx, "", 500), firm.org_id) == [(made["id"], False)]
    firm.store.close()
