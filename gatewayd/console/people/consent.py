"""`/oauth/choose` and `/oauth/consent`: who it is, and what the client may do (Spec §5; RFC 6749 §4.1.1).

The endpoint has checked the request and kept it; its handle leads here. The chooser always appears, so that nobody
connects an app to the account that happened to be signed in.
"""

from collections.abc import Collection
from urllib.parse import quote

import msgspec
from quart import Quart, Response, render_template, request
from werkzeug.exceptions import BadRequest

from gatewayd.console.addresses import CHOOSE, CONSENT
from gatewayd.console.browser import (
    HANDLE_FIELD,
    SignInNeeded,
    allow_form_to,
    choose_address,
    see,
    sign_in_address,
    signed_in,
    value,
    visit,
)
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.scopes import meaning
from gatewayd.http1.redirects import with_parameters
from gatewayd.identity.clients import oauth_clients, redirect_uris
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import DirectFailure, OAuthFailure
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.tokens import authorization_codes, authorizations
from gatewayd.identity.tokens.authorization_codes import Consent
from gatewayd.identity.tokens.authorizations import PendingRequest
from gatewayd.store import ReadTx

_NOTHING_CHECKED = "Check at least one thing that the app may do, or deny."
_NONE_CHOSEN = "Choose the organization that the app may work for."
_TWO_NAMED = "You chose one organization and allowed another. Choose again."
_NO_MEMBER = "You do not belong to that organization any more."
_NOWHERE = "You belong to no organization yet, so there is nothing to give access to."
Page = str | tuple[str, int]


class _Authorization(msgspec.Struct, frozen=True, kw_only=True):
    """A request as its pages need it."""

    handle: str
    pending: PendingRequest
    client: Client

    @property
    def redirect_uri(self) -> str:
        return self.pending.parameters.redirect_uri

    @property
    def hosts(self) -> tuple[str, ...]:
        """What tells who it is: where this request leads, whatever else the client registered."""
        return oauth_clients.hosts_of(self.client.id, self.client.origin, redirect_uris.host_of(self.redirect_uri))


class _Choice(msgspec.Struct, frozen=True):
    """One organization that can be connected."""

    id: str
    name: str
    role: str


class _Filled(msgspec.Struct, frozen=True):
    """What the form holds: the scopes not opted out of, and the organization. Empty: none is chosen yet.

    Chosen: of several none beforehand, or the first would be given away by whoever does not look.
    """

    scopes: Collection[str]
    org_id: str = ""


class RequestGone(BadRequest):
    """The request expired, was answered, or began in another browser: shown, never redirected."""

    description = (
        "This request has expired or was answered already. Go back to the app and connect again: it makes a new one."
    )


class ConsentPages:
    """The two pages between an app's request and its answer."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", CHOOSE, self.show_choice)
        add_page(app, "POST", CHOOSE, self.choose)
        add_page(app, "GET", CONSENT, self.show_consent)
        add_page(app, "POST", CONSENT, self.answer)

    async def show_choice(self) -> Response | str:
        authorization = await self._load(request.args.get(HANDLE_FIELD, ""))
        self._require_sign_in(authorization)
        _, user = signed_in()
        other = sign_in_address(choose_address(authorization.handle), again=True)
        return await render_template("people/choose.html", authorization=authorization, user=user, other=other)

    async def choose(self) -> Response:
        authorization = await self._load(value(await request.form, HANDLE_FIELD))
        self._require_sign_in(authorization)
        session, _ = signed_in()
        try:
            await self._store.write(lambda tx: authorizations.bind(tx, authorization.handle, session.id))
        except DirectFailure:
            raise RequestGone from None
        return see(f"{CONSENT}?{HANDLE_FIELD}={quote(authorization.handle, safe='')}")

    async def show_consent(self) -> Response | Page:
        authorization = await self._load(request.args.get(HANDLE_FIELD, ""))
        session, _ = signed_in()
        if authorization.pending.session_id != session.id:
            return see(choose_address(authorization.handle))
        return await self._consent_page(authorization, _Filled(authorization.pending.parameters.scope))

    async def answer(self) -> Response | Page:
        """Allow or deny; either way the browser goes back to the client."""
        form = await request.form
        authorization = await self._load(value(form, HANDLE_FIELD))
        session, user = signed_in()
        if authorization.pending.session_id != session.id:
            raise RequestGone
        named = form.get("allow")  # by the button; without the style sheet those of other organizations are seen too
        if named is None and form.get("decision") != "allow":
            if not await self._store.write(lambda tx: authorizations.drop(tx, authorization.handle)):
                raise RequestGone
            return self._back(authorization, {"error": "access_denied", "error_description": "the person said no"})
        consent = Consent(
            user_id=user.id,
            org_id=form.get("organization", "")[:64],
            session_id=session.id,
            scopes=frozenset(form.getlist("scope")),
            authenticated_at=session.authenticated_at,
            methods=session.methods,
        )
        if not consent.scopes & set(authorization.pending.parameters.scope):
            return await self._consent_page(authorization, _Filled((), consent.org_id), _NOTHING_CHECKED)
        if not await self._store.read(lambda tx: memberships.is_member(tx, user.id), consent.org_id):
            problem = _NO_MEMBER if consent.org_id else _NONE_CHOSEN
            return await self._consent_page(authorization, _Filled(consent.scopes, consent.org_id), problem)
        if named not in (None, consent.org_id):
            return await self._consent_page(authorization, _Filled(consent.scopes), _TWO_NAMED)
        try:
            code = await self._store.write(
                lambda tx: authorization_codes.issue_code(tx, authorization.pending, consent)
            )
        except DirectFailure:
            raise RequestGone from None
        except OAuthFailure as failure:
            await self._store.write(lambda tx: authorizations.drop(tx, authorization.handle))
            return self._back(authorization, {"error": failure.code, "error_description": failure.description})
        return self._back(authorization, {"code": code})

    # -- steps

    async def _load(self, handle: str) -> _Authorization:
        """The request behind a handle. Raises `RequestGone`."""

        def look(tx: ReadTx) -> _Authorization | None:
            pending = authorizations.load(tx, handle)
            client = None if pending is None else oauth_clients.find(tx, pending.parameters.client_id)
            if pending is None or pending.pushed or client is None:  # a pushed one is for the endpoint to unwrap
                return None
            return _Authorization(handle=handle, pending=pending, client=client)

        authorization = await self._store.read(look)
        if authorization is None:
            raise RequestGone
        return authorization

    async def _consent_page(self, authorization: _Authorization, filled: _Filled, problem: str = "") -> Page:
        """What is asked for. A problem makes it 422."""
        _, user = signed_in()
        choices = await self._store.read(lambda tx: _choices(tx, user.id))
        allow_form_to(authorization.redirect_uri)
        parameters = authorization.pending.parameters
        page = await render_template(
            "people/consent.html",
            authorization=authorization,
            user=user,
            choices=choices,
            problem=problem if choices else _NOWHERE,
            checked=filled.scopes,
            chosen=filled.org_id,
            redirect_host=redirect_uris.host_of(authorization.redirect_uri),
            loopback=redirect_uris.is_loopback(authorization.redirect_uri),
            scopes=[(scope, meaning(scope)) for scope in parameters.scope],
            left_out=[(scope, meaning(scope)) for scope in parameters.left_out],
            other=sign_in_address(choose_address(authorization.handle), again=True),
        )
        return (page, 422) if problem else page

    def _require_sign_in(self, authorization: _Authorization) -> None:
        """Raises `SignInNeeded`, also where the client asks for a newer proof than there is."""
        session = visit().session
        if session is None:
            raise SignInNeeded(email=authorization.pending.parameters.login_hint or "")
        if authorizations.needs_sign_in(authorization.pending, session.authenticated_at, self._parts.clock.now()):
            raise SignInNeeded(again=True)

    def _back(self, authorization: _Authorization, answer: dict[str, str]) -> Response:
        """To the client: `state` as it was sent, and who answers (RFC 9207)."""
        parameters = authorization.pending.parameters
        if parameters.state is not None:
            answer = {**answer, "state": parameters.state}
        return see(with_parameters(parameters.redirect_uri, {**answer, "iss": self._parts.issuer}))


def _choices(tx: ReadTx, user_id: str) -> list[_Choice]:
    of_user = memberships.of_user(tx, user_id)
    return [_Choice(each.org_id, organizations.get(tx, each.org_id).name, each.role) for each in of_user]
