"""The two composed operations over the authority's own sandbox: what they tell, where a scenario goes, who refuses."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.tax.authority.mapping import Target
from gatewayd.tax.forwarding.composing import FILING_SUMMARY, LIST_TAX_YEARS, PARTS_OF, compose
from gatewayd.tax.forwarding.composition import SCENARIOS, Composition
from tests.sandbox_authority import schemas
from tests.sandbox_authority.asking import NINO, NOW, tell, valid

DOCUMENTED = {id_: sorted({one for part in parts for one in SCENARIOS[part]}) for id_, parts in PARTS_OF.items()}
UNKNOWN = (400, "RULE_INCORRECT_GOV_TEST_SCENARIO")


class Authority:
    """The authority's sandbox. `instead` are answers, or problems, by a part of the path."""

    def __init__(self, **instead: Response | Problem) -> None:
        self.instead = instead
        self.scenarios: list[str] = []

    async def ask(self, target: Target, scenario: str, behind: int) -> Response:
        for part, response in self.instead.items():
            if part in target.path and isinstance(response, Problem):
                raise response
            if part in target.path and isinstance(response, Response):
                return response
        self.scenarios.append(scenario)
        headers = [(b"Accept", target.accept.encode()), (b"Gov-Test-Scenario", scenario.encode())]
        return tell(Request("GET", target.line, headers))


async def response_of(
    operation_id: str,
    scenario: str = "",
    authority: Authority | None = None,
    tax_year: str = "2025-26",
    nino: str = NINO,
) -> Response:
    values = {"nino": nino, "taxYear": tax_year}
    return await compose(operation_id, Composition(values, Instant(NOW), scenario, (authority or Authority()).ask))


async def composed(operation_id: str, *more: Any, **named: Any) -> tuple[int, Any]:
    response = await response_of(operation_id, *more, **named)
    return response.status, msgspec.json.decode(response.body)


async def summary(scenario: str = "", **more: Any) -> Any:
    """A filing summary, which must be valid for its schema."""
    response = await response_of(FILING_SUMMARY, scenario, **more)
    assert response.status == 200
    return valid(response.body, schemas.FILING_SUMMARY)


async def tax_years(scenario: str = "") -> Any:
    """The tax years, which must be valid for their schema."""
    response = await response_of(LIST_TAX_YEARS, scenario)
    assert response.status == 200
    return valid(response.body, schemas.TAX_YEARS)["taxYears"]


# -- what they tell


REFUSING = {"NOT_ENROLLED": (403, "CLIENT_NOT_MTD_ENROLLED"), "INSOLVENT_TRADER": (400, "RULE_INSOLVENT_TRADER")}


@pytest.mark.parametrize("scenario", ["", *(one for one in DOCUMENTED[LIST_TAX_YEARS] if one not in REFUSING)])
async def test_tax_years_in_every_scenario(scenario: str) -> None:
    years = await tax_years(scenario)
    assert [year["taxYear"] for year in years] == ["2022-23", "2023-24", "2024-25", "2025-26", "2026-27"]


async def test_tax_years_say_what_has_been_done() -> None:
    assert (await tax_years())[2] == {
        "taxYear": "2024-25",
        "startDate": "2024-04-06",
        "endDate": "2025-04-05",
        "itsaStatus": "MTD Voluntary",
        "quarterly": {"open": 0, "fulfilled": 12, "overdue": 0},
        "finalDeclaration": {"dueDate": "2026-01-31", "status": "fulfilled", "receivedDate": "2026-01-25"},
    }
    assert (await tax_years("OPEN"))[4]["quarterly"] == {"open": 6, "fulfilled": 0, "overdue": 6}
    nothing = (await tax_years("NOT_FOUND"))[0]
    assert (nothing["itsaStatus"], nothing["finalDeclaration"]) == (None, None)


@pytest.mark.parametrize("scenario", ["", *DOCUMENTED[FILING_SUMMARY]])
async def test_a_filing_summary_in_every_scenario(scenario: str) -> None:
    found = await summary(scenario)
    assert [part["source"] for part in found["parts"]] == [
        "itsaStatus",
        "itsaObligations",
        "finalDeclaration",
        "itsaCalculations",
        "balance",
    ]


@pytest.mark.parametrize(
    ("scenario", "statuses"),
    [
        ("", ["ok"] * 5),
        ("NOT_FOUND", ["not_found"] * 5),
        ("NOT_ENROLLED", ["failed", "ok", "ok", "ok", "ok"]),
        ("INSOLVENT_TRADER", ["ok", "failed", "failed", "ok", "ok"]),
        ("NO_OBLIGATIONS_FOUND", ["ok", "not_found", "ok", "ok", "ok"]),
    ],
)
async def test_a_part_that_fails_is_told(scenario: str, statuses: list[str]) -> None:
    found = await summary(scenario)
    assert [part["status"] for part in found["parts"]] == statuses
    assert (found["itsaStatus"] is None) == (statuses[0] != "ok")
    assert (found["latestCalculation"] is None) == (statuses[3] != "ok")
    assert (found["balance"] is None) == (statuses[4] != "ok")


async def test_a_part_says_what_the_authority_said() -> None:
    late = Problem("tax_upstream_timeout", "late")
    gone = Problem("tax_upstream_error", "gone", extra={"upstream": {"status": None, "code": "reset"}})
    authority = Authority(
        crystallisation=Response(403, [], b'{"code":"CLIENT_OR_AGENT_NOT_AUTHORISED"}'), calculations=late, balance=gone
    )
    found = await summary("NO_OBLIGATIONS_FOUND", authority=authority)
    assert [(part["status"], part["httpStatus"], part["code"]) for part in found["parts"]] == [
        ("ok", 200, None),
        ("not_found", 404, "NO_OBLIGATIONS_FOUND"),
        ("failed", 403, "CLIENT_OR_AGENT_NOT_AUTHORISED"),
        ("failed", None, "tax_upstream_timeout"),
        ("failed", None, "tax_upstream_error"),
    ]


ALL = "/"  # of every path
REFUSAL = Response(403, [], b'{"code":"CLIENT_OR_AGENT_NOT_AUTHORISED","message":"no"}')


async def test_what_is_refused_in_every_part_is_refused() -> None:
    response = await response_of(FILING_SUMMARY, authority=Authority(**{ALL: REFUSAL}))
    assert (response.status, response.body) == (REFUSAL.status, REFUSAL.body)


async def test_of_parts_that_all_failed_a_refusal_counts_before_a_fault() -> None:
    late = Problem("tax_upstream_timeout", "late")
    response = await response_of(FILING_SUMMARY, authority=Authority(balance=REFUSAL, **{ALL: late}))
    assert response.status == 403
    with pytest.raises(Problem) as caught:
        await response_of(FILING_SUMMARY, authority=Authority(**{ALL: late}))
    assert caught.value.code == "tax_upstream_timeout"
    with pytest.raises(Problem) as caught:
        await response_of(FILING_SUMMARY, authority=Authority(**{ALL: Response(503, [], b'{"code":"SERVER_ERROR"}')}))
    assert (caught.value.code, caught.value.extra["upstream"]) == (
        "tax_upstream_error",
        {"status": 503, "code": "SERVER_ERROR"},
    )


async def test_what_concerns_every_part_is_the_whole_answer() -> None:
    ended = Problem("tax_reauthorisation_required", "ended")
    with pytest.raises(Problem) as caught:
        await response_of(FILING_SUMMARY, authority=Authority(balance=ended))
    assert caught.value.code == "tax_reauthorisation_required"


async def test_a_summary_has_the_last_calculation_and_all_obligations() -> None:
    found = await summary(tax_year="2022-23")
    assert found["latestCalculation"]["type"] == "final-declaration"
    assert found["latestCalculation"]["liabilityAmount"] > 0
    assert len(found["obligations"]) == 13
    assert found["obligations"][-1]["businessId"] is None


async def test_a_summary_tells_the_balance_of_the_account() -> None:
    assert (await summary())["balance"] == {
        "payable": Decimal("1250.4"),
        "overdue": Decimal(0),
        "nextDue": "2027-01-31",
    }


async def test_nobody_has_tax_years() -> None:
    status, document = await composed(LIST_TAX_YEARS, nino="x")
    assert (status, document["code"]) == (400, "FORMAT_NINO")


# -- where a scenario goes, and who refuses


@pytest.mark.parametrize("operation_id", PARTS_OF)
async def test_a_scenario_goes_only_to_the_parts_that_document_it(operation_id: str) -> None:
    """Undocumented it would be refused; the refusals that follow from the scenario itself are the authority's."""
    for scenario in DOCUMENTED[operation_id]:
        authority = Authority()
        status, document = await composed(operation_id, scenario, authority)
        assert set(authority.scenarios) <= {"", scenario}
        assert scenario in authority.scenarios
        assert document.get("code") != "RULE_INCORRECT_GOV_TEST_SCENARIO"
        assert status == 200 or scenario in REFUSING


@pytest.mark.parametrize("operation_id", PARTS_OF)
@pytest.mark.parametrize("scenario", ["QUARTERLY_ONE_MET", "x", "PROPERTY", "SINGLE_PAYMENT"])
async def test_a_scenario_of_no_part_is_refused_in_the_authoritys_words(operation_id: str, scenario: str) -> None:
    authority = Authority()
    refusal = await response_of(operation_id, scenario, authority)
    target = f"/individuals/person/itsa-status/{NINO}/2025-26"
    headers = [(b"Accept", b"application/vnd.hmrc.2.0+json"), (b"Gov-Test-Scenario", scenario.encode())]
    its_own = tell(Request("GET", target, headers))
    assert (refusal.status, json.loads(refusal.body)) == (its_own.status, json.loads(its_own.body))
    assert (refusal.status, json.loads(refusal.body)["code"]) == UNKNOWN
    assert authority.scenarios == []


@pytest.mark.parametrize(("scenario", "expected"), REFUSING.items())
async def test_who_is_refused_has_no_tax_years_and_a_summary_that_says_so(
    scenario: str, expected: tuple[int, str]
) -> None:
    status, document = await composed(LIST_TAX_YEARS, scenario)
    assert (status, document["code"]) == expected
    status, document = await composed(FILING_SUMMARY, scenario)
    assert status == 200
    assert "failed" in {part["status"] for part in document["parts"]}


async def test_nothing_more_is_asked_for_the_tax_years_of_who_is_refused() -> None:
    authority = Authority(crystallisation=REFUSAL)
    response = await response_of(LIST_TAX_YEARS, authority=authority)
    assert (response.status, response.body) == (REFUSAL.status, REFUSAL.body)
    assert authority.scenarios == []


QUESTIONS = [("finalDeclaration", None), ("itsaStatus", None)]
QUESTIONS += [("itsaObligations", year) for year in ("2022-23", "2023-24", "2024-25", "2025-26", "2026-27")]


@pytest.mark.parametrize(
    ("path", "missed", "lost"),
    [
        ("crystallisation", "finalDeclaration", {("finalDeclaration", None)}),
        ("itsa-status", "itsaStatus", {("itsaStatus", None)}),
        ("income-and-expenditure", "quarterly", set(QUESTIONS[2:])),
    ],
)
@pytest.mark.parametrize(
    ("instead", "http_status", "code"),
    [
        (Response(503, [], b'{"code":"SERVER_ERROR"}'), 503, "SERVER_ERROR"),
        (Response(429, [], b'{"code":"MESSAGE_THROTTLED_OUT"}'), 429, "MESSAGE_THROTTLED_OUT"),
        (Problem("tax_upstream_timeout", "late"), None, "tax_upstream_timeout"),
    ],
)
async def test_tax_years_are_told_without_what_breaks(
    path: str,
    missed: str,
    lost: set[tuple[str, str | None]],
    instead: Response | Problem,
    http_status: int | None,
    code: str,
) -> None:
    response = await response_of(LIST_TAX_YEARS, authority=Authority(**{path: instead}))
    assert response.status == 200
    document = valid(response.body, schemas.TAX_YEARS)
    assert [(part["source"], part["taxYear"]) for part in document["parts"]] == QUESTIONS
    for part in document["parts"]:
        failed = (part["source"], part["taxYear"]) in lost
        told = ("failed", http_status, code) if failed else ("ok", 200, None)
        assert (part["status"], part["httpStatus"], part["code"]) == told
    for member in ("finalDeclaration", "itsaStatus", "quarterly"):
        assert [year[member] is None for year in document["taxYears"]] == [member == missed] * 5


async def test_tax_years_of_which_nothing_is_known_are_an_upstream_that_fails() -> None:
    with pytest.raises(Problem) as caught:
        await response_of(LIST_TAX_YEARS, authority=Authority(**{ALL: Response(503, [], b'{"code":"SERVER_ERROR"}')}))
    assert (caught.value.code, caught.value.extra["upstream"]) == (
        "tax_upstream_error",
        {"status": 503, "code": "SERVER_ERROR"},
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"liabilityAmount": 12.5}, 12.5),
        ({"totalIncomeTaxAndNicsDue": 812.25}, 812.25),
        ({"totalIncomeTaxAndNicsDue": 0}, 0),
        ({"liabilityAmount": 0, "totalIncomeTaxAndNicsDue": 5}, 0),
        ({"liabilityAmount": None, "totalIncomeTaxAndNicsDue": 5}, 5),
        ({}, None),
        ({"liabilityAmount": "12"}, None),
    ],
)
async def test_the_liability_has_two_names(row: dict[str, object], expected: float | None) -> None:
    """Up to 2022-23 the list calls it otherwise."""
    body = msgspec.json.encode({"calculations": [{"calculationId": "f2fb30e5", **row}]})
    _, document = await composed(FILING_SUMMARY, authority=Authority(calculations=Response(200, [], body)))
    assert document["latestCalculation"]["liabilityAmount"] == expected
