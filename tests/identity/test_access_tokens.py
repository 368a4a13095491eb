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
from gatewayd.identity import access_tokens, grants, id_tokens, memberships, oauth_clients, signing_keys
from gatewayd.identity.access_tokens import AccessTokenParameters, AccessTokenVerifier
from gatewayd.identity.authentication import ApiKeyVerifier, Authenticator
from gatewayd.identity.grants import Grant
from gatewayd.identity.signing_keys import SigningKeys
from tests.support.consents import ISSUER, Flow
from tests.support.oauth import signing_key
from tests.support.store import START, MemoryStore


class Door:
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

    def knock(self, token: str) -> Caller:
        return self.store.read(lambda tx: self.authenticator.authenticate(tx, self.version, token, "192.0.2.1"))

    def refused(self, token: str) -> str:
        with pytest.raises(Problem) as caught:
            self.knock(token)
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
def door(store: MemoryStore) -> Door:
    return Door(store)


def test_a_token_acts_as_who_gave_the_grant(door: Door) -> None:
    assert door.knock(door.mint("openid", "accounting:read")) == Caller(
        kind="access_token",
        credential_id=door.grant.id,
        org_id=door.flow.org_id,
        user_id=door.flow.user_id,
        role="owner",
        scopes=frozenset({"openid", "accounting:read"}),
    )


def test_a_token_that_was_signed_again_alike_is_admitted(door: Door) -> None:
    """So that the refusals below are for what they change."""
    door.knock(door.resigned())


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
def test_other_claims_are_refused_though_our_key_signed_them(door: Door, claims: dict[str, Any]) -> None:
    door.refused(door.resigned(**claims))


@pytest.mark.parametrize("typ", ["JWT", "at+JWT", "application/at+jwt", "dpop+jwt", ""])
def test_another_type_is_refused(door: Door, typ: str) -> None:
    door.refused(door.resigned(typ))


def test_an_id_token_is_no_access_token(door: Door) -> None:
    parameters = id_tokens.IdTokenParameters(ISSUER, door.mint(), True, door.store.now())
    door.refused(id_tokens.mint(door.keys, door.grant, parameters))


def test_no_signature_is_refused(door: Door) -> None:
    head, payload, _ = door.mint().split(".")
    kid = msgspec.json.decode(unpacked(head))["kid"]
    for algorithm in ("none", "None", "NONE", ""):
        header = packed(msgspec.json.encode({"alg": algorithm, "typ": "at+jwt", "kid": kid}))
        door.refused(f"{header}.{payload}.")
        door.refused(f"{header}.{payload}.AAAA")
    door.refused(f"{head}.{payload}.")


def test_the_public_key_is_no_shared_secret(door: Door) -> None:
    """Algorithm confusion: HMAC with what everybody knows (RFC 8725 §2.1)."""
    kid = door.keys.signer("RS256", door.store.now()).kid
    found = door.keys.find(kid)
    assert found is not None
    for secret in (
        found.public,
        found.opened.key.as_pem(private=False),
        found.opened.key.as_der(private=False),
        b"x" * 32,
    ):
        head = packed(msgspec.json.encode({"alg": "HS256", "typ": "at+jwt", "kid": kid}))
        signed = f"{head}.{door.mint().split('.')[1]}"
        door.refused(f"{signed}.{packed(hmac.digest(secret, signed.encode(), 'sha256'))}")


def test_the_key_decides_the_algorithm(door: Door) -> None:
    rsa = door.keys.signer("RS256", door.store.now())
    elliptic = door.keys.signer("ES256", door.store.now())
    door.refused(door.forge({"alg": "RS256", "typ": "at+jwt", "kid": elliptic.kid}, {}, rsa.opened.key, "RS256"))
    door.refused(door.forge({"alg": "ES256", "typ": "at+jwt", "kid": rsa.kid}, {}, elliptic.opened.key, "ES256"))
    door.refused(door.forge({"alg": "PS256", "typ": "at+jwt", "kid": rsa.kid}, {}, rsa.opened.key, "PS256"))


def test_a_foreign_key_is_refused_whatever_it_calls_itself(door: Door) -> None:
    foreign = ECKey.generate_key("P-256")
    ours = door.keys.signer("ES256", door.store.now()).kid
    for kid in (ours, foreign.thumbprint(), "../../etc/passwd", ""):
        door.refused(door.forge({"alg": "ES256", "typ": "at+jwt", "kid": kid}, {}, foreign, "ES256"))
    door.refused(door.forge({"alg": "ES256", "typ": "at+jwt"}, {}, foreign, "ES256"))


def test_a_key_in_the_header_is_refused(door: Door) -> None:
    foreign = ECKey.generate_key("P-256")
    ours = door.keys.signer("ES256", door.store.now())
    for member in (
        {"jwk": foreign.as_dict(private=False)},
        {"jku": "https://evil.example/jwks"},
        {"x5u": "https://evil.example/x"},
        {"crit": ["exp"], "exp": 1},
        {"cty": "JWT"},
    ):
        header = {"alg": "ES256", "typ": "at+jwt", "kid": ours.kid, **member}
        for key in (foreign, ours.opened.key):
            payload = unpacked(door.mint().split(".")[1])
            head = packed(msgspec.json.encode(header))
            signed = f"{head}.{packed(payload)}".encode()
            signature = jws.JWSRegistry.algorithms["ES256"].sign(signed, key)
            door.refused(f"{signed.decode()}.{packed(signature)}")


@pytest.mark.parametrize(
    "text",
    ["eyJ..", "eyJhbGciOiJub25lIn0.e30.", "eyJ.eyJ.eyJ", "eyJ" + "A" * 9000 + ".e30.x", "eyJé.e30.x", "eyJbXQ.e30.x"],
)
def test_what_is_no_token_is_refused(door: Door, text: str) -> None:
    door.refused(text)


def test_a_changed_byte_is_refused(door: Door) -> None:
    head, payload, signature = door.mint().split(".")
    other = msgspec.json.decode(unpacked(payload))
    other["scope"] = "accounting:write"
    door.refused(f"{head}.{packed(msgspec.json.encode(other))}.{signature}")
    flipped = bytearray(unpacked(signature))
    flipped[5] ^= 1
    door.refused(f"{head}.{payload}.{packed(bytes(flipped))}")


def test_expires_to_the_second_though_it_was_admitted(door: Door) -> None:
    token = door.mint()
    door.knock(token)
    door.store.clock.advance(HOUR - 1)
    door.knock(token)
    door.store.clock.advance(1)
    assert door.refused(token) == AccessTokenVerifier.EXPIRED
    door.version += 1
    assert door.refused(token) == AccessTokenVerifier.EXPIRED


def test_a_revoked_grant_acts_at_the_next_version(door: Door) -> None:
    token = door.mint()
    door.knock(token)
    door.store.write(lambda tx: grants.revoke(tx, door.grant.id, "user", door.flow.user_id))
    door.version += 1
    assert door.refused(token) == AccessTokenVerifier.ENDED


def test_a_revoked_client_acts_at_the_next_version(door: Door) -> None:
    token = door.mint()
    door.knock(token)
    door.store.write(lambda tx: oauth_clients.revoke(tx, door.flow.client.id, "operator"))
    door.version += 1
    door.refused(token)


def test_who_is_no_member_any_more_is_refused(door: Door) -> None:
    token = door.mint()
    door.knock(token)
    door.store.user(door.flow.org_id)
    door.store.write(lambda tx: memberships.remove(tx, door.flow.user_id, "operator"), door.flow.org_id)
    door.version += 1
    door.refused(token)


def test_a_changed_role_acts_at_the_next_version(door: Door) -> None:
    token = door.mint()
    door.store.user(door.flow.org_id)
    assert door.knock(token).role == "owner"
    door.store.write(lambda tx: memberships.change_role(tx, door.flow.user_id, "member", "operator"), door.flow.org_id)
    door.version += 1
    assert door.knock(token).role == "member"


def test_tax_opens_only_while_the_client_is_approved(door: Door) -> None:
    token = door.mint("accounting:read", "tax:read")

    def approve(attestation: str | None) -> None:
        door.store.write(lambda tx: oauth_clients.set_tax_approval(tx, door.flow.client.id, attestation, "operator"))
        door.version += 1

    assert door.knock(token).scopes == {"accounting:read"}
    approve("declared")
    assert door.knock(token).scopes == {"accounting:read", "tax:read"}
    approve(None)
    assert door.knock(token).scopes == {"accounting:read"}


def test_a_signature_is_checked_once_for_as_long_as_the_keys_stay(door: Door) -> None:
    token = door.mint()
    digest = hashlib.sha256(token.encode()).digest()
    first = door.store.read(lambda tx: door.verifier.verify(tx, token, digest))
    nothing_signed = door.mint()[:-4] + "AAAA"
    again = door.store.read(lambda tx: door.verifier.verify(tx, nothing_signed, digest))
    assert again == first
    door.store.clock.advance(signing_keys.ROTATION)
    door.store.write(lambda tx: signing_keys.add(tx, [signing_key("ES256", 1)]))
    door.store.read(door.keys.load)
    door.store.clock.advance(-signing_keys.ROTATION)
    with pytest.raises(Problem):
        door.store.read(lambda tx: door.verifier.verify(tx, nothing_signed, digest))
    assert door.store.read(lambda tx: door.verifier.verify(tx, token, digest)) == first


def test_the_memory_of_signatures_is_bounded(door: Door) -> None:
    verifier = AccessTokenVerifier(door.keys, ISSUER, verified_max=2)
    for number in range(5):
        token = door.mint()
        door.store.read(lambda tx, token=token, n=number: verifier.verify(tx, token, bytes([n])))
    assert len(verifier._verified) == 2


def test_rsa_tokens_are_admitted_too(door: Door) -> None:
    """Whatever of our keys signed it: the header names the key, and the key its algorithm."""
    signer = door.keys.signer("RS256", door.store.now())
    assert isinstance(signer.opened.key, RSAKey)
    door.knock(door.forge({"alg": "RS256", "typ": "at+jwt", "kid": signer.kid}, {}, signer.opened.key, "RS256"))
