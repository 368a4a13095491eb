"""OAuth clients: registered by themselves (RFC 7591) or known by a document at their address (CIMD), all public; and
those that the operator registers, of which `own_clients` knows more.

Their number is not limited, but what a day may bring is (`oauth.storage_budget`), and those never used are swept.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from gatewayd.clock import DAY, SECOND, Instant, to_wire
from gatewayd.errors import not_found
from gatewayd.identity import audit
from gatewayd.identity.clients import grants, redirect_uris
from gatewayd.identity.clients.client_metadata import ClientMetadata
from gatewayd.store import ReadTx, Row, WriteTx

UNUSED_LIFE = DAY  # Chosen: a registration is followed by a sign-in, mostly at once
SWEEP_ROWS = 500  # of one transaction
LIST_LIMIT = 10_000  # Chosen
LAST = "~"
"""Sorts after every id."""

Origin = Literal["registered", "document"]

_COLUMNS = """id, origin, name, metadata, tax_approved_at, document_fresh_until, revoked_at, last_used_day, created_at,
    by_operator"""
_INSERT = """
INSERT INTO oauth_clients (id, origin, name, metadata, document_fresh_until, by_operator, created_at)
VALUES (:id, :origin, :name, :metadata, :fresh_until, :by_operator, :now)
"""
_SAVE_DOCUMENT = f"""
{_INSERT} ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, metadata = excluded.metadata, document_fresh_until = excluded.document_fresh_until
"""
_GET = f"SELECT {_COLUMNS} FROM oauth_clients WHERE id = :id"
_SERVES = "SELECT revoked_at IS NULL FROM oauth_clients WHERE id = :id"
_LIST_OWN = f"""
SELECT {_COLUMNS} FROM oauth_clients WHERE by_operator = 1 AND revoked_at IS NULL AND id < :before
ORDER BY id DESC LIMIT :count
"""
_METADATA_OF_OWN = "SELECT metadata FROM oauth_clients WHERE id = :id AND by_operator = 1"
_SAVE_METADATA = "UPDATE oauth_clients SET metadata = :metadata WHERE id = :id"
_LIST = f"SELECT {_COLUMNS} FROM oauth_clients ORDER BY created_at DESC, id LIMIT :limit"
_TAX_APPROVED = f"""
SELECT {_COLUMNS} FROM oauth_clients WHERE tax_approved_at IS NOT NULL AND revoked_at IS NULL
ORDER BY created_at, id LIMIT :limit
"""
_REVOKE = "UPDATE oauth_clients SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
_SET_TAX = "UPDATE oauth_clients SET tax_approved_at = :tax_approved_at WHERE id = :id"
_NOTE_USE_ANY_ORG = """
UPDATE oauth_clients SET last_used_day = :day
WHERE id = (SELECT g.client_id FROM grants g WHERE g.id = :grant_id) AND (last_used_day IS NULL OR last_used_day < :day)
"""
# What an administrator decided stays: a revoked document would come back as if it were new, and a client that they
# registered is for them to remove.
_SWEEP_ANY_ORG = """
DELETE FROM oauth_clients WHERE id IN (
    SELECT c.id FROM oauth_clients c WHERE c.created_at < :before AND c.tax_approved_at IS NULL
        AND (c.by_operator = 0 OR c.revoked_at IS NOT NULL)
        AND (c.origin = 'registered' OR c.revoked_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.client_id = c.id)
        AND NOT EXISTS (SELECT 1 FROM authorization_requests r WHERE r.client_id = c.id)
    ORDER BY c.created_at LIMIT :count
)
"""

_decode = msgspec.json.Decoder(ClientMetadata).decode


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """A client. `name` is what it calls itself: shown, never believed.

    `fresh_until`: its document is used without asking until then; None for a registered client.
    `last_used` is a day, UTC. A client that is `revoked` is refused everything.
    """

    id: str
    origin: Origin
    name: str
    metadata: ClientMetadata
    tax_approved: bool
    fresh_until: Instant | None
    revoked: bool
    last_used: str | None
    created_at: Instant
    by_operator: bool = False

    @property
    def all_hosts(self) -> list[str]:
        """All that it may be known by: the host of its document, then every one that it registered.

        For whoever decides about the client as a whole. Anybody can register the address of somebody they are not, so
        a person is shown `hosts_of` the request in front of them.
        """
        own = [self.id] if self.origin == "document" else []
        return list(dict.fromkeys(map(redirect_uris.host_of, [*own, *self.metadata.redirect_uris])))


def hosts_of(client_id: str, origin: Origin, redirect_host: str) -> tuple[str, ...]:
    """What tells a person who the client is: the host that they are sent to, which alone gets what they allow.

    A document's own host comes before it, where that is another.
    """
    own = [redirect_uris.host_of(client_id)] if origin == "document" else []
    return tuple(dict.fromkeys([*own, redirect_host]))


class _RegistrationResponse(ClientMetadata, frozen=True, kw_only=True):
    """The response to a registration (RFC 7591 §3.2.1). `client_id_issued_at` in seconds."""

    client_id: str
    client_id_issued_at: int


def register(tx: WriteTx, metadata: ClientMetadata, *, by_operator: bool = False) -> Client:
    """Register a client; `metadata` comes from `client_metadata.validate`. Raises nothing."""
    client = Client(
        id=tx.new_id("app"),
        origin="registered",
        name=metadata.client_name,
        metadata=metadata,
        tax_approved=False,
        fresh_until=None,
        revoked=False,
        last_used=None,
        created_at=tx.now,
        by_operator=by_operator,
    )
    tx.run(
        _INSERT,
        id=client.id,
        origin="registered",
        name=client.name,
        metadata=msgspec.json.encode(metadata),
        fresh_until=None,
        by_operator=int(by_operator),
    )
    return client


def registration_response(client: Client) -> bytes:
    """The JSON of the response: what will be honoured, and nothing that will not (RFC 7591 §3.2.1)."""
    return msgspec.json.encode(
        _RegistrationResponse(
            client_id=client.id,
            client_id_issued_at=client.created_at // SECOND,
            **msgspec.structs.asdict(client.metadata),
        )
    )


def find(tx: ReadTx, client_id: str) -> Client | None:
    """The client, also one that is revoked or whose document is stale: look at `revoked` and `fresh_until`."""
    row = tx.row(_GET, id=client_id)
    return None if row is None else _client(row)


def is_active(tx: ReadTx, client_id: str) -> bool:
    """Whether there is such a client, and it is not revoked."""
    return bool(tx.value(_SERVES, id=client_id))


def save_document(tx: WriteTx, url: str, metadata: ClientMetadata, fresh_until: Instant) -> Client:
    """Store what the document at `url` says now; whether the client is revoked or approved stays. Raises nothing.

    `url` has passed `client_metadata.is_document_url`, `metadata` comes from `client_metadata.validate_document`.
    """
    encoded = msgspec.json.encode(metadata)
    name = metadata.client_name
    tx.run(
        _SAVE_DOCUMENT, id=url, origin="document", name=name, metadata=encoded, fresh_until=fresh_until, by_operator=0
    )
    return _get(tx, url)


def metadata_of_own(tx: ReadTx, client_id: str) -> ClientMetadata | None:
    """What a client that the operator registered is; None for any other."""
    metadata = tx.value(_METADATA_OF_OWN, id=client_id)
    return None if metadata is None else _decode(metadata)


def save_metadata(tx: WriteTx, client_id: str, metadata: ClientMetadata) -> None:
    """Keep this of a client that the operator registered."""
    tx.run(_SAVE_METADATA, id=client_id, metadata=msgspec.json.encode(metadata))


def accepts_redirect(client: Client, uri: str) -> bool:
    """Whether the client may have a browser sent there with a code or an error; any port on loopback."""
    return redirect_uris.accepts(client.metadata.redirect_uris, uri)


def accepts_post_logout_redirect(client: Client, uri: str) -> bool:
    """Whether the client may have a browser sent there after signing out (OpenID Connect RP-Initiated Logout §3)."""
    return redirect_uris.accepts(client.metadata.post_logout_redirect_uris or (), uri)


def revoke(tx: WriteTx, client_id: str, actor: str) -> Client:
    """Refuse everything to a client from now on, and end all its grants. Revoking again changes nothing.

    Raises `Problem` `not_found`.
    """
    revoked = tx.run(_REVOKE, id=client_id)
    client = _get(tx, client_id)
    if revoked:
        _record(tx, "client.revoked", client, actor, {})
        grants.revoke_client(tx, client_id, "operator", actor)
    return client


def set_tax_approval(tx: WriteTx, client_id: str, attestation: str | None, actor: str) -> Client:
    """Let people grant the client `tax:*` scopes, or with None stop that, also for those it has been granted.

    `attestation` is what the vendor declared, recorded word for word. Raises `Problem` `not_found`.
    """
    approved = attestation is not None
    tx.run(_SET_TAX, id=client_id, tax_approved_at=tx.now if approved else None)
    client = _get(tx, client_id)
    action: audit.Action = "client.tax_approved" if approved else "client.tax_withdrawn"
    _record(tx, action, client, actor, {"attestation": attestation})
    return client


def list_clients(tx: ReadTx) -> list[Client]:
    """Every client of the instance, newest first; at most `LIST_LIMIT`."""
    return [_client(row) for row in tx.rows(_LIST, limit=LIST_LIMIT)]


def list_own(tx: ReadTx, before: str | None, count: int) -> list[Client]:
    """The newest of those that the operator registered and that are served, behind the id `before`."""
    return [_client(row) for row in tx.rows(_LIST_OWN, before=before or LAST, count=count)]


def list_tax_approved(tx: ReadTx) -> list[Client]:
    """The clients that are served and may be granted access to taxes, oldest first; at most `LIST_LIMIT`."""
    return [_client(row) for row in tx.rows(_TAX_APPROVED, limit=LIST_LIMIT)]


def note_use(tx: WriteTx, grant_ids: Collection[str]) -> None:
    """Record that the clients of these grants were used on the transaction's day; other ids are ignored."""
    day = to_wire(tx.now)[:10]
    for grant_id in grant_ids:
        tx.run(_NOTE_USE_ANY_ORG, grant_id=grant_id, day=day)


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` clients older than `UNUSED_LIFE` with no grant and no pending request."""
    return tx.run(_SWEEP_ANY_ORG, before=tx.now - UNUSED_LIFE, count=SWEEP_ROWS)


def _record(tx: WriteTx, action: audit.Action, client: Client, actor: str, detail: audit.Detail) -> None:
    detail = {"name": client.name, **detail}
    audit.record(tx, audit.Act(actor=actor, action=action, subject=client.id, org_id=None, detail=detail))


def _get(tx: ReadTx, client_id: str) -> Client:
    client = find(tx, client_id)
    if client is None:
        raise not_found("client")
    return client


def _client(row: Row) -> Client:
    client_id, origin, name, metadata, tax_approved_at, fresh_until, revoked_at, last_used, created_at, own = row
    return Client(
        id=client_id,
        origin=origin,
        name=name,
        metadata=_decode(metadata),
        tax_approved=tax_approved_at is not None,
        fresh_until=fresh_until,
        revoked=revoked_at is not None,
        last_used=last_used,
        created_at=created_at,
        by_operator=bool(own),
    )
