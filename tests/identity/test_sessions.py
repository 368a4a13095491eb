"""Sessions: the token is not kept, the end comes by itself or by request, forms are bound to the cookie."""

import pytest

from gatewayd.clock import DAY, MINUTE
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.sign_in.sessions import Session, Visitor
from tests.support.store import START, MemoryStore

BROWSER = Visitor(user_agent="Mozilla/5.0 (Test)", address="192.0.2.7")


@pytest.fixture
def user(store: MemoryStore) -> str:
    return store.user(store.org())


def started(store: MemoryStore, user_id: str, visitor: Visitor = BROWSER) -> tuple[str, Session]:
    return store.write(lambda tx: sessions.start(tx, user_id, ("pwd", "otp"), visitor))


def found(store: MemoryStore, token: str) -> Session | None:
    return store.read(lambda tx: sessions.find(tx, token))


def test_a_session_is_found_by_its_token_alone(store: MemoryStore, user: str) -> None:
    token, session = started(store, user)
    assert found(store, token) == session
    assert (session.user_id, session.methods, session.address) == (user, ("pwd", "otp"), "192.0.2.7")
    assert (session.authenticated_at, session.created_at, session.last_seen_at) == (START, START, START)
    assert found(store, session.id) is None
    assert found(store, "") is None


def test_the_token_is_not_in_the_database(store: MemoryStore, user: str) -> None:
    token, _ = started(store, user)
    assert token.encode() not in store.stored()


def test_a_visit_puts_off_the_end_but_not_for_ever(store: MemoryStore, user: str) -> None:
    token, session = started(store, user)
    assert not sessions.needs_touch(session, START + 4 * MINUTE)
    assert sessions.needs_touch(session, START + 5 * MINUTE)
    for _ in range(7):
        store.clock.advance(13 * DAY)
        current = found(store, token)
        if current is None:
            break
        store.write(lambda tx, current=current: sessions.touch(tx, current))
    assert store.now() - START == 91 * DAY  # six visits were answered, the seventh came after ninety days


def test_it_ends_after_two_weeks_without_a_visit(store: MemoryStore, user: str) -> None:
    token, _ = started(store, user)
    store.clock.advance(14 * DAY - 1)
    assert found(store, token) is not None
    store.clock.advance(1)
    assert found(store, token) is None


def test_ending_is_for_the_own_sessions_only(store: MemoryStore, user: str) -> None:
    token, session = started(store, user)
    other = store.user(store.org())
    assert not store.write(lambda tx: sessions.end(tx, other, session.id))
    assert found(store, token) is not None
    assert store.write(lambda tx: sessions.end(tx, user, session.id))
    assert found(store, token) is None
    assert not store.write(lambda tx: sessions.end(tx, user, session.id))


def test_everywhere_but_here(store: MemoryStore, user: str) -> None:
    tokens = [started(store, user) for _ in range(3)]
    other_token, _ = started(store, store.user(store.org()))
    here_token, here = tokens[1]
    assert store.write(lambda tx: sessions.end_all(tx, user, kept=here.id)) == 2
    assert [found(store, token) is not None for token, _ in tokens] == [False, True, False]
    assert store.read(lambda tx: sessions.of_user(tx, user)) == [found(store, here_token)]
    assert found(store, other_token) is not None


def test_proving_again_replaces_the_token(store: MemoryStore, user: str) -> None:
    token, session = started(store, user)
    store.clock.advance(MINUTE)
    fresh = store.write(lambda tx: sessions.reauthenticate(tx, session, ("hwk", "user")))
    assert found(store, token) is None
    proved = found(store, fresh)
    assert proved is not None
    assert (proved.id, proved.methods, proved.authenticated_at) == (session.id, ("hwk", "user"), START + MINUTE)


def test_a_user_agent_is_cut_and_printable(store: MemoryStore, user: str) -> None:
    _, session = started(store, user, Visitor(user_agent="a\x1b[31m\n" + "x" * 400, address=""))
    assert session.user_agent == ("a[31m" + "x" * 400)[:300]


def test_forms_are_bound_to_the_cookie(store: MemoryStore, user: str) -> None:
    token, _ = started(store, user)
    other, _ = started(store, user)
    assert sessions.csrf_ok(token, sessions.csrf_token(token))
    assert not sessions.csrf_ok(token, sessions.csrf_token(other))
    assert not sessions.csrf_ok(token, "")
    assert not sessions.csrf_ok(token, "é\ud800")
    assert token not in sessions.csrf_token(token)


def test_old_sessions_are_swept_and_live_ones_stay(store: MemoryStore, user: str) -> None:
    started(store, user)
    store.clock.advance(14 * DAY + sessions.RETENTION)
    token, _ = started(store, user)
    assert store.write(sessions.sweep) == 0
    store.clock.advance(1)
    assert store.write(sessions.sweep) == 1
    assert found(store, token) is not None
