"""`/developers/access`: what of an organization is open to the outside, by who made it, and its end."""

from typing import Final, NamedTuple
from urllib.parse import quote

from quart import Quart, Response, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, NotFound

from gatewayd.access.kinds import End
from gatewayd.console.addresses import ACCESS
from gatewayd.console.browser import optional, see, signed_in, value
from gatewayd.console.open_access_view import (
    AFTERWARDS,
    UNRECORDED,
    OpenItem,
    chosen,
    maker_of,
    makers,
    name_of,
    seen_by,
)
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx, WriteTx

OF_EACH: Final = 10  # Chosen: of each maker where several are shown
OF_ONE: Final = 500  # Chosen: of one; the command line lists more
MAKERS_SHOWN: Final = 50  # Chosen: with what they made; of further ones there are links
OTHERS_SHOWN: Final = 50
NAMED: Final = 20  # Chosen: of what is about to end
_NOTHING_TICKED: Final = "Tick what is to end."
Page = tuple[str, int]


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
        return [each for each in seen_by(tx, user) if maker_of(each.opening) == self.maker]


class OpenAccess:
    """The page of what is open, and the one that asks before it ends."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", ACCESS, self.show)
        add_page(app, "POST", f"{ACCESS}/end", self.end)

    async def show(self) -> str:
        """Of the organization that is named, else of the first."""
        return await self._page(request.args.get("organization"), request.args.get("maker"))

    async def _page(self, named: str | None, maker: str | None, problem: str = "") -> str:
        """Raises `NotFound` for an organization that is not the visitor's, and a maker who made nothing of it."""
        _, user = signed_in()

        def look(tx: ReadTx) -> dict[str, object]:
            of_user = [each.org_id for each in memberships.of_user(tx, user.id)]
            if named is not None and named not in of_user:
                raise NotFound
            shown = named or (of_user[0] if of_user else None)
            others = [organizations.get(tx, each) for each in of_user if each != shown][:OTHERS_SHOWN]
            return {"others": others, **({"organization": None} if shown is None else _of(tx, user, shown, maker))}

        found = await self._store.read_later(look, None)
        ended = _number(request.args.get("ended", ""))
        return await render_template(
            "open_access.html", one=maker, problem=problem, ended=ended, unrecorded=UNRECORDED, **found
        )

    async def end(self) -> Response | str | Page:
        """Ask whether it is meant; then end it: from the next request on it opens nothing."""
        _, user = signed_in()
        form = await request.form
        ending = _read(form)
        if not ending.ids and "all" not in form:
            return await self._page(ending.org_id, None, _NOTHING_TICKED), 422

        def work(tx: WriteTx) -> int | None:
            """How many were ended; None: there is something that was not agreed to."""
            found = ending.of(tx, user)
            if ending.agreed is None or (not ending.ids and len(found) > ending.agreed):
                return None
            for kind, opening in found:
                kind.end(tx, opening.id, End(user.id))
            return len(found)

        ended = None if ending.agreed is None else await self._store.write(work, ending.org_id)
        if ended is None:
            return await self._ask(user, ending)
        return see(f"{address_of(ending.org_id)}&ended={ended}")

    async def _ask(self, user: User, ending: _Ending) -> Response | str:
        def look(tx: ReadTx) -> tuple[list[OpenItem], str]:
            return ending.of(tx, user), name_of(tx, ending.maker)

        found, name = await self._store.read_later(look, ending.org_id)
        if not found:  # somebody else was faster
            return see(f"{address_of(ending.org_id)}&ended=0")
        kinds = dict.fromkeys(each.kind.name for each in found)
        return await render_template(
            "open_access_end.html",
            ending=ending,
            found=found,
            named=NAMED,
            name=name,
            afterwards=[AFTERWARDS[each] for each in kinds],
            back=address_of(ending.org_id),
        )


def address_of(org_id: str) -> str:
    """The page of one organization."""
    return f"{ACCESS}?organization={quote(org_id, safe='')}"


def _read(form: MultiDict[str, str]) -> _Ending:
    """Raises `BadRequest` for what no form of these pages sends."""
    ids = form.getlist("id")
    if len(ids) > OF_ONE or any(len(each) > 64 for each in ids):
        raise BadRequest("The form is not complete.")
    agreed = _number(optional(form, "agreed", 16))
    return _Ending(value(form, "organization", 64), optional(form, "maker", 64), [] if "all" in form else ids, agreed)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _of(tx: ReadTx, user: User, org_id: str, maker: str | None) -> dict[str, object]:
    tx.bind(org_id)
    found = makers(tx, user, maker, OF_EACH if maker is None else OF_ONE)
    if maker is not None and not found:
        raise NotFound
    return {
        "organization": organizations.get(tx, org_id),
        "makers": found[:MAKERS_SHOWN],
        "further": found[MAKERS_SHOWN:],
        "count": sum(each.total for each in found),
    }
