"""`/sign-in/forgotten`: a link for a new password, by mail to whom it is of.

What is answered is the same whether anybody has that address or not. Without mail the page says who can make a link.
"""

from typing import Final

from quart import Quart, render_template, request

from gatewayd.clock import HOUR, Instant
from gatewayd.console.addresses import FORGOTTEN, SIGN_IN, reset_link
from gatewayd.console.browser import Browser, value
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.people.sign_in import retry_after
from gatewayd.identity.sign_in import password_resets, throttling
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.throttling import Limits, Locked
from gatewayd.mail import notices, outbox
from gatewayd.mail.notices import Mailing
from gatewayd.store import WriteTx

PER_HOUR: Final = 3  # Chosen: links that one account is sent; who asks may be anybody


class Forgotten:
    """The page, and what it answers."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._store = parts.store
        self._mailing = parts.mailing
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", FORGOTTEN, self.show)
        add_page(app, "POST", FORGOTTEN, self.ask)

    async def show(self) -> str:
        return await self._page()

    async def ask(self) -> str | tuple[str, int, dict[str, str]]:
        """Mail a link to whoever has the address, if anybody; without mail, the page as it was."""
        mailing = self._mailing
        if mailing is None:
            return await self._page()
        email, visitor = value(await request.form, "email", 320), self._browser.visitor()
        limits = self._parts.sign_in.limits
        try:
            await self._store.write(lambda tx: _send(tx, mailing, email, visitor, limits))
        except Locked as locked:
            page = await self._page(problem="Too many links were asked for from your network. Try again later.")
            return page, 429, retry_after(locked.until, self._parts.clock.now())
        return await self._page(asked=email)

    async def _page(self, asked: str = "", problem: str = "") -> str:
        mailed = self._mailing is not None
        return await render_template(
            "people/forgotten.html", mailed=mailed, asked=asked, problem=problem, action=FORGOTTEN, sign_in=SIGN_IN
        )


def _send(tx: WriteTx, mailing: Mailing, email: str, visitor: Visitor, limits: Limits) -> None:
    """Raises `Locked`."""
    throttling.note_asked(tx, visitor, limits)
    user = password_resets.who_may_ask(tx, email)
    since = Instant(tx.now - HOUR)
    if user is not None and outbox.count_lately(tx, "password_reset", user.email, since) >= PER_HOUR:
        user = None
    made = password_resets.ask(tx, user, visitor)
    if user is not None and made is not None:
        token, ends = made
        notices.send_reset_link(tx, mailing, user, reset_link(mailing.issuer, token), ends)
