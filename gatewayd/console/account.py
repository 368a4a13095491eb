"""`/account`: password, passkeys, and the browsers that are signed in."""

from quart import Quart, Response, render_template, request
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from werkzeug.exceptions import BadRequest, NotFound

from gatewayd.console.addresses import ACCOUNT, SIGN_IN
from gatewayd.console.browser import Browser, recently_signed_in, see, signed_in, value
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.sign_in import retry_after
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.people import users
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import (
    challenges,
    known_devices,
    one_time_links,
    passkeys,
    second_factors,
    sessions,
    sign_in_records,
)
from gatewayd.identity.sign_in.passkeys import RelyingParty
from gatewayd.identity.sign_in.passwords import check_password
from gatewayd.identity.sign_in.sign_in import WrongCredentials
from gatewayd.identity.sign_in.throttling import Locked
from gatewayd.store import ReadTx, WriteTx

PageResponse = Response | tuple[str, int, dict[str, str]]


class Account:
    """The pages of one's own account."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._store = parts.store
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", "/account", self.show)
        add_page(app, "POST", "/account/password", self.change_password)
        add_page(app, "POST", "/account/passkeys/options", self.passkey_options)
        add_page(app, "POST", "/account/passkeys", self.add_passkey)
        add_page(app, "POST", "/account/passkeys/remove", self.remove_passkey)
        add_page(app, "POST", "/account/sessions/end", self.end_session)
        add_page(app, "POST", "/account/sessions/end-all", self.end_all)

    async def show(self) -> str:
        return await self._page()

    async def _page(self, problem: str = "", section: str = "") -> str:
        session, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            return {
                "has_password": _has_password(tx, user),
                "second_factor": second_factors.is_on(tx, user.id),
                "codes_left": second_factors.recovery_codes_left(tx, user.id),
                "passkeys": [(bytes_to_base64url(key.credential_id), key) for key in passkeys.of_user(tx, user.id)],
                "sessions": sessions.of_user(tx, user.id),
            }

        seen = await self._store.read(look)
        return await render_template(
            "account.html", user=user, current=session, problem=problem, section=section, **seen
        )

    # -- password

    async def change_password(self) -> PageResponse:
        """Every other browser is signed out, and every connected app.

        The present one is asked for; whoever has none yet has come by a link or a passkey, not long ago.
        """
        session, user = signed_in()
        form = await request.form
        new = value(form, "new", 4096)
        try:
            check_password(new, user.email, user.name)
            if await self._store.read(lambda tx: _has_password(tx, user)):
                current = value(form, "current", 4096)
                await self._parts.sign_in.prove_password(user, current, self._browser.visitor())
            else:
                recently_signed_in(self._parts.clock)
        except Problem as problem:
            return await self._page(sentence(problem), "password"), 422, {}
        except WrongCredentials:
            return await self._page("The present password is not right.", "password"), 422, {}
        except Locked as locked:
            page = await self._page("Too many tries. Wait a while.", "password")
            return page, 429, retry_after(locked.until, self._parts.clock.now())
        hashed, visitor = await self._parts.passwords.hash(new), self._browser.visitor()

        def work(tx: WriteTx) -> str:
            users.change_password(tx, user.id, hashed)
            one_time_links.void(tx, user.id)
            known_devices.forget(tx, user.id, visitor.device)
            sessions.end_all(tx, user.id, kept=session.id)
            return sessions.reauthenticate(tx, session, session.methods)

        token = await self._store.write(work)
        response = see(ACCOUNT)
        self._browser.remember(response, token)
        return response

    # -- passkeys

    async def passkey_options(self) -> Response:
        """What the page's script asks the browser for."""
        _, user = recently_signed_in(self._parts.clock)
        purpose = challenges.registration_of(user.id)
        known = await self._store.read(lambda tx: passkeys.of_user(tx, user.id))
        challenge = await self._store.read(lambda tx: challenges.give(tx, purpose))
        options = passkeys.registration_options(self._parts.party, user, known, challenge)
        return Response(options, mimetype="application/json")

    async def add_passkey(self) -> Response | tuple[str, int]:
        _, user = recently_signed_in(self._parts.clock)
        form = await request.form
        name, answer = value(form, "name", 160), value(form, "credential", 32_768)
        try:
            await self._store.write(lambda tx: _add_passkey(tx, self._parts.party, user.id, name, answer))
        except challenges.PasskeyError as error:
            self._parts.log.info("passkey_refused", reason=str(error))
            return await self._page("The passkey could not be added. Try again.", "passkeys"), 422
        except Problem as problem:
            return await self._page(sentence(problem), "passkeys"), 422
        return see(f"{ACCOUNT}#passkeys")

    async def remove_passkey(self) -> Response:
        _, user = recently_signed_in(self._parts.clock)
        id_text = value(await request.form, "id")
        try:
            credential_id = base64url_to_bytes(id_text)
        except ValueError:
            raise BadRequest("The form is not complete.") from None
        await self._store.write(lambda tx: passkeys.remove(tx, user.id, credential_id))
        return see(f"{ACCOUNT}#passkeys")

    # -- sessions

    async def end_session(self) -> Response:
        session, user = signed_in()
        session_id = value(await request.form, "id", 64)
        if not await self._store.write(lambda tx: _end(tx, user.id, session_id)):
            raise NotFound
        if session_id != session.id:
            return see(f"{ACCOUNT}#sessions")
        response = see(SIGN_IN)
        self._browser.forget(response)
        return response

    async def end_all(self) -> Response:
        """Everywhere but here."""
        session, user = signed_in()
        visitor = self._browser.visitor()

        def work(tx: WriteTx) -> None:
            sessions.end_all(tx, user.id, kept=session.id)
            known_devices.forget(tx, user.id, visitor.device)
            act = audit.Act(actor=user.id, action="user.signed_out_everywhere", subject=user.id, org_id=None)
            audit.record(tx, act)

        await self._store.write(work)
        return see(f"{ACCOUNT}#sessions")


def _end(tx: WriteTx, user_id: str, session_id: str) -> bool:
    """Sign one browser out; False where it was not signed in."""
    if not sessions.end(tx, user_id, session_id):
        return False
    sign_in_records.signed_out(tx, user_id, session_id)
    return True


def _add_passkey(tx: WriteTx, party: RelyingParty, user_id: str, name: str, answer: str) -> None:
    """Raises as `challenges.use` and `passkeys.register` do."""
    challenge = passkeys.challenge_of(answer)
    challenges.use(tx, challenge, challenges.registration_of(user_id))
    passkeys.register(tx, party, user_id, name, answer, challenge)


def _has_password(tx: ReadTx, user: User) -> bool:
    known = users.credentials(tx, user.email)
    return known is not None and known.password_hash is not None
