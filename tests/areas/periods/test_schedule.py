"""Periods and obligations follow the entity, its businesses and the day (domain model B2, B9, C6)."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.areas.businesses.shapes import Latency, TaxSync
from gatewayd.clock import DAY, from_wire
from gatewayd.ledger.obligations import schedule
from tests.areas.businesses.trades import LETS
from tests.areas.periods.desk import Desk, Json
from tests.support.store import MemoryStore

UPDATES = "kind=itsa_quarterly_update"


def test_a_trade_has_its_quarters_and_updates(desk: Desk) -> None:
    """On 20 November 2026: those of 2026-27, two of which are over, and of the year to come."""
    trade = desk.create(commencementDate="2024-05-01")
    assert desk.due(f"businessId={trade['id']}") == [
        ("2026-07-05", "2026-08-07", "overdue"),
        ("2026-10-05", "2026-11-07", "overdue"),
        ("2027-01-05", "2027-02-07", "open"),
        ("2027-04-05", "2027-05-07", "open"),
        ("2027-07-05", "2027-08-07", "open"),
        ("2027-10-05", "2027-11-07", "open"),
        ("2028-01-05", "2028-02-07", "open"),
        ("2028-04-05", "2028-05-07", "open"),
    ]
    quarters = desk.periods(f"businessId={trade['id']}&taxYear=2026-27")
    assert [quarter["label"] for quarter in quarters] == [f"2026-27 Q{number}" for number in (1, 2, 3, 4)]
    assert {quarter["startDate"] for quarter in quarters} == {"2026-04-06"}
    assert all(quarter["cumulative"] and quarter["status"] == "open" for quarter in quarters)
    assert [quarter["filingDueDate"] for quarter in quarters] == [
        "2026-08-07",
        "2026-11-07",
        "2027-02-07",
        "2027-05-07",
    ]


def test_a_period_knows_its_obligations(desk: Desk) -> None:
    trade = desk.create()
    for quarter in desk.periods(f"businessId={trade['id']}&taxYear=2026-27"):
        (id_,) = quarter["obligationIds"]
        update = desk.ask("obligations.get", f"id={id_}")
        assert (update["periodId"], update["periodEndDate"]) == (quarter["id"], quarter["endDate"])
        assert (update["source"], update["confidence"]) == ("local", "predicted")
        assert update["predictedDueDate"] == update["dueDate"] == quarter["filingDueDate"]


def test_quarters_go_back_to_the_year_before_and_no_further(desk: Desk) -> None:
    """Of 2025-26 there are no updates: nobody had to make any."""
    desk.create(commencementDate="2019-05-01")
    found = desk.periods("type=itsa_quarter")
    assert found[0]["endDate"] == "2025-07-05"
    assert found[-1]["endDate"] == "2028-04-05"
    assert desk.obligations(f"{UPDATES}&dueDateTo=2026-06-01") == []


def test_periods_begin_with_the_commencement(desk: Desk) -> None:
    trade = desk.create(commencementDate="2026-08-01")
    found = desk.periods(f"businessId={trade['id']}&taxYear=2026-27")
    assert [(one["startDate"], one["endDate"]) for one in found] == [
        ("2026-08-01", "2026-10-05"),
        ("2026-08-01", "2027-01-05"),
        ("2026-08-01", "2027-04-05"),
    ]
    assert desk.periods("taxYear=2025-26") == []


def test_calendar_quarters_begin_on_6_april_in_their_first_year(desk: Desk) -> None:
    trade = desk.create(quarterlyPeriodType="calendar")
    this, following = (desk.periods(f"businessId={trade['id']}&taxYear={year}") for year in ("2026-27", "2027-28"))
    assert [(one["startDate"], one["endDate"]) for one in this] == [
        ("2026-04-06", "2026-06-30"),
        ("2026-04-06", "2026-09-30"),
        ("2026-04-06", "2026-12-31"),
        ("2026-04-06", "2027-03-31"),
    ]
    assert {one["startDate"] for one in following} == {"2027-04-01"}
    before = desk.periods(f"businessId={trade['id']}&taxYear=2025-26")
    assert [one["endDate"] for one in before] == ["2025-07-05", "2025-10-05", "2026-01-05", "2026-04-05"]


def test_back_to_standard_begins_on_1_april_and_keeps_what_was(desk: Desk) -> None:
    trade = desk.create(quarterlyPeriodType="calendar")
    desk.on("2027-05-01")
    desk.update(trade["id"], quarterlyPeriodType="standard")
    this = desk.periods(f"businessId={trade['id']}&taxYear=2027-28")
    assert (this[0]["startDate"], this[0]["endDate"]) == ("2027-04-01", "2027-07-05")
    before = desk.periods(f"businessId={trade['id']}&taxYear=2026-27")
    assert before[0]["endDate"] == "2026-06-30"
    assert {one["startDate"] for one in desk.periods(f"businessId={trade['id']}&taxYear=2028-29")} == {"2028-04-06"}


def ends(desk: Desk, business_id: str, year: str) -> list[str]:
    return [one["endDate"] for one in desk.periods(f"businessId={business_id}&taxYear={year}")]


def starts(desk: Desk, business_id: str, year: str) -> list[str]:
    return sorted({one["startDate"] for one in desk.periods(f"businessId={business_id}&taxYear={year}")})


def test_every_change_of_quarters_is_kept_with_its_year(desk: Desk) -> None:
    """Standard in 2026-27, calendar in 2027-28, standard in 2028-29, calendar in 2029-30: each year keeps its own.

    Where a year of another type follows, its updates begin where the year before ended [MTD guide].
    """
    trade = desk.create()["id"]
    for day, kind in (("2027-05-01", "calendar"), ("2028-05-01", "standard"), ("2029-05-01", "calendar")):
        desk.on(day)
        desk.update(trade, quarterlyPeriodType=kind)
    standard, calendar = ["07-05", "10-05", "01-05", "04-05"], ["06-30", "09-30", "12-31", "03-31"]
    expected = {
        "2026-27": ("2026-04-06", standard),
        "2027-28": ("2027-04-06", calendar),
        "2028-29": ("2028-04-01", standard),
        "2029-30": ("2029-04-06", calendar),
    }
    for year, (start, days) in expected.items():
        assert (starts(desk, trade, year), [end[5:] for end in ends(desk, trade, year)]) == ([start], days)


def test_an_open_year_keeps_its_quarters_when_a_later_one_has_others(desk: Desk) -> None:
    """Two changes: nothing of the year before the second moves, and what was due then is due still."""
    trade = desk.create(quarterlyPeriodType="calendar", quarterlyPeriodTaxYear="2024-25")["id"]
    desk.on("2027-05-01")
    desk.update(trade, quarterlyPeriodType="standard")
    before = desk.periods(f"businessId={trade}&taxYear=2027-28"), desk.obligations(f"businessId={trade}")
    desk.on("2028-05-01")
    desk.update(trade, quarterlyPeriodType="calendar")
    assert [one["endDate"] for one in before[0]] == ["2027-07-05", "2027-10-05", "2028-01-05", "2028-04-05"]
    assert desk.periods(f"businessId={trade}&taxYear=2027-28") == before[0]
    assert starts(desk, trade, "2026-27") == ["2026-04-01"]
    shown = {one["id"]: one for one in desk.obligations(f"businessId={trade}")}
    kept = [one for one in before[1] if one["periodEndDate"] < "2028-04-06"]
    assert [shown[one["id"]]["dueDate"] for one in kept] == [one["dueDate"] for one in kept]
    assert len(kept) == 8


def test_a_business_says_when_its_quarters_were_chosen(desk: Desk) -> None:
    """Chosen in 2024-25, so that 2025-26 begins on 1 April and no year since on the 6th."""
    trade = desk.create(quarterlyPeriodType="calendar", quarterlyPeriodTaxYear="2024-25")
    assert trade["quarterlyPeriodTaxYear"] == "2024-25"
    assert [starts(desk, trade["id"], year) for year in ("2025-26", "2026-27")] == [["2025-04-01"], ["2026-04-01"]]


def test_the_year_of_a_choice_is_put_right(desk: Desk) -> None:
    trade = desk.create(quarterlyPeriodType="calendar")["id"]
    desk.update(trade, quarterlyPeriodTaxYear="2024-25")
    assert starts(desk, trade, "2026-27") == ["2026-04-01"]
    desk.update(trade, quarterlyPeriodType="calendar", quarterlyPeriodTaxYear="2025-26")
    assert starts(desk, trade, "2025-26") == ["2025-04-06"]
    assert starts(desk, trade, "2026-27") == ["2026-04-01"]
    desk.update(trade, quarterlyPeriodType="standard")
    assert (starts(desk, trade, "2025-26"), ends(desk, trade, "2025-26")[0]) == (["2025-04-06"], "2025-06-30")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"quarterlyPeriodTaxYear": "2027-28"}, "out_of_range"),
        ({"quarterlyPeriodTaxYear": "2024-26"}, "invalid_format"),
        ({"quarterlyPeriodType": "standard", "quarterlyPeriodTaxYear": "2024-25"}, "date_order"),
    ],
)
def test_a_choice_that_cannot_have_been_made_is_refused(desk: Desk, values: dict[str, str], code: str) -> None:
    trade = desk.create(quarterlyPeriodType="calendar", quarterlyPeriodTaxYear="2025-26")
    problem = desk.refused("businesses.update", id=trade["id"], **values)
    assert [(one.path, one.code) for one in problem.errors] == [("quarterlyPeriodTaxYear", code)]
    problem = desk.refused(
        "businesses.create",
        legalEntityId=trade["legalEntityId"],
        type="self_employment",
        name="Another",
        quarterlyPeriodTaxYear="2025-26",
    )
    assert [(one.path, one.code) for one in problem.errors] == [("quarterlyPeriodTaxYear", "conflict")]


def test_a_choice_of_a_year_with_updates_is_refused(desk: Desk) -> None:
    """The year that is named, and every one that the choice bears on."""
    trade = desk.create()
    desk.do("obligations.fulfil", id=desk.one(f"businessId={trade['id']}")["id"])
    for year in ("2024-25", "2026-27"):
        values = {"quarterlyPeriodType": "calendar", "quarterlyPeriodTaxYear": year}
        assert desk.refused("businesses.update", id=trade["id"], **values).code == "invalid_state"


def test_who_chooses_again_in_the_same_year_has_moved_nowhere(desk: Desk) -> None:
    trade = desk.create()
    before = desk.periods(f"businessId={trade['id']}")
    desk.update(trade["id"], quarterlyPeriodType="calendar")
    assert {one["endDate"] for one in desk.periods(f"businessId={trade['id']}&taxYear=2026-27")} == {
        "2026-06-30",
        "2026-09-30",
        "2026-12-31",
        "2027-03-31",
    }
    desk.update(trade["id"], quarterlyPeriodType="standard")
    after = desk.periods(f"businessId={trade['id']}")
    assert [(one["id"], one["startDate"], one["endDate"]) for one in after] == [
        (one["id"], one["startDate"], one["endDate"]) for one in before
    ]


def test_the_type_of_quarters_stays_after_the_first_update(desk: Desk) -> None:
    trade = desk.create()
    first = desk.one(f"businessId={trade['id']}")
    desk.do("obligations.fulfil", id=first["id"])
    problem = desk.refused("businesses.update", id=trade["id"], quarterlyPeriodType="calendar")
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "standard")
    desk.on("2027-04-06")  # of the next year there is none yet
    assert desk.update(trade["id"], quarterlyPeriodType="calendar")["quarterlyPeriodType"] == "calendar"


def test_a_person_declares_each_year(desk: Desk) -> None:
    desk.create()
    assert desk.due("kind=itsa_final_declaration") == [
        ("2026-04-05", "2027-01-31", "open"),
        ("2027-04-05", "2028-01-31", "open"),
        ("2028-04-05", "2029-01-31", "open"),
    ]
    assert desk.due("kind=self_assessment_payment") == desk.due("kind=itsa_final_declaration")
    assert [one["label"] for one in desk.periods("type=tax_year")] == ["2025-26", "2026-27", "2027-28"]


def test_who_has_neither_a_source_nor_a_reference_declares_nothing(desk: Desk) -> None:
    assert desk.obligations() == []
    desk.change_entity(desk.person, utr="1955839661")
    assert {one["kind"] for one in desk.obligations()} == {"itsa_final_declaration", "self_assessment_payment"}


def test_payments_on_account_are_not_guessed(desk: Desk) -> None:
    desk.create()
    assert desk.obligations("kind=payment_on_account") == []


def test_every_source_has_updates_of_its_own(desk: Desk) -> None:
    trade, lets = desk.create(), desk.create(**LETS)
    assert len(desk.obligations(f"businessId={trade['id']}")) == len(desk.obligations(f"businessId={lets['id']}")) == 8


def test_a_business_that_ceased_has_none_after_its_tax_year(desk: Desk) -> None:
    trade = desk.create()
    kept = desk.obligations(f"businessId={trade['id']}&dueDateTo=2027-06-01")
    desk.move(trade["id"], "ceased", "2026-10-31")
    assert [one["id"] for one in desk.obligations(f"businessId={trade['id']}")] == [one["id"] for one in kept]
    gone = desk.obligations(f"businessId={trade['id']}&status=not_required")
    assert [one["periodEndDate"] for one in gone] == ["2027-07-05", "2027-10-05", "2028-01-05", "2028-04-05"]
    assert [one["type"] for one in desk.ask("obligations.get", f"id={gone[0]['id']}")["events"]] == ["not_required"]
    assert desk.periods(f"businessId={trade['id']}&taxYear=2027-28") == []
    assert len(desk.periods(f"businessId={trade['id']}&taxYear=2027-28&includeArchived=true")) == 4
    assert [one["label"] for one in desk.periods("type=tax_year")] == ["2025-26", "2026-27"]


def test_a_business_that_begins_again_has_the_same_ones(desk: Desk) -> None:
    trade = desk.create()
    before = [one["id"] for one in desk.obligations()]
    desk.move(trade["id"], "ceased", "2026-10-31")
    desk.move(trade["id"], "active")
    assert [one["id"] for one in desk.obligations()] == before
    last = desk.obligations(f"businessId={trade['id']}")[-1]
    events = desk.ask("obligations.get", f"id={last['id']}")["events"]
    assert [event["type"] for event in events] == ["not_required", "required"]


def test_a_dormant_business_keeps_its_obligations(desk: Desk) -> None:
    """HMRC wants updates of nil."""
    trade = desk.create()
    before = desk.obligations()
    desk.move(trade["id"], "dormant")
    assert desk.obligations() == before


def test_a_business_with_open_obligations_is_archived_by_force(desk: Desk) -> None:
    trade = desk.create()
    first = desk.one(f"businessId={trade['id']}")
    problem = desk.refused("businesses.archive", id=trade["id"])
    assert (problem.code, problem.extra["currentState"]) == ("invalid_state", "active")
    assert first["id"] in problem.message
    desk.archive(trade["id"])
    assert desk.obligations(f"businessId={trade['id']}") == []
    assert desk.periods(f"businessId={trade['id']}") == []
    desk.move(trade["id"], "active")
    assert desk.one(f"businessId={trade['id']}")["id"] == first["id"]


def test_a_business_whose_obligations_are_met_is_archived(desk: Desk) -> None:
    """That of a period which has not begun is none yet."""
    trade = desk.create()
    last = desk.obligations(f"businessId={trade['id']}&dueDateTo=2027-06-01")[-1]
    desk.do("obligations.fulfil", id=last["id"])
    assert desk.do("businesses.archive", id=trade["id"])["status"] == "archived"


def test_no_updates_of_a_year_that_the_authority_calls_annual(desk: Desk) -> None:
    latency = Latency(end_date="2028-04-05", tax_year1="2026-27", indicator1="A", tax_year2="2027-28", indicator2="Q")
    never = TaxSync(status="in_sync", synced_at=None, error=None, latency=None, year_of_migration=None)
    trade = desk.adopt(record=never)
    assert len(desk.obligations(UPDATES)) == 8
    record = TaxSync(status="in_sync", synced_at=None, error=None, latency=latency, year_of_migration=None)
    desk.take_over(trade.id, record)
    assert [one["periodEndDate"][:4] for one in desk.obligations(UPDATES)] == ["2027", "2027", "2028", "2028"]
    assert len(desk.periods(f"businessId={trade.id}&taxYear=2026-27")) == 4  # the quarters are there to look at


@pytest.mark.parametrize(
    ("vat", "due"),
    [
        (
            {"staggerGroup": 1},
            [("2026-03-31", "2026-05-07"), ("2026-06-30", "2026-08-07"), ("2026-09-30", "2026-11-07")],
        ),
        (
            {"staggerGroup": 2},
            [("2026-04-30", "2026-06-07"), ("2026-07-31", "2026-09-07"), ("2026-10-31", "2026-12-07")],
        ),
        (
            {"staggerGroup": 3},
            [("2026-02-28", "2026-04-07"), ("2026-05-31", "2026-07-07"), ("2026-08-31", "2026-10-07")],
        ),
        (
            {"staggerGroup": None, "returnFrequency": "monthly"},
            [("2026-02-28", "2026-04-07"), ("2026-03-31", "2026-05-07"), ("2026-04-30", "2026-06-07")],
        ),
        (
            {"staggerGroup": None, "scheme": "annual", "periodEndMonth": 6},
            [("2026-06-30", "2026-08-31"), ("2027-06-30", "2027-08-31"), ("2028-06-30", "2028-08-31")],
        ),
        ({"staggerGroup": None}, []),  # nobody said with which months the quarters end
    ],
    ids=["stagger 1", "stagger 2", "stagger 3", "monthly", "annual", "not known"],
)
def test_vat_returns_and_payments(desk: Desk, vat: Json, due: list[tuple[str, str]]) -> None:
    desk.vat_company(**vat)
    returns = [(end, day) for end, day, _ in desk.due("kind=vat_return")]
    assert returns[:3] == due
    assert returns == [(end, day) for end, day, _ in desk.due("kind=vat_payment")]


def test_vat_periods_are_named_by_their_end(desk: Desk) -> None:
    desk.vat_company()
    labels = [period["label"] for period in desk.periods("type=vat_period&fromDate=2026-04-01")]
    assert labels[:3] == ["VAT 06/26", "VAT 09/26", "VAT 12/26"]


def test_vat_ends_with_the_registration(desk: Desk) -> None:
    entity = desk.vat_company()
    before = {one["periodEndDate"]: one["id"] for one in desk.obligations("kind=vat_return")}
    desk.change_entity(
        entity,
        vat={
            "status": "deregistered",
            "effectiveDate": "2024-05-01",
            "deregistrationDate": "2026-11-11",
            "scheme": "standard",
            "staggerGroup": 1,
        },
    )
    assert [one["periodEndDate"] for one in desk.obligations("kind=vat_return")] == [
        "2026-03-31",
        "2026-06-30",
        "2026-09-30",
        "2026-11-11",  # the day of the cancellation is in the last return
    ]
    assert desk.due("kind=vat_return")[-1][:2] == ("2026-11-11", "2026-12-18")
    assert desk.one("kind=vat_return&status=not_required")["id"] == before["2026-12-31"]
    desk.change_entity(entity, vat={"status": "not_registered"})
    assert desk.obligations("kind=vat_return") == []


def test_a_company_files_accounts_and_returns(desk: Desk) -> None:
    desk.company(incorporationDate="2025-06-17", accountingYearEnd={"month": 6, "day": 30})
    assert desk.due("kind=annual_accounts")[:2] == [
        ("2026-06-30", "2027-03-17", "open"),
        ("2027-06-30", "2028-03-31", "open"),
    ]
    assert desk.due("kind=confirmation_statement")[:2] == [
        ("2026-06-16", "2026-06-30", "open"),
        ("2027-06-16", "2027-06-30", "open"),
    ]
    assert desk.due("kind=corporation_tax_return")[:3] == [
        ("2026-06-16", "2027-06-30", "open"),
        ("2026-06-30", "2027-06-30", "open"),
        ("2027-06-30", "2028-06-30", "open"),
    ]
    assert desk.due("kind=corporation_tax_payment")[:3] == [
        ("2026-06-16", "2027-03-17", "open"),
        ("2026-06-30", "2027-04-01", "open"),
        ("2027-06-30", "2028-04-01", "open"),
    ]
    first = desk.periods("type=financial_year")[0]
    assert (first["startDate"], first["endDate"], len(first["obligationIds"])) == ("2025-06-17", "2026-06-30", 5)


def test_a_company_is_taxed_from_when_it_trades(desk: Desk) -> None:
    company = desk.company(incorporationDate="2025-06-17", accountingYearEnd={"month": 6, "day": 30})
    desk.create(legalEntityId=company, type="company_trade", commencementDate="2025-09-01")
    found = desk.obligations("kind=corporation_tax_return")
    assert [(one["periodStartDate"], one["periodEndDate"]) for one in found][:2] == [
        ("2025-09-01", "2026-06-30"),
        ("2026-07-01", "2027-06-30"),
    ]


def test_without_an_incorporation_date_there_is_no_first_year(desk: Desk) -> None:
    desk.company()
    assert desk.due("kind=annual_accounts")[0] == ("2026-03-31", "2026-12-31", "open")
    assert desk.obligations("kind=confirmation_statement") == []


def test_a_partnership_files_accounts_and_pays_no_corporation_tax(desk: Desk) -> None:
    llp = desk.entity(name="Oak LLP", type="llp", companyNumber="OC301234", incorporationDate="2020-01-10")
    kinds = {one["kind"] for one in desk.obligations(f"legalEntityId={llp}")}
    assert kinds == {"annual_accounts", "confirmation_statement"}
    club = desk.entity(name="Elm Club", type="club")
    assert desk.obligations(f"legalEntityId={club}") == []
    assert {one["type"] for one in desk.periods(f"legalEntityId={club}")} == {"financial_year"}


def test_a_company_elsewhere_is_on_no_register_here(desk: Desk) -> None:
    desk.entity(name="Chêne SA", type="limited_company", countryCode="FR", incorporationDate="2020-01-10")
    assert desk.obligations() == []


def test_an_archived_entity_has_no_calendar(desk: Desk) -> None:
    desk.create()
    desk.do("legalEntity.archive", id=desk.person, force=True)
    assert desk.obligations() == []
    assert desk.periods() == []
    assert desk.obligations("status=not_required") != []


def test_an_entity_that_comes_back_has_the_same_calendar(desk: Desk) -> None:
    desk.create()
    before = [one["id"] for one in desk.obligations()], [one["id"] for one in desk.periods()]
    desk.do("legalEntity.archive", id=desk.person, force=True)
    desk.change_entity(desk.person, status="active")
    assert ([one["id"] for one in desk.obligations()], [one["id"] for one in desk.periods()]) == before


def test_a_person_who_becomes_a_company_has_its_calendar(desk: Desk) -> None:
    lets = desk.create(**LETS)
    desk.change_entity(desk.person, type="limited_company", companyNumber="01234567")
    assert "annual_accounts" in {one["kind"] for one in desk.obligations()}
    assert desk.obligations(f"businessId={lets['id']}") == []


def test_a_client_who_follows_changes_sees_what_goes(desk: Desk) -> None:
    entity = desk.vat_company()
    before = {one["id"] for one in desk.obligations("kind=vat_return")}
    desk.later()
    since = "updatedSince=2026-11-21T00:00:00Z"
    assert desk.obligations(since) == []
    desk.change_entity(entity, vat={"status": "not_registered"})
    changed = desk.obligations(since)
    assert before <= {one["id"] for one in changed}
    assert {one["status"] for one in changed} == {"not_required"}
    gone = desk.periods(since)
    assert {one["type"] for one in gone} == {"vat_period"}
    assert all(one["archivedAt"] is not None for one in gone)


@pytest.mark.parametrize(
    "values",
    [
        {"incorporationDate": "9999-12-31"},
        {"incorporationDate": "0001-01-01"},
        {"vatNumber": "GB980780684", "vat": {"status": "registered", "effectiveDate": "9999-12-31", "staggerGroup": 2}},
        {
            "vatNumber": "GB980780684",
            "vat": {"status": "deregistered", "deregistrationDate": "0001-01-01", "staggerGroup": 2},
        },
    ],
)
def test_days_at_the_ends_of_time_do_no_harm(desk: Desk, values: Json) -> None:
    desk.company(**values)
    desk.create(commencementDate="9999-12-31")
    desk.create(commencementDate="0001-01-01", name="Old")
    assert desk.obligations(UPDATES) != []


# -- the horizon


def test_the_horizon_moves_on_with_the_tax_year(desk: Desk) -> None:
    trade = desk.create()
    before = [one["id"] for one in desk.periods()]
    desk.on("2027-04-05")
    assert not desk.store.read(schedule.is_behind)
    desk.on("2027-04-06")
    assert desk.store.read(schedule.is_behind)
    assert desk.store.write(schedule.refresh_some) == 1
    assert not desk.store.read(schedule.is_behind)
    after = desk.periods()
    assert [one["id"] for one in after][: len(before)] == before
    assert len(desk.periods(f"businessId={trade['id']}&taxYear=2028-29")) == 4
    assert desk.store.write(schedule.refresh_some) == 0


def test_entities_of_before_get_their_calendar(desk: Desk) -> None:
    """As a database has them that an older program made, and of every organization."""
    other = Desk(desk.store)
    for firm in (desk, other):
        firm.create()
    for table in ("obligations", "periods", "calendars"):
        desk.store.connection.execute(f"DELETE FROM {table}")
    assert desk.obligations() == []
    assert desk.store.write(schedule.refresh_some) == 2
    assert len(desk.obligations(UPDATES)) == len(other.obligations(UPDATES)) == 8


def test_many_entities_are_refreshed_some_at_a_time(desk: Desk) -> None:
    for _ in range(schedule.REFRESHED_AT_ONCE):
        desk.entity()
    desk.store.connection.execute("DELETE FROM calendars")
    assert [desk.store.write(schedule.refresh_some) for _ in range(3)] == [schedule.REFRESHED_AT_ONCE, 1, 0]


# -- contractors of the construction industry

RETURNS = "kind=cis_return"
CONTRACTOR = {"contractor": True, "subcontractor": False}


def until(desk: Desk, day: str) -> None:
    desk.store.clock.advance(from_wire(f"{day}T12:00:00Z") - desk.store.clock.now())


def test_a_contractor_returns_each_tax_month(desk: Desk) -> None:
    """On 20 November 2026, the day after the return to 5 November was due."""
    desk.company(cis=CONTRACTOR)
    found = desk.due(RETURNS)
    assert found[:3] == [
        ("2026-12-05", "2026-12-19", "open"),
        ("2027-01-05", "2027-01-19", "open"),
        ("2027-02-05", "2027-02-19", "open"),
    ]
    assert (found[-1], len(found)) == (("2028-04-05", "2028-04-19", "open"), 17)
    assert {one["periodStartDate"][8:] for one in desk.obligations(RETURNS)} == {"06"}
    assert desk.obligations(f"{RETURNS}&businessId=biz_none") == []


def test_who_is_none_returns_nothing(desk: Desk) -> None:
    desk.company(cis={"contractor": False, "subcontractor": True})
    desk.create()
    assert desk.obligations(RETURNS) == []


def test_the_return_of_a_month_that_is_over_is_expected_until_its_day(desk: Desk) -> None:
    until(desk, "2026-12-19")
    desk.change_entity(desk.person, cis=CONTRACTOR)
    assert desk.due(RETURNS)[0] == ("2026-12-05", "2026-12-19", "open")


def test_a_month_that_is_over_stays_as_it_was(desk: Desk) -> None:
    """A contractor up to January, and again from the middle of March on."""
    desk.change_entity(desk.person, cis=CONTRACTOR)
    until(desk, "2027-01-10")
    desk.change_entity(desk.person, cis={**CONTRACTOR, "contractor": False})
    owed = [("2026-12-05", "2026-12-19", "overdue"), ("2027-01-05", "2027-01-19", "open")]
    assert desk.due(f"{RETURNS}&status=open&status=overdue") == owed
    until(desk, "2027-03-20")
    desk.change_entity(desk.person, cis=CONTRACTOR)
    found = desk.due(f"{RETURNS}&status=open&status=overdue")
    assert found[:3] == [owed[0], ("2027-01-05", "2027-01-19", "overdue"), ("2027-04-05", "2027-04-19", "open")]
    (december, *_) = desk.obligations(RETURNS)
    desk.do("obligations.fulfil", id=december["id"])
    until(desk, "2027-04-06")
    while desk.store.write(schedule.refresh_some):
        pass
    every = "&".join(f"status={state}" for state in ("open", "overdue", "fulfilled", "not_required"))
    states = {one["periodEndDate"]: one["status"] for one in desk.obligations(f"{RETURNS}&{every}")}
    assert [states[f"{month}-05"] for month in ("2026-12", "2027-01", "2027-02", "2027-03", "2027-04", "2029-04")] == [
        "fulfilled",
        "overdue",
        "not_required",
        "not_required",
        "open",
        "open",
    ]


def test_one_that_a_person_entered_makes_none(desk: Desk) -> None:
    own = {
        "kind": "cis_return",
        "periodStartDate": "2026-04-06",
        "periodEndDate": "2026-05-05",
        "dueDate": "2026-05-19",
    }
    desk.do("obligations.create", legalEntityId=desk.person, **own)
    desk.change_entity(desk.person, name="Ash Brown and Daughter")
    assert desk.due(RETURNS) == [("2026-05-05", "2026-05-19", "overdue")]


# -- what holds however one gets there

_FACTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["sole_trader", "individual"]),
        "vat": st.sampled_from(
            [
                {"status": "not_registered"},
                {"status": "registered", "effectiveDate": "2026-05-20", "staggerGroup": 1},
                {"status": "registered", "staggerGroup": 3},
                {"status": "registered", "returnFrequency": "monthly"},
                {"status": "deregistered", "deregistrationDate": "2026-11-11", "staggerGroup": 2},
                {"status": "registered", "scheme": "annual", "periodEndMonth": 2},
            ]
        ),
        "utr": st.sampled_from([None, "1955839661"]),
    }
)
_TRADE = st.fixed_dictionaries(
    {
        "commencementDate": st.sampled_from([None, "2019-01-01", "2026-08-01", "2027-09-01"]),
        "type": st.sampled_from(["self_employment", "foreign_property", "other"]),
    }
)


def _shape(desk: Desk) -> list[tuple[object, ...]]:
    """What is in force, without ids and times."""
    names = ("kind", "periodStartDate", "periodEndDate", "dueDate", "status", "predictedDueDate")
    found: list[tuple[object, ...]] = [tuple(one[name] for name in names) for one in desk.obligations("limit=100")]
    names = ("type", "label", "startDate", "endDate", "filingDueDate", "status")
    found += [tuple(one[name] for name in names) for one in desk.periods("limit=100")]
    return sorted(found, key=str)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entities=st.lists(_FACTS, min_size=1, max_size=3), trades=st.lists(_TRADE, min_size=1, max_size=3))
def test_what_there_is_depends_on_what_is_and_not_on_what_was(
    database_image: bytes, entities: list[Json], trades: list[Json]
) -> None:
    """Changed step by step, or made so at once; and a refresh more changes nothing."""
    stepwise, at_once = Desk(MemoryStore(database_image)), Desk(MemoryStore(database_image))
    trade = stepwise.create(**trades[0])
    stepwise.create(name="Thatching")
    for facts in entities:
        stepwise.change_entity(stepwise.person, vatNumber="GB980780684", **facts)
    for values in trades[1:]:
        stepwise.update(trade["id"], **values)
    at_once.change_entity(at_once.person, vatNumber="GB980780684", **entities[-1])
    at_once.create(**trades[-1])
    at_once.create(name="Thatching")
    assert _shape(stepwise) == _shape(at_once)
    before = stepwise.obligations("limit=100"), stepwise.periods("limit=100")
    stepwise.refresh()
    assert (stepwise.obligations("limit=100"), stepwise.periods("limit=100")) == before
    stepwise.store.close()
    at_once.store.close()


# -- what was due before an entity came into the books


def test_what_a_company_owed_before_it_came_into_the_books_is_undecided(desk: Desk) -> None:
    """Entered on 20 November 2026: a statement due on 23 May 2026, accounts and tax of 2025 due in autumn."""
    year = {"incorporationDate": "2020-05-10", "accountingYearEnd": {"month": 12, "day": 31}}
    company = desk.company(**year)
    of = f"legalEntityId={company}&dueDateTo=2027-06-01"
    assert [(one["kind"], one["dueDate"], one["undecided"]) for one in desk.obligations(of)] == [
        ("confirmation_statement", "2026-05-23", True),
        ("annual_accounts", "2026-09-30", True),
        ("corporation_tax_payment", "2026-10-01", True),
        ("corporation_tax_return", "2026-12-31", False),
        ("confirmation_statement", "2027-05-23", False),
    ]
    assert desk.obligations(f"{of}&status=overdue") == []
    desk.store.clock.advance(200 * DAY)
    assert desk.due(f"{of}&status=overdue") == [
        ("2025-12-31", "2026-12-31", "overdue"),
        ("2027-05-09", "2027-05-23", "overdue"),
    ]
    first = desk.one(of)
    met = desk.do("obligations.fulfil", id=first["id"], receivedDate="2026-05-20")
    assert (met["status"], met["undecided"]) == ("fulfilled", True)


def test_what_is_due_on_the_day_of_entry_can_be_kept(desk: Desk) -> None:
    """The review period to 6 November 2026: 14 days later is the day of entry."""
    company = desk.company(incorporationDate="2020-11-07")
    found = desk.one(f"legalEntityId={company}&kind=confirmation_statement")
    assert (found["dueDate"], found["undecided"], found["status"]) == ("2026-11-20", False, "open")


def test_what_an_older_version_called_overdue_is_undecided_with_the_next_refresh(desk: Desk) -> None:
    company = desk.company(incorporationDate="2020-05-10")
    row = desk.one(f"legalEntityId={company}&kind=confirmation_statement")
    desk.store.write(
        lambda tx: tx.run("UPDATE obligations SET undecided = 0 WHERE org_id = :org_id AND id = :id", id=row["id"]),
        desk.org_id,
    )
    assert desk.one(f"legalEntityId={company}&kind=confirmation_statement")["status"] == "overdue"
    desk.refresh(company)
    assert desk.one(f"legalEntityId={company}&kind=confirmation_statement")["undecided"]
