"""Taking access away: from a member of one organization, or from a person altogether.

Each ends what would go on by itself. That nothing new begins stands where it would: `users.is_enabled`,
`memberships.is_active`.
"""

from gatewayd.contract.wire import Response
from gatewayd.identity import (
    api_keys,
    audit,
    calendar_feeds,
    grants,
    known_devices,
    memberships,
    one_time_links,
    passkeys,
    second_factors,
    sessions,
    users,
)
from gatewayd.store import WriteTx


class EndedAccess(Response, frozen=True, kw_only=True):
    """How much of each kind was ended. `grants` are the apps that were connected, with all their tokens."""

    sessions: int
    passkeys: int
    second_factor: bool
    keys: int
    grants: int


def remove_member(tx: WriteTx, user_id: str, actor: str) -> EndedAccess:
    """Remove a member of the transaction's organization, their keys, grants and calendar feeds there included.

    Sessions, passkeys and one-time links end where the person belongs to no other organization. Chosen: the password
    and its second factor stay, and open a page that says so.

    Raises `Problem` `not_found`, or `invalid_state` for the last owner.
    """
    ended_grants = memberships.remove(tx, user_id, actor)
    keys = api_keys.revoke_membership(tx, user_id, actor)
    calendar_feeds.revoke_membership(tx, user_id, actor)
    ended_sessions = ended_passkeys = 0
    if not memberships.of_user(tx, user_id):
        one_time_links.void(tx, user_id)
        ended_sessions = end_sessions(tx, user_id, actor)
        ended_passkeys = passkeys.remove_all(tx, user_id, actor)
    return EndedAccess(
        sessions=ended_sessions, passkeys=ended_passkeys, second_factor=False, keys=keys, grants=ended_grants
    )


def disable(tx: WriteTx, user_id: str, actor: str) -> EndedAccess:
    """Let a person in no more, and end all that they hold; again ends what is left. Their memberships stay."""
    users.disable(tx, user_id, actor)
    return end_everything(tx, user_id, actor)


def end_everything(tx: WriteTx, user_id: str, actor: str) -> EndedAccess:
    """End all that a person holds but the password: also one-time links and calendar feeds, which are not counted."""
    one_time_links.void(tx, user_id)
    calendar_feeds.revoke_user(tx, user_id, actor)
    second_factor = second_factors.is_on(tx, user_id)
    second_factors.remove(tx, user_id, actor)
    return EndedAccess(
        sessions=end_sessions(tx, user_id, actor),
        passkeys=passkeys.remove_all(tx, user_id, actor),
        second_factor=second_factor,
        keys=api_keys.revoke_user(tx, user_id, actor),
        grants=grants.revoke_user(tx, user_id, "operator", actor),
    )


def end_access_of_all(tx: WriteTx, actor: str) -> EndedAccess:
    """End everybody's sessions, one-time links, keys, grants and calendar feeds: what was ended since a backup lives
    again in it.

    Chosen: passwords, second factors and passkeys stay, or nobody could come in any more.
    """
    keys = ended_sessions = ended_grants = 0
    calendar_feeds.revoke_all(tx, actor)
    for user_id in users.list_ids(tx):
        one_time_links.void(tx, user_id)
        ended_sessions += end_sessions(tx, user_id, actor)
        keys += api_keys.revoke_user(tx, user_id, actor)
        ended_grants += grants.revoke_user(tx, user_id, "operator", actor)
    return EndedAccess(sessions=ended_sessions, passkeys=0, second_factor=False, keys=keys, grants=ended_grants)


def end_sessions(tx: WriteTx, user_id: str, actor: str) -> int:
    """Sign a person out everywhere; returns in how many browsers. Apps that they connected go on."""
    known_devices.forget(tx, user_id)
    ended = sessions.end_all(tx, user_id)
    if ended:
        act = audit.Act(actor=actor, action="user.signed_out_everywhere", subject=user_id, org_id=None)
        audit.record(tx, act)
    return ended
