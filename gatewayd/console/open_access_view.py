"""What the page of open access shows: what works without whoever made it, and by whom that is."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from werkzeug.exceptions import NotFound

from gatewayd.access import kinds
from gatewayd.access.kinds import Kind
from gatewayd.console.browser import role_in
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.open_access import AccessKind, Opening
from gatewayd.identity.people import memberships, users
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx

UNKNOWN: Final = "unknown"
"""Stands for the maker of what nobody knows the maker of; `audit.OPERATOR` for whoever runs the instance."""
AFTERWARDS: Final[Mapping[AccessKind, str]] = {
    "document_link": "Whoever has the link cannot open the document any more.",
    "upload_url": "Nothing can be sent to the URL any more.",
    "calendar_feed": "Calendars that read the feed are told nothing new.",
    "webhook_subscription": "Nothing is sent to the receiver until somebody enables the subscription again.",
    "connected_app": "The app is refused until somebody connects it again.",
    "api_key": "Whatever uses the key is refused.",
}
"""What the end of each kind means, as it is said before."""
UNRECORDED: Final[frozenset[AccessKind]] = frozenset({"upload_url", "calendar_feed", "webhook_subscription"})
"""Of what kinds nobody writes down when they were last used."""


class OpenItem(NamedTuple):
    """One thing that is open."""

    kind: Kind
    opening: Opening


class Maker(NamedTuple):
    """Who made what is open. `key` is a user id, `audit.OPERATOR` or `UNKNOWN`; `left`: they belong here no more.

    `shown` are the first of `total`; `counts` are by what people call a kind.
    """

    key: str
    name: str
    left: bool
    total: int
    counts: dict[str, int]
    shown: list[OpenItem]


def makers(tx: ReadTx, user: User, one: str | None, most: int) -> list[Maker]:
    """Who made what is open in the transaction's organization, with at most so many things of each.

    Who has left stands first, then people by their addresses. Members see what is their own. `one` is the only maker
    who is asked for. Raises `NotFound` where the visitor does not belong to the organization.
    """
    counted: dict[str, Counter[str]] = {}
    shown: dict[str, list[OpenItem]] = {}
    for given in seen_by(tx, user):
        key = maker_of(given.opening)
        if one in (None, key):
            counted.setdefault(key, Counter())[given.kind.words] += 1
            if len(first := shown.setdefault(key, [])) < most:
                first.append(given)
    found = [_maker(tx, key, counted[key], shown[key]) for key in counted]
    return sorted(found, key=lambda each: (not each.left, each.key in (audit.OPERATOR, UNKNOWN), each.name))


def seen_by(tx: ReadTx, user: User) -> Iterator[OpenItem]:
    """What is open in the transaction's organization, as far as the visitor sees it. Raises `NotFound`."""
    whose = user.id if role_in(tx, user) == "member" else None
    return (OpenItem(kind, opening) for kind, opening in kinds.every(tx, whose))


def chosen(tx: ReadTx, user: User, ids: Collection[str]) -> list[OpenItem]:
    """Those of these ids that are open still.

    Raises `NotFound` where one is not the visitor's to end, or the organization is not theirs.
    """
    leads = role_in(tx, user) != "member"
    found = []
    for id_ in dict.fromkeys(ids):
        try:
            given = OpenItem(*kinds.find(tx, id_))
        except Problem:  # ended meanwhile
            continue
        if not leads and given.opening.user_id != user.id:
            raise NotFound
        found.append(given)
    return found


def maker_of(opening: Opening) -> str:
    """With whose leaving it ends: `Maker.key`."""
    return opening.user_id or (audit.OPERATOR if opening.created_by == audit.OPERATOR else UNKNOWN)


def name_of(tx: ReadTx, key: str) -> str:
    """A maker as people know them."""
    if key == audit.OPERATOR:
        return "Whoever runs this server"
    known = _person(tx, key)
    return "Nobody knows who" if known is None else known.email


def _person(tx: ReadTx, key: str) -> User | None:
    return None if key in (audit.OPERATOR, UNKNOWN) else users.find_by_id(tx, key)


def _maker(tx: ReadTx, key: str, counts: Counter[str], shown: list[OpenItem]) -> Maker:
    known = _person(tx, key)
    left = known is not None and (known.disabled_at is not None or not memberships.is_member(tx, known.id))
    return Maker(key, name_of(tx, key), left, counts.total(), dict(counts), shown)
