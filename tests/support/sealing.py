"""A database with one secret of every kind that is sealed, each made by the code that owns it."""

import copy
from dataclasses import dataclass
from pathlib import Path

import pytest

from gatewayd.areas.accounting import paper_links
from gatewayd.areas.legal_entities.operations import create_legal_entity, get_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity, GetLegalEntity
from gatewayd.identity import audit
from gatewayd.identity.sign_in import second_factors
from gatewayd.identity.signing import seal_keys, signing_keys
from gatewayd.mail import outbox
from gatewayd.mail.letters import Letter
from gatewayd.mail.outbox import NewMail
from gatewayd.outbound.transport import Policy
from gatewayd.performing import idempotency
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from gatewayd.webhooks.queue.receivers import find_receiver
from gatewayd.webhooks.subscribers import subscriptions
from gatewayd.webhooks.subscribers.subscription_shapes import UpdateSubscription
from tests.support.consents import Flow
from tests.support.store import SEALING_KEY, MemoryStore, make_caller
from tests.support.subscribing import subscribe

NINO, UTR = "AA123456A", "1955839661"
ANSWER = b'{"secret":"whsec_once"}'
GRACE_SECONDS = 600
ISSUER, PAPER = "https://books.example", "inv_1"


@dataclass
class Sealed:
    """The database in memory, and what its secrets are."""

    store: MemoryStore
    flow: Flow
    subscription_id: str
    secrets: tuple[str, str]
    totp: str
    entity_id: str
    refresh_token: str
    successor: str
    seal_key: seal_keys.SealKey
    paper_link: str

    @property
    def org_id(self) -> str:
        return self.flow.org_id

    @property
    def record(self) -> idempotency.Record:
        return idempotency.Record("key_1", "again {please}", bytes(32), "webhooks.createSubscription", sealed=True)

    def write_to(self, folder: Path) -> tuple[Path, Path]:
        """As files: the database, and the key that it is sealed with."""
        database, key = folder / "gatewayd.db", folder / "instance.key"
        database.write_bytes(self.store.connection.serialize("main"))
        database.chmod(0o600)
        key.write_bytes(SEALING_KEY)
        key.chmod(0o600)
        return database, key

    def check(self, store: MemoryStore) -> None:
        """Let the owners open everything in another copy of the database."""
        keys = signing_keys.SigningKeys()
        store.read(keys.load)
        assert len(keys.kids) == 1
        assert store.read(seal_keys.find) == self.seal_key
        receiver = store.read(lambda tx: find_receiver(tx, self.org_id, self.subscription_id, tx.now))
        assert receiver is not None
        assert receiver.secrets == self.secrets
        assert store.read(lambda tx: second_factors.find_proposal(tx, self.flow.user_id)) == self.totp
        connection = store.read(connections.find, self.org_id)
        assert connection is not None
        assert (connection.access, connection.refresh) == ("access", "refresh")
        own = store.read(lambda tx: connections.find(tx, self.entity_id), self.org_id)
        assert own is not None
        assert (own.access, own.refresh) == ("own access", "own refresh")
        caller, request = make_caller(self.org_id), GetLegalEntity(id=self.entity_id)
        entity = store.read(lambda tx: get_legal_entity(tx, caller, request), self.org_id)
        assert b'"utr":"%b","nino":"%b"' % (UTR.encode(), NINO.encode()) in entity
        assert store.read(lambda tx: paper_links.given_link(tx, ISSUER, PAPER), self.org_id) == self.paper_link
        flow = copy.copy(self.flow)
        flow.store = store
        assert flow.refresh(self.refresh_token) == self.successor
        with pytest.raises(idempotency.Replay) as kept:
            store.write(lambda tx: idempotency.begin(tx, self.record), self.org_id)
        assert kept.value.body == ANSWER


def seal_everything(image: bytes) -> Sealed:
    """`image` is what `migrated_image` answers."""
    store = MemoryStore(image)
    flow = Flow(store, GRACE_SECONDS)
    org_id, caller = flow.org_id, make_caller(flow.org_id)
    made = signing_keys.generate("ES256")
    store.write(lambda tx: signing_keys.add(tx, [made]))
    subscription = subscribe(store, org_id, "https://hooks.example/in")
    rotation = UpdateSubscription(id=subscription.id, rotate_secret=True)
    rotated = store.write(lambda tx: subscriptions.update_subscription(tx, caller, rotation, policy=Policy()), org_id)
    totp = store.write(lambda tx: second_factors.propose(tx, flow.user_id))
    store.write(lambda tx: connections.save(tx, Tokens("access", "refresh", "read:vat", 3600), audit.OPERATOR), org_id)
    person = CreateLegalEntity(name="Ann Oak", type="sole_trader", nino=NINO, utr=UTR)
    entity = store.write(lambda tx: create_legal_entity(tx, caller, person), org_id)
    tokens = Tokens("own access", "own refresh", "read:vat", 3600)
    store.write(lambda tx: connections.save(tx, tokens, audit.OPERATOR, entity.id), org_id)
    _, first = flow.connect()
    second = flow.refresh(first)
    assert isinstance(second, str)
    key = seal_keys.generate()
    store.write(lambda tx: seal_keys.add(tx, key))
    letter = Letter(subject="A", paragraphs=("B.",), reason="C.")
    store.write(lambda tx: outbox.queue(tx, NewMail("new_device", None, "ann@example.com", letter)))
    link = store.write(lambda tx: paper_links.link_of(tx, ISSUER, PAPER), org_id)
    sealed = Sealed(
        store=store,
        flow=flow,
        subscription_id=subscription.id,
        secrets=(str(rotated.secret), subscription.secret),
        totp=totp,
        entity_id=entity.id,
        refresh_token=first,
        successor=second,
        seal_key=key,
        paper_link=link,
    )
    store.write(lambda tx: idempotency.keep(tx, sealed.record, ANSWER), org_id)
    return sealed
