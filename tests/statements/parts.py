"""Reads a statement that a test has written, and sorts what comes of it."""

import io
from typing import Any

import pytest

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import Closed, Hints, Ignored, Limits, Line, Opened, Part, Proposal, Refused, Unreadable


class Parts:
    """The parts of a file, by kind."""

    def __init__(self, parts: list[Part]) -> None:
        self.all = parts
        self.opened = [part for part in parts if isinstance(part, Opened)]
        self.lines = [part for part in parts if isinstance(part, Line)]
        self.refused = [part for part in parts if isinstance(part, Refused)]
        self.ignored = [part for part in parts if isinstance(part, Ignored)]
        self.closed = [part for part in parts if isinstance(part, Closed)]

    @property
    def rows(self) -> list[tuple[str | None, int, str]]:
        """Date, amount and description of each line."""
        return [(line.booking_date, line.amount, line.description) for line in self.lines]


def read_parts(content: str | bytes, encoding: str = "utf-8", **hints: Any) -> Parts:
    """What a file of this content is read into; in pounds where it does not say."""
    stream = io.BytesIO(content if isinstance(content, bytes) else content.encode(encoding))
    given = Hints(**{"file_name": "statement", "currency": "GBP", "limits": Limits(), **hints})
    return Parts(list(read(stream, given)))


def reason_of(content: str | bytes, encoding: str = "utf-8", **hints: Any) -> str:
    """Why a file of this content is unreadable."""
    with pytest.raises(Unreadable) as raised:
        read_parts(content, encoding, **hints)
    return str(raised.value)


def proposal_in(content: str | bytes, encoding: str = "utf-8", **hints: Any) -> Proposal:
    """The proposal that a file of this content is refused with."""
    with pytest.raises(Unreadable) as raised:
        read_parts(content, encoding, **hints)
    proposal = raised.value.proposal
    assert proposal is not None
    return proposal
