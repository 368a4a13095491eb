"""`/sign-out`, also where a client asks for it (OpenID Connect RP-Initiated Logout 1.0 §2)."""

from collections.abc import Iterable

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import BadRequest

from gatewayd.console.addresses import SIGN_IN, SIGN_OUT
from gatewayd.console.browser import Browser, allow_form_to, flash, see, visit
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.clients import redirect_uris, sign_outs
from gatewayd.identity.clients.oauth_errors import DirectFailure
from gatewayd.identity.clients.sign_outs import SignOut
from gatewayd.identity.sign_in import sessions, sign_in_records
from gatewayd.identity.sign_in.sessions import Session
from gatewayd.store import WriteTx

_NAMES = ("client_id", "post_logout_redirect_uri", "state")


class SignOutPages:
    """The question, and what follows it."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", SIGN_OUT, self.show)
        add_page(app, "POST", SIGN_OUT, self.sign_out)

    async def show(self) -> Response | str:
        """A question first: signing out by a mere link could be anybody's joke.

        Chosen: whoever is not signed in is offered the way back to the client, and not sent: the address may be one
        that somebody registered to hide behind ours.
        """
        requested = await self._read_request(request.args.items(multi=True))
        if visit().session is None and requested.location is None:
            return see(SIGN_IN)
        if requested.location is not None:
            allow_form_to(requested.location)
        host = None if requested.redirect_uri is None else redirect_uris.host_of(requested.redirect_uri)
        return await render_template("people/sign_out.html", requested=requested, host=host)

    async def sign_out(self) -> Response:
        requested = await self._read_request((await request.form).items(multi=True))
        session = visit().session
        if session is not None:
            await self._parts.store.write(lambda tx: _end(tx, session))
        response = see(requested.location or SIGN_IN)
        self._browser.forget(response)
        flash("success", "You are signed out.")
        return response

    async def _read_request(self, pairs: Iterable[tuple[str, str]]) -> SignOut:
        """What a client asks for, if one does. Raises `BadRequest`."""
        raw: dict[str, list[str]] = {}
        for name, text in pairs:
            if name in _NAMES:
                raw.setdefault(name, []).append(text)
        try:
            return await self._parts.store.read(lambda tx: sign_outs.check(tx, raw))
        except DirectFailure:
            raise BadRequest("The app asked to send you to an address that is not its own.") from None


def _end(tx: WriteTx, session: Session) -> None:
    if sessions.end(tx, session.user_id, session.id):
        sign_in_records.signed_out(tx, session.user_id, session.id)
