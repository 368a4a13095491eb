"""`/admin/people`: who signs in to the instance: disabled, enabled, unlocked, given a link for a new password."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from quart import Quart, render_template, request

from gatewayd.access import deprovisioning
from gatewayd.console.addresses import ADMIN_AUDIT, ADMIN_PEOPLE, reset_link
from gatewayd.console.administration.administrators import (
    PAGE_ROWS,
    Found,
    Heading,
    Page,
    administrator,
    asked_of,
    or_not_found,
    recent_administrator,
    show_list,
)
from gatewayd.console.browser import flash, see
from gatewayd.console.components.shapes import Action, Cell, Column, EmptyState, Field, Row, Table, Tone
from gatewayd.console.pages import Question, add_page, ask, sentence, with_query
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem, invalid_state
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import password_resets, throttling
from gatewayd.store import ReadTx, WriteTx

_COLUMNS: Final = (
    Column("E-mail"),
    Column("Name"),
    Column("State", "badge"),
    Column("Belongs to"),
    Column("Since", "date"),
)
_HEADING: Final = Heading(
    "People",
    "Everybody who can sign in here, whichever organization they belong to.",
    EmptyState(
        sentence="Nobody can sign in yet.",
        command="gatewayd user create --email ann@example.com --name Ann --org ORG_ID --role owner",
    ),
)
_MYSELF: Final = "You cannot disable yourself: another administrator, or the command line, can."


class Decision(NamedTuple):
    """What can be done with a person: the question, and what does it and says so."""

    verb: str
    button: str
    consequences: Callable[[ReadTx, User], list[str]]
    act: Callable[[WriteTx, User, str], str]


class AllPeople:
    """The pages of the instance's people."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store, self._clock, self._issuer = parts.store, parts.clock, parts.issuer

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", ADMIN_PEOPLE, self.show)
        for name in _DECISIONS:
            add_page(app, "GET", f"{ADMIN_PEOPLE}/<user_id>/{name}", partial(self.ask, name))
            add_page(app, "POST", f"{ADMIN_PEOPLE}/<user_id>/{name}", partial(self.decide, name))
        add_page(app, "GET", f"{ADMIN_PEOPLE}/<user_id>/reset", self.ask_reset)
        add_page(app, "POST", f"{ADMIN_PEOPLE}/<user_id>/reset", self.reset)

    async def show(self) -> str:
        administrator()
        asked, before = asked_of("q"), request.args.get("before") or None

        def look(tx: ReadTx) -> list[Row]:
            return [_row(tx, each) for each in users.list_page(tx, asked.get("q"), before, PAGE_ROWS + 1)]

        rows = await self._store.read(look)
        table = Table(caption="People", columns=_COLUMNS, rows=rows[:PAGE_ROWS])
        fields = [Field(name="q", label="E-mail or name", value=asked.get("q", ""))]
        older = rows[PAGE_ROWS - 1].id if len(rows) > PAGE_ROWS else None
        return await show_list(_HEADING, Found(table, fields, asked, older))

    # -- disable, enable, unlock

    async def ask(self, name: str, user_id: str) -> str:
        recent_administrator(self._clock)
        return await ask(await self._question(name, user_id))

    async def decide(self, name: str, user_id: str) -> Page:
        by = recent_administrator(self._clock)
        try:
            said = await self._store.write(lambda tx: _DECISIONS[name].act(tx, users.get(tx, user_id), by.id))
        except Problem as problem:
            text = sentence(or_not_found(problem))
            return await ask(await self._question(name, user_id), text), problem.status
        flash("success", said)
        return see(ADMIN_PEOPLE)

    async def _question(self, name: str, user_id: str) -> Question:
        decision = _DECISIONS[name]

        def look(tx: ReadTx) -> Question:
            user = _get(tx, user_id)
            said = decision.consequences(tx, user)
            return Question(f"{decision.verb} {user.email}", said, decision.button, ADMIN_PEOPLE)

        return await self._store.read(look)

    # -- a new password

    async def ask_reset(self, user_id: str) -> str:
        recent_administrator(self._clock)
        return await ask(await self._store.read(lambda tx: _resetting(_get(tx, user_id))))

    async def reset(self, user_id: str) -> Page:
        """The link is shown once, and to whoever asked for it: there is no mail."""
        by = recent_administrator(self._clock)

        def work(tx: WriteTx) -> tuple[User, str]:
            user = _get(tx, user_id)
            return user, password_resets.make_link(tx, user, by.id)

        try:
            user, token = await self._store.write(work)
        except Problem as problem:
            question = await self._store.read(lambda tx: _resetting(_get(tx, user_id)))
            return await ask(question, sentence(problem)), problem.status
        return await render_template(
            "administration/reset_link.html", person=user, link=reset_link(self._issuer, token), back=ADMIN_PEOPLE
        )


def _get(tx: ReadTx, user_id: str) -> User:
    """Raises `NotFound`."""
    try:
        return users.get(tx, user_id)
    except Problem as problem:
        raise or_not_found(problem) from None


def _resetting(user: User) -> Question:
    said = [
        "You get a link that sets a new password, once, within 24 hours: hand it to them yourself.",
        "Links that they were given before stop working. Nothing else changes until it is used.",
    ]
    return Question(f"New password for {user.email}", said, "Make link", ADMIN_PEOPLE)


def _disabling(tx: ReadTx, user: User) -> list[str]:
    left = [organizations.get(tx, org_id).name for org_id in memberships.solely_owned(tx, user.id)]
    return [
        "They are let in no more, from their next request on.",
        "Their sessions, passkeys, keys and connected apps end, and all that they opened to the outside.",
        *(f"{name} has no other owner." for name in left),
    ]


def _disable(tx: WriteTx, user: User, by: str) -> str:
    if user.id == by:
        raise invalid_state(_MYSELF, "self", ("another",))
    deprovisioning.disable(tx, user.id, by)
    return f"{user.email} is disabled."


def _enable(tx: WriteTx, user: User, by: str) -> str:
    enabled = users.enable(tx, user.id, by)
    return f"{user.email} can sign in again." if enabled else f"{user.email} was not disabled."


def _unlock(tx: WriteTx, user: User, by: str) -> str:
    unlocked = throttling.unlock_user(tx, user, by)
    return f"{user.email} can try to sign in again." if unlocked else f"{user.email} was not locked."


_DECISIONS: Final[Mapping[str, Decision]] = {
    "disable": Decision("Disable", "Disable", _disabling, _disable),
    "enable": Decision(
        "Enable",
        "Enable",
        lambda tx, user: ["They can sign in again with the password that they had. What was ended stays so."],
        _enable,
    ),
    "unlock": Decision(
        "Unlock",
        "Unlock",
        lambda tx, user: ["Their failures to sign in are forgotten, so that they can try again at once."],
        _unlock,
    ),
}


def _row(tx: ReadTx, user: User) -> Row:
    joined = [f"{organizations.get(tx, each.org_id).name} ({each.role})" for each in memberships.of_user(tx, user.id)]
    locked = throttling.locked_until(tx, user.email) is not None
    state, tone = _state(user, locked=locked)
    one = f"{ADMIN_PEOPLE}/{user.id}"
    actions = [
        Action("Enable", f"{one}/enable") if user.disabled_at is not None else Action("Disable", f"{one}/disable"),
        Action("Log", with_query(ADMIN_AUDIT, {"about": user.email})),
    ]
    if user.disabled_at is None:
        actions.insert(1, Action("New password", f"{one}/reset"))
    if locked:
        actions.insert(0, Action("Unlock", f"{one}/unlock"))
    cells = (
        Cell(text=user.email),
        Cell(text=user.name),
        Cell(text=state, tone=tone),
        Cell(items=joined),
        Cell(at=user.created_at),
    )
    return Row(id=user.id, label=user.email, cells=cells, actions=actions)


def _state(user: User, *, locked: bool) -> tuple[str, Tone]:
    if user.disabled_at is not None:
        return "disabled", "danger"
    if locked:
        return "locked", "warning"
    return ("administrator", "information") if user.instance_admin else ("active", "success")
