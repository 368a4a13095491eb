"""DPoP proofs: what shows that a client holds a key, and what does not."""

import base64
from typing import Any

import msgspec
import pytest
from joserfc.jwk import ECKey, RSAKey

from gatewayd.clock import HOUR, SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.identity import dpop
from gatewayd.identity.authentication import Admission, Authenticator, Possession, PossessionRefused
from gatewayd.identity.dpop import AHEAD_MAX, OLD_MAX, InvalidProof, ProofTarget, ReplayCache
from gatewayd.store import ReadTx
from tests.support.dpop import KeyHolder
from tests.support.store import START, MemoryStore, make_caller

URL = "https://books.example/api/rpc/invoices"
TOKEN = "eyJ.a.token"
HERE = ProofTarget("GET", URL, TOKEN)


def accepted(proof: str, requested: ProofTarget = HERE, now: int = START) -> dpop.Proof:
    return dpop.check(proof, requested, Instant(now))


def refused(proof: str, requested: ProofTarget = HERE, now: int = START) -> str:
    with pytest.raises(InvalidProof) as caught:
        accepted(proof, requested, now)
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-256"), "ES256"),
        (RSAKey.generate_key(2048), "RS256"),
        (RSAKey.generate_key(2048), "PS256"),
    ],
    ids=["ES256", "RS256", "PS256"],
)
def test_a_proof_shows_the_key(key: ECKey | RSAKey, algorithm: str) -> None:
    holder = KeyHolder(key, algorithm)
    assert accepted(holder.proof("GET", URL, START, TOKEN)).thumbprint == holder.thumbprint


def test_at_the_token_endpoint_there_is_no_hash_of_a_token() -> None:
    holder = KeyHolder()
    accepted(holder.proof("POST", URL, START), ProofTarget("POST", URL, None))


@pytest.mark.parametrize(
    "changed",
    [
        {"htm": "POST"},
        {"htm": "get"},
        {"htm": None},
        {"htu": "https://evil.example/api/rpc/invoices"},
        {"htu": "http://books.example/api/rpc/invoices"},
        {"htu": "https://books.example:8443/api/rpc/invoices"},
        {"htu": "https://books.example/api/rpc/invoices/"},
        {"htu": "https://books.example"},
        {"htu": "https://books.example:x/"},
        {"htu": None},
        {"iat": None},
        {"iat": "now"},
        {"iat": (START - OLD_MAX) // SECOND - 1},
        {"iat": (START + AHEAD_MAX) // SECOND + 1},
        {"iat": -1},
        {"iat": 1e300},
        {"jti": None},
        {"jti": ""},
        {"jti": "x" * 257},
        {"ath": None},
        {"ath": "x"},
        {"ath": base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")},
    ],
)
def test_a_proof_for_something_else_is_refused(changed: dict[str, Any]) -> None:
    refused(KeyHolder().proof("GET", URL, START, TOKEN, **changed))


@pytest.mark.parametrize(
    "htu",
    [
        "HTTPS://BOOKS.EXAMPLE/api/rpc/invoices",
        "https://books.example:443/api/rpc/invoices",
        "https://books.example/api/rpc/invoices?page=2#top",
        "https://books.example/api/rpc/%69nvoices",
    ],
)
def test_an_address_may_be_written_otherwise(htu: str) -> None:
    accepted(KeyHolder().proof("GET", URL, START, TOKEN, htu=htu))


@pytest.mark.parametrize(
    "header",
    [
        {"typ": "JWT"},
        {"typ": None},
        {"alg": None},
        {"alg": "none"},
        {"alg": "HS256"},
        {"jwk": None},
        {"jwk": "x"},
        {"jwk": {}},
        {"jwk": {"kty": "oct", "k": "AAAA"}},
        {"jwk": {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}},
        {"jwk": {"kty": "EC", "crv": "P-256", "x": 1, "y": 2}},
        {"jwk": {"kty": "RSA", "n": "AQAB", "e": "AQAB"}},
        {"crit": ["x"], "x": 1},
    ],
)
def test_another_header_is_refused(header: dict[str, Any]) -> None:
    holder = KeyHolder()
    _, payload, signature = holder.proof("GET", URL, START, TOKEN).split(".")
    usual = {"typ": "dpop+jwt", "alg": "ES256", "jwk": holder.key.as_dict(private=False)}
    whole = {name: value for name, value in {**usual, **header}.items() if value is not None}
    head = base64.urlsafe_b64encode(msgspec.json.encode(whole)).rstrip(b"=").decode()
    refused(f"{head}.{payload}.{signature}")


def test_the_proof_of_another_key_is_refused() -> None:
    mine, other = KeyHolder(), KeyHolder()
    claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": START // SECOND}
    refused(mine.signed({"jwk": other.key.as_dict(private=False)}, claims))


def test_a_private_key_in_the_proof_is_refused() -> None:
    holder = KeyHolder()
    claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": START // SECOND}
    assert "public" in refused(holder.signed({"jwk": holder.key.as_dict(private=True)}, claims))


@pytest.mark.parametrize("proof", ["", "x", "a.b.c", "é.b.c", "e30.e30.", "eyJhbGciOiJub25lIn0.e30.", "x" * 10_000])
def test_what_is_no_proof_is_refused(proof: str) -> None:
    refused(proof)


def test_weak_and_costly_keys_are_refused() -> None:
    curve = KeyHolder(ECKey.generate_key("P-384"), "ES384")
    refused(curve.proof("GET", URL, START, TOKEN))
    number = base64.urlsafe_b64encode(b"\xff" * 1024).decode().rstrip("=")
    holder = KeyHolder(RSAKey.generate_key(2048), "RS256")
    claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": START // SECOND}
    assert "4096" in refused(holder.signed({"jwk": {"kty": "RSA", "n": number, "e": "AQAB"}}, claims))


# -- replays


def test_a_proof_serves_once() -> None:
    replays, holder = ReplayCache(), KeyHolder()
    proof = accepted(holder.proof("GET", URL, START, TOKEN))
    replays.spend(proof, START)
    for now in (START, Instant(START + OLD_MAX)):
        with pytest.raises(InvalidProof, match="jti"):
            replays.spend(proof, now)
    replays.spend(accepted(holder.proof("GET", URL, START, TOKEN)), START)
    other = accepted(KeyHolder().proof("GET", URL, START, TOKEN))
    replays.spend(other, START)


def test_the_memory_of_proofs_is_bounded_and_refuses_when_full() -> None:
    replays, holder = ReplayCache(remembered_max=2), KeyHolder()
    proofs = [accepted(holder.proof("GET", URL, START, TOKEN)) for _ in range(4)]
    replays.spend(proofs[0], START)
    replays.spend(proofs[1], START)
    with pytest.raises(InvalidProof, match="too many"):
        replays.spend(proofs[2], START)
    later = Instant(START + HOUR)
    fresh = accepted(holder.proof("GET", URL, later, TOKEN), now=later)
    replays.spend(fresh, later)


# -- at the authenticator


class BoundTokenVerifier:
    """Stands for a token that is bound to a key, or with None to none."""

    def __init__(self, thumbprint: str | None) -> None:
        self.thumbprint = thumbprint

    def recognizes(self, token: str) -> bool:
        return True

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        return Admission(make_caller("org_1"), START + HOUR, "ended", (), self.thumbprint)


def authenticate(store: MemoryStore, authenticator: Authenticator, possession: Possession | None) -> None:
    store.read(lambda tx: authenticator.authenticate(tx, 1, TOKEN, None, possession))


def turned_away(store: MemoryStore, authenticator: Authenticator, possession: Possession | None) -> str:
    with pytest.raises(PossessionRefused) as caught:
        authenticate(store, authenticator, possession)
    assert isinstance(caught.value, Problem)
    assert caught.value.status == 401
    return caught.value.error


def test_a_bound_token_needs_a_proof_with_each_request(store: MemoryStore) -> None:
    holder = KeyHolder()
    authenticator = Authenticator([BoundTokenVerifier(holder.thumbprint)])
    proof = holder.proof("GET", URL, START, TOKEN)
    assert turned_away(store, authenticator, None) == "invalid_token"
    assert turned_away(store, authenticator, Possession(None, "GET", URL)) == "invalid_token"
    assert turned_away(store, authenticator, Possession("x", "GET", URL)) == "invalid_dpop_proof"
    authenticate(store, authenticator, Possession(proof, "GET", URL))
    assert turned_away(store, authenticator, Possession(proof, "GET", URL)) == "invalid_dpop_proof"
    authenticate(store, authenticator, Possession(holder.proof("GET", URL, START, TOKEN), "GET", URL))


def test_a_second_look_at_the_same_request_is_no_replay(store: MemoryStore) -> None:
    holder = KeyHolder()
    authenticator = Authenticator([BoundTokenVerifier(holder.thumbprint)])
    possession = Possession(holder.proof("GET", URL, START, TOKEN), "GET", URL)
    authenticate(store, authenticator, possession)
    authenticate(store, authenticator, possession)


def test_the_proof_of_another_key_opens_nothing(store: MemoryStore) -> None:
    authenticator = Authenticator([BoundTokenVerifier(KeyHolder().thumbprint)])
    proof = KeyHolder().proof("GET", URL, START, TOKEN)
    assert turned_away(store, authenticator, Possession(proof, "GET", URL)) == "invalid_token"


def test_a_token_that_is_bound_to_nothing_is_sent_as_bearer(store: MemoryStore) -> None:
    authenticator = Authenticator([BoundTokenVerifier(None)])
    proof = KeyHolder().proof("GET", URL, START, TOKEN)
    assert turned_away(store, authenticator, Possession(proof, "GET", URL)) == "invalid_token"
    authenticate(store, authenticator, None)
