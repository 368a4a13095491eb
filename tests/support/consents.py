"""A person, a client and the consent between them, down to tokens, by the operations that do it in life."""

import base64
import hashlib
from dataclasses import dataclass, field

import msgspec

from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.identity.clients.oauth_parameters import Audiences, Raw
from gatewayd.identity.random_tokens import hash_token
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens import authorization_codes, authorizations, refresh_tokens
from gatewayd.identity.tokens.authorization_codes import CodeState, Consent, TokenRequest
from gatewayd.identity.tokens.authorizations import PendingRequest
from gatewayd.identity.tokens.refresh_tokens import RefreshState, Successor
from gatewayd.store import WriteTx
from tests.support.store import MemoryStore

ISSUER = "https://books.example"
REDIRECT = "https://app.example/callback"
VERIFIER = "0123456789-._~abcdefghijklmnopqrstuvwxyzABC"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
SCOPE = "openid offline_access accounting:read accounting:write"


def request_parameters(**changes: str | list[str] | None) -> Raw:
    """The parameters of an authorization request; None takes one out, a list gives it several times."""
    values: dict[str, str | list[str] | None] = {
        "response_type": "code",
        "redirect_uri": REDIRECT,
        "scope": SCOPE,
        "resource": ISSUER,
        "state": "s-1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    return {name: value if isinstance(value, list) else [value] for name, value in values.items() if value is not None}


def code_for(tx: WriteTx, client: Client, consent: Consent) -> str:
    """A fresh code, all of it in one transaction."""
    parameters = authorizations.check(client, request_parameters(scope=" ".join(consent.scopes)), Audiences(ISSUER))
    handle = authorizations.save(tx, parameters, pushed=False)
    pending = authorizations.load(tx, handle)
    assert pending is not None
    return authorization_codes.issue_code(tx, pending, consent)


def refresh_token_for(tx: WriteTx, client: Client, consent: Consent) -> str:
    """The first refresh token of a fresh grant, all of it in one transaction."""
    state, token = authorization_codes.read_code(tx, code_for(tx, client, consent)), refresh_tokens.make_token()
    assert state is not None
    assert authorization_codes.redeem_code(tx, state, hash_token(token), None) is None
    return token


@dataclass(eq=False)
class Flow:
    """One person, signed in, in one organization, and one client."""

    store: MemoryStore
    grace_seconds: int = 120
    org_id: str = field(init=False)
    user_id: str = field(init=False)
    session_id: str = field(init=False)
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.org_id = self.store.org()
        self.user_id = self.store.user(self.org_id)
        visitor = sessions.Visitor(user_agent="Firefox", address="192.0.2.1")
        self.session_id = self.store.write(lambda tx: sessions.start(tx, self.user_id, ["pwd"], visitor))[1].id
        self.client = self.register()

    def register(self, **metadata: object) -> Client:
        """Another client."""
        raw = {"client_name": "App", "redirect_uris": [REDIRECT], **metadata}
        return self.store.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(raw)))

    def pending_request(self, **changes: str | list[str] | None) -> PendingRequest:
        """A request in front of the person."""
        parameters = authorizations.check(self.client, request_parameters(**changes), Audiences(ISSUER))
        handle = self.store.write(lambda tx: authorizations.save(tx, parameters, pushed=False))
        pending = self.store.read(lambda tx: authorizations.load(tx, handle))
        assert pending is not None
        return pending

    def consent(self, pending: PendingRequest, **changes: object) -> str:
        """The person allows everything; returns the code."""
        consent = Consent(
            user_id=self.user_id,
            org_id=self.org_id,
            session_id=self.session_id,
            scopes=frozenset(pending.parameters.scope),
            authenticated_at=self.store.now(),
            methods=("pwd",),
        )
        consent = msgspec.structs.replace(consent, **changes)
        return self.store.write(lambda tx: authorization_codes.issue_code(tx, pending, consent))

    def code(self, **changes: str | list[str] | None) -> str:
        """A fresh code."""
        return self.consent(self.pending_request(**changes))

    def read_code(self, code: str) -> CodeState:
        state = self.store.read(lambda tx: authorization_codes.read_code(tx, code))
        assert state is not None
        return state

    def token_request(self, **changes: str | None) -> TokenRequest:
        """What the client sends with its code."""
        token_request = TokenRequest(
            client_id=self.client.id, redirect_uri=REDIRECT, code_verifier=VERIFIER, key_thumbprint=None
        )
        return msgspec.structs.replace(token_request, **changes)

    def redeem(self, code: str, token: str | None = None, **changes: str | None) -> OAuthFailure | None:
        """What the token endpoint does; the failure that it would answer."""
        state = self.read_code(code)
        token_request = self.token_request(**changes)
        if not state.used:
            try:
                authorization_codes.check_code(state, token_request, self.store.now())
            except OAuthFailure as failure:
                return failure
        digest = None if token is None else hash_token(token)
        key = token_request.key_thumbprint
        return self.store.write(lambda tx: authorization_codes.redeem_code(tx, state, digest, key))

    def connect(self, **changes: str | list[str] | None) -> tuple[str, str]:
        """A whole consent; returns the grant's id and the first refresh token."""
        code, token = self.code(**changes), refresh_tokens.make_token()
        assert self.redeem(code, token) is None
        return self.read_code(code).grant.id, token

    def read_refresh(self, token: str) -> RefreshState:
        state = self.store.read(lambda tx: refresh_tokens.read_refresh(tx, token))
        assert state is not None
        return state

    def refresh(self, token: str, **changes: str | None) -> "str | OAuthFailure":
        """What the token endpoint does: the next token, which here is the whole answer, or the failure."""
        return self.rotate(self.read_refresh(token), **changes)

    def rotate(self, state: RefreshState, **changes: str | None) -> "str | OAuthFailure":
        """The same once the token was read."""
        token_request = self.token_request(**changes)
        try:
            refresh_tokens.check_refresh(state, token_request.client_id, token_request.key_thumbprint, self.store.now())
        except OAuthFailure as failure:
            return failure
        stored = self.store.read(lambda tx: refresh_tokens.stored_response(tx, state, self.grace_seconds))
        if stored is not None:
            return stored
        token = refresh_tokens.make_token()
        successor = None if state.superseded_at is not None else Successor(hash_token(token), token)
        return self.store.write(lambda tx: refresh_tokens.rotate(tx, state, successor, self.grace_seconds))
