"""`/sign-in/link/...` and `/sign-in/reset/...`: links that work once, which the operator makes and hands over."""

from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import ACCOUNT, SIGN_IN
from gatewayd.console.browser import Browser, flash, see, sign_in_address, value, visit
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.people.sign_in import go_on
from gatewayd.errors import Problem
from gatewayd.identity.people import users
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import one_time_links, password_resets
from gatewayd.identity.sign_in.one_time_links import Purpose
from gatewayd.identity.sign_in.passwords import check_password
from gatewayd.identity.sign_in.sign_in import WrongCredentials
from gatewayd.store import ReadTx, WriteTx

Page = tuple[str, int]


class Links:
    """The pages of one-time links: each a page with a button, so that what fetches links ahead uses none up."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._store = parts.store
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", "/sign-in/link/<token>", self.show_link)
        add_page(app, "POST", "/sign-in/link/<token>", self.with_link)
        add_page(app, "GET", "/sign-in/reset/<token>", self.show_reset)
        add_page(app, "POST", "/sign-in/reset/<token>", self.reset)

    async def show_link(self, token: str) -> Page:
        user = await self._user(token, "sign_in")
        return (
            await _dead_link()
            if user is None
            else (await render_template("people/link.html", token=token, user=user), 200)
        )

    async def with_link(self, token: str) -> Response | Page:
        try:
            outcome = await self._parts.sign_in.with_link(token, self._browser.visitor())
        except WrongCredentials:
            return await _dead_link()
        return await go_on(self._parts, self._browser, outcome, ACCOUNT)

    async def show_reset(self, token: str) -> Page:
        user = await self._user(token, "reset_password")
        return await _dead_link() if user is None else (await _reset_form(token, user, ""), 200)

    async def reset(self, token: str) -> Response | Page:
        """Set the password; whoever was signed in anywhere is signed out, and every connected app is ended."""
        user = await self._user(token, "reset_password")
        if user is None:
            return await _dead_link()
        password = value(await request.form, "new", 4096)
        try:
            check_password(password, user.email, user.name)
        except Problem as problem:
            return await _reset_form(token, user, sentence(problem)), 422
        hashed = await self._parts.passwords.hash(password)
        if not await self._store.write(lambda tx: _use_reset(tx, token, hashed)):
            return await _dead_link()
        response = see(sign_in_address("/", again=True, email=user.email))
        there = visit().user
        if there is not None and there.id == user.id:
            self._browser.forget(response)
        flash("success", "The password was set. Sign in with it.")
        return response

    async def _user(self, token: str, purpose: Purpose) -> User | None:
        """Whose link it is; None when it does not work (any more)."""

        def look(tx: ReadTx) -> User | None:
            user_id = one_time_links.find(tx, token, purpose)
            return None if user_id is None else users.get(tx, user_id)

        return await self._store.read(look)


async def _dead_link() -> Page:
    return await render_template("people/dead_link.html", sign_in=SIGN_IN), 404


async def _reset_form(token: str, user: User, problem: str) -> str:
    return await render_template("people/reset.html", token=token, user=user, problem=problem)


def _use_reset(tx: WriteTx, token: str, password_hash: str) -> bool:
    user_id = one_time_links.use(tx, token, "reset_password")
    if user_id is None:
        return False
    password_resets.reset(tx, user_id, password_hash, user_id)
    return True
