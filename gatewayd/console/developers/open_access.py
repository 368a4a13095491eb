"""`/developers/access`: what of an organization is open to the outside, by who made it, and its end."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

from quart import Quart, Response, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, NotFound

from gatewayd.access import kinds
from gatewayd.access.kinds import End, Kind
from gatewayd.clock import Instant
from gatewayd.console.addresses import ACCESS
from gatewayd.console.browser import flash, optional, role_in, see, signed_in, value, visit
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.components.words import day, moment
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.open_access import AccessKind, Opening
from gatewayd.identity.people import memberships, users
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx, WriteTx

UNKNOWN: Final = "unknown"
ORGANIZATION: Final = "organization"
"""Stand for the maker of what nobody knows the maker of, and for the organization itself, whose keys and what was made
with them end with nobody; `audit.OPERATOR` for whoever runs the instance."""
AFTERWARDS: Final[Mapping[AccessKind, str]] = {
    "document_link": "Whoever has the link cannot open the document any more.",
    "upload_url": "Nothing can be sent to the URL any more.",
    "calendar_feed": "Calendars that read the feed are told nothing new.",
    "webhook_subscription": "Nothing is sent to the receiver until somebody enables the subscription again.",
    "connected_app": "The app is refused until somebody connects it again.",
    "api_key": "Whatever uses the key is refused.",
    "invitation": "Whoever has the link cannot join by it any more.",
}
"""What the end of each kind means, as it is said before."""
UNRECORDED: Final[frozenset[AccessKind]] = frozenset(
    {"upload_url", "calendar_feed", "webhook_subscription", "invitation"}
)
"""Of what kinds nobody writes down when they were last used."""
COLUMNS: Final = (Column("What"), Column("Kind"), Column("Since", "date"), Column("Last used"), Column("Ends"))
OF_EACH: Final = 10  # Chosen: of each maker where several are shown
OF_ONE: Final = 500  # Chosen: of one; the command line lists more
MAKERS_SHOWN: Final = 50  # Chosen: with what they made; of further ones there are links
NAMED: Final = 20  # Chosen: of what is about to end
_NOBODY: Final = frozenset({audit.OPERATOR, ORGANIZATION, UNKNOWN})
"""Makers that are no people."""
_NOTHING_TICKED: Final = "Tick what is to end."
Page = tuple[str, int]


class OpenItem(NamedTuple):
    """One thing that is open."""

    kind: Kind
    opening: Opening


class Maker(NamedTuple):
    """Who made what is open. `key` is as `maker_of` answers; `left`: they belong here no more.

    `shown` are the first of `total`; `counts` are by what people call a kind.
    """

    key: str
    name: str
    left: bool
    total: int
    counts: dict[str, int]
    shown: list[OpenItem]

    @property
    def table(self) -> Table:
        """`shown`, each to be ticked by its id."""
        return Table(caption=f"What {self.name} opened", columns=COLUMNS, rows=[_row(*item) for item in self.shown])


def _row(kind: Kind, opening: Opening) -> Row:
    used = day(opening.last_used) if opening.last_used else "not recorded" if kind.name in UNRECORDED else "never"
    soon = kind.name == "upload_url"  # of which hours count
    ends = "never" if opening.expires_at is None else (moment if soon else day)(Instant(opening.expires_at))
    cells = [
        Cell(text=opening.name),
        Cell(text=kind.words),
        Cell(at=Instant(opening.created_at)),
        Cell(text=used),
        Cell(text=ends),
    ]
    return Row(cells=cells, id=opening.id)


def makers(tx: ReadTx, user: User, only: str | None, most: int) -> list[Maker]:
    """Who made what is open in the transaction's organization, with at most so many things of each.

    Who has left stands first, then people by their addresses. Members see what is their own. `one` is the only maker
    who is asked for. Raises `NotFound` where the visitor does not belong to the organization.
    """
    counted: dict[str, Counter[str]] = {}
    shown: dict[str, list[OpenItem]] = {}
    for item in seen_by(tx, user):
        key = maker_of(item)
        if only in (None, key):
            counted.setdefault(key, Counter())[item.kind.words] += 1
            if len(first := shown.setdefault(key, [])) < most:
                first.append(item)
    listed = [_maker(tx, key, counted[key], shown[key]) for key in counted]
    return sorted(listed, key=lambda each: (not each.left, each.key in _NOBODY, each.name))


def seen_by(tx: ReadTx, user: User) -> Iterator[OpenItem]:
    """What is open in the transaction's organization, as far as the visitor sees it. Raises `NotFound`."""
    whose = user.id if role_in(tx, user) == "member" else None
    return (OpenItem(kind, opening) for kind, opening in kinds.every(tx, whose))


def chosen(tx: ReadTx, user: User, ids: Collection[str]) -> list[OpenItem]:
    """The items with these ids that are still open.

    Raises `NotFound` where one is not the visitor's to end, or the organization is not theirs.
    """
    leads = role_in(tx, user) != "member"
    items = []
    for id_ in dict.fromkeys(ids):
        try:
            item = OpenItem(*kinds.find(tx, id_))
        except Problem:  # ended meanwhile
            continue
        if not leads and item.opening.user_id != user.id:
            raise NotFound
        items.append(item)
    return items


def maker_of(item: OpenItem) -> str:
    """With whose leaving it ends, as `Maker.key`: a user id, or what `_NOBODY` has."""
    opening = item.opening
    if opening.user_id is not None:
        return opening.user_id
    if opening.created_by == audit.OPERATOR:
        return audit.OPERATOR
    return ORGANIZATION if item.kind.name == "api_key" or opening.created_by.startswith("key_") else UNKNOWN


def name_of(tx: ReadTx, key: str) -> str:
    """A maker as people know them."""
    if key == audit.OPERATOR:
        return "Whoever runs this server"
    if key == ORGANIZATION:
        return "The organization itself"
    known = _person(tx, key)
    return "Nobody knows who" if known is None else known.email


def _person(tx: ReadTx, key: str) -> User | None:
    return None if key in _NOBODY else users.find_by_id(tx, key)


def _maker(tx: ReadTx, key: str, counts: Counter[str], shown: list[OpenItem]) -> Maker:
    known = _person(tx, key)
    left = known is not None and (known.disabled_at is not None or not memberships.is_member(tx, known.id))
    return Maker(key, name_of(tx, key), left, counts.total(), dict(counts), shown)


class _Ending(NamedTuple):
    """What a form wants to end: `ids`, or, where there are none, all that one maker made.

    `agreed` is how many things were shown when that was confirmed; None: nobody was asked yet.
    """

    org_id: str
    maker: str
    ids: list[str]
    agreed: int | None

    def of(self, tx: ReadTx, user: User) -> list[OpenItem]:
        """What of it is open. Raises `NotFound`."""
        if self.ids:
            return chosen(tx, user, self.ids)
        return [each for each in seen_by(tx, user) if maker_of(each) == self.maker]


class OpenAccess:
    """The page of what is open, and the one that asks before it ends."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", ACCESS, self.show)
        add_page(app, "POST", f"{ACCESS}/end", self.end)

    async def show(self) -> str:
        """Of the organization that the pages are of."""
        return await self._page(request.args.get("maker"))

    async def _page(self, maker: str | None, problem: str = "") -> str:
        """Raises `NotFound` for an organization that is not the visitor's, and a maker who made nothing of it."""
        _, user = signed_in()
        there = visit()
        if there.belongs and there.chosen is None:
            raise NotFound

        def look(tx: ReadTx) -> dict[str, object]:
            return _page_context(tx, user, there.chosen.id, maker) if there.chosen is not None else {}

        context = await self._store.read_later(look, None)
        return await render_template("developers/open_access.html", one_maker=maker, problem=problem, **context)

    async def end(self) -> Response | str | Page:
        """Ask whether it is meant; then end it: from the next request on it opens nothing."""
        _, user = signed_in()
        form = await request.form
        ending = _read_ending(form)
        if not ending.ids and "all" not in form:
            return await self._page(None, _NOTHING_TICKED), 422

        def work(tx: WriteTx) -> int | None:
            """How many were ended; None: there is something that was not agreed to."""
            items = ending.of(tx, user)
            if ending.agreed is None or (not ending.ids and len(items) > ending.agreed):
                return None
            for kind, opening in items:
                kind.end(tx, opening.id, End(user.id))
            return len(items)

        ended = None if ending.agreed is None else await self._store.write(work, ending.org_id)
        if ended is None:
            return await self._ask(user, ending)
        return _back(ending.org_id, ended)

    async def _ask(self, user: User, ending: _Ending) -> Response | str:
        def look(tx: ReadTx) -> tuple[list[OpenItem], str]:
            return ending.of(tx, user), name_of(tx, ending.maker)

        items, name = await self._store.read_later(look, ending.org_id)
        if not items:  # somebody else was faster
            return _back(ending.org_id, 0)
        kinds = dict.fromkeys(each.kind.name for each in items)
        return await render_template(
            "developers/open_access_end.html",
            ending=ending,
            items=items,
            named=NAMED,
            name=name,
            afterwards=[AFTERWARDS[each] for each in kinds],
            back=address_of(ending.org_id),
        )


def address_of(org_id: str) -> str:
    """The page of one organization."""
    return f"{ACCESS}?organization={quote(org_id, safe='')}"


def _back(org_id: str, ended: int) -> Response:
    """To the page, which says how many were ended."""
    if ended:
        flash("success", f"{ended} thing{' was' if ended == 1 else 's were'} ended.")
    else:
        flash("information", "That had ended already.")
    return see(address_of(org_id))


def _read_ending(form: MultiDict[str, str]) -> _Ending:
    """Raises `BadRequest` for what no form of these pages sends."""
    ids = form.getlist("id")
    if len(ids) > OF_ONE or any(len(each) > 64 for each in ids):
        raise BadRequest("The form is not complete.")
    agreed = _number(optional(form, "agreed", 16))
    return _Ending(value(form, "organization", 64), optional(form, "maker", 64), [] if "all" in form else ids, agreed)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _page_context(tx: ReadTx, user: User, org_id: str, maker: str | None) -> dict[str, object]:
    tx.bind(org_id)
    all_makers = makers(tx, user, maker, OF_EACH if maker is None else OF_ONE)
    if maker is not None and not all_makers:
        raise NotFound
    return {
        "makers": all_makers[:MAKERS_SHOWN],
        "further": all_makers[MAKERS_SHOWN:],
        "count": sum(each.total for each in all_makers),
    }
