"""Access tokens: what is minted is admitted, and nothing else that looks like it."""

import base64
import hashlib
import hmac
from typing import Any

import msgspec
import pytest
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from gatewayd.clock import HOUR, SECOND
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.identity.clients import grants, oauth_clients
from gatewayd.identity.clients.grants import Grant
from gatewayd.identity.people import memberships
from gatewayd.identity.signing import signing_keys
from gatewayd.identity.signing.signing_keys import SigningKeys
from gatewayd.identity.tokens import access_tokens, id_tokens
from gatewayd.identity.tokens.access_tokens import AccessTokenParameters, AccessTokenVerifier
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from tests.support.consents import ISSUER, Flow
from tests.support.oauth import signing_key
from tests.support.store import START, MemoryStore, at_version


class AuthenticatorHarness:
    """The verifier behind the authenticator, a grant, and its token. The test counts the data_version itself."""

    def __init__(self, store: MemoryStore) -> None:
        self.store, self.flow, self.version = store, Flow(store), 1
        store.write(lambda tx: signing_keys.add(tx, [signing_key("ES256"), signing_key("RS256")]))
        self.keys = SigningKeys()
        store.read(self.keys.load)
        self.verifier = AccessTokenVerifier(self.keys, ISSUER)
        self.authenticator = Authenticator([ApiKeyVerifier(), self.verifier])
        self.grant = self.grant_of(self.flow.connect()[0])

    def grant_of(self, grant_id: str) -> Grant:
        grant = self.store.read(lambda tx: grants.find(tx, grant_id))
        assert grant is not None
        return grant

    def mint(self, *scopes: str, thumbprint: str | None = None) -> str:
        parameters = AccessTokenParameters(ISSUER, list(scopes) or ["accounting:read"], thumbprint, self.store.now())
        return access_tokens.mint(self.keys, self.grant, parameters)

    def authenticate(self, token: str) -> Caller:
        return self.store.read(
            lambda tx: self.authenticator.authenticate(at_version(tx, self.version), token, "192.0.2.1")
        )

    def expect_refusal(self, token: str) -> str:
        with pytest.raises(Problem) as caught:
            self.authenticate(token)
        assert (caught.value.code, caught.value.status) == ("invalid_token", 401)
        assert token not in caught.value.message
        return caught.value.message

    def forge(self, header: dict[str, Any], claims: dict[str, Any], key: Any, algorithm: str) -> str:
        """A token with the claims of a good one but for `claims`; None takes one away."""
        good = msgspec.json.decode(unpacked(self.mint().split(".")[1]))
        whole = {name: value for name, value in {**good, **claims}.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
        return jws.serialize_compact(header, msgspec.json.encode(whole), key, registry=registry)

    def resigned(self, typ: str = "at+jwt", **claims: Any) -> str:
        """A token that our own key signed, with other claims."""
        signer = self.keys.signer("ES256", self.store.now())
        return self.forge({"alg": "ES256", "typ": typ, "kid": signer.kid}, claims, signer.opened.key, "ES256")


def packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.fixture
def harness(store: MemoryStore) -> AuthenticatorHarness:
    return AuthenticatorHarness(store)


def test_a_token_acts_as_who_gave_the_grant(harness: AuthenticatorHarness) -> None:
    assert harness.authenticate(harness.mint("openid", "accounting:read")) == Caller(
        kind="access_token",
        credential_id=harness.grant.id,
        org_id=harness.flow.org_id,
        user_id=harness.flow.user_id,
        role="owner",
        scopes=frozenset({"openid", "accounting:read"}),
    )


def test_a_token_that_was_signed_again_alike_is_admitted(harness: AuthenticatorHarness) -> None:
    """So that the refusals below are for what they change."""
    harness.authenticate(harness.resigned())


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": ISSUER + "/"},
        {"iss": None},
        {"aud": "https://evil.example"},
        {"aud": ISSUER + "/"},
        {"aud": [ISSUER]},
        {"aud": [ISSUER, "https://evil.example"]},
        {"aud": None},
        {"exp": START // SECOND},
        {"exp": 0},
        {"exp": None},
        {"exp": "soon"},
        {"gid": "grt_unknown"},
        {"gid": None},
        {"sub": "usr_somebody"},
        {"org": "org_other"},
        {"client_id": "app_other"},
        {"scope": None},
        {"cnf": {"x5t#S256": "x"}},
    ],
)
def test_other_claims_are_refused_though_our_key_signed_them(
    harness: AuthenticatorHarness, claims: dict[str, Any]
) -> None:
    harness.expect_refusal(harness.resigned(**claims))


@pytest.mark.parametrize("typ", ["JWT", "at+JWT", "application/at+jwt", "dpop+jwt", ""])
def test_another_type_is_refused(harness: AuthenticatorHarness, typ: str) -> None:
    harness.expect_refusal(harness.resigned(typ))


def test_an_id_token_is_no_access_token(harness: AuthenticatorHarness) -> None:
    parameters = id_tokens.IdTokenParameters(ISSUER, harness.mint(), True, {}, harness.store.now())
    harness.expect_refusal(id_tokens.mint(harness.keys, harness.grant, parameters))


def test_no_signature_is_refused(harness: AuthenticatorHarness) -> None:
    head, payload, _ = harness.mint().split(".")
    kid = msgspec.json.decode(unpacked(head))["kid"]
    for algorithm in ("none", "None", "NONE", ""):
        header = packed(msgspec.json.encode({"alg": algorithm, "typ": "at+jwt", "kid": kid}))
        harness.expect_refusal(f"{header}.{payload}.")
        harness.expect_refusal(f"{header}.{payload}.AAAA")
    harness.expect_refusal(f"{head}.{payload}.")


def test_the_public_key_is_no_shared_secret(harness: AuthenticatorHarness) -> None:
    """Algorithm confusion: HMAC with what everybody knows (RFC 8725 §2.1)."""
    kid = harness.keys.signer("RS256", harness.store.now()).kid
    found = harness.keys.find(kid)
    assert found is not None
    for secret in (
        found.public,
        found.opened.key.as_pem(private=False),
        found.opened.key.as_der(private=False),
        b"x" * 32,
    ):
        head = packed(msgspec.json.encode({"alg": "HS256", "typ": "at+jwt", "kid": kid}))
        signed = f"{head}.{harness.mint().split('.')[1]}"
        harness.expect_refusal(f"{signed}.{packed(hmac.digest(secret, signed.encode(), 'sha256'))}")


def test_the_key_decides_the_algorithm(harness: AuthenticatorHarness) -> None:
    rsa = harness.keys.signer("RS256", harness.store.now())
    elliptic = harness.keys.signer("ES256", harness.store.now())
    harness.expect_refusal(
        harness.forge({"alg": "RS256", "typ": "at+jwt", "kid": elliptic.kid}, {}, rsa.opened.key, "RS256")
    )
    harness.expect_refusal(
        harness.forge({"alg": "ES256", "typ": "at+jwt", "kid": rsa.kid}, {}, elliptic.opened.key, "ES256")
    )
    harness.expect_refusal(
        harness.forge({"alg": "PS256", "typ": "at+jwt", "kid": rsa.kid}, {}, rsa.opened.key, "PS256")
    )


def test_a_foreign_key_is_refused_whatever_it_calls_itself(harness: AuthenticatorHarness) -> None:
    foreign = ECKey.generate_key("P-256")
    ours = harness.keys.signer("ES256", harness.store.now()).kid
    for kid in (ours, foreign.thumbprint(), "../../etc/passwd", ""):
        harness.expect_refusal(harness.forge({"alg": "ES256", "typ": "at+jwt", "kid": kid}, {}, foreign, "ES256"))
    harness.expect_refusal(harness.forge({"alg": "ES256", "typ": "at+jwt"}, {}, foreign, "ES256"))


def test_a_key_in_the_header_is_refused(harness: AuthenticatorHarness) -> None:
    foreign = ECKey.generate_key("P-256")
    ours = harness.keys.signer("ES256", harness.store.now())
    for member in (
        {"jwk": foreign.as_dict(private=False)},
        {"jku": "https://evil.example/jwks"},
        {"x5u": "https://evil.example/x"},
        {"crit": ["exp"], "exp": 1},
        {"cty": "JWT"},
    ):
        header = {"alg": "ES256", "typ": "at+jwt", "kid": ours.kid, **member}
        for key in (foreign, ours.opened.key):
            payload = unpacked(harness.mint().split(".")[1])
            head = packed(msgspec.json.encode(header))
            signed = f"{head}.{packed(payload)}".encode()
            signature = jws.JWSRegistry.algorithms["ES256"].sign(signed, key)
            harness.expect_refusal(f"{signed.decode()}.{packed(signature)}")


@pytest.mark.parametrize(
    "text",
    ["eyJ..", "eyJhbGciOiJub25lIn0.e30.", "eyJ.eyJ.eyJ", "eyJ" + "A" * 9000 + ".e30.x", "eyJé.e30.x", "eyJbXQ.e30.x"],
)
def test_what_is_no_token_is_refused(harness: AuthenticatorHarness, text: str) -> None:
    harness.expect_refusal(text)


def test_a_changed_byte_is_refused(harness: AuthenticatorHarness) -> None:
    head, payload, signature = harness.mint().split(".")
    other = msgspec.json.decode(unpacked(payload))
    other["scope"] = "accounting:write"
    harness.expect_refusal(f"{head}.{packed(msgspec.json.encode(other))}.{signature}")
    flipped = bytearray(unpacked(signature))
    flipped[5] ^= 1
    harness.expect_refusal(f"{head}.{payload}.{packed(bytes(flipped))}")


def test_expires_to_the_second_though_it_was_admitted(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.authenticate(token)
    harness.store.clock.advance(HOUR - 1)
    harness.authenticate(token)
    harness.store.clock.advance(1)
    assert harness.expect_refusal(token) == AccessTokenVerifier.EXPIRED
    harness.version += 1
    assert harness.expect_refusal(token) == AccessTokenVerifier.EXPIRED


def test_the_verifier_itself_refuses_at_the_last_second(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.store.clock.advance(HOUR - 1)
    digest = hashlib.sha256(token.encode()).digest()
    harness.store.read(lambda tx: harness.verifier.verify(tx, token, digest))
    harness.store.clock.advance(1)
    with pytest.raises(Problem) as caught:
        harness.store.read(lambda tx: harness.verifier.verify(tx, token, digest))
    assert caught.value.message == AccessTokenVerifier.EXPIRED


@pytest.mark.parametrize(
    ("text", "expected"),
    [("eyJ.a.b", True), ("eyJ.a", False), ("eyJ.a.b.c", False), ("gw.a.b", False), ("gwk_live_a", False)],
)
def test_only_what_looks_like_a_token_is_looked_at(harness: AuthenticatorHarness, text: str, expected: bool) -> None:
    assert harness.verifier.recognizes(text) is expected


def test_a_revoked_grant_acts_at_the_next_version(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.authenticate(token)
    harness.store.write(lambda tx: grants.revoke(tx, harness.grant.id, "user", harness.flow.user_id))
    harness.version += 1
    assert harness.expect_refusal(token) == AccessTokenVerifier.ENDED


def test_a_revoked_client_acts_at_the_next_version(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.authenticate(token)
    harness.store.write(lambda tx: oauth_clients.revoke(tx, harness.flow.client.id, "operator"))
    harness.version += 1
    harness.expect_refusal(token)


def test_who_is_no_member_any_more_is_refused(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.authenticate(token)
    harness.store.user(harness.flow.org_id)
    harness.store.write(lambda tx: memberships.remove(tx, harness.flow.user_id, "operator"), harness.flow.org_id)
    harness.version += 1
    harness.expect_refusal(token)


def test_a_changed_role_acts_at_the_next_version(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    harness.store.user(harness.flow.org_id)
    assert harness.authenticate(token).role == "owner"
    harness.store.write(
        lambda tx: memberships.change_role(tx, harness.flow.user_id, "member", "operator"), harness.flow.org_id
    )
    harness.version += 1
    assert harness.authenticate(token).role == "member"


def test_tax_opens_only_while_the_client_is_approved(harness: AuthenticatorHarness) -> None:
    token = harness.mint("accounting:read", "tax:read")

    def approve(attestation: str | None) -> None:
        harness.store.write(
            lambda tx: oauth_clients.set_tax_approval(tx, harness.flow.client.id, attestation, "operator")
        )
        harness.version += 1

    assert harness.authenticate(token).scopes == {"accounting:read"}
    approve("declared")
    assert harness.authenticate(token).scopes == {"accounting:read", "tax:read"}
    approve(None)
    assert harness.authenticate(token).scopes == {"accounting:read"}


def test_a_signature_is_checked_once_for_as_long_as_the_keys_stay(harness: AuthenticatorHarness) -> None:
    token = harness.mint()
    digest = hashlib.sha256(token.encode()).digest()
    first = harness.store.read(lambda tx: harness.verifier.verify(tx, token, digest))
    nothing_signed = harness.mint()[:-4] + "AAAA"
    again = harness.store.read(lambda tx: harness.verifier.verify(tx, nothing_signed, digest))
    assert again == first
    harness.store.clock.advance(signing_keys.ROTATION)
    harness.store.write(lambda tx: signing_keys.add(tx, [signing_key("ES256", 1)]))
    harness.store.read(harness.keys.load)
    harness.store.clock.advance(-signing_keys.ROTATION)
    with pytest.raises(Problem):
        harness.store.read(lambda tx: harness.verifier.verify(tx, nothing_signed, digest))
    assert harness.store.read(lambda tx: harness.verifier.verify(tx, token, digest)) == first


def test_the_memory_of_signatures_is_bounded(harness: AuthenticatorHarness) -> None:
    verifier = AccessTokenVerifier(harness.keys, ISSUER, verified_max=2)
    for number in range(5):
        token = harness.mint()
        harness.store.read(lambda tx, token=token, n=number: verifier.verify(tx, token, bytes([n])))
    assert list(verifier._verified) == [bytes([3]), bytes([4])]


def test_rsa_tokens_are_admitted_too(harness: AuthenticatorHarness) -> None:
    """Whatever of our keys signed it: the header names the key, and the key its algorithm."""
    signer = harness.keys.signer("RS256", harness.store.now())
    assert isinstance(signer.opened.key, RSAKey)
    harness.authenticate(
        harness.forge({"alg": "RS256", "typ": "at+jwt", "kid": signer.kid}, {}, signer.opened.key, "RS256")
    )
