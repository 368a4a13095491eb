"""An instance in long use: nine organizations, names without an end, ten thousand of what there are many."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.store import WriteTx
from tests.console.granting import grant
from tests.console.whole_site import WholeSite
from tests.support.rows import CATALOGUE
from tests.support.store import make_caller

MANY: Final = 10_000
SEVERAL: Final = 40
"""Of what nobody has thousands: members, apps, organizations of one person."""
UNBROKEN: Final = "Rechnungsweiterleitungsschnittstellenbenutzerzugangsverwaltungsbehoerdenleit"
"""With a number behind it eighty letters without a place at which a line could be broken."""
MARKUP: Final = """<b>&"'</b><script>alert(1)</script> & Söhne"""

_DELIVERY = "SELECT id FROM deliveries WHERE org_id = :org_id AND status = 'succeeded' ORDER BY id LIMIT 1"
_COPIED = (
    "org_id, subscription_id, event_id, event, status, attempts, in_flight, due_at, response_code, last_error, "
    "last_attempt_at, duration_ms, completed_at, created_at, test"
)
_COPY = f"""
INSERT INTO deliveries (id, {_COPIED}) SELECT :id, {_COPIED} FROM deliveries WHERE org_id = :org_id AND id = :of
ON CONFLICT DO NOTHING
"""


def name_of(number: int, plain: str) -> str:
    """The last one is listed first, and is long; the one before it is markup."""
    odd = {0: f"{UNBROKEN}{number}", 1: f"{MARKUP} {number}"}
    return odd.get((MANY - 1 - number) % 17, f"{plain} {number}")


async def fill(whole: WholeSite) -> None:
    """Make the crowd."""
    site = whole.site
    for work in (_people, _organizations, partial(_nine, user_id=site.user_id)):
        await site.store.write(work)
    of_the_firm = (partial(_clients, org_id=site.org_id), partial(_keys, user_id=site.user_id), _members, _deliveries)
    for work in of_the_firm:
        await site.store.write(work, site.org_id)
    for number in range(SEVERAL):
        await grant(site, name=name_of(MANY - number, "App"))


def _people(tx: WriteTx) -> None:
    for number in range(MANY):
        long = f"{UNBROKEN.lower()[:60]}{number}@{UNBROKEN.lower()[:50]}.example"
        email = long if number % 17 == 0 else f"person-{number}@example.com"
        users.create(tx, users.NewUser(email=email, name=name_of(number, "Person")), "operator")


def _organizations(tx: WriteTx) -> None:
    for number in range(MANY):
        organizations.create(tx, name_of(number, "Firm"), "operator")


def _nine(tx: WriteTx, user_id: str) -> None:
    for number in range(8):
        org_id = organizations.create(tx, name_of(MANY - 1 - number, "Practice"), "operator").id
        tx.bind(org_id)
        memberships.add(tx, user_id, "owner", "operator")


def _members(tx: WriteTx) -> None:
    for number in range(SEVERAL):
        email = f"member-{number}@example.com"
        user = users.create(tx, users.NewUser(email=email, name=name_of(MANY - number, "Member")), "operator")
        memberships.add(tx, user.id, "member", "operator")


def _clients(tx: WriteTx, org_id: str) -> None:
    create = _operation(tx, org_id, "accounting.createClient")
    for number in range(MANY):
        create(name=name_of(number, "Client"), allowDuplicate=True)


def _deliveries(tx: WriteTx) -> None:
    """Copies of the one that the demo had delivered."""
    row = tx.row(_DELIVERY)
    assert row is not None
    for number in range(MANY):
        tx.run(_COPY, id=f"{str(row[0])[:-5]}{number:05}", of=row[0])


def _keys(tx: WriteTx, user_id: str) -> None:
    for number in range(MANY):
        new = api_keys.NewKey(name=name_of(number, "Till"), user_id=user_id, scopes=("accounting:read",))
        api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), "operator")


def _operation(tx: WriteTx, org_id: str, operation_id: str) -> Callable[..., None]:
    """Calls it as the API would, in this transaction."""
    (row,) = [each for each in CATALOGUE.operations if each.id == operation_id]
    decoder, caller = RequestDecoder(row), make_caller(org_id)

    def call(**values: object) -> None:
        row.handler(tx, caller, decoder.body(msgspec.json.encode(values)))

    return call
