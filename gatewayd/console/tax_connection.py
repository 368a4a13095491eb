"""`/developers/tax/connect`: an organization is connected to the tax authority by somebody who signs in there.

The browser goes to the authority and comes back with a code (RFC 6749 §4.1). What comes back counts once, for the
session and the organization it began with, and only within ten minutes.
"""

import trio
from quart import Quart, Response, request
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import TAX, TAX_CONNECTED
from gatewayd.console.authority_sign_ins import AuthoritySignIns
from gatewayd.console.browser import see, signed_in, value
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.tax_access import TaxAccess, address_of
from gatewayd.console.tax_view import must_lead
from gatewayd.errors import Problem
from gatewayd.identity.users import User
from gatewayd.store import WriteTx
from gatewayd.tax import connections, engine
from gatewayd.tax.connections import Tokens
from gatewayd.tax.settings import SCOPE

CODE_MOST = 2048  # Chosen, characters
_NOT_BEGUN = (
    "This answer of the tax authority belongs to no sign-in that you began here within the last ten minutes, or it was "
    "used already. Nothing was changed. Connect again."
)
_DENIED = "Access was not allowed at the tax authority. Nothing was changed."
_FAILED = "The tax authority did not let you in. Nothing was changed. Try again in a while."
_REFUSED = (
    "The tax authority does not accept what it sent along: it may be too old. Nothing was changed. Connect again."
)
_LATE = "The tax authority did not answer in time. Nothing was changed. Try again in a while."
_DOWN = "The tax authority cannot be asked now. Nothing was changed. Try again in a while."
_OURS = "This server is not set up well enough to connect. Nothing was changed. Tell whoever runs it."
Page = tuple[str, int]


class _NotConnected(Exception):
    """Why nothing came of it, in words, and the status that says so."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class TaxConnectionPages:
    """The way to the authority and back."""

    def __init__(self, parts: ConsoleParts, access: TaxAccess) -> None:
        self._parts = parts
        self._access = access
        self._sign_ins = AuthoritySignIns()
        self._redirect_uri = parts.issuer + TAX_CONNECTED

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "POST", f"{TAX}/connect", self.connect)
        add_page(app, "GET", TAX_CONNECTED, self.come_back)

    async def connect(self) -> Response:
        """To the authority's own page."""
        session, user = signed_in()
        org_id = value(await request.form, "organization", 64)
        await self._parts.store.read(lambda tx: must_lead(tx, user), org_id)
        if not self._parts.tax.connects:
            raise NotFound
        state = self._sign_ins.begin(session.id, org_id, self._parts.clock.now())
        return see(self._parts.tax.sign_in_address(self._redirect_uri, state))

    async def come_back(self) -> Response | Page:
        """From there, with a code or the reason why there is none."""
        session, user = signed_in()
        state = request.args.get("state", "")
        org_id = self._sign_ins.end(state, session.id, self._parts.clock.now())
        if org_id is None:
            return await self._access.page(None, _NOT_BEGUN), 400
        await self._parts.store.read(lambda tx: must_lead(tx, user), org_id)
        try:
            tokens = await self._tokens(org_id)
        except _NotConnected as failure:
            return await self._access.page(org_id, failure.text), failure.status
        with trio.CancelScope(shield=True):  # the code is spent: what it gave must not be lost. Bounded by the store
            await self._parts.store.write(lambda tx: _save(tx, tokens, user), org_id)
        return see(address_of(org_id))

    async def _tokens(self, org_id: str) -> Tokens:
        """What the authority gives for its code. Raises `_NotConnected`."""
        error, code = request.args.get("error"), request.args.get("code", "")
        if error is not None:
            self._parts.log.info("tax_connect_denied", error=error[:64])
            raise _NotConnected(_DENIED if error == "access_denied" else _FAILED, 422)
        if not 0 < len(code) <= CODE_MOST:
            raise _NotConnected(_REFUSED, 422)
        try:
            tokens = await engine.redeem(self._parts.tax, org_id, code, self._redirect_uri)
        except Problem as problem:
            self._parts.log.info("tax_connect_failed", code=problem.code)
            raise _NotConnected(_LATE if problem.code == "tax_upstream_timeout" else _DOWN, problem.status) from None
        except OSError as error:  # a file of the settings cannot be read
            self._parts.log.error("tax_connect_failed", exc_info=error)
            raise _NotConnected(_OURS, 503) from None
        if tokens is None:
            raise _NotConnected(_REFUSED, 422)
        return tokens if tokens.scope else tokens._replace(scope=SCOPE)  # RFC 6749 §5.1: it is what was asked for


def _save(tx: WriteTx, tokens: Tokens, user: User) -> None:
    must_lead(tx, user)
    connections.save(tx, tokens, user.id)
