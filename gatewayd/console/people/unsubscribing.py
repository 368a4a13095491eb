"""`/sign-in/unsubscribe/...`: no more mail of deadlines, by the link of one; mail programs send it as RFC 8058 says."""

from quart import Quart, render_template

from gatewayd.console.addresses import SIGN_IN, UNSUBSCRIBE
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.mail import digests
from gatewayd.store import WriteTx

Page = str | tuple[str, int]


class Unsubscribing:
    """The page of one link. Looking changes nothing: what fetches links ahead ends nobody's mail."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", f"{UNSUBSCRIBE}/<token>", self.show)
        add_page(app, "POST", f"{UNSUBSCRIBE}/<token>", self.end)

    async def show(self, token: str) -> Page:
        if await self._store.read(lambda tx: digests.person_of(tx, token)) is None:
            return await _dead_link()
        return await _page(token, done=False)

    async def end(self, token: str) -> Page:
        """Also by a mail program, which is signed in nowhere, and sends nothing of ours."""
        if not await self._store.write(lambda tx: _end(tx, token)):
            return await _dead_link()
        return await _page(token, done=True)


def _end(tx: WriteTx, token: str) -> bool:
    user_id = digests.person_of(tx, token)
    if user_id is not None:
        digests.choose(tx, user_id, deadlines=False)
    return user_id is not None


async def _page(token: str, *, done: bool) -> str:
    return await render_template("people/unsubscribe.html", done=done, action=f"{UNSUBSCRIBE}/{token}", sign_in=SIGN_IN)


async def _dead_link() -> Page:
    text = "The mail is old, or the link is not whole. Your account page says what you are told by mail."
    return await render_template("people/dead_link.html", sign_in=SIGN_IN, text=text), 404
