"""Idle connections: which one is handed out, and which are closed when."""

import pytest

from gatewayd.webhooks.sender import LIFE_SECONDS, ConnectionPool


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
def pool() -> ConnectionPool[FakeConnection]:
    return ConnectionPool(per_key=2, total=3)


def test_the_most_recently_used_comes_first(pool: ConnectionPool[FakeConnection]) -> None:
    first, second = FakeConnection(), FakeConnection()
    pool.put(A, first, 0)
    pool.put(A, second, 0)
    assert pool.take(B, 1) is None
    assert [pool.take(A, 1), pool.take(A, 1), pool.take(A, 1)] == [second, first, None]
    assert (first.closed, second.closed, len(pool)) == (0, 0, 0)


def test_dead_and_stale_ones_are_closed_on_the_way(pool: ConnectionPool[FakeConnection]) -> None:
    stale, dead = FakeConnection(idle_until=5), FakeConnection()
    pool.put(A, stale, 0)
    pool.put(A, dead, 0)
    dead.living = False
    assert pool.take(A, 6) is None
    assert (stale.closed, dead.closed, len(pool)) == (1, 1, 0)


def test_bounds_close_the_oldest(pool: ConnectionPool[FakeConnection]) -> None:
    a = [FakeConnection() for _ in range(3)]
    b = [FakeConnection() for _ in range(2)]
    for one in a:
        pool.put(A, one, 0)
    assert [one.closed for one in a] == [1, 0, 0]
    for one in b:
        pool.put(B, one, 0)
    assert [one.closed for one in a] == [1, 1, 0]
    assert [one.closed for one in b] == [0, 0]
    assert len(pool) == 3


def test_no_connection_outlives_its_life(pool: ConnectionPool[FakeConnection]) -> None:
    young, old = FakeConnection(idle_until=LIFE_SECONDS + 9), FakeConnection(idle_until=LIFE_SECONDS + 9)
    pool.put(A, young, LIFE_SECONDS - 1)
    assert young.idle_until == LIFE_SECONDS
    pool.put(A, old, LIFE_SECONDS)
    assert (young.closed, old.closed, len(pool)) == (0, 1, 1)


def test_sweep_drop_and_close(pool: ConnectionPool[FakeConnection]) -> None:
    soon, later, other = FakeConnection(idle_until=5), FakeConnection(idle_until=9), FakeConnection()
    pool.put(A, soon, 0)
    pool.put(A, later, 0)
    pool.put(B, other, 0)
    pool.sweep(5)
    assert (soon.closed, later.closed, other.closed, len(pool)) == (1, 0, 0, 2)
    pool.drop("sub_a")
    assert (later.closed, other.closed, len(pool)) == (1, 0, 1)
    pool.close()
    assert (other.closed, len(pool)) == (1, 0)
    late = FakeConnection()
    pool.put(A, late, 0)
    assert (late.closed, len(pool)) == (1, 0)


def test_what_was_opened_before_a_renewal_is_not_kept(pool: ConnectionPool[FakeConnection]) -> None:
    idle, busy, later = FakeConnection(), FakeConnection(), FakeConnection(born=5.0)
    pool.put(A, idle, 0)
    pool.renew(5.0)
    assert (idle.closed, len(pool)) == (1, 0)
    pool.put(A, busy, 6.0)
    pool.put(A, later, 6.0)
    assert (busy.closed, later.closed, len(pool)) == (1, 0, 1)
