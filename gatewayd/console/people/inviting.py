"""`/members/invite`: who may join the organization, by a link that is shown once, and mailed where mail is sent."""

from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import PEOPLE, invitation_link
from gatewayd.console.browser import flash, must_lead, organization, recently_signed_in, role_in, see, signed_in, value
from gatewayd.console.components.shapes import Field
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.people.members import INVITE, REVOKE, ROLE_NAMES, role_field
from gatewayd.errors import Problem
from gatewayd.identity.people import invitations, memberships
from gatewayd.identity.people.invitations import Invitation, NewInvitation
from gatewayd.identity.people.users import User
from gatewayd.mail import notices
from gatewayd.mail.notices import Invited
from gatewayd.store import ReadTx, WriteTx


class Inviting:
    """The pages of who invites."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock
        self._issuer = parts.issuer
        self._mailing = parts.mailing

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", INVITE, self.show)
        add_page(app, "POST", INVITE, self.invite)
        add_page(app, "GET", REVOKE, self.ask_to_revoke)
        add_page(app, "POST", REVOKE, self.revoke)

    async def show(self) -> str:
        """Chosen: who invites signed in lately, for whoever is invited can come in."""
        _, user = recently_signed_in(self._clock)
        return await self._form(user, "", "member")

    async def invite(self) -> str | tuple[str, int]:
        """Show the link, this once, and mail it where mail is sent."""
        _, user = recently_signed_in(self._clock)
        form = await request.form
        email, role = value(form, "email", 320), value(form, "role", 16)

        def work(tx: WriteTx) -> tuple[Invitation, str]:
            must_lead(tx, user)
            made, token = invitations.make(tx, NewInvitation(email, memberships.validate_role(role), user.id))
            if self._mailing is not None:
                link = invitation_link(self._issuer, token)
                about = Invited(made.id, made.email, ROLE_NAMES[made.role].lower(), user.name, link, made.expires_at)
                notices.invite(tx, self._mailing, about)
            return made, token

        try:
            made, token = await self._store.write(work, organization().id)
        except Problem as problem:
            return await self._form(user, email, role, sentence(problem)), 422
        link = invitation_link(self._issuer, token)
        return await render_template(
            "people/members_invited.html",
            made=made,
            link=link,
            role=ROLE_NAMES[made.role].lower(),
            mailed=self._mailing is not None,
            back=PEOPLE,
        )

    async def _form(self, user: User, email: str, role: str, problem: str = "") -> str:
        def look(tx: ReadTx) -> list[Field]:
            must_lead(tx, user)
            return [
                Field(name="email", label="Address", kind="email", value=email, required=True, most=320, error=problem),
                role_field(role_in(tx, user), role),
            ]

        fields = await self._store.read(look, organization().id)
        return await render_template("people/members_invite.html", fields=fields, action=INVITE, back=PEOPLE)

    async def ask_to_revoke(self) -> str:
        _, user = signed_in()
        id_ = request.args.get("id", "")[:64]

        def look(tx: ReadTx) -> Invitation:
            must_lead(tx, user)
            return invitations.get(tx, id_)

        found = await self._store.read(look, organization().id)
        return await render_template(
            "people/members_revoke.html",
            invitation=found,
            role=ROLE_NAMES[found.role].lower(),
            action=REVOKE,
            back=PEOPLE,
        )

    async def revoke(self) -> Response:
        _, user = signed_in()
        id_ = value(await request.form, "id", 64)

        def work(tx: WriteTx) -> Invitation:
            must_lead(tx, user)
            found = invitations.get(tx, id_)
            invitations.revoke(tx, id_, user.id)
            return found

        found = await self._store.write(work, organization().id)
        flash("success", f"The invitation of {found.email} was revoked.")
        return see(PEOPLE)
