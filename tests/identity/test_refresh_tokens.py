"""Refresh tokens: rotation, the grace window, what is taken for theft, and the end of the family."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.clock import DAY, SECOND
from gatewayd.identity import audit
from gatewayd.identity.clients import grant_lists, grants, oauth_clients
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.random_tokens import hash_token
from gatewayd.identity.tokens import refresh_tokens
from gatewayd.identity.tokens.refresh_tokens import Successor
from gatewayd.store import StoreFailure
from gatewayd.store.sealer import Sealer
from tests.support.consents import Flow
from tests.support.store import START, MemoryStore

GRACE = 120


@pytest.fixture
def flow(store: MemoryStore) -> Flow:
    return Flow(store, GRACE)


def refreshed(flow: Flow, token: str) -> str:
    answer = flow.refresh(token)
    assert isinstance(answer, str)
    return answer


def refused(answer: str | OAuthFailure) -> str:
    assert isinstance(answer, OAuthFailure)
    return answer.code


def living(flow: Flow, grant_id: str) -> bool:
    return flow.store.read(lambda tx: grants.find_live(tx, grant_id)) is not None


def actions(flow: Flow) -> list[str]:
    return [entry.action for entry in flow.store.read(audit.list_entries, flow.org_id)]


def test_a_token_is_replaced_at_each_use(flow: Flow) -> None:
    grant_id, first = flow.connect()
    assert (len(first), first.startswith("gwr_")) == (47, True)
    second = refreshed(flow, first)
    third = refreshed(flow, second)
    assert len({first, second, third}) == 3
    state = flow.read_refresh(third)
    assert (state.generation, state.grant.generation, state.superseded_at) == (3, 3, None)
    assert state.grant.id == grant_id
    assert flow.store.read(lambda tx: refresh_tokens.read_refresh(tx, "gwr_unknown")) is None


def test_neither_tokens_nor_answers_can_be_read_in_the_database(flow: Flow) -> None:
    _, first = flow.connect()
    second = refreshed(flow, first)
    image = flow.store.stored()
    assert first.encode() not in image
    assert second.encode() not in image
    assert second not in repr(Successor(hash_token(second), second))


def test_the_token_just_superseded_gets_the_same_answer_for_a_while(flow: Flow) -> None:
    grant_id, first = flow.connect()
    second = refreshed(flow, first)
    flow.store.clock.advance(GRACE * SECOND - 1)
    assert refreshed(flow, first) == second
    assert living(flow, grant_id)
    flow.store.clock.advance(1)
    assert refused(flow.refresh(first)) == "invalid_grant"
    assert not living(flow, grant_id)
    assert refused(flow.refresh(second)) == "invalid_grant"
    assert actions(flow)[0] == "grant.refresh_reused"
    shown = flow.store.read(lambda tx: grant_lists.of_user(tx, flow.user_id))[0]
    assert (shown.grant_id, shown.revoked_reason) == (grant_id, "refresh_reused")


def test_the_window_begins_with_the_first_use(flow: Flow) -> None:
    """Asking again and again does not put off its end."""
    grant_id, first = flow.connect()
    second = refreshed(flow, first)
    for _ in range(3):
        flow.store.clock.advance(39 * SECOND)
        assert refreshed(flow, first) == second
    flow.store.clock.advance(3 * SECOND)
    assert refused(flow.refresh(first)) == "invalid_grant"
    assert not living(flow, grant_id)


def test_an_older_generation_ends_the_family_also_inside_the_window(flow: Flow) -> None:
    grant_id, first = flow.connect()
    second = refreshed(flow, first)
    third = refreshed(flow, second)
    assert refused(flow.refresh(first)) == "invalid_grant"
    assert not living(flow, grant_id)
    assert refused(flow.refresh(second)) == refused(flow.refresh(third)) == "invalid_grant"
    assert actions(flow).count("grant.refresh_reused") == 1


def test_the_answers_of_older_generations_are_emptied(flow: Flow) -> None:
    _, token = flow.connect()
    for _ in range(3):
        flow.store.clock.advance(SECOND)
        token = refreshed(flow, token)
    select = "SELECT superseded_at, length(answer_sealed) FROM refresh_tokens ORDER BY generation"
    rows = flow.store.read(lambda tx: tx.rows(select))
    assert [superseded_at for superseded_at, _ in rows] == [START + n * SECOND for n in (1, 2, 3)] + [None]
    lengths = [length for _, length in rows]
    assert (lengths[:2], lengths[3]) == ([0, 0], None)
    assert lengths[2] > len(token)


def test_an_answer_that_was_given_up_is_not_given_again(flow: Flow) -> None:
    (one, first), (other, others) = flow.connect(), flow.connect()
    refreshed(flow, first)
    kept = refreshed(flow, others)
    flow.store.write(lambda tx: refresh_tokens.forget_answer(tx, one, 1))
    assert refused(flow.refresh(first)) == "invalid_grant"
    assert not living(flow, one)  # whoever lost it signs in again
    assert (refreshed(flow, others), living(flow, other)) == (kept, True)


def test_who_has_an_answer_that_was_given_up_goes_on(flow: Flow) -> None:
    grant_id, first = flow.connect()
    second = refreshed(flow, first)
    flow.store.write(lambda tx: refresh_tokens.forget_answer(tx, grant_id, 1))
    refreshed(flow, second)
    assert living(flow, grant_id)


def test_without_a_window_the_second_use_ends_the_family(store: MemoryStore) -> None:
    flow = Flow(store, grace_seconds=0)
    grant_id, first = flow.connect()
    refreshed(flow, first)
    assert refused(flow.refresh(first)) == "invalid_grant"
    assert not living(flow, grant_id)


def test_fifty_at_once_yield_one_successor(flow: Flow) -> None:
    """All have read the token before the first of them writes."""
    grant_id, first = flow.connect()
    states = [flow.read_refresh(first) for _ in range(50)]
    answers = {flow.rotate(state) for state in states}
    assert len(answers) == 1
    assert flow.store.read(lambda tx: tx.value("SELECT count(*) FROM refresh_tokens")) == 2
    assert living(flow, grant_id)
    (second,) = answers
    assert refreshed(flow, str(second)) not in answers


def test_a_request_overtaken_without_a_window_ends_the_family(store: MemoryStore) -> None:
    flow = Flow(store, grace_seconds=0)
    grant_id, first = flow.connect()
    states = [flow.read_refresh(first) for _ in range(2)]
    assert isinstance(flow.rotate(states[0]), str)
    assert refused(flow.rotate(states[1])) == "invalid_grant"
    assert not living(flow, grant_id)


def test_a_request_overtaken_by_two_ends_the_family(flow: Flow) -> None:
    grant_id, first = flow.connect()
    stale = flow.read_refresh(first)
    refreshed(flow, refreshed(flow, first))
    assert refused(flow.rotate(stale)) == "invalid_grant"
    assert not living(flow, grant_id)


def test_a_request_overtaken_by_a_revocation_gets_nothing(flow: Flow) -> None:
    grant_id, first = flow.connect()
    stale = flow.read_refresh(first)
    flow.store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    assert refused(flow.rotate(stale)) == "invalid_grant"
    assert actions(flow)[0] == "grant.revoked"
    assert flow.read_refresh(first).superseded_at is None


def test_a_request_overtaken_by_a_refresh_and_a_revocation_gets_nothing(flow: Flow) -> None:
    grant_id, first = flow.connect()
    stale = flow.read_refresh(first)
    refreshed(flow, first)
    flow.store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    assert refused(flow.rotate(stale)) == "invalid_grant"


def test_a_token_that_nobody_used_is_no_reuse(flow: Flow) -> None:
    grant_id, first = flow.connect()
    state = flow.read_refresh(first)
    assert refused(flow.store.write(lambda tx: refresh_tokens.rotate(tx, state, None, GRACE))) == "invalid_grant"
    assert living(flow, grant_id)
    refreshed(flow, first)


def test_a_revoked_family_gives_no_stored_answer(flow: Flow) -> None:
    grant_id, first = flow.connect()
    refreshed(flow, first)
    flow.store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    assert refused(flow.refresh(first)) == "invalid_grant"


@pytest.mark.parametrize("superseded", [False, True])
def test_another_client_gets_nothing_and_breaks_nothing(flow: Flow, superseded: bool) -> None:
    grant_id, token = flow.connect()
    latest = refreshed(flow, token) if superseded else token
    other = flow.register()
    before = flow.store.changed_rows()
    assert refused(flow.refresh(token, client_id=other.id)) == "invalid_grant"
    assert flow.store.changed_rows() == before
    assert living(flow, grant_id)
    refreshed(flow, latest)


def test_the_family_ends_thirty_days_after_the_consent(flow: Flow) -> None:
    _, token = flow.connect()
    for _ in range(3):
        flow.store.clock.advance(10 * DAY - SECOND)
        token = refreshed(flow, token)
    flow.store.clock.advance(3 * SECOND - 1)
    last = refreshed(flow, token)
    stale = flow.read_refresh(last)
    assert flow.store.now() == START + 30 * DAY - 1
    flow.store.clock.advance(1)
    assert refused(flow.refresh(last)) == refused(flow.refresh(token)) == "invalid_grant"
    late = flow.store.write(lambda tx: refresh_tokens.rotate(tx, stale, Successor(b"n" * 32, "answer"), GRACE))
    assert refused(late) == "invalid_grant"
    assert flow.read_refresh(last).superseded_at is None
    assert "grant.refresh_reused" not in actions(flow)


def test_the_answer_for_the_window_ends_with_the_family(flow: Flow) -> None:
    """Also for whoever had read the token before."""
    _, token = flow.connect()
    flow.store.clock.advance(30 * DAY - SECOND)
    stale = flow.read_refresh(token)
    refreshed(flow, token)
    flow.store.clock.advance(SECOND)
    late = flow.store.write(lambda tx: refresh_tokens.rotate(tx, stale, Successor(b"n" * 32, "answer"), GRACE))
    assert refused(late) == "invalid_grant"
    assert actions(flow)[0] == "grant.created"


def test_a_client_that_now_demands_proofs_refreshes_with_one(flow: Flow) -> None:
    """Though the token is bound to no key: the client's metadata document has changed since."""
    store, url, metadata = flow.store, "https://docs.example/client.json", flow.client.metadata
    flow.client = store.write(lambda tx: oauth_clients.save_document(tx, url, metadata, store.now()))
    _, token = flow.connect()
    demanding = msgspec.structs.replace(metadata, dpop_bound_access_tokens=True)
    store.write(lambda tx: oauth_clients.save_document(tx, url, demanding, store.now()))
    assert refused(flow.refresh(token)) == "invalid_dpop_proof"
    assert isinstance(flow.refresh(token, key_thumbprint="k" * 43), str)


@pytest.mark.parametrize(
    ("bound_to", "proof", "code"),
    [
        (None, None, None),
        (None, "k" * 43, None),
        ("k" * 43, "k" * 43, None),
        ("k" * 43, None, "invalid_dpop_proof"),
        ("k" * 43, "j" * 43, "invalid_grant"),
    ],
)
def test_a_bound_token_needs_its_key(flow: Flow, bound_to: str | None, proof: str | None, code: str | None) -> None:
    issued, token = flow.code(), refresh_tokens.make_token()
    assert flow.redeem(issued, token, key_thumbprint=bound_to) is None
    answer = flow.refresh(token, key_thumbprint=proof)
    assert (answer.code if isinstance(answer, OAuthFailure) else None) == code
    if code is not None:
        assert isinstance(flow.refresh(token, key_thumbprint=bound_to), str)


def test_a_stored_answer_is_of_its_own_row(flow: Flow) -> None:
    """What was sealed for one token does not open as another's."""
    _, first = flow.connect()
    _, other = flow.connect()
    refreshed(flow, first)
    refreshed(flow, other)
    moved = "UPDATE refresh_tokens SET answer_sealed = (SELECT answer_sealed FROM refresh_tokens WHERE hash = :other)"
    flow.store.write(
        lambda tx: tx.run(f"{moved} WHERE hash = :first", first=hash_token(first), other=hash_token(other))
    )
    with pytest.raises(StoreFailure):
        flow.refresh(first)


def test_a_lost_instance_key_is_a_failure_of_the_store(flow: Flow) -> None:
    grant_id, first = flow.connect()
    refreshed(flow, first)
    flow.store.sealer = Sealer(bytes(32))
    with pytest.raises(StoreFailure):
        flow.refresh(first)
    assert living(flow, grant_id)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 200)), max_size=12))
def test_whatever_comes_in_whatever_order(database_image: bytes, steps: list[tuple[int, int]]) -> None:
    """Against a model: the newest rotates, the one before repeats within the window, all else ends the family."""
    store = MemoryStore(database_image)
    flow = Flow(store, GRACE)
    grant_id, token = flow.connect()
    tokens, rotated_at, over = [token], 0, False
    for back, seconds in steps:
        store.clock.advance(seconds * SECOND)
        index = max(0, len(tokens) - 1 - back)
        answer = flow.refresh(tokens[index])
        newest, before = index == len(tokens) - 1, index == len(tokens) - 2
        if not over and newest:
            assert isinstance(answer, str)
            assert answer not in tokens
            tokens.append(answer)
            rotated_at = store.now()
        elif not over and before and store.now() < rotated_at + GRACE * SECOND:
            assert answer == tokens[-1]
        else:
            assert refused(answer) == "invalid_grant"
            over = True
        assert living(flow, grant_id) is not over
    store.close()


# -- the sweep


@pytest.mark.parametrize("ended_by", ["revocation", "time"])
def test_sweeps_the_tokens_of_grants_that_are_over(flow: Flow, ended_by: str) -> None:
    store = flow.store
    grant_id, token = flow.connect()
    refreshed(flow, token)
    if ended_by == "revocation":
        store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    else:
        store.clock.advance(30 * DAY)
    _, other = flow.connect()
    assert [store.write(refresh_tokens.sweep) for _ in range(2)] == [2, 0]
    assert store.read(lambda tx: refresh_tokens.read_refresh(tx, token)) is None
    assert isinstance(flow.refresh(other), str)


def test_a_sweep_has_its_limit(flow: Flow) -> None:
    grant_id, _ = flow.connect()
    add = """
    INSERT INTO refresh_tokens (hash, grant_id, generation, superseded_at, answer_sealed, created_at)
    VALUES (:hash, :grant_id, :generation, :now, x'', :now)
    """
    flow.store.write(
        lambda tx: [
            tx.run(add, hash=bytes([0, n // 256, n % 256]), grant_id=grant_id, generation=n + 2)
            for n in range(refresh_tokens.SWEEP_ROWS)
        ]
    )
    flow.store.write(lambda tx: grants.revoke(tx, grant_id, "user", flow.user_id))
    swept = [flow.store.write(refresh_tokens.sweep) for _ in range(3)]
    assert swept == [refresh_tokens.SWEEP_ROWS, 1, 0]
