"""What the daemon and the child that sets papers say to each other. No more of this room is loaded by the child than
`paper`, `statement_paper` and what lays them out."""

from typing import Final, Literal

from msgspec import Struct

from gatewayd.papers.paper import Paper
from gatewayd.papers.statement_paper import StatementPaper

PDF_BYTES_MAX: Final = 8 << 20
"""Chosen: of 200 lines of 2,000 characters it is a tenth."""


class Order(Struct, frozen=True, kw_only=True):
    """What is to be set, as it comes on standard input. `xml` is attached; empty: nothing is."""

    paper: Paper | StatementPaper
    xml: bytes = b""


class Limits(Struct, frozen=True, kw_only=True):
    """The request of a child: what it may use."""

    memory_bytes: int
    cpu_seconds: int


class Set(Struct, frozen=True, kw_only=True, tag="set"):
    """The paper. `is_archival`: it is PDF/A-3b, as all are whose every character has a glyph."""

    pdf: bytes
    is_archival: bool


class Unset(Struct, frozen=True, kw_only=True, tag="unset"):
    """It could not be set. `layers` beside: nothing of the paper is told."""

    reason: Literal["logo", "other"]
    message: str


Answer = Set | Unset
