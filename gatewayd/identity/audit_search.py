"""Reading the audit log: filters, pages from the newest back, and names in place of ids."""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import Final

import msgspec

from gatewayd.clock import MINUTE, Instant
from gatewayd.contract.wire import Response, Timestamp
from gatewayd.errors import invalid_field
from gatewayd.identity import audit
from gatewayd.identity.audit import ACTIONS, Action, AuditEntry, Detail
from gatewayd.ids import first_at
from gatewayd.store import ReadTx

_SLACK: Final = MINUTE  # Chosen: by which an id may be younger than the instant of its entry
_LATEST: Final = "aud_~"  # sorts after every id

_SELECT_ANY_ORG = "SELECT id, org_id, at, actor, action, subject, detail FROM audit_log WHERE id < :before"
_ORDER: Final = " ORDER BY id DESC LIMIT :count"
_AFTER_ANY_ORG = """
SELECT id, org_id, at, actor, action, subject, detail FROM audit_log WHERE id > :after ORDER BY id LIMIT :count
"""
_NEWEST_ANY_ORG = "SELECT max(id) FROM audit_log"
_USER = "SELECT email FROM users WHERE id = :id"
_USER_BY_EMAIL = "SELECT id FROM users WHERE email_folded = :email"
_ORGANIZATION = "SELECT name FROM organizations WHERE id = :id"
_KEY_ANY_ORG = "SELECT name FROM api_keys WHERE id = :id"
_CLIENT = "SELECT name FROM oauth_clients WHERE id = :id"
_NAMES: Final = {"usr": _USER, "org": _ORGANIZATION, "key": _KEY_ANY_ORG, "app": _CLIENT}
"""What an id is called, by its prefix."""


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for; None: whatever it is. `action` is an action, or how several begin: `user.`, `client`.

    `actor` and `subject` are ids, or e-mail addresses of users. `since` is included, `until` is not.
    """

    org_id: str | None = None
    actor: str | None = None
    subject: str | None = None
    action: str | None = None
    since: Instant | None = None
    until: Instant | None = None


class NamedEntry(Response, frozen=True, kw_only=True):
    """An entry with what its ids are called now. A name is None where nothing of it is left, or it has none."""

    id: str
    at: Timestamp
    action: str
    actor: str
    actor_name: str | None
    subject: str
    subject_name: str | None
    org_id: str | None
    org_name: str | None
    detail: Detail


class AuditPage(msgspec.Struct, frozen=True):
    """Entries, newest first; `older` is where the next page begins, None after the last."""

    entries: list[NamedEntry]
    older: str | None


def find(tx: ReadTx, sought: Sought, before: str | None, limit: int) -> AuditPage:
    """One page of what is sought, newest first, behind the id `before`; `limit` is at most `audit.PAGE_MAX`.

    Raises `Problem` `validation_failed` for an action that none begins with.
    """
    limit = min(limit, audit.PAGE_MAX)
    conditions, values = _conditions(tx, sought)
    values |= {"before": _bound(sought, before), "count": limit + 1}
    actions = _actions(sought.action)
    found: Iterable[AuditEntry]
    if actions is None:
        found = _select(tx, conditions, values)
    else:  # each by its index, and the newest of all of them
        lists = [_select(tx, [*conditions, "action = :action"], {**values, "action": each}) for each in actions]
        found = merge(*lists, key=lambda entry: entry.id, reverse=True)
    page = list(islice(found, limit + 1))
    named = _named(tx, page[:limit])
    return AuditPage(named, named[-1].id if len(page) > limit else None)


def find_later(tx: ReadTx, sought: Sought, after: str, limit: int) -> tuple[list[NamedEntry], str]:
    """What is sought among the next `limit` entries behind the id `after`, oldest first; and the id they came to."""
    user_ids = {name: _id_of(tx, getattr(sought, name)) for name in ("actor", "subject")}
    actions = _actions(sought.action)
    came = [audit.entry_of(row) for row in tx.rows(_AFTER_ANY_ORG, after=after, count=limit)]
    found = [
        entry
        for entry in came
        if sought.org_id in (None, entry.org_id)
        and user_ids["actor"] in (None, entry.actor)
        and user_ids["subject"] in (None, entry.subject)
        and (actions is None or entry.action in actions)
    ]
    return _named(tx, found), came[-1].id if came else after


def newest(tx: ReadTx) -> str:
    """The id of the newest entry; empty where there is none."""
    return tx.value(_NEWEST_ANY_ORG) or ""


def name_of(tx: ReadTx, id_: str) -> str | None:
    """What an id is called now: a user's address, the name of an organization, an API key or an OAuth client."""
    statement = _NAMES.get(id_.partition("_")[0])
    if statement is None:
        statement = _CLIENT if id_.startswith("https://") else None
    return None if statement is None else tx.value(statement, id=id_)


def words_of(detail: Detail) -> str:
    """A detail as people read it: `role: owner, scopes: accounting:read crm:read`."""
    parts = ((name, " ".join(value) if isinstance(value, list) else value) for name, value in detail.items())
    return ", ".join(f"{name}: {' '.join(value.split())}" for name, value in parts if value)


def _select(tx: ReadTx, conditions: Sequence[str], values: dict[str, object]) -> list[AuditEntry]:
    sql = " AND ".join([_SELECT_ANY_ORG, *conditions]) + _ORDER
    return [audit.entry_of(row) for row in tx.rows(sql, **values)]


def _conditions(tx: ReadTx, sought: Sought) -> tuple[list[str], dict[str, object]]:
    """The conditions of what is given, with their values."""
    given: dict[str, tuple[str, object]] = {
        "org": ("org_id = :org", sought.org_id),
        "actor": ("actor = :actor", _id_of(tx, sought.actor)),
        "subject": ("subject = :subject", _id_of(tx, sought.subject)),
        "since": ("at >= :since", sought.since),
        "first": ("id >= :first", None if sought.since is None else first_at("aud", sought.since - _SLACK)),
        "until": ("at < :until", sought.until),
    }
    chosen = {name: pair for name, pair in given.items() if pair[1] is not None}
    return [condition for condition, _ in chosen.values()], {name: value for name, (_, value) in chosen.items()}


def _bound(sought: Sought, before: str | None) -> str:
    """The id behind which the page begins."""
    bound = _LATEST if sought.until is None else first_at("aud", sought.until + _SLACK)
    return bound if before is None else min(bound, before)


def _actions(prefix: str | None) -> tuple[Action, ...] | None:
    """The actions that begin so; None: all. Raises `Problem` `validation_failed` where none does."""
    if not prefix:
        return None
    actions = tuple(action for action in ACTIONS if action.startswith(prefix))
    if not actions:
        areas = ", ".join(dict.fromkeys(action.partition(".")[0] for action in ACTIONS))
        raise invalid_field("action", "invalid_value", f"No action begins so. Actions begin with {areas}.")
    return actions


def _id_of(tx: ReadTx, who: str | None) -> str | None:
    """The id of a user who is named by their address; anything else is taken as it is."""
    if who is None or "@" not in who:
        return who
    return tx.value(_USER_BY_EMAIL, email=who.strip().lower()) or who


def _named(tx: ReadTx, entries: Iterable[AuditEntry]) -> list[NamedEntry]:
    names: dict[str, str | None] = {}

    def name(id_: str | None) -> str | None:
        if id_ is not None and id_ not in names:
            names[id_] = name_of(tx, id_)
        return None if id_ is None else names[id_]

    return [
        NamedEntry(
            id=entry.id,
            at=entry.at,
            action=entry.action,
            actor=entry.actor,
            actor_name=name(entry.actor),
            subject=entry.subject,
            subject_name=name(entry.subject),
            org_id=entry.org_id,
            org_name=name(entry.org_id),
            detail=entry.detail,
        )
        for entry in entries
    ]
