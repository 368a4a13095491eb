"""A reader of documents in this process: what a test says stands in a file, for the place of the child."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import trio

from gatewayd.extraction.shapes import Extraction, ExtractionFailed, Facts, Page, Picture

NOTHING_FOUND = Facts(
    kind="other",
    date=None,
    total=None,
    currency=None,
    counterparty=None,
    vat_number=None,
    reference=None,
    confidence=0.0,
    certificate=None,
)


async def _at_once(name: str) -> None:
    await trio.lowlevel.checkpoint()


@dataclass
class FakeReader:
    """Reads text files as they are, a page up to each form feed. What a file holds says what goes wrong with it.

    `fails:CODE` fails with that code; `no picture` has none; `breaks` is a fault of our own. `wait` is awaited with the
    name of each document before it is read or drawn.
    """

    facts: Facts = NOTHING_FOUND
    wait: Callable[[str], Awaitable[None]] = _at_once
    read_names: list[str] = field(default_factory=list)
    drawn: list[tuple[int, int]] = field(default_factory=list)

    async def read(self, path: Path, name: str, mime_type: str) -> Extraction:
        self.read_names.append(name)
        await self.wait(name)
        text = path.read_text("utf-8")
        self._fail(text)
        pages = [Page(number=n, text=part) for n, part in enumerate(text.split("\f"), 1)]
        return Extraction(engine="plain", pages=pages, page_count=len(pages), language="en", facts=self.facts)

    async def draw(self, path: Path, mime_type: str, page: int, width: int) -> Picture:
        await self.wait(path.name)
        if path.read_bytes() == b"no picture":
            raise ExtractionFailed("unsupported", "There is no picture of it.")
        self.drawn.append((page, width))
        return Picture(body=b"RIFF" + path.read_bytes(), width=min(width, 500), height=2 * width)

    async def searchable_pdf(self, path: Path, mime_type: str, target: Path) -> None:
        await trio.lowlevel.checkpoint()
        text = path.read_text("utf-8")
        self._fail(text)
        target.write_bytes(b"%PDF-" + text.encode())

    def _fail(self, text: str) -> None:
        if text.startswith("fails:"):
            raise ExtractionFailed(text.removeprefix("fails:"), "It cannot be read.")  # type: ignore[arg-type]
        if text == "breaks":
            raise RuntimeError("a fault")
