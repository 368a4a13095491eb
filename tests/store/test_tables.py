"""Tables whose rows are structs: what is stored in which form, and what each statement promises."""

import datetime
from typing import Annotated, Literal

import apsw
import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from gatewayd.clock import SECOND, Instant
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import Flat
from gatewayd.errors import Problem
from gatewayd.ledger.lists import table_page
from gatewayd.money import Money
from gatewayd.store import Columns, ReadTx, Table
from tests.support.portable_sql import Tables
from tests.support.store import START, MemoryStore, columns_of
from tests.support.wire import shown

SCHEMA = """
CREATE TABLE boats (
    id TEXT PRIMARY KEY, org_id TEXT NOT NULL, external_id TEXT, name TEXT NOT NULL, afloat INTEGER NOT NULL,
    built TEXT, length_m TEXT, price INTEGER, currency TEXT NOT NULL, value INTEGER, base_currency TEXT,
    crew TEXT NOT NULL, mooring TEXT, engine_kind TEXT, engine_serviced TEXT, engine_runs INTEGER, sold_at INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL, search_text TEXT NOT NULL,
    wire BLOB NOT NULL
) STRICT
"""


class Mooring(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    line1: str
    harbour: str | None = None


class Engine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    kind: Literal["petrol", "diesel"]
    serviced: datetime.date | None
    runs: bool


class Boat(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    external_id: str | None
    name: str
    afloat: bool
    built: str | None
    length_m: Annotated[str, Meta(extra={"canonical": True})] | None
    price: Money | None
    currency: str
    value: Annotated[Money, Meta(extra={"currency": "base_currency"})] | None
    base_currency: str | None
    crew: list[str]
    mooring: Mooring | None
    engine: Flat[Engine] | None
    status: str
    sold_at: Instant | None
    created_at: Instant
    updated_at: Instant
    version: int


class CreateBoat(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    afloat: bool = True
    built: datetime.date | None = None
    length_m: str | None = None
    price: str | None = None
    currency: str = "GBP"
    mooring: Mooring | None = None
    engine: Engine | None = None
    external_id: str | None = None
    allow_rust: bool = False


class UpdateBoat(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str | UnsetType = UNSET
    built: datetime.date | UnsetType | None = UNSET
    price: str | UnsetType | None = UNSET


def _wire(boat: Boat) -> bytes:
    return boat.name.encode()


BOATS = Table(
    "boats",
    Boat,
    kind="old boat",
    prefix="boat",
    derived={"status": lambda tx, boat: "sold" if boat.sold_at is not None else "owned"},
    written={"search_text": lambda boat: boat.name.casefold(), "wire": _wire},
)
ENGINE = Engine(kind="diesel", serviced=datetime.date(2026, 4, 5), runs=False)


@pytest.fixture
def tables(tables: Tables) -> Tables:
    """The tables of the program, and the one of this file."""
    connection = apsw.Connection(":memory:")
    connection.execute(SCHEMA)
    return {**tables, **columns_of(connection)}


class Harbour:
    """One organization's boats."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.org_id = store.org()

    def add(self, request: CreateBoat, **values: object) -> Boat:
        values = {"crew": [], **values}
        return self.store.write(lambda tx: BOATS.insert(tx, BOATS.new(tx, request, **values)), self.org_id)

    def get(self, boat_id: str, expected_version: int | None = None) -> Boat:
        return self.store.read(lambda tx: BOATS.get(tx, boat_id, expected_version), self.org_id)

    def change(self, request: UpdateBoat, **values: object) -> Boat:
        boat = self.get(request.id)
        return self.store.write(lambda tx: BOATS.update(tx, BOATS.changed(boat, request, **values)), self.org_id)

    def columns(self, boat_id: str, names: str) -> tuple[object, ...]:
        row = self.store.read(lambda tx: tx.row(f"SELECT {names} FROM boats WHERE id = :id", id=boat_id))
        assert row is not None
        return row


@pytest.fixture
def harbour(store: MemoryStore) -> Harbour:
    store.connection.execute(SCHEMA)
    return Harbour(store)


def refusal(work: object, *arguments: object) -> Problem:
    assert callable(work)
    with pytest.raises(Problem) as caught:
        work(*arguments)
    return caught.value


def test_every_type_has_its_form(harbour: Harbour) -> None:
    request = CreateBoat(
        name="Ada",
        built=datetime.date(1999, 12, 31),
        length_m="07.50",
        price="1234.5",
        mooring=Mooring(line1="Quay 4"),
        engine=ENGINE,
        external_id="b-1",
    )
    boat = harbour.add(request, crew=["Ann", "Bob"], value=Money(150, "JPY"), base_currency="JPY")
    assert boat.id.startswith("boat_")
    stored = "afloat, built, length_m, price, value, crew, mooring, engine_kind, engine_serviced, engine_runs, sold_at"
    assert harbour.columns(boat.id, stored) == (
        *(1, "1999-12-31", "7.5", 123450, 150, '["Ann","Bob"]', '{"line1":"Quay 4","harbour":null}'),
        *("diesel", "2026-04-05", 0, None),
    )
    assert harbour.columns(boat.id, "created_at, updated_at, version, search_text, wire") == (
        *(START, START, 1, "ada", b"Ada"),
    )
    assert (boat.price, boat.value) == (Money(123450, "GBP"), Money(150, "JPY"))
    assert (boat.engine, boat.mooring, boat.status) == (ENGINE, Mooring(line1="Quay 4"), "owned")


def test_what_is_read_is_what_was_stored(harbour: Harbour) -> None:
    bare = harbour.add(CreateBoat(name="Bare", afloat=False))
    assert (bare.price, bare.engine, bare.mooring, bare.built, bare.external_id) == (None,) * 5
    full = harbour.add(CreateBoat(name="Full", price="0.01", engine=ENGINE, mooring=Mooring(line1="1")), crew=["x"])
    for boat in (bare, full):
        read = harbour.get(boat.id)
        assert read == boat
        assert (type(read.afloat), type(read.created_at)) == (bool, Instant)


def test_an_amount_that_the_currency_has_not_is_refused_at_its_path(harbour: Harbour) -> None:
    problem = refusal(harbour.add, CreateBoat(name="Ada", price="1.5", currency="JPY"))
    assert [(error.path, error.code) for error in problem.errors] == [("price", "invalid_decimal")]
    boat = harbour.add(CreateBoat(name="Ada", price="5", currency="JPY"))
    assert boat.price == Money(5, "JPY")
    assert refusal(harbour.change, UpdateBoat(id=boat.id, price="0.5")).errors[0].path == "price"


def test_an_absent_field_stays_and_null_clears(harbour: Harbour) -> None:
    boat = harbour.add(CreateBoat(name="Ada", price="5", built=datetime.date(2000, 1, 1)))
    harbour.store.clock.advance(SECOND)
    after = harbour.change(UpdateBoat(id=boat.id, name="Bee", built=None))
    expected = replace(boat, name="Bee", built=None, version=2, updated_at=Instant(START + SECOND))
    assert after == expected == harbour.get(boat.id)
    assert harbour.columns(boat.id, "created_at, search_text, wire") == (START, "bee", b"Bee")
    assert harbour.change(UpdateBoat(id=boat.id), sold_at=Instant(7)).status == "sold"
    assert harbour.get(boat.id).status == "sold"


def test_saving_leaves_the_version(harbour: Harbour) -> None:
    boat = harbour.add(CreateBoat(name="Ada"))
    harbour.store.clock.advance(SECOND)
    saved = harbour.store.write(lambda tx: BOATS.save(tx, replace(boat, name="Bee")), harbour.org_id)
    assert (saved.version, saved.updated_at, harbour.get(boat.id)) == (1, START + SECOND, saved)


def test_a_touch_moves_when_it_changed_and_nothing_else(harbour: Harbour) -> None:
    boat, other, stranger = (
        harbour.add(CreateBoat(name="Ada")),
        harbour.add(CreateBoat(name="Bee")),
        harbour.store.org(),
    )
    harbour.store.clock.advance(SECOND)
    harbour.store.write(lambda tx: BOATS.touch(tx, boat.id), stranger)
    assert harbour.get(boat.id) == boat
    harbour.store.write(lambda tx: BOATS.touch(tx, boat.id), harbour.org_id)
    assert harbour.get(boat.id) == replace(boat, updated_at=START + SECOND)
    assert harbour.get(other.id) == other


def test_what_is_not_there_is_not_found(harbour: Harbour) -> None:
    boat, stranger = harbour.add(CreateBoat(name="Ada")), Harbour(harbour.store)
    for place, boat_id in ((harbour, "boat_none"), (stranger, boat.id)):
        problem = refusal(place.get, boat_id)
        assert (problem.code, problem.message) == ("not_found", "There is no such old boat.")
        assert place.store.read(lambda tx, id_=boat_id: BOATS.find(tx, id_), place.org_id) is None


def test_another_version_than_expected_is_a_conflict(harbour: Harbour) -> None:
    boat = harbour.add(CreateBoat(name="Ada"))
    assert harbour.get(boat.id, 1) == boat
    problem = refusal(harbour.get, boat.id, 2)
    assert (problem.code, problem.extra) == ("version_conflict", {"currentVersion": 1})


def test_nobody_changes_another_organizations_row(harbour: Harbour) -> None:
    boat, stranger = harbour.add(CreateBoat(name="Ada")), Harbour(harbour.store)
    stranger.store.write(lambda tx: BOATS.save(tx, replace(boat, name="Mine")), stranger.org_id)
    assert harbour.get(boat.id) == boat


def test_an_external_id_names_one_of_an_organization(harbour: Harbour) -> None:
    first, stranger = harbour.add(CreateBoat(name="Ada", external_id="x")), Harbour(harbour.store)
    problem = refusal(harbour.add, CreateBoat(name="Bee", external_id="x"))
    assert problem.code == "already_exists"
    assert problem.message == (
        f"An old boat with this externalId exists: {first.id}. Use that one, or another externalId."
    )
    assert problem.extra == {"existingId": first.id, "field": "externalId"}
    assert stranger.add(CreateBoat(name="Bee", external_id="x")).external_id == "x"
    second = harbour.add(CreateBoat(name="Bee"))
    taken = replace(second, external_id="x")
    assert refusal(harbour.store.write, lambda tx: BOATS.update(tx, taken), harbour.org_id).code == "already_exists"
    harbour.store.write(lambda tx: BOATS.update(tx, replace(first, name="Cid")), harbour.org_id)  # its own is no clash


def test_the_operator_finds_whose_it_is(harbour: Harbour) -> None:
    boat = harbour.add(CreateBoat(name="Ada"))
    assert harbour.store.read(lambda tx: BOATS.organization_of(tx, boat.id)) == harbour.org_id
    assert refusal(harbour.store.read, lambda tx: BOATS.organization_of(tx, "boat_none")).code == "not_found"


def test_pages_follow_changes_without_missing_any(harbour: Harbour) -> None:
    boats = []
    for name in ("Ada", "Bee", "Cid"):
        boats.append(harbour.add(CreateBoat(name=name, external_id=name)))
        harbour.store.clock.advance(SECOND)
    harbour.change(UpdateBoat(id=boats[0].id, name="Ann"))

    def page(tx: ReadTx, cursor: str | None) -> tuple[list[str], str | None]:
        since = datetime.datetime(2026, 11, 20, 9, 30, tzinfo=datetime.UTC)
        found = table_page(tx, SyncRequest(limit=1, cursor=cursor, updated_since=since), BOATS, {})
        return [each["name"] for each in shown(found)], found.next_cursor

    names, cursor = harbour.store.read(lambda tx: page(tx, None), harbour.org_id)
    while cursor is not None:
        more, cursor = harbour.store.read(lambda tx, at=cursor: page(tx, at), harbour.org_id)
        names += more
    assert names == ["Bee", "Cid", "Ann"]
    newest = harbour.store.read(lambda tx: table_page(tx, SyncRequest(), BOATS, {}), harbour.org_id)
    assert [each["name"] for each in shown(newest)] == ["Cid", "Bee", "Ann"]


def test_a_stale_wire_is_told(harbour: Harbour) -> None:
    fresh, stale = harbour.add(CreateBoat(name="Ada")), harbour.add(CreateBoat(name="Bee"))
    harbour.store.connection.execute("UPDATE boats SET name = 'Cid' WHERE id = ?", (stale.id,))
    found = harbour.store.read(lambda tx: BOATS.stale(tx, "", 10), harbour.org_id)
    assert found == [(fresh.id, False), (stale.id, True)]
    assert harbour.store.read(lambda tx: BOATS.stale(tx, fresh.id, 10), harbour.org_id) == found[1:]
    assert harbour.store.read(lambda tx: BOATS.stale(tx, "", 1), harbour.org_id) == found[:1]


def test_a_table_without_a_currency_is_given_one() -> None:
    class Fee(msgspec.Struct, frozen=True, kw_only=True):
        position: int
        amount: Money

    fees = Columns(Fee)
    fee = Fee(position=1, amount=Money(250, "EUR"))
    assert (fees.sql, fees.dump(fee)) == ("position, amount", [1, 250])
    assert fees.load((1, 250), "EUR") == fee


def test_what_every_page_is_ordered_by_comes_first() -> None:
    class Note(msgspec.Struct, frozen=True, kw_only=True):
        text: str
        updated_at: Instant
        id: str

    assert Columns(Note).sql == "id, updated_at, text"


def test_a_flat_struct_is_absent_where_all_of_it_is_and_it_may_be() -> None:
    class Berth(msgspec.Struct, frozen=True, kw_only=True):
        jetty: str | None = None
        number: int | None = None

    class Mast(msgspec.Struct, frozen=True, kw_only=True):
        berth: Flat[Berth] | None
        last_berth: Flat[Berth]

    masts = Columns(Mast)
    assert masts.names == ("berth_jetty", "berth_number", "last_berth_jetty", "last_berth_number")
    for values, mast in (
        ((None, None, None, None), Mast(berth=None, last_berth=Berth())),
        ((None, 7, "north", None), Mast(berth=Berth(number=7), last_berth=Berth(jetty="north"))),
    ):
        assert masts.load(values) == mast
        assert masts.dump(mast) == list(values)


def test_a_list_of_words_is_one_text() -> None:
    class Chart(msgspec.Struct, frozen=True, kw_only=True):
        seas: Annotated[list[str], Meta(extra={"words": True})]

    charts = Columns(Chart)
    chart = Chart(seas=["north", "irish"])
    assert charts.dump(chart) == ["north irish"]
    assert charts.load(("north irish",)) == chart


def test_every_statement_of_a_table_can_be_looked_at() -> None:
    class Rope(msgspec.Struct, frozen=True, kw_only=True):
        id: str
        created_at: Instant
        updated_at: Instant
        version: int

    always = {"select", "find", "insert", "update", "touch", "organization_any_org"}
    ropes = Table("ropes", Rope, kind="rope", prefix="rope")
    assert dict(ropes.statements()).keys() == always
    named = dict(BOATS.statements())
    assert named.keys() == always | {"find_external", "wires"}
    assert all("boats" in sql for sql in named.values())
