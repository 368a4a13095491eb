"""Claims: turns, what an hour may have, leases, and what a clock that leaps does."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant
from gatewayd.identity.people import suspensions
from gatewayd.mail import claims, outbox
from gatewayd.mail.claims import Claimed, Ended, Room
from gatewayd.mail.outbox import Mail
from tests.mail.harness import mail_settings, new_mail
from tests.support.store import MemoryStore

HOLDER = "daemon-a:1"


@pytest.fixture
def store(database_image: bytes) -> Iterator[MemoryStore]:
    store = MemoryStore(database_image)
    yield store
    store.close()


def queue(store: MemoryStore, org_id: str | None, count: int = 1, **changes: Any) -> list[str]:
    mails = [new_mail(changes.pop("recipient", f"ann{n}@example.com"), org_id, **changes) for n in range(count)]
    return store.write(lambda tx: [outbox.queue(tx, mail) for mail in mails])


def claim(store: MemoryStore, free: int = 4, holder: str = HOLDER, after: str = "", **settings: Any) -> Claimed:
    room = Room(holder, free, {}, after)
    return store.write(lambda tx: claims.claim_due(tx, room, mail_settings(25, **settings), store.now()))


def end(store: MemoryStore, claimed: Claimed, outcome: Any = "sent", due_at: Instant | None = None) -> None:
    ended = [Ended(each, outcome, due_at, 250, None, 5) for each in claimed.claims]
    store.write(lambda tx: claims.record(tx, ended, HOLDER, store.now()))


def find(store: MemoryStore, id_: str) -> Mail:
    found = store.read(lambda tx: outbox.find(tx, id_))
    assert found is not None
    return found


def test_organizations_take_turns(store: MemoryStore) -> None:
    flooding, other = store.org(), store.org()
    queue(store, flooding, 20)
    [late] = queue(store, other)
    [own] = queue(store, None)
    claimed = claim(store)
    assert {each.mail_id for each in claimed.claims} >= {late, own}
    assert sum(each.org_id == flooding for each in claimed.claims) == 2


def test_one_organization_has_two_at_once(store: MemoryStore) -> None:
    ids = queue(store, store.org(), 5)
    claimed = claim(store)
    assert [each.mail_id for each in claimed.claims] == ids[:2]
    room = Room(HOLDER, 2, {each.mail_id: each.queue for each in claimed.claims})
    again = store.write(lambda tx: claims.claim_due(tx, room, mail_settings(25), store.now()))
    assert again.claims == []


def test_an_hour_has_so_many_of_an_organization(store: MemoryStore) -> None:
    org_id = store.org()
    queue(store, org_id, 3)
    end(store, claim(store, organization_per_hour=2))
    store.clock.advance(10 * MINUTE)
    waiting = claim(store, organization_per_hour=2)
    assert waiting.claims == []
    assert waiting.next_due == store.now() + 50 * MINUTE
    store.clock.advance(50 * MINUTE + 1)
    assert len(claim(store, organization_per_hour=2).claims) == 1


def test_an_hour_has_so_many_to_one_address_whoever_sends_them(store: MemoryStore) -> None:
    for org_id in (store.org(), store.org(), None):
        queue(store, org_id, recipient="Ann@example.com")
    first = claim(store, recipient_per_hour=1)
    assert len(first.claims) == 1
    end(store, first)
    [others] = queue(store, None, recipient="bob@example.com")
    assert [each.mail_id for each in claim(store, recipient_per_hour=1).claims] == [others]
    store.clock.advance(HOUR + SECOND)
    later = claim(store, recipient_per_hour=1).claims
    assert [each.recipient for each in later if each.mail_id != others] == ["Ann@example.com"]


def test_what_nobody_ended_is_due_again_when_its_lease_is_over(store: MemoryStore) -> None:
    [id_] = queue(store, store.org())
    claimed = claim(store)
    assert claim(store, holder="daemon-b:2").claims == []
    store.clock.advance(mail_settings(25).lease + 1)
    [again] = claim(store, holder="daemon-b:2").claims
    assert again.number == 2
    end(store, claimed)  # whoever slept writes nothing of it any more
    assert (find(store, id_).status, find(store, id_).attempts) == ("queued", 2)
    attempts = store.read(lambda tx: outbox.list_attempts(tx, id_))
    assert [(each.number, each.outcome, each.duration_ms) for each in attempts] == [(1, "interrupted", None)]


def test_a_start_takes_over_from_its_dead_predecessor_at_once(store: MemoryStore) -> None:
    mine, others = queue(store, store.org())[0], queue(store, store.org())[0]
    claim(store, free=1, holder="daemon-a:1")
    claim(store, free=1, holder="daemon-b:1")
    store.write(lambda tx: claims.release_former(tx, "daemon-a:2", store.now()))
    [again] = claim(store, holder="daemon-a:2").claims
    assert again.mail_id in (mine, others)
    assert again.number == 2


def test_a_mail_is_given_up_after_its_time(store: MemoryStore) -> None:
    [old] = queue(store, store.org())
    [dead] = queue(store, None, expires_at=Instant(store.now() + HOUR))
    end(store, claim(store), "retried", Instant(store.now() + 2 * HOUR))
    store.clock.advance(2 * HOUR)
    given_up = claim(store)
    assert given_up.given_up == [dead]
    assert find(store, dead).last_error == "What it says is over."
    end(store, given_up, "retried", Instant(store.now() + 2 * DAY))
    store.clock.advance(2 * DAY)
    assert claim(store).given_up == [old]
    assert find(store, old).last_error == "It was given up after 48 hours."
    assert find(store, old).status == "failed"


def test_mail_of_an_organization_that_is_suspended_waits(store: MemoryStore) -> None:
    org_id = store.org()
    queue(store, org_id)
    store.write(lambda tx: suspensions.suspend(tx, org_id, None, "operator"))
    assert claim(store).claims == []
    store.write(lambda tx: suspensions.resume(tx, org_id, "operator"))
    assert len(claim(store).claims) == 1


def test_a_clock_that_was_ahead_holds_no_mail_for_ever(store: MemoryStore) -> None:
    [id_] = queue(store, store.org())
    end(store, claim(store), "retried", Instant(store.now() + 400 * DAY))
    assert claim(store).claims == []
    assert [each.mail_id for each in claim(store).claims] == [id_]


def test_what_does_not_open_is_told_and_not_sent(store: MemoryStore) -> None:
    [id_] = queue(store, None)
    store.write(lambda tx: outbox.forget_letter(tx, id_))
    [claimed] = claim(store).claims
    assert claimed.letter is None
    assert claims.unopened(claimed).outcome == "failed"


def test_what_was_sent_is_gone_and_what_failed_can_be_sent_again(store: MemoryStore) -> None:
    [sent] = queue(store, None)
    end(store, claim(store))
    [failed] = queue(store, None)
    end(store, claim(store), "bounced")
    assert b"reset/4bT8" not in store.stored()
    assert not store.write(lambda tx: outbox.resend(tx, sent))
    assert store.write(lambda tx: outbox.resend(tx, failed))
    [again] = claim(store).claims
    assert again.letter is not None
    end(store, Claimed([again]), "bounced")
    store.clock.advance(DAY)
    assert store.write(lambda tx: outbox.forget_letters(tx, Instant(store.now()))) == 1
    assert not store.write(lambda tx: outbox.resend(tx, failed))
    assert store.write(lambda tx: outbox.sweep(tx, Instant(store.now()))) == 2
    assert store.read(lambda tx: outbox.list_all(tx, None, 10)) == []


def test_lists_are_of_one_organization_or_of_all(store: MemoryStore) -> None:
    org_id = store.org()
    [theirs], [own] = queue(store, org_id), queue(store, None)
    assert [each.id for each in store.read(lambda tx: outbox.list_all(tx, "queued", 10))] == [own, theirs]
    assert [each.id for each in store.read(lambda tx: outbox.list_of_organization(tx, None, 10), org_id)] == [theirs]
    assert store.read(lambda tx: outbox.list_of_organization(tx, "sent", 10), org_id) == []


# -- what did not reach a client is told

_TOLD = "SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY id"


def told(store: MemoryStore, org_id: str) -> list[tuple[str, dict[str, Any]]]:
    rows = store.read(lambda tx: tx.rows(_TOLD), org_id)
    return [(kind, msgspec.json.decode(data)) for kind, data in rows]


def test_a_bounce_of_a_paper_is_told_in_the_transaction_that_records_it(store: MemoryStore) -> None:
    org_id, other = store.org(), store.org("Other Ltd")
    [id_] = queue(store, org_id, kind="invoice", about="inv_1")
    [sent] = queue(store, org_id, kind="invoice", about="inv_2")
    queue(store, other, kind="invitation", about="inv_3")
    queue(store, None, kind="invoice", about="inv_4")
    claimed = claim(store)
    outcomes: Any = {sent: "sent"}
    ended = [
        Ended(each, outcomes.get(each.mail_id, "bounced"), None, 550, "No such user", 5) for each in claimed.claims
    ]
    assert len(ended) == 4

    def killed(tx: Any) -> None:
        claims.record(tx, ended, HOLDER, store.now())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(killed)
    assert told(store, org_id) == []
    for _ in range(2):  # what is recorded twice is told once
        store.write(lambda tx: claims.record(tx, ended, HOLDER, store.now()))
    data = {"mail_id": id_, "status": "bounced", "attempts": 1, "code": 550, "invoice_id": "inv_1", "reminder": False}
    assert told(store, org_id) == [("invoice.mail_failed", data)]
    assert told(store, other) == []


def test_what_is_tried_again_is_told_only_once_it_is_given_up(store: MemoryStore) -> None:
    org_id = store.org()
    queue(store, org_id, kind="quote", about="quo_1")
    queue(store, org_id, kind="invoice_reminder", about="inv_1", recipient="bob@example.com")
    end(store, claim(store), "retried", Instant(store.now() + HOUR))
    assert told(store, org_id) == []
    store.clock.advance(2 * DAY)
    claim(store)
    told_of = {kind: (data["status"], data["attempts"], data.get("reminder")) for kind, data in told(store, org_id)}
    assert told_of == {"quote.mail_failed": ("failed", 1, None), "invoice.mail_failed": ("failed", 1, True)}


def test_what_was_withdrawn_is_not_told(store: MemoryStore) -> None:
    org_id = store.org()
    queue(store, org_id, kind="invoice_reminder", about="inv_1")
    store.write(lambda tx: outbox.withdraw(tx, "invoice_reminder", org_id, about="inv_1"))
    claim(store)
    assert told(store, org_id) == []
