"""What a composed operation is made of: parts, each a question of its own to the authority (domain model §D1).

A part that the authority refuses, does not find or does not answer in its share of the time is told as it is. What
concerns every part alike, such as an authorisation that has ended, is the answer to the whole. A test scenario goes to
those parts that document it (§D4).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from gatewayd.clock import Instant, london_date, to_wire
from gatewayd.errors import Problem
from gatewayd.http1.response import Response
from gatewayd.sandbox_authority import accounts, calculations, itsa
from gatewayd.tax.authority.authority import TOO_MANY
from gatewayd.tax.authority.mapping import ENDPOINTS, Endpoint, Target, authority_target
from gatewayd.tax.forwarding import shapes

STATUS: Final = "itsaStatus"
QUARTERLY: Final = "itsaObligations"
FINAL: Final = "finalDeclaration"
CALCULATIONS: Final = "itsaCalculations"
BALANCE: Final = "balance"
PARTS: Final[Mapping[str, Endpoint]] = {
    STATUS: ENDPOINTS["itsaStatus.get"],
    QUARTERLY: ENDPOINTS["itsaObligations.list"],
    FINAL: ENDPOINTS["itsaObligations.list:final_declaration"],
    CALCULATIONS: ENDPOINTS["itsaCalculations.list"],
    BALANCE: ENDPOINTS["accounts.balance"],
}
"""What is asked for, by the name that an answer tells it by."""
SCENARIOS: Final[Mapping[str, Collection[str]]] = {
    STATUS: itsa.STATUS_SCENARIOS,
    QUARTERLY: itsa.OBLIGATION_SCENARIOS,
    FINAL: itsa.DECLARATION_SCENARIOS,
    CALCULATIONS: calculations.LIST_SCENARIOS,
    BALANCE: accounts.BALANCE_SCENARIOS,
}
"""The test scenarios that each part documents."""
Object = dict[str, Any]

_OF_ONE_PART: Final = frozenset({"tax_upstream_error", "tax_upstream_timeout", "unavailable", "rate_limited"})
"""Codes of problems that another part need not have."""


class Ask(Protocol):
    """A question to the authority, under a test scenario, empty for none. Raises `Problem`.

    `behind` is how many questions come after it, for which some of the time is left.
    """

    async def __call__(self, target: Target, scenario: str, behind: int) -> Response: ...


class Question(NamedTuple):
    """What a part is asked for with, beside the person's number."""

    part: str
    more: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """What came of one question; `document` is empty where the authority has nothing to say.

    `failure` is its refusal, or the problem there was, None where it answered: also that there is nothing.
    """

    summary: shapes.SummaryPart
    document: Object
    failure: Response | Problem | None = None

    @property
    def refusal(self) -> Response | None:
        """The authority's own no; None where it said yes, or could not be asked."""
        return self.failure if isinstance(self.failure, Response) and 400 <= self.failure.status < 500 else None

    def rows(self, name: str) -> list[Object]:
        """The objects of a list in the document; none where it is not there."""
        return rows_of(self.document, name)


class RefusedError(Exception):
    """The authority's refusal, where it has nothing else to say."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


@dataclass(frozen=True, slots=True)
class Composition:
    """What an answer is composed from: the parameters with the taxpayer's number, the time, a way to the authority.

    `scenario` is empty where no test scenario was named.
    """

    values: Mapping[str, str]
    now: Instant
    scenario: str
    ask: Ask

    @property
    def today(self) -> str:
        return london_date(self.now)

    async def parts(self, questions: Sequence[Question], *, until_refused: bool = False) -> list[Part]:
        """Ask the questions in turn; with `until_refused`, the first refusal that concerns the person refuses them all.

        Raises `Problem` for what concerns every part, and as `refuse` does.
        """
        parts: list[Part] = []
        for question in questions:
            part = await self._answered_part(*question, len(questions) - len(parts) - 1)
            if until_refused and part.refusal is not None and part.refusal.status != TOO_MANY:
                raise RefusedError(part.refusal)
            parts.append(part)
        refuse(parts)
        return parts

    async def _answered_part(self, name: str, more: Mapping[str, str], behind: int) -> Part:
        target = authority_target(PARTS[name], {"nino": self.values["nino"], **more})
        try:
            response = await self.ask(target, self.scenario if self.scenario in SCENARIOS[name] else "", behind)
        except Problem as problem:
            if problem.code not in _OF_ONE_PART:
                raise
            return self._failed(name, problem, _upstream_status(problem), problem.code)
        document = _object(response)
        if response.status == 200 and document:
            return Part(self._summary_of(name, "ok", 200, None), document)
        if response.status == 404:
            return Part(self._summary_of(name, "not_found", 404, text(document, "code")), {})
        return self._failed(name, response, response.status, text(document, "code"))

    def _summary_of(self, name: str, status: str, http_status: int | None, code: str | None) -> shapes.SummaryPart:
        return shapes.SummaryPart(
            source=name, status=status, code=code, http_status=http_status, fetched_at=to_wire(self.now)
        )

    def _failed(self, name: str, failure: Response | Problem, http_status: int | None, code: str | None) -> Part:
        return Part(self._summary_of(name, "failed", http_status, code), {}, failure)


def refuse(parts: Collection[Part]) -> None:
    """End the whole where every part failed: with the authority's first refusal, else with the first problem.

    Raises `RefusedError`, `Problem`.
    """
    failures = [part.failure for part in parts if part.failure is not None]
    if len(failures) < len(parts):
        return
    refusal = next((part.refusal for part in parts if part.refusal is not None), None)
    if refusal is not None:
        raise RefusedError(refusal)
    first = failures[0]
    if isinstance(first, Problem):
        raise first
    upstream = {"status": first.status, "code": text(_object(first), "code")}
    raise Problem("tax_upstream_error", "Every part of the answer failed.", extra={"upstream": upstream})


def rows_of(document: Object, name: str) -> list[Object]:
    """The objects of a list in a document; none where it is not there."""
    value = document.get(name)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text(document: Object, name: str) -> str | None:
    """A text in a document; None where it is not there."""
    value = document.get(name)
    return value if isinstance(value, str) else None


def _object(response: Response) -> Object:
    try:
        return msgspec.json.decode(response.body, type=Object)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}


def _upstream_status(problem: Problem) -> int | None:
    upstream = problem.extra.get("upstream")
    status = upstream.get("status") if isinstance(upstream, dict) else None
    return status if isinstance(status, int) else None
