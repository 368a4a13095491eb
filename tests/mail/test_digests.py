"""Deadlines and the like by mail: noted with their event, gathered, told once a day to who leads and wants it."""

from collections.abc import Iterator
from functools import partial

import pytest

from gatewayd import events
from gatewayd.areas.landlord import reminders
from gatewayd.clock import DAY, HOUR, from_wire
from gatewayd.following import reactions
from gatewayd.identity.people import memberships, suspensions
from gatewayd.ledger.obligations import obligations
from gatewayd.mail import digests, outbox
from gatewayd.mail.digests import Note
from gatewayd.mail.letters import Letter
from gatewayd.mail.notices import Mailing
from gatewayd.store import ReadTx, WriteTx
from tests.areas.landlord.test_dashboard import Estate
from tests.areas.periods.desk import Desk
from tests.support.store import MemoryStore

MAILING = Mailing("https://books.example")
LOW = {"plan_id": "plan_01kaqg4b00a1b2c3d4e5f6g7h8", "balance": "18.5", "included_credits": "200"}


@pytest.fixture
def store(database_image: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    """Whose changes are told by mail."""
    for module in ("store", "postgres_store"):  # whichever the suite runs on
        monkeypatch.setattr(f"tests.support.{module}.reactions", partial(reactions, MAILING))
    store = MemoryStore(database_image)
    yield store
    store.close()


def letters(tx: ReadTx) -> list[tuple[str, Letter]]:
    found = []
    for id_, recipient, sealed in tx.rows("SELECT id, recipient, letter_sealed FROM mails ORDER BY id"):
        letter = outbox.open_letter(tx, id_, sealed)
        assert letter is not None
        found.append((recipient, letter))
    return found


def send(store: MemoryStore) -> list[tuple[str, Letter]]:
    """What is mailed now, as the daemon does it."""
    before = len(store.read(letters))
    while (org_id := store.read(digests.organization_due)) is not None:
        store.write(lambda tx: digests.send(tx, MAILING), org_id)
    return store.read(letters)[before:]


def low(store: MemoryStore, org_id: str) -> None:
    store.write(lambda tx: events.append(tx, "credits.low", LOW), org_id)


def tell(store: MemoryStore) -> None:
    while not store.read(lambda tx: obligations.is_silent(tx, 14)):
        store.write(lambda tx: obligations.tell_some(tx, 14))
    while not store.read(reminders.is_silent):
        store.write(reminders.tell_some)


def test_leaders_are_told_once_a_day_what_came(store: MemoryStore) -> None:
    org = store.org("Oak & Son")
    store.user(org, "owner", "ann@example.com")
    store.user(org, "admin", "ben@example.com")
    store.user(org, "member", "eve@example.com")
    store.user(store.org(), "owner", "else@example.com")
    assert send(store) == []
    low(store, org)
    told = send(store)
    assert [to for to, _ in told] == ["ann@example.com", "ben@example.com"]
    assert told[0][1].subject == "Oak & Son: Credits"
    assert told[0][1].facts == (("Credits", "18.5 are left; the plan includes 200 a month"),)
    for _ in range(45):
        low(store, org)
    assert send(store) == []  # not twice on a day
    store.clock.advance(DAY)
    told = send(store)
    assert len(told) == 2
    assert told[0][1].subject == "Oak & Son: 45 things to look at"
    assert len(told[0][1].facts) == digests.LISTED
    assert told[0][1].after == ("And 5 more.",)
    store.clock.advance(DAY)
    assert send(store) == []


def test_what_midnight_brings_is_told_in_the_morning(store: MemoryStore) -> None:
    org = store.org()
    store.user(org)
    store.clock.advance(from_wire("2027-06-01T05:59:59Z") - store.now())  # 06:59:59 in London
    low(store, org)
    assert send(store) == []
    store.clock.advance(1_000_000)
    assert len(send(store)) == 1


def test_what_is_rolled_back_is_told_to_nobody(store: MemoryStore) -> None:
    org = store.org()
    store.user(org)

    def fail(tx: WriteTx) -> None:
        events.append(tx, "credits.low", LOW)
        raise ValueError("rolled back")

    with pytest.raises(ValueError, match="rolled back"):
        store.write(fail, org)
    assert send(store) == []


def test_an_obligation_is_told_in_words(store: MemoryStore) -> None:
    desk = Desk(store)
    store.user(desk.org_id, "owner", "ann@example.com")
    desk.do("obligations.create", legalEntityId=desk.person, name="Insurance", dueDate="2026-12-01")
    tell(store)
    [(_, letter)] = send(store)
    assert any(name == "Insurance" and said.endswith(": is due on 1 Dec 2026") for name, said in letter.facts)
    store.clock.advance(12 * DAY)
    tell(store)
    [(_, letter)] = send(store)
    assert any(name == "Insurance" and said.endswith(": was due on 1 Dec 2026") for name, said in letter.facts)


def test_what_a_landlord_has_to_see_to_is_told_in_words(store: MemoryStore) -> None:
    estate = Estate(store)
    store.user(estate.org_id, "owner", "ann@example.com")
    house = estate.house()
    estate.post("createCertificate", propertyId=house, type="gas_safety", issuedDate="2025-12-20")
    tell(store)
    [(_, letter)] = send(store)
    [(name, said)] = [fact for fact in letter.facts if fact[0].startswith("Gas safety")]
    assert said == "expires on 20 Dec 2026"
    assert len(name) > len("Gas safety, ")


def test_who_wants_none_gets_none(store: MemoryStore) -> None:
    org = store.org()
    ann, ben = store.user(org, "owner", "ann@example.com"), store.user(org, "owner", "ben@example.com")
    low(store, org)
    [(_, letter), _] = send(store)
    token = letter.unsubscribe.removeprefix(f"{MAILING.issuer}{digests.UNSUBSCRIBE}/")
    assert store.read(lambda tx: digests.person_of(tx, token)) == ann
    assert store.read(lambda tx: digests.person_of(tx, "nobody's")) is None
    assert token.encode() not in store.stored()
    store.write(lambda tx: digests.choose(tx, ann, deadlines=False))
    waiting = store.read(lambda tx: [tuple(row) for row in tx.rows("SELECT recipient, status FROM mails ORDER BY id")])
    assert waiting == [("ann@example.com", "failed"), ("ben@example.com", "queued")]  # withdrawn
    store.clock.advance(DAY)
    low(store, org)
    sql = "SELECT recipient FROM mails WHERE status = 'queued' ORDER BY id"
    store.write(lambda tx: digests.send(tx, MAILING), org)
    assert [to for (to,) in store.read(lambda tx: [*tx.rows(sql)])] == ["ben@example.com", "ben@example.com"]
    store.write(lambda tx: digests.choose(tx, ann, deadlines=True))
    assert store.read(lambda tx: digests.wants_deadlines(tx, ann))
    assert store.read(lambda tx: digests.wants_deadlines(tx, ben))


def test_a_suspended_organization_is_told_nothing(store: MemoryStore) -> None:
    org = store.org()
    store.user(org)
    low(store, org)
    store.write(lambda tx: suspensions.suspend(tx, org, None, "operator"))
    assert send(store) == []
    assert store.read(lambda tx: tx.value("SELECT count(id) FROM deadline_notes WHERE org_id = :org_id"), org) == 0


def test_links_of_old_mails_end(store: MemoryStore) -> None:
    org = store.org()
    store.user(org)
    low(store, org)
    send(store)
    assert store.write(digests.sweep) == 0
    store.clock.advance(digests.LINK_KEPT + HOUR)
    assert store.write(digests.sweep) == 1


def test_without_mail_nothing_is_noted(database_image: bytes) -> None:
    store = MemoryStore(database_image)
    org = store.org()
    store.user(org)
    low(store, org)
    assert store.read(lambda tx: tx.value("SELECT count(id) FROM deadline_notes WHERE org_id = :org_id"), org) == 0
    store.close()


def test_what_is_noted_is_of_the_organization(store: MemoryStore) -> None:
    org, other = store.org(), store.org()
    store.user(other)
    assert store.read(memberships.list_members, org) == []
    store.write(lambda tx: digests.note(tx, Note("VAT return", "Oak: is due on 7 Dec 2026")), org)
    assert send(store) == []  # nobody leads it
