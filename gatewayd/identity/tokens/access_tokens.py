"""Access tokens: JWTs of RFC 9068, for the API or the grant's own resource. Each is good no longer than its grant."""

import secrets
from collections import OrderedDict
from typing import Literal, NamedTuple

import msgspec

from gatewayd.clock import SECOND, Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import RESTRICTED
from gatewayd.errors import Problem
from gatewayd.identity.clients import grants
from gatewayd.identity.clients.grants import ACCESS_TOKEN_LIFE, Grant
from gatewayd.identity.clients.oauth_parameters import Audiences
from gatewayd.identity.signing import signed_tokens
from gatewayd.identity.signing.signed_tokens import UntrustedToken
from gatewayd.identity.signing.signing_keys import SigningKeys
from gatewayd.identity.tokens.authentication import Admission
from gatewayd.store import ReadTx

TYPE = "at+jwt"  # RFC 9068 §2.1
ALGORITHM: Literal["ES256"] = "ES256"  # Chosen: small and quick to sign; the API is the only reader
EXPIRES_IN_SECONDS = ACCESS_TOKEN_LIFE // SECOND  # Spec §5
VERIFIED_MAX = 10_000  # Chosen: about 10 MB


class Confirmation(msgspec.Struct, frozen=True):
    """`cnf`: the key that a token is bound to (RFC 9449 §6.1)."""

    jkt: str


class AccessClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The claims. `aud` is one string, never a list; `org` and `gid` are our own: organization and grant."""

    iss: str
    sub: str
    aud: str
    exp: int
    iat: int
    jti: str
    client_id: str
    scope: str
    org: str
    gid: str
    cnf: Confirmation | None = None

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.scope.split())


class AccessTokenParameters(NamedTuple):
    """What goes into a token beside the grant. `scopes`: a part of the grant's, in order."""

    issuer: str
    scopes: list[str]
    key_thumbprint: str | None
    now: Instant


def mint(keys: SigningKeys, grant: Grant, parameters: AccessTokenParameters) -> str:
    """An access token of a grant. Raises `LookupError` where no key signs."""
    issued = parameters.now // SECOND
    claims: dict[str, object] = {
        "iss": parameters.issuer,
        "sub": grant.user_id,
        "aud": grant.resource or parameters.issuer,  # the API's origin is the issuer
        "exp": issued + EXPIRES_IN_SECONDS,
        "iat": issued,
        "jti": f"jti_{secrets.token_urlsafe(16)}",
        "client_id": grant.client_id,
        "scope": " ".join(parameters.scopes),
        "org": grant.org_id,
        "gid": grant.id,
        "cnf": None if parameters.key_thumbprint is None else {"jkt": parameters.key_thumbprint},
    }
    return signed_tokens.sign(keys.signer(ALGORITHM, parameters.now), TYPE, claims)


def read(keys: SigningKeys, token: str, audiences: Audiences) -> AccessClaims:
    """The claims of a token that was minted here for one of these, expired or not. Raises `UntrustedToken`."""
    claims = signed_tokens.read(keys, token, TYPE, AccessClaims)
    if claims.iss != audiences.issuer or claims.aud not in audiences.all:
        raise UntrustedToken("another issuer or another audience")
    return claims


class AccessTokenVerifier:
    """Access tokens for the `Authenticator`: the signature is checked once, the grant at every change of the data."""

    NOT_VALID = "The access token is not valid here."
    EXPIRED = "The access token has expired."
    ENDED = "The access token's grant has ended: it was revoked, or its user is no longer a member."

    def __init__(self, keys: SigningKeys, issuer: str, verified_max: int = VERIFIED_MAX) -> None:
        self._keys = keys
        self._audiences = Audiences(issuer)  # Spec §5: the audience is checked strictly on every request
        self._verified: OrderedDict[bytes, tuple[tuple[str, ...], AccessClaims]] = OrderedDict()
        self._verified_max = verified_max

    def recognizes(self, token: str) -> bool:
        return token.startswith("eyJ") and token.count(".") == 2

    def verify(self, tx: ReadTx, token: str, digest: bytes) -> Admission:
        claims = self._claims(token, digest)
        if claims.exp * SECOND <= tx.now:
            raise Problem("invalid_token", self.EXPIRED)
        live = grants.find_live(tx, claims.gid)
        if live is None or (live.org_id, live.user_id, live.client_id) != (
            claims.org,
            claims.sub,
            claims.client_id,
        ):
            raise Problem("invalid_token", self.ENDED)
        scopes = claims.scopes
        caller = Caller(
            kind="access_token",
            credential_id=claims.gid,
            org_id=live.org_id,
            user_id=live.user_id,
            role=live.role,
            scopes=scopes if live.tax_approved else scopes - RESTRICTED,
        )
        thumbprint = None if claims.cnf is None else claims.cnf.jkt
        return Admission(caller, claims.exp * SECOND, self.EXPIRED, (), thumbprint)

    def _claims(self, token: str, digest: bytes) -> AccessClaims:
        """The token's claims. A signature that was verified stays good while the same keys are published."""
        kids = self._keys.kids
        cached = self._verified.get(digest)
        if cached is not None and cached[0] is kids:
            return cached[1]
        try:
            claims = read(self._keys, token, self._audiences)
        except UntrustedToken:
            raise Problem("invalid_token", self.NOT_VALID) from None
        self._verified[digest] = kids, claims
        if len(self._verified) > self._verified_max:
            self._verified.popitem(last=False)
        return claims
