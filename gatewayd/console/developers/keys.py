"""`/developers/keys`: API keys of an organization, made, rotated and revoked, and what each was used for (Spec §5)."""

from typing import Final
from uuid import uuid4

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.clock import DAY, HOUR
from gatewayd.console.addresses import KEYS
from gatewayd.console.browser import (
    ORGANIZATION_FIELD,
    flash,
    optional,
    organization,
    recently_signed_in,
    role_in,
    see,
    signed_in,
    value,
    visit,
)
from gatewayd.console.components.shapes import Action, EmptyState, Field, Option
from gatewayd.console.developers import key_form, key_view
from gatewayd.console.developers.key_form import KEY_FIELD, Around, KeyForm
from gatewayd.console.developers.key_view import ShownKey
from gatewayd.console.pages import Question, add_page, ask, sentence, with_query
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.api_keys import CreatedKey
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import sessions
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, WriteTx

OVERLAPS: Final = {
    "0": (0, "Ends at once"),
    "1h": (HOUR, "Goes on for an hour"),
    "1d": (DAY, "Goes on for a day"),
    "7d": (7 * DAY, "Goes on for 7 days"),
    "30d": (30 * DAY, "Goes on for 30 days"),
}
"""How long a key that is rotated goes on, and how that is said."""
_OVERLAP: Final = "1d"  # Chosen: as on the command line
_COMMAND: Final = "gatewayd key create --org {org} --user {email} --name Till --scope accounting:read"
Page = tuple[str, int]


class Keys:
    """The pages of keys."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock
        self._issuer = parts.issuer
        self._rows = {operation.id: operation for operation in parts.operations}

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", KEYS, self.show)
        add_page(app, "GET", f"{KEYS}/new", self.ask_for_new)
        add_page(app, "POST", f"{KEYS}/new", self.create)
        add_page(app, "GET", f"{KEYS}/<key_id>", self.show_one)
        add_page(app, "GET", f"{KEYS}/<key_id>/rotate", self.ask_to_rotate)
        add_page(app, "POST", f"{KEYS}/<key_id>/rotate", self.rotate)
        add_page(app, "GET", f"{KEYS}/<key_id>/revoke", self.ask_to_revoke)
        add_page(app, "POST", f"{KEYS}/<key_id>/revoke", self.revoke)

    # -- looking

    async def show(self) -> str:
        """The keys that the visitor sees; of one who belongs to no organization, that they don't."""
        _, user = signed_in()
        if not visit().belongs:
            return await render_template("developers/keys.html", live=None)
        org_id, after = organization().id, request.args.get("after", "")[:64]
        seen = await self._store.read_later(lambda tx: key_view.seen_by(tx, user, after), org_id)
        empty = EmptyState(
            sentence="No program has a key yet.",
            action=Action("Create key", f"{KEYS}/new"),
            command=_COMMAND.format(org=org_id, email=user.email),
        )
        return await render_template(
            "developers/keys.html",
            live=key_view.table_of(seen.live, "API keys"),
            ended=key_view.table_of(seen.ended, "Keys that have ended"),
            ended_count=seen.ended_count,
            empty=empty,
            first_href=with_query(KEYS, {ORGANIZATION_FIELD: org_id}) if after else "",
            next_href=with_query(KEYS, {ORGANIZATION_FIELD: org_id, "after": seen.following}) if seen.following else "",
        )

    async def show_one(self, key_id: str) -> str:
        """One key with what it was used for. Raises `NotFound` as all that names a key does."""
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            shown = key_view.one_seen_by(tx, user, key_id)
            uses, now = key_uses.by_operation(tx, key_id), self._clock.now()
            return {
                "shown": shown,
                "uses": key_view.uses_table(uses, self._rows, now),
                "chart": key_view.chart_of(key_uses.by_day(tx, key_id), now),
            }

        context = await self._store.read_later(look, None)
        shown = context["shown"]
        assert isinstance(shown, ShownKey)
        facts = key_view.facts(shown, _of(shown))
        return await render_template("developers/key.html", facts=facts, kept=key_uses.KEPT_DAYS, **context)

    async def _one(self, user: User, key_id: str) -> ShownKey:
        shown = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, key_id))
        _of(shown)
        return shown

    # -- a new one

    async def ask_for_new(self) -> Response | str:
        """The form. Chosen: only for who signed in lately, as whoever has a key gets in without them.

        The reference leads here whoever reads it: who belongs to no organization is told so by the list.
        """
        _, user = recently_signed_in(self._clock)
        if not visit().belongs:
            return see(KEYS)
        return await self._form(user, key_form.blank(self._clock.now()))

    async def _form(self, user: User, form: KeyForm, problem: Problem | None = None) -> str:
        chosen = organization()

        def look(tx: ReadTx) -> Around:
            return Around(chosen.name, owners.names(tx), role_in(tx, user) != "member")

        shown = key_form.shown(form, await self._store.read(look, chosen.id), problem)
        text = "" if problem is None else "The key was not made. Look at the marked fields."
        if problem is not None and not problem.errors:
            text = sentence(problem)
        return await render_template(
            "developers/key_new.html", shown=shown, problem=text, hidden=_hidden(chosen.id, form.sending), back=KEYS
        )

    async def create(self) -> str | Page:
        """Make a key and show it, in the answer to the form itself: nobody but who sent it can ask for it again.

        A form that is sent again, as by a reload, shows the same key and makes no second one.
        """
        _, user = recently_signed_in(self._clock)
        org_id, form = organization().id, key_form.read_form(await request.form)
        random = sessions.bytes_of_form(visit().token, "create", org_id, *form.entered)

        def work(tx: WriteTx) -> CreatedKey:
            role_in(tx, user)
            return api_keys.find_made_of(tx, random) or api_keys.create(
                tx, key_form.to_key(form, user), random, user.id
            )

        try:
            made = await self._store.write(work, org_id)
        except Problem as problem:
            return await self._form(user, form, problem), 422
        return await self._secret(user, made)

    async def _secret(self, user: User, made: CreatedKey, replaced: ShownKey | None = None) -> str:
        shown = await self._one(user, made.id)
        return await render_template(
            "developers/key_made.html", made=made, shown=shown, replaced=replaced, issuer=self._issuer
        )

    # -- another in its place

    async def ask_to_rotate(self, key_id: str) -> str:
        """What becomes of the old one."""
        _, user = recently_signed_in(self._clock)
        shown = await self._one(user, key_id)
        if not shown.may_rotate:
            raise NotFound
        return await self._ask_to_rotate(shown)

    async def _ask_to_rotate(self, shown: ShownKey, problem: str = "") -> str:
        overlap = Field(
            name="overlap",
            label="The key that there is",
            kind="select",
            value=_OVERLAP,
            options=[Option(each, words) for each, (_, words) in OVERLAPS.items()],
        )
        hidden = _hidden(shown.key.org_id, str(uuid4()))
        return await render_template(
            "developers/key_rotate.html",
            shown=shown,
            overlap=overlap,
            problem=problem,
            hidden=hidden,
            back=_address(shown),
        )

    async def rotate(self, key_id: str) -> str | Page:
        """Make the successor and show it, as `create` does."""
        _, user = recently_signed_in(self._clock)
        form = await request.form
        sending, chosen = value(form, KEY_FIELD, 64), optional(form, "overlap", 16)
        overlap, _ = OVERLAPS.get(chosen, OVERLAPS[_OVERLAP])
        random = sessions.bytes_of_form(visit().token, "rotate", key_id, sending)
        before = await self._one(user, key_id)

        def work(tx: WriteTx) -> CreatedKey:
            shown = key_view.one_seen_by(tx, user, key_id)
            made = api_keys.find_made_of(tx, random)
            if made is not None:
                return made
            if shown.state == "works" and not shown.may_rotate:
                raise NotFound
            return api_keys.rotate(tx, key_id, overlap, random, user.id)

        try:
            made = await self._store.write(work, before.key.org_id)
        except Problem as problem:
            return await self._ask_to_rotate(before, sentence(problem)), 422
        return await self._secret(user, made, await self._one(user, key_id))

    # -- its end

    async def ask_to_revoke(self, key_id: str) -> str:
        """What ends with it."""
        _, user = signed_in()
        shown = await self._one(user, key_id)
        if not shown.may_revoke:
            raise NotFound
        used = key_view.used_on(shown.key)
        question = Question(
            title=f"Revoke {shown.key.name}?",
            consequences=[
                "Every program that uses this key is refused, from its next request on.",
                "It was never used." if used == "Never" else f"It was used last on {used}.",
                "It cannot be given back: a program that still needs a key gets a new one.",
            ],
            action=f"{_address(shown)}/revoke",
            button="Revoke",
            back=_address(shown),
            hidden=[(ORGANIZATION_FIELD, shown.key.org_id)],
        )
        return await ask(question)

    async def revoke(self, key_id: str) -> Response:
        """From the next request on the key is refused. One that has ended already stays as it is."""
        _, user = signed_in()
        shown = await self._one(user, key_id)

        def work(tx: WriteTx) -> None:
            if key_view.one_seen_by(tx, user, key_id).may_revoke:
                api_keys.revoke(tx, key_id, user.id)

        await self._store.write(work, shown.key.org_id)
        flash("success", f"The key {shown.key.name} was revoked.")
        return see(KEYS)


def _of(shown: ShownKey) -> str:
    """The name of a key's organization, which the page is of from now on, whichever was chosen before."""
    chosen = next(each for each, _ in visit().belongs if each.id == shown.key.org_id)
    visit().chosen = chosen
    return chosen.name


def _address(shown: ShownKey) -> str:
    return f"{KEYS}/{shown.key.id}"


def _hidden(org_id: str, sending: str) -> list[tuple[str, str]]:
    """What a form carries beside its fields: which organization it is for, and which sending it is."""
    return [(ORGANIZATION_FIELD, org_id), (KEY_FIELD, sending)]
