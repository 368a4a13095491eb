"""What listens to other daemons ends its session, whatever its thread is at."""

import contextlib
import threading

import psycopg
import pytest

from gatewayd.store import StoreFailure
from gatewayd.store.postgres.connections import Connection, open_connection
from gatewayd.store.postgres.listening import Listener

SECONDS = 60.0


def test_a_session_that_is_opened_while_the_store_closes_is_not_left(migrated_address: str) -> None:
    begun, ended, opened = threading.Event(), threading.Event(), list[Connection]()

    def connect() -> Connection:
        begun.set()
        assert ended.wait(SECONDS)
        opened.append(open_connection(migrated_address, SECONDS))
        return opened[0]

    def wait() -> None:
        with contextlib.suppress(StoreFailure):
            listener.wait(SECONDS)
            opened.clear()  # it waited in vain, and has one

    listener = Listener(connect, frozenset())
    thread = threading.Thread(target=wait)
    thread.start()
    assert begun.wait(SECONDS)
    listener.end()
    ended.set()
    thread.join(SECONDS)
    assert [connection.session.closed for connection in opened] == [True]


def test_a_session_that_was_lost_is_made_anew_and_told(migrated_address: str) -> None:
    opened: list[Connection] = []

    def connect() -> Connection:
        opened.append(open_connection(migrated_address, SECONDS))
        return opened[-1]

    listener = Listener(connect, frozenset({"own"}))
    assert listener.wait(0), "what was committed before it listened"
    with psycopg.connect(migrated_address, autocommit=True) as other:
        other.execute("NOTIFY gatewayd_commits, 'own'")
        assert not listener.wait(SECONDS)
        other.execute("NOTIFY gatewayd_commits, 'other'")
        assert listener.wait(SECONDS)
        other.execute("SELECT pg_terminate_backend(%s, 60000)", [opened[0].session.info.backend_pid])
    with pytest.raises(StoreFailure):
        listener.wait(SECONDS)
    assert listener.wait(0)
    listener.end()
    assert [connection.session.closed for connection in opened] == [True, True]
