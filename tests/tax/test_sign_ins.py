"""A sign-in at the authority counts once, for the session that began it and soon, at whichever daemon it comes back."""

import pytest

from gatewayd.clock import Instant
from gatewayd.store import WriteTx
from gatewayd.tax.connections import sign_ins
from gatewayd.tax.connections.sign_ins import LIFE, PER_SESSION_MAX, SKEW, Connecting
from tests.support.postgres import Server
from tests.support.several_daemons import several_daemons
from tests.support.store import START, MemoryStore


def begun(store: MemoryStore, connecting: Connecting, session_id: str = "ses_1") -> str:
    return store.write(lambda tx: sign_ins.begin(tx, session_id, connecting))


def ended(store: MemoryStore, state: str, session_id: str = "ses_1") -> Connecting | None:
    return store.write(lambda tx: sign_ins.end(tx, state, session_id))


def kept(store: MemoryStore) -> int:
    return int(store.read(lambda tx: tx.value("SELECT count(*) FROM authority_sign_ins")))


@pytest.mark.parametrize("connecting", [Connecting("org_1"), Connecting("org_2", "le_1", Instant(START - 1))])
def test_what_was_begun_comes_back_once(store: MemoryStore, connecting: Connecting) -> None:
    state = begun(store, connecting)
    assert ended(store, state, "ses_2") is None
    assert ended(store, f"{state}x") is None
    assert ended(store, state) == connecting
    assert ended(store, state) is None
    assert kept(store) == 0


def test_after_ten_minutes_it_is_too_late(store: MemoryStore) -> None:
    early, late = (begun(store, Connecting("org_1")) for _ in range(2))
    store.clock.advance(LIFE)
    assert ended(store, early) == Connecting("org_1")
    store.clock.advance(1)
    assert ended(store, late) is None


def test_of_very_many_of_one_session_the_oldest_are_forgotten_and_nobody_elses(store: MemoryStore) -> None:
    other = begun(store, Connecting("org_9"), "ses_9")
    states = []
    for number in range(PER_SESSION_MAX + 2):
        store.clock.advance(1)
        states.append(begun(store, Connecting(f"org_{number}")))
    assert [ended(store, state) is None for state in states] == [True, True, *[False] * PER_SESSION_MAX]
    assert ended(store, other, "ses_9") == Connecting("org_9")


def test_what_nobody_came_back_from_is_swept(store: MemoryStore) -> None:
    begun(store, Connecting("org_1"))
    store.clock.advance(LIFE + SKEW)
    assert store.write(sign_ins.sweep) == 0
    store.clock.advance(1)
    assert (store.write(sign_ins.sweep), kept(store)) == (1, 0)


def test_of_two_daemons_that_it_comes_back_to_at_once_one_takes_it(postgresql: Server) -> None:
    with several_daemons(postgresql) as daemons:

        def begin(tx: WriteTx) -> str:
            return sign_ins.begin(tx, "ses_1", Connecting("org_1"))

        states = [str(daemons.write(begin, by=number % 2)) for number in range(PER_SESSION_MAX)]
        works = [(lambda tx, state=state: sign_ins.end(tx, state, "ses_1")) for state in states]  # type: ignore[misc]
        done = daemons.at_once(works, works)
    assert all({a, b} == {Connecting("org_1"), None} for a, b in zip(done[:10], done[10:], strict=True))
