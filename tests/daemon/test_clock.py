"""A machine's clock that was five days ahead for the length of one write, and was put right."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import build_parser
from gatewayd.clock import DAY, SECOND, Instant, SettableClock, SystemClock, london_date, to_wire
from gatewayd.config import load
from gatewayd.daemon.daemon import Daemon, Surroundings
from tests.daemon.instance import SECONDS, Firm, Instance

AHEAD = 5 * DAY
_EVENT = "SELECT created_at, id FROM events ORDER BY recorded_at DESC, id DESC LIMIT 1"


class Served:
    """A daemon in this process on the test's clock, and one program that talks to it."""

    def __init__(self, instance: Instance, firm: Firm, clock: SettableClock) -> None:
        self.log = io.StringIO()
        self.daemon = Daemon(load(instance.config, {}), Surroundings(log_stream=self.log, clock=clock))
        self._instance = instance
        self._firm = firm
        self._clock = clock
        self._client = httpx.AsyncClient(trust_env=False, timeout=SECONDS)

    async def start(self, nursery: trio.Nursery) -> None:
        self._client.base_url = httpx.URL((await nursery.start(self.daemon.run)).addresses[0])
        self._client.headers["Authorization"] = f"Bearer {self._firm.key}"

    async def stop(self) -> None:
        await self._client.aclose()
        self.daemon.stop()
        await self.daemon.ended.wait()

    async def invoice(self, key: str | None = None) -> dict[str, Any]:
        line = {"description": "Oak door", "unitPrice": "10.00"}
        body = {"clientId": self._firm.client_id, "status": "issued", "lines": [line]}
        headers = {} if key is None else {"Idempotency-Key": key}
        return (await self._client.post("/api/rpc/invoices", json=body, headers=headers)).raise_for_status().json()

    async def event(self) -> tuple[int, str]:
        """When the event of a new lead was recorded, and its id."""
        answer = await self._client.post("/api/rpc/crm/createLead", json={"source": "web"})
        answer.raise_for_status()
        return await trio.to_thread.run_sync(lambda: self._instance.read(lambda tx: tx.row(_EVENT)))

    async def changed_since(self, instant: str) -> list[str]:
        answer = await self._client.get("/api/rpc/invoices", params={"updatedSince": instant})
        return [one["id"] for one in answer.raise_for_status().json()["data"]]

    async def clock(self) -> tuple[int, str]:
        answer = await self._client.get("/readyz")
        return answer.status_code, answer.json()["checks"]["clock"]

    async def tells(self, event: str, times: int = 1) -> list[str]:
        """The levels of the log's lines of this event, once there are so many: they come a moment later."""
        while len(told := self._told(event)) < times:
            await trio.sleep(0.01)
        return told

    def _told(self, event: str) -> list[str]:
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line["level"] for line in lines if line["event"] == event]

    async def is_right(self, ahead: dict[str, Any]) -> dict[str, Any]:
        """What is made after `ahead`, which was made by the wrong clock, bears the right time and is not missed."""
        invoice, (recorded_at, event_id) = await self.invoice(), await self.event()
        now = self._clock.now()
        assert invoice["issueDate"] == london_date(now)
        assert invoice["createdAt"] == to_wire(now)
        assert recorded_at == now
        assert event_id < ahead["id"].replace("inv_", "evt_")
        assert invoice["updatedAt"] >= ahead["updatedAt"]
        assert invoice["id"] in await self.changed_since(ahead["updatedAt"])
        return invoice


async def test_five_days_ahead_for_one_write(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = await trio.to_thread.run_sync(instance.firm)
    clock = SettableClock(Instant(SystemClock().now() + SECOND))
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            served = Served(instance, firm, clock)
            await served.start(nursery)
            await served.invoice()
            assert await served.clock() == (200, "ok")
            clock.advance(AHEAD)
            ahead = await served.invoice()
            assert ahead["issueDate"] == london_date(clock.now())
            clock.advance(-AHEAD)
            await served.is_right(ahead)
            while (await served.clock())[0] != 503:
                await trio.sleep(0.01)
            assert (await served.clock())[1].endswith(" s behind the latest change")
            assert await served.tells("clock_behind") == ["error"]
            await served.stop()

            again = Served(instance, firm, clock)
            await again.start(nursery)
            assert (await again.clock())[0] == 503
            assert await again.tells("clock_behind") == ["error"]
            latest = await again.is_right(ahead)
            assert latest["id"] in await again.changed_since(latest["updatedAt"])
            clock.advance(AHEAD + SECOND)
            while await again.clock() != (200, "ok"):
                await trio.sleep(0.01)
            assert await again.tells("clock_caught_up") == ["info"]
            await again.stop()


async def test_an_operator_says_that_the_clock_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Else it would not be ready for five days, though all works."""
    instance = Instance(tmp_path)
    firm = await trio.to_thread.run_sync(instance.firm)
    clock = SettableClock(Instant(SystemClock().now() + SECOND))

    def run(*command: str) -> int:
        arguments = build_parser().parse_args([*command, "--json"])
        code: int = arguments.run(arguments, Context(str(instance.config), {}, clock))
        return code

    def clock_of_doctor() -> tuple[bool, str]:
        with contextlib.suppress(CommandError):  # something else may be wrong
            run("doctor")
        found = {each["about"]: each for each in json.loads(capsys.readouterr().out.splitlines()[-1])}["clock"]
        return found["well"], found["sentence"]

    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            served = Served(instance, firm, clock)
            await served.start(nursery)
            assert (await trio.to_thread.run_sync(clock_of_doctor))[0]
            with pytest.raises(CommandError, match="nothing to accept"):
                await trio.to_thread.run_sync(run, "accept-clock")
            for days in (5, 6):  # what was accepted is not a leap that is yet to come
                clock.advance(days * DAY)
                ahead = await served.invoice()
                clock.advance(-days * DAY)
                while (await served.clock())[0] != 503:
                    await trio.sleep(0.01)
                well, sentence = await trio.to_thread.run_sync(clock_of_doctor)
                assert not well
                seconds = int(sentence.partition(" and is ")[2].partition(" s behind the latest change, of ")[0])
                assert seconds - days * 86_400 in (0, 1)  # a second more is written down
                assert sentence.endswith("say so with gatewayd accept-clock.")
                assert await trio.to_thread.run_sync(run, "accept-clock") == 0
                while await served.clock() != (200, "ok"):
                    await trio.sleep(0.01)
                well, sentence = await trio.to_thread.run_sync(clock_of_doctor)
                assert well
                assert sentence.endswith("which was accepted.")
                await served.is_right(ahead)
            assert await served.tells("clock_accepted", 2) == ["info", "info"]
            await served.stop()


async def test_nothing_is_deleted_for_its_age_by_a_clock_that_has_just_leapt(tmp_path: Path) -> None:
    """A key that was used a minute ago would be taken for five days old, and its invoice made a second time."""
    instance = Instance(tmp_path)
    firm = await trio.to_thread.run_sync(instance.firm)
    clock = SettableClock(Instant(SystemClock().now() + SECOND))
    with trio.fail_after(SECONDS):
        async with trio.open_nursery() as nursery:
            served = Served(instance, firm, clock)
            await served.start(nursery)
            made = await served.invoice("once")
            clock.advance(AHEAD)
            await served.tells("clock_moved")
            await served.stop()  # which sweeps once more
            clock.advance(-AHEAD)
            again = Served(instance, firm, clock)
            await again.start(nursery)
            assert await again.invoice("once") == made
            await again.stop()
