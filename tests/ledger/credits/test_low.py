"""`credits.low`: told once each time that less than a tenth of what a plan includes is left (Domain B8, B10)."""

import msgspec

from gatewayd.areas.billing import entering
from gatewayd.areas.billing.entering import ImportedEntry
from gatewayd.clock import DAY, HOUR, Instant
from gatewayd.ledger.credits import booking
from gatewayd.money import MICRO, Credits
from tests.ledger.credits.purses import Purse
from tests.support.store import START, MemoryStore

HUNDRED = Credits(100 * MICRO)
_EVENTS = "SELECT data FROM events WHERE org_id = :org_id AND kind = 'credits.low' ORDER BY id"


def told(purse: Purse) -> list[str]:
    """The balance in each event."""
    rows = purse.store.read(lambda tx: tx.rows(_EVENTS), purse.org_id)
    return [msgspec.json.decode(data)["balance"] for (data,) in rows]


def test_it_is_told_once_each_time(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    purse.use(90, "a")
    assert told(purse) == [], "a tenth is left"
    purse.use(1, "b")
    purse.use(5, "c")
    assert told(purse) == ["9"]
    purse.give(50)
    purse.use(50, "d")
    assert told(purse) == ["9", "4"]


def test_low_is_less_than_a_tenth(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=Credits(1000 * MICRO))
    purse.use(900, "a")
    assert told(purse) == []
    purse.use(1, "b")
    assert told(purse) == ["99"]


def test_one_charge_of_several_grants_is_told_with_what_it_leaves(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    purse.give(3)
    purse.use(102, "a")
    assert told(purse) == ["1"]


def test_work_under_way_tells_nothing_until_it_is_charged(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    hold = purse.hold(100, "a")
    assert told(purse) == []
    purse.settle(hold, 95)
    assert told(purse) == ["5"]


def test_a_month_that_ends_tells_nothing_where_the_next_begins(store: MemoryStore) -> None:
    """The daemon books the expiry in one transaction and the new month in another."""
    purse = Purse(store, included_credits=HUNDRED)
    for _ in range(3):
        store.clock.advance(31 * DAY)
        while store.read(booking.organization_with_due) is not None:
            store.write(booking.book_what_is_due, purse.org_id)
    assert (purse.balance, told(purse)) == (100, [])


def test_what_expires_or_is_taken_back_is_told(store: MemoryStore) -> None:
    purse = Purse(store)
    purse.give(10, expires_at=Instant(START + HOUR))
    store.clock.advance(2 * HOUR)
    assert told(purse) == []
    purse.book()
    assert told(purse) == ["0"]
    taken = purse.give(7)
    store.write(lambda tx: entering.void(tx, taken, None), purse.org_id)
    assert told(purse) == ["0", "0"]


def test_who_has_no_plan_and_what_is_imported_tell_nothing(store: MemoryStore) -> None:
    purse = Purse(store, included_credits=HUNDRED)
    used = ImportedEntry(
        type="usage",
        amount=-99 * MICRO,
        occurred_at=START,
        description=None,
        external_id=None,
        operation="vault.parse",
    )
    store.write(lambda tx: entering.enter(tx, "imp_1", used), purse.org_id)
    purse.give(50)
    store.write(lambda tx: booking.change_plan(tx, None), purse.org_id)
    store.write(lambda tx: entering.adjust(tx, -51 * MICRO, "moved"), purse.org_id)
    assert (purse.balance, told(purse)) == (0, [])
