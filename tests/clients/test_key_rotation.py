"""Other people's verifiers of our tokens, before, during and after a rotation of the signing keys of a real daemon."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jwt
import pytest

from gatewayd.clock import MINUTE
from gatewayd.identity.signing.signing_keys import AHEAD, RETENTION, ROTATION
from gatewayd.store import WriteTx
from tests.clients.programs import run_node
from tests.clients.provider import JWKS, Provider, add_password, provided, reserved

_AGE = """
UPDATE signing_keys SET created_at = created_at - :age, signs_from = signs_from - :age,
    signs_until = signs_until - :age, published_until = published_until - :age
"""
PHASES = ("first", "published ahead", "signing", "the first is gone")


@dataclass
class Phase:
    """What a client could get at one time: the key set, and a connection that was just made."""

    name: str
    client_id: str
    key_set: dict[str, Any]
    tokens: dict[str, Any]
    followed: jwt.PyJWK
    """What a client that fetches the key set by itself, and outlives the restarts, verifies this access token with."""
    call_status: dict[str, int] = field(default_factory=dict)
    """What the API answers now to the access tokens of each phase so far."""

    @property
    def kids(self) -> set[str]:
        return {key["kid"] for key in self.key_set["keys"]}

    def signer(self, kind: str) -> str:
        return str(jwt.get_unverified_header(self.tokens[kind])["kid"])


@dataclass
class Rotation:
    """Every phase, and the issuer."""

    issuer: str
    phases: dict[str, Phase]


def age(tx: WriteTx, microseconds: int) -> None:
    """As if the keys had been made that much earlier."""
    tx.run(_AGE, age=microseconds)


def phase_of(provider: Provider, name: str, client_id: str, keys: jwt.PyJWKClient) -> Phase:
    key_set = provider.api.get(JWKS).json()
    tokens = provider.connect(client_id, scope="openid accounting:read")
    return Phase(name, client_id, key_set, tokens, keys.get_signing_key_from_jwt(tokens["access_token"]))


@pytest.fixture(scope="module")
def rotation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rotation]:
    """A daemon that was restarted as its keys grew old: it rotates them as it starts."""
    with reserved(tmp_path_factory.mktemp("rotating")) as address:
        firm = address.instance.firm()
        add_password(address.instance, firm)
        ages = (0, ROTATION - AHEAD + MINUTE, AHEAD, RETENTION)
        phases: dict[str, Phase] = {}
        client_id = ""
        keys = jwt.PyJWKClient(f"{address.issuer}{JWKS}", ssl_context=address.tls, cooldown_duration=0)
        for name, microseconds in zip(PHASES, ages, strict=True):
            address.instance.write(partial(age, microseconds=microseconds))
            with address.serving(), provided(address, firm) as provider:
                client_id = client_id or provider.register(id_token_signed_response_alg="RS256")["client_id"]
                phases[name] = phase = phase_of(provider, name, client_id, keys)
                for each in phases.values():
                    phase.call_status[each.name] = provider.call(each.tokens["access_token"]).status_code
        yield Rotation(address.issuer, phases)


def decoded(rotation: Rotation, key_set: dict[str, Any], token: str, audience: str, algorithm: str) -> dict[str, Any]:
    """What PyJWT makes of a token with that key set. Raises `jwt.PyJWTError`."""
    kid = jwt.get_unverified_header(token)["kid"]
    key = jwt.PyJWKSet.from_dict(key_set)[kid]
    claims: dict[str, Any] = jwt.decode(token, key, [algorithm], audience=audience, issuer=rotation.issuer)
    return claims


KINDS = {"access_token": "ES256", "id_token": "RS256"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_key_is_shown_before_it_signs(rotation: Rotation, kind: str) -> None:
    first, ahead, signing, gone = (rotation.phases[name] for name in PHASES)
    assert first.signer(kind) == ahead.signer(kind) != signing.signer(kind) == gone.signer(kind)
    assert signing.signer(kind) not in first.kids
    assert signing.signer(kind) in ahead.kids
    assert first.signer(kind) in signing.kids
    assert first.signer(kind) not in gone.kids
    assert [len(phase.kids) for phase in (first, ahead, signing, gone)] == [2, 4, 4, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_pyjwt_verifies_across_the_rotation(rotation: Rotation, kind: str) -> None:
    first, ahead, signing, gone = (rotation.phases[name] for name in PHASES)
    algorithm = KINDS[kind]
    audience = rotation.issuer if kind == "access_token" else first.client_id
    # A key set that was fetched ahead serves for what is signed later, and a later one for what was signed before.
    for phase, key_set in ((first, first), (first, signing), (signing, ahead), (gone, signing), (gone, gone)):
        claims = decoded(rotation, key_set.key_set, phase.tokens[kind], audience, algorithm)
        assert claims["iss"] == rotation.issuer
    with pytest.raises(KeyError):
        decoded(rotation, gone.key_set, first.tokens[kind], audience, algorithm)
    with pytest.raises(jwt.InvalidAudienceError):
        decoded(rotation, first.key_set, first.tokens[kind], "https://other.example", algorithm)
    forged = first.tokens[kind][:-8] + "AAAAAAAA"
    with pytest.raises(jwt.InvalidSignatureError):
        decoded(rotation, first.key_set, forged, audience, algorithm)


def test_jose_verifies_across_the_rotation(rotation: Rotation) -> None:
    first, ahead, signing, gone = PHASES
    pairs = ((first, first), (first, signing), (signing, ahead), (gone, signing), (gone, gone), (first, gone))
    asked = [
        {
            "token": rotation.phases[phase].tokens[kind],
            "keySet": rotation.phases[keys].key_set,
            "audience": rotation.issuer if kind == "access_token" else rotation.phases[phase].client_id,
            "issuer": rotation.issuer,
            "typ": "at+jwt" if kind == "access_token" else "JWT",
            "algorithm": algorithm,
        }
        for kind, algorithm in KINDS.items()
        for phase, keys in pairs
    ]
    assert run_node("verify_tokens.mjs", asked) == [*([None] * 5), "ERR_JWKS_NO_MATCHING_KEY"] * 2


def test_the_api_takes_tokens_until_their_key_is_gone(rotation: Rotation) -> None:
    assert rotation.phases[PHASES[2]].call_status == {PHASES[0]: 200, PHASES[1]: 200, PHASES[2]: 200}
    assert rotation.phases[PHASES[3]].call_status == {PHASES[0]: 401, PHASES[1]: 401, PHASES[2]: 200, PHASES[3]: 200}


def test_pyjwt_follows_the_key_set_by_itself(rotation: Rotation) -> None:
    for phase in rotation.phases.values():
        claims = jwt.decode(
            phase.tokens["access_token"], phase.followed, ["ES256"], audience=rotation.issuer, issuer=rotation.issuer
        )
        assert claims["client_id"] == phase.client_id
