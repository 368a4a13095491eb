"""A file is read in a child that has limits, and ends with its reader."""

import contextlib
import os
import sys
from pathlib import Path

import pytest
import trio

from gatewayd.statements.child import read_apart, reader_of
from gatewayd.statements.shapes import (
    PRICE_LIMITS,
    Hints,
    Limits,
    Mapping,
    Opened,
    Part,
    PriceLine,
    Refused,
    Trade,
    Unreadable,
)
from tests.importing.broker_files import HARGREAVES_LANSDOWN
from tests.statements.parts import Parts, read_parts
from tests.statements.test_camt053 import entry, message
from tests.statements.test_csv_profiles import LLOYDS
from tests.statements.test_mt940 import MESSAGE

MEBIBYTE = 1024 * 1024


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "statement"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def hints(**known: object) -> Hints:
    return Hints(**{"file_name": "statement", "currency": "GBP", **known})


async def batches_of(path: Path, known: Hints, deadline_seconds: float = 300.0) -> list[list[Part]]:
    with trio.fail_after(400):
        async with contextlib.aclosing(read_apart(path, known, deadline_seconds=deadline_seconds)) as batches:
            return [batch async for batch in batches]


def children() -> set[str]:
    """Ids of this process's children."""
    return {child for file in Path("/proc/self/task").glob("*/children") for child in file.read_text().split()}


async def test_what_is_read_apart_is_what_is_read_here(tmp_path: Path) -> None:
    for text in (LLOYDS, MESSAGE):
        found = [part for batch in await batches_of(written(tmp_path, text), hints()) for part in batch]
        assert found == read_parts(text).all


async def test_a_brokers_file_is_read_apart_by_its_profile(tmp_path: Path) -> None:
    """Of its profile columns and signs: files that say so cannot be opened any more."""
    (batch,) = await batches_of(written(tmp_path, HARGREAVES_LANSDOWN), hints(kind="broker"))
    opened, *rest = batch
    assert isinstance(opened, Opened)
    assert (opened.profile, opened.bank_name) == ("hargreaves_lansdown", "Hargreaves Lansdown")
    assert len([one for one in rest if isinstance(one, Trade)]) == 5


async def test_prices_are_read_apart_too(tmp_path: Path) -> None:
    content = "date,isin,price,currency\n2026-10-01,GB00BH4HKS39,81.22,GBX\nyesterday,A,1,\n2026-10-01,USD/GBP,0.76,\n"
    (batch,) = await batches_of(written(tmp_path, content.encode("utf-16")), hints(kind="prices", limits=PRICE_LIMITS))
    vodafone, refused, dollar = batch
    price = {"line": 2, "date": "2026-10-01", "identifier": "GB00BH4HKS39", "pair": None, "exchange": ""}
    assert vodafone == PriceLine(**price, price="81.22", currency="GBX")
    assert (isinstance(refused, Refused), getattr(dollar, "pair", None)) == (True, ("USD", "GBP"))
    with pytest.raises(Unreadable, match="the file is a ZIP archive"):
        await batches_of(written(tmp_path, b"PK\x03\x04..."), hints(kind="prices", limits=PRICE_LIMITS))


async def test_eight_bits_and_utf_16_are_read_where_no_file_can_be_opened_any_more(tmp_path: Path) -> None:
    text = LLOYDS.replace("NORTHERN", "CAFÉ £")
    for encoding in ("cp1252", "utf-16", "cp850"):
        known = hints(mapping=None)
        if encoding == "cp850":
            known = hints(
                mapping=Mapping(encoding="cp850", date=0, amount=5, description=(4,), date_format="dd/mm/yyyy")
            )
        (batch,) = await batches_of(written(tmp_path, text.encode(encoding)), known)
        assert "CAFÉ £ WATER" in {getattr(part, "description", "") for part in batch}


async def test_a_large_file_comes_in_small_batches_within_little_memory(tmp_path: Path) -> None:
    record = "D25/11/2026\nT-1,234.56\nPNORTHERN TIMBER YARD\nMInvoice 1234567\n^\n"
    path = written(tmp_path, "!Type:Bank\n" + record * 75_000)  # as objects they would take more
    batches = await batches_of(path, hints(limits=Limits(memory_bytes=64 * MEBIBYTE)))
    assert max(map(len, batches)) <= 500
    found = Parts([part for batch in batches for part in batch])
    assert (len(found.lines), found.closed[0].sum) == (75_000, -123456 * 75_000)


async def test_memory_that_a_file_may_not_have_makes_it_unreadable(tmp_path: Path) -> None:
    text = message(entry("1.00", "CRDT", "<AddtlNtryInf>" + "A" * (20 * MEBIBYTE) + "</AddtlNtryInf>"))
    with pytest.raises(Unreadable, match="takes more memory than"):
        await batches_of(written(tmp_path, text), hints(limits=Limits(memory_bytes=64 * MEBIBYTE)))


async def test_a_child_that_cannot_even_begin_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"memory|ended before the file did"):
        await batches_of(written(tmp_path, LLOYDS), hints(limits=Limits(memory_bytes=MEBIBYTE)))


async def test_time_that_a_file_may_not_take_makes_it_unreadable(tmp_path: Path) -> None:
    path = written(tmp_path, "!Type:Bank\n" + "D05/05/2026\nT-1.00\n^\n" * 500_000)
    with pytest.raises(Unreadable, match=r"takes longer than 0\.2 seconds"):
        await batches_of(path, hints(), deadline_seconds=0.2)


async def test_it_computes_while_nobody_else_does(tmp_path: Path) -> None:
    path = written(tmp_path, "!Type:Bank\n" + "D05/05/2026\nT-1.00\n^\n" * 50_000)  # more than a pipe holds
    before = children()  # of other tests
    with trio.fail_after(60):
        async with contextlib.aclosing(read_apart(path, hints())) as batches:
            await anext(batches)
            assert {os.sched_getscheduler(int(pid)) for pid in children() - before} == {os.SCHED_IDLE}


async def test_reasons_lines_and_proposals_come_over(tmp_path: Path) -> None:
    text = "Date,Details,Amount,Balance\n05/06/2026,A,-1.00,9.00\n"
    with pytest.raises(Unreadable) as raised:
        await batches_of(written(tmp_path, text), hints())
    assert raised.value.proposal is not None
    assert raised.value.proposal.doubts[0].field == "date_format"
    long = "!Type:Bank\nP" + "A" * 100 + "\n^\n"
    with pytest.raises(Unreadable, match="line 2: the line is longer") as raised:
        await batches_of(written(tmp_path, long), hints(limits=Limits(line_bytes=30)))
    assert raised.value.line == 2


async def test_what_came_before_a_fault_is_given_before_it(tmp_path: Path) -> None:
    path = written(tmp_path, message(entry("1.00", "CRDT") * 3)[:-20])
    seen: list[Part] = []

    async def read_all() -> None:
        async with contextlib.aclosing(read_apart(path, hints())) as batches:
            async for batch in batches:
                seen.extend(batch)

    with trio.fail_after(60), pytest.raises(Unreadable, match="cut off"):
        await read_all()
    assert len(Parts(seen).lines) == 3


async def test_a_reader_that_stops_takes_the_child_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, "!Type:Bank\n" + "D25/11/2026\nT-1.00\n^\n" * 100_000)
    before = children()
    with trio.fail_after(60):
        async with contextlib.aclosing(read_apart(path, hints())) as batches:
            await anext(batches)
            assert children() > before
    assert children() == before


async def test_a_cancelled_reader_takes_the_child_with_it(tmp_path: Path) -> None:
    path = written(tmp_path, "!Type:Bank\n" + "D25/11/2026\nT-1.00\n^\n" * 100_000)
    before = children()
    with trio.fail_after(60), trio.CancelScope() as scope:
        async with contextlib.aclosing(read_apart(path, hints())) as batches:
            async for _ in batches:
                scope.cancel()
    assert scope.cancelled_caught
    assert children() == before


async def test_nothing_of_the_environment_comes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a child tells itself: of one that has locked itself in, the kernel tells nobody but root."""
    program = tmp_path / "python"
    program.write_text(TELLING)
    program.chmod(0o700)
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    monkeypatch.setenv("GATEWAYD_SECRET", "s3cret")
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(Unreadable, match=r"\(environment '', folder /\)"):
        await batches_of(written(tmp_path, MESSAGE), hints())


TELLING = f"""#!{sys.executable} -I
import os, sys
sys.exit(f"environment {{open('/proc/self/environ').read()!r}}, folder {{os.getcwd()}}")
"""
PROGRAM = """#!{interpreter} -I
import sys
sys.path[:] = {places!r}
from gatewayd.cli import main
sys.exit(main())
"""


async def test_a_program_of_one_file_reads_by_its_own_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no interpreter that could be given modules: whatever it starts is itself."""
    program = tmp_path / "gatewayd"
    program.write_text(PROGRAM.format(interpreter=sys.executable, places=[place for place in sys.path if place]))
    program.chmod(0o700)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    found = [part for batch in await batches_of(written(tmp_path, MESSAGE), hints()) for part in batch]
    assert found == read_parts(MESSAGE).all


async def test_a_program_of_one_file_is_told_where_it_was_unpacked_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gatewayd"
    program.write_text(f"#!{sys.executable} -I\nimport os, sys\nsys.exit(str(dict(os.environ)))\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    reader = reader_of({"_PYI_PLACE": "/tmp/x", "SECRET": "abc"})
    with pytest.raises(Unreadable, match=r"'_PYI_PLACE': '/tmp/x'") as told:
        async for _ in reader(written(tmp_path, MESSAGE), hints()):
            pass
    assert "SECRET" not in str(told.value)


async def test_modules_named_from_here_are_found_by_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of `python gatewayd.pyz`, whose first place is that name."""
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setattr(sys, "path", ["", ".", *(place for place in sys.path if place != os.getcwd())])
    found = [part for batch in await batches_of(written(tmp_path, MESSAGE), hints()) for part in batch]
    assert found == read_parts(MESSAGE).all
