"""`/developers/tax/connect`: an organization is connected to the tax authority by somebody who signs in there.

It is connected as a whole, as by an agent, or one of its legal entities is. What is connected already is replaced once
that is agreed. The browser goes to the authority and comes back with a code (RFC 6749 §4.1), which counts once: see
tax/connections/sign_ins.py.
"""

import trio
from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import TAX, TAX_CONNECTED
from gatewayd.console.books.tax_access import TaxAccess, address_of
from gatewayd.console.books.tax_view import Connected, connected
from gatewayd.console.browser import allow_form_to, flash, must_lead, optional, see, signed_in, value
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.identity.people.users import User
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax import engine
from gatewayd.tax.connections import connections, sign_ins
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.connections.sign_ins import Connecting
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
_MEANWHILE = "Somebody has connected it meanwhile. Nothing was changed. Look at that connection first."
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
        self._redirect_uri = parts.issuer + TAX_CONNECTED

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "POST", f"{TAX}/connect", self.connect)
        add_page(app, "GET", TAX_CONNECTED, self.come_back)

    async def connect(self) -> Response | str:
        """To the authority's own page; where a connection would be lost, only once that is agreed."""
        session, user = signed_in()
        form = await request.form
        org_id, entity_id = value(form, "organization", 64), optional(form, "entity", 64) or None
        there = await self._parts.store.read(lambda tx: _there(tx, user, entity_id), org_id)
        if not self._parts.tax.connects:
            raise NotFound
        agreed = optional(form, "replaces", 64)
        if there is not None and not there.over and agreed != str(there.since):
            allow_form_to(self._parts.tax.sign_in_page)
            return await render_template("books/tax_replace.html", org_id=org_id, there=there, back=address_of(org_id))
        connecting = Connecting(org_id, entity_id, None if there is None else there.since)
        state = await self._parts.store.write(lambda tx: sign_ins.begin(tx, session.id, connecting))
        return see(self._parts.tax.sign_in_address(self._redirect_uri, state))

    async def come_back(self) -> Response | Page:
        """From there, with a code or the reason why there is none."""
        session, user = signed_in()
        state = request.args.get("state", "")
        connecting = await self._parts.store.write(lambda tx: sign_ins.end(tx, state, session.id))
        if connecting is None:
            return await self._access.page(None, _NOT_BEGUN), 400
        org_id = connecting.org_id
        try:
            await self._parts.store.read(lambda tx: _may_connect(tx, user, connecting), org_id)
            tokens = await self._tokens(org_id)
            with trio.CancelScope(shield=True):  # the code is spent: what it gave must not be lost
                await self._parts.store.write(lambda tx: _save(tx, tokens, user, connecting), org_id)
        except _NotConnected as failure:
            return await self._access.page(org_id, failure.text), failure.status
        flash("success", "The tax authority is connected.")
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
            if problem.code == "tax_not_configured":  # the authority does not know this service, or we not its secret
                self._parts.log.error("tax_connect_failed", error_code=problem.code, reason=problem.message)
                raise _NotConnected(_OURS, problem.status) from None
            self._parts.log.info("tax_connect_failed", error_code=problem.code)
            raise _NotConnected(_LATE if problem.code == "tax_upstream_timeout" else _DOWN, problem.status) from None
        except OSError as error:  # a file of the settings cannot be read
            self._parts.log.error("tax_connect_failed", exc_info=error)
            raise _NotConnected(_OURS, 503) from None
        if tokens is None:
            raise _NotConnected(_REFUSED, 422)
        return tokens if tokens.scope else tokens._replace(scope=SCOPE)  # RFC 6749 §5.1: it is what was asked for


def _there(tx: ReadTx, user: User, legal_entity_id: str | None) -> Connected | None:
    """The connection that is there already. Raises `NotFound`, `Forbidden`."""
    must_lead(tx, user)
    if legal_entity_id is not None and owners.find(tx, legal_entity_id) is None:
        raise NotFound
    return next((each for each in connected(tx) if each.legal_entity_id == legal_entity_id), None)


def _may_connect(tx: ReadTx, user: User, connecting: Connecting) -> None:
    """Raises `NotFound`, `Forbidden`; `_NotConnected` where somebody else has connected it meanwhile."""
    must_lead(tx, user)
    try:
        connections.refuse_replacing(tx, connecting.legal_entity_id, connecting.replaces)
    except Problem as problem:
        raise _NotConnected(_MEANWHILE, problem.status) from None


def _save(tx: WriteTx, tokens: Tokens, user: User, connecting: Connecting) -> None:
    _may_connect(tx, user, connecting)
    connections.save(tx, tokens, user.id, connecting.legal_entity_id)
