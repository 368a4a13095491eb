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
from gatewayd.tax.authority_session import AuthoritySession, ProxyParts
from gatewayd.tax.composing import FILING_SUMMARY, compose
from gatewayd.tax.composition import Composition
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
    """The authority's sandbox, which never answers about some of it."""

    def __init__(self, *paths: str) -> None:
        self.paths = paths

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        if any(path in request.target for path in self.paths):
            await trio.sleep_forever()
        await trio.sleep(0.3)  # the authority's own pace
        return tell(request)


async def summary(*hanging: str) -> Response:
    settings = TaxSettings(mode="sandbox", timeout_seconds=SECONDS, fraud_headers="off")
    nothing = cast(Store, None)  # the call is not recorded here
    parts = ProxyParts(store=nothing, settings=settings, log=TaxLog(), user_agent="x", authority=Hanging(*hanging))
    session = AuthoritySession(parts, FILING_SUMMARY, make_caller("org_a"), Request("GET", "/", []))
    values = {"nino": NINO, "taxYear": "2025-26"}
    return await compose(FILING_SUMMARY, Composition(values, Instant(NOW), "", session.ask))


@pytest.mark.parametrize("source", PATHS)
async def test_a_part_that_hangs_loses_no_other(source: str, autojump_clock: MockClock) -> None:
    began = trio.current_time()
    answer = msgspec.json.decode((await summary(PATHS[source])).body)
    assert trio.current_time() - began <= SECONDS
    told = {part["source"]: (part["status"], part["code"]) for part in answer["parts"]}
    expected = dict.fromkeys(PATHS, ("ok", None))
    assert told == {**expected, source: ("failed", "tax_upstream_timeout")}


async def test_parts_that_hang_have_equal_shares(autojump_clock: MockClock) -> None:
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
