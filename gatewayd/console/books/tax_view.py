"""What the page of tax access shows of an organization, and who may do what there."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from werkzeug.exceptions import NotFound

from gatewayd.clock import DAY, Instant
from gatewayd.console.browser import role_in
from gatewayd.contract.caller import Role
from gatewayd.contract.scopes import RESTRICTED
from gatewayd.errors import Problem
from gatewayd.identity import audit
from gatewayd.identity.clients import grant_lists
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import organizations, users
from gatewayd.identity.people.users import User
from gatewayd.store import ReadTx
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Standing, Subject
from gatewayd.tax.connections import connections
from gatewayd.tax.forwarding.operations import OPERATIONS
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.call_log import LoggedCall

CALLS_SHOWN: Final = 20
ENTITIES_SHOWN: Final = 200  # Chosen: the command line connects the others
SOON: Final = 30 * DAY  # Chosen: before a connection ends, people are told
OPERATION_WORDS: Final[Mapping[str, str]] = {
    operation.id: (operation.handler.__doc__ or operation.id).strip().partition("\n")[0].rstrip(".")
    for operation in OPERATIONS
}

_ENTITIES = """
SELECT id, name FROM legal_entities WHERE org_id = :org_id AND archived_at IS NULL ORDER BY name, id LIMIT :limit
"""


class Asking(NamedTuple):
    """A key or an app. `hint` tells keys apart, `hosts` apps; `reaches`: its scopes, or its consent, name taxes."""

    subject: Subject
    name: str
    hint: str
    hosts: tuple[str, ...]
    reaches: bool
    standing: Standing
    may_ask: bool

    @property
    def value(self) -> str:
        """How a form names it."""
        return f"{self.subject.kind}:{self.subject.id}"


class Connected(NamedTuple):
    """A connection to the authority. `by` is somebody's address, or how else it was made.

    `legal_entity_id` and `legal_entity` (its name) are None for that of the whole organization.
    """

    legal_entity_id: str | None
    legal_entity: str | None
    by: str
    since: Instant
    until: Instant
    services: str
    over: bool
    soon: bool


class OrganizationTaxes(NamedTuple):
    """One organization. `leads`: the visitor acts for all of it. `without` counts keys that taxes are nothing to.

    `entities` are ids and names of what can be connected by itself, at most `ENTITIES_SHOWN`.
    """

    id: str
    name: str
    leads: bool
    keys: list[Asking]
    without: int
    clients: list[Asking]
    calls: list[LoggedCall]
    connected: list[Connected]
    entities: list[tuple[str, str]]

    @property
    def may_connect(self) -> bool:
        """Whether there is anything to connect, or to connect anew before it ends."""
        return bool(self.entities) or not self.connected or any(each.soon for each in self.connected)

    @property
    def askable(self) -> list[Asking]:
        """What access can be asked for."""
        return [each for each in (*self.keys, *self.clients) if each.may_ask]


def view(tx: ReadTx, org_id: str, user: User) -> OrganizationTaxes:
    """What this member sees of an organization. Raises `NotFound`."""
    tx.bind(org_id)
    leads = role_in(tx, user) != "member"
    keys, without = _keys(tx, user, leads)
    return OrganizationTaxes(
        id=org_id,
        name=organizations.get(tx, org_id).name,
        leads=leads,
        keys=keys,
        without=without,
        clients=_clients(tx, user, leads),
        calls=call_log.list_calls(tx, CALLS_SHOWN),
        connected=connected(tx),
        entities=[(each, name) for each, name in tx.rows(_ENTITIES, limit=ENTITIES_SHOWN)],
    )


def connected(tx: ReadTx) -> list[Connected]:
    """The connections of the transaction's organization, that of the whole first."""
    return [_connected(tx, each) for each in connections.list_standings(tx)]


def _connected(tx: ReadTx, standing: connections.Standing) -> Connected:
    granted = standing.granted
    services = [name for name, there in (("VAT", granted.vat), ("Income Tax", granted.itsa)) if there]
    return Connected(
        legal_entity_id=standing.legal_entity_id,
        legal_entity=standing.legal_entity,
        by=who(tx, standing.by),
        since=standing.since,
        until=granted.expires_at,
        services=" and ".join(services) or "nothing that this server asks for",
        over=granted.expires_at <= tx.now,
        soon=granted.expires_at <= tx.now + SOON,
    )


def who(tx: ReadTx, actor: str) -> str:
    """An actor as people know them."""
    if actor == audit.OPERATOR:
        return "whoever runs this server"
    try:
        return users.get(tx, actor).email
    except Problem:
        return actor


# -- rights


def asking(tx: ReadTx, user: User, value: str) -> Asking:
    """The key or app that a form names, if the visitor may see it in the organization. Raises `NotFound`."""
    leads = role_in(tx, user) != "member"
    seen = (*_keys(tx, user, leads)[0], *_clients(tx, user, leads))
    holder = next((each for each in seen if each.value == value), None)
    if holder is None:
        raise NotFound
    return holder


# -- parts


def _keys(tx: ReadTx, user: User, leads: bool) -> tuple[list[Asking], int]:
    whose, shown = None if leads else user.id, []
    for key in api_keys.list_for_taxes(tx, whose):
        subject = Subject("key", key.id)
        standing = approvals.standing(tx, subject)
        shown.append(Asking(subject, key.name, key.hint, (), True, standing, standing.status != "approved"))
    return shown, api_keys.count_live(tx, whose) - len(shown)


def _clients(tx: ReadTx, user: User, leads: bool) -> list[Asking]:
    """Apps that somebody has connected to the organization, or the visitor alone; each once."""
    granted = grant_lists.of_org(tx) if leads else grant_lists.of_user(tx, user.id)
    live = [each for each in granted if each.org_id == tx.org_id and each.revoked_at is None]
    shown: dict[str, Asking] = {}
    for grant in live:
        reaches = bool(RESTRICTED.intersection(grant.scopes))
        if grant.client_id in shown:
            before = shown[grant.client_id]
            hosts = tuple(dict.fromkeys([*before.hosts, *grant.hosts]))
            shown[grant.client_id] = before._replace(reaches=before.reaches or reaches, hosts=hosts)
            continue
        subject = Subject("client", grant.client_id)
        standing = approvals.standing(tx, subject)
        may_ask = standing.status != "approved" and _may_replace(standing, user)
        shown[grant.client_id] = Asking(subject, grant.client_name, "", grant.hosts, reaches, standing, may_ask)
    return list(shown.values())


def _may_replace(standing: Standing, user: User) -> bool:
    """Whether this visitor may ask. Chosen: an app is everybody's, so nobody replaces what another has declared."""
    return standing.status != "pending" or standing.by == user.id


def attention(tx: ReadTx, of_user: Iterable[tuple[str, Role]]) -> list[tuple[str, Connected]]:
    """What a visitor leads whose connection is over or soon will be: organizations and legal entities by name."""
    connections = []
    for org_id, role in of_user:
        tx.bind(org_id)
        there = connected(tx) if role != "member" else []
        connections += [(each.legal_entity or organizations.get(tx, org_id).name, each) for each in there if each.soon]
    return connections
