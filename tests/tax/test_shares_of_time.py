"""A composed answer has one deadline: a part that hangs uses up its share of it, and no other's."""

from typing import cast

import msgspec
import pytest
import trio
from trio.testing import MockClock

from gatewayd.clock import Instant
from gatewayd.errors import Problem
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.store import Store
from gatewayd.tax.forwarding.composing import FILING_SUMMARY, LIST_TAX_YEARS, compose
from gatewayd.tax.forwarding.composition import Composition
from gatewayd.tax.sessions.authority_session import AuthoritySession, ProxyParts
from gatewayd.tax.settings import TaxSettings
from tests.sandbox_authority.asking import NINO, NOW, tell
from tests.support.engines import TaxLog
from tests.support.store import make_caller

SECONDS = 30.0
PATHS = {
    "itsaStatus": "itsa-status",
    "itsaObligations": "income-and-expenditure",
    "finalDeclaration": "crystallisation",
    "itsaCalculations": "calculations",
    "balance": "balance-and-transactions",
}


class Hanging:
    """The authority's sandbox, which never answers about some of it, and takes `pace` seconds for the rest."""

    def __init__(self, *paths: str, pace: float = 0.3) -> None:
        self.paths = paths
        self.pace = pace

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        if any(path in request.target for path in self.paths):
            await trio.sleep_forever()
        await trio.sleep(self.pace)
        return tell(request)


async def composed(operation_id: str, authority: Hanging) -> Response:
    settings = TaxSettings(mode="sandbox", timeout_seconds=SECONDS, fraud_headers="off")
    nothing = cast(Store, None)  # the call is not recorded here
    parts = ProxyParts(store=nothing, settings=settings, log=TaxLog(), user_agent="x", authority=authority)
    session = AuthoritySession(parts, operation_id, make_caller("org_a"), Request("GET", "/", []))
    values = {"nino": NINO, "taxYear": "2025-26"}
    return await compose(operation_id, Composition(values, Instant(NOW), "", session.ask))


async def summary(*hanging: str) -> Response:
    return await composed(FILING_SUMMARY, Hanging(*hanging))


@pytest.mark.parametrize("source", PATHS)
async def test_a_part_that_hangs_loses_no_other(source: str, autojump_clock: MockClock) -> None:
    began = trio.current_time()
    answer = msgspec.json.decode((await summary(PATHS[source])).body)
    assert trio.current_time() - began <= SECONDS
    told = {part["source"]: (part["status"], part["code"]) for part in answer["parts"]}
    expected = dict.fromkeys(PATHS, ("ok", None))
    assert told == {**expected, source: ("failed", "tax_upstream_timeout")}


# What each of the seven questions is asked about: of the quarters, the years.
@pytest.mark.parametrize(
    "path", ["crystallisation", "itsa-status", *(f"fromDate={year}" for year in range(2022, 2027))]
)
async def test_tax_years_lose_no_more_than_hangs(path: str, autojump_clock: MockClock) -> None:
    began = trio.current_time()
    answer = msgspec.json.decode((await composed(LIST_TAX_YEARS, Hanging(path))).body)
    assert trio.current_time() - began <= SECONDS
    assert sorted(part["status"] for part in answer["parts"]) == ["failed", *["ok"] * 6]
    known = [value is not None for year in answer["taxYears"] for value in year.values()]
    assert known.count(False) == (1 if path.startswith("from") else 5)


async def test_an_authority_that_is_slow_is_given_the_time_there_is(autojump_clock: MockClock) -> None:
    """Seven times four seconds are within the thirty; the first may take twelve, where the others are quick."""
    answer = msgspec.json.decode((await composed(LIST_TAX_YEARS, Hanging(pace=4.0))).body)
    assert [part["status"] for part in answer["parts"]] == ["ok"] * 7
    answer = msgspec.json.decode((await composed(LIST_TAX_YEARS, Hanging(pace=11.9))).body)
    assert [part["status"] for part in answer["parts"]] == ["ok", *["failed"] * 6]


async def test_parts_that_hang_leave_the_last_its_time(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    answer = msgspec.json.decode((await summary(*list(PATHS.values())[:4])).body)
    assert trio.current_time() - began < SECONDS
    assert answer["parts"][4]["status"] == "ok"


async def test_where_all_hang_the_whole_is_too_late(autojump_clock: MockClock) -> None:
    began = trio.current_time()
    with pytest.raises(Problem) as caught:
        await summary("/")
    assert caught.value.code == "tax_upstream_timeout"
    assert trio.current_time() - began == pytest.approx(SECONDS)
