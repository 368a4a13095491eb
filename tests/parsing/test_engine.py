"""The queue of documents to read: what is claimed, what is stored, and when it is tried again."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec.structs import replace

from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents import rows as documents
from gatewayd.areas.vault.documents.operations import delete_document
from gatewayd.areas.vault.documents.shapes import DeleteDocument, RestoreDocument
from gatewayd.areas.vault.parses import rows, variants
from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.areas.vault.trash import restore_document
from gatewayd.clock import DAY, HOUR, MINUTE, SECOND, Instant
from gatewayd.extraction.shapes import Extraction, Page
from gatewayd.ledger import named_files
from gatewayd.parsing import engine
from gatewayd.parsing.results import checked
from gatewayd.shares import Holder
from gatewayd.store import WriteTx
from gatewayd.webhooks.feeds.event_log import follow
from tests.parsing.conftest import DEADLINE, ORG, OTHER, OpenArchive
from tests.support.document_reading import NOTHING_FOUND, FakeReader
from tests.support.store import make_caller

FACTS = replace(NOTHING_FOUND, kind="invoice", date="2026-03-31", total="120.00", currency="GBP", confidence=0.75)

_EVENTS = "SELECT kind, data FROM events WHERE org_id = :org_id ORDER BY recorded_at, id"


class Gate:
    """A reader's wait that lasts until it is opened. `asked`: the names for which it was."""

    def __init__(self) -> None:
        self.opened, self.reached = trio.Event(), trio.Event()
        self.asked: list[str] = []

    async def __call__(self, name: str) -> None:
        self.asked.append(name)
        self.reached.set()
        await self.opened.wait()


def put_in_trash(tx: WriteTx, *, document_id: str) -> None:
    delete_document(tx, make_caller(ORG), DeleteDocument(document_id=document_id))


def take_out(tx: WriteTx, *, document_id: str) -> None:
    restore_document(tx, make_caller(ORG), RestoreDocument(document_id=document_id))


async def test_what_is_read_is_stored_with_the_document(open_archive: OpenArchive) -> None:
    async with open_archive(FakeReader(facts=FACTS)) as archive:
        document_id = await archive.add("page one\fpage two", "bill.txt")
        shown = await archive.ended(document_id)
        assert (shown.parse.status, shown.parse.attempt, shown.parse.error_code) == ("succeeded", 1, None)
        assert (shown.parse.engine, shown.parse.text_chars, shown.parse.language) == ("plain", 16, "en")
        assert shown.parse.started_at is not None
        assert shown.parse.finished_at is not None
        assert shown.extracted is not None
        assert (shown.extracted.kind, shown.extracted.total, shown.extracted.confidence) == ("invoice", "120.00", 0.75)
        assert (shown.page_count, shown.document_date, shown.version) == (2, "2026-03-31", 3)
        assert await archive.text(document_id) == "page one\n\f\npage two"
        assert await archive.attempts(document_id) == [(1, "succeeded", None)]
        assert (await archive.counts()).succeeded == 1
        assert archive.reader.drawn == [(1, 320)]
        assert variants.is_of(shown.thumbnail_url, document_id, 1, 320)
        picture = await archive.store.read(lambda tx: variants.find(tx, document_id, "thumbnail", 1, 320), ORG)
        assert picture is not None
        assert archive.blobs.path(picture.sha256).read_bytes() == b"RIFFpage one\fpage two"
        assert await archive.store.read(lambda tx: named_files.is_named(tx, picture.sha256))


async def test_how_it_ended_is_told_to_who_listens(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        unheard = await archive.add("before")
        await archive.ended(unheard)
        await archive.store.write(lambda tx: follow(tx, "document.parsed document.parse_failed"), ORG)
        read, encrypted = await archive.add("page one\fpage two"), await archive.add("fails:encrypted")
        for each in (read, encrypted):
            await archive.ended(each)
        stored = await archive.store.read(lambda tx: tx.rows(_EVENTS), ORG)
    told = {kind: msgspec.json.decode(data) for kind, data in stored}
    assert told == {
        "document.parsed": {"document_id": read, "engine": "plain", "page_count": 2},
        "document.parse_failed": {"document_id": encrypted, "code": "encrypted"},
    }


async def test_a_date_that_somebody_gave_stays(open_archive: OpenArchive) -> None:
    async with open_archive(FakeReader(facts=FACTS)) as archive:
        document_id = await archive.add("x")
        await archive.ended(document_id)

        def change(tx: WriteTx) -> None:
            row = documents.get(tx, document_id)
            documents.DOCUMENTS.update(tx, replace(row, document_date="2020-01-01", thumbnail_url="https://e.com/a"))

        await archive.store.write(change, ORG)
        await archive.reparse(document_id)
        shown = await archive.ended(document_id, attempt=2)
        assert (shown.document_date, shown.thumbnail_url) == ("2020-01-01", "https://e.com/a")
        assert archive.reader.drawn == [(1, 320)]


async def test_a_failure_is_tried_again_three_times(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        document_id = await archive.add("fails:damaged")
        for attempt, wait in enumerate((MINUTE, 10 * MINUTE, HOUR, None), 1):
            shown = await archive.ended(document_id, attempt=attempt)
            assert (shown.parse.status, shown.parse.error_code) == ("failed", "damaged")
            assert shown.parse.error_message == "It cannot be read."
            head = await archive.store.read(lambda tx: rows.next_head(tx, ""))
            if wait is None:
                assert head is None
                continue
            assert head is not None
            assert head.due_at - archive.store.now() <= wait
            archive.clock.advance(wait - SECOND)
            await archive.store.write(lambda tx: tx.announce(rows.TOPIC))
            await archive.settle()
            assert (await archive.document(document_id)).parse.attempt == attempt, "not before"
            archive.clock.advance(SECOND)
            await archive.store.write(lambda tx: tx.announce(rows.TOPIC))
        assert (await archive.counts()).failed == 4
        await archive.reparse(document_id)
        await archive.ended(document_id, attempt=5)
        assert await archive.store.read(lambda tx: rows.next_head(tx, "")) is not None, "asked for: tried again anew"


async def test_what_was_read_before_stays_where_an_attempt_fails(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        document_id = await archive.add("good")
        before = await archive.ended(document_id)
        row = await archive.store.read(lambda tx: documents.get(tx, document_id), ORG)
        assert row.sha256 is not None
        archive.blobs.path(row.sha256).write_text("fails:crashed")
        await archive.reparse(document_id)
        shown = await archive.ended(document_id, attempt=2)
        assert (shown.parse.status, shown.parse.error_code, shown.parse.text_chars) == ("failed", "crashed", 4)
        assert shown.extracted == before.extracted
        assert await archive.text(document_id) == "good"


async def test_what_cannot_be_read_is_not_tried_again(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        encrypted, picture = await archive.add("fails:encrypted"), await archive.add("fails:no_ocr")
        shown = [await archive.ended(each) for each in (encrypted, picture)]
        assert [(one.parse.status, one.parse.error_code) for one in shown] == [
            ("skipped", "encrypted"),
            ("skipped", "no_ocr"),
        ]
        assert [one.thumbnail_url is not None for one in shown] == [False, True], "a picture can be drawn all the same"
        assert [one.extracted for one in shown] == [None, None]
        assert await archive.store.read(lambda tx: rows.next_head(tx, "")) is None
        assert (await archive.counts()).skipped == 2


async def test_bytes_that_are_lost_are_a_failure(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        busy = [await archive.add(f"busy {n}") for n in range(2)]
        document_id = await archive.add("lost")
        row = await archive.store.read(lambda tx: documents.get(tx, document_id), ORG)
        assert row.sha256 is not None
        archive.blobs.remove(row.sha256)
        gate.opened.set()
        assert (await archive.ended(document_id)).parse.error_code == "gone"
        for each in busy:
            await archive.ended(each)


async def test_a_fault_of_ours_fails_one_document_and_is_logged(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        bad, good = await archive.add("breaks"), await archive.add("no picture")
        assert (await archive.ended(bad)).parse.error_code == "internal"
        shown = await archive.ended(good)
        assert (shown.parse.status, shown.thumbnail_url) == ("succeeded", None)
        assert archive.log.claim("parse_failed")["document_id"] == bad


@pytest.mark.parametrize("numbers", [(1, 1), (0,), (-1,), (2, 1), (1 << 70,)])
async def test_a_reader_that_talks_nonsense_fails_one_document(
    open_archive: OpenArchive, numbers: tuple[int, ...]
) -> None:
    """A file may have taken the process that reads it."""
    pages = [Page(number=number, text="x") for number in numbers]

    class Taken(FakeReader):
        async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
            found = await super().read(path, name, mime_type)
            return replace(found, pages=pages) if name == "bad" else found

    async with open_archive(Taken()) as archive:
        bad, good = await archive.add("x", "bad"), await archive.add("y", "good")
        shown = await archive.ended(bad)
        assert (shown.parse.status, shown.parse.error_code) == ("failed", "crashed")
        assert (await archive.ended(good)).parse.status == "succeeded"


def test_only_a_date_is_a_date() -> None:
    found = Extraction(engine="x", pages=[], page_count=None, language=None, facts=FACTS)
    assert checked(found) == found
    for text in ("31 March 2026", "20260331", "", "9999-99-99"):
        read = checked(replace(found, facts=replace(FACTS, date=text)))
        assert isinstance(read, Extraction)
        assert read.facts == replace(FACTS, date=None)
    for count in (-1, 1 << 40):
        assert isinstance(checked(replace(found, page_count=count)), Failure)


async def test_what_the_store_does_not_take_fails_one_document(open_archive: OpenArchive) -> None:
    class Odd(FakeReader):
        async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
            return replace(await super().read(path, name, mime_type), language=b"en")

    async with open_archive(Odd()) as archive:
        document_id = await archive.add("x")
        assert (await archive.ended(document_id)).parse.error_code == "internal"
        assert await archive.text(document_id) == ""
        archive.log.claim("parse_failed")


async def test_a_reader_that_never_answers_is_given_up(
    open_archive: OpenArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gatewayd.parsing.attempts.ATTEMPT_SECONDS", 0.05)
    async with open_archive(FakeReader(wait=Gate())) as archive:
        assert (await archive.ended(await archive.add("x"))).parse.error_code == "too_slow"


async def test_organizations_take_turns_and_none_has_all_the_places(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        for n in range(6):
            await archive.add(f"{n}", f"many {n}")
        with trio.fail_after(DEADLINE):
            while len(gate.asked) < engine.ORGANIZATION_AT_ONCE:
                await archive.settle()
        await archive.settle()
        assert sorted(gate.asked) == ["many 0", "many 1"]
        others = [await archive.add(name, name, OTHER) for name in ("one", "two")]
        with trio.fail_after(DEADLINE):
            while len(gate.asked) < engine.AT_ONCE:  # beside the others, which are not over
                await archive.settle()
        await archive.settle()
        assert sorted(gate.asked) == ["many 0", "many 1", "one"]
        assert archive.engine.shares.holders(2) == [Holder(ORG, 2, 0), Holder(OTHER, 1, 0)]
        gate.opened.set()
        for each in others:
            await archive.ended(each, OTHER)
        assert archive.reader.read_names.index("two") <= 5


async def test_what_is_in_the_trash_is_not_read_before_it_is_restored(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        busy = [await archive.add(f"busy {n}") for n in range(2)]
        document_id = await archive.add("kept")
        await archive.store.write(partial(put_in_trash, document_id=document_id), ORG)
        gate.opened.set()
        for each in busy:
            await archive.ended(each)
        assert archive.reader.read_names == ["a.txt", "a.txt"]
        assert await archive.store.read(lambda tx: rows.next_head(tx, "")) is None
        await archive.store.write(partial(take_out, document_id=document_id), ORG)
        assert (await archive.ended(document_id)).parse.status == "succeeded"


async def test_a_failure_in_the_trash_waits_there(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("fails:too_slow")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        await archive.store.write(partial(put_in_trash, document_id=document_id), ORG)
        gate.opened.set()
        with trio.fail_after(DEADLINE):
            while archive.engine.counts.failed == 0:
                await archive.settle()
        archive.clock.advance(HOUR)
        await archive.store.write(lambda tx: tx.announce(rows.TOPIC))
        for _ in range(3):
            await archive.settle()
        assert len(archive.reader.read_names) == 1
        assert await archive.store.read(lambda tx: rows.next_head(tx, "")) is None


async def test_what_goes_for_good_takes_all_that_was_made_of_it_with_it(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        document_id, other = await archive.add("purged"), await archive.add("stays")
        for each in (document_id, other):
            await archive.ended(each)
        picture = await archive.store.read(lambda tx: variants.find(tx, document_id, "thumbnail", 1, 320), ORG)
        await archive.store.write(partial(put_in_trash, document_id=document_id), ORG)
        archive.clock.advance(DAY)
        assert await archive.store.write(lambda tx: trash.purge_some(tx, Instant(tx.now))) == 1
        for table in ("vault_parses", "vault_parse_attempts", "vault_pages", "vault_variants", "vault_documents"):
            left = await archive.store.read(lambda tx, table=table: tx.value(f"SELECT count(*) FROM {table}"))
            assert left == 1, table
        assert picture is not None
        assert not await archive.store.read(lambda tx: named_files.is_named(tx, picture.sha256))


async def test_a_document_that_goes_while_it_is_read_is_no_fault(open_archive: OpenArchive) -> None:
    gate = Gate()
    async with open_archive(FakeReader(wait=gate)) as archive:
        document_id = await archive.add("purged")
        with trio.fail_after(DEADLINE):
            await gate.reached.wait()
        await archive.store.write(partial(put_in_trash, document_id=document_id), ORG)
        archive.clock.advance(DAY)
        await archive.store.write(lambda tx: trash.purge_some(tx, Instant(tx.now)))
        gate.opened.set()
        other = await archive.add("next")
        assert (await archive.ended(other)).parse.status == "succeeded"


async def test_a_clock_that_was_ahead_delays_nothing(open_archive: OpenArchive) -> None:
    async with open_archive() as archive:
        document_id = await archive.add("fails:damaged")
        await archive.ended(document_id)
        archive.clock.advance(-DAY)
        await archive.store.write(lambda tx: tx.announce(rows.TOPIC))
        await archive.ended(document_id, attempt=2)
