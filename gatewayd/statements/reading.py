"""The one way in: a statement file of any format becomes parts (Domain E)."""

from collections.abc import Iterator
from typing import BinaryIO

from gatewayd.statements.shapes import Hints, Part, Proposal, Unreadable


def read(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a file, in its order; `stream` can seek, and is looked through more than once.

    Raises `Unreadable` for what is no statement or breaks a limit, also after parts have been given.
    """
    yield from ()
    raise Unreadable(None, f"{stream} and {hints} are not read yet")


def propose_mapping(sample: bytes) -> Proposal:
    """How the CSV that begins with `sample` (some 64 kB are plenty) could be read."""
    raise Unreadable(None, f"{len(sample)} bytes are not read yet")
