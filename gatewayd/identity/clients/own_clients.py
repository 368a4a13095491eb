"""OAuth clients that whoever runs the instance registers: public, with a secret, or with keys of their own.

Nobody else can make one that has a credential: who registers by themselves is public (Spec §5). They are kept until
they are removed, whether anybody uses them or not.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state
from gatewayd.identity import audit
from gatewayd.identity.clients import client_assertions, client_metadata, client_secrets, oauth_clients
from gatewayd.identity.clients.client_metadata import AuthMethod, ClientMetadata
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.clients.oauth_errors import OAuthFailure
from gatewayd.store import ReadTx, WriteTx

Kind = Literal["public", "secret", "keys"]
METHODS: Mapping[Kind, AuthMethod] = {"public": "none", "secret": "client_secret_basic", "keys": "private_key_jwt"}
"""How a client of each kind proves who it is. One with a secret may send it in the form as well."""


class NewClient(msgspec.Struct, frozen=True, kw_only=True):
    """A client to be registered. `scopes`: the most that it may be granted; empty: whatever people allow.

    `keys` is the JWK Set of a client of that kind, None of others.
    """

    name: str
    redirect_uris: Sequence[str]
    kind: Kind
    scopes: Sequence[str] = ()
    post_logout_redirect_uris: Sequence[str] = ()
    keys: Mapping[str, object] | None = None


class RegisteredClient(msgspec.Struct, frozen=True):
    """A client with its secret, which is not stored; None where it has none."""

    client: Client
    secret: str | None

    def __repr__(self) -> str:
        return f"RegisteredClient(client={self.client.id!r})"


def register(tx: WriteTx, new: NewClient, actor: str) -> RegisteredClient:
    """Register a client. Raises `Problem` `validation_failed`."""
    metadata = msgspec.structs.replace(
        _metadata(new), token_endpoint_auth_method=METHODS[new.kind], jwks=_jwks(new.kind, new.keys)
    )
    client = oauth_clients.register(tx, metadata, by_operator=True)
    secret = client_secrets.add(tx, client.id) if new.kind == "secret" else None
    detail: audit.Detail = {
        "name": client.name,
        "method": metadata.token_endpoint_auth_method,
        "redirectUris": metadata.redirect_uris,
    }
    _record(tx, "client.registered", client.id, actor, detail)
    return RegisteredClient(client, secret)


def rotate_secret(tx: WriteTx, client_id: str, overlap: int, actor: str) -> RegisteredClient:
    """A new secret; the one before serves `overlap` microseconds more.

    Raises `Problem`: `not_found`, `invalid_state` for a client without a secret, `limit_reached`.
    """
    client = _get_live(tx, client_id)
    if client.metadata.token_endpoint_auth_method != METHODS["secret"]:
        raise invalid_state("This client has no secret.", client.metadata.token_endpoint_auth_method, ("secret",))
    secret = client_secrets.rotate(tx, client_id, overlap)
    _record(tx, "client.secret_rotated", client_id, actor, {"name": client.name})
    return RegisteredClient(client, secret)


def set_keys(tx: WriteTx, client_id: str, keys: Mapping[str, object], actor: str) -> Client:
    """Take these keys in the place of the ones before, now. While they change, give both.

    Raises `Problem`: `not_found`, `invalid_state` for a client without keys, `validation_failed`.
    """
    client = _get_live(tx, client_id)
    if client.metadata.token_endpoint_auth_method != METHODS["keys"]:
        raise invalid_state("This client has no keys.", client.metadata.token_endpoint_auth_method, ("keys",))
    metadata = msgspec.structs.replace(client.metadata, jwks=_jwks("keys", keys))
    oauth_clients.save_metadata(tx, client_id, metadata)
    _record(tx, "client.secret_rotated", client_id, actor, {"name": client.name})
    return get(tx, client_id)


def remove(tx: WriteTx, client_id: str, actor: str) -> Client:
    """Refuse everything to it, end its grants and forget its secrets, now; it goes with the last of its grants.

    Raises `Problem` `not_found`.
    """
    get(tx, client_id)
    client_secrets.forget(tx, client_id)
    return oauth_clients.revoke(tx, client_id, actor)


def get(tx: ReadTx, client_id: str) -> Client:
    """A client that was registered so. Raises `Problem` `not_found`, also for one that registered by itself."""
    client = oauth_clients.find(tx, client_id)
    if client is None or not client.by_operator:
        raise Problem("not_found", "There is no such OAuth client that was registered here.")
    return client


def list_page(tx: ReadTx, before: str | None, count: int) -> list[Client]:
    """The newest of those that are served, behind the id `before`."""
    return oauth_clients.list_own(tx, before, count)


def _get_live(tx: ReadTx, client_id: str) -> Client:
    client = get(tx, client_id)
    if client.revoked:
        raise invalid_state("The client was removed: register another.", "revoked", ("active",))
    return client


def _metadata(new: NewClient) -> ClientMetadata:
    """What a client would be told that asks for it by itself. Raises `Problem` `validation_failed`."""
    unknown = [scope for scope in new.scopes if scope not in ALL_SCOPES]
    if unknown:
        raise invalid(*(FieldError("scopes", "invalid_value", f"{scope} is no scope.") for scope in unknown))
    raw = {
        "client_name": new.name,
        "redirect_uris": list(new.redirect_uris),
        "post_logout_redirect_uris": list(new.post_logout_redirect_uris),
        "scope": " ".join(new.scopes) or None,
    }
    if not new.name.strip():
        raise invalid_field("name", "required", "A name is needed: people see it.")
    try:
        return client_metadata.validate(raw)
    except OAuthFailure as failure:
        field = "redirectUris" if failure.code == "invalid_redirect_uri" else "name"
        sentence = failure.description[:1].upper() + failure.description[1:] + "."
        raise invalid_field(field, "invalid_value", sentence) from None


def _jwks(kind: Kind, keys: Mapping[str, object] | None) -> dict[str, list[client_assertions.Jwk]] | None:
    """The JWK Set that is kept. Raises `Problem` `validation_failed`."""
    if kind != "keys":
        return None
    try:
        return {"keys": client_assertions.check_keys(keys or {})}
    except ValueError as error:
        raise invalid_field("keys", "invalid_value", str(error)) from None


def _record(tx: WriteTx, action: audit.Action, client_id: str, actor: str, detail: audit.Detail) -> None:
    audit.record(tx, audit.Act(actor=actor, action=action, subject=client_id, org_id=None, detail=detail))
