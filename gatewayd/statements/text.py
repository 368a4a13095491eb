"""Text of strangers: which encoding, line by line, and cleaned for people."""

import codecs
import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from gatewayd.statements.shapes import Limits, Unreadable

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatches

_BLOCK = 256 * 1024
_END_OF_FILE = "\x1a"  # as old programs wrote it behind the last line
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
EIGHT_BIT = ("cp1252", "cp1250", "cp850", "cp437", "iso8859_15", "mac_roman")
"""What banks of Europe still write, and old programs. Others need a mapping that says so."""


def load_detector() -> "Callable[..., CharsetMatches]":
    """What guesses encodings: a large module, which a daemon that leaves files to its child does not need."""
    from charset_normalizer import from_bytes

    return from_bytes


def encoding_of(stream: BinaryIO) -> str:
    """The encoding of a text file, by its content: UTF-8, UTF-16, else the likeliest of eight bits.

    Raises `Unreadable` for what is cut off in the middle of a character.
    """
    stream.seek(0)
    head = stream.read(4096)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    nuls = head[::2].count(0), head[1::2].count(0)
    if max(nuls) > len(head) // 4:
        return "utf-16-be" if nuls[0] > nuls[1] else "utf-16-le"
    return _utf8_or_eight_bit(stream)


def _utf8_or_eight_bit(stream: BinaryIO) -> str:
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    seen_beyond_ascii = False
    while block := stream.read(_BLOCK):
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            return _eight_bit(block)
        seen_beyond_ascii = seen_beyond_ascii or not block.isascii()
    left = decoder.getstate()[0]
    if left and seen_beyond_ascii and len(left) < stream.tell():
        # Valid UTF-8 to the last character but one byte: what follows is missing, or the byte is of eight bits.
        return _eight_bit(left) if len(left) == 1 else "utf-8"
    return "utf-8"


def _eight_bit(sample: bytes) -> str:
    """The eight-bit encoding of a block with bytes above 127.

    Chosen: cp1252 wherever it has a character for each byte, as guesses take the `£` of a short file for a Polish `Ł`.
    """
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        lines = [line for line in sample.splitlines() if not line.isascii()][:200]
        best = load_detector()(b"\n".join(lines), cp_isolation=list(EIGHT_BIT)).best()
        return best.encoding if best is not None else "cp1252"
    return "cp1252"


class TextLines:
    """The lines of a text file without their ends; `number` is that of the line given last, from 1.

    Raises `Unreadable` for a line that is too long, or no text in that encoding.
    """

    def __init__(self, stream: BinaryIO, encoding: str, limits: Limits) -> None:
        stream.seek(0)
        self.number = 0
        self._limit = limits.line_bytes
        self._encoding = encoding
        try:
            self._text = io.TextIOWrapper(stream, encoding=encoding, newline=None)
        except LookupError as error:
            raise Unreadable(None, f"there is no encoding {encoding!r}") from error

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            line = self._text.readline(self._limit + 1)
        except UnicodeError as error:
            reason = f"here or within the next lines is a character that is none in {self._encoding}"
            raise Unreadable(self.number + 1, reason) from error
        if not line or line.strip() == _END_OF_FILE:
            raise StopIteration
        self.number += 1
        if len(line) > self._limit:
            raise Unreadable(self.number, f"the line is longer than {self._limit} characters")
        return line[:-1] if line[-1] == "\n" else line

    def detach(self) -> None:
        """Leave the stream open for others."""
        self._text.detach()


def without_nul(lines: TextLines) -> Iterator[str]:
    """The lines; raises `Unreadable` at a NUL, which no text has and databases cut strings at."""
    for line in lines:
        if "\0" in line:
            raise Unreadable(lines.number, "there is a NUL byte: the file is damaged, or is no text")
        yield line


def cleaned(text: str) -> str:
    """The text with spaces folded and without control characters, for people to read."""
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return " ".join("".join(c if c.isprintable() else " " for c in folded).split())
