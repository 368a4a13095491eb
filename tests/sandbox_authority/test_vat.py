"""The sandbox authority's VAT interface: every scenario, every refusal."""

from decimal import Decimal

import pytest

from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.vat import (
    LIABILITIES,
    OBLIGATION_SCENARIOS,
    OBLIGATION_YEARS,
    PAYMENTS,
    RETURN_SCENARIOS,
    SUBMITTED_KEYS,
)
from tests.sandbox_authority.asking import VRN, accepted, answer, document, refused
from tests.sandbox_authority.schemas import VAT_LIABILITIES, VAT_OBLIGATIONS, VAT_PAYMENTS, VAT_RETURN

OBLIGATIONS_AT = "/organisations/vat/{vrn}/obligations"
LIABILITIES_AT = "/organisations/vat/{vrn}/liabilities"
PAYMENTS_AT = "/organisations/vat/{vrn}/payments"
RETURN_AT = "/organisations/vat/{vrn}/returns/{periodKey}"
SPANS = {  # the dates for which the authority documents each scenario
    "": ("01-02", "02-02"),
    "LIABILITIES": ("04-05", "12-21"),
    "PAYMENTS": ("02-27", "12-21"),
}


def obligations(scenario: str | None, query: str = "from=2017-01-01&to=2017-12-31") -> Response:
    return answer(OBLIGATIONS_AT, f"vrn={VRN}&{query}", scenario)


# -- obligations


def test_the_documented_scenarios_are_all_there() -> None:
    quarterly = {f"QUARTERLY_{n}_MET" for n in ("NONE", "ONE", "TWO", "THREE", "FOUR")}
    monthly = {f"MONTHLY_{n}_MET" for n in ("NONE", "ONE", "TWO", "THREE")}
    open_ = {f"MONTHLY_OBS_{n:02d}_OPEN" for n in range(1, 13)} | {f"QUARTERLY_OBS_{n:02d}_OPEN" for n in range(1, 5)}
    whole = {"MONTHLY_OBS_12_FULFILLED", "QUARTERLY_OBS_04_FULFILLED", "MULTIPLE_OPEN_MONTHLY"}
    rest = {"MULTIPLE_OPEN_QUARTERLY", "OBS_SPANS_MULTIPLE_YEARS", "INSOLVENT_TRADER", "NOT_FOUND"}
    assert quarterly | monthly | open_ | whole | rest == OBLIGATION_SCENARIOS


@pytest.mark.parametrize("scenario", [None, *sorted(OBLIGATION_SCENARIOS - {"INSOLVENT_TRADER", "NOT_FOUND"})])
def test_obligations_of_every_scenario(scenario: str | None) -> None:
    rows = accepted(obligations(scenario), VAT_OBLIGATIONS)["obligations"]
    assert rows == sorted(rows, key=lambda row: row["start"])
    assert all(("received" in row) == (row["status"] == "F") for row in rows)
    assert len({row["periodKey"] for row in rows}) == len(rows)
    if scenario in OBLIGATION_YEARS:
        plan = OBLIGATION_YEARS[scenario]
        assert [row["status"] for row in rows] == ["F"] * plan.met + ["O"] * plan.open_


def test_without_a_scenario_the_quarters_are_those_published() -> None:
    assert document(obligations(None)) == {
        "obligations": [
            {
                "start": "2017-01-01",
                "end": "2017-03-31",
                "due": "2017-05-07",
                "status": "F",
                "periodKey": "18A1",
                "received": "2017-05-06",
            },
            {"start": "2017-04-01", "end": "2017-06-30", "due": "2017-08-07", "status": "O", "periodKey": "18A2"},
        ]
    }


def test_months_are_due_a_month_and_seven_days_after_their_end() -> None:
    rows = document(obligations("MONTHLY_OBS_12_FULFILLED"))["obligations"]
    assert [(row["end"], row["due"]) for row in (rows[0], rows[1], rows[10], rows[11])] == [
        ("2018-01-31", "2018-03-07"),
        ("2018-02-28", "2018-04-07"),
        ("2018-11-30", "2019-01-07"),
        ("2018-12-31", "2019-02-07"),
    ]


def test_status_selects_and_open_ones_need_no_dates() -> None:
    assert [row["periodKey"] for row in document(obligations(None, "status=O"))["obligations"]] == ["18A2"]
    fulfilled = document(obligations(None, "status=F&from=2017-01-01&to=2017-12-31"))
    assert [row["periodKey"] for row in fulfilled["obligations"]] == ["18A1"]
    assert refused(obligations("QUARTERLY_FOUR_MET", "status=O")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "INVALID_DATE_FROM"),
        ("status=F", "INVALID_DATE_FROM"),
        ("to=2017-12-31", "INVALID_DATE_FROM"),
        ("from=2017-02-30&to=2017-12-31", "INVALID_DATE_FROM"),
        ("from=2017-W01-1&to=2017-12-31", "INVALID_DATE_FROM"),
        ("from=20170101&to=2017-12-31", "INVALID_DATE_FROM"),
        ("from=2017-01-01", "INVALID_DATE_TO"),
        ("from=2017-01-01&to=31.12.2017", "INVALID_DATE_TO"),
        ("from=2017-01-01&to=2018-01-03", "INVALID_DATE_RANGE"),
        ("from=2017-12-31&to=2017-01-01", "INVALID_DATE_RANGE"),
        ("from=9998-12-31&to=9999-12-31&status=X", "INVALID_STATUS"),
        ("from=2017-01-01&to=2017-12-31&status=o", "INVALID_STATUS"),
    ],
)
def test_obligations_refuse_a_wrong_query(query: str, code: str) -> None:
    assert refused(obligations(None, query)) == (400, code)


def test_a_range_of_366_days_and_the_last_year_are_taken() -> None:
    assert obligations(None, "from=2017-01-01&to=2018-01-02").status == 200
    assert obligations(None, "from=9999-01-01&to=9999-12-31").status == 200


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("INSOLVENT_TRADER", (403, "RULE_INSOLVENT_TRADER")),
        ("NOT_FOUND", (404, "NOT_FOUND")),
        ("QUARTERLY_FIVE_MET", (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")),
        ("SINGLE_LIABILITY", (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")),
    ],
)
def test_obligations_that_are_refused(scenario: str, expected: tuple[int, str]) -> None:
    assert refused(obligations(scenario)) == expected


@pytest.mark.parametrize("vrn", ["12345678", "1234567890", "GB123456789", "12345678a", "%D9%A1" * 9])
@pytest.mark.parametrize("template", [OBLIGATIONS_AT, LIABILITIES_AT, PAYMENTS_AT, RETURN_AT])
def test_a_registration_number_has_nine_digits(template: str, vrn: str) -> None:
    query = f"vrn={vrn}&from=2017-01-01&to=2017-12-31&periodKey=18A1"
    assert refused(answer(template, query)) == (400, "VRN_INVALID")


# -- liabilities and payments


def span(scenario: str) -> str:
    year = 2018 if scenario.endswith("2018_19") else 2017
    words = scenario.removesuffix("_2018_19").split("_")
    first, last = SPANS[words[1] if words[0] == "MULTIPLE" else ""]
    return f"vrn={VRN}&from={year}-{first}&to={year}-{last}"


@pytest.mark.parametrize("scenario", LIABILITIES)
def test_liabilities_of_every_scenario(scenario: str) -> None:
    rows = accepted(answer(LIABILITIES_AT, span(scenario), scenario), VAT_LIABILITIES)["liabilities"]
    assert len(rows) == (1 if scenario.startswith("SINGLE") else 3)


@pytest.mark.parametrize("scenario", PAYMENTS)
def test_payments_of_every_scenario(scenario: str) -> None:
    rows = accepted(answer(PAYMENTS_AT, span(scenario), scenario), VAT_PAYMENTS)["payments"]
    assert len(rows) == (1 if scenario.startswith("SINGLE") else 3)


def test_amounts_keep_their_places() -> None:
    given = answer(PAYMENTS_AT, span("MULTIPLE_PAYMENTS"), "MULTIPLE_PAYMENTS")
    assert b'"amount":1000.10' in given.body


def test_only_what_falls_within_the_dates_is_listed() -> None:
    narrow = f"vrn={VRN}&from=2017-04-06&to=2017-10-04"
    rows = document(answer(LIABILITIES_AT, narrow, "MULTIPLE_LIABILITIES"))["liabilities"]
    assert [row["taxPeriod"]["to"] for row in rows] == ["2017-07-04", "2017-10-04"]
    rows = document(answer(PAYMENTS_AT, narrow, "MULTIPLE_PAYMENTS"))["payments"]
    assert [row["received"] for row in rows] == ["2017-05-02"]
    elsewhere = f"vrn={VRN}&from=2019-01-01&to=2019-06-01"
    assert refused(answer(PAYMENTS_AT, elsewhere, "MULTIPLE_PAYMENTS")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("template", [LIABILITIES_AT, PAYMENTS_AT])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("to=2017-12-31", (400, "DATE_FROM_INVALID")),
        ("from=2016-04-05&to=2016-12-31", (400, "DATE_FROM_INVALID")),
        ("from=yesterday&to=2017-12-31", (400, "DATE_FROM_INVALID")),
        ("from=2017-01-01", (400, "DATE_TO_INVALID")),
        ("from=2017-01-01&to=2017-13-01", (400, "DATE_TO_INVALID")),
        ("from=2026-01-01&to=2026-11-21", (400, "DATE_TO_INVALID")),  # tomorrow
        ("from=2017-01-01&to=2017-01-01", (400, "DATE_RANGE_INVALID")),
        ("from=2017-01-01&to=2018-01-02", (400, "DATE_RANGE_INVALID")),
        ("from=2026-01-01&to=2026-11-20", (404, "NOT_FOUND")),  # today; without a scenario there is nothing
    ],
)
def test_liabilities_and_payments_refuse_in_the_legacy_shape(
    template: str, query: str, expected: tuple[int, str]
) -> None:
    given = answer(template, f"vrn={VRN}&{query}")
    assert refused(given) == expected
    assert ("statusCode" in document(given)) == (expected[0] == 400)


@pytest.mark.parametrize("template", [LIABILITIES_AT, PAYMENTS_AT])
def test_liabilities_and_payments_of_an_insolvent_trader(template: str) -> None:
    query = f"vrn={VRN}&from=2017-01-02&to=2017-02-02"
    assert refused(answer(template, query, "INSOLVENT_TRADER")) == (403, "RULE_INSOLVENT_TRADER")
    unknown = answer(template, query, "QUARTERLY_ONE_MET")
    assert refused(unknown) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


# -- a return


@pytest.mark.parametrize("key", sorted(SUBMITTED_KEYS))
def test_returns_add_up(key: str) -> None:
    box = accepted(answer(RETURN_AT, f"vrn={VRN}&periodKey={key.replace('#', '%23')}"), VAT_RETURN)
    assert box["periodKey"] == key
    assert box["vatDueSales"] + box["vatDueAcquisitions"] == box["totalVatDue"]
    assert abs(box["totalVatDue"] - box["vatReclaimedCurrPeriod"]) == box["netVatDue"]


def test_fulfilled_obligations_have_a_return_and_open_ones_have_none() -> None:
    for scenario in ("QUARTERLY_FOUR_MET", "MONTHLY_OBS_12_FULFILLED"):
        for row in document(obligations(scenario))["obligations"]:
            assert answer(RETURN_AT, f"vrn={VRN}&periodKey={row['periodKey']}").status == 200
    assert refused(answer(RETURN_AT, f"vrn={VRN}&periodKey=18B1")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("key", ["18A", "18A12", "18a1", "18A%25", "%23%23%23", "%00001", "%FF%FF%FF%FF"])
def test_a_period_key_has_four_characters(key: str) -> None:
    assert refused(answer(RETURN_AT, f"vrn={VRN}&periodKey={key}")) == (400, "PERIOD_KEY_INVALID")


def test_returns_that_are_refused() -> None:
    query = f"vrn={VRN}&periodKey=18A1"
    found = {scenario: refused(answer(RETURN_AT, query, scenario)) for scenario in RETURN_SCENARIOS}
    assert found == {
        "DATE_RANGE_TOO_LARGE": (403, "DATE_RANGE_TOO_LARGE"),
        "INSOLVENT_TRADER": (403, "RULE_INSOLVENT_TRADER"),
    }
    unknown = answer(RETURN_AT, query, "NOT_FOUND")
    assert refused(unknown) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


def test_figures_differ_between_traders_and_periods() -> None:
    asked = [(VRN, "18A1"), (VRN, "18A2"), ("987654321", "18A1")]
    sales: set[Decimal] = {
        document(answer(RETURN_AT, f"vrn={vrn}&periodKey={key}"))["vatDueSales"] for vrn, key in asked
    }
    assert len(sales) == len(asked)
