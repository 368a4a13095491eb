"""The sandbox authority's VAT interface: every scenario, every refusal, and the return that is submitted."""

import json
from decimal import Decimal
from typing import Any

import pytest

from gatewayd.tax.sandbox import SandboxAnswer
from gatewayd.tax.sandbox_submissions import SUBMISSION_SCENARIOS
from gatewayd.tax.sandbox_vat import (
    LIABILITIES,
    OBLIGATION_SCENARIOS,
    OBLIGATION_YEARS,
    PAYMENTS,
    RETURN_SCENARIOS,
    SUBMITTED_KEYS,
)
from tests.tax.asking import VRN, accepted, answer, codes, document, refused, versioned
from tests.tax.authority_schemas import VAT_LIABILITIES, VAT_OBLIGATIONS, VAT_PAYMENTS, VAT_RECEIPT, VAT_RETURN

OBLIGATIONS = "/tax/vat/getObligations"
SPANS = {  # the dates for which the authority documents each scenario
    "": ("01-02", "02-02"),
    "LIABILITIES": ("04-05", "12-21"),
    "PAYMENTS": ("02-27", "12-21"),
}


def obligations(scenario: str | None, query: str = "from=2017-01-01&to=2017-12-31") -> SandboxAnswer:
    return answer(OBLIGATIONS, f"vrn={VRN}&{query}", scenario)


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


@pytest.mark.parametrize("vrn", ["12345678", "1234567890", "GB123456789", "12345678a", "%D9%A1" * 9, ""])
@pytest.mark.parametrize("operation", ["getObligations", "getLiabilities", "getPayments", "getVatReturn"])
def test_a_registration_number_has_nine_digits(operation: str, vrn: str) -> None:
    query = f"vrn={vrn}&from=2017-01-01&to=2017-12-31&periodKey=18A1"
    assert refused(answer(f"/tax/vat/{operation}", query)) == (400, "VRN_INVALID")


# -- liabilities and payments


def span(scenario: str) -> str:
    year = 2018 if scenario.endswith("2018_19") else 2017
    words = scenario.removesuffix("_2018_19").split("_")
    first, last = SPANS[words[1] if words[0] == "MULTIPLE" else ""]
    return f"vrn={VRN}&from={year}-{first}&to={year}-{last}"


@pytest.mark.parametrize("scenario", LIABILITIES)
def test_liabilities_of_every_scenario(scenario: str) -> None:
    rows = accepted(answer("/tax/vat/getLiabilities", span(scenario), scenario), VAT_LIABILITIES)["liabilities"]
    assert len(rows) == (1 if scenario.startswith("SINGLE") else 3)


@pytest.mark.parametrize("scenario", PAYMENTS)
def test_payments_of_every_scenario(scenario: str) -> None:
    rows = accepted(answer("/tax/vat/getPayments", span(scenario), scenario), VAT_PAYMENTS)["payments"]
    assert len(rows) == (1 if scenario.startswith("SINGLE") else 3)


def test_amounts_keep_their_places() -> None:
    given = answer("/tax/vat/getPayments", span("MULTIPLE_PAYMENTS"), "MULTIPLE_PAYMENTS")
    assert b'"amount":1000.10' in given.body


def test_only_what_falls_within_the_dates_is_listed() -> None:
    narrow = f"vrn={VRN}&from=2017-04-06&to=2017-10-04"
    rows = document(answer("/tax/vat/getLiabilities", narrow, "MULTIPLE_LIABILITIES"))["liabilities"]
    assert [row["taxPeriod"]["to"] for row in rows] == ["2017-07-04", "2017-10-04"]
    rows = document(answer("/tax/vat/getPayments", narrow, "MULTIPLE_PAYMENTS"))["payments"]
    assert [row["received"] for row in rows] == ["2017-05-02"]
    elsewhere = f"vrn={VRN}&from=2019-01-01&to=2019-06-01"
    assert refused(answer("/tax/vat/getPayments", elsewhere, "MULTIPLE_PAYMENTS")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("operation", ["getLiabilities", "getPayments"])
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
    operation: str, query: str, expected: tuple[int, str]
) -> None:
    given = answer(f"/tax/vat/{operation}", f"vrn={VRN}&{query}")
    assert refused(given) == expected
    assert ("statusCode" in document(given)) == (expected[0] == 400)


@pytest.mark.parametrize("operation", ["getLiabilities", "getPayments"])
def test_liabilities_and_payments_of_an_insolvent_trader(operation: str) -> None:
    query = f"vrn={VRN}&from=2017-01-02&to=2017-02-02"
    assert refused(answer(f"/tax/vat/{operation}", query, "INSOLVENT_TRADER")) == (403, "RULE_INSOLVENT_TRADER")
    unknown = answer(f"/tax/vat/{operation}", query, "QUARTERLY_ONE_MET")
    assert refused(unknown) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


# -- a return


@pytest.mark.parametrize("key", sorted(SUBMITTED_KEYS))
def test_returns_add_up(key: str) -> None:
    box = accepted(answer("/tax/vat/getVatReturn", f"vrn={VRN}&periodKey={key.replace('#', '%23')}"), VAT_RETURN)
    assert box["periodKey"] == key
    assert box["vatDueSales"] + box["vatDueAcquisitions"] == box["totalVatDue"]
    assert abs(box["totalVatDue"] - box["vatReclaimedCurrPeriod"]) == box["netVatDue"]


def test_fulfilled_obligations_have_a_return_and_open_ones_have_none() -> None:
    for scenario in ("QUARTERLY_FOUR_MET", "MONTHLY_OBS_12_FULFILLED"):
        for row in document(obligations(scenario))["obligations"]:
            assert answer("/tax/vat/getVatReturn", f"vrn={VRN}&periodKey={row['periodKey']}").status == 200
    assert refused(answer("/tax/vat/getVatReturn", f"vrn={VRN}&periodKey=18B1")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("key", ["", "18A", "18A12", "18a1", "18A%25", "%23%23%23", "%00001", "%FF%FF%FF%FF"])
def test_a_period_key_has_four_characters(key: str) -> None:
    assert refused(answer("/tax/vat/getVatReturn", f"vrn={VRN}&periodKey={key}")) == (400, "PERIOD_KEY_INVALID")


def test_returns_that_are_refused() -> None:
    query = f"vrn={VRN}&periodKey=18A1"
    found = {scenario: refused(answer("/tax/vat/getVatReturn", query, scenario)) for scenario in RETURN_SCENARIOS}
    assert found == {
        "DATE_RANGE_TOO_LARGE": (403, "DATE_RANGE_TOO_LARGE"),
        "INSOLVENT_TRADER": (403, "RULE_INSOLVENT_TRADER"),
    }
    unknown = answer("/tax/vat/getVatReturn", query, "NOT_FOUND")
    assert refused(unknown) == (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


# -- submission

RETURN: dict[str, Any] = {
    "periodKey": "18A2",
    "vatDueSales": 105.50,
    "vatDueAcquisitions": -100.45,
    "totalVatDue": 5.05,
    "vatReclaimedCurrPeriod": 105.15,
    "netVatDue": 100.10,
    "totalValueSalesExVAT": 300,
    "totalValuePurchasesExVAT": 300,
    "totalValueGoodsSuppliedExVAT": 3000,
    "totalAcquisitionsExVAT": 3000.00,
    "finalised": True,
}
OWING = {"vatDueAcquisitions": 0, "totalVatDue": 105.50, "vatReclaimedCurrPeriod": 5.50, "netVatDue": 100}


def submit(body: bytes, scenario: str | None = None, vrn: str = VRN) -> SandboxAnswer:
    path = f"/organisations/vat/{vrn}/returns"
    return answer(path, method="POST", headers=versioned(1, scenario), body=body)


def submitted(changes: dict[str, Any] | None = None, scenario: str | None = None) -> SandboxAnswer:
    return submit(json.dumps({**RETURN, **(changes or {})}).encode(), scenario)


def test_a_return_is_acknowledged_alike_whenever_and_whoever_is_asked() -> None:
    first, second = submitted(), submitted()
    receipt = accepted(first, VAT_RECEIPT, status=201)
    assert (first.body, first.headers) == (second.body, second.headers)
    assert receipt["processingDate"] == first.headers["Receipt-Timestamp"] == "2026-11-20T09:30:00.125Z"
    assert len(first.headers["Receipt-ID"]) == 36
    other = submitted({"periodKey": "#001"})
    assert document(other)["formBundleNumber"] != receipt["formBundleNumber"]
    assert other.headers["Receipt-ID"] != first.headers["Receipt-ID"]


def test_what_is_owed_has_a_charge_reference_and_what_is_reclaimed_is_paid_to_the_bank() -> None:
    owing = accepted(submitted(OWING), VAT_RECEIPT, status=201)
    assert (owing["paymentIndicator"], len(owing["chargeRefNumber"])) == ("DD", 16)
    reclaimed = accepted(submitted(), VAT_RECEIPT, status=201)
    assert reclaimed["paymentIndicator"] == "BANK"
    assert "chargeRefNumber" not in reclaimed
    even = {**OWING, "vatReclaimedCurrPeriod": 105.50, "netVatDue": 0}
    assert accepted(submitted(even), VAT_RECEIPT, status=201).keys() == {"processingDate", "formBundleNumber"}


@pytest.mark.parametrize("field", RETURN)
def test_each_field_of_a_return_is_needed(field: str) -> None:
    body = json.dumps({key: value for key, value in RETURN.items() if key != field}).encode()
    assert refused(submit(body)) == (400, "INVALID_REQUEST")
    assert document(submit(body))["errors"] == [
        {"code": "MANDATORY_FIELD_MISSING", "message": "a mandatory field is missing", "path": f"/{field}"}
    ]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"periodKey": 1}, "INVALID_STRING_VALUE"),
        ({"periodKey": "18a2"}, "PERIOD_KEY_INVALID"),
        ({"periodKey": "\u0661\u0662\u0663\u0664"}, "PERIOD_KEY_INVALID"),
        ({"vatDueSales": "105.50"}, "INVALID_NUMERIC_VALUE"),
        ({"vatDueSales": None}, "INVALID_NUMERIC_VALUE"),
        ({"vatDueSales": True}, "INVALID_NUMERIC_VALUE"),
        ({"vatDueSales": 105.505}, "INVALID_MONETARY_AMOUNT"),
        ({"vatDueSales": 10000000000000}, "INVALID_MONETARY_AMOUNT"),
        ({"netVatDue": -0.01}, "INVALID_MONETARY_AMOUNT"),
        ({"netVatDue": 100000000000}, "INVALID_MONETARY_AMOUNT"),
        ({"totalValueSalesExVAT": 300.5}, "INVALID_MONETARY_AMOUNT"),
        ({"totalAcquisitionsExVAT": 1e300}, "INVALID_MONETARY_AMOUNT"),
        ({"totalVatDue": 6.05, "netVatDue": 99.10}, "VAT_TOTAL_VALUE"),
        ({"netVatDue": 100.11}, "VAT_NET_VALUE"),
        ({"finalised": "true"}, "UNMAPPED_PLAY_ERROR"),
    ],
)
def test_a_return_that_is_wrong_in_one_thing(changes: dict[str, Any], code: str) -> None:
    given = submitted(changes)
    assert refused(given) == (400, "INVALID_REQUEST")
    assert codes(given) == [code]


def test_several_errors_are_told_at_once() -> None:
    given = submitted({"periodKey": "x", "vatDueSales": "y", "totalVatDue": 1.001})
    assert codes(given) == ["PERIOD_KEY_INVALID", "INVALID_NUMERIC_VALUE", "INVALID_MONETARY_AMOUNT"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5_000, b'{"vatDueSales": NaN}', b'{"periodKey": "\\ud800"}'],
    ids=["none", "open", "bytes", "lists", "objects", "number", "surrogate"],
)
def test_a_body_that_is_no_json(body: bytes) -> None:
    assert refused(submit(body)) == (400, "Invalid Json")


@pytest.mark.parametrize("body", [b"[]", b"null", b"1", b'"x"', b"{}"])
def test_a_body_without_fields(body: bytes) -> None:
    assert codes(submit(body)) == ["MANDATORY_FIELD_MISSING"] * len(RETURN)


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"1e999999999", b"9" * 400, b"1e-400"])
def test_numbers_beyond_measure(number: bytes) -> None:
    body = json.dumps(RETURN).encode().replace(b"105.5,", number + b",")
    assert number in body
    assert submit(body).status == 400


def test_a_return_that_is_not_declared_final() -> None:
    given = submitted({"finalised": False})
    assert refused(given) == (403, "BUSINESS_ERROR")
    assert codes(given) == ["NOT_FINALISED"]


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("INVALID_VRN", (400, "VRN_INVALID")),
        ("INVALID_PERIODKEY", (400, "PERIOD_KEY_INVALID")),
        ("INVALID_PAYLOAD", (400, "INVALID_REQUEST")),
        ("DUPLICATE_SUBMISSION", (403, "BUSINESS_ERROR")),
        ("TAX_PERIOD_NOT_ENDED", (403, "TAX_PERIOD_NOT_ENDED")),
        ("INSOLVENT_TRADER", (403, "RULE_INSOLVENT_TRADER")),
        ("NOT_FOUND", (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")),
    ],
)
def test_a_submission_is_refused_as_the_scenario_asks(scenario: str, expected: tuple[int, str]) -> None:
    assert refused(submitted(scenario=scenario)) == expected
    assert scenario in SUBMISSION_SCENARIOS or scenario == "NOT_FOUND"


def test_a_submission_for_no_registration_number() -> None:
    assert refused(submit(json.dumps(RETURN).encode(), vrn="12345")) == (400, "VRN_INVALID")


def test_figures_differ_between_traders_and_periods() -> None:
    asked = [(VRN, "18A1"), (VRN, "18A2"), ("987654321", "18A1")]
    sales: set[Decimal] = {
        document(answer("/tax/vat/getVatReturn", f"vrn={vrn}&periodKey={key}"))["vatDueSales"] for vrn, key in asked
    }
    assert len(sales) == len(asked)
