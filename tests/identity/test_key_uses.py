"""What keys are used for is counted, written down by days, summed up, and forgotten after a while."""

from collections.abc import Mapping

from gatewayd.clock import DAY, MINUTE, Instant
from gatewayd.identity.keys import api_keys, key_uses
from gatewayd.identity.keys.api_keys import NewKey
from gatewayd.identity.keys.key_uses import KEPT_DAYS, KeyUse, KeyUses, OperationUse
from tests.support.store import START, MemoryStore

LIST, CREATE = "accounting.listInvoices", "accounting.createInvoice"


def add(store: MemoryStore, counts: Mapping[KeyUse, int]) -> None:
    store.write(lambda tx: key_uses.add(tx, counts))


def make(store: MemoryStore, org_id: str, number: int = 0) -> str:
    new = NewKey(name="Till", user_id=store.user(org_id))
    return store.write(lambda tx: api_keys.create(tx, new, bytes([number] * 32), "operator"), org_id).id


def of(store: MemoryStore, org_id: str, key_id: str) -> list[OperationUse]:
    return store.read(lambda tx: key_uses.by_operation(tx, key_id), org_id)


def test_calls_are_counted_until_they_are_written() -> None:
    uses = KeyUses()
    for operation in (LIST, LIST, CREATE):
        uses.note("key_1", operation)
    due = uses.due()
    assert due == {("key_1", LIST): 2, ("key_1", CREATE): 1}
    uses.note("key_1", LIST)
    uses.note("key_2", LIST)
    uses.written(due)
    assert uses.due() == {("key_1", LIST): 1, ("key_2", LIST): 1}


def test_a_round_that_failed_loses_nothing() -> None:
    uses = KeyUses()
    uses.note("key_1", LIST)
    assert uses.due() == uses.due() == {("key_1", LIST): 1}


def test_the_memory_is_bounded_and_what_is_known_goes_on_being_counted() -> None:
    uses = KeyUses(most=1)
    for operation in (LIST, CREATE, LIST):
        uses.note("key_1", operation)
    assert uses.due() == {("key_1", LIST): 2}


def test_they_are_summed_up_by_operation_the_latest_first(store: MemoryStore) -> None:
    org_id = store.org()
    key_id = make(store, org_id)
    add(store, {KeyUse(key_id, LIST): 2, KeyUse(key_id, CREATE): 1})
    store.clock.advance(MINUTE)
    add(store, {KeyUse(key_id, CREATE): 5})
    store.clock.advance(DAY)
    add(store, {KeyUse(key_id, LIST): 3})
    assert of(store, org_id, key_id) == [
        OperationUse(operation=LIST, times=5, days=2, first_at=START, last_at=Instant(START + MINUTE + DAY)),
        OperationUse(operation=CREATE, times=6, days=1, first_at=START, last_at=Instant(START + MINUTE)),
    ]
    days = store.read(lambda tx: key_uses.by_day(tx, key_id), org_id)
    assert days == {"2026-11-20": 8, "2026-11-21": 3}


def test_each_key_and_organization_has_its_own(store: MemoryStore) -> None:
    acme, beta = store.org("Acme"), store.org("Beta")
    first, second = make(store, acme, 1), make(store, beta, 2)
    add(store, {KeyUse(first, LIST): 1, KeyUse(second, LIST): 2})
    assert [use.times for use in of(store, acme, first)] == [1]
    assert [use.times for use in of(store, beta, second)] == [2]
    assert of(store, acme, second) == []


def test_a_key_that_is_gone_is_left_out(store: MemoryStore) -> None:
    org_id = store.org()
    key_id = make(store, org_id)
    add(store, {KeyUse("key_gone", LIST): 1, KeyUse(key_id, LIST): 1})
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM api_key_uses")) == 1


def test_they_are_forgotten_after_a_while(store: MemoryStore) -> None:
    org_id = store.org()
    key_id = make(store, org_id)
    add(store, {KeyUse(key_id, LIST): 1})
    store.clock.advance(KEPT_DAYS * DAY)
    assert store.write(key_uses.sweep) == 0
    assert [use.times for use in of(store, org_id, key_id)] == [1]
    store.clock.advance(DAY)
    assert of(store, org_id, key_id) == []
    assert store.write(key_uses.sweep) == 1
    assert store.read(lambda tx: tx.value("SELECT count(*) FROM api_key_uses")) == 0
