"""The sandbox authority: answers tax questions as the tax authority documents its own sandbox, without credentials.

It answers the operations of the tax subtree at their own paths (Spec §4), and the authority's endpoints behind them at
the authority's (domain model §D1), each with the test scenarios that the authority documents for it (§D4).

Nothing is kept. An answer depends on the request alone, on the organization, and on the instant, which gives London's
day, timestamps and the correlation id: two daemons that are asked the same at the same moment answer the same bytes.
Hence what the authority's sandbox would remember is derived: a return that is submitted is acknowledged, not stored;
STATEFUL scenarios answer with what follows from the person asked about. Who names no taxpayer at a path of the subtree
has one of the organization's, or of the legal entity that is named.
"""

import datetime
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote

from msgspec import Struct

from gatewayd.clock import Instant, london_date
from gatewayd.tax import (
    sandbox_accounts,
    sandbox_businesses,
    sandbox_calculations,
    sandbox_composed,
    sandbox_itsa,
    sandbox_submissions,
    sandbox_vat,
)
from gatewayd.tax.sandbox_rules import (
    ENCODER,
    AuthorityFault,
    Call,
    Operation,
    Reply,
    derived_nino,
    derived_uuid,
    derived_vrn,
    fault,
)

MAX_PARAMETERS: Final = 100  # Chosen: no operation has ten
_ACCEPT: Final = re.compile(r"application/vnd\.hmrc\.([0-9]{1,2})\.0\+json")


class SandboxRequest(Struct, frozen=True, kw_only=True):
    """One request. `path` and `query` stand as on the request line, percent-encoded and without the question mark.

    Names of `headers` are compared without regard to case. `now` counts microseconds UTC since the epoch.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    org_id: str
    now: int


class SandboxAnswer(Struct, frozen=True, kw_only=True):
    """The answer: always JSON, and always with a correlation id."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Endpoint(NamedTuple):
    """One of the authority's: `version` is the one of its interface that is spoken here."""

    method: str
    path: str
    version: str
    operation: Operation


ENDPOINTS: Final = (
    _Endpoint("GET", "/organisations/vat/{vrn}/obligations", "1", sandbox_vat.obligations),
    _Endpoint("GET", "/organisations/vat/{vrn}/liabilities", "1", sandbox_vat.liabilities),
    _Endpoint("GET", "/organisations/vat/{vrn}/payments", "1", sandbox_vat.payments),
    _Endpoint("GET", "/organisations/vat/{vrn}/returns/{periodKey}", "1", sandbox_vat.view_return),
    _Endpoint("POST", "/organisations/vat/{vrn}/returns", "1", sandbox_submissions.submit_return),
    _Endpoint("GET", "/individuals/person/itsa-status/{nino}/{taxYear}", "2", sandbox_itsa.itsa_status),
    _Endpoint("GET", "/obligations/details/{nino}/income-and-expenditure", "3", sandbox_itsa.income_and_expenditure),
    _Endpoint("GET", "/obligations/details/{nino}/crystallisation", "3", sandbox_itsa.crystallisation),
    _Endpoint(
        "GET",
        "/individuals/calculations/{nino}/self-assessment/{taxYear}",
        "8",
        sandbox_calculations.list_calculations,
    ),
    _Endpoint(
        "GET",
        "/individuals/calculations/{nino}/self-assessment/{taxYear}/{calculationId}",
        "8",
        sandbox_calculations.retrieve_calculation,
    ),
    _Endpoint("GET", "/accounts/self-assessment/{nino}/balance-and-transactions", "4", sandbox_accounts.balance),
    _Endpoint("GET", "/individuals/business/details/{nino}/list", "2", sandbox_businesses.list_businesses),
    _Endpoint("GET", "/individuals/business/details/{nino}/{businessId}", "2", sandbox_businesses.retrieve_business),
)
"""The authority's endpoints; of two that match, the first is meant."""


def _obligations_of_kind(call: Call) -> Reply:
    """`itsaObligations.list`: `kind=final_declaration` asks for the other endpoint (§D1)."""
    if call.parameters.get("kind") == "final_declaration":
        return sandbox_itsa.crystallisation(call)
    return sandbox_itsa.income_and_expenditure(call)


SUBTREE: Final[Mapping[str, Operation]] = {
    "/tax/vat/getObligations": sandbox_vat.obligations,
    "/tax/vat/getLiabilities": sandbox_vat.liabilities,
    "/tax/vat/getPayments": sandbox_vat.payments,
    "/tax/vat/getVatReturn": sandbox_vat.view_return,
    "/tax/itsaStatus/get": sandbox_itsa.itsa_status,
    "/tax/itsaObligations/list": _obligations_of_kind,
    "/tax/itsaCalculations/list": sandbox_calculations.list_calculations,
    "/tax/itsaCalculations/get": sandbox_calculations.retrieve_calculation,
    "/tax/selfAssessment/listTaxYears": sandbox_composed.list_tax_years,
    "/tax/selfAssessment/getFilingSummary": sandbox_composed.filing_summary,
}
"""The operations of Spec §4, all of them GET."""


class Sandbox:
    """The authority of every daemon that has no other. Holds nothing: one is as good as another."""

    def answer(self, request: SandboxRequest) -> SandboxAnswer:
        """What the authority says to a request. Raises nothing, whatever stands in it."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            reply = _reply_to(request, headers)
        except AuthorityFault as refused:
            reply = refused.reply
        own = {"Content-Type": "application/json", "X-CorrelationId": _correlation_id(request, headers)}
        return SandboxAnswer(status=reply.status, headers={**own, **reply.headers}, body=ENCODER.encode(reply.document))


def _reply_to(request: SandboxRequest, headers: Mapping[str, str]) -> Reply:
    parameters = _query_of(request.query)
    if request.path in SUBTREE:
        _check_method(request.method, {"GET"})
        operation, named = SUBTREE[request.path], _identity(request, parameters)
    else:
        endpoint, named = _endpoint_of(request)
        _check_accept(headers.get("accept", ""), endpoint.version)
        operation = endpoint.operation
    return operation(
        Call(
            parameters={**parameters, **named},
            scenario=headers.get("gov-test-scenario", "").strip(" \t"),
            body=request.body,
            today=datetime.date.fromisoformat(london_date(Instant(request.now))),
            now=request.now,
        )
    )


def _query_of(query: str) -> dict[str, str]:
    """The parameters; of one that is repeated the first counts, and what is beyond all measure has none."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return {}
    return dict(reversed(pairs))


def _identity(request: SandboxRequest, parameters: Mapping[str, str]) -> dict[str, str]:
    """The numbers of the taxpayer: those given, else derived from the organization and the entity that is named."""
    who = (request.org_id, parameters.get("legalEntityId", ""))
    return {"vrn": parameters.get("vrn", derived_vrn(*who)), "nino": parameters.get("nino", derived_nino(*who))}


def _endpoint_of(request: SandboxRequest) -> tuple[_Endpoint, dict[str, str]]:
    """The endpoint of a path, with the parameters that stand in it."""
    matched = [
        (endpoint, found) for endpoint in ENDPOINTS if (found := _match(endpoint.path, request.path)) is not None
    ]
    if not matched:
        raise fault(404, "MATCHING_RESOURCE_NOT_FOUND", "A resource with the name in the request can not be found")
    _check_method(request.method, {endpoint.method for endpoint, _ in matched})
    return next((endpoint, found) for endpoint, found in matched if endpoint.method == request.method)


def _match(template: str, path: str) -> dict[str, str] | None:
    """The parameters of a path that has a template's form; None for another. A segment may not be empty."""
    names, segments = template.split("/"), path.split("/")
    if len(names) != len(segments):
        return None
    found = {}
    for name, segment in zip(names, segments, strict=True):
        if name.startswith("{") and segment:
            found[name.strip("{}")] = unquote(segment)
        elif name != segment:
            return None
    return found


def _check_method(method: str, allowed: set[str]) -> None:
    if method not in allowed:
        raise fault(405, "METHOD_NOT_ALLOWED", "The method is not allowed for this resource")


def _check_accept(accept: str, version: str) -> None:
    """The authority wants its own media type, with the version of the interface (§D3)."""
    asked = _ACCEPT.fullmatch(accept.strip(" \t"))
    if asked is None:
        raise fault(406, "ACCEPT_HEADER_INVALID", "The accept header is missing or invalid")
    if asked[1] != version:
        raise fault(404, "NOT_FOUND", "The requested resource could not be found")


def _correlation_id(request: SandboxRequest, headers: Mapping[str, str]) -> str:
    """An id that two requests share only if they are the same at the same instant."""
    scenario = headers.get("gov-test-scenario", "")
    parts = (request.method, request.path, request.query, scenario, request.body, request.org_id, request.now)
    return derived_uuid("correlation", *parts)
