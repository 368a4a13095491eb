"""`/account`: password, passkeys, and the browsers that are signed in."""

from typing import Final

from quart import Quart, Response, render_template, request
from webauthn.helpers import bytes_to_base64url
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import ACCOUNT, SIGN_IN
from gatewayd.console.browser import Browser, flash, here, recently_signed_in, see, signed_in, value
from gatewayd.console.components.words import moment
from gatewayd.console.pages import Question, add_page, ask, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.people.devices import device_of
from gatewayd.console.people.sign_in import retry_after
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
from gatewayd.identity.sign_in.passkeys import Passkey, RelyingParty
from gatewayd.identity.sign_in.passwords import check_password
from gatewayd.identity.sign_in.sign_in import WrongCredentials
from gatewayd.identity.sign_in.throttling import Locked
from gatewayd.mail import digests
from gatewayd.store import ReadTx, WriteTx

MAIL: Final = f"{ACCOUNT}/mail"
ADD_PASSKEY: Final = f"{ACCOUNT}/passkeys/add"
REMOVE_PASSKEY: Final = f"{ACCOUNT}/passkeys/remove"
END_ONE: Final = f"{ACCOUNT}/sessions/end"
END_ALL: Final = f"{ACCOUNT}/sessions/end-all"
ENDED_SHOWN: Final = 10  # Chosen: of the browsers that are to be signed out
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
        add_page(app, "POST", MAIL, self.choose_mail)
        add_page(app, "GET", ADD_PASSKEY, self.show_passkey_form)
        add_page(app, "POST", ADD_PASSKEY, self.add_passkey)
        add_page(app, "POST", f"{ADD_PASSKEY}/options", self.passkey_options)
        add_page(app, "GET", REMOVE_PASSKEY, self.ask_to_remove_passkey)
        add_page(app, "POST", REMOVE_PASSKEY, self.remove_passkey)
        add_page(app, "GET", END_ONE, self.ask_to_end_session)
        add_page(app, "POST", END_ONE, self.end_session)
        add_page(app, "GET", END_ALL, self.ask_to_end_all)
        add_page(app, "POST", END_ALL, self.end_all)

    async def show(self) -> str:
        return await self._page()

    async def _page(self, problem: str = "") -> str:
        session, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            return {
                "has_password": _has_password(tx, user),
                "second_factor": second_factors.is_on(tx, user.id),
                "codes_left": second_factors.recovery_codes_left(tx, user.id),
                "passkeys": [(bytes_to_base64url(key.credential_id), key) for key in passkeys.of_user(tx, user.id)],
                "sessions": sessions.of_user(tx, user.id),
                "deadlines": digests.wants_deadlines(tx, user.id),
            }

        seen = await self._store.read(look)
        return await render_template(
            "people/account.html",
            user=user,
            current=session,
            mailed=self._parts.mailing is not None,
            problem=problem,
            passkeys_work=self._parts.passkeys_work,
            **seen,
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
            return await self._page(sentence(problem)), 422, {}
        except WrongCredentials:
            return await self._page("The present password is not right."), 422, {}
        except Locked as locked:
            page = await self._page("Too many tries. Wait a while.")
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
        flash("success", "The password was set. Every other browser is signed out, and every connected app was ended.")
        return response

    # -- mail

    async def choose_mail(self) -> Response:
        """Whether one is told of deadlines."""
        _, user = signed_in()
        wanted = "deadlines" in await request.form
        await self._store.write(lambda tx: digests.choose(tx, user.id, deadlines=wanted))
        told = "You are told of deadlines by mail, once a day at most." if wanted else "You get no mail of deadlines."
        flash("success", told)
        return see(f"{ACCOUNT}#mail")

    # -- passkeys

    async def passkey_options(self) -> Response:
        """What the page's script asks the browser for."""
        _, user = recently_signed_in(self._parts.clock)
        purpose = challenges.registration_of(user.id)
        known = await self._store.read(lambda tx: passkeys.of_user(tx, user.id))
        challenge = await self._store.read(lambda tx: challenges.give(tx, purpose))
        options = passkeys.registration_options(self._parts.party, user, known, challenge)
        return Response(options, mimetype="application/json")

    async def show_passkey_form(self) -> str:
        """A page of its own, so that who signs in again for it comes back to it."""
        recently_signed_in(self._parts.clock)
        return await self._passkey_form("This device")

    async def _passkey_form(self, name: str, problem: str = "") -> str:
        return await render_template(
            "people/passkey.html",
            name=name,
            problem=problem,
            action=ADD_PASSKEY,
            passkeys_work=self._parts.passkeys_work,
            issuer=self._parts.issuer,
        )

    async def add_passkey(self) -> Response | tuple[str, int]:
        _, user = recently_signed_in(self._parts.clock)
        form = await request.form
        name, answer = value(form, "name", 160), value(form, "credential", 32_768)
        try:
            await self._store.write(lambda tx: _add_passkey(tx, self._parts.party, user.id, name, answer))
        except challenges.PasskeyError as error:
            self._parts.log.info("passkey_refused", reason=str(error))
            return await self._passkey_form(name, "The passkey could not be added. Try again."), 422
        except Problem as problem:
            return await self._passkey_form(name, sentence(problem)), 422
        flash("success", f"The passkey {name.strip()} was added. It signs you in from now on.")
        return see(f"{ACCOUNT}#passkeys")

    async def ask_to_remove_passkey(self) -> str:
        _, user = recently_signed_in(self._parts.clock)

        named = request.args.get("id", "")

        def look(tx: ReadTx) -> tuple[Passkey, list[str]]:
            known = passkeys.of_user(tx, user.id)
            return _one(known, named), _after_passkey(len(known), has_password=_has_password(tx, user))

        passkey, consequences = await self._store.read(look)
        title, back = f"Remove the passkey {passkey.name}?", f"{ACCOUNT}#passkeys"
        return await ask(Question(title, consequences, "Remove passkey", back, here()))

    async def remove_passkey(self) -> Response:
        _, user = recently_signed_in(self._parts.clock)

        named = request.args.get("id", "")

        def work(tx: WriteTx) -> Passkey:
            passkey = _one(passkeys.of_user(tx, user.id), named)
            passkeys.remove(tx, user.id, passkey.credential_id)
            return passkey

        removed = await self._store.write(work)
        flash("success", f"The passkey {removed.name} was removed.")
        return see(f"{ACCOUNT}#passkeys")

    # -- sessions

    async def ask_to_end_session(self) -> str:
        """Raises `NotFound` for one that has ended, or is another's."""
        session, user = signed_in()
        named, back = request.args.get("id", ""), f"{ACCOUNT}#sessions"
        own = await self._store.read(lambda tx: sessions.of_user(tx, user.id))
        found = next((each for each in own if each.id == named), None)
        if found is None:
            raise NotFound
        seen = f"It was last seen on {moment(found.last_seen_at)}, from {found.address or 'an unknown address'}."
        ends = "It has to sign in again. Connected apps and keys go on."
        if found.id == session.id:
            seen, ends = "It is this browser.", "You have to sign in again here. Connected apps and keys go on."
        question = Question(f"Sign out {device_of(found.user_agent)}?", [seen, ends], "Sign out", back, here())
        return await ask(question._replace(hidden=[("id", found.id)]))

    async def end_session(self) -> Response:
        session, user = signed_in()
        session_id = value(await request.form, "id", 64)
        if not await self._store.write(lambda tx: _end(tx, user.id, session_id)):
            raise NotFound
        if session_id != session.id:
            flash("success", "That browser is signed out.")
            return see(f"{ACCOUNT}#sessions")
        response = see(SIGN_IN)
        self._browser.forget(response)
        flash("success", "You are signed out.")
        return response

    async def ask_to_end_all(self) -> str:
        session, user = signed_in()
        others = await self._store.read(
            lambda tx: [each for each in sessions.of_user(tx, user.id) if each.id != session.id]
        )
        browsers = [f"{device_of(each.user_agent)}, last seen {moment(each.last_seen_at)}" for each in others]
        consequences = [f"{each}: it has to sign in again." for each in browsers[:ENDED_SHOWN]]
        if len(browsers) > ENDED_SHOWN:
            consequences.append(f"And {len(browsers) - ENDED_SHOWN} more.")
        consequences.append("This browser stays signed in. Connected apps and keys go on.")
        said = "Sign out everywhere else"
        return await ask(Question(f"{said}?", consequences, said, f"{ACCOUNT}#sessions"))

    async def end_all(self) -> Response:
        """Everywhere but here."""
        session, user = signed_in()
        visitor = self._browser.visitor()

        def work(tx: WriteTx) -> int:
            ended = sessions.end_all(tx, user.id, kept=session.id)
            known_devices.forget(tx, user.id, visitor.device)
            act = audit.Act(actor=user.id, action="user.signed_out_everywhere", subject=user.id, org_id=None)
            audit.record(tx, act)
            return ended

        ended = await self._store.write(work)
        flash("success", f"{ended} other browser{' is' if ended == 1 else 's are'} signed out.")
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


def _one(known: list[Passkey], named: str) -> Passkey:
    """The one of that id. Raises `NotFound`."""
    for each in known:
        if bytes_to_base64url(each.credential_id) == named:
            return each
    raise NotFound


def _after_passkey(count: int, *, has_password: bool) -> list[str]:
    """What it means to remove one of so many."""
    consequences = ["The device signs you in no more. Delete the passkey on the device too, or it goes on offering it."]
    if count == 1 and has_password:
        consequences.append("It is your last one: a password signs you in from then on.")
    if count == 1 and not has_password:
        consequences.append(
            "It is your last one, and you have no password: nothing but a link of whoever runs this "
            "server lets you in again. Set a password first."
        )
    return consequences


def _has_password(tx: ReadTx, user: User) -> bool:
    known = users.credentials(tx, user.email)
    return known is not None and known.password_hash is not None
