"""From an operation of the tax subtree to the authority and back (domain model §D).

    taxpayer -> target -> authority -> what may be passed on

Other operations that ask the authority for a caller do so in a session of their own.
"""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

import msgspec

from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.errors import invalid_field
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import Store
from gatewayd.tax.authority import headers, mapping
from gatewayd.tax.forwarding import composing, taxpayers
from gatewayd.tax.forwarding.composition import Composition
from gatewayd.tax.forwarding.taxpayers import Taxpayer, TaxpayerReference
from gatewayd.tax.sessions.authority_session import AuthoritySession, ProxyParts, open_session

HMRC: Final = "hmrc"  # what X-Tax-Upstream says of a network's answer, whichever service gave it (§D3)
SANDBOX: Final = "sandbox"


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller asks. `values` are the parameters as text, `pairs` the same as the caller wrote them."""

    operation_id: str
    path: str
    values: Mapping[str, str]
    pairs: list[tuple[str, str]]


class Proxy:
    """The tax engine of one daemon."""

    def __init__(self, parts: ProxyParts) -> None:
        self._parts = parts
        self.settings: Final = parts.settings
        self.store: Final[Store] = parts.store

    def open_session(
        self, operation_id: str, caller: Caller, incoming: Request
    ) -> AbstractAsyncContextManager[AuthoritySession]:
        """A block in which the authority may be asked for a caller. Raises `Problem`; the call is recorded first."""
        return open_session(self._parts, operation_id, caller, incoming)

    async def pass_on(
        self, operation: Operation, caller: Caller, request: msgspec.Struct, incoming: Request
    ) -> Response:
        """The answer to one call. Raises `Problem`; either way the call is recorded first."""
        question = Question(
            operation_id=operation.id,
            path=operation.path,
            values=_texts(request),
            pairs=parse_qsl(incoming.query.decode("ascii"), keep_blank_values=True),
        )
        async with self.open_session(operation.id, caller, incoming) as session:
            response = await self._answer(question, session)
            session.status = response.status
        upstream = SANDBOX if self.settings.mode == "sandbox" else HMRC
        fields = headers.response_fields(response.headers, upstream)
        if session.age is not None:
            fields.append((headers.AGE, b"%d" % session.age))
        return Response(response.status, fields, response.body)

    async def _answer(self, question: Question, session: AuthoritySession) -> Response:
        taxpayer = await self._taxpayer(question, session)
        if self.settings.mode == "forward":  # in the caller's own words: only its id tells the service whose taxes
            accept = mapping.accept_of(question.operation_id, question.values)
            return await session.relay(mapping.forwarded_target(question.path, question.pairs, accept))
        values = {**question.values, **_identity(question, taxpayer)}
        if question.operation_id in composing.PARTS_OF:
            now = Instant(self.store.now())
            composition = Composition(values, now, session.scenario, session.ask)
            return await composing.compose(question.operation_id, composition)
        endpoint = mapping.endpoint_of(question.operation_id, values)
        return await session.relay(mapping.authority_target(endpoint, values))

    async def _taxpayer(self, question: Question, session: AuthoritySession) -> Taxpayer | None:
        """The taxpayer of the entity or number that is named, or of the only entity; the session then asks for it."""
        kind = mapping.identity_of(question.operation_id)
        reference = TaxpayerReference(question.values.get("legalEntityId", ""), kind, question.values.get(kind, ""))
        taxpayer = await self.store.read(lambda tx: taxpayers.find(tx, reference), session.org_id)
        session.legal_entity_id = None if taxpayer is None else taxpayer.legal_entity_id
        return taxpayer


def _texts(request: msgspec.Struct) -> dict[str, str]:
    """The parameters of a request as text; those that were not given are left out."""
    members = msgspec.to_builtins(request)
    return {name: _value_text(value) for name, value in members.items() if value is not None}


def _value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _identity(question: Question, taxpayer: Taxpayer | None) -> dict[str, str]:
    """The number that the authority knows the taxpayer by: as the caller gives it, else that of the entity.

    Raises `Problem` `validation_failed` where there is none.
    """
    kind = mapping.identity_of(question.operation_id)
    number = question.values.get(kind)
    if number:
        return {kind: number}
    if taxpayer is None:
        message = "The organization has several legal entities: name one, or give its number."
        raise invalid_field("legalEntityId", "required", message)
    known = taxpayer.vrn if kind == "vrn" else taxpayer.nino
    if known is None:
        raise invalid_field(kind, "required", "The legal entity has no such number: give one.")
    return {kind: known}
