"""`/members`: the people of an organization, their roles, and the end of a membership with what it ends."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from quart import Quart, Response, render_template, request

from gatewayd.access import deprovisioning, kinds
from gatewayd.access.deprovisioning import EndedAccess, HandOver
from gatewayd.clock import Instant
from gatewayd.console.addresses import PEOPLE
from gatewayd.console.browser import flash, optional, organization, recently_signed_in, role_in, see, signed_in, value
from gatewayd.console.components.shapes import Action, Cell, Column, Field, Option, Row, Table
from gatewayd.console.pages import PAGE_ROWS, add_page, sentence, with_query
from gatewayd.console.parts import ConsoleParts
from gatewayd.contract.caller import Role
from gatewayd.errors import Problem
from gatewayd.identity.open_access import AccessKind
from gatewayd.identity.people import invitations, memberships, users
from gatewayd.identity.people.memberships import Membership
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import sessions
from gatewayd.store import ReadTx, WriteTx

INVITE: Final = f"{PEOPLE}/invite"
REVOKE: Final = f"{PEOPLE}/invitations/revoke"
ROLE: Final = f"{PEOPLE}/role"
REMOVE: Final = f"{PEOPLE}/remove"
LEAVE: Final = f"{PEOPLE}/leave"
NAMED: Final = 5  # Chosen: of what ends, of each kind
ROLE_NAMES: Final[Mapping[Role, str]] = {"owner": "Owner", "admin": "Administrator", "member": "Member"}
MAY: Final[Mapping[Role, str]] = {
    "owner": "An owner does everything, and decides who else is one.",
    "admin": "An administrator does everything but manage owners.",
    "member": "A member works in the books, and manages nobody.",
}
PLURALS: Final[Mapping[AccessKind, tuple[str, str]]] = {
    "api_key": ("API key", "API keys"),
    "connected_app": ("connected app", "connected apps"),
    "calendar_feed": ("calendar feed", "calendar feeds"),
    "document_link": ("link to a document", "links to documents"),
    "upload_url": ("upload address", "upload addresses"),
    "webhook_subscription": ("webhook subscription", "webhook subscriptions"),
    "invitation": ("invitation", "invitations"),
}
Page = tuple[str, int]


class _Member(NamedTuple):
    """One person of the organization, as the visitor sees them. `is_managed`: by the visitor."""

    user: User
    membership: Membership
    last_seen: Instant | None
    is_self: bool
    is_managed: bool


class _Leaving(NamedTuple):
    """Whose membership is to end, what it ends, and who may take over what can be."""

    member: _Member
    consequences: list[str]
    takers: list[Option]
    is_last_owner: bool


class Members:
    """The pages of members."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", PEOPLE, self.show)
        for path, ask, act in (
            (ROLE, self.show_role, self.change_role),
            (REMOVE, self.ask_to_remove, self.remove),
            (LEAVE, self.ask_to_leave, self.leave),
        ):
            add_page(app, "GET", path, ask)
            add_page(app, "POST", path, act)

    async def show(self) -> str:
        """Everybody of the organization sees who is in it; who may change something finds it there."""
        _, user = signed_in()
        org_id, after = organization().id, request.args.get("after", "")[:64]

        def look(tx: ReadTx) -> dict[str, object]:
            role = role_in(tx, user)
            listed = [each for each in memberships.list_members(tx) if each.user_id > after]
            people = [_member(tx, each, user, role) for each in listed[:PAGE_ROWS]]
            more = len(listed) > PAGE_ROWS
            return {
                "table": _table(people, org_id, tx.now),
                "invited": _invitations(tx, org_id, role) if role != "member" else None,
                "next_href": _at(PEOPLE, org_id, after=people[-1].user.id) if more else "",
            }

        seen = await self._store.read_later(look, org_id)
        first = _at(PEOPLE, org_id) if after else ""
        return await render_template("people/members.html", first_href=first, invite=_at(INVITE, org_id), **seen)

    # -- roles

    async def show_role(self) -> str:
        """Chosen: who gives a role signed in lately, for a role is a way into the books."""
        recently_signed_in(self._clock)
        member = await self._managed(_asked())
        return await self._role_page(member)

    async def change_role(self) -> Response | Page:
        _, user = recently_signed_in(self._clock)
        form, user_id = await request.form, _asked()
        member = await self._managed(user_id)

        def work(tx: WriteTx) -> int:
            role = memberships.validate_role(value(form, "role", 16))
            memberships.require_manager(tx, user.id, memberships.role_of(tx, user_id), role)
            return deprovisioning.change_role(tx, user_id, role, user.id)

        try:
            ended = await self._store.write(work, organization().id)
        except Problem as problem:
            return await self._role_page(member, form.get("role", ""), sentence(problem)), 422
        role = ROLE_NAMES[memberships.validate_role(form["role"])].lower()
        also = f" {_counted('invitation', ended)} of theirs ended." if ended else ""
        flash("success", f"{member.user.name} is {'an' if role[0] in 'ao' else 'a'} {role} now.{also}")
        return see(_at(PEOPLE, organization().id))

    async def _role_page(self, member: _Member, chosen: str = "", problem: str = "") -> str:
        _, user = signed_in()
        role = await self._store.read(lambda tx: role_in(tx, user), organization().id)
        field = role_field(role, chosen or member.membership.role, problem)
        return await render_template(
            "people/members_role.html", member=member, field=field, action=here_of(ROLE, member.user.id), back=PEOPLE
        )

    # -- the end of a membership

    async def ask_to_remove(self) -> Response | str:
        member = await self._managed(_asked())
        if member.is_self:
            return see(_at(LEAVE, organization().id))
        return await self._ask(member.user.id, f"Remove {member.user.name}?", here_of(REMOVE, member.user.id))

    async def remove(self) -> Response:
        """At once: from the next request on nothing of what they were given works."""
        _, user = signed_in()
        form, user_id = await request.form, _asked()
        taker = optional(form, "taker", 64)
        member = await self._managed(user_id)

        def work(tx: WriteTx) -> EndedAccess:
            memberships.require_manager(tx, user.id, memberships.role_of(tx, user_id))
            return deprovisioning.remove_member(tx, user_id, user.id, HandOver(taker) if taker else None)

        ended = await self._store.write(work, organization().id)
        flash("success", f"{member.user.name} was removed. {_ended_in_words(ended)}")
        return see(_at(PEOPLE, organization().id))

    async def ask_to_leave(self) -> str:
        _, user = signed_in()
        return await self._ask(user.id, f"Leave {organization().name}?", LEAVE)

    async def leave(self) -> Response:
        """The account stays, and is signed out where it belongs to nothing else: see `deprovisioning.remove_member`."""
        _, user = signed_in()
        left, taker = organization(), optional(await request.form, "taker", 64)

        def work(tx: WriteTx) -> EndedAccess:
            return deprovisioning.remove_member(tx, user.id, user.id, HandOver(taker) if taker else None)

        ended = await self._store.write(work, left.id)
        flash("success", f"You left {left.name}. {_ended_in_words(ended)}")
        return see("/")

    async def _ask(self, user_id: str, title: str, action: str) -> str:
        _, user = signed_in()
        name, org_id = organization().name, organization().id
        leaving = await self._store.read_later(lambda tx: _leaving(tx, name, user_id, user), org_id)
        field = Field(
            name="taker",
            label="Who takes over links, feeds and webhook subscriptions",
            kind="select",
            options=[Option("", "Nobody: they end"), *leaving.takers],
        )
        return await render_template(
            "people/members_end.html",
            leaving=leaving,
            title=title,
            button="Leave" if leaving.member.is_self else "Remove",
            action=action,
            field=field if leaving.takers else None,
            back=PEOPLE,
        )

    async def _managed(self, user_id: str) -> _Member:
        """A member whom the visitor may change. Raises `Problem`: `not_found`, `forbidden`."""
        _, user = signed_in()

        def look(tx: ReadTx) -> _Member:
            role = role_in(tx, user)
            memberships.require_manager(tx, user.id, memberships.role_of(tx, user_id))
            (found,) = [each for each in memberships.list_members(tx) if each.user_id == user_id]
            return _member(tx, found, user, role)

        return await self._store.read(look, organization().id)


def options_for(role: Role) -> list[Option]:
    """The roles that somebody with this one may give."""
    return [Option(each, ROLE_NAMES[each]) for each in reversed(memberships.ROLES) if memberships.manages(role, each)]


def role_field(role: Role, value: str, problem: str = "") -> Field:
    """What somebody with this role may give, and what each of them may do."""
    options = options_for(role)
    hint = " ".join(MAY[each] for each in reversed(memberships.ROLES) if memberships.manages(role, each))
    return Field(name="role", label="Role", kind="select", options=options, value=value, hint=hint, error=problem)


def here_of(path: str, user_id: str) -> str:
    """Where a question about one person stands, and where its answer goes."""
    return with_query(path, {"user": user_id})


def _asked() -> str:
    return request.args.get("user", "")[:64]


def _at(path: str, org_id: str, **more: str) -> str:
    return with_query(path, {"organization": org_id, **more})


def _member(tx: ReadTx, membership: Membership, visitor: User, role: Role) -> _Member:
    user = users.get(tx, membership.user_id)
    managed = memberships.manages(role, membership.role)
    return _Member(user, membership, sessions.last_seen(tx, user.id), user.id == visitor.id, managed)


def _table(people: list[_Member], org_id: str, now: Instant) -> Table:
    columns = (
        Column("Name"),
        Column("Address"),
        Column("Role", "badge"),
        Column("Member since", "date"),
        Column("Last seen", "moment"),
    )
    return Table(caption="People", columns=columns, rows=[_row(each, org_id) for each in people], now=now)


def _row(member: _Member, org_id: str) -> Row:
    user, membership = member.user, member.membership
    actions = []
    if member.is_managed:
        actions.append(Action("Change role", _at(ROLE, org_id, user=user.id)))
    if member.is_self:
        actions.append(Action("Leave", _at(LEAVE, org_id)))
    elif member.is_managed:
        actions.append(Action("Remove", _at(REMOVE, org_id, user=user.id)))
    seen = Cell(text="Cannot sign in" if user.disabled_at else "Not lately", at=member.last_seen)
    return Row(
        cells=(
            Cell(text=f"{user.name} (you)" if member.is_self else user.name),
            Cell(text=user.email),
            Cell(text=ROLE_NAMES[membership.role], tone="neutral" if membership.role == "member" else "information"),
            Cell(at=Instant(membership.created_at)),
            seen,
        ),
        id=user.id,
        label=user.name,
        actions=actions,
    )


def _invitations(tx: ReadTx, org_id: str, role: Role) -> Table:
    columns = (Column("Address"), Column("Role", "badge"), Column("Invited by"), Column("Ends", "date"))
    rows = []
    for each in invitations.list_invitations(tx):
        maker = "Whoever runs this server" if each.user_id is None else users.get(tx, each.user_id).name
        rows.append(
            Row(
                cells=(
                    Cell(text=each.email),
                    Cell(text=ROLE_NAMES[each.role]),
                    Cell(text=maker),
                    Cell(at=each.expires_at),
                ),
                id=each.id,
                label=each.email,
                actions=[Action("Revoke", _at(REVOKE, org_id, id=each.id))] if role != "member" else (),
            )
        )
    return Table(caption="Open invitations", columns=columns, rows=rows)


def _leaving(tx: ReadTx, name: str, user_id: str, visitor: User) -> _Leaving:
    """`name` is the organization's. Raises `Problem` `not_found` for who is no member."""
    role = memberships.role_of(tx, user_id)
    listed = memberships.list_members(tx)
    (found,) = [each for each in listed if each.user_id == user_id]
    member = _member(tx, found, visitor, role)
    who = "You" if member.is_self else member.user.name
    consequences = [f"{who} can open nothing of {name} any more, from the next click on."]
    names: dict[AccessKind, list[str]] = {}
    can_be_handed_over = False
    for kind, opening in kinds.every(tx, user_id):
        names.setdefault(kind.name, []).append(opening.name)
        can_be_handed_over |= kind.hand_over is not None
    consequences += [_ends(kind, named) for kind, named in names.items()]
    if len(memberships.of_user(tx, user_id)) == 1:
        then = "You are" if member.is_self else "They belong to nothing else, and are"
        consequences.append(f"{then} signed out everywhere, and passkeys are removed.")
    takers = [users.get(tx, each.user_id) for each in listed if each.user_id != user_id] if can_be_handed_over else []
    return _Leaving(
        member,
        consequences,
        [Option(each.id, each.name) for each in takers if each.disabled_at is None],
        tx.org_id in memberships.solely_owned(tx, user_id),
    )


def _ends(kind: AccessKind, named: list[str]) -> str:
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    verb = "ends" if len(named) == 1 else "end"
    return f"{_counted(kind, len(named))} {verb}: {', '.join(named[:NAMED])}{more}."


def _counted(kind: AccessKind, count: int) -> str:
    return f"{count} {PLURALS[kind][0 if count == 1 else 1]}"


def _ended_in_words(ended: EndedAccess) -> str:
    """`Ended: 3 API keys, 1 connected app.`; what goes on with somebody else is said too."""
    counts: dict[AccessKind, int] = {}
    for each in ended.items:
        counts[each.kind] = counts.get(each.kind, 0) + 1
    said = ", ".join(_counted(kind, count) for kind, count in counts.items())
    words = f"Ended: {said}." if said else "Nothing else of theirs was open."
    return f"{words} Handed over: {len(ended.handed_over)}." if ended.handed_over else words
