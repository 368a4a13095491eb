"""The one list of the kinds of things that are open to the outside: how each is listed, ended and handed over.

A test makes one of every kind, and another looks for hashes of secrets in the schema that no kind knows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from gatewayd.areas.vault import links
from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.errors import not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import grant_lists, grants
from gatewayd.identity.clients.grants import RevokedReason
from gatewayd.identity.keys import api_keys, calendar_feeds
from gatewayd.identity.open_access import FIRST, AccessKind, Opening, Sought, after
from gatewayd.identity.people import invitations
from gatewayd.store import ReadTx, WriteTx
from gatewayd.webhooks.subscribers import open_subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import DisabledReason
from gatewayd.webhooks.subscribers.subscriptions import SUBSCRIPTIONS

CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class End:
    """Why something ends, and who ends it: a user id, or the operator."""

    actor: str
    grant: RevokedReason = "operator"
    subscription: DisabledReason = "caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind. `list_open` gives those of the transaction's organization that are open, by id. `organization_of` an id
    raises `Problem` `not_found`.

    `end` takes one of them. `hand_over` lets one end with the membership of somebody else; None: it holds a secret of
    who made it, or what they alone could allow, and only ends.
    """

    name: AccessKind
    words: str
    prefix: str
    organization_of: Callable[[ReadTx, str], str]
    list_open: Callable[[ReadTx, Sought], list[Opening]]
    end: Callable[[WriteTx, str, End], object]
    hand_over: Callable[[WriteTx, str, str], None] | None = None


def _end_key(tx: WriteTx, id_: str, end: End) -> None:
    api_keys.revoke(tx, id_, end.actor)


def _end_app(tx: WriteTx, id_: str, end: End) -> None:
    grants.revoke(tx, id_, end.grant, end.actor)


def _end_feed(tx: WriteTx, id_: str, end: End) -> None:
    calendar_feeds.revoke(tx, id_, end.actor)


def _end_link(tx: WriteTx, id_: str, end: End) -> None:
    links.revoke(tx, id_)
    _record(tx, "link.revoked", id_, end)


def _end_upload(tx: WriteTx, id_: str, end: End) -> None:
    uploads.end_of(tx, id_)
    _record(tx, "upload.ended", id_, end)


def _end_subscription(tx: WriteTx, id_: str, end: End) -> None:
    open_subscriptions.switch_off(tx, id_, end.subscription)
    _record(tx, "subscription.disabled", id_, end)


def _end_invitation(tx: WriteTx, id_: str, end: End) -> None:
    invitations.revoke(tx, id_, end.actor)


def _record(tx: WriteTx, action: audit.Action, id_: str, end: End) -> None:
    audit.record(tx, audit.Act(actor=end.actor, action=action, subject=id_, org_id=tx.org_id))


KINDS: Final = (
    Kind(
        name="document_link",
        words="document link",
        prefix="lnk",
        organization_of=links.LINKS.organization_of,
        list_open=links.list_open,
        end=_end_link,
        hand_over=links.hand_over,
    ),
    Kind(
        name="upload_url",
        words="upload URL",
        prefix="doc",
        organization_of=DOCUMENTS.organization_of,
        list_open=uploads.list_open,
        end=_end_upload,
    ),
    Kind(
        name="calendar_feed",
        words="calendar feed",
        prefix="cal",
        organization_of=calendar_feeds.CALENDAR_FEEDS.organization_of,
        list_open=calendar_feeds.list_open,
        end=_end_feed,
        hand_over=calendar_feeds.hand_over,
    ),
    Kind(
        name="webhook_subscription",
        words="webhook subscription",
        prefix="wsub",
        organization_of=SUBSCRIPTIONS.organization_of,
        list_open=open_subscriptions.list_open,
        end=_end_subscription,
        hand_over=open_subscriptions.hand_over,
    ),
    Kind(
        name="connected_app",
        words="connected app",
        prefix="grt",
        organization_of=grants.organization_of,
        list_open=grant_lists.list_open,
        end=_end_app,
    ),
    Kind(
        name="api_key",
        words="API key",
        prefix="key",
        organization_of=api_keys.organization_of,
        list_open=api_keys.list_open,
        end=_end_key,
    ),
    Kind(
        name="invitation",
        words="invitation",
        prefix="ivt",
        organization_of=invitations.organization_of,
        list_open=invitations.list_open,
        end=_end_invitation,
    ),
)


def every(tx: ReadTx, user_id: str | None = None) -> Iterator[tuple[Kind, Opening]]:
    """All that is open in the transaction's organization, or what one person made of it."""
    for kind in KINDS:
        yield from ((kind, each) for each in _of_kind(tx, kind, user_id))


def _of_kind(tx: ReadTx, kind: Kind, user_id: str | None) -> list[Opening]:
    openings: list[Opening] = []
    first = FIRST
    while True:
        chunk = kind.list_open(tx, Sought(user_id, first, CHUNK, tx.now))
        openings += chunk
        if len(chunk) < CHUNK:
            return openings
        first = after(chunk[-1].id)


def find(tx: ReadTx, id_: str) -> tuple[Kind, Opening]:
    """What has this id and is open in the transaction's organization. Raises `Problem` `not_found`."""
    kind = _kind_of(id_)
    openings = kind.list_open(tx, Sought(None, id_, 1, tx.now))
    if not openings or openings[0].id != id_:
        raise not_found(kind.words)
    return kind, openings[0]


def organization_of(tx: ReadTx, id_: str) -> str:
    """Whose it is, for the operator of the instance. Raises `Problem` `not_found`."""
    return _kind_of(id_).organization_of(tx, id_)


def _kind_of(id_: str) -> Kind:
    for kind in KINDS:
        if id_.startswith(f"{kind.prefix}_"):
            return kind
    raise not_found("open access")


LEFT: Final = partial(End, grant="member_removed", subscription="maker_left")
"""Why it ends where whoever made it is a member no more."""
DISABLED: Final = partial(End, subscription="maker_left")
"""Why it ends where they are let in no more, anywhere."""
RESTORED: Final = partial(End, subscription="restored")
"""Why it ends where a backup is restored."""
