"""The sandbox authority: answers tax questions as the tax authority documents its own sandbox, without credentials.

It has the authority's own endpoints, with the test scenarios that the authority documents for each (domain model §D1,
§D4). Nothing is kept. An answer depends on the request alone and on the instant, which gives London's day, timestamps
and the correlation id: two daemons that are asked the same at the same moment answer the same bytes. Hence what the
authority's sandbox would remember is derived: STATEFUL scenarios answer with what follows from the person asked about.
"""

import datetime
import re
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote

from gatewayd.clock import Clock, Instant, london_date
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.bodies import BodyCutShort, BodyTooLarge, read_body
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.sandbox_authority import accounts, businesses, calculations, fraud_prevention, itsa, oauth, vat
from gatewayd.sandbox_authority.rules import (
    ENCODER,
    AuthorityFault,
    Call,
    Document,
    Handler,
    derived_uuid,
    fault,
    field_value,
)

MAX_PARAMETERS: Final = 100  # Chosen: no operation has ten
BODY_BYTES_MAX: Final = 64 * 1024  # Chosen: nothing but forms is taken
_ACCEPT: Final = re.compile(r"application/vnd\.hmrc\.([0-9]{1,2})\.0\+json")


class Endpoint(NamedTuple):
    """One endpoint, a GET: `version` is the one of its interface that is spoken here.

    `of_program`: it is about nobody, and answers a program that comes in its own name.
    """

    path: str
    version: str
    handler: Handler
    of_program: bool = False


ENDPOINTS: Final = (
    Endpoint("/organisations/vat/{vrn}/obligations", "1", vat.obligations),
    Endpoint("/organisations/vat/{vrn}/liabilities", "1", vat.liabilities),
    Endpoint("/organisations/vat/{vrn}/payments", "1", vat.payments),
    Endpoint("/organisations/vat/{vrn}/returns/{periodKey}", "1", vat.view_return),
    Endpoint("/individuals/person/itsa-status/{nino}/{taxYear}", "2", itsa.itsa_status),
    Endpoint("/obligations/details/{nino}/income-and-expenditure", "3", itsa.income_and_expenditure),
    Endpoint("/obligations/details/{nino}/crystallisation", "3", itsa.crystallisation),
    Endpoint("/individuals/calculations/{nino}/self-assessment/{taxYear}", "8", calculations.list_calculations),
    Endpoint(
        "/individuals/calculations/{nino}/self-assessment/{taxYear}/{calculationId}",
        "8",
        calculations.retrieve_calculation,
    ),
    Endpoint("/accounts/self-assessment/{nino}/balance-and-transactions", "4", accounts.balance),
    Endpoint("/individuals/business/details/{nino}/list", "2", businesses.list_businesses),
    Endpoint("/individuals/business/details/{nino}/{businessId}", "2", businesses.retrieve_business),
    Endpoint("/test/fraud-prevention-headers/validate", "1", fraud_prevention.validate, of_program=True),
)
"""The authority's endpoints; of two that match, the first is meant."""


class SandboxAuthority:
    """The authority of every daemon that has no other. Holds nothing: one is as good as another."""

    def __init__(self, clock: Clock, *, wants_tokens: bool = False) -> None:
        """`wants_tokens`: it gives tokens out, and answers nobody without one."""
        self._clock = clock
        self._wants_tokens = wants_tokens

    def answer(self, request: Request) -> Response:
        """What the authority says to a request. Raises nothing, whatever stands in it."""
        now = self._clock.now()
        if self._wants_tokens and request.target.partition("?")[0] in oauth.PATHS:
            return oauth.answer(request, now)
        try:
            status, document = 200, self._document(request, now)
        except AuthorityFault as refused:
            status, document = refused.status, refused.document
        headers = [
            (b"Content-Type", b"application/json"),
            (b"X-CorrelationId", _correlation_id(request, now).encode()),
        ]
        return Response(status, headers, ENCODER.encode(document))

    def _document(self, request: Request, now: Instant) -> Document:
        path, _, query = request.target.partition("?")
        endpoint, named = _endpoint_of(path)
        if request.method != "GET":
            raise fault(405, "METHOD_NOT_ALLOWED", "The method is not allowed for this resource")
        if self._wants_tokens:
            oauth.check_bearer(request.headers, now, of_program=endpoint.of_program)
        _check_accept(field_value(request.headers, b"accept"), endpoint.version)
        return endpoint.handler(
            Call(
                parameters={**_parameters(query), **named},
                fraud_headers=fraud_prevention.headers_of(request.headers),
                scenario=field_value(request.headers, b"gov-test-scenario"),
                today=datetime.date.fromisoformat(london_date(now)),
                now=now,
            )
        )


def _parameters(query: str) -> dict[str, str]:
    """The parameters; of one that is repeated the first counts, and what is beyond all measure has none."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return {}
    return dict(reversed(pairs))


def _endpoint_of(path: str) -> tuple[Endpoint, dict[str, str]]:
    """The endpoint of a path, with the parameters that stand in it."""
    for endpoint in ENDPOINTS:
        parameters = _match(endpoint.path, path)
        if parameters is not None:
            return endpoint, parameters
    raise fault(404, "MATCHING_RESOURCE_NOT_FOUND", "A resource with the name in the request can not be found")


def _match(template: str, path: str) -> dict[str, str] | None:
    """The parameters of a path that has a template's form; None for another. A segment may not be empty."""
    names, segments = template.split("/"), path.split("/")
    if len(names) != len(segments):
        return None
    parameters = {}
    for name, segment in zip(names, segments, strict=True):
        if name.startswith("{") and segment:
            parameters[name.strip("{}")] = unquote(segment)
        elif name != segment:
            return None
    return parameters


def _check_accept(accept: str, version: str) -> None:
    """The authority wants its own media type, with the version of the interface (§D3)."""
    match = _ACCEPT.fullmatch(accept)
    if match is None:
        raise fault(406, "ACCEPT_HEADER_INVALID", "The accept header is missing or invalid")
    if match[1] != version:
        raise fault(404, "NOT_FOUND", "The requested resource could not be found")


def _correlation_id(request: Request, now: Instant) -> str:
    """An id that two requests share only if they are the same at the same instant."""
    scenario = field_value(request.headers, b"gov-test-scenario")
    return derived_uuid("correlation", request.method, request.target, scenario, request.body, now)


# -- over HTTP


def asgi(authority: SandboxAuthority) -> App:
    """An ASGI application that answers as the authority does."""

    async def app(scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        request.read_fields()
        with suppress(BodyTooLarge, BodyCutShort):  # what no endpoint could make anything of is no body at all
            request.body = await read_body(request, receive, BODY_BYTES_MAX)
        await send_response(request, authority.answer(request), send)

    return app
