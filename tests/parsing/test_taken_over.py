"""Two processes with one queue: what one reads the other leaves alone, until its lease has ended."""

from pathlib import Path

import pytest
import trio

from gatewayd.clock import HOUR, SECOND
from gatewayd.leases.rows import LEASE_SECONDS
from tests.parsing.conftest import DEADLINE, ORG, Archive, OpenArchive
from tests.parsing.test_engine import Gate
from tests.parsing.test_interrupted import retries
from tests.support.document_reading import FakeReader
from tests.support.whole_database import everything

LEASE = round(LEASE_SECONDS * SECOND)
LEASES = "SELECT subject FROM leases"


@pytest.fixture(autouse=True)
def unlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by the clock, so that it is known who finds what."""
    monkeypatch.setattr("gatewayd.parsing.engine.SCAN_AGAIN_SECONDS", 3600.0)
    monkeypatch.setattr("gatewayd.parsing.engine.LEFT_SECONDS", 3600.0)


async def leases(archive: Archive) -> list[str]:
    return [str(row[0]) for row in await archive.store.read(lambda tx: tx.rows(LEASES), ORG)]


async def looked(archive: Archive) -> None:
    """The look for what others have left, and all that comes of it."""
    await archive.engine.queue_left()
    await archive.settle()
    await archive.counts()


async def test_what_another_reads_is_left_alone(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("text")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        assert await leases(archive) == [f"parse:{document_id}"]
        async with open_archive(name="other") as other:
            await looked(other)
            other.clock.advance(LEASE - 1)
            await looked(other)
            assert other.reader.read_names == []
            gate.opened.set()
            assert (await archive.ended(document_id)).parse.status == "succeeded"
            assert await archive.attempts(document_id) == [(1, "succeeded", None)]
        assert await leases(archive) == []


@pytest.mark.parametrize("text", ["some text", "fails:damaged", "fails:encrypted", "breaks"])
async def test_who_sleeps_while_it_reads_stores_nothing_when_it_wakes(
    open_archive: OpenArchive, tmp_path: Path, text: str
) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add(text)
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        async with open_archive(name="other") as other:
            other.clock.advance(LEASE)
            await other.engine.queue_left()
            ended = await other.ended(document_id, attempt=2)
            await other.counts()
            ends = await other.attempts(document_id)
            assert [(number, end) for number, end, _ in ends] == [(1, "interrupted"), (2, ended.parse.status)]
            assert await other.store.read(lambda tx: retries(tx, document_id), ORG) == 1
            done = everything(tmp_path)
            gate.opened.set()
            await archive.counts()
            assert everything(tmp_path) == done
            assert await leases(other) == []
            for each in (archive, other):
                if text == "breaks":
                    each.log.claim("parse_failed")


async def test_its_own_attempts_are_never_queued_again(open_archive: OpenArchive) -> None:
    """Also when a clock that is set forward has ended the lease before it was renewed."""
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("text")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        archive.clock.advance(HOUR)
        await archive.engine.queue_left()
        gate.opened.set()
        assert (await archive.ended(document_id)).parse.status == "succeeded"
        assert await archive.attempts(document_id) == [(1, "succeeded", None)]


async def test_a_clock_that_is_set_back_holds_a_document_for_one_lease_more(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("text")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        async with open_archive(name="other") as other:
            other.clock.advance(-HOUR)
            await looked(other)
            other.clock.advance(LEASE - 1)
            await looked(other)
            assert other.reader.read_names == []
            other.clock.advance(1)
            await looked(other)
            assert (await other.ended(document_id, attempt=2)).parse.status == "succeeded"
            gate.opened.set()
            await archive.counts()


async def test_a_document_waits_for_a_share_that_went_away(
    open_archive: OpenArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is lost, and nothing is wrong with it."""
    monkeypatch.setattr("gatewayd.parsing.attempts.STORE_PAUSE_SECONDS", 0.01)
    async with open_archive() as archive:
        folder, away = archive.blobs.folder, tmp_path / "away"
        known = await archive.add("known")
        await archive.ended(known)
        folder.rename(away)
        await archive.reparse(known)
        with trio.fail_after(DEADLINE):
            while not archive.log.logged:
                await archive.settle()
        assert (await archive.document(known)).parse.status == "running"
        away.rename(folder)
        assert (await archive.ended(known, attempt=2)).parse.status == "succeeded"
        assert {event for event, _ in archive.log.logged} == {"parse_not_stored"}
        archive.log.logged.clear()
