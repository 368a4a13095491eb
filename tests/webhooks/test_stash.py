"""Idle connections: which one is handed out, and which are closed when."""

import pytest

from gatewayd.webhooks.stash import LIFE_SECONDS, Stash


class FakeConnection:
    def __init__(self, *, born: float = 0, idle_until: float = 15) -> None:
        self.born = born
        self.idle_until = idle_until
        self.living = True
        self.closed = 0

    def alive(self) -> bool:
        return self.living

    def close(self) -> None:
        self.closed += 1


A, B = ("sub_a", "https://a/"), ("sub_b", "https://b/")


@pytest.fixture
def stash() -> Stash[FakeConnection]:
    return Stash(per_key=2, total=3)


def test_the_most_recently_used_comes_first(stash: Stash[FakeConnection]) -> None:
    first, second = FakeConnection(), FakeConnection()
    stash.put(A, first, 0)
    stash.put(A, second, 0)
    assert stash.take(B, 1) is None
    assert [stash.take(A, 1), stash.take(A, 1), stash.take(A, 1)] == [second, first, None]
    assert (first.closed, second.closed, len(stash)) == (0, 0, 0)


def test_dead_and_stale_ones_are_closed_on_the_way(stash: Stash[FakeConnection]) -> None:
    stale, dead = FakeConnection(idle_until=5), FakeConnection()
    stash.put(A, stale, 0)
    stash.put(A, dead, 0)
    dead.living = False
    assert stash.take(A, 6) is None
    assert (stale.closed, dead.closed, len(stash)) == (1, 1, 0)


def test_bounds_close_the_oldest(stash: Stash[FakeConnection]) -> None:
    a = [FakeConnection() for _ in range(3)]
    b = [FakeConnection() for _ in range(2)]
    for one in a:
        stash.put(A, one, 0)
    assert [one.closed for one in a] == [1, 0, 0]
    for one in b:
        stash.put(B, one, 0)
    assert [one.closed for one in a] == [1, 1, 0]
    assert [one.closed for one in b] == [0, 0]
    assert len(stash) == 3


def test_no_connection_outlives_its_life(stash: Stash[FakeConnection]) -> None:
    young, old = FakeConnection(idle_until=LIFE_SECONDS + 9), FakeConnection(idle_until=LIFE_SECONDS + 9)
    stash.put(A, young, LIFE_SECONDS - 1)
    assert young.idle_until == LIFE_SECONDS
    stash.put(A, old, LIFE_SECONDS)
    assert (young.closed, old.closed, len(stash)) == (0, 1, 1)


def test_sweep_drop_and_close(stash: Stash[FakeConnection]) -> None:
    soon, later, other = FakeConnection(idle_until=5), FakeConnection(idle_until=9), FakeConnection()
    stash.put(A, soon, 0)
    stash.put(A, later, 0)
    stash.put(B, other, 0)
    stash.sweep(5)
    assert (soon.closed, later.closed, other.closed, len(stash)) == (1, 0, 0, 2)
    stash.drop("sub_a")
    assert (later.closed, other.closed, len(stash)) == (1, 0, 1)
    stash.close()
    assert (other.closed, len(stash)) == (1, 0)
    late = FakeConnection()
    stash.put(A, late, 0)
    assert (late.closed, len(stash)) == (1, 0)
