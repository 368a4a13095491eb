"""Grants as people see them: on their own page, for their organization, or for one client."""

import msgspec

from gatewayd.clock import DAY, Instant
from gatewayd.identity.clients.grants import RevokedReason
from gatewayd.identity.clients.oauth_clients import Origin, hosts_of
from gatewayd.identity.clients.redirect_uris import host_of
from gatewayd.identity.open_access import Opening, Sought
from gatewayd.store import ReadTx, Row

SHOWN_LIFE = 30 * DAY  # Chosen: how long people see that a grant was revoked, and why
LIST_LIMIT = 1_000  # Chosen

_SELECT_ANY_ORG = """
SELECT g.id, g.org_id, o.name, g.user_id, g.client_id, c.name, c.origin, c.metadata, g.scopes, g.created_at,
    g.last_used_day, g.expires_at, g.revoked_at, g.revoked_reason, g.redirect_host, g.resource
FROM grants g JOIN oauth_clients c ON c.id = g.client_id JOIN organizations o ON o.id = g.org_id
"""
_SHOWN = """
AND (g.revoked_at > :shown_since OR (g.revoked_at IS NULL AND g.expires_at > :now))
AND NOT EXISTS (SELECT 1 FROM authorization_codes a WHERE a.grant_id = g.id AND a.used_at IS NULL)
ORDER BY g.id DESC LIMIT :limit
"""
_OF_USER_ANY_ORG = f"{_SELECT_ANY_ORG} WHERE g.user_id = :user_id {_SHOWN}"
_OF_CLIENT_ANY_ORG = f"{_SELECT_ANY_ORG} WHERE g.client_id = :client_id {_SHOWN}"
_OF_ORG = f"{_SELECT_ANY_ORG} WHERE g.org_id = :org_id {_SHOWN}"

_SELECT_OPEN = """
SELECT g.id, g.user_id, g.created_at, g.expires_at, g.last_used_day, g.client_id, c.origin, c.metadata, g.redirect_host
FROM grants g JOIN oauth_clients c ON c.id = g.client_id
JOIN memberships m ON m.org_id = g.org_id AND m.user_id = g.user_id
WHERE g.org_id = :org_id AND g.id >= :first AND g.revoked_at IS NULL AND c.revoked_at IS NULL AND g.expires_at > :at
    AND NOT EXISTS (SELECT 1 FROM authorization_codes a WHERE a.grant_id = g.id AND a.used_at IS NULL)
    AND (CAST(:user_id AS TEXT) IS NULL OR g.user_id = :user_id)
ORDER BY g.id LIMIT :limit
"""


class GrantSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One grant. `hosts` tell who the client is, as at the consent; its name is only what it calls itself.

    `connected_at` is the consent, `last_used_day` a day, UTC. `revoked_at` and `revoked_reason` are set on one that was
    revoked within `SHOWN_LIFE`: `refresh_reused` and `code_replayed` are a warning to the person. `resource` is whom
    its tokens are for (None: the API).
    """

    grant_id: str
    org_id: str
    organization: str
    user_id: str
    client_id: str
    client_name: str
    hosts: tuple[str, ...]
    scopes: tuple[str, ...]
    connected_at: Instant
    last_used_day: str | None
    expires_at: Instant
    revoked_at: Instant | None
    revoked_reason: RevokedReason | None
    resource: str | None = None


class _Redirects(msgspec.Struct, frozen=True):
    """What tells people who a client is, of its metadata."""

    redirect_uris: list[str]


_decode = msgspec.json.Decoder(_Redirects).decode


def of_user(tx: ReadTx, user_id: str) -> list[GrantSummary]:
    """One person's grants, live or revoked within `SHOWN_LIFE`; newest first, at most `LIST_LIMIT`."""
    return _summaries(tx, _OF_USER_ANY_ORG, user_id=user_id)


def of_org(tx: ReadTx) -> list[GrantSummary]:
    """The same of everybody in the transaction's organization."""
    return _summaries(tx, _OF_ORG)


def of_client(tx: ReadTx, client_id: str) -> list[GrantSummary]:
    """The same of everybody, for one client."""
    return _summaries(tx, _OF_CLIENT_ANY_ORG, client_id=client_id)


def list_open(tx: ReadTx, sought: Sought) -> list[Opening]:
    """The connected apps that work in the transaction's organization, by id; each is named by its hosts."""
    return [_opening(row) for row in tx.rows(_SELECT_OPEN, **sought._asdict())]


def _opening(row: Row) -> Opening:
    grant_id, user_id, created_at, expires_at, last_used, *known = row
    return Opening(grant_id, ", ".join(_hosts(*known)), user_id, user_id, created_at, expires_at, last_used)


def _summaries(tx: ReadTx, sql: str, **values: object) -> list[GrantSummary]:
    return [_summary(row) for row in tx.rows(sql, shown_since=tx.now - SHOWN_LIFE, limit=LIST_LIMIT, **values)]


def _summary(row: Row) -> GrantSummary:
    return GrantSummary(
        grant_id=row[0],
        org_id=row[1],
        organization=row[2],
        user_id=row[3],
        client_id=row[4],
        client_name=row[5],
        hosts=_hosts(row[4], row[6], row[7], row[14]),
        scopes=tuple(row[8].split()),
        connected_at=row[9],
        last_used_day=row[10],
        expires_at=row[11],
        revoked_at=row[12],
        revoked_reason=row[13],
        resource=row[15],
    )


def _hosts(client_id: str, origin: Origin, metadata: bytes, redirect_host: str | None) -> tuple[str, ...]:
    """As the person was shown them. A grant of before they were kept has all that are registered."""
    known = map(host_of, _decode(metadata).redirect_uris) if redirect_host is None else [redirect_host]
    return tuple(dict.fromkeys(host for each in known for host in hosts_of(client_id, origin, each)))
