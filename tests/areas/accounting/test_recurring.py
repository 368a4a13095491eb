"""Recurring invoices: what is asked for, what is made on which day, and what stops it."""

import datetime
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import trio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gatewayd.areas.accounting.recurring import making, rows
from gatewayd.clock import DAY, from_wire, london_date
from gatewayd.daemon.recurring import make_due
from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import LINE, OTHER_BRITISH_VAT_NUMBER, Books, Json, fields_of
from tests.areas.accounting.reckoned_days import reckoned
from tests.support.store import MemoryStore

T = TypeVar("T")
TODAY = "2026-11-20"


class Killed(Exception):
    """The process ends here."""


class RoundStore:
    """A store as a round of the daemon sees it. `kills` says, for each write to come, where the process ends in it."""

    def __init__(self, store: MemoryStore, kills: list[str] | None = None) -> None:
        self.store, self.kills = store, kills or []

    async def read(self, work: Callable[[ReadTx], T], org_id: str | None = None) -> T:
        return self.store.read(work, org_id)

    async def write_behind(self, work: Callable[[WriteTx], T], org_id: str | None = None) -> tuple[T, None]:
        kill = self.kills.pop(0) if self.kills else ""

        def killed(tx: WriteTx) -> T:
            result = work(tx)
            if kill == "before commit":
                raise Killed
            return result

        result = self.store.write(killed, org_id)
        if kill == "after commit":
            raise Killed
        return result, None


def run_round(store: MemoryStore, kills: list[str] | None = None) -> bool:
    """One round of the daemon; whether it lived to its end."""
    try:
        trio.run(make_due, RoundStore(store, kills))
    except Killed:
        return False
    return True


def until(store: MemoryStore, date: str) -> None:
    """Let it be nine o'clock of this day."""
    store.clock.advance(from_wire(f"{date}T09:00:00Z") - store.clock.now())


def recurring(books: Books, **fields: object) -> Json:
    """One invoice of 100.00 on the 20th of each month, issued, but for what `fields` say."""
    client = {} if "clientId" in fields else {"clientId": books.client()}
    body = {"startDate": TODAY, "unit": "month", "makes": "issued", "lines": [LINE], **client, **fields}
    return books.post("createRecurring", **body)


def shown(books: Books, of: Json) -> Json:
    return books.one("getRecurring", f"recurringId={of['id']}")


def made(books: Books, of: Json) -> list[Json]:
    """Its invoices, the oldest first."""
    return books.walk("listInvoices", f"recurringId={of['id']}&limit=100")[::-1]


def dates(books: Books, of: Json) -> list[str]:
    return [invoice["issueDate"] for invoice in made(books, of)]


def refused(call: Callable[..., Any], *arguments: object, **fields: object) -> Problem:
    with pytest.raises(Problem) as caught:
        call(*arguments, **fields)
    return caught.value


def wrong(books: Books, **fields: object) -> list[tuple[str, str]]:
    return fields_of(refused(recurring, books, **fields))


def act(books: Books, operation: str, of: Json, **fields: object) -> Json:
    return books.post(operation, recurringId=of["id"], **fields)


# -- what is asked for


def test_a_recurring_invoice_has_what_an_invoice_would_have(registered: Books) -> None:
    client = registered.client(currency="GBP", paymentTermsDays=7)
    found = recurring(registered, clientId=client, notes="Thank you", reference="R1", poNumber="P1", terms="Soon")
    assert (found["status"], found["nextDate"], found["madeCount"]) == ("active", TODAY, 0)
    assert (found["currency"], found["amountsAre"], found["discountAmount"]) == ("GBP", "exclusive", "0.00")
    assert found["legalEntityId"] is not None
    assert shown(registered, found) == found
    run_round(registered.store)
    (invoice,) = made(registered, found)
    assert (invoice["number"], invoice["grossTotal"], invoice["dueDate"]) == ("INV-000001", "120.00", "2026-11-27")
    assert [invoice[name] for name in ("notes", "reference", "poNumber", "terms")] == ["Thank you", "R1", "P1", "Soon"]
    assert invoice["recurringId"] == found["id"]


def test_every_field_comes_to_the_invoice(registered: Books) -> None:
    seller = registered.entity(name="Elm", vatNumber=OTHER_BRITISH_VAT_NUMBER)
    business = registered.business(seller)
    line = {**LINE, "quantity": "3", "unit": "hours", "discountPercent": "10", "category": "turnover"}
    found = recurring(
        registered,
        legalEntityId=seller,
        businessId=business,
        lines=[{**line, "vatCode": "zero", "cisLabour": True, "capitalGoods": True}],
        amountsAre="inclusive",
        vatRounding="total",
        discountAmount="20",
        currency="GBP",
        paymentTermsDays=0,
        externalId="E1",
    )
    run_round(registered.store)
    (invoice,) = made(registered, found)
    assert (invoice["grossTotal"], invoice["vatTotal"], invoice["dueDate"]) == ("250.00", "0.00", TODAY)
    assert [invoice[name] for name in ("legalEntityId", "businessId")] == [seller, business]
    assert [invoice[name] for name in ("amountsAre", "vatRounding", "discountTotal")] == ["inclusive", "total", "50.00"]
    (sold,) = invoice["lines"]
    assert [sold[name] for name in ("unit", "discountPercent", "cisLabour", "capitalGoods")] == [
        "hours",
        "10",
        True,
        True,
    ]
    assert fields_of(
        refused(recurring, registered, bankAccountId="bac_x", propertyId="prop_x", legalEntityId=seller)
    ) == [
        ("propertyId", "unknown_reference"),
        ("bankAccountId", "unknown_reference"),
    ]
    assert refused(recurring, registered, externalId="E1", legalEntityId=seller).code == "already_exists"
    assert registered.get("listRecurring", "externalId=E1")[0] == [shown(registered, found)]


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"startDate": "2026-11-19"}, [("startDate", "out_of_range")]),
        ({"dayOfMonth": 31}, [("dayOfMonth", "conflict")]),
        ({"unit": "week", "dayOfMonth": 20}, [("dayOfMonth", "conflict")]),
        ({"endDate": "2026-11-19"}, [("endDate", "date_order")]),
        ({"endDate": "2026-12-31", "times": 2}, [("times", "conflict")]),
        ({"makes": "sent"}, [("makes", "conflict")]),  # the client has no address
        ({"clientId": "cli_x"}, [("clientId", "unknown_reference")]),
        ({"lines": [{**LINE, "unitPrice": "-1"}]}, [("lines", "out_of_range")]),
        (
            {"times": 2, "endDate": "2026-12-31", "clientId": "cli_x"},
            [("times", "conflict"), ("clientId", "unknown_reference")],
        ),
    ],
)
def test_what_does_not_hold_together_is_refused(registered: Books, fields: Json, errors: list[tuple[str, str]]) -> None:
    assert wrong(registered, **fields) == errors


def test_the_list_has_filters(registered: Books) -> None:
    first, second = recurring(registered), recurring(registered, startDate="2026-12-01")
    act(registered, "endRecurring", first)
    assert [each["id"] for each in registered.walk("listRecurring", "limit=1")] == [second["id"], first["id"]]
    assert [each["id"] for each in registered.get("listRecurring", "status=ended")[0]] == [first["id"]]
    query = f"clientId={second['clientId']}"
    assert [each["id"] for each in registered.get("listRecurring", query)[0]] == [second["id"]]
    followed = registered.get("listRecurring", "updatedSince=2026-11-20T00:00:00Z")[0]
    assert {each["id"] for each in followed} == {first["id"], second["id"]}


def test_another_organization_sees_none_of_it(store: MemoryStore) -> None:
    mine, others = Books(store), Books(store, "Ash Ltd")
    found = recurring(mine)
    assert refused(shown, others, found).code == "not_found"
    assert refused(act, others, "endRecurring", found).code == "not_found"
    assert others.get("listRecurring")[0] == []


# -- what is made


def test_what_was_missed_is_made_in_order_each_of_its_own_day(registered: Books) -> None:
    found = recurring(registered, startDate="2026-11-30", dayOfMonth=31, times=4)
    run_round(registered.store)
    assert made(registered, found) == []
    until(registered.store, "2027-02-27")
    run_round(registered.store)
    assert dates(registered, found) == ["2026-11-30", "2026-12-31", "2027-01-31"]
    assert [invoice["number"] for invoice in made(registered, found)] == ["INV-000001", "INV-000002", "INV-000003"]
    assert shown(registered, found)["nextDate"] == "2027-02-28"
    until(registered.store, "2027-06-01")
    run_round(registered.store)
    after = shown(registered, found)
    assert (after["status"], after["nextDate"], after["madeCount"]) == ("ended", None, 4)
    assert refused(act, registered, "pauseRecurring", found).code == "invalid_state"


def test_a_draft_that_was_deleted_is_not_made_again(registered: Books) -> None:
    found = recurring(registered, makes="draft")
    run_round(registered.store)
    (draft,) = made(registered, found)
    assert (draft["status"], draft["number"]) == ("draft", None)
    changed = registered.post("updateInvoice", invoiceId=draft["id"], notes="Changed")
    assert changed["recurringId"] == found["id"]
    registered.post("deleteInvoice", invoiceId=draft["id"])
    run_round(registered.store)
    assert made(registered, found) == []
    assert shown(registered, found)["madeCount"] == 1


def test_a_change_holds_for_what_is_made_from_then_on(registered: Books) -> None:
    found = recurring(registered)
    run_round(registered.store)
    change = {"lines": [{**LINE, "unitPrice": "50"}], "times": 2, "reference": "R2"}
    changed = registered.post("updateRecurring", recurringId=found["id"], **change)
    assert (changed["version"], changed["reference"]) == (found["version"] + 1, "R2")
    until(registered.store, "2027-05-20")
    run_round(registered.store)
    assert [invoice["netTotal"] for invoice in made(registered, found)] == ["100.00", "50.00"]
    problem = refused(registered.post, "updateRecurring", recurringId=found["id"], notes="N")
    assert problem.code == "invalid_state"


def test_the_rhythm_changes_until_it_has_begun(registered: Books) -> None:
    found = recurring(registered, startDate="2026-12-01")
    new = registered.post("updateRecurring", recurringId=found["id"], startDate="2026-11-30", dayOfMonth=31, every=2)
    assert (new["nextDate"], new["every"], new["dayOfMonth"]) == ("2026-11-30", 2, 31)
    change: Json = {"recurringId": found["id"], "dayOfMonth": None}
    problem = refused(registered.post, "updateRecurring", **change, startDate="2026-11-19")
    assert fields_of(problem) == [("startDate", "out_of_range")]
    until(registered.store, "2026-11-30")
    run_round(registered.store)
    problem = refused(registered.post, "updateRecurring", **change, unit="week")
    assert fields_of(problem) == [("unit", "conflict"), ("dayOfMonth", "conflict")]
    problem = refused(registered.post, "updateRecurring", recurringId=found["id"], expectedVersion=1)
    assert problem.code == "version_conflict"


def test_an_external_id_is_used_once(registered: Books) -> None:
    first, second = recurring(registered, externalId="A"), recurring(registered)
    problem = refused(registered.post, "updateRecurring", recurringId=second["id"], externalId="A")
    assert (problem.code, problem.extra["existingId"]) == ("already_exists", first["id"])


def test_organizations_are_served_in_turns(store: MemoryStore) -> None:
    many, few = Books(store), Books(store, "Ash Ltd")
    of_many = [recurring(many) for _ in range(3)]
    of_few = recurring(few)
    picked = store.read(lambda tx: rows.due(tx, 2))
    assert {each.org_id for each in picked} == {many.org_id, few.org_id}
    assert of_few["id"] in {each.id for each in picked}
    assert len({each.id for each in store.read(lambda tx: rows.due(tx, 10))}) == len(of_many) + 1


def test_nothing_is_made_for_an_organization_that_nobody_acts_for(registered: Books) -> None:
    found = recurring(registered)
    suspend = "UPDATE organizations SET suspended_at = :at WHERE id = :org_id"
    registered.store.write(lambda tx: tx.run(suspend, at=1), registered.org_id)
    run_round(registered.store)
    assert made(registered, found) == []
    registered.store.write(lambda tx: tx.run(suspend, at=None), registered.org_id)
    run_round(registered.store)
    assert dates(registered, found) == [TODAY]


def test_two_daemons_that_picked_the_same_day_make_one(registered: Books) -> None:
    found = recurring(registered)
    both = [registered.store.read(lambda tx: rows.due(tx, 10)) for _ in range(2)]
    assert both[0] == both[1]
    done = [registered.store.write(lambda tx: making.make(tx, found["id"]), registered.org_id) for _ in range(2)]
    assert done == [True, False]
    problem = Problem("period_closed", "It is closed.")
    registered.store.write(lambda tx: making.halt(tx, found["id"], TODAY, problem), registered.org_id)
    assert shown(registered, found)["status"] == "active"


# -- what stops it


def halted(books: Books, of: Json) -> tuple[str, str]:
    """The code and the reason, after a round."""
    run_round(books.store)
    now = shown(books, of)
    assert now["status"] == "halted"
    assert now["haltedAt"] is not None
    assert now["nextDate"] is not None
    return now["haltedCode"], now["haltedReason"]


def test_a_closed_period_halts_it_until_it_is_resumed(store: MemoryStore) -> None:
    books = Books(store)
    entity = books.entity()
    found = recurring(books)
    store.write(lambda tx: period_locks.close(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)
    code, reason = halted(books, found)
    assert (code, "2026-11-20" in reason) == ("period_closed", True)
    until(store, "2026-12-21")
    run_round(store)
    assert dates(books, found) == []
    act(books, "resumeRecurring", found)
    assert halted(books, found)[0] == "period_closed"
    store.write(lambda tx: period_locks.reopen(tx, entity, "2026-11-01", "2026-11-30"), books.org_id)
    act(books, "resumeRecurring", found)
    run_round(store)
    assert dates(books, found) == [TODAY, "2026-12-20"]
    assert shown(books, found)["haltedReason"] is None


def test_an_archived_client_halts_it(registered: Books) -> None:
    found = recurring(registered)
    registered.post("archiveClient", clientId=found["clientId"])
    code, reason = halted(registered, found)
    assert (code, reason) == ("validation_failed", "The client is archived: bring it back first, or choose another.")
    registered.post("updateRecurring", recurringId=found["id"], clientId=registered.client())
    assert shown(registered, found)["status"] == "halted"
    act(registered, "resumeRecurring", found)
    run_round(registered.store)
    assert dates(registered, found) == [TODAY]


def test_an_archived_legal_entity_halts_it(registered: Books) -> None:
    found = recurring(registered)
    sql = "UPDATE legal_entities SET archived_at = :now, status = 'archived' WHERE org_id = :org_id"
    columns = registered.store.read(lambda tx: tx.rows("SELECT name FROM pragma_table_info('legal_entities')"))
    if ("status",) not in columns:
        sql = sql.replace(", status = 'archived'", "")
    registered.store.write(lambda tx: tx.run(sql), registered.org_id)
    assert "archived" in halted(registered, found)[1]


def test_numbers_that_are_used_up_halt_it(registered: Books) -> None:
    found = recurring(registered)
    registered.post("setNumbering", nextCount=10**12 - 1)
    registered.invoice()
    assert halted(registered, found) == (
        "invalid_state",
        "The numbers are used up: set another pattern, with `accounting.setNumbering`.",
    )
    registered.post("setNumbering", pattern="R-{1}")
    act(registered, "resumeRecurring", found)
    run_round(registered.store)
    assert [invoice["number"] for invoice in made(registered, found)] == ["R-1"]


def test_other_vat_than_last_time_halts_it_until_somebody_says_that_it_is_right(registered: Books) -> None:
    found = recurring(registered)
    run_round(registered.store)
    sql = "UPDATE legal_entities SET vat_status = 'deregistered', vat_deregistration_date = '2026-12-01'"
    registered.store.write(lambda tx: tx.run(sql))
    until(registered.store, "2026-12-20")
    code, reason = halted(registered, found)
    assert (code, "outside_scope at 0 %, and it was standard at 20 %" in reason) == ("validation_failed", True)
    act(registered, "resumeRecurring", found)
    run_round(registered.store)
    assert [invoice["vatTotal"] for invoice in made(registered, found)] == ["20.00", "0.00"]


def test_an_invoice_in_a_currency_without_a_rate_halts_it(registered: Books) -> None:
    found = recurring(registered, currency="KPW")
    code, reason = halted(registered, found)
    assert (code, "KPW" in reason) == ("validation_failed", True)
    drafts = recurring(registered, currency="KPW", makes="draft")
    run_round(registered.store)
    assert dates(registered, drafts) == [TODAY]


def test_who_resumes_says_what_becomes_of_days_that_passed_in_a_pause(registered: Books) -> None:
    found = recurring(registered, every=1)
    act(registered, "pauseRecurring", found)
    until(registered.store, "2027-01-20")
    run_round(registered.store)
    assert dates(registered, found) == []
    assert fields_of(refused(act, registered, "resumeRecurring", found)) == [("missed", "required")]
    after = act(registered, "resumeRecurring", found, missed="skip")
    assert (after["skippedDates"], after["nextDate"]) == ([TODAY, "2026-12-20"], "2027-01-20")
    run_round(registered.store)
    assert dates(registered, found) == ["2027-01-20"]
    assert refused(act, registered, "resumeRecurring", found).code == "invalid_state"


def test_days_of_a_pause_can_be_made_later(registered: Books) -> None:
    found = recurring(registered)
    act(registered, "pauseRecurring", found, expectedVersion=1)
    until(registered.store, "2026-12-21")
    act(registered, "resumeRecurring", found, missed="make", expectedVersion=2)
    run_round(registered.store)
    assert dates(registered, found) == [TODAY, "2026-12-20"]
    assert refused(act, registered, "endRecurring", found, expectedVersion=1).code == "version_conflict"
    assert act(registered, "endRecurring", found)["status"] == "ended"


def test_days_that_are_skipped_count_towards_the_end(registered: Books) -> None:
    found = recurring(registered, times=2)
    act(registered, "pauseRecurring", found)
    until(registered.store, "2027-06-01")
    after = act(registered, "resumeRecurring", found, missed="skip")
    assert (after["status"], after["nextDate"], after["madeCount"]) == ("ended", None, 0)


# -- five years


STEP = st.tuples(
    st.sampled_from(["on", "on", "on", "back", "leap"]),
    st.integers(0, 45),
    st.lists(st.sampled_from(["", "before commit", "after commit"]), max_size=4),
)


@settings(
    max_examples=4, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    start=st.dates(datetime.date(2026, 11, 20), datetime.date(2027, 2, 28)),
    unit=st.sampled_from(["week", "month"]),
    every=st.integers(1, 6),
    makes=st.sampled_from(["draft", "issued"]),
    steps=st.lists(STEP, min_size=40, max_size=80),
)
def test_five_years_with_kills_and_clocks_that_leap_have_exactly_the_right_days(
    store: MemoryStore, start: datetime.date, unit: str, every: int, makes: str, steps: list[Any]
) -> None:
    store.clock.advance(from_wire("2026-11-20T09:30:00Z") - store.clock.now())
    books = Books(store)
    books.entity()
    last_of_month = (start + datetime.timedelta(days=1)).day == 1
    wanted = 31 if unit == "month" and last_of_month else start.day
    more = {"dayOfMonth": 31} if wanted == 31 else {}
    found = recurring(books, startDate=start.isoformat(), unit=unit, every=every, makes=makes, **more)
    for what, days, kills in [*steps, ("on", 0, [])]:
        store.clock.advance((-days if what == "back" else 12 * days if what == "leap" else days) * DAY)
        before = sorted(dates(books, found))
        lived = run_round(store, list(kills))
        after = sorted(dates(books, found))  # ids follow the clock, and go back with it
        # What a clock that was ahead has made stays, and is not made again.
        furthest = max([london_date(store.now()), *before])
        expected = reckoned(start, unit, every, wanted, datetime.date.fromisoformat(furthest))
        assert after == (expected if lived else expected[: len(after)])
        assert len(after) >= len(before)
