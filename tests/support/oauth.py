"""The identity provider in process: a client, a person and a consent without a browser."""

import base64
import functools
import hashlib
import secrets
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
import trio

from gatewayd.clock import SettableClock
from gatewayd.contract.caller import Role
from gatewayd.contract.holding import Held
from gatewayd.http1.request import Request
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import NewKey
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.people.users import NewUser
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.sign_in.sessions import Session, Visitor
from gatewayd.identity.signing import signing_keys as keys_of
from gatewayd.identity.signing.signing_keys import ALGORITHMS, Algorithm, SigningKeys
from gatewayd.identity.signing.signing_keys import NewKey as NewSigningKey
from gatewayd.identity.tokens import authorization_codes, authorizations
from gatewayd.identity.tokens.access_tokens import AccessTokenVerifier
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from gatewayd.identity.tokens.authorization_codes import Consent
from gatewayd.identity.tokens.dpop import ReplayCache
from gatewayd.oauth import addresses as at
from gatewayd.oauth.app import OAuthApp
from gatewayd.oauth.client_documents import FETCH_SECONDS, ClientDocuments
from gatewayd.oauth.parts import OAuthParts
from gatewayd.outbound.resolver import Resolver
from gatewayd.outbound.transport import GuardedTransport, Policy
from gatewayd.store import Store, WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.support.api import ANSWER_SECONDS, Body, Errors, Fields, Reply
from tests.support.scopes import request_of, scope_of
from tests.support.store import START

ISSUER = "https://books.example.com"
CALLBACK = "https://app.example.net/callback"
SCOPE = "openid accounting:read entities:read offline_access"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636 appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def signing_key(algorithm: Algorithm, number: int = 0) -> NewSigningKey:
    """A key that is made once for all tests of the process; `number` tells several apart."""
    return _generated(algorithm, number)


@functools.cache
def _generated(algorithm: Algorithm, number: int) -> NewSigningKey:
    return keys_of.generate(algorithm)


def challenge_of(verifier: str) -> str:
    """S256 (RFC 7636 §4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in, in one organization. `cookie` is the token of the browser session."""

    user_id: str
    org_id: str
    session: Session
    cookie: str


async def add_person(store: Store, email: str = "ann@example.com", role: Role = "owner") -> Person:
    """A member of an organization of their own, signed in by password."""

    def add(tx: WriteTx) -> tuple[str, str]:
        org = organizations.create(tx, "Example Ltd", "operator").id
        return org, users.create(tx, NewUser(email=email, name=email.partition("@")[0]), "operator").id

    def join(tx: WriteTx) -> Person:
        memberships.add(tx, user_id, role, "operator")
        return sign_in(tx, user_id, org_id)

    org_id, user_id = await store.write(add)
    return await store.write(join, org_id)


def agree(tx: WriteTx, handle: str, person: Person, scopes: Iterable[str] | None = None) -> str:
    """What the console does once a person has pressed Allow: the request becomes a code, which is answered.

    `handle` is that of the address the authorization endpoint redirects to. `scopes` None: all that were asked for.
    Raises what `issue_code` does.
    """
    pending = authorizations.load(tx, handle)
    assert pending is not None, "the request has expired or was answered"
    authorizations.bind(tx, handle, person.session.id)
    agreed = Consent(
        user_id=person.user_id,
        org_id=person.org_id,
        session_id=person.session.id,
        scopes=frozenset(pending.parameters.scope if scopes is None else scopes),
        authenticated_at=person.session.authenticated_at,
        methods=person.session.methods,
    )
    return authorization_codes.issue_code(tx, pending, agreed)


async def consent(store: Store, handle: str, person: Person, scopes: Iterable[str] | None = None) -> str:
    """`agree` in a transaction of its own."""
    return await store.write(lambda tx: agree(tx, handle, person, scopes))


def sign_in(tx: WriteTx, user_id: str, org_id: str) -> Person:
    """A browser session of a member."""
    cookie, session = sessions.start(tx, user_id, ["pwd"], Visitor(user_agent="tests", address="192.0.2.1"))
    return Person(user_id, org_id, session, cookie)


def parameters_of(reply: Reply) -> dict[str, str]:
    """The query of a redirect."""
    assert reply.status == 303, (reply.status, reply.body)
    return dict(parse_qsl(urlsplit(reply["location"]).query, strict_parsing=True))


@dataclass
class Provider:
    """The provider, its store, and what a test does with them."""

    app: OAuthApp
    parts: OAuthParts
    store: Store
    clock: SettableClock
    keys: SigningKeys
    authenticator: Authenticator
    errors: Errors
    person: Person
    peer: str = "192.0.2.7"
    sent: list[str] = field(default_factory=list)

    async def __call__(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | str = "",
        form: Mapping[str, str] | str | None = None,
        json: object = msgspec.UNSET,
        headers: Fields = (),
        peer: str | None = None,
    ) -> Reply:
        """One request. `form` and `query` as strings are sent as they are."""
        fields, body = [(b"host", b"books.example.com"), (b"accept", b"application/json")], b""
        if form is not None:
            fields.append((b"content-type", b"application/x-www-form-urlencoded"))
            body = (form if isinstance(form, str) else urlencode(form)).encode()
        if json is not msgspec.UNSET:
            fields.append((b"content-type", b"application/json"))
            body = msgspec.json.encode(json)
        named = {name for name, _ in headers}
        request = request_of(
            method,
            path,
            query=(query if isinstance(query, str) else urlencode(query)).encode(),
            headers=[*(each for each in fields if each[0] not in named), *headers],
            client=(peer or self.peer, 40000),
        )
        return await self.send(request, Body(body))

    async def send(self, request: Request, body: Body) -> Reply:
        """A request as a server would pass it on."""
        messages: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            messages.append(message)

        with trio.fail_after(ANSWER_SECONDS):
            await self.app(scope_of(request), body.receive, send)
        start, end = messages
        return Reply(start["status"], start["headers"], end["body"])

    async def register(self, **metadata: object) -> str:
        """Register a client; returns its id."""
        client = {"client_name": "Ledger Sync", "redirect_uris": [CALLBACK], **metadata}
        reply = await self("POST", at.REGISTER, json=client)
        assert reply.status == 201, reply.body
        return str(reply.json()["client_id"])

    def request_of(self, client_id: str, **changed: str | None) -> dict[str, str]:
        """The parameters of an authorization request. None takes one away."""
        parameters: dict[str, str | None] = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "scope": SCOPE,
            "resource": ISSUER,
            "state": "xyz",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **changed,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    async def authorize(self, client_id: str, **changed: str | None) -> Reply:
        """Ask the authorization endpoint."""
        return await self("GET", at.AUTHORIZE, query=self.request_of(client_id, **changed))

    async def code(self, client_id: str, scopes: Iterable[str] | None = None, **changed: str | None) -> str:
        """A code that the provider's person consented to."""
        reply = await self.authorize(client_id, **changed)
        assert reply["location"].startswith(f"{at.CHOOSE_PAGE}?"), reply["location"]
        return await consent(self.store, parameters_of(reply)["request"], self.person, scopes)

    async def redeem(self, client_id: str, code: str, headers: Fields = (), **changed: str | None) -> Reply:
        """A code at the token endpoint."""
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": client_id,
            "code_verifier": VERIFIER,
            "resource": ISSUER,
            **changed,
        }
        return await self._token(form, headers, None)

    async def refresh(
        self, client_id: str, token: str, headers: Fields = (), peer: str | None = None, **changed: str | None
    ) -> Reply:
        """A refresh token at the token endpoint."""
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client_id, **changed}
        return await self._token(form, headers, peer)

    async def _token(self, form: Mapping[str, str | None], headers: Fields, peer: str | None) -> Reply:
        sent = {name: value for name, value in form.items() if value is not None}
        return await self("POST", at.TOKEN, form=sent, headers=headers, peer=peer)

    async def tokens(self, client_id: str, **changed: str | None) -> dict[str, Any]:
        """The whole way from request to tokens."""
        reply = await self.redeem(client_id, await self.code(client_id, **changed))
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    async def key(self, role: Role = "owner", scopes: Collection[str] = (), held: Held | None = None) -> str:
        """An API key of the person's organization, made by a member with that role. No scopes: legacy full access."""
        user_id = self.person.user_id
        if role != "owner":
            email = f"{role}@example.com"
            user_id = (await self.store.write(lambda tx: users.create(tx, NewUser(email=email, name=role), "x"))).id
            await self.store.write(lambda tx: memberships.add(tx, user_id, role, "x"), self.person.org_id)
        new = NewKey(name="CI", user_id=user_id, scopes=sorted(scopes), held=held)
        return (
            await self.store.write(
                lambda tx: api_keys.create(tx, new, secrets.token_bytes(32), "x"), self.person.org_id
            )
        ).key


@asynccontextmanager
async def open_provider(
    directory: Path,
    image: bytes,
    policy: Policy | None = None,
    resolve: Resolver | None = None,
    fetch_seconds: float = FETCH_SECONDS,
    resources: tuple[str, ...] = (),
) -> AsyncIterator[Provider]:
    """The provider over an empty migrated store in `directory`, with one person."""
    (directory / DATABASE_NAME).write_bytes(image)
    clock, errors, keys, replays = SettableClock(START), Errors(), SigningKeys(), ReplayCache()
    documents = ClientDocuments(GuardedTransport(policy or Policy(), resolve), clock, "gatewayd/tests", fetch_seconds)
    async with open_store(StoreSettings(directory=directory), clock) as store:
        await store.write(lambda tx: keys_of.add(tx, [signing_key(algorithm) for algorithm in ALGORITHMS]))
        await store.read(keys.load)
        authenticator = Authenticator([ApiKeyVerifier(), AccessTokenVerifier(keys, ISSUER)], replays=replays)
        parts = OAuthParts(
            store=store,
            keys=keys,
            issuer=ISSUER,
            authenticate=authenticator.authenticate,
            replays=replays,
            documents=documents,
            log=errors,
            resources=resources,
        )
        person = await add_person(store)
        try:
            yield Provider(OAuthApp(parts), parts, store, clock, keys, authenticator, errors, person)
        finally:
            with trio.CancelScope(shield=True):
                await documents.aclose()
        assert errors.logged == []
