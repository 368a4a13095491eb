"""`/sign-in/invitation/...`: joining an organization by a link, with the account that one has or with a new one."""

from typing import NamedTuple

from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import PEOPLE, SIGN_IN
from gatewayd.console.browser import Browser, flash, see, sign_in_address, value, visit
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.people.sign_in import go_on
from gatewayd.errors import Problem
from gatewayd.identity.people import invitations, memberships, organizations, users
from gatewayd.identity.people.invitations import Invitation
from gatewayd.identity.sign_in import challenges, joining, passkeys
from gatewayd.identity.sign_in.joining import NewAccount, NewPasskey
from gatewayd.identity.sign_in.passwords import check_password
from gatewayd.identity.sign_in.sign_in import NewSession
from gatewayd.store import ReadTx, WriteTx

Page = tuple[str, int]
ADDRESS = f"{SIGN_IN}/invitation"


class _Invited(NamedTuple):
    """What a page says of an invitation. `inviter` empty: whoever runs the server invites."""

    invitation: Invitation
    organization: str
    inviter: str
    has_account: bool
    is_member: bool


class InvitationPages:
    """The pages of one invitation. Looking uses no link up: what fetches links ahead does not join."""

    def __init__(self, parts: ConsoleParts, browser: Browser) -> None:
        self._parts = parts
        self._store = parts.store
        self._browser = browser

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", f"{ADDRESS}/<token>", self.show)
        add_page(app, "POST", f"{ADDRESS}/<token>", self.join)
        add_page(app, "POST", f"{ADDRESS}/<token>/new", self.make_account)
        add_page(app, "POST", f"{ADDRESS}/<token>/passkey/options", self.passkey_options)
        add_page(app, "POST", f"{ADDRESS}/<token>/passkey", self.make_account_with_passkey)

    async def show(self, token: str) -> Page:
        return await self._page(token)

    async def join(self, token: str) -> Response | Page:
        """With the account in which the visitor is signed in, which has to be the address's."""
        user = visit().user
        if user is None:
            return see(sign_in_address(f"{ADDRESS}/{token}"))
        try:
            joined = await self._store.write(lambda tx: joining.join(tx, token, user.id))
        except Problem as problem:
            return await self._page(token, sentence(problem))
        if joined is None:
            return await _dead_link()
        return await self._joined(joined, see(PEOPLE))

    async def make_account(self, token: str) -> Response | Page:
        form = await request.form
        name, password = value(form, "name", 320), value(form, "new", 4096)
        invited = await self._find(token)
        if invited is None:
            return await _dead_link()
        try:
            organizations.validate_name("name", name)
            check_password(password, invited.invitation.email, name)
        except Problem as problem:
            return await self._page(token, sentence(problem), name)
        new = NewAccount(name=name, password_hash=await self._parts.passwords.hash(password))
        return await self._make(token, new)

    async def passkey_options(self, token: str) -> Response:
        """What the page's script asks the browser for."""

        def look(tx: ReadTx) -> tuple[Invitation, bytes] | None:
            found = invitations.find(tx, token)
            if found is None or users.find(tx, found.email) is not None:
                return None
            return found, challenges.give(tx, challenges.registration_of(found.new_user_id))

        given = await self._store.read(look)
        if given is None:
            return Response("", 404)
        invitation, challenge = given
        person = passkeys.Person(id=invitation.new_user_id, email=invitation.email, name=invitation.email)
        options = passkeys.registration_options(self._parts.party, person, [], challenge)
        return Response(options, mimetype="application/json")

    async def make_account_with_passkey(self, token: str) -> Response | Page:
        form = await request.form
        name, answer = value(form, "name", 320), value(form, "credential", 32_768)
        new = NewAccount(name=name, passkey=NewPasskey(self._parts.party, answer))
        try:
            return await self._make(token, new)
        except challenges.PasskeyError as error:
            self._parts.log.info("passkey_refused", reason=str(error))
            return await self._page(token, "The passkey could not be added. Try again, or choose a password.", name)

    async def _make(self, token: str, new: NewAccount) -> Response | Page:
        visitor = self._browser.visitor()

        def work(tx: WriteTx) -> tuple[Invitation, NewSession] | None:
            return joining.join_anew(tx, token, new, visitor)

        try:
            joined = await self._store.write(work)
        except Problem as problem:
            return await self._page(token, sentence(problem), new.name)
        if joined is None:
            return await _dead_link()
        return await self._joined(joined[0], await go_on(self._parts, self._browser, joined[1], PEOPLE))

    async def _joined(self, joined: Invitation, response: Response) -> Response:
        """Show the organization that somebody has just joined, whichever they had chosen."""
        self._browser.remember_organization(response, joined.org_id)
        name = (await self._store.read(lambda tx: organizations.get(tx, joined.org_id))).name
        flash("success", f"You joined {name}.")
        return response

    async def _find(self, token: str) -> _Invited | None:
        return await self._store.read(lambda tx: _invited(tx, token))

    async def _page(self, token: str, problem: str = "", name: str = "") -> Page:
        """What the link is for, and the way in that fits who is there; 422 where something was wrong."""
        invited = await self._find(token)
        if invited is None:
            return await _dead_link()
        user, address = visit().user, f"{ADDRESS}/{token}"
        email = invited.invitation.email
        page = await render_template(
            "people/invitation.html",
            invited=invited,
            invitation=invited.invitation,
            address=address,
            is_theirs=user is not None and users.fold_email(user.email) == users.fold_email(email),
            sign_in=sign_in_address(address, again=user is not None, email=email),
            passkeys_work=self._parts.passkeys_work,
            issuer=self._parts.issuer,
            problem=problem,
            name=name,
        )
        return page, 422 if problem else 200


def _invited(tx: ReadTx, token: str) -> _Invited | None:
    found = invitations.find(tx, token)
    if found is None:
        return None
    tx.bind(found.org_id)
    known = users.find(tx, found.email)
    return _Invited(
        found,
        organizations.get(tx, found.org_id).name,
        "" if found.user_id is None else users.get(tx, found.user_id).name,
        known is not None,
        known is not None and memberships.is_member(tx, known.id),
    )


async def _dead_link() -> Page:
    text = "It was used or revoked already, or it is more than a week old. Whoever invited you can make a new one."
    return await render_template("people/dead_link.html", sign_in=SIGN_IN, text=text), 404
