"""Documents: small files of eight kinds, two at a time, each read in a child of its own as the vault has them read."""

import os
import time
from pathlib import Path
from typing import Final

import trio

from gatewayd.extraction.reader import DocumentReader, ReaderSettings, open_reader
from tests.bench.processes import resident_mib
from tests.bench.report import Figure, Report, at_least
from tests.bench.servers import Bench
from tests.extraction import files, hostile
from tests.extraction.processes import below

KINDS: Final = ("a.pdf", "a.docx", "a.odt", "a.xlsx", "a.html", "a.eml", "a.txt", "a.csv")
AT_A_TIME: Final = 2
PER_SECOND: Final = 20
"""What is wanted of two cores."""


def measure_reading(bench: Bench, documents: int, rounds: int, report: Report) -> None:
    """On both cores. What has no text but in pictures is left out: tesseract takes a second for a page."""
    paths = _written(bench.scratch / "documents", documents)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {bench.core, *before})
    try:
        rates, costs, memory = trio.run(_rounds, paths, rounds)
    finally:
        os.sched_setaffinity(0, before)
    figures = [
        Figure("documents", rates, at_least(PER_SECOND), "a second"),
        Figure("CPU of a document, its child's and the template's", costs, None, "ms"),
        Figure("RSS of the template", [memory], None, "MiB"),
    ]
    report.add(f"{documents} small documents of {len(KINDS)} kinds, {AT_A_TIME} at a time", {}, figures)


def _written(folder: Path, count: int) -> list[Path]:
    """An invoice's text among them, so that there are facts to find."""
    folder.mkdir()
    contents = hostile.each_kind()
    contents["a.txt"] += b"\nInvoice number: BP-20417\nInvoice date: 14 October 2026\nTotal due: 570.00 GBP\n"
    contents["a.pdf"] = files.pdf(*[files.LETTER] * 3)
    paths = [folder / f"{number}-{KINDS[number % len(KINDS)]}" for number in range(count)]
    for path in paths:
        path.write_bytes(contents[path.name.partition("-")[2]])
    return paths


async def _rounds(paths: list[Path], rounds: int) -> tuple[list[float], list[float], float]:
    """Of each round, documents a second and milliseconds of CPU for each; and MiB."""
    rates, costs = [], []
    async with open_reader(ReaderSettings()) as reader:
        await reader.read(paths[0], paths[0].name, "")
        template = max(below(os.getpid()))  # within a bubblewrap, which is started before it
        for _ in range(rounds):
            began, spent = time.perf_counter(), _cpu_seconds(template)
            await _read_all(reader, paths)
            rates.append(len(paths) / (time.perf_counter() - began))
            costs.append((_cpu_seconds(template) - spent) * 1000 / len(paths))
        return rates, costs, resident_mib(template)


async def _read_all(reader: DocumentReader, paths: list[Path]) -> None:
    left = list(paths)

    async def read() -> None:
        while left:
            path = left.pop()
            await reader.read(path, path.name, "")

    async with trio.open_nursery() as nursery:
        for _ in range(AT_A_TIME):
            nursery.start_soon(read)


def _cpu_seconds(pid: int) -> float:
    """Of a process and of the children it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
