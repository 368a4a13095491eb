"""What the daemon asks of the child that reads a document, and what the child says to it: frames of MessagePack."""

from typing import Final

from msgspec import Struct, json, msgpack

from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.shapes import ExtractionFailed, Facts, FailureCode, Page, SkipCode

PICTURE_BYTES_MAX: Final = 16 * 1024 * 1024


class ReadText(Struct, frozen=True, kw_only=True, tag="read"):
    """Text and facts. `today` is an ISO date."""

    name: str
    mime_type: str
    today: str
    bounds: Bounds


class DrawPage(Struct, frozen=True, kw_only=True, tag="draw"):
    """A picture of a page, counted from 1, at most `width` pixels wide."""

    mime_type: str
    page: int
    width: int


class AddText(Struct, frozen=True, kw_only=True, tag="add_text"):
    """A PDF with what is recognised in its pictures as invisible text, written to descriptor 3."""

    mime_type: str
    bounds: Bounds


class TellLayers(Struct, frozen=True, tag="layers"):
    """What the child is shut in by."""


class Request(Struct, frozen=True, kw_only=True):
    """What a child does, within which limits.

    `ocr_languages`: those in which text in pictures is recognised, where there is a program for it; empty: in none.
    """

    task: ReadText | DrawPage | AddText | TellLayers
    memory_bytes: int
    cpu_seconds: int
    ocr_languages: tuple[str, ...]


class Read(Struct, frozen=True, kw_only=True, tag="read"):
    """What a document is beside its pages, which came before. `is_cut`: it goes on beyond them."""

    engine: str
    page_count: int | None
    language: str | None
    facts: Facts
    is_cut: bool


class PageRead(Struct, frozen=True, tag="page"):
    """One page."""

    page: Page


class Drawn(Struct, frozen=True, kw_only=True, tag="drawn"):
    """A WebP, in pixels."""

    body: bytes
    width: int
    height: int


class Written(Struct, frozen=True, kw_only=True, tag="written"):
    """The PDF is written."""

    pages: int


class Layers(Struct, frozen=True, kw_only=True, tag="layers"):
    """By the names that `doctor` shows. `ocr`: the program that recognises text; None: there is none."""

    layers: list[str]
    ocr: str | None


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """Why there is nothing."""

    code: FailureCode | SkipCode
    message: str

    @classmethod
    def of(cls, error: ExtractionFailed) -> "Failed":
        """As the daemon raises it again."""
        return cls(code=error.code, message=error.message)


Answer = PageRead | Read | Drawn | Written | Layers | Failed

REQUESTS: Final = json.Decoder(Request)
ANSWERS: Final[msgpack.Decoder[Answer]] = msgpack.Decoder(Answer)


def largest_answer(bounds: Bounds) -> int:
    """How much a child may say: all characters at four bytes each, or a picture; and what stands around them."""
    return max(4 * bounds.characters, PICTURE_BYTES_MAX) + 64 * 1024
