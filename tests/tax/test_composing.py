"""The two composed operations over the authority's own sandbox: where a test scenario goes, and who refuses."""

from typing import Any

import msgspec
import pytest

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.messages import Response
from gatewayd.tax.composing import FILING_SUMMARY, LIST_TAX_YEARS, SCENARIOS, Asked, compose
from gatewayd.tax.mapping import Target
from gatewayd.tax.sandbox import Sandbox, SandboxRequest
from tests.tax.asking import NINO, NOW, answer

PATHS = {LIST_TAX_YEARS: "/tax/selfAssessment/listTaxYears", FILING_SUMMARY: "/tax/selfAssessment/getFilingSummary"}


class Authority:
    """The authority's sandbox. `instead` are answers by a part of the path."""

    def __init__(self, **instead: Response) -> None:
        self.instead = instead
        self.scenarios: list[str] = []

    async def ask(self, target: Target, scenario: str) -> Response:
        for part, response in self.instead.items():
            if part in target.path:
                return response
        self.scenarios.append(scenario)
        headers = {"Accept": target.accept, **({"Gov-Test-Scenario": scenario} if scenario else {})}
        made = Sandbox().answer(
            SandboxRequest(
                method="GET", path=target.path, query=target.query, headers=headers, body=b"", org_id="o", now=NOW
            )
        )
        return Response(made.status, [], made.body)


async def composed(
    operation_id: str, scenario: str = "", authority: Authority | None = None, tax_year: str = "2025-26"
) -> tuple[int, Any]:
    ask = (authority or Authority()).ask
    values = {"nino": NINO, "taxYear": tax_year}
    response = await compose(operation_id, Asked(values, Instant(NOW), scenario, ask))
    return response.status, msgspec.json.decode(response.body)


@pytest.mark.parametrize("operation_id", PATHS)
async def test_a_scenario_goes_only_to_the_parts_that_document_it(operation_id: str) -> None:
    """Undocumented it would be refused; the refusals that follow from the scenario itself are the authority's."""
    for scenario in sorted(SCENARIOS[operation_id]):
        authority = Authority()
        status, document = await composed(operation_id, scenario, authority)
        assert set(authority.scenarios) <= {"", scenario}
        assert scenario in authority.scenarios
        assert document.get("code") != "RULE_INCORRECT_GOV_TEST_SCENARIO"
        assert status == 200 or scenario in ("NOT_ENROLLED", "INSOLVENT_TRADER")


@pytest.mark.parametrize("operation_id", PATHS)
@pytest.mark.parametrize("scenario", ["QUARTERLY_ONE_MET", "x", "PROPERTY"])
async def test_a_scenario_of_no_part_is_refused_as_in_the_sandbox(operation_id: str, scenario: str) -> None:
    authority = Authority()
    ours = await composed(operation_id, scenario, authority)
    query = f"nino={NINO}" if operation_id == LIST_TAX_YEARS else f"nino={NINO}&taxYear=2025-26"
    sandbox = answer(PATHS[operation_id], query, scenario)
    assert ours == (400, msgspec.json.decode(sandbox.body))
    assert (sandbox.status, authority.scenarios) == (400, [])


@pytest.mark.parametrize("scenario", ["", "NOT_FOUND", "STATEFUL", "OPEN", "CUMULATIVE", "NO_OBLIGATIONS_FOUND"])
async def test_a_summary_is_what_the_sandbox_has_of_its_own(scenario: str) -> None:
    status, ours = await composed(FILING_SUMMARY, scenario)
    sandbox = msgspec.json.decode(answer(PATHS[FILING_SUMMARY], f"nino={NINO}&taxYear=2025-26", scenario or None).body)
    assert status == 200
    assert ours == sandbox


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [("NOT_ENROLLED", (403, "CLIENT_NOT_MTD_ENROLLED")), ("INSOLVENT_TRADER", (400, "RULE_INSOLVENT_TRADER"))],
)
async def test_a_refusal_of_the_person_is_the_answer_where_no_part_is_told(
    scenario: str, expected: tuple[int, str]
) -> None:
    status, document = await composed(LIST_TAX_YEARS, scenario)
    assert (status, document["code"]) == expected
    status, document = await composed(FILING_SUMMARY, scenario)
    assert status == 200
    assert "failed" in {part["status"] for part in document["parts"]}


async def test_a_part_that_breaks_is_an_upstream_that_fails() -> None:
    broken = Authority(crystallisation=Response(503, [], b'{"code":"SERVER_ERROR"}'))
    with pytest.raises(Problem) as caught:
        await composed(LIST_TAX_YEARS, authority=broken)
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
