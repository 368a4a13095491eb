"""The sandbox authority's Income Tax status, obligations and account: every scenario, every refusal."""

import pytest

from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.itsa import DECLARATION_SCENARIOS, OBLIGATION_SCENARIOS, STATUS_SCENARIOS
from tests.sandbox_authority.asking import NINO, accepted, answer, codes, document, refused
from tests.sandbox_authority.schemas import BALANCE, FINAL_DECLARATIONS, ITSA_OBLIGATIONS, ITSA_STATUSES

STATUS_AT = "/individuals/person/itsa-status/{nino}/{taxYear}"
OBLIGATIONS_AT = "/obligations/details/{nino}/income-and-expenditure"
DECLARATIONS_AT = "/obligations/details/{nino}/crystallisation"
BALANCE_AT = "/accounts/self-assessment/{nino}/balance-and-transactions"
LETTERS = {"self-employment": "B", "uk-property": "P", "foreign-property": "F"}
UNKNOWN = (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")
WRONG_NINOS = ["AA12345A", "BG123456A", "DA123456A", "AA123456E", "aa123456a", "QQ123456C", "AA 123456 A"]


def status(query: str, scenario: str | None = None) -> Response:
    return answer(STATUS_AT, f"nino={NINO}&{query}", scenario)


def obligations(query: str = "", scenario: str | None = None) -> Response:
    return answer(OBLIGATIONS_AT, f"nino={NINO}&{query}", scenario)


def declarations(query: str = "", scenario: str | None = None) -> Response:
    return answer(DECLARATIONS_AT, f"nino={NINO}&{query}", scenario)


def test_the_documented_scenarios_are_all_there() -> None:
    assert {"NOT_FOUND", "NOT_ENROLLED", "STATEFUL"} == STATUS_SCENARIOS
    several = {"OPEN", "FULFILLED", "INSOLVENT_TRADER", "NOT_FOUND", "NO_OBLIGATIONS_FOUND", "DYNAMIC", "CUMULATIVE"}
    assert several == OBLIGATION_SCENARIOS
    assert {"MULTIPLE", "INSOLVENT_TRADER", "NOT_FOUND", "DYNAMIC"} == DECLARATION_SCENARIOS


# -- status


@pytest.mark.parametrize("scenario", [None, "STATEFUL"])
@pytest.mark.parametrize("year", ["2019-20", "2025-26", "2026-27", "2099-00"])
def test_status_of_a_year(scenario: str | None, year: str) -> None:
    statuses = accepted(status(f"taxYear={year}", scenario), ITSA_STATUSES)["itsaStatuses"]
    assert [(one["taxYear"], len(one["itsaStatusDetails"])) for one in statuses] == [(year, 1)]


def test_status_of_later_years_and_its_history() -> None:
    query = "taxYear=2024-25&futureYears=true&history=true"
    statuses = accepted(status(query), ITSA_STATUSES)["itsaStatuses"]
    assert [one["taxYear"] for one in statuses] == ["2024-25", "2025-26", "2026-27", "2027-28"]
    assert [detail["status"] for detail in statuses[2]["itsaStatusDetails"]] == ["No Status", "MTD Mandated"]
    later = accepted(status("taxYear=2040-41&futureYears=true"), ITSA_STATUSES)["itsaStatuses"]
    assert [one["taxYear"] for one in later] == ["2040-41"]


def test_a_stateful_status_follows_from_the_person() -> None:
    one = status("taxYear=2026-27", "STATEFUL")
    assert one.body == status("taxYear=2026-27", "STATEFUL").body
    people = [f"AA{number:06d}A" for number in range(20)]
    asked = [answer(STATUS_AT, f"nino={nino}&taxYear=2026-27", "STATEFUL").body for nino in people]
    assert len(set(asked)) > 1


@pytest.mark.parametrize(
    ("query", "scenario", "expected"),
    [
        ("taxYear=2026", None, (400, "FORMAT_TAX_YEAR")),
        ("taxYear=1999-00", None, (400, "FORMAT_TAX_YEAR")),
        ("taxYear=2026-28", None, (400, "RULE_TAX_YEAR_RANGE_INVALID")),
        ("taxYear=2026-27&futureYears=yes", None, (400, "FORMAT_FUTURE_YEARS")),
        ("taxYear=2026-27&history=1", None, (400, "FORMAT_HISTORY")),
        ("taxYear=2026-27", "NOT_FOUND", (404, "MATCHING_RESOURCE_NOT_FOUND")),
        ("taxYear=2026-27", "NOT_ENROLLED", (403, "CLIENT_NOT_MTD_ENROLLED")),
        ("taxYear=2026-27", "OPEN", UNKNOWN),
    ],
)
def test_status_that_is_refused(query: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(status(query, scenario)) == expected


@pytest.mark.parametrize("nino", WRONG_NINOS)
@pytest.mark.parametrize(
    "template",
    [
        STATUS_AT,
        OBLIGATIONS_AT,
        DECLARATIONS_AT,
        BALANCE_AT,
        "/individuals/calculations/{nino}/self-assessment/{taxYear}",
        "/individuals/calculations/{nino}/self-assessment/{taxYear}/{calculationId}",
        "/individuals/business/details/{nino}/list",
        "/individuals/business/details/{nino}/XBIS12345678901",
    ],
)
def test_a_national_insurance_number_must_be_one(template: str, nino: str) -> None:
    query = f"nino={nino}&taxYear=2026-27&calculationId=12345678"
    assert refused(answer(template, query)) == (400, "FORMAT_NINO")


def test_several_errors_are_told_together() -> None:
    given = answer(STATUS_AT, "nino=x&taxYear=y&history=z")
    assert refused(given) == (400, "INVALID_REQUEST")
    assert codes(given) == ["FORMAT_NINO", "FORMAT_TAX_YEAR", "FORMAT_HISTORY"]


# -- obligations


@pytest.mark.parametrize("scenario", [None, "OPEN", "FULFILLED", "DYNAMIC", "CUMULATIVE"])
@pytest.mark.parametrize("kind", [None, *LETTERS])
def test_obligations_of_every_scenario(scenario: str | None, kind: str | None) -> None:
    listed = accepted(obligations("" if kind is None else f"typeOfBusiness={kind}", scenario), ITSA_OBLIGATIONS)
    assert [one["typeOfBusiness"] for one in listed["obligations"]] == (list(LETTERS) if kind is None else [kind])
    rows = listed["obligations"][0]["obligationDetails"]
    assert all(("receivedDate" in row) == (row["status"] == "fulfilled") for row in rows)
    expected = {
        None: ["fulfilled", "fulfilled", "open", "open"],  # by 20 November
        "OPEN": ["open"] * 4,
        "FULFILLED": ["fulfilled"] * 4,
        "DYNAMIC": ["open"],
        "CUMULATIVE": ["fulfilled"] * 3 + ["open"],
    }
    assert [row["status"] for row in rows] == expected[scenario]


@pytest.mark.parametrize(("scenario", "number"), [("OPEN", 3), ("FULFILLED", 2), ("DYNAMIC", 1)])
@pytest.mark.parametrize(("kind", "letter"), LETTERS.items())
def test_scenarios_know_the_documented_businesses(scenario: str, number: int, kind: str, letter: str) -> None:
    business = f"X{letter}IS1234567890{number}"
    listed = accepted(obligations(f"typeOfBusiness={kind}&businessId={business}", scenario), ITSA_OBLIGATIONS)
    assert [one["businessId"] for one in listed["obligations"]] == [business]
    other = obligations(f"typeOfBusiness={kind}&businessId=X{letter}IS12345678909", scenario)
    assert refused(other) == (404, "MATCHING_RESOURCE_NOT_FOUND")


def test_without_a_scenario_any_business_has_obligations() -> None:
    listed = document(obligations("typeOfBusiness=uk-property&businessId=XAIS12345678910"))["obligations"]
    assert [one["businessId"] for one in listed] == ["XAIS12345678910"]


@pytest.mark.parametrize(
    ("year", "starts", "ends", "dues"),
    [
        (
            2024,
            ["2024-04-06", "2024-07-06", "2024-10-06", "2025-01-06"],
            ["2024-07-05", "2024-10-05", "2025-01-05", "2025-04-05"],
            ["2024-08-05", "2024-11-05", "2025-02-05", "2025-05-05"],
        ),
        (
            2025,
            ["2025-04-06"] * 4,
            ["2025-07-05", "2025-10-05", "2026-01-05", "2026-04-05"],
            ["2025-08-05", "2025-11-05", "2026-02-05", "2026-05-05"],
        ),
        (
            2026,
            ["2026-04-06"] * 4,
            ["2026-07-05", "2026-10-05", "2027-01-05", "2027-04-05"],
            ["2026-08-07", "2026-11-07", "2027-02-07", "2027-05-07"],
        ),
    ],
)
def test_quarters_are_those_of_the_tax_calendar(year: int, starts: list[str], ends: list[str], dues: list[str]) -> None:
    query = f"typeOfBusiness=self-employment&fromDate={year}-04-06&toDate={year + 1}-04-05"
    rows = document(obligations(query))["obligations"][0]["obligationDetails"]
    assert [row["periodStartDate"] for row in rows] == starts
    assert [row["periodEndDate"] for row in rows] == ends
    assert [row["dueDate"] for row in rows] == dues


def test_dates_select_across_tax_years_and_cumulative_goes_for_every_year() -> None:
    query = "typeOfBusiness=self-employment&fromDate=2024-12-01&toDate=2025-11-30"
    rows = document(obligations(query))["obligations"][0]["obligationDetails"]
    assert [row["periodEndDate"] for row in rows] == ["2025-01-05", "2025-04-05", "2025-07-05", "2025-10-05"]
    rows = document(obligations(query, "CUMULATIVE"))["obligations"][0]["obligationDetails"]
    assert [row["periodStartDate"] for row in rows] == ["2024-04-06", "2024-04-06", "2025-04-06", "2025-04-06"]


def test_a_dynamic_obligation_has_the_dates_and_the_status_asked_for() -> None:
    query = "typeOfBusiness=self-employment&fromDate=2023-05-01&toDate=2023-07-31&status=fulfilled"
    assert document(obligations(query, "DYNAMIC"))["obligations"][0]["obligationDetails"] == [
        {
            "periodStartDate": "2023-05-01",
            "periodEndDate": "2023-07-31",
            "dueDate": "2023-08-31",
            "status": "fulfilled",
            "receivedDate": "2023-07-31",
        }
    ]


def test_status_selects_obligations() -> None:
    rows = document(obligations("typeOfBusiness=uk-property&status=open"))["obligations"][0]["obligationDetails"]
    assert [row["status"] for row in rows] == ["open", "open"]
    assert refused(obligations("status=open", "FULFILLED")) == (404, "NO_OBLIGATIONS_FOUND")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("typeOfBusiness=selfemployment", "FORMAT_TYPE_OF_BUSINESS"),
        ("typeOfBusiness=uk-property&businessId=XAIS1234567890", "FORMAT_BUSINESS_ID"),
        ("businessId=XAIS12345678901", "MISSING_TYPE_OF_BUSINESS"),
        ("toDate=2026-12-31", "MISSING_FROM_DATE"),
        ("fromDate=2026-04-06", "MISSING_TO_DATE"),
        ("fromDate=2026-4-6&toDate=2026-12-31", "FORMAT_FROM_DATE"),
        ("fromDate=2026-04-06&toDate=2026-12-32", "FORMAT_TO_DATE"),
        ("fromDate=9999-04-06&toDate=9999-12-31", "FORMAT_TO_DATE"),
        ("fromDate=2018-04-05&toDate=2018-12-31", "RULE_FROM_DATE_NOT_SUPPORTED"),
        ("fromDate=2026-12-31&toDate=2026-04-06", "RANGE_TO_DATE_BEFORE_FROM_DATE"),
        ("fromDate=2026-04-06&toDate=2026-04-06", "RULE_DATE_RANGE_INVALID"),
        ("fromDate=2026-04-06&toDate=2027-04-08", "RULE_DATE_RANGE_INVALID"),
        ("status=Open", "FORMAT_STATUS"),
    ],
)
def test_obligations_refuse_a_wrong_query(query: str, code: str) -> None:
    assert refused(obligations(query)) == (400, code)


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("INSOLVENT_TRADER", (400, "RULE_INSOLVENT_TRADER")),
        ("NOT_FOUND", (404, "MATCHING_RESOURCE_NOT_FOUND")),
        ("NO_OBLIGATIONS_FOUND", (404, "NO_OBLIGATIONS_FOUND")),
        ("QUARTERLY_ONE_MET", UNKNOWN),
    ],
)
def test_obligations_that_are_refused(scenario: str, expected: tuple[int, str]) -> None:
    assert refused(obligations("", scenario)) == expected


# -- final declarations


@pytest.mark.parametrize("scenario", [None, "MULTIPLE", "DYNAMIC"])
@pytest.mark.parametrize("query", ["", "taxYear=2025-26"])
def test_declarations_of_every_scenario(scenario: str | None, query: str) -> None:
    rows = accepted(declarations(query, scenario), FINAL_DECLARATIONS)["obligations"]
    assert len(rows) == (5 if scenario == "MULTIPLE" or not query else 1)
    if scenario == "DYNAMIC":
        assert {row["status"] for row in rows} == {"fulfilled"}


def test_a_declaration_is_due_on_the_31_january_after_the_year() -> None:
    assert document(declarations("taxYear=2026-27"))["obligations"] == [
        {
            "periodStartDate": "2026-04-06",
            "periodEndDate": "2027-04-05",
            "dueDate": "2028-01-31",
            "status": "open",
        }
    ]


def test_without_a_year_those_due_before_today_are_fulfilled() -> None:
    rows = document(declarations())["obligations"]
    assert [(row["periodStartDate"][:4], row["status"]) for row in rows] == [
        ("2022", "fulfilled"),
        ("2023", "fulfilled"),
        ("2024", "fulfilled"),
        ("2025", "open"),
        ("2026", "open"),
    ]
    assert len(document(declarations("status=open"))["obligations"]) == 2


@pytest.mark.parametrize(
    ("query", "scenario", "expected"),
    [
        ("taxYear=2016-17", None, (400, "RULE_TAX_YEAR_NOT_SUPPORTED")),
        ("taxYear=2026-28", None, (400, "RULE_TAX_YEAR_RANGE_INVALID")),
        ("taxYear=26-27", None, (400, "FORMAT_TAX_YEAR")),
        ("status=O", None, (400, "FORMAT_STATUS")),
        ("taxYear=2026-27&status=fulfilled", None, (404, "NO_OBLIGATIONS_FOUND")),
        ("", "INSOLVENT_TRADER", (400, "RULE_INSOLVENT_TRADER")),
        ("", "NOT_FOUND", (404, "MATCHING_RESOURCE_NOT_FOUND")),
        ("", "CUMULATIVE", UNKNOWN),
    ],
)
def test_declarations_that_are_refused(query: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(declarations(query, scenario)) == expected


# -- account


def balance(query: str = "", scenario: str | None = None) -> Response:
    return answer(BALANCE_AT, f"nino={NINO}&{query}", scenario)


def test_a_balance_adds_up() -> None:
    details = accepted(balance("onlyOpenItems=true"), BALANCE)["balanceDetails"]
    parts = ("payableAmount", "pendingChargeDueAmount", "overdueAmount")
    assert sum(details[part] for part in parts) == details["totalBalance"]


@pytest.mark.parametrize(
    ("query", "scenario", "expected"),
    [
        ("toDate=2026-12-31", None, (400, "MISSING_FROM_DATE")),
        ("fromDate=2026-04-06", None, (400, "MISSING_TO_DATE")),
        ("fromDate=x&toDate=2026-12-31", None, (400, "FORMAT_FROM_DATE")),
        ("fromDate=2026-04-06&toDate=x", None, (400, "FORMAT_TO_DATE")),
        ("fromDate=2026-12-31&toDate=2026-04-06", None, (400, "RANGE_TO_DATE_BEFORE_FROM_DATE")),
        ("fromDate=2024-04-06&toDate=2026-04-09", None, (400, "RULE_INVALID_DATE_RANGE")),
        ("", "NOT_FOUND", (404, "MATCHING_RESOURCE_NOT_FOUND")),
        ("", "OPEN", UNKNOWN),
    ],
)
def test_a_balance_that_is_refused(query: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(balance(query, scenario)) == expected
