"""Organizations with a key and webhook subscriptions, made by the operations in one transaction."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gatewayd import events
from gatewayd.cli.run_operation import operator_of
from gatewayd.identity import audit
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.transport import Policy
from gatewayd.store import WriteTx
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import CreateSubscription

LOOPBACK_POLICY: Final = Policy(allow_http=True, allow_networks=parse_networks(("127.0.0.0/8",)))
LOOPBACK_SETTINGS: Final = '[webhooks]\nallow_http = true\nallow_networks = ["127.0.0.0/8"]\n'
"""The settings that say the same. More of the table may follow."""
KIND: Final = "lead.created"


@dataclass(frozen=True)
class Tenant:
    """An organization, a key of it that opens everything, and its subscriptions in the order of their URLs."""

    org_id: str
    key: str
    subscriptions: tuple[str, ...]


def add_tenants(tx: WriteTx, urls: Sequence[Sequence[str]]) -> list[Tenant]:
    """One organization for each list of URLs, subscribed to leads at each of them."""
    return [_add_tenant(tx, number, its) for number, its in enumerate(urls)]


def _add_tenant(tx: WriteTx, number: int, urls: Sequence[str]) -> Tenant:
    org = organizations.create(tx, f"Oak {number}", audit.OPERATOR)
    tx.bind(org.id)
    new = users.NewUser(email=f"owner-{number}@example.com", name="Ann Oak")
    user = users.create(tx, new, audit.OPERATOR)
    memberships.add(tx, user.id, "owner", audit.OPERATOR)
    key = api_keys.create(
        tx, api_keys.NewKey(name="Shop", user_id=user.id), secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR
    )
    return Tenant(org.id, key.key, tuple(subscribe(tx, org.id, url) for url in urls))


def subscribe(tx: WriteTx, org_id: str, url: str, kind: str = KIND) -> str:
    """Subscribe a receiver on loopback, to leads by default; returns the subscription's id."""
    tx.bind(org_id)
    request = CreateSubscription(url=url, events=[kind])
    made = subscriptions.create_subscription(tx, operator_of(org_id), request, policy=LOOPBACK_POLICY)
    return made.id


def emit(tx: WriteTx, org_id: str, count: int) -> list[str]:
    """Record that many events of leads; returns what they call the leads, each an id of its own."""
    tx.bind(org_id)
    leads = [tx.new_id("lead") for _ in range(count)]
    for lead in leads:
        events.append(tx, KIND, {"lead_id": lead, "source": "website", "status": "new"})
    return leads
