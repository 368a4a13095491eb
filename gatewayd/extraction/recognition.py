"""Text in pictures (OCR): tesseract in a process of its own, which sees pixels and nothing else.

The child that reads a document may start no program any more. Before it gives that up it makes a companion, which
starts tesseract for each picture, with limits, without a network, without files to write and with few to read.
"""

import csv
import glob
import io
import os
import resource
import shutil
import signal
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from PIL import Image

from gatewayd.isolation import kernel, landlock
from gatewayd.isolation.confinement import Confinement, confine
from gatewayd.isolation.frames import LENGTH_BYTES, framed

_PROGRAMS: Final = "/usr/local/bin:/usr/bin:/bin"
_READABLE: Final = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/sys/devices/system/cpu"),
    *("/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/share/tesseract", "/usr/local/share/tessdata"),
)
"""Where Debian, Fedora and Arch have what tesseract loads."""
_ORIENTATION: Final = (
    *("/usr/share/tesseract-ocr/*/tessdata/osd.traineddata", "/usr/share/tessdata/osd.traineddata"),
    *("/usr/share/tesseract/tessdata/osd.traineddata", "/usr/local/share/tessdata/osd.traineddata"),
)
"""What tells which way up a page lies, where it is installed."""
_ENVIRONMENT: Final = {"OMP_THREAD_LIMIT": "1", "LC_ALL": "C.UTF-8"}
_MEMORY_BYTES: Final = 1 << 30
_SECONDS_OF_PAGE: Final = 120
_SIDE_MAX: Final = 3508  # pixels; A4 at 300 dots an inch, for which tesseract is made
_TSV_BYTES_MAX: Final = 8 * 1024 * 1024
_PIXELS_BYTES_MAX: Final = _SIDE_MAX * _SIDE_MAX + 65
_WORD_LEVEL: Final = "5"
_CONFIDENCE_MIN: Final = 10.0  # Chosen: below stand specks and lines of forms, out of a hundred
_LIMIT_OF_FILES: Final = 64
_WHOLE_PAGES, _SPARSE = b"w", b"s"
"""How words are looked for: as on a page of text, or anywhere, in no order."""
_WORDS_MIN: Final = 5  # Chosen: with fewer, as of a page that tesseract takes for a picture, it looks for them anywhere
_ROW: Final = 0.6
_BLANK: Final = 2.6
_GAP: Final = 1.1
"""Chosen, of the height of words: how far those of a row may stand off it, rows without a blank one, words as one."""
_LONG: Final = 0.12  # of the width, for a line that tells how far the page leans


class Word(NamedTuple):
    """A word and its box, in parts of the picture's width and height from the upper left. `line` tells lines apart."""

    text: str
    line: tuple[int, int, int]
    left: float
    top: float
    width: float
    height: float


def find_program() -> str | None:
    """Where tesseract is; None: nowhere."""
    return shutil.which("tesseract", path=_PROGRAMS)


class Recognition:
    """Recognises text, until `seconds` are over. `is_there`: there is a program for it."""

    def __init__(self, companion: socket.socket | None, seconds: float) -> None:
        self._companion = companion
        self._end = time.monotonic() + seconds
        self.is_there = companion is not None
        self.was_used = False
        self.ran_out = False
        self._rows: dict[str, str] = {}

    def words(self, picture: Image.Image) -> list[Word]:
        """What stands in a picture; nothing where tesseract fails on it, or the time is over."""
        if self._companion is None:
            return []
        if time.monotonic() > self._end:
            self.ran_out = True
            return []
        self.was_used = True
        small = picture.convert("L")
        small.thumbnail((_SIDE_MAX, _SIDE_MAX))
        found = self._asked(self._companion, small, _WHOLE_PAGES)
        if len(found) < _WORDS_MIN:
            found = max(found, self._asked(self._companion, small, _SPARSE), key=len)
        return found

    def _asked(self, companion: socket.socket, picture: Image.Image, layout: bytes) -> list[Word]:
        pixels = b"P5 %d %d 255\n" % picture.size + picture.tobytes()
        with open(companion.fileno(), "wb", closefd=False) as pipe:  # it may write, and not send
            pipe.write(framed(layout + pixels))
        return list(_words(_body(companion, _TSV_BYTES_MAX).decode(errors="replace"), picture.size))

    def text(self, picture: Image.Image) -> str:
        """The same as lines, block after block."""
        words = self.words(picture)
        text = as_lines(words)
        self._rows[text] = as_rows(words, picture.height / picture.width)
        return text

    def in_rows(self, text: str) -> str:
        """What was recognised, as rows across the whole page, with gaps between what stands apart.

        Of a bill these are what belongs together, where blocks tear amounts from their labels. A text that was not
        recognised stays as it is.
        """
        return self._rows.get(text, text)


def as_lines(words: list[Word]) -> str:
    """Words with spaces between them, lines apart, and an empty line between blocks."""
    parts: list[str] = []
    before: Word | None = None
    for word in words:
        if before is not None:
            parts.append(" " if word.line == before.line else "\n" if word.line[0] == before.line[0] else "\n\n")
        parts.append(word.text)
        before = word
    return "".join(parts)


def as_rows(words: Sequence[Word], aspect: float) -> str:
    """Words as they stand beside each other, whatever block they are of: the page is made straight first.

    `aspect` is the picture's height by its width.
    """
    slope = _slope(words)
    height = statistics.median(word.height for word in words) if words else 0.0
    placed = sorted((word.top + word.height / 2 - slope * (word.left + word.width / 2), word) for word in words)
    rows: list[list[tuple[float, Word]]] = []
    for middle, word in placed:
        if rows and middle - statistics.fmean(at for at, _ in rows[-1]) < _ROW * height:
            rows[-1].append((middle, word))
        else:
            rows.append([(middle, word)])
    lines: list[str] = []
    for number, row in enumerate(rows):
        if number and row[0][0] - rows[number - 1][0][0] > _BLANK * height:
            lines.append("")
        lines.append(_row_text([word for _, word in row], height, _GAP * aspect))
    return "\n".join(lines)


def _row_text(words: Sequence[Word], height: float, gap: float) -> str:
    """A row, where what stands apart has wide spaces between: by `height`, the usual one, or their own if larger."""
    parts: list[str] = []
    end = last = 0.0
    for word in sorted(words, key=lambda word: word.left):
        is_apart = word.left - end > gap * max(height, min(last, word.height))
        parts.append("" if not parts else "   " if is_apart else " ")
        parts.append(word.text)
        end, last = word.left + word.width, word.height
    return "".join(parts)


def _slope(words: Sequence[Word]) -> float:
    """How far the page leans: by how much of its height a line falls over the whole width."""
    by_line: dict[tuple[int, int, int], list[Word]] = {}
    for word in words:
        by_line.setdefault(word.line, []).append(word)
    slopes: list[float] = []
    for line in by_line.values():
        first, last = line[0], line[-1]
        if (across := last.left - first.left) > _LONG:
            slopes.append((last.top + last.height - first.top - first.height) / across)
    return statistics.median(slopes) if slopes else 0.0


def _words(tsv: str, size: tuple[int, int]) -> Iterator[Word]:
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row["level"] != _WORD_LEVEL or not text or float(row["conf"]) < _CONFIDENCE_MIN:
            continue
        line = int(row["block_num"]), int(row["par_num"]), int(row["line_num"])
        across, down = size
        left, width = int(row["left"]) / across, int(row["width"]) / across
        yield Word(text, line, left, int(row["top"]) / down, width, int(row["height"]) / down)


def start_companion(program: str, languages: Sequence[str]) -> socket.socket:
    """The end of the companion that this process talks to. It dies with this process, and is in its group."""
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    if os.fork() == 0:
        try:
            _be_companion(program, languages, theirs, parent)
        finally:
            os._exit(1)
    theirs.close()
    return ours


def _be_companion(program: str, languages: Sequence[str], socket_end: socket.socket, parent: int) -> None:
    """Until the other end is closed. It reads lengths and a letter alone, and passes pixels on."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    commands = {layout: _command(program, languages, layout) for layout in (_WHOLE_PAGES, _SPARSE)}
    if landlock.version():
        landlock.restrict((*_READABLE, program))
    os.dup2(socket_end.fileno(), 0)
    os.dup2(2, 1)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    with socket.socket(fileno=0) as asking:
        while os.getppid() == parent:
            body = _body(asking, _PIXELS_BYTES_MAX)
            asking.sendall(framed(_recognised(commands[body[:1]], body[1:])))


def _command(program: str, languages: Sequence[str], layout: bytes) -> list[str]:
    """The program and its arguments. A page that lies on its side or upside down is read where it can tell."""
    can_tell = any(glob.glob(pattern) for pattern in _ORIENTATION)
    whole, sparse = ("1", "12") if can_tell else ("3", "11")
    mode = whole if layout == _WHOLE_PAGES else sparse
    return [program, "stdin", "stdout", "-l", "+".join(languages), "--dpi", "300", "--psm", mode, "tsv"]


def _recognised(command: Sequence[str], pixels: bytes) -> bytes:
    """What tesseract says of a picture, in its TSV; nothing where it fails."""
    source, pixels_end = os.pipe()
    answers, answers_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _be_program(command, source, answers_end)
        finally:
            os._exit(1)
    os.close(source)
    os.close(answers_end)
    try:
        with open(pixels_end, "wb") as file:
            file.write(pixels)
    except BrokenPipeError:
        pass  # it ended: its code tells
    with open(answers, "rb") as file:
        said = file.read(_TSV_BYTES_MAX)
    _, status = os.waitpid(pid, 0)
    return said if status == 0 else b""


def _be_program(command: Sequence[str], source: int, answers: int) -> None:
    """Become tesseract, which may become nothing else."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(source, 0)
    os.dup2(answers, 1)
    confinement = Confinement(
        memory_bytes=_MEMORY_BYTES,
        cpu_seconds=_SECONDS_OF_PAGE,
        open_files=_LIMIT_OF_FILES,
        purpose="program",
        readable=(*_READABLE, command[0]),
    )
    os.closerange(3, _LIMIT_OF_FILES)
    confine(confinement)
    os.execve(command[0], list(command), _ENVIRONMENT)


def _body(end: socket.socket, most: int) -> bytes:
    """The body of the next frame; raises `EOFError` where there is none, or it is longer than it may be."""
    length = int.from_bytes(_exactly(end, LENGTH_BYTES), "big")
    if length > most:
        raise EOFError
    return _exactly(end, length)


def _exactly(end: socket.socket, size: int) -> bytes:
    body = bytearray()
    while len(body) < size:
        if not (chunk := os.read(end.fileno(), size - len(body))):
            raise EOFError
        body += chunk
    return bytes(body)
