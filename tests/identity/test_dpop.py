"""DPoP proofs: what shows that a client holds a key, and what does not."""

import base64
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from gatewayd.clock import HOUR, SECOND, Instant
from gatewayd.errors import Problem
from gatewayd.identity.tokens import dpop
from gatewayd.identity.tokens.authentication import Admission, Authenticator, Possession, PossessionRefused
from gatewayd.identity.tokens.dpop import (
    AHEAD_MAX,
    FORGOTTEN_AT_ONCE,
    OLD_MAX,
    InvalidProof,
    Proof,
    ProofTarget,
    ReplayCache,
    TooManyProofs,
)
from gatewayd.store import ReadTx
from tests.support.dpop import KeyHolder
from tests.support.store import START, MemoryStore, at_version, make_caller

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
        (RSAKey.generate_key(2096), "RS256"),
    ],
    ids=["ES256", "RS256", "PS256", "RS256 of a size whose text needs padding"],
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
        {"iat": START // SECOND - 120},
        {"iat": START // SECOND + 60},
        {"jti": "x"},
        {"jti": "x" * 256},
    ],
)
def test_a_proof_at_the_limits_is_accepted(changed: dict[str, Any]) -> None:
    accepted(KeyHolder().proof("GET", URL, START, TOKEN, **changed))


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
        {"iat": START // SECOND - 121},
        {"iat": START // SECOND + 61},
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


def test_a_proof_is_of_a_bounded_length() -> None:
    holder = KeyHolder()

    def with_key_id(length: int) -> str:
        claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": START // SECOND}
        return holder.signed({"kid": "k" * length}, claims)

    proofs = {len(proof): proof for proof in map(with_key_id, range(4_200, 4_400))}
    accepted(proofs[6_144], ProofTarget("GET", URL, None))
    assert "too long" in refused(proofs[min(length for length in proofs if length > 6_144)])


def test_a_proof_that_nests_too_deep_is_refused() -> None:
    holder = KeyHolder()
    usual = holder.signed({}, {"jti": "1"})
    payload = base64.urlsafe_b64encode(b'{"x":' + b"[" * 3_000).decode().rstrip("=")
    registry = jws.JWSRegistry(algorithms=["ES256"], strict_check_header=False)
    signed = f"{usual.split('.')[0]}.{payload}"
    signature = registry.get_alg("ES256").sign(signed.encode(), holder.key)
    refused(f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}")


def test_weak_and_costly_keys_are_refused() -> None:
    curve = KeyHolder(ECKey.generate_key("P-384"), "ES384")
    refused(curve.proof("GET", URL, START, TOKEN))
    claims = {"jti": "1", "htm": "GET", "htu": URL, "iat": START // SECOND}
    other_curve = KeyHolder().signed({"jwk": curve.key.as_dict(private=False)}, claims)
    assert refused(other_curve) == "ES256 takes a key on P-256."
    holder = KeyHolder(RSAKey.generate_key(2048), "RS256")
    whole = holder.key.as_dict(private=False)

    def with_numbers(**numbers: int) -> str:
        texts = {
            name: base64.urlsafe_b64encode(number.to_bytes((number.bit_length() + 7) // 8, "big")).decode().rstrip("=")
            for name, number in numbers.items()
        }
        return refused(holder.signed({"jwk": {**whole, **texts}}, claims))

    short_exponent = "An RSA key has 2048 to 4096 bits here, and a short exponent."
    assert with_numbers(n=2**2047 - 1) == short_exponent
    assert with_numbers(n=2**4096 + 1) == short_exponent
    assert with_numbers(e=2**32 + 1) == short_exponent
    assert with_numbers(e=2**32 - 1) != short_exponent


def test_what_is_told_of_a_proof_can_stand_in_a_header_field() -> None:
    assert str(InvalidProof('a "quoted"\r\n \u00e9')) == "a ?quoted??? ?"


# -- replays


def test_a_proof_serves_once() -> None:
    replays, holder = ReplayCache(), KeyHolder()
    proof = accepted(holder.proof("GET", URL, START, TOKEN))
    replays.spend(proof, START)
    for now in (START, Instant(START + OLD_MAX)):
        with pytest.raises(InvalidProof, match="jti"):
            replays.spend(proof, now)
    replays.spend(proof, Instant(START + OLD_MAX + 1))  # too old by then to be accepted
    replays.spend(accepted(holder.proof("GET", URL, START, TOKEN)), START)
    other = accepted(KeyHolder().proof("GET", URL, START, TOKEN))
    replays.spend(other, START)


def proof_of(key: str, number: int, issued: int = START) -> Proof:
    """A proof that was accepted."""
    return Proof(key, f"{key}.{number}".encode(), issued + OLD_MAX)


def spent(replays: ReplayCache, proof: Proof, now: int = START) -> bool:
    """Whether it serves. Any other reason than the quota fails the test."""
    try:
        replays.spend(proof, Instant(now))
    except TooManyProofs:
        return False
    return True


def test_a_key_that_used_too_many_is_refused_and_no_other() -> None:
    replays = ReplayCache(per_key_max=2)
    assert [spent(replays, proof_of("a", number)) for number in range(3)] == [True, True, False]
    assert all(spent(replays, proof_of(key, number)) for key in "bcd" for number in range(2))
    assert not spent(replays, proof_of("a", 3), START + OLD_MAX)
    assert spent(replays, proof_of("a", 3, START + OLD_MAX), START + OLD_MAX + 1)


def test_a_full_memory_forgets_no_proof_that_would_still_be_accepted() -> None:
    replays = ReplayCache(per_key_max=3)
    latest = [proof_of("a", number, START + ahead) for number, ahead in enumerate((AHEAD_MAX, 0, -OLD_MAX))]
    assert all(spent(replays, proof) for proof in latest)
    for now in (START, START + 1, START + OLD_MAX, START + OLD_MAX + AHEAD_MAX):
        spent(replays, proof_of("a", now + 10, now), now)
        still = [proof for proof in latest if proof.until >= now]
        for proof in still:
            with pytest.raises(InvalidProof, match="jti"):
                replays.spend(proof, Instant(now))


def test_where_keys_cost_nothing_all_together_have_a_limit() -> None:
    replays = ReplayCache(per_key_max=2, in_all_max=3)
    assert [spent(replays, proof_of(key, 1)) for key in "abcd"] == [True, True, True, False]
    assert spent(replays, proof_of("d", 1, START + OLD_MAX), START + OLD_MAX + 1)


def test_what_is_too_old_is_forgotten_little_by_little_and_leaves_nothing() -> None:
    replays = ReplayCache()
    for number in range(1_000):
        assert spent(replays, proof_of(f"k{number % 7}", number, START + number))
    later = START + 2 * OLD_MAX
    for number in range(1_000):
        assert spent(replays, proof_of("late", number, later), later)
    assert {key: len(used) for key, used in replays._used.items()} == {"late": 1_000}
    assert len(replays._expiring) == 1_000


def test_each_new_one_forgets_a_few_of_many_old_ones() -> None:
    """So that no request has to wait for all of them."""
    replays = ReplayCache()
    for number in range(100):
        assert spent(replays, proof_of("old", number))
    later = START + OLD_MAX + 1
    for number in range(1, 11):
        assert spent(replays, proof_of("late", number, later), later)
        assert len(replays._expiring) == 100 + number - number * FORGOTTEN_AT_ONCE


def test_a_key_is_not_full_of_what_is_too_old_though_much_else_is_older() -> None:
    replays = ReplayCache(per_key_max=2)
    for number in range(100):
        assert spent(replays, proof_of(f"other{number}", number))
    assert [spent(replays, proof_of("a", number, START + 1), START + 1) for number in range(3)] == [True, True, False]
    later = START + OLD_MAX + 2
    assert spent(replays, proof_of("a", 3, later), later)


def test_a_jti_that_comes_again_when_it_may_is_remembered_anew() -> None:
    replays = ReplayCache()
    later = START + OLD_MAX + 1
    assert spent(replays, proof_of("a", 1))
    assert spent(replays, proof_of("a", 1, later), later)
    for number in range(2, 30):
        assert spent(replays, proof_of("a", number, later), later)
    with pytest.raises(InvalidProof, match="jti"):
        replays.spend(proof_of("a", 1, later), Instant(later))


def test_a_port_that_goes_without_saying_may_be_said() -> None:
    here = "http://127.0.0.1/api/rpc/invoices"
    accepted(KeyHolder().proof("GET", here.replace("/api", ":80/api"), START), ProofTarget("GET", here, None))
    refused(KeyHolder().proof("GET", here.replace("/api", ":81/api"), START), ProofTarget("GET", here, None))


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
    """As whoever lets a request in does it."""
    store.read(lambda tx: authenticator.authenticate(at_version(tx, 1), TOKEN, None, possession))
    if possession is not None:
        possession.spend(START)


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


def test_a_proof_of_a_request_that_was_not_let_in_still_serves(store: MemoryStore) -> None:
    holder = KeyHolder()
    authenticator = Authenticator([BoundTokenVerifier(holder.thumbprint)])
    proof = holder.proof("GET", URL, START, TOKEN)
    store.read(lambda tx: authenticator.authenticate(at_version(tx, 1), TOKEN, None, Possession(proof, "GET", URL)))
    authenticate(store, authenticator, Possession(proof, "GET", URL))
    assert turned_away(store, authenticator, Possession(proof, "GET", URL)) == "invalid_dpop_proof"


def test_of_two_requests_with_one_proof_one_is_let_in(store: MemoryStore) -> None:
    holder = KeyHolder()
    authenticator = Authenticator([BoundTokenVerifier(holder.thumbprint)])
    proof = holder.proof("GET", URL, START, TOKEN)
    both = [Possession(proof, "GET", URL) for _ in range(2)]
    for possession in both:
        store.read(lambda tx, shown=possession: authenticator.authenticate(at_version(tx, 1), TOKEN, None, shown))
    both[0].spend(START)
    with pytest.raises(PossessionRefused):
        both[1].spend(START)


def test_a_key_over_its_quota_is_told_to_wait(store: MemoryStore) -> None:
    holder = KeyHolder()
    authenticator = Authenticator([BoundTokenVerifier(holder.thumbprint)], replays=ReplayCache(per_key_max=1))

    def shown() -> Possession:
        return Possession(holder.proof("GET", URL, START, TOKEN), "GET", URL)

    authenticate(store, authenticator, shown())
    with pytest.raises(Problem) as caught:
        authenticate(store, authenticator, shown())
    assert (caught.value.code, caught.value.headers) == ("rate_limited", ((b"retry-after", b"60"),))
    assert "try again in a minute" in caught.value.message


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
