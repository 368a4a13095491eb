"""Receivers in a process of their own, for the length of a test."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import loaded

END_SECONDS = 30.0


@contextmanager
def receiving(file: Path) -> Iterator[str]:
    """Run `tests.support.sink`; returns its address. What arrives stands in `file`, also after the end."""
    process = loaded.start(["-m", "tests.support.sink", str(file)], env={}, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        with process.stdout:
            yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(END_SECONDS)
