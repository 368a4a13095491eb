"""An authority session: the path that every operation takes to the tax authority for a caller (domain model §D).

    configured? -> fraud-prevention headers -> as many requests as are needed, each as the caller -> record

Whatever happens on the way, the call is recorded, and the authority has `timeout_seconds` for all requests together.
Only a refresh of tokens that has begun by then is waited for, within its own bound.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import msgspec
import trio

from gatewayd.contract.caller import Caller
from gatewayd.errors import FieldError, Problem
from gatewayd.http1.header_fields import Headers
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import Store
from gatewayd.tax.authority import headers
from gatewayd.tax.authority.authority import Authority
from gatewayd.tax.authority.cache import KeptResponse
from gatewayd.tax.authority.mapping import Target
from gatewayd.tax.connections.bearer_tokens import BearerTokens
from gatewayd.tax.connections.connections import Connection
from gatewayd.tax.fraud import fraud_headers
from gatewayd.tax.fraud.fraud_headers import FraudFault, FraudWarning
from gatewayd.tax.sessions import call_log
from gatewayd.tax.settings import TaxSettings

LEFT_SECONDS: Final = 3.0  # Chosen: a request that hangs leaves the others time, and one that is slow has the rest
CODE_BYTES: Final = 64 * 1024  # Chosen: a larger body is not searched for a code

_NOT_PASSED: Final = frozenset({401, 406, 407})
"""Statuses of 400 and above that would speak to the caller of what is between us and the authority."""
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{1,99}")
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]{1,128}")
_SCENARIO: Final = fraud_headers.TEST_SCENARIO.lower().encode()
_FOR_A_READER_OF_BYTES: Final = frozenset({b"accept-encoding", _SCENARIO})


class _Coded(msgspec.Struct):
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyParts:
    """What a proxy works with. `user_agent` is what the authority sees.

    `log` is never told a value of a caller's header, a token or a body. `authority` None: none is configured; `bearers`
    None: it wants no token.
    """

    store: Store
    settings: TaxSettings
    log: Log
    user_agent: str
    authority: Authority | None = None
    bearers: BearerTokens | None = None


class AuthoritySession:
    """One call of an operation that asks the authority. `status` is what the caller is answered when all went well."""

    def __init__(self, parts: ProxyParts, operation_id: str, caller: Caller, incoming: Request) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._log = parts.log
        self._incoming = incoming
        self._started = trio.current_time()
        self._noted: str | None = None  # names of headers with what is noted of each, and no value of theirs
        self._granted_to: str | None = None  # the legal entity whose own connection was used
        self.operation_id = operation_id
        self.caller = caller
        self.status = 200
        self.correlation_id: str | None = None  # of the last answer
        self.legal_entity_id: str | None = None  # whose taxes; None: nobody's of the organization's entities
        self._was_asked = False  # the authority, and not our cache alone
        self._oldest = 0.0  # seconds

    @property
    def org_id(self) -> str:
        return self.caller.org_id

    @property
    def scenario(self) -> str:
        """The test scenario that the caller names; empty where none is named."""
        return (headers.value_of(self._incoming.headers, _SCENARIO) or "").strip(" \t")

    @property
    def age(self) -> int | None:
        """How many seconds old the oldest answer is, where all were kept here; None: the authority was asked."""
        return None if self._was_asked else int(self._oldest)

    async def relay(self, target: Target) -> Response:
        """The answer to the caller's own request, in the encoding that the caller takes. Raises `Problem`."""
        return await self._send_in_time(target, self._incoming.headers)

    async def ask(self, target: Target, scenario: str, behind: int = 0) -> Response:
        """The answer to a request of ours for the caller, to be read here, under a test scenario. Raises `Problem`.

        `behind` is how many requests come after it, for each of which `LEFT_SECONDS` are left, or an equal share.
        """
        fields = [field for field in self._incoming.headers if field[0].lower() not in _FOR_A_READER_OF_BYTES]
        if scenario:
            fields.append((_SCENARIO, scenario.encode("latin-1")))
        return await self._send_in_time(target, fields, behind)

    def problem_of(self, response: Response, message: str) -> Problem:
        """The problem for an answer that cannot be used."""
        upstream = {"status": response.status, "code": code_of(response)}
        return Problem("tax_upstream_error", message, extra={"upstream": upstream})

    # -- before the first request

    def begin(self) -> None:
        """Raises `Problem` where the authority may not be asked at all."""
        if self._parts.authority is None:
            raise Problem("tax_not_configured", "No tax service is configured on this instance.")
        verdict = self._settings.judge(headers.texts(self._incoming.headers))
        faults, required = verdict.faults, self._settings.fraud_headers == "require"
        self._note([*([] if required else faults), *verdict.warnings])
        if any(fault.code == "test_header_in_production" for fault in faults):
            message = f"{fraud_headers.TEST_SCENARIO} is for the sandbox only."
            raise Problem("test_header_in_production", message)
        if faults and required:
            errors = tuple(FieldError(fault.header, fault.code, f"{fault.header} {fault.message}.") for fault in faults)
            names = ", ".join(dict.fromkeys(fault.header for fault in faults))
            raise Problem("fraud_headers_invalid", f"These headers are missing or malformed: {names}.", errors=errors)
        if faults:
            details = [f"{fault.header}: {fault.code}" for fault in faults]
            self._log.warning("fraud_headers_invalid", request_id=self._incoming.id, faults=details)

    def _note(self, notes: list[FraudFault | FraudWarning]) -> None:
        """Tell the caller, whatever comes of the call."""
        if notes:
            self._noted = ", ".join(f"{each.header}={each.code}" for each in notes)
            self._incoming.answer_fields = ((headers.WARNINGS, self._noted.encode()),)

    # -- the requests

    async def _send_in_time(self, target: Target, fields: Headers, behind: int = 0) -> Response:
        left = max(0.0, self._started + self._settings.timeout_seconds - trio.current_time())
        seconds = left - behind * min(LEFT_SECONDS, left / (behind + 1))
        try:
            with trio.fail_after(seconds):
                response = await self._send(target, fields)
        except trio.TooSlowError:
            self._log.warning("tax_upstream_timeout", operation=self.operation_id, seconds=round(seconds, 1))
            message = f"The tax service did not answer within {self._settings.timeout_seconds:g} seconds."
            raise Problem("tax_upstream_timeout", message) from None
        self.correlation_id = _correlation_id(response.headers)
        if isinstance(response, KeptResponse):
            self._oldest = max(self._oldest, response.age)
        else:
            self._was_asked = True
        return self._vet(response)

    async def _send(self, target: Target, fields: Headers) -> Response:
        """One request to the authority, and a second one with a fresh token where the first was refused."""
        bearers, connection = self._parts.bearers, await self._connection()
        response = await self._send_as(target, fields, connection)
        if response.status == 401 and connection is not None and bearers is not None:
            refreshed = await bearers.refresh(self.org_id, connection)
            response = response if refreshed is None else await self._send_as(target, fields, refreshed)
        return response

    async def _connection(self) -> Connection | None:
        """Raises `Problem` `tax_not_connected` where there is nothing that the authority would accept."""
        bearers = self._parts.bearers
        if bearers is None:
            return None
        connection = await bearers.find(self.org_id, self.legal_entity_id)
        if connection is None and self._settings.mode == "hmrc":
            message = "Nobody has connected these taxes to the tax authority: a person does so at /developers/tax."
            raise Problem("tax_not_connected", message)
        self._granted_to = None if connection is None else connection.legal_entity_id
        return None if connection is None else await bearers.renewed(self.org_id, connection)

    async def _send_as(self, target: Target, fields: Headers, connection: Connection | None) -> Response:
        assert self._parts.authority is not None
        ours = headers.OwnFields(
            accept=target.accept,
            bearer=None if connection is None else connection.access,
            request_id=self._incoming.id,
            user_agent=self._parts.user_agent,
        )
        passed = headers.request_fields(fields, ours, sandbox=self._settings.is_sandbox)
        sent = headers.with_hop(passed, self._settings.append_hop, self._incoming.peer)
        request = Request("GET", target.line, sent)
        return await self._parts.authority.answer(request, self.org_id, fresh=target.fresh)

    def _vet(self, response: Response) -> Response:
        """The answer where it may be passed on (§D3). Raises `Problem` where it may not."""
        status = response.status
        if 200 <= status < 300 or (400 <= status < 600 and status not in _NOT_PASSED):
            return response
        if status == 401:
            message = "The tax authority no longer accepts the organization's authorisation. Connect it again."
            upstream = {"status": status, "code": code_of(response)}
            raise Problem("tax_reauthorisation_required", message, extra={"upstream": upstream})
        self._log.warning("tax_upstream_unfit", operation=self.operation_id, status=status)
        raise self.problem_of(response, f"The tax service answered {status}, which is not passed on.")

    # -- at the end

    async def record(self, status: int, code: str | None) -> None:
        """Keep what became of the call. Raises `StoreFailure`."""
        caller = self.caller
        call = call_log.TaxCall(
            request_id=self._incoming.id,
            credential_id=caller.credential_id,
            user_id=caller.user_id,
            operation=self.operation_id,
            status=status,
            code=code,
            correlation_id=self.correlation_id,
            legal_entity_id=self._granted_to,
            warnings=self._noted,
            milliseconds=round((trio.current_time() - self._started) * 1000),
        )
        await self._parts.store.write(lambda tx: call_log.record(tx, call), self.org_id)


@asynccontextmanager
async def open_session(
    parts: ProxyParts, operation_id: str, caller: Caller, incoming: Request
) -> AsyncIterator[AuthoritySession]:
    """A session for the length of the block, and its record at the end. Raises `Problem`."""
    session = AuthoritySession(parts, operation_id, caller, incoming)
    status, code = 0, None
    try:
        session.begin()
        yield session
        status = session.status
    except Problem as problem:
        status, code = problem.status, problem.code
        raise
    finally:
        with trio.CancelScope(shield=True):  # bounded by the store: what is queued there is decided
            await session.record(status, code)


def code_of(response: Response) -> str | None:
    """The code in an error of the authority's; None where it has none that can be read."""
    if len(response.body) > CODE_BYTES:
        return None
    try:
        error = msgspec.json.decode(response.body, type=_Coded)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return next((text for text in (error.code, error.message) if _CODE.fullmatch(text)), None)


def _correlation_id(fields: Headers) -> str | None:
    text = headers.value_of(fields, b"x-correlationid")
    return text if text is not None and _PRINTABLE.fullmatch(text) else None
