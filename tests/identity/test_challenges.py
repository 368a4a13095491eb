"""A challenge is answered once, for what it was given and soon, whichever daemons gave it and are asked."""

import pytest

from gatewayd.clock import Instant, SettableClock
from gatewayd.identity.sign_in import challenges
from gatewayd.identity.sign_in.challenges import LIFE, SIGN_IN, SKEW, SWEEP_ROWS, PasskeyError
from tests.support.postgres import Server
from tests.support.several_daemons import several_daemons
from tests.support.store import START, MemoryStore


def given(store: MemoryStore, purpose: str = SIGN_IN) -> bytes:
    return store.read(lambda tx: challenges.give(tx, purpose))


def use(store: MemoryStore, challenge: bytes, purpose: str = SIGN_IN) -> None:
    store.write(lambda tx: challenges.use(tx, challenge, purpose))


def kept(store: MemoryStore) -> int:
    return int(store.read(lambda tx: tx.value("SELECT count(*) FROM used_challenges")))


def test_it_is_used_once(store: MemoryStore) -> None:
    first, second = given(store), given(store)
    use(store, first)
    with pytest.raises(PasskeyError, match="answered before"):
        use(store, first)
    use(store, second)


@pytest.mark.parametrize("purpose", ["register usr_2", SIGN_IN, ""])
def test_it_is_for_one_purpose_of_one_person(store: MemoryStore, purpose: str) -> None:
    challenge = given(store, challenges.registration_of("usr_1"))
    with pytest.raises(PasskeyError, match="given out for this"):
        use(store, challenge, purpose)
    use(store, challenge, challenges.registration_of("usr_1"))  # what was refused has used nothing up


def test_what_was_not_given_here_is_none(store: MemoryStore) -> None:
    challenge = given(store)
    other = MemoryStore(store.connection.serialize("main"), key=bytes(32)) if hasattr(store, "_writer") else None
    made = [b"", b"x" * 56, challenge[:-1], challenge + b"x", bytes([challenge[0] ^ 1]) + challenge[1:]]
    made += [challenge[:23] + bytes([challenge[23] ^ 1]) + challenge[24:]]  # given later
    made += [given(other)] if other is not None else []
    for each in made:
        with pytest.raises(PasskeyError, match="given out for this"):
            use(store, each)
    assert kept(store) == 0


def test_it_is_used_soon(store: MemoryStore) -> None:
    early, late = given(store), given(store)
    store.clock.advance(LIFE)
    use(store, early)
    store.clock.advance(1)
    with pytest.raises(PasskeyError, match="too long ago"):
        use(store, late)


def test_to_give_one_stores_nothing_and_what_is_used_is_forgotten_in_time(store: MemoryStore) -> None:
    """Not while another daemon, whose clock is behind, would take it."""
    for _ in range(SWEEP_ROWS + 1):
        given(store)
    assert kept(store) == 0
    for _ in range(SWEEP_ROWS + 1):
        use(store, given(store))
    store.clock.advance(LIFE + SKEW)
    assert store.write(challenges.sweep) == 0
    store.clock.advance(1)
    assert [store.write(challenges.sweep) for _ in range(3)] == [SWEEP_ROWS, 1, 0]


def test_of_two_daemons_that_are_given_the_same_answer_at_once_one_takes_it(postgresql: Server) -> None:
    """Each answer comes to both, whose clocks are five seconds apart; every second was given by the other."""
    clocks = SettableClock(START), SettableClock(Instant(START + 5_000_000))
    with several_daemons(postgresql, clocks=clocks) as daemons:
        asked = [daemons.write(lambda tx: challenges.give(tx, SIGN_IN), by=number % 2) for number in range(40)]
        works = [
            (lambda tx, challenge=challenge: challenges.use(tx, challenge, SIGN_IN))  # type: ignore[misc]
            for challenge in asked
        ]
        done = daemons.at_once(works, works[::-1])
    assert done.count(None) == 40
    assert sum(isinstance(each, PasskeyError) for each in done) == 40
    assert all((a is None) != (b is None) for a, b in zip(done[:40], done[:39:-1], strict=True))
