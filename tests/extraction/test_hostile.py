"""Documents that are made to harm: each is read or has a code, in bounded time and memory, and harms no other one."""

import gc
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, get_args

import pytest
import trio

from gatewayd.clock import SystemClock
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.reader import DocumentReader, ReaderSettings
from gatewayd.extraction.shapes import ExtractionFailed, FailureCode, SkipCode
from gatewayd.isolation.forking import Forking
from tests.extraction import files, hostile
from tests.extraction.conftest import CHANCES
from tests.extraction.files import LETTER
from tests.extraction.hostile import Make
from tests.extraction.processes import below, resident_bytes

CODES: Final = frozenset(get_args(FailureCode) + get_args(SkipCode))
SETTINGS: Final = ReaderSettings(
    cpu_seconds=8, memory_bytes=700 << 20, bounds=Bounds(pages=100, characters=100_000, ocr_seconds=30)
)
WITHOUT_RECOGNITION: Final = ReaderSettings(
    ocr="off", cpu_seconds=20, memory_bytes=700 << 20, bounds=Bounds(pages=100, characters=100_000)
)
GROWTH_MAX: Final = 8 << 20
"""Bytes by which the process that asks may have grown."""
OURS: Final = re.compile(r"\((ModuleNotFound|Import|Permission|FileNotFound|Name|Assertion|Unicode\w*)Error\)")
"""Errors that are no document's fault: something was to be loaded that cannot be any more, or was forgotten."""
CUTS: Final = (0.02, 0.3, 0.7, 0.98)
PATIENCE: Final = 60.0
"""Seconds: a child that has told all may need a moment to end."""
LOOKS: Final = 5


class Outcomes:
    """What came of each document: `read`, or the code."""

    def __init__(self, folder: Path, forking: Forking) -> None:
        self._folder = folder
        self._forking = forking

    async def of(self, paths: list[Path], settings: ReaderSettings = SETTINGS) -> dict[str, str]:
        reader, well = DocumentReader(settings, self._forking, SystemClock()), self._folder / "well"
        well.write_text(LETTER)
        await reader.read(well, "well", "")
        gc.collect()
        before, template = resident_bytes(), await _staying()
        found = {path.name: await _outcome(reader, path) for path in paths}
        gc.collect()
        assert resident_bytes() - before < GROWTH_MAX
        assert (await reader.read(well, "well", "")).pages[0].text == LETTER
        with trio.fail_after(PATIENCE):  # the template outlived them all, and nothing is left below it
            while below(os.getpid()) != template:
                await trio.sleep(0.02)
        assert set(found.values()) <= CODES | {"read"}
        return found


async def _staying() -> set[int]:
    """The processes below this one, once none is about to end."""
    seen = [set[int]()]
    while len(seen) < LOOKS or any(look != seen[-1] for look in seen[-LOOKS:]):
        seen.append(below(os.getpid()))
        await trio.sleep(0.02)
    return seen[-1]


@pytest.fixture
def outcomes(tmp_path: Path, forking: Forking) -> Outcomes:
    return Outcomes(tmp_path, forking)


async def _outcome(reader: DocumentReader, path: Path) -> str:
    try:
        await reader.read(path, path.name.partition(" as ")[2], "")
    except ExtractionFailed as error:
        message, code = error.message, error.code
    else:
        return "read"
    assert not OURS.search(message), (path.name, message)
    return code


@pytest.mark.parametrize(
    ("documents", "suffix"),
    [(hostile.archives, "zip"), (hostile.portable, "pdf"), (hostile.images, "png"), (hostile.texts, "txt")],
)
async def test_what_is_made_to_harm_ends_with_a_code(
    tmp_path: Path, outcomes: Outcomes, documents: Callable[[], Iterator[tuple[str, Make, str]]], suffix: str
) -> None:
    allowed: dict[str, list[str]] = {}
    paths: list[Path] = []
    for name, make, codes in documents():
        paths.append(tmp_path / f"{name.replace('/', '-')} as a.{suffix}")
        paths[-1].write_bytes(make())
        allowed[paths[-1].name] = codes.split()
    found = await outcomes.of(paths)
    assert {name: code for name, code in found.items() if code not in allowed[name]} == {}


async def test_sparse_files_of_a_gigabyte(tmp_path: Path, outcomes: Outcomes) -> None:
    paths = [
        hostile.sparse(tmp_path / "sparse as a.pdf", b"%PDF-1.7\n"),
        hostile.sparse(tmp_path / "text as a.txt", LETTER.encode() * 1000),
        hostile.sparse(tmp_path / "mail as a.eml", files.mail(LETTER * 1000)),
        hostile.sparse(tmp_path / "nothing as a.txt", b""),
        hostile.sparse(tmp_path / "compound as a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ]
    assert list((await outcomes.of(paths)).values()) == [
        "out_of_memory",
        "read",
        "out_of_memory",
        "unsupported",
        "unsupported",
    ]


async def test_each_kind_cut_anywhere_has_a_code(tmp_path: Path, outcomes: Outcomes) -> None:
    paths: list[Path] = []
    for name, content in hostile.each_kind().items():
        for share in CUTS:
            paths.append(tmp_path / f"{share} as {name}")
            paths[-1].write_bytes(content[: max(1, int(share * len(content)))])
    found = await outcomes.of(paths)
    assert {code for name, code in found.items() if name.endswith((".docx", ".odt", ".xlsx"))} <= {
        "damaged",
        "unsupported",
        "read",  # where what is cut off is not looked at: nothing but the first letters of the file's mark
    }
    assert "crashed" not in found.values()


async def test_each_kind_under_another_name_is_what_it_is(tmp_path: Path, outcomes: Outcomes) -> None:
    paths: list[Path] = []
    for name, content in hostile.each_kind().items():
        if name not in ("a.txt", "a.csv"):
            paths.append(tmp_path / f"{name} as wrong.{'pdf' if name != 'a.pdf' else 'docx'}")
            paths[-1].write_bytes(content)
    assert set((await outcomes.of(paths)).values()) <= {"read", "empty"}


@pytest.mark.parametrize(
    "kind", ["pdf", "docx", "odt", "xlsx", "html", "eml", "csv", "png", "jpg", "gif", "tif", "webp"]
)
async def test_what_chance_makes_of_a_document_ends_with_a_code(tmp_path: Path, outcomes: Outcomes, kind: str) -> None:
    chance = random.Random(f"{kind} {CHANCES}")
    content = hostile.each_kind()[f"a.{kind}"]
    paths: list[Path] = []
    for number in range(CHANCES):
        paths.append(tmp_path / f"{number} as a.{kind}")
        paths[-1].write_bytes(hostile.mutated(content, chance))
    found = await outcomes.of(paths, WITHOUT_RECOGNITION)
    assert len(found) == CHANCES
