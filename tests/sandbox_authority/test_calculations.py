"""The sandbox authority's tax calculations: every scenario, every refusal."""

import pytest

from gatewayd.clock import Instant, from_wire
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority.calculations import CASES, LIST_SCENARIOS, RETRIEVE_SCENARIOS
from tests.sandbox_authority.asking import NINO, NOW, accepted, answer, document, refused
from tests.sandbox_authority.schemas import (
    CALCULATIONS,
    CALCULATIONS_UNTIL_2022,
    CALCULATIONS_UNTIL_2024,
    METADATA,
    METADATA_UNTIL_2024,
    retrieved,
)

LIST_AT = "/individuals/calculations/{nino}/self-assessment/{taxYear}"
RETRIEVE_AT = f"{LIST_AT}/{{calculationId}}"
UNKNOWN = (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")
NOTHING = (404, "MATCHING_RESOURCE_NOT_FOUND")
ID = "f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c"
LISTS = {"2017-18": CALCULATIONS_UNTIL_2022, "2022-23": CALCULATIONS_UNTIL_2022, "2023-24": CALCULATIONS_UNTIL_2024}
LISTS |= {"2024-25": CALCULATIONS_UNTIL_2024, "2025-26": CALCULATIONS, "2026-27": CALCULATIONS}
CONTENTS = {year: METADATA_UNTIL_2024 if year < "2025" else METADATA for year in LISTS}


def listed(query: str, scenario: str | None = None, now: Instant = NOW) -> Response:
    return answer(LIST_AT, f"nino={NINO}&{query}", scenario, now=now)


def calculation(query: str, scenario: str | None = None) -> Response:
    return answer(RETRIEVE_AT, f"nino={NINO}&{query}", scenario)


def test_the_documented_scenarios_are_all_there() -> None:
    assert {"NOT_FOUND", "DYNAMIC"} == LIST_SCENARIOS
    uk = {"UK_MULTIPLE_INCOMES", "UK_PROP_DIVIDENDS", "UK_PROP_GIFTAID", "UK_PROP_SAVINGS", "UK_SE_GIFTAID"}
    examples = {f"{name}_EXAMPLE" for name in uk | {"UK_SE_SAVINGS", "SCOT_SE_DIVIDENDS"}}
    assert examples | {"NOT_FOUND", "ERROR_MESSAGES_EXIST", "DYNAMIC"} == RETRIEVE_SCENARIOS


# -- the list


@pytest.mark.parametrize("scenario", [None, "DYNAMIC"])
@pytest.mark.parametrize("year", LISTS)
def test_calculations_of_a_year_in_its_own_words(year: str, scenario: str | None) -> None:
    rows = accepted(listed(f"taxYear={year}", scenario), LISTS[year])["calculations"]
    assert len({row["calculationId"] for row in rows}) == len(rows)
    assert rows == sorted(rows, key=lambda row: row["calculationTimestamp"])


def test_only_what_has_been_made_is_listed() -> None:
    rows = document(listed("taxYear=2026-27"))["calculations"]
    assert [row["calculationType"] for row in rows] == ["in-year"]
    later = from_wire("2028-01-01T00:00:00Z")
    assert len(document(listed("taxYear=2026-27", now=later))["calculations"]) == 5
    assert refused(listed("taxYear=2026-27&calculationType=final-declaration")) == NOTHING


def test_one_type_of_calculation() -> None:
    rows = document(listed("taxYear=2025-26&calculationType=final-declaration"))["calculations"]
    assert [row["calculationType"] for row in rows] == ["final-declaration"]


@pytest.mark.parametrize(
    ("query", "scenario", "expected"),
    [
        ("taxYear=2016-17", None, (400, "RULE_TAX_YEAR_NOT_SUPPORTED")),
        ("taxYear=2025-27", None, (400, "RULE_TAX_YEAR_RANGE_INVALID")),
        ("taxYear=2025-26&calculationType=inYear", None, (400, "FORMAT_CALCULATION_TYPE")),
        ("taxYear=2024-25&calculationType=intent-to-amend", None, (400, "RULE_CALCULATION_TYPE_NOT_ALLOWED")),
        ("taxYear=2024-25&calculationType=confirm-amendment", None, (400, "RULE_CALCULATION_TYPE_NOT_ALLOWED")),
        ("taxYear=2025-26", "NOT_FOUND", NOTHING),
        ("taxYear=2025-26", "UK_SE_SAVINGS_EXAMPLE", UNKNOWN),
    ],
)
def test_lists_that_are_refused(query: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(listed(query, scenario)) == expected


# -- one calculation


@pytest.mark.parametrize("scenario", [None, *sorted(CASES)])
@pytest.mark.parametrize("year", CONTENTS)
def test_a_calculation_of_every_scenario_adds_up(year: str, scenario: str | None) -> None:
    given = calculation(f"taxYear={year}&calculationId={ID}", scenario)
    found = accepted(given, retrieved(CONTENTS[year]))
    assert (found["metadata"]["calculationId"], found["metadata"]["taxYear"]) == (ID, year)
    assert found["inputs"]["personalInformation"]["identifier"] == NINO
    tax = found["calculation"]["taxCalculation"]
    blocks = [
        tax["incomeTax"][name]
        for name in ("payPensionsProfit", "savingsAndGains", "dividends")
        if name in tax["incomeTax"]
    ]
    assert sum(block["incomeReceived"] for block in blocks) == tax["incomeTax"]["totalIncomeReceivedFromAllSources"]
    assert sum(block["taxableIncome"] for block in blocks) == tax["incomeTax"]["totalTaxableIncome"]
    assert sum(block["incomeTaxAmount"] for block in blocks) == tax["incomeTax"]["incomeTaxCharged"]
    nics = tax["nics"]["totalNic"] if "nics" in tax else 0
    assert tax["incomeTax"]["incomeTaxCharged"] + nics == tax["totalIncomeTaxAndNicsDue"]


def test_what_the_examples_tell_apart() -> None:
    query = f"taxYear=2025-26&calculationId={ID}"
    found = {scenario: document(calculation(query, scenario)) for scenario in CASES}
    regimes = {name: one["inputs"]["personalInformation"]["taxRegime"] for name, one in found.items()}
    assert [name for name, regime in regimes.items() if regime == "scotland"] == ["SCOT_SE_DIVIDENDS_EXAMPLE"]
    for name, one in found.items():
        assert ("giftAid" in one["calculation"]) == ("GIFTAID" in name)
        assert ("dividendsIncome" in one["calculation"]) == ("DIVIDENDS" in name or "MULTIPLE" in name)
        assert ("savingsAndGainsIncome" in one["calculation"]) == ("SAVINGS" in name or "MULTIPLE" in name)
        assert ("nics" in one["calculation"]["taxCalculation"]) == ("_SE_" in name)


def test_gift_aid_is_grossed_up() -> None:
    found = document(calculation(f"taxYear=2025-26&calculationId={ID}", "UK_PROP_GIFTAID_EXAMPLE"))
    assert found["calculation"]["giftAid"] == {"grossGiftAidPayments": 1250, "rate": 20, "giftAidTax": 250}


def test_errors_take_the_place_of_a_calculation() -> None:
    given = calculation(f"taxYear=2025-26&calculationId={ID}", "ERROR_MESSAGES_EXIST")
    found = accepted(given, retrieved(METADATA))
    assert "calculation" not in found
    assert found["messages"]["errors"]


def test_a_listed_calculation_is_retrieved_as_what_it_is() -> None:
    kinds = {"final-declaration": "declare-finalisation"}
    for row in document(listed("taxYear=2025-26"))["calculations"]:
        found = document(calculation(f"taxYear=2025-26&calculationId={row['calculationId']}"))["metadata"]
        assert found["calculationType"] == kinds.get(row["calculationType"], row["calculationType"])
        assert found["calculationTimestamp"] == row["calculationTimestamp"]


def test_a_calculation_with_an_old_id() -> None:
    assert document(calculation("taxYear=2025-26&calculationId=12345678"))["metadata"]["calculationId"] == "12345678"


@pytest.mark.parametrize(
    ("query", "scenario", "expected"),
    [
        ("taxYear=2025-26&calculationId=x", None, (400, "FORMAT_CALCULATION_ID")),
        ("taxYear=2025-26&calculationId=../../x", None, (400, "FORMAT_CALCULATION_ID")),
        (f"taxYear=2025-26&calculationId={ID.upper()}", None, (400, "FORMAT_CALCULATION_ID")),
        (f"taxYear=2016-17&calculationId={ID}", None, (400, "RULE_TAX_YEAR_NOT_SUPPORTED")),
        (f"taxYear=2025-27&calculationId={ID}", None, (400, "RULE_TAX_YEAR_RANGE_INVALID")),
        (f"taxYear=x&calculationId={ID}", None, (400, "FORMAT_TAX_YEAR")),
        (f"taxYear=2025-26&calculationId={ID}", "NOT_FOUND", NOTHING),
        (f"taxYear=2025-26&calculationId={ID}", "MULTIPLE", UNKNOWN),
        (f"taxYear=2022-23&calculationId={ID}", "DYNAMIC", UNKNOWN),
    ],
)
def test_calculations_that_are_refused(query: str, scenario: str | None, expected: tuple[int, str]) -> None:
    assert refused(calculation(query, scenario)) == expected


def test_a_dynamic_calculation_has_the_dates_of_its_year() -> None:
    found = document(calculation(f"taxYear=2023-24&calculationId={ID}", "DYNAMIC"))["metadata"]
    assert (found["periodFrom"], found["periodTo"]) == ("2023-04-06", "2024-04-05")
