"""A portfolio as large as wanted: lets of many years, whole houses and rooms, and what belongs to them. In process.

No two tenancies are alike: they begin and end on any day of a month, at rents by the week, the month or the quarter
that rise from year to year, are paid on other days than they are due, and overlap in no year. Of what is asked for as
the exception, such as vacant rooms, there are as many in a small portfolio as in a large one.
"""

import datetime
import itertools
import random
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from gatewayd.areas.landlord.certificates import missing
from gatewayd.areas.landlord.mortgages import rows as mortgages
from gatewayd.areas.landlord.register import rent_terms
from gatewayd.areas.landlord.register.tenancies import TENANCIES
from gatewayd.areas.landlord.register.tenancy_shapes import RentStep, TenancyRow
from gatewayd.areas.landlord.tenancies import rows as tenancies
from gatewayd.clock import Instant
from gatewayd.ledger.allocating import rents_received
from gatewayd.ledger.rents import schedule
from gatewayd.ledger.rents.schedule import Terms
from gatewayd.money import Money
from gatewayd.store import WriteTx
from tests.areas.landlord.test_dashboard import Estate
from tests.ledger.lets import LETS, MORTGAGE
from tests.support.store import MemoryStore, migrated_image

TENANCIES_EACH: Final = 10  # of each property
RENTS_EACH: Final = 10  # of each tenancy
RARE: Final = 60  # of each exception: more than a page
ROOMS: Final = 3  # of every second property
CERTIFICATES: Final = ("gas_safety", "eicr", "epc")
TODAY: Final = datetime.date(2026, 11, 20)
_DAY: Final = datetime.timedelta(days=1)
_CHANGE: Final = datetime.date(2026, 5, 1)
_FREQUENCIES: Final = ("monthly",) * 14 + ("four_weekly", "four_weekly", "weekly", "weekly", "fortnightly", "quarterly")
_SUM_RENTS: Final = """
UPDATE rents_received SET amount = (SELECT coalesce(sum(amount), 0) FROM allocations a
    WHERE a.org_id = :org_id AND a.tenancy_id = rents_received.tenancy_id)
WHERE org_id = :org_id
"""
Rows = Iterator[dict[str, Any]]


class Stay(NamedTuple):
    """Who lives where, from one day to another; `last` None: they stay."""

    property_id: str
    unit_id: str | None
    first: datetime.date
    last: datetime.date | None


class Portfolio(Estate):
    """`properties` houses of one business. `owing`: what share of the former tenants left with a rent unpaid."""

    def __init__(self, properties: int, owing: float = 0.0) -> None:
        super().__init__(MemoryStore(migrated_image()))
        self._chances, self._owing = random.Random(properties), owing
        now: Instant = self.store.now()
        self._stamps = {"created_at": now, "updated_at": now, "version": 1}
        self._running = itertools.count()
        self.properties = [f"prop_{number:06}" for number in range(properties)]
        self._insert("properties", map(self._property, self.properties))
        self.rooms = {
            id_: [f"unit_{id_[5:]}{room}" for room in range(ROOMS)] for id_ in self.properties if int(id_[5:]) % 2
        }
        self._insert("property_units", self._rooms())
        self._insert("mortgages", map(self._mortgage, self.properties))
        self._insert("property_valuations", itertools.chain.from_iterable(map(self._valuations, self.properties)))
        self._insert("certificates", itertools.chain.from_iterable(map(self._certificates, self.properties)))
        stays = self._stays()
        self._insert("tenants", map(self._tenant, range(RARE + len(stays))))  # the first have lived nowhere
        self.tenancies = self.store.write(lambda tx: self._let(tx, stays), self.org_id)
        self._insert("allocations", itertools.chain.from_iterable(map(self._rents, self.tenancies)))
        self.store.write(self._note, self.org_id)
        assert not any(
            stale for _, stale in self.store.read(lambda tx: rents_received.stale(tx, "", 1 << 30), self.org_id)
        )

    def _insert(self, table: str, rows: Rows) -> None:
        fixed = {"org_id": self.org_id, **self._stamps}
        first = next(rows)
        names = ", ".join((*fixed, *first))
        marks = ", ".join("?" * (len(fixed) + len(first)))
        values = ((*fixed.values(), *row.values()) for row in itertools.chain([first], rows))
        self.store.connection.execute("BEGIN")
        self.store.connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
        self.store.connection.execute("COMMIT")

    def _is_rare(self, number: int, of: int) -> bool:
        """Whether one of so many is among the exceptions, which lie all over them."""
        return number * RARE // of != (number + 1) * RARE // of

    def _property(self, id_: str) -> dict[str, Any]:
        own = {"business_id": self.business_id, "purchase_price": 200_000_00, "gas_supply": 1}
        return {"id": id_, **LETS, **own}

    def _rooms(self) -> Rows:
        for property_id, rooms in self.rooms.items():
            for room in rooms:
                named = {"property_id": property_id, "name": room, "name_key": room}
                yield {"id": room, **named, "type": "room", "currency": "GBP"}

    def _mortgage(self, property_id: str) -> dict[str, Any]:
        number = int(property_id[5:])
        start = self._days_ago(300, 4_000)
        ends = TODAY + _DAY * (40 if self._is_rare(number, len(self.properties)) else 900)
        rates = f'[{{"fromDate":"{start}","interestRate":"5.1"}}]'
        own: dict[str, Any] = {
            "start_date": f"{start}",
            "rate_history": rates,
            "rate_end_date": f"{ends}",
            "term_months": 300,
        }
        own |= {"type": "interest_only" if number % 3 else "repayment", "balance_date": None, "current_balance": None}
        if number % 2:
            own |= {"balance_date": f"{TODAY - 30 * _DAY}", "current_balance": 90_000_00}
            own["balance_history"] = f'[{{"date":"{TODAY - 30 * _DAY}","amount":"90000.00"}}]'
        return {"id": f"mtg_{number:06}", "property_id": property_id, **MORTGAGE, **own}

    def _valuations(self, property_id: str) -> Rows:
        for number in range(3):
            day, amount = (
                self._days_ago(1_000 * number, 1_000 * number + 999),
                self._chances.randrange(15, 60) * 1_000_000,
            )
            own = {"valuation_date": f"{day}", "amount": amount, "currency": "GBP", "method": "agent"}
            yield {"id": f"val_{property_id[5:]}{number}", "property_id": property_id, **own}

    def _certificates(self, property_id: str) -> Rows:
        """One of each type and the one that it superseded, but where one is missing, expired or expires soon."""
        number, of = int(property_id[5:]), len(self.properties)
        for kind, type_ in enumerate(CERTIFICATES):
            rare = self._is_rare(number, of)
            if rare and kind == 0:
                continue
            end = TODAY + _DAY * (self._chances.randrange(100, 1_000) if not rare else (30 if kind == 1 else -30))
            issued = TODAY - _DAY * self._chances.randrange(50, 300)
            ids = [f"cert_{property_id[5:]}{kind}{age}" for age in (0, 1)]
            for age, id_ in reversed([*enumerate(ids)]):  # the later one is named by the other
                yield {
                    "id": id_,
                    "property_id": property_id,
                    "type": type_,
                    "issued_date": f"{issued - 365 * _DAY * (1 - age)}",
                    "expiry_date": f"{end - 365 * _DAY * (1 - age)}",
                    "valid_until": f"{end - 365 * _DAY * (1 - age)}",
                    "currency": "GBP",
                    "chain": "",
                    "superseded_by_id": None if age else ids[1],
                    "superseded_date": None if age else f"{issued}",
                }

    def _stays(self) -> list[Stay]:
        """All of them, in the order in which they begin."""
        found: list[Stay] = []
        lines = [(id_, room) for id_ in self.properties for room in self.rooms.get(id_, [None])]
        for number, (property_id, unit_id) in enumerate(lines):
            of_line = TENANCIES_EACH if unit_id is None else 3 + unit_id.endswith("0")
            vacant, then = unit_id is not None and self._is_rare(number, len(lines)), TODAY
            last: datetime.date | None = None if not vacant else self._days_ago(3, 60)
            if vacant and number % 2:
                found.append(Stay(property_id, unit_id, TODAY + _DAY * self._chances.randrange(5, 90), None))
            for _ in range(of_line):
                first = (last or then) - _DAY * self._chances.randrange(250, 5_000 // of_line)
                found.append(Stay(property_id, unit_id, first, last))
                last = first - _DAY * self._chances.randrange(1, 40)
        return sorted(found, key=lambda stay: (stay.first, stay.property_id, stay.unit_id or ""))

    def _let(self, tx: WriteTx, stays: list[Stay]) -> list[TenancyRow]:
        return [tenancies.insert(tx, self._row(tx, number, stay)) for number, stay in enumerate(stays, RARE)]

    def _row(self, tx: WriteTx, number: int, stay: Stay) -> TenancyRow:
        some = self._chances
        frequency, rent = some.choice(_FREQUENCIES), some.randrange(300, 2_000)
        due = stay.first.day if some.random() < 0.6 else some.randint(1, 31)
        years = range((stay.last or TODAY).year - stay.first.year)
        rises = [stay.first + _DAY * (365 + 400 * year) for year in years]
        steps = [stay.first, *(day for day in rises if day < (stay.last or TODAY))]
        held = some.random() < 0.8
        noticed = stay.last is None and next(self._running) % max(len(self.properties) * 2 // RARE, 1) == 1
        return TENANCIES.new(
            tx,
            None,
            property_id=stay.property_id,
            unit_id=stay.unit_id,
            tenant_ids=[f"tnt_{number:06}"],
            tenant_spans=[],
            notice_grounds=[],
            type="assured_shorthold" if stay.first < _CHANGE else "assured_periodic",
            start_date=f"{stay.first}",
            term_end_date=f"{stay.first + 364 * _DAY}"
            if stay.last is None and stay.first > _CHANGE - 300 * _DAY
            else None,
            end_date=None if stay.last is None else f"{stay.last}",
            rent_frequency=frequency,
            rent_due_day=due if frequency in ("monthly", "quarterly") else 1 + due % 7,
            bills_included=False,
            currency="GBP",
            rent_history=[
                RentStep(from_date=f"{day}", amount=f"{rent + 20 * step}.00", notice=None)
                for step, day in enumerate(steps)
            ],
            deposit_amount=Money(rent * 100, "GBP") if held else None,
            deposit_scheme="dps" if held else None,
            deposit_protected_date=f"{stay.first}" if held else None,
            deposit_returned_amount=Money(rent * 100, "GBP") if held and stay.last else None,
            deposit_returned_date=f"{stay.last}" if held and stay.last else None,
            notice_served_date=f"{TODAY - 20 * _DAY}" if noticed else None,
            notice_by="tenant" if noticed else None,
            notice_expiry_date=f"{TODAY + 20 * _DAY}" if noticed else None,
        )

    def _tenant(self, number: int) -> dict[str, Any]:
        own = {
            "kind": "person",
            "first_name": "Rosa",
            "last_name": f"Hart {number}",
            "search_text": f"rosa hart {number}",
        }
        return {"id": f"tnt_{number:06}", **own, "right_to_rent_status": "passed"}

    def _rents(self, row: TenancyRow) -> Rows:
        """Ten payments for each: of all that is due, but for a tenth of those that run, and who left owing."""
        its: Terms = rent_terms.of_row(row)
        first, last = (
            datetime.date.fromisoformat(row.start_date),
            min(datetime.date.fromisoformat(its.end or f"{TODAY}"), TODAY),
        )
        due = schedule.due_until(its, f"{last}")
        if self._chances.random() < (0.1 if its.end is None else self._owing):
            due -= min(round(100 * float(row.rent_history[-1].amount)), due)
        for number in range(RENTS_EACH if due else 0):
            day = first + (last - first) * number // RENTS_EACH
            yield {
                "id": f"alc_{row.id[4:]}{number}",
                "source_type": "manual",
                "legal_entity_id": self.owner,
                "business_id": self.business_id,
                "property_id": row.property_id,
                "unit_id": row.unit_id,
                "tenancy_id": row.id,
                "date": f"{day}",
                "direction": "in",
                "amount": due * (number + 1) // RENTS_EACH - due * number // RENTS_EACH,
                "currency": "GBP",
                "vat_amount": 0,
                "disallowable_amount": 0,
                "category": "periodAmount",
                "description": "Rent",
                "matched_by": "user",
                "document_ids": "[]",
            }

    def _note(self, tx: WriteTx) -> None:
        """What is kept with each change of an allocation, of a certificate and of a mortgage."""
        tx.run(_SUM_RENTS)
        for property_id in self.properties:
            missing.note(tx, property_id)
            mortgages.keep_owed(tx, f"mtg_{property_id[5:]}")
        for row in self.tenancies:
            rents_received.note_unpaid(tx, row.id)

    def _days_ago(self, least: int, most: int) -> datetime.date:
        return TODAY - _DAY * self._chances.randint(least, most)
