"""`/developers/keys`: API keys of an organization, made, rotated and revoked, and what each was used for (Spec §5)."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import quote

from quart import Quart, Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.clock import DAY, HOUR, SECOND, Instant
from gatewayd.console import key_view
from gatewayd.console.addresses import KEYS
from gatewayd.console.browser import (
    optional,
    recently_signed_in,
    role_in,
    see,
    signed_in,
    value,
    visit,
)
from gatewayd.console.key_view import KeyForm, ShownKey
from gatewayd.console.pages import add_page, sentence
from gatewayd.console.parts import ConsoleParts
from gatewayd.console.usage import HEIGHT, WIDTH, Bar, Point, bars
from gatewayd.errors import Problem
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.api_keys import CreatedKey
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import sessions
from gatewayd.store import ReadTx, WriteTx

OTHERS_SHOWN: Final = 50
CHART_DAYS: Final = 30
OVERLAPS: Final = (
    (0, "ends at once"),
    (HOUR, "goes on for an hour"),
    (DAY, "goes on for a day"),
    (7 * DAY, "goes on for 7 days"),
    (30 * DAY, "goes on for 30 days"),
)
"""How long a key that is rotated goes on, and how that is said."""
Page = tuple[str, int]


class Keys:
    """The pages of keys."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store
        self._clock = parts.clock
        self._issuer = parts.issuer

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", KEYS, self.show)
        add_page(app, "POST", KEYS, self.create)
        add_page(app, "GET", f"{KEYS}/new", self.ask_for_new)
        add_page(app, "GET", f"{KEYS}/<key_id>", self.show_one)
        add_page(app, "GET", f"{KEYS}/<key_id>/rotate", self.ask_to_rotate)
        add_page(app, "POST", f"{KEYS}/<key_id>/rotate", self.rotate)
        add_page(app, "GET", f"{KEYS}/<key_id>/revoke", self.ask_to_revoke)
        add_page(app, "POST", f"{KEYS}/<key_id>/revoke", self.revoke)

    # -- looking

    async def show(self) -> str:
        """Of the organization that is named, else of the first. Raises `NotFound` for one that is not the visitor's."""
        _, user = signed_in()
        named = request.args.get("organization")

        def look(tx: ReadTx) -> dict[str, object]:
            of_user = [each.org_id for each in memberships.of_user(tx, user.id)]
            shown = _organization_of(of_user, named)
            others = [organizations.get(tx, each) for each in of_user if each != shown][:OTHERS_SHOWN]
            if shown is None:
                return {"others": others, "organization": None}
            tx.bind(shown)
            keys = key_view.seen_by(tx, user)
            return {
                "others": others,
                "organization": organizations.get(tx, shown),
                "live": [each for each in keys if each.works or each.state == "without_owner"],
                "ended": [each for each in keys if not each.works and each.state != "without_owner"],
            }

        context = await self._store.read_later(look, None)
        return await render_template("keys.html", revoked=request.args.get("revoked"), **context)

    async def show_one(self, key_id: str) -> str:
        """One key with what it was used for. Raises `NotFound` as all that names a key does."""
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            shown = key_view.one_seen_by(tx, user, key_id)
            return {
                "shown": shown,
                "organization": organizations.get(tx, tx.org_id),
                "uses": key_uses.by_operation(tx, key_id),
                "chart": _chart(key_uses.by_day(tx, key_id), tx.now),
            }

        context = await self._store.read_later(look, None)
        return await render_template(
            "key.html", width=WIDTH, height=HEIGHT, count=CHART_DAYS, kept=key_uses.KEPT_DAYS, **context
        )

    # -- a new one

    async def ask_for_new(self) -> str:
        """The form. Chosen: only for who signed in lately, as whoever has a key gets in without them."""
        _, user = recently_signed_in(self._clock)
        named = request.args.get("organization")

        def look(tx: ReadTx) -> str | None:
            return _organization_of([each.org_id for each in memberships.of_user(tx, user.id)], named)

        org_id = await self._store.read(look)
        if org_id is None:
            raise NotFound
        return await self._form(user, org_id, key_view.blank(self._clock.now()))

    async def _form(self, user: User, org_id: str, form: KeyForm, problem: Problem | None = None) -> str:
        """Raises `NotFound` for an organization that is not the visitor's."""

        def look(tx: ReadTx) -> dict[str, object]:
            leads = role_in(tx, user) != "member"
            return {"leads": leads, "organization": organizations.get(tx, org_id)}

        context = await self._store.read(look, org_id)
        return await render_template(
            "key_new.html", form=form, areas=key_view.choices(), wrong=_by_field(problem), **context
        )

    async def create(self) -> str | Page:
        """Make a key and show it, in the answer to the form itself: nobody but who sent it can ask for it again.

        A form that is sent again, as by a reload, shows the same key and makes no second one.
        """
        _, user = recently_signed_in(self._clock)
        sent = await request.form
        org_id, form = value(sent, "organization", 64), key_view.read_form(sent)
        random = sessions.bytes_of_form(visit().token, "create", org_id, *form.entered)

        def work(tx: WriteTx) -> CreatedKey:
            role_in(tx, user)
            return api_keys.find_made_of(tx, random) or api_keys.create(
                tx, key_view.to_key(form, user), random, user.id
            )

        try:
            made = await self._store.write(work, org_id)
        except Problem as problem:
            return await self._form(user, org_id, form, problem), 422
        return await self._secret(user, made)

    async def _secret(self, user: User, made: CreatedKey, replaced: ShownKey | None = None) -> str:
        shown = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, made.id))
        return await render_template("key_made.html", made=made, shown=shown, replaced=replaced, issuer=self._issuer)

    # -- another in its place

    async def ask_to_rotate(self, key_id: str) -> str | Page:
        """What becomes of the old one."""
        _, user = recently_signed_in(self._clock)
        return await self._ask_to_rotate(user, key_id)

    async def _ask_to_rotate(self, user: User, key_id: str, problem: str = "") -> str | Page:
        shown = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, key_id))
        if not shown.may_rotate and not problem:
            raise NotFound
        page = await render_template(
            "key_rotate.html", shown=shown, overlaps=OVERLAPS, nonce=secrets.token_urlsafe(16), problem=problem
        )
        return (page, 422) if problem else page

    async def rotate(self, key_id: str) -> str | Page:
        """Make the successor and show it, as `create` does."""
        _, user = recently_signed_in(self._clock)
        sent = await request.form
        nonce, overlap = value(sent, "nonce", 64), _overlap(optional(sent, "overlap", 16))
        random = sessions.bytes_of_form(visit().token, "rotate", key_id, nonce)
        before = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, key_id))

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
            return await self._ask_to_rotate(user, key_id, sentence(problem))
        replaced = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, key_id))
        return await self._secret(user, made, replaced)

    # -- its end

    async def ask_to_revoke(self, key_id: str) -> str:
        """What ends with it."""
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            shown = key_view.one_seen_by(tx, user, key_id)
            if not shown.may_revoke:
                raise NotFound
            return {"shown": shown, "uses": key_uses.by_operation(tx, key_id)[:3]}

        return await render_template("key_revoke.html", **await self._store.read(look))

    async def revoke(self, key_id: str) -> Response:
        """From the next request on the key is refused. One that has ended already stays as it is."""
        _, user = signed_in()
        shown = await self._store.read(lambda tx: key_view.one_seen_by(tx, user, key_id))
        org_id = shown.key.org_id

        def work(tx: WriteTx) -> None:
            if key_view.one_seen_by(tx, user, key_id).may_revoke:
                api_keys.revoke(tx, key_id, user.id)

        await self._store.write(work, org_id)
        return see(f"{KEYS}?organization={quote(org_id, safe='')}&revoked={quote(shown.key.name, safe='')}")


def _organization_of(of_user: list[str], named: str | None) -> str | None:
    """The one that is named, else the first; None: the visitor belongs to none. Raises `NotFound`."""
    if named is not None and named not in of_user:
        raise NotFound
    return named or (of_user[0] if of_user else None)


def _by_field(problem: Problem | None) -> dict[str, str]:
    """What is wrong, by the name of the field; what is wrong with none, under an empty name."""
    if problem is None:
        return {}
    found: dict[str, str] = {}
    for error in problem.errors:
        found.setdefault(error.path, error.message)
    return found or {"": problem.message}


def _overlap(text: str) -> int:
    """Chosen: what no form of these pages offers is a day."""
    return next((overlap for overlap, _ in OVERLAPS if str(overlap) == text), DAY)


class _Chart(NamedTuple):
    """How often a key was used on each of the last days. `most` is what the highest bar stands for."""

    first: str
    last: str
    total: int
    most: int
    bars: list[Bar]


def _chart(by_day: dict[str, int], now: Instant) -> _Chart:
    today = datetime.fromtimestamp(now // SECOND, UTC).date()
    days = [(today - timedelta(days=CHART_DAYS - 1 - number)).isoformat() for number in range(CHART_DAYS)]
    points = [Point(by_day.get(day, 0), f"{day}: {by_day.get(day, 0)}") for day in days]
    counts = [point.value for point in points]
    return _Chart(days[0], days[-1], sum(counts), max(counts), bars(points))
