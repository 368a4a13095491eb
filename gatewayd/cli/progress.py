"""A bar on a terminal for work of which it is known how much there is; elsewhere nothing is said."""

import shutil
from types import TracebackType
from typing import Self, TextIO

from gatewayd.doctor.sizes import in_units

BAR = 24  # characters


class Progress:
    """So many files, and so many bytes; drawn anew with each that is done, and wiped in the end."""

    def __init__(self, stream: TextIO, files: int = 0, size_bytes: int = 0, called: str = "files") -> None:
        """`called` is what is counted, where that is no files."""
        self._stream = stream
        self._called = called
        self._files, self._bytes = files, size_bytes
        self._done_files, self._done_bytes = 0, 0
        self._draws = stream.isatty()

    def __enter__(self) -> Self:
        self._draw("")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._draws:
            self._write("")

    def expect(self, files: int, size_bytes: int) -> None:
        """There is so much more than was known."""
        self._files += files
        self._bytes += size_bytes

    def advance(self, size_bytes: int, name: str, files: int = 1) -> None:
        """So many more files are done, and so many bytes."""
        self._done_files += files
        self._done_bytes += size_bytes
        self._draw(name)

    def _draw(self, name: str) -> None:
        if not self._draws:
            return
        share = min(1.0, self._done_bytes / self._bytes) if self._bytes else 1.0
        filled = min(BAR, round(share * BAR))
        bar = "#" * filled + "." * (BAR - filled)
        told = f"[{bar}] {self._done_files:,} of {self._files:,} {self._called}, {in_units(self._done_bytes)}  "
        shown = "".join(character if character.isprintable() else "?" for character in name)
        self._write((told + shown)[: shutil.get_terminal_size().columns - 1])

    def _write(self, line: str) -> None:
        print(f"\r\x1b[K{line}", end="", file=self._stream, flush=True)
