"""What the pages of administration share. Who does not administrate the instance finds none of them."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from quart import Response, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.clock import Clock
from gatewayd.console.browser import recently_signed_in, signed_in
from gatewayd.console.components.shapes import Action, EmptyState, Field, Table
from gatewayd.console.pages import with_query
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.people.users import User

PAGE_ROWS: Final = 25  # Chosen: with long names and what can be done in each row, a page is under 40 kB
Page = str | Response | tuple[str, int]


class Heading(NamedTuple):
    """What stands above a list, and in its place where it is empty."""

    title: str
    text: str
    empty: EmptyState
    primary: Action | None = None


class Found(NamedTuple):
    """A page of a list. `asked` is how it was narrowed; `older` where the next page begins, None after the last."""

    table: Table
    fields: Sequence[Field]
    asked: Mapping[str, str]
    older: str | None


def administrator() -> User:
    """The visitor. Raises `NotFound` for everybody else, `SignInNeeded`."""
    _, user = signed_in()
    if not user.instance_admin:
        raise NotFound
    return user


def recent_administrator(clock: Clock) -> User:
    """The same of who has authenticated not long ago, as for what gives somebody access, or takes it.

    Raises `NotFound`, `SignInNeeded`.
    """
    administrator()
    return recently_signed_in(clock)[1]


def asked_of(*names: str) -> dict[str, str]:
    """How the address narrows a list: what is given of these names."""
    given = {name: request.args.get(name, "").strip()[:320] for name in names}
    return {name: value for name, value in given.items() if value}


async def show_list(heading: Heading, found: Found) -> str:
    """A page of a list, with its filter and the way to the next."""
    address, before = request.path, request.args.get("before", "")
    return await render_template(
        "list.html",
        page=heading,
        address=address,
        filters=found.fields,
        is_narrowed=bool(found.asked),
        table=found.table,
        first_href=with_query(address, found.asked) if before else "",
        next_href=with_query(address, {**found.asked, "before": found.older}) if found.older else "",
    )


def or_not_found(problem: Problem) -> Problem:
    """What to go on with of a problem. Raises `NotFound` for one that says that there is no such thing."""
    if problem.code == "not_found":
        raise NotFound from None
    return problem


def name_of_actor(entry_actor: str, name: str | None) -> str:
    """Who did it, as people know them."""
    return {audit.OPERATOR: "whoever runs this server", audit.NOBODY: "nobody knows"}.get(
        entry_actor, name or entry_actor
    )
