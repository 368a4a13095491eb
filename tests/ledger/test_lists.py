"""Lists over one table: a page holds what fits, and the cursor leads to all the rest."""

import datetime
from typing import NamedTuple

import msgspec
import pytest

from gatewayd.areas.accounting.clients.operations import create_client, list_clients
from gatewayd.areas.accounting.clients.shapes import CreateClient, ListClients
from gatewayd.areas.banking.rules import CreateRule, DeleteRule, ListRules, create_rule, delete_rule, list_rules
from gatewayd.areas.crm.leads import CreateLead, ListLeads, create_lead, list_leads
from gatewayd.clock import HOUR, SECOND, Instant, to_wire
from gatewayd.contract.pages import PAGE_BYTES, next_cursor
from gatewayd.errors import Problem
from gatewayd.ledger.allocating.allocation_rules import RuleConditions, RuleOutcome
from gatewayd.ledger.lists import Changed, changes_page
from gatewayd.store import WriteTx
from gatewayd.store.rows import removals
from tests.support.store import MemoryStore, make_caller

NOTES = 4_000 * "\N{HAMMER}"  # 16 kB as JSON
CLIENT = CreateClient(name="Birch Ltd", notes=NOTES, allow_duplicate=True)
LONG_AGO = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
COUNT = 95


@pytest.mark.parametrize("since", [None, LONG_AGO])
@pytest.mark.parametrize(
    ("create", "request_", "list_", "page"),
    [
        (create_lead, CreateLead(source="web", notes=NOTES), list_leads, ListLeads),
        (create_client, CLIENT, list_clients, ListClients),
    ],
    ids=["leads", "clients"],
)
def test_a_page_of_long_rows_holds_what_fits_and_leads_to_all(
    store: MemoryStore,
    create: object,
    request_: object,
    list_: object,
    page: type[ListLeads] | type[ListClients],
    since: datetime.datetime | None,
) -> None:
    assert callable(create)
    assert callable(list_)
    org_id = store.org()
    caller = make_caller(org_id)
    for _ in range(COUNT):
        store.write(lambda tx: create(tx, caller, request_), org_id)
    found: list[str] = []
    sizes, cursor = [], None
    while cursor is not None or not sizes:
        asked = page(limit=100, updated_since=since, cursor=cursor)
        listing = store.read(lambda tx, asked=asked: list_(tx, caller, asked), org_id)
        assert len(listing.data) <= PAGE_BYTES
        ids = [item["id"] for item in msgspec.json.decode(listing.data)]
        sizes.append(len(ids))
        found += ids
        cursor = listing.next_cursor
    assert len(sizes) == 2
    assert sizes[0] >= 60  # most of what a mebibyte holds
    assert len(set(found)) == len(found) == COUNT


# -- what has changed, and what was deleted between it


class Told(NamedTuple):
    """What a page said: the rows there are, what was deleted, and behind which cursor more follow."""

    ids: list[str]
    removed: list[str]
    cursor: str | None


class Changes:
    """Rules of an organization, which may be deleted, and the list of what becomes of them."""

    def __init__(self, store: MemoryStore) -> None:
        self.store, self.org_id = store, store.org()
        self.caller = make_caller(self.org_id)

    def make(self, name: str) -> str:
        """A rule, a second after the last."""
        self.store.clock.advance(SECOND)
        return self.store.write(lambda tx: self._insert(tx, name), self.org_id)

    def make_several(self, *names: str) -> list[str]:
        """Rules of one instant."""
        self.store.clock.advance(SECOND)
        return self.store.write(lambda tx: [self._insert(tx, name) for name in names], self.org_id)

    def _insert(self, tx: WriteTx, name: str) -> str:
        request = CreateRule(
            name=name,
            conditions=RuleConditions(text=name),
            outcome=RuleOutcome(category="not_pnl", purpose="drawings"),
        )
        return create_rule(tx, self.caller, request).id

    def delete(self, id_: str) -> int:
        """Answers when it was deleted."""
        self.store.clock.advance(SECOND)
        request = DeleteRule(rule_id=id_)
        self.store.write(lambda tx: delete_rule(tx, self.caller, request), self.org_id)
        return self.store.clock.now()

    def page(self, since: datetime.datetime = LONG_AGO, limit: int = 100, cursor: str | None = None) -> Told:
        request = ListRules(updated_since=since, limit=limit, cursor=cursor)
        listing = self.store.read(lambda tx: list_rules(tx, self.caller, request), self.org_id)
        extra = msgspec.json.decode(b"{%b}" % listing.extra.removeprefix(b","))
        ids = [item["id"] for item in msgspec.json.decode(listing.data)]
        return Told(ids, [removal["id"] for removal in extra["removed"]], listing.next_cursor)

    def since(self, at: int) -> datetime.datetime:
        """An instant as answers give it, in milliseconds."""
        return datetime.datetime.fromisoformat(to_wire(Instant(at)))


@pytest.fixture
def changes(store: MemoryStore) -> Changes:
    return Changes(store)


def test_deletions_stand_between_the_changes_in_their_order_and_count_towards_the_limit(changes: Changes) -> None:
    first, second = changes.make("a"), changes.make("b")
    changes.delete(first)
    third = changes.make("c")
    changes.delete(second)
    last = changes.make("d")
    pages = [changes.page(limit=1)]
    while pages[-1].cursor is not None:
        pages.append(changes.page(limit=1, cursor=pages[-1].cursor))
    assert [(page.ids, page.removed) for page in pages] == [
        ([], [first]),
        ([third], []),
        ([], [second]),
        ([last], []),
    ]
    two = changes.page(limit=2)
    assert (two.ids, two.removed) == ([third], [first])
    rest = changes.page(limit=2, cursor=two.cursor)
    assert (rest.ids, rest.removed, rest.cursor) == ([last], [second], None)


def test_rows_of_one_instant_are_told_once_each_however_pages_part_them(changes: Changes) -> None:
    made = changes.make_several(*"abcde")
    told, cursor = [], None
    while True:
        page = changes.page(limit=2, cursor=cursor)
        told += page.ids
        cursor = page.cursor
        if cursor is None:
            break
    assert told == sorted(made)


def test_deletions_of_one_instant_are_told_once_each_however_pages_part_them(changes: Changes) -> None:
    made = changes.make_several(*"abcde")

    def delete_all(tx: WriteTx) -> None:
        for id_ in made:
            delete_rule(tx, changes.caller, DeleteRule(rule_id=id_))

    changes.store.write(delete_all, changes.org_id)
    first = changes.page(limit=3)
    second = changes.page(limit=3, cursor=first.cursor)
    assert (first.ids, second.ids, second.cursor) == ([], [], None)
    assert first.removed + second.removed == sorted(made)
    assert len(first.removed) == 3


def test_nothing_is_told_of_what_another_organization_deleted(changes: Changes) -> None:
    other = Changes(changes.store)
    other.delete(other.make("theirs"))
    own = changes.make("own")
    assert changes.page() == Told([own], [], None)


def test_nothing_from_an_instant_on_is_told_while_rows_of_then_are_still_to_appear(changes: Changes) -> None:
    request = ListRules(updated_since=LONG_AGO)
    start = (0, "")
    made = changes.make("a")
    at = changes.delete(made)
    rows = [Changed(at - 5, "rule_1", b"1"), Changed(at, "rule_0", b"2"), Changed(at + 1, "rule_3", b"3")]

    def told(until: int | None) -> tuple[bytes, int]:
        page = changes.store.read(
            lambda tx: changes_page(tx, request, "allocation_rules", start, rows, until), changes.org_id
        )
        return page.data, page.extra.count(b'"removed"') - 1

    assert told(None) == (b"[1,2,3]", 1)
    assert told(at) == (b"[1]", 0)
    assert told(at + 1) == (b"[1,2]", 1)


def test_who_asks_for_changes_of_before_a_deletion_that_is_forgotten_begins_anew(changes: Changes) -> None:
    kept = changes.make("kept")
    before = changes.store.clock.now()
    at = changes.delete(changes.make("gone"))
    changes.store.clock.advance(removals.KEPT + SECOND)
    forget = Instant(changes.store.clock.now() - removals.KEPT)
    assert changes.store.write(lambda tx: removals.forget_some(tx, forget)) == 1
    with pytest.raises(Problem) as refused:
        changes.page(changes.since(before))
    assert refused.value.code == "cursor_expired"
    assert changes.page(changes.since(at)) == Told([], [], None)  # who was told of it is up to date
    assert changes.page() == Told([kept], [], None)  # and who has nothing has nothing to forget


def test_a_first_copy_goes_on_where_deletions_of_before_it_are_forgotten_and_not_behind_later_ones(
    changes: Changes,
) -> None:
    kept = [changes.make(name) for name in "abc"]
    gone = [changes.make(name) for name in "xy"]
    changes.delete(gone[0])
    changes.store.clock.advance(removals.KEPT + SECOND)
    long_ago = Instant(changes.store.clock.now() - removals.KEPT)
    changes.store.write(lambda tx: removals.forget_some(tx, long_ago))
    first = changes.page(limit=2)
    second = changes.page(limit=1, cursor=first.cursor)
    assert first.ids + second.ids == kept
    changes.delete(gone[1])  # which the pages did not reach, as far as is known
    changes.store.clock.advance(removals.KEPT + SECOND)
    now = changes.store.clock.now()
    changes.store.write(lambda tx: removals.forget_some(tx, Instant(now)))
    with pytest.raises(Problem) as refused:
        changes.page(limit=1, cursor=second.cursor)
    assert refused.value.code == "cursor_expired"


def test_a_cursor_of_an_older_program_is_taken(changes: Changes) -> None:
    made = [changes.make(name) for name in "abc"]
    request = ListRules(updated_since=LONG_AGO, limit=100)
    at = changes.store.read(
        lambda tx: tx.value("SELECT updated_at FROM allocation_rules WHERE org_id = :org_id AND id = :id", id=made[0]),
        changes.org_id,
    )
    assert changes.page(cursor=next_cursor(request, (at, made[0]))).ids == made[1:]


def test_who_knows_what_a_restore_took_back_begins_anew(changes: Changes) -> None:
    made = changes.make("a")
    known = changes.store.clock.now()
    changes.store.clock.advance(HOUR)
    backup = changes.store.clock.now()
    changes.store.clock.advance(HOUR)
    between = changes.store.clock.now()
    changes.store.clock.advance(HOUR)
    restored = changes.store.clock.now()
    changes.store.write(lambda tx: removals.note_restore(tx, backup, restored))
    changes.store.write(lambda tx: removals.note_restore(tx, backup, restored))  # a kill came before the mark
    with pytest.raises(Problem) as refused:
        changes.page(changes.since(between))
    assert refused.value.code == "cursor_expired"
    assert changes.page(changes.since(known)) == Told([made], [], None)  # the backup has it all
    assert changes.page() == Told([made], [], None)
    changes.store.clock.advance(HOUR)
    later = changes.make("b")
    assert changes.page(changes.since(changes.store.clock.now())) == Told([later], [], None)
