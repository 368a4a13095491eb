"""Mode `sandbox` and mode `hmrc` over the stub of the authority answer alike, to good requests and to bad ones.

What a bad request is answered stands in the table beside it, as `hmrc` has always had it; so neither mode is the
measure of the other.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import SettableClock
from gatewayd.http.render import refusal
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.sandbox_authority.authority import SandboxAuthority, asgi
from gatewayd.tax import AREA
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from tests.support.api import Fields, Reply
from tests.support.store import START
from tests.tax.conftest import HEADERS, OpenTax, TaxApi, query_of, with_header
from tests.tax.registry import SYNC

ROWS = {operation.id: operation for operation in AREA.operations}
QUERIES = {id_: query_of(row) for id_, row in ROWS.items()}
SCENARIOS = {"vat.getLiabilities": "SINGLE_LIABILITY_2018_19", "vat.getPayments": "SINGLE_PAYMENT_2018_19"}
VAT, PERSON = "vrn=980780684", "nino=AA123456A"
YEAR, DATES = "taxYear=2026-27", "from=2018-01-02&to=2018-02-02"
CALCULATION = "calculationId=f2fb30e5-4ab6-4a29-b3c1-c7264259ff1c"
NUMBERED = {"vatNumber": "GB980780684", "nino": "AA123456A"}


class Case(NamedTuple):
    """A request. `{mine}`, `{bare}` and `{theirs}` in the query stand for entities; one header may be missing."""

    operation_id: str
    query: str
    scenario: str | None = None
    has_device: bool = True

    @property
    def headers(self) -> Fields:
        told = list(HEADERS) if self.has_device else with_header(b"gov-client-device-id")
        return told if self.scenario is None else [*told, (b"gov-test-scenario", self.scenario.encode())]


# -- what is wrong with each of the ten alike


def mistakes(operation_id: str) -> dict[Case, str]:
    """Mistakes that can be made with every operation, and what they are answered."""
    query, scenario = QUERIES[operation_id], SCENARIOS.get(operation_id)
    name = "vrn" if operation_id.startswith("vat.") else "nino"
    rest = "&".join(pair for pair in query.split("&") if not pair.startswith(f"{name}="))

    def about(who: str) -> Case:
        return Case(operation_id, "&".join(filter(None, (rest, who))), scenario)

    wrong = "400 VRN_INVALID" if name == "vrn" else "400 FORMAT_NINO"
    return {
        Case(operation_id, f"{query}&shoe=1", scenario): "400 unknown_parameter shoe:unknown_parameter",
        Case(operation_id, query, "SHOE_SIZE"): "400 RULE_INCORRECT_GOV_TEST_SCENARIO",
        Case(operation_id, query, scenario, has_device=False): (
            "400 fraud_headers_invalid Gov-Client-Device-ID:required"
        ),
        about(""): "422 validation_failed legalEntityId:required",
        about("legalEntityId={bare}"): f"422 validation_failed {name}:required",
        about("legalEntityId={theirs}"): "404 not_found",
        about("legalEntityId=ent_00000000000000000000000000"): "404 not_found",
        about(f"{name}=x1"): wrong,
        about(f"{name}=a/b"): f"422 validation_failed {name}:invalid_format",
    }


COMMON = {case: expected for operation_id in ROWS for case, expected in mistakes(operation_id).items()}


# -- what is wrong with one of them


def dated(operation_id: str) -> dict[Case, str]:
    """Mistakes with the dates of liabilities or payments."""
    return {
        Case(operation_id, VAT): "422 validation_failed from:required to:required",
        Case(operation_id, f"{VAT}&from=2018-01-02"): "422 validation_failed to:required",
        Case(operation_id, f"{VAT}&from=2018-02-30&to=2018-03-01"): "400 DATE_FROM_INVALID",
        Case(operation_id, f"{VAT}&from=2018-03-01&to=2018-01-01"): "400 DATE_RANGE_INVALID",
        Case(operation_id, f"{VAT}&from=2099-01-01&to=2099-02-01"): "400 DATE_TO_INVALID",
        Case(operation_id, f"{VAT}&{DATES}"): "404 NOT_FOUND",
    }


def yearly(operation_id: str, rest: str = "") -> dict[Case, str]:
    """Mistakes with a tax year that stands in the authority's path."""
    return {
        Case(operation_id, f"{PERSON}{rest}"): "422 validation_failed taxYear:required",
        Case(operation_id, f"{PERSON}&taxYear=2026{rest}"): "400 FORMAT_TAX_YEAR",
        Case(operation_id, f"{PERSON}&taxYear=2026-28{rest}"): "400 RULE_TAX_YEAR_RANGE_INVALID",
    }


_OBLIGATIONS, _RETURN = "vat.getObligations", "vat.getVatReturn"
_STATUS, _ITSA = "itsaStatus.get", "itsaObligations.list"
_LIST, _GET = "itsaCalculations.list", "itsaCalculations.get"
_YEARS, _SUMMARY = "selfAssessment.listTaxYears", "selfAssessment.getFilingSummary"

OWN: Mapping[Case, str] = {
    Case(_OBLIGATIONS, VAT): "400 INVALID_DATE_FROM",
    Case(_OBLIGATIONS, f"{VAT}&from=2018-01-02"): "400 INVALID_DATE_TO",
    Case(_OBLIGATIONS, f"{VAT}&from=2018-1-2&to=2018-02-02"): "400 INVALID_DATE_FROM",
    Case(_OBLIGATIONS, f"{VAT}&from=2018-01-01&to=2019-12-31"): "400 INVALID_DATE_RANGE",
    Case(_OBLIGATIONS, f"{VAT}&{DATES}&status=X"): "422 validation_failed status:invalid_enum",
    Case(_OBLIGATIONS, f"{VAT}&{DATES}", "INSOLVENT_TRADER"): "403 RULE_INSOLVENT_TRADER",
    **dated("vat.getLiabilities"),
    **dated("vat.getPayments"),
    Case(_RETURN, VAT): "422 validation_failed periodKey:required",
    Case(_RETURN, f"{VAT}&periodKey=a/b"): "422 validation_failed periodKey:invalid_format",
    Case(_RETURN, f"{VAT}&periodKey=18A"): "400 PERIOD_KEY_INVALID",
    Case(_RETURN, f"{VAT}&periodKey=99Z9"): "404 NOT_FOUND",
    Case(_RETURN, f"{VAT}&periodKey=18A1", "DATE_RANGE_TOO_LARGE"): "403 DATE_RANGE_TOO_LARGE",
    **yearly(_STATUS),
    Case(_STATUS, f"{PERSON}&{YEAR}&futureYears=maybe"): "422 validation_failed futureYears:invalid_format",
    Case(_STATUS, f"{PERSON}&{YEAR}", "NOT_ENROLLED"): "403 CLIENT_NOT_MTD_ENROLLED",
    Case(_ITSA, f"{PERSON}&businessId=XBIS12345678901"): "400 MISSING_TYPE_OF_BUSINESS",
    Case(_ITSA, f"{PERSON}&businessId=x"): "400 INVALID_REQUEST FORMAT_BUSINESS_ID MISSING_TYPE_OF_BUSINESS",
    Case(_ITSA, f"{PERSON}&fromDate=2026-04-06"): "400 MISSING_TO_DATE",
    Case(_ITSA, f"{PERSON}&fromDate=2026-04-06&toDate=2026-04-01"): "400 RANGE_TO_DATE_BEFORE_FROM_DATE",
    Case(_ITSA, f"{PERSON}&fromDate=2026-04-06&toDate=2028-04-01"): "400 RULE_DATE_RANGE_INVALID",
    Case(_ITSA, f"{PERSON}&kind=shoe"): "422 validation_failed kind:invalid_enum",
    Case(_ITSA, f"{PERSON}&kind=final_declaration&taxYear=x"): "400 FORMAT_TAX_YEAR",
    Case(_ITSA, PERSON, "NO_OBLIGATIONS_FOUND"): "404 NO_OBLIGATIONS_FOUND",
    **yearly(_LIST),
    Case(_LIST, f"{PERSON}&{YEAR}&calculationType=shoe"): "400 FORMAT_CALCULATION_TYPE",
    Case(_LIST, f"{PERSON}&taxYear=2016-17"): "400 RULE_TAX_YEAR_NOT_SUPPORTED",
    **yearly(_GET, f"&{CALCULATION}"),
    Case(_GET, f"{PERSON}&{YEAR}"): "422 validation_failed calculationId:required",
    Case(_GET, f"{PERSON}&{YEAR}&calculationId=shoe"): "400 FORMAT_CALCULATION_ID",
    Case(_YEARS, PERSON, "NOT_ENROLLED"): "403 CLIENT_NOT_MTD_ENROLLED",
    Case(_YEARS, PERSON, "INSOLVENT_TRADER"): "400 RULE_INSOLVENT_TRADER",
    Case(_SUMMARY, PERSON): "422 validation_failed taxYear:required",
    Case(_SUMMARY, f"{PERSON}&taxYear=2026"): "422 validation_failed taxYear:invalid_format",
    Case(_SUMMARY, f"{PERSON}&taxYear=2026-28"): "422 validation_failed taxYear:invalid_format",
}

GOOD = (
    *(Case(id_, query, SCENARIOS.get(id_)) for id_, query in QUERIES.items()),
    Case(_OBLIGATIONS, "legalEntityId={mine}&status=O"),
    Case(_ITSA, f"{PERSON}&kind=final_declaration"),
    Case(_YEARS, "legalEntityId={mine}", "OPEN"),
    Case(_SUMMARY, f"{PERSON}&{YEAR}", "NOT_FOUND"),
    Case(_SUMMARY, f"{PERSON}&{YEAR}", "MULTIPLE"),
)


# -- both modes


@dataclass(frozen=True)
class Outcome:
    """A reply without what is another in each: the id of the request, and ids and names that tell the modes apart."""

    status: int
    names: list[str]
    body: Any

    def __str__(self) -> str:
        """Status, code, and what is said of each field."""
        if self.status == 200:
            return "200"
        errors = [":".join(filter(None, (one.get("path"), one["code"]))) for one in self.body.get("errors", [])]
        return " ".join([str(self.status), self.body.get("code") or self.body["message"], *errors])


def outcome_of(reply: Reply, whose: Mapping[str, str]) -> Outcome:
    body = reply.json()
    body.pop("requestId", None)
    names = sorted(name.decode() for name, _ in reply.headers)
    return Outcome(reply.status, names, _named(body, {id_: name for name, id_ in whose.items()}))


def _named(document: Any, names: Mapping[str, str]) -> Any:
    """A document in which the ids of entities are told by their names."""
    if isinstance(document, dict):
        return {key: _named(value, names) for key, value in document.items()}
    if isinstance(document, list):
        return [_named(value, names) for value in document]
    return names.get(document, document) if isinstance(document, str) else document


async def prepare(tax: TaxApi) -> dict[str, str]:
    """Three entities, the last of another organization; a connection."""

    async def entity(token: str, **more: str) -> str:
        request = {"name": "Elm", "type": "sole_trader", **more}
        made = await tax.api("POST", "/legalEntity/createLegalEntity", json=request, token=token)
        return str(made.json()["id"])

    tokens = Tokens("any", None, "read:vat read:self-assessment", None)
    await tax.api.store.write(lambda tx: connections.save(tx, tokens, "operator"), "org_a")
    tax.api.token("org_a", "sync", ("entities:read", "entities:write", "tax:read"))
    return {
        "mine": await entity("good", **NUMBERED),
        "bare": await entity("good"),
        "theirs": await entity("other", **NUMBERED),
    }


async def everything(tax: TaxApi) -> dict[Case, Outcome]:
    """What one mode answers to all of the requests."""
    whose, found = await prepare(tax), {}
    for case in (*COMMON, *OWN, *GOOD):
        path, query = f"/api/rpc{ROWS[case.operation_id].path}", case.query.format(**whose)
        found[case] = outcome_of(await tax.get(path, query, case.headers), whose)
    for scenario in (None, "BUSINESS_AND_PROPERTY", "NOT_FOUND", "SHOE_SIZE"):
        case = Case("businesses.syncTaxBusiness", "{mine}", scenario)
        request = {"legalEntityId": whose["mine"], "dryRun": True}
        reply = await tax.api("POST", SYNC, json=request, headers=case.headers, token="sync")
        found[case] = outcome_of(reply, whose)
    return found


@asynccontextmanager
async def stub() -> AsyncIterator[str]:
    """The sandbox authority behind the project's own server, as `gatewayd dev tax-stub` has it; its address."""
    clock = SettableClock(START)
    app, patient = asgi(SandboxAuthority(clock, wants_tokens=True)), 3600.0
    door = ServerSettings(
        bind=("127.0.0.1:0",), header_timeout_seconds=patient, keep_alive_seconds=patient, drain_seconds=patient
    )
    log = _Silent()
    async with trio.open_nursery() as nursery:
        (address,) = await nursery.start(Server(app, door, refuse=refusal, log=log, clock=clock).serve)
        yield address
        nursery.cancel_scope.cancel()
    assert log.errors == []


class _Silent:
    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, event: str, **fields: object) -> None:
        self.errors.append(event)

    def debug(self, event: str, **fields: object) -> None:
        pass


@pytest.fixture
def fast_clock() -> MockClock:
    """Ten seconds in one: the authority takes three requests a second."""
    return MockClock(rate=10)


def test_the_table_is_of_all_ten() -> None:
    assert {case.operation_id for case in OWN} == {case.operation_id for case in COMMON} == ROWS.keys()
    assert len([answer for answer in (*COMMON.values(), *OWN.values()) if answer != "200"]) >= 29


async def test_both_modes_answer_alike(open_tax: OpenTax, fast_clock: MockClock) -> None:
    async with open_tax(mode="sandbox") as tax:
        sandbox = await everything(tax)
    settings = {"upstream_is_sandbox": True, "timeout_seconds": 600.0}
    async with stub() as url, open_tax(mode="hmrc", upstream=url, **settings) as tax:
        live = await everything(tax)
    assert {case: str(sandbox[case]) for case in (*COMMON, *OWN)} == {**COMMON, **OWN}
    assert {case: str(sandbox[case]) for case in GOOD} == dict.fromkeys(GOOD, "200")
    assert sandbox.keys() == live.keys()
    assert [case for case in sandbox if sandbox[case] != live[case]] == []
