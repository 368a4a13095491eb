"""From a tax operation to the authority and back (domain model §D): the one path that every call takes.

    configured? -> taxpayer -> fraud-prevention headers -> target -> authority -> what may be passed on -> record

Whatever happens on the way, the call is recorded and has its answer within `timeout_seconds`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

import msgspec
import trio

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Fields, Incoming, Operation, Relayed
from gatewayd.errors import FieldError, Problem, invalid_field
from gatewayd.store import Store
from gatewayd.tax import calls, composing, fraud_headers, headers, mapping, taxpayers
from gatewayd.tax.authority import Authority, Log
from gatewayd.tax.connections import Connection
from gatewayd.tax.exchange import Answered, Outgoing
from gatewayd.tax.settings import TaxSettings
from gatewayd.tax.taxpayers import Taxpayer
from gatewayd.tax.tokens import Bearers

HMRC: Final = "hmrc"  # what X-Tax-Upstream says of a network's answer, whichever service gave it (§D3)
SANDBOX: Final = "sandbox"
CODE_BYTES: Final = 64 * 1024  # Chosen: a larger body is not searched for a code

_NOT_PASSED: Final = frozenset({401, 406, 407})
"""Statuses of 400 and above that would speak to the caller of what is between us and the authority."""
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{1,99}")
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]{1,128}")


class _Coded(msgspec.Struct):
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One call of an operation. `values` are its parameters as text, `pairs` the same as the caller wrote them."""

    operation_id: str
    path: str
    caller: Caller
    values: Mapping[str, str]
    pairs: list[tuple[str, str]]
    incoming: Incoming

    @property
    def org_id(self) -> str:
        return self.caller.org_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyParts:
    """What a proxy works with. `user_agent` is what the authority sees."""

    store: Store
    settings: TaxSettings
    log: Log
    user_agent: str


class Proxy:
    """The tax engine of one daemon. `authority` is None where none is configured."""

    def __init__(self, parts: ProxyParts, authority: Authority | None, bearers: Bearers | None = None) -> None:
        """`bearers` None: the authority wants no token."""
        self._store = parts.store
        self._settings = parts.settings
        self._log = parts.log
        self._user_agent = parts.user_agent
        self._authority = authority
        self._bearers = bearers

    async def pass_on(
        self, operation: Operation, caller: Caller, request: msgspec.Struct, incoming: Incoming
    ) -> Relayed:
        """The answer to one call. Raises `Problem`; either way the call is recorded first."""
        question = Question(
            operation_id=operation.id,
            path=operation.path,
            caller=caller,
            values=_texts(request),
            pairs=parse_qsl(incoming.query.decode("ascii"), keep_blank_values=True),
            incoming=incoming,
        )
        started = trio.current_time()
        status, code, correlation_id = 0, None, None
        try:
            answered = await self._in_time(question)
            status, correlation_id = answered.status, _correlation_id(answered.fields)
        except Problem as problem:
            status, code = problem.status, problem.code
            raise
        finally:
            milliseconds = round((trio.current_time() - started) * 1000)
            with trio.CancelScope(shield=True):  # bounded by the store: what is queued there is decided
                await self._record(question, (status, code, correlation_id, milliseconds))
        upstream = SANDBOX if self._settings.mode == "sandbox" else HMRC
        return Relayed(answered.status, headers.returning(answered.fields, upstream), answered.body)

    async def _record(self, question: Question, ending: tuple[int, str | None, str | None, int]) -> None:
        caller = question.caller
        call = calls.TaxCall(
            question.incoming.request_id, caller.credential_id, caller.user_id, question.operation_id, *ending
        )
        await self._store.write(lambda tx: calls.record(tx, call), question.org_id)

    async def _in_time(self, question: Question) -> Answered:
        seconds = self._settings.timeout_seconds
        try:
            with trio.fail_after(seconds):
                return await self._answer(question)
        except trio.TooSlowError:
            self._log.warning("tax_upstream_timeout", operation=question.operation_id, seconds=seconds)
            message = f"The tax service did not answer within {seconds:g} seconds."
            raise Problem("tax_upstream_timeout", message) from None

    async def _answer(self, question: Question) -> Answered:
        if self._authority is None:
            raise Problem("tax_not_configured", "No tax service is configured on this instance.")
        taxpayer = await self._taxpayer(question)
        self._check_headers(question)
        if self._settings.mode != "hmrc":
            pairs = question.pairs if taxpayer is None else [*question.pairs, *_number_of(question, taxpayer)]
            accept = mapping.accept_of(question.operation_id, question.values)
            return await self._ask(question, mapping.forwarded_target(question.path, pairs, accept))
        values = {**question.values, **_identity(question, taxpayer)}
        if question.operation_id in composing.COMPOSED:
            asked = composing.Asked(values, Instant(self._store.now()), lambda target: self._ask(question, target))
            return await composing.compose(question.operation_id, asked)
        endpoint = mapping.endpoint_of(question.operation_id, values)
        return await self._ask(question, mapping.authority_target(endpoint, values))

    # -- before the call

    async def _taxpayer(self, question: Question) -> Taxpayer | None:
        """Whose taxes; an entity that is named must be the organization's own, also where only its id is passed on."""
        entity_id = question.values.get("legalEntityId")
        if entity_id:
            found = await self._store.read(lambda tx: taxpayers.named(tx, entity_id), question.org_id)
            return None if self._settings.mode == "forward" else found
        if self._settings.mode == "forward":
            return None
        return await self._store.read(taxpayers.only, question.org_id)

    def _check_headers(self, question: Question) -> None:
        """Raises `Problem` `fraud_headers_invalid` or `test_header_in_production`."""
        mode, sandbox = self._settings.fraud_headers, self._settings.is_sandbox
        faults = fraud_headers.check(headers.texts(question.incoming.fields), mode, sandbox=sandbox)
        if any(fault.code == "test_header_in_production" for fault in faults):
            message = f"{fraud_headers.TEST_SCENARIO} is for the sandbox only."
            raise Problem("test_header_in_production", message)
        if faults and mode == "require":
            errors = tuple(FieldError(fault.header, fault.code, f"{fault.header} {fault.message}.") for fault in faults)
            names = ", ".join(dict.fromkeys(fault.header for fault in faults))
            raise Problem("fraud_headers_invalid", f"These headers are missing or malformed: {names}.", errors=errors)
        if faults:
            found = [f"{fault.header}: {fault.code}" for fault in faults]
            self._log.warning("fraud_headers_invalid", request_id=question.incoming.request_id, faults=found)

    # -- the call

    async def _ask(self, question: Question, target: mapping.Target) -> Answered:
        """One request to the authority, and a second one with a fresh token where the first was refused."""
        connection = await self._connection(question)
        answered = await self._ask_as(question, target, connection)
        if answered.status == 401 and connection is not None and self._bearers is not None:
            fresh = await self._bearers.refreshed(question.org_id, connection)
            answered = answered if fresh is None else await self._ask_as(question, target, fresh)
        return self._fit(answered, question)

    async def _connection(self, question: Question) -> Connection | None:
        """Raises `Problem` `tax_not_connected` where there is nothing that the authority would accept."""
        if self._bearers is None:
            return None
        connection = await self._bearers.current(question.org_id)
        if connection is None and self._settings.mode == "hmrc":
            raise Problem("tax_not_connected", "The organization is not connected to the tax authority.")
        return connection

    async def _ask_as(self, question: Question, target: mapping.Target, connection: Connection | None) -> Answered:
        assert self._authority is not None
        ours = headers.Set(
            accept=target.accept,
            bearer=None if connection is None else connection.access,
            request_id=question.incoming.request_id,
            user_agent=self._user_agent,
        )
        fields = headers.outgoing(question.incoming.fields, ours, sandbox=self._settings.is_sandbox)
        return await self._authority.answer(Outgoing(target.line, fields), question.org_id)

    def _fit(self, answered: Answered, question: Question) -> Answered:
        """The answer where it may be passed on (§D3). Raises `Problem` where it may not."""
        status = answered.status
        if 200 <= status < 300 or (400 <= status < 600 and status not in _NOT_PASSED):
            return answered
        upstream = {"status": status, "code": _code_of(answered)}
        if status == 401:
            message = "The tax authority no longer accepts the organization's authorisation. Connect it again."
            raise Problem("tax_reauthorisation_required", message, extra={"upstream": upstream})
        self._log.warning("tax_upstream_unfit", operation=question.operation_id, status=status)
        message = f"The tax service answered {status}, which is not passed on."
        raise Problem("tax_upstream_error", message, extra={"upstream": upstream})


def _texts(request: msgspec.Struct) -> dict[str, str]:
    """The parameters of a request as text; those that were not given are left out."""
    members = msgspec.to_builtins(request)
    return {name: _text(value) for name, value in members.items() if value is not None}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _identity(question: Question, taxpayer: Taxpayer | None) -> dict[str, str]:
    """The number that the authority knows the taxpayer by: as the caller gives it, else that of the entity.

    Raises `Problem` `validation_failed` where there is none.
    """
    kind = mapping.identity_of(question.operation_id)
    given = question.values.get(kind)
    if given:
        return {kind: given}
    if taxpayer is None:
        message = "The organization has several legal entities: name one, or give its number."
        raise invalid_field("legalEntityId", "required", message)
    known = taxpayer.vrn if kind == "vrn" else taxpayer.nino
    if known is None:
        raise invalid_field(kind, "required", "The legal entity has no such number: give one.")
    return {kind: known}


def _number_of(question: Question, taxpayer: Taxpayer) -> list[tuple[str, str]]:
    """The taxpayer's number as one more parameter for the sandbox; none where one is given, or there is none."""
    kind = mapping.identity_of(question.operation_id)
    known = taxpayer.vrn if kind == "vrn" else taxpayer.nino
    return [] if known is None or question.values.get(kind) else [(kind, known)]


def _correlation_id(fields: Fields) -> str | None:
    text = headers.value_of(fields, b"x-correlationid")
    return text if text is not None and _PRINTABLE.fullmatch(text) else None


def _code_of(answered: Answered) -> str | None:
    """The code in an error of the authority's; None where it has none that can be read."""
    if len(answered.body) > CODE_BYTES:
        return None
    try:
        found = msgspec.json.decode(answered.body, type=_Coded)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return next((text for text in (found.code, found.message) if _CODE.fullmatch(text)), None)
