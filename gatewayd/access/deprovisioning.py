"""Taking access away: from a member of one organization, from a person altogether, or from all.

Each ends what would go on by itself. That nothing new begins stands where it would: `users.is_enabled`,
`memberships.is_active`.
"""

from collections import Counter
from typing import Final, NamedTuple

from gatewayd.access import kinds
from gatewayd.access.kinds import End, Kind
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.contract.caller import Role
from gatewayd.contract.wire import Id, Response
from gatewayd.errors import invalid_state, not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import grants
from gatewayd.identity.keys import api_keys
from gatewayd.identity.open_access import AccessKind, Opening
from gatewayd.identity.people import invitations, memberships, organizations, users
from gatewayd.identity.sign_in import known_devices, one_time_links, passkeys, second_factors, sessions
from gatewayd.mail import outbox
from gatewayd.store import ReadTx, WriteTx


class Item(Response, frozen=True, kw_only=True):
    """One thing that was open, and in which organization."""

    id: Id
    kind: AccessKind
    name: str
    org_id: Id


class CountedAccess(Response, frozen=True, kw_only=True):
    """How much of each kind there is, or was. `grants` are the apps that are connected, with all their tokens."""

    sessions: int
    keys: int
    grants: int
    document_links: int
    upload_urls: int
    feeds: int
    subscriptions: int
    invitations: int


class EndedAccess(CountedAccess, frozen=True, kw_only=True):
    """How much of each kind was ended; `subscriptions` are switched off.

    `items` names what was open to the outside, `handed_over` what goes on with somebody else.
    """

    passkeys: int
    second_factor: bool
    sign_in_links: int
    items: list[Item]
    handed_over: list[Item]


class HandOver(NamedTuple):
    """Who takes over what can be handed over, and which of it by id; empty: all. The rest ends."""

    user_id: str
    ids: frozenset[str] = frozenset()


class _Settled(NamedTuple):
    """What was ended, and what was handed over."""

    ended: list[Item]
    handed_over: list[Item]


_COUNTS: Final[tuple[tuple[str, AccessKind], ...]] = (
    ("keys", "api_key"),
    ("grants", "connected_app"),
    ("document_links", "document_link"),
    ("upload_urls", "upload_url"),
    ("feeds", "calendar_feed"),
    ("subscriptions", "webhook_subscription"),
    ("invitations", "invitation"),
)
"""The field of `CountedAccess` that counts each kind."""


def remove_member(tx: WriteTx, user_id: str, actor: str, hand_over: HandOver | None = None) -> EndedAccess:
    """Remove a member of the transaction's organization; what they opened there ends, or is handed over.

    Sessions, passkeys and one-time links end where the person belongs to no other organization. Chosen: the password
    and its second factor stay, and open a page that says so.

    Raises `Problem`: `not_found`, or `invalid_state` for the last owner; the same of what is to be handed over, where
    it is not theirs or cannot be, or whoever is to have it is no member.
    """
    memberships.role_of(tx, user_id)
    settled = _settle(tx, user_id, kinds.LEFT(actor), hand_over)
    if hand_over is not None:
        _refuse_left_over(hand_over, settled)
    more = Counter(grants=memberships.remove(tx, user_id, actor), keys=api_keys.revoke_membership(tx, user_id, actor))
    users.end_addresses(tx, user_id)
    documents.renew_pictures(tx)
    ended_sessions = ended_passkeys = ended_links = 0
    if not memberships.of_user(tx, user_id):
        ended_links = one_time_links.void(tx, user_id)
        ended_sessions = end_sessions(tx, user_id, actor)
        ended_passkeys = passkeys.remove_all(tx, user_id, actor)
    return _ended_access(
        settled, more, sessions=ended_sessions, passkeys=ended_passkeys, second_factor=False, sign_in_links=ended_links
    )


def change_role(tx: WriteTx, user_id: str, role: Role, actor: str) -> int:
    """Give a member of the transaction's organization another role, and end those of their invitations that give what
    they may not give any more; answers how many. Raises as `memberships.change_role` does.
    """
    memberships.change_role(tx, user_id, role, actor)
    return invitations.end_beyond(tx, user_id, role, actor)


def disable(tx: WriteTx, user_id: str, actor: str, hand_over: HandOver | None = None) -> EndedAccess:
    """Let a person in no more, and end all that they hold; again ends what is left. Their memberships stay."""
    users.disable(tx, user_id, actor)
    return end_everything(tx, user_id, actor, hand_over)


def end_everything(tx: WriteTx, user_id: str, actor: str, hand_over: HandOver | None = None) -> EndedAccess:
    """End all that a person holds but the password, in every organization.

    What they opened is handed over where whoever is to have it is a member too. The transaction acts for one of the
    organizations afterwards. Raises `Problem` as `remove_member` does of what is to be handed over.
    """
    settled = _Settled([], [])
    for organization in organizations.list_all(tx):
        tx.bind(organization.id)
        takes = hand_over is not None and memberships.is_active(tx, hand_over.user_id)
        here = _settle(tx, user_id, kinds.DISABLED(actor), hand_over if takes else None)
        settled = _Settled(settled.ended + here.ended, settled.handed_over + here.handed_over)
        if memberships.is_member(tx, user_id):
            documents.renew_pictures(tx)
    if hand_over is not None:
        _refuse_left_over(hand_over, settled)
    users.end_addresses(tx, user_id)
    second_factor = second_factors.is_on(tx, user_id)
    second_factors.remove(tx, user_id, actor)
    more = Counter(
        keys=api_keys.revoke_user(tx, user_id, actor), grants=grants.revoke_user(tx, user_id, "operator", actor)
    )
    return _ended_access(
        settled,
        more,
        sessions=end_sessions(tx, user_id, actor),
        passkeys=passkeys.remove_all(tx, user_id, actor),
        second_factor=second_factor,
        sign_in_links=one_time_links.void(tx, user_id),
    )


def end_access_of_all(tx: WriteTx, actor: str) -> EndedAccess:
    """End everybody's sessions and one-time links, and all that is open to the outside: what was ended since a backup
    lives again in it. Webhook subscriptions are off until an owner enables them.

    Chosen: passwords, second factors and passkeys stay, or nobody could come in any more.
    """
    settled, more = _Settled([], []), Counter[str]()
    outbox.withdraw(tx, "password_reset", None)
    for organization in organizations.list_all(tx):
        tx.bind(organization.id)
        settled.ended.extend(_settle(tx, None, kinds.RESTORED(actor), None).ended)
        documents.renew_pictures(tx)
    ended_sessions = ended_links = 0
    for user_id in users.list_ids(tx):
        users.end_addresses(tx, user_id)
        ended_links += one_time_links.void(tx, user_id)
        ended_sessions += end_sessions(tx, user_id, actor)
        more["keys"] += api_keys.revoke_user(tx, user_id, actor)
        more["grants"] += grants.revoke_user(tx, user_id, "operator", actor)
    return _ended_access(
        settled, more, sessions=ended_sessions, passkeys=0, second_factor=False, sign_in_links=ended_links
    )


def count_access_of_all(tx: ReadTx) -> CountedAccess:
    """How much of each kind `end_access_of_all` would end now."""
    counts: Counter[AccessKind] = Counter()
    for organization in organizations.list_all(tx):
        tx.bind(organization.id)
        counts.update(kind.name for kind, _ in kinds.every(tx))
    return CountedAccess(sessions=sessions.count(tx), **{field: counts[kind] for field, kind in _COUNTS})


def end_sessions(tx: WriteTx, user_id: str, actor: str) -> int:
    """Sign a person out everywhere; returns in how many browsers. Apps that they connected go on."""
    known_devices.forget(tx, user_id)
    ended = sessions.end_all(tx, user_id)
    if ended:
        act = audit.Act(actor=actor, action="user.signed_out_everywhere", subject=user_id, org_id=None)
        audit.record(tx, act)
    return ended


def item(tx: ReadTx, kind: Kind, opening: Opening) -> Item:
    """What was found open in the transaction's organization."""
    return Item(id=opening.id, kind=kind.name, name=opening.name, org_id=tx.org_id)


def _settle(tx: WriteTx, user_id: str | None, end: End, hand_over: HandOver | None) -> _Settled:
    """End or hand over what is open in the transaction's organization: of one person, or of all."""
    if hand_over is not None and (hand_over.user_id == user_id or not memberships.is_active(tx, hand_over.user_id)):
        message = f"{hand_over.user_id} cannot take it over: give another member of the organization who can sign in."
        raise invalid_state(message, "disabled", ("active",))
    settled = _Settled([], [])
    for kind, opening in list(kinds.every(tx, user_id)):
        if hand_over is not None and _is_taken(kind, opening, hand_over):
            _hand_over(tx, kind, opening, hand_over.user_id, end.actor)
            settled.handed_over.append(item(tx, kind, opening))
        else:
            kind.end(tx, opening.id, end)
            settled.ended.append(item(tx, kind, opening))
    return settled


def _is_taken(kind: Kind, opening: Opening, hand_over: HandOver) -> bool:
    if not hand_over.ids:
        return kind.hand_over is not None
    if opening.id in hand_over.ids and kind.hand_over is None:
        message = f"{opening.id} ends with the membership of who made it, and cannot be handed over: {kind.words}."
        raise invalid_state(message, kind.name, tuple(each.name for each in kinds.KINDS if each.hand_over))
    return opening.id in hand_over.ids


def _hand_over(tx: WriteTx, kind: Kind, opening: Opening, user_id: str, actor: str) -> None:
    assert kind.hand_over is not None, "taken"
    kind.hand_over(tx, opening.id, user_id)
    detail: audit.Detail = {"from": opening.user_id, "to": user_id}
    act = audit.Act(actor=actor, action="access.handed_over", subject=opening.id, org_id=tx.org_id, detail=detail)
    audit.record(tx, act)


def _refuse_left_over(hand_over: HandOver, settled: _Settled) -> None:
    """Raises `Problem` `not_found` where something was named that is not theirs."""
    if hand_over.ids - {each.id for each in settled.handed_over}:
        raise not_found("open access")


def _ended_access(
    settled: _Settled, more: Counter[str], *, sessions: int, passkeys: int, second_factor: bool, sign_in_links: int
) -> EndedAccess:
    """`more` is what was ended beside what is listed: what has expired, and leaves tokens for a while."""
    by_kind = Counter(each.kind for each in settled.ended)
    counts = {field: by_kind[kind] + more[field] for field, kind in _COUNTS}
    return EndedAccess(
        sessions=sessions,
        passkeys=passkeys,
        second_factor=second_factor,
        sign_in_links=sign_in_links,
        items=settled.ended,
        handed_over=settled.handed_over,
        **counts,
    )
