"""What may have access to the restricted scopes: an API key of one organization, or an OAuth client of the instance."""

from typing import Literal, NamedTuple

from gatewayd.contract.scopes import RESTRICTED
from gatewayd.errors import Problem, not_found
from gatewayd.identity.clients import oauth_clients
from gatewayd.identity.keys import api_keys
from gatewayd.identity.keys.api_keys import ApiKey
from gatewayd.store import ReadTx

Kind = Literal["key", "client"]


class Subject(NamedTuple):
    """A key or a client by its id."""

    kind: Kind
    id: str


class Holder(NamedTuple):
    """What a subject is called, and what it is. `org_id` None: of the whole instance; `ended`: it works no more."""

    name: str
    org_id: str | None
    scopes: list[str]
    approved: bool
    ended: bool


def get(tx: ReadTx, subject: Subject) -> Holder:
    """What is known of it; the transaction is bound to a key's organization. Raises `Problem` `not_found`."""
    found = find(tx, subject)
    if found is None:
        raise not_found("API key" if subject.kind == "key" else "client")
    return found


def find(tx: ReadTx, subject: Subject) -> Holder | None:
    """The same; None where there is no such key or client."""
    if subject.kind == "client":
        client = oauth_clients.find(tx, subject.id)
        if client is None:
            return None
        return Holder(client.name, None, sorted(RESTRICTED), client.tax_approved, client.revoked)
    try:
        org_id = api_keys.organization_of(tx, subject.id)
    except Problem:
        return None
    tx.bind(org_id)
    key = api_keys.get(tx, subject.id)
    return Holder(key.name, org_id, key.scopes, key.tax_approved, has_ended(tx, key))


def has_ended(tx: ReadTx, key: ApiKey) -> bool:
    """Whether a key is revoked or expired."""
    return key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= tx.now)


def may_open_taxes(key: ApiKey) -> bool:
    """Whether approval would open anything to a key: one that chose other scopes alone has no use for it."""
    return key.full_access or bool(RESTRICTED.intersection(key.scopes))


def refuse_useless(holder: Holder) -> None:
    """Raises `Problem` `invalid_state` for what approval would open nothing to."""
    if holder.ended:
        raise Problem("invalid_state", f"{holder.name} does not work any more: ask for another.")
    if holder.scopes and not RESTRICTED.intersection(holder.scopes):
        raise Problem("invalid_state", f"{holder.name} was made without a tax scope: make a key that has one.")
