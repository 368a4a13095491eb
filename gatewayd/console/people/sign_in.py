"""`/sign-in`: password and code, or passkey."""

import math
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from quart import Quart, Response, render_template, request

from gatewayd.clock import MINUTE, Instant
from gatewayd.console.addresses import CHOOSE, SIGN_IN
from gatewayd.console.browser import HANDLE_FIELD, Browser, local_path, see, value, visit
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.clients.oauth_errors import DirectFailure
from gatewayd.identity.sign_in import challenges, passkeys, sessions
from gatewayd.identity.sign_in.sign_in import NewSession, SecondFactorStep, WrongCredentials
from gatewayd.identity.sign_in.throttling import Locked
from gatewayd.identity.tokens import authorizations
from gatewayd.store import WriteTx

Answer = Response | tuple[str, int, dict[str, str]]


class SignInPages:
    """The pages of signing in."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", "/sign-in", self.show)
        add_page(app, "POST", "/sign-in", self.with_password)
        add_page(app, "GET", "/sign-in/code", self.show_code)
        add_page(app, "POST", "/sign-in/code", self.with_code)
        add_page(app, "POST", "/sign-in/passkey/options", self.passkey_options)
        add_page(app, "POST", "/sign-in/passkey", self.with_passkey)

    async def show(self) -> Response | str:
        """The form; whoever is signed in already goes on, unless they are asked to do it again."""
        next_path = local_path(request.args.get("next", "/"))
        if visit().session is not None and "again" not in request.args:
            return see(next_path)
        return await self._form(next_path, request.args.get("email", "")[:320], "")

    async def with_password(self) -> Answer:
        form = await request.form
        next_path = local_path(form.get("next", "/"))
        email, password = value(form, "email", 320), value(form, "password", 4096)
        return await self._finish(
            next_path, lambda: self._parts.sign_in.with_password(email, password, self._browser.visitor()), email
        )

    async def show_code(self) -> Response | str:
        next_path = local_path(request.args.get("next", "/"))
        if not self._browser.half():
            return see(f"{SIGN_IN}?next={quote(next_path, safe='')}")
        return await self._code_form(next_path, "")

    async def with_code(self) -> Answer:
        form = await request.form
        next_path = local_path(form.get("next", "/"))
        half, code = self._browser.half(), value(form, "code", 64)
        try:
            signed = await self._parts.sign_in.with_code(half, code, self._browser.visitor())
        except WrongCredentials:
            problem = "That code is not right, or it was used already. Try the next one your app shows."
            return await self._code_form(next_path, problem), 422, {}
        except Locked as locked:
            page = await self._code_form(next_path, _wait(locked.until, self._now()))
            return page, 429, retry_after(locked.until, self._now())
        return await go_on(self._parts, self._browser, signed, next_path)

    async def passkey_options(self) -> Response:
        """What the page's script asks the browser for."""
        challenge = await self._parts.store.read(lambda tx: challenges.give(tx, challenges.SIGN_IN))
        return Response(passkeys.authentication_options(self._parts.party, challenge), mimetype="application/json")

    async def with_passkey(self) -> Answer:
        form = await request.form
        next_path = local_path(form.get("next", "/"))
        answer = value(form, "credential", 32_768)

        async def prove() -> NewSession | SecondFactorStep:
            try:
                return await self._parts.sign_in.with_passkey(self._parts.party, answer, self._browser.visitor())
            except challenges.PasskeyError as error:
                self._parts.log.info("passkey_refused", reason=str(error))
                raise WrongCredentials from error

        return await self._finish(next_path, prove, "", "This passkey is not known here, or took too long.")

    # -- steps

    async def _finish(
        self,
        next_path: str,
        prove: Callable[[], Awaitable[NewSession | SecondFactorStep]],
        email: str,
        wrong: str = "The address or the password is not right.",
    ) -> Answer:
        try:
            outcome = await prove()
        except WrongCredentials:
            return await self._form(next_path, email, wrong), 422, {}
        except Locked as locked:
            page = await self._form(next_path, email, _wait(locked.until, self._now()))
            return page, 429, retry_after(locked.until, self._now())
        return await go_on(self._parts, self._browser, outcome, next_path)

    async def _form(self, next_path: str, email: str, problem: str) -> str:
        return await render_template(
            "people/sign_in.html",
            next=next_path,
            email=email,
            problem=problem,
            again=visit().session is not None and "again" in await request.values,
            passkeys_work=self._parts.passkeys_work,
            issuer=self._parts.issuer,
        )

    async def _code_form(self, next_path: str, problem: str) -> str:
        return await render_template("people/code.html", next=next_path, problem=problem)

    def _now(self) -> Instant:
        return self._parts.clock.now()


async def go_on(
    parts: ConsoleParts, browser: Browser, outcome: NewSession | SecondFactorStep, next_path: str
) -> Response:
    """To the page for the code; or the cookie is set, and on to `next_path`.

    The session that this browser had ends, and a request that was bound to it moves on to the new one.
    """
    if isinstance(outcome, SecondFactorStep):
        response = see(f"{SIGN_IN}/code?next={quote(next_path, safe='')}")
        browser.remember_half(response, outcome.first_factor)
        return response
    before = visit().session
    if before is not None:
        await parts.store.write(lambda tx: _replace(tx, before, outcome.session.id, next_path))
    response = see(next_path)
    browser.remember(response, outcome.token)
    browser.remember_device(response, outcome.device)
    return response


def _replace(tx: WriteTx, before: sessions.Session, session_id: str, next_path: str) -> None:
    sessions.end(tx, before.user_id, before.id)
    path, _, handle = next_path.partition(f"?{HANDLE_FIELD}=")
    pending = authorizations.load(tx, handle) if path == CHOOSE else None
    if pending is None or pending.session_id != before.id:
        return
    try:
        authorizations.bind(tx, handle, session_id, replacing=before.id)
    except DirectFailure:  # its page will say so
        return


def _wait(until: Instant, now: Instant) -> str:
    minutes = max(1, math.ceil((until - now) / MINUTE))
    return f"Too many tries. Wait {minutes} minute{'s' if minutes > 1 else ''}, or sign in with a passkey."


def retry_after(until: Instant, now: Instant) -> dict[str, str]:
    """The header of an answer 429."""
    return {"Retry-After": str(max(1, math.ceil((until - now) / 1_000_000)))}
