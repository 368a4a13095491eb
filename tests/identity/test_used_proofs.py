"""A proof is used once, whichever daemons are given it, and a key has its quota of all of them together."""

import hashlib

import pytest

from gatewayd.clock import MINUTE, SECOND, Instant, SettableClock
from gatewayd.identity.tokens import used_proofs
from gatewayd.identity.tokens.dpop import AHEAD_MAX, OLD_MAX, InvalidProof, Proof, TooManyProofs
from gatewayd.identity.tokens.used_proofs import PUSHED, REQUESTS, SKEW, SWEEP_ROWS, ProofQuota
from gatewayd.store import WriteTx
from tests.support.postgres import Server
from tests.support.several_daemons import Work, several_daemons
from tests.support.store import START, MemoryStore

FEW = ProofQuota("request", 10)


def proof(jti: str, key: str = "key", issued: int = START) -> Proof:
    return Proof(key, hashlib.sha256(f"{key}.{jti}".encode()).digest()[:16], issued + OLD_MAX)


def spend(store: MemoryStore, used: Proof, quota: ProofQuota = REQUESTS) -> None:
    store.write(lambda tx: used_proofs.spend_in_rows(tx, used, quota))


def spending(used: Proof, quota: ProofQuota = REQUESTS) -> Work:
    def work(tx: WriteTx) -> None:
        used_proofs.spend_in_rows(tx, used, quota)

    return work


def kept(store: MemoryStore) -> object:
    """How many proofs are kept, and how many counts."""
    return store.read(
        lambda tx: tx.row("SELECT (SELECT count(*) FROM used_proofs), (SELECT count(*) FROM proof_counts)")
    )


def test_a_proof_is_used_once(store: MemoryStore) -> None:
    store.read(lambda tx: used_proofs.refuse_used(tx, proof("a"), REQUESTS))
    spend(store, proof("a"))
    with pytest.raises(InvalidProof, match=r"used before \(jti\)"):
        spend(store, proof("a"))
    with pytest.raises(InvalidProof, match=r"used before \(jti\)"):
        store.read(lambda tx: used_proofs.refuse_used(tx, proof("a"), REQUESTS))
    spend(store, proof("b"))
    spend(store, proof("a", key="other"))
    spend(store, proof("a"), PUSHED)


def test_a_key_that_used_its_quota_up_is_refused_alone_and_not_for_long(store: MemoryStore) -> None:
    for number in range(10):
        spend(store, proof(str(number)), FEW)
    before = kept(store)
    with pytest.raises(TooManyProofs):
        spend(store, proof("more"), FEW)
    assert kept(store) == before
    spend(store, proof("more", key="other"), FEW)
    store.clock.advance(OLD_MAX + MINUTE)
    spend(store, proof("more", issued=store.now()), FEW)


def test_proofs_from_the_future_count_too(store: MemoryStore) -> None:
    for number in range(10):
        spend(store, proof(str(number), issued=START + AHEAD_MAX - number * 17 * SECOND), FEW)
    with pytest.raises(TooManyProofs):
        spend(store, proof("more"), FEW)


def test_where_keys_cost_nothing_all_together_have_one_too(store: MemoryStore) -> None:
    quota = ProofQuota("pushed", 3, 5)
    for number in range(5):
        spend(store, proof("a", key=f"key {number}"), quota)
    with pytest.raises(TooManyProofs):
        spend(store, proof("a", key="key 5"), quota)
    spend(store, proof("a", key="key 5"), REQUESTS)


def test_what_is_too_old_by_every_clock_is_swept(store: MemoryStore) -> None:
    for number in range(SWEEP_ROWS + 1):
        spend(store, proof(str(number)))
    store.clock.advance(OLD_MAX + SKEW)
    assert store.write(used_proofs.sweep) == 0
    store.clock.advance(MINUTE)
    assert [store.write(used_proofs.sweep) for _ in range(3)] == [SWEEP_ROWS, 1, 0]
    assert kept(store) == (0, 0)


def test_of_two_daemons_that_are_given_a_proof_at_once_one_takes_it(postgresql: Server) -> None:
    """Their clocks are five seconds apart."""
    clocks = SettableClock(START), SettableClock(Instant(START + 5 * SECOND))
    proofs = [spending(proof(str(number))) for number in range(50)]
    with several_daemons(postgresql, clocks=clocks) as daemons:
        done = daemons.at_once(proofs, proofs)
    assert all((a is None) != (b is None) for a, b in zip(done[:50], done[50:], strict=True))
    assert {type(each) for each in done} == {type(None), InvalidProof}


def test_a_key_has_one_quota_at_all_daemons_together(postgresql: Server) -> None:
    with several_daemons(postgresql, 3) as daemons:
        asked = [[spending(proof(f"{daemon}.{number}"), FEW) for number in range(10)] for daemon in range(3)]
        done = daemons.at_once(*asked)
    assert done.count(None) == 10
    assert sum(isinstance(each, TooManyProofs) for each in done) == 20
