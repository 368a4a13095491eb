"""The demo's shop asks for taxes: its headers are sound, and an answer that is not what it should be ends the play."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from gatewayd.cli.demo import firm as demo_firm
from gatewayd.cli.demo.http import DemoFailed
from gatewayd.cli.demo.tax import HEADERS_FILE, OBLIGATIONS, TaxScene, fraud_prevention_headers
from gatewayd.clock import SettableClock, from_wire
from gatewayd.identity.keys import api_keys
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.tax.fraud import fraud_headers
from tests.cli.test_demo_sign_in import SECONDS, Fields, Site, SiteResponse, serving, shown

CLOCK = SettableClock(from_wire("2026-11-20T09:30:00.125Z"))
REFUSED: SiteResponse = (403, {}, json.dumps({"code": "insufficient_scope"}))
MET = {"start": "2026-01-01", "end": "2026-03-31", "due": "2026-05-07", "status": "F", "periodKey": "26A1"}
OPEN = {"start": "2026-04-01", "end": "2026-06-30", "due": "2026-08-07", "status": "O", "periodKey": "26A2"}


def test_the_headers_are_what_a_web_application_sends() -> None:
    headers = fraud_prevention_headers(CLOCK, "ann@oak.example")
    assert fraud_headers.judge(headers, "require", sandbox=True, documentation=True).faults == []
    needed = fraud_headers.METHODS[headers[fraud_headers.CONNECTION_METHOD]]
    assert headers.keys() == needed | {fraud_headers.CONNECTION_METHOD}
    assert headers["Gov-Client-User-IDs"] == "demo-shop=ann%40oak.example"
    assert headers["Gov-Client-Public-IP-Timestamp"] == "2026-11-20T09:30:00.125Z"


def answering(*told: SiteResponse) -> Callable[[Fields], SiteResponse]:
    """These in turn."""
    left = list(told)
    return lambda fields: left.pop(0)


async def ask(directory: Path, *told: SiteResponse) -> tuple[list[str], bool]:
    """What the shop says, and whether its key is approved then."""
    said: list[str] = []
    site = Site()
    site.pages["GET", OBLIGATIONS] = answering(*told)
    async with open_store(StoreSettings(directory=directory), CLOCK) as store:
        firm = await store.write(demo_firm.seed)
        try:
            with serving(site), trio.fail_after(SECONDS):
                await TaxScene(site.origin, firm, store, directory).run(CLOCK, said.append)
        finally:
            approved = store.read_now(lambda tx: api_keys.get(tx, firm.key_id), firm.org_id).tax_approved
    return said, approved


async def test_it_is_refused_then_approved_then_answered(tmp_path: Path) -> None:
    said, approved = await ask(tmp_path, REFUSED, shown({"obligations": [MET, OPEN]}))
    assert approved
    assert said[0].startswith("7. ")
    assert said[0].endswith("403 insufficient_scope.")
    assert "gatewayd tax approve --key key_" in said[1]
    assert "2026-04-01 to 2026-06-30 is due on 2026-08-07, and open." in said[-1]
    left = dict(line.split(": ", 1) for line in (tmp_path / HEADERS_FILE).read_text().splitlines())
    assert len(left) == 16
    assert fraud_headers.judge(left, "require", sandbox=True, documentation=True).faults == []


FAULTS: list[tuple[tuple[SiteResponse, ...], str]] = [
    ((shown({"obligations": [OPEN]}),), f"GET {OBLIGATIONS} answered 200, not 403"),
    (((403, {}, json.dumps({"code": "key_network_refused"})),), "refused for another reason"),
    (((403, {}, "<html>"),), "no JSON object"),
    ((REFUSED, REFUSED), f"GET {OBLIGATIONS} answered 403, not 200"),
    ((REFUSED, shown({"obligations": []})), "no obligation is open"),
    ((REFUSED, shown({"obligations": [MET]})), "no obligation is open"),
    ((REFUSED, shown({"obligations": [{"status": "O"}]})), "no obligation is open"),
]


@pytest.mark.parametrize(("told", "why"), FAULTS, ids=[f"{len(told)}: {why}" for told, why in FAULTS])
async def test_an_answer_that_is_not_as_it_should_be_ends_the_play(
    tmp_path: Path, told: tuple[SiteResponse, ...], why: str
) -> None:
    with pytest.raises(DemoFailed, match=why):
        await ask(tmp_path, *told)
