"""Receivers in a process of their own, for the length of a test."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
END_SECONDS = 30.0


@contextmanager
def receiving(file: Path) -> Iterator[str]:
    """Run `tests.support.sink`; returns its address. What arrives stands in `file`, also after the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.sink", file],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        with process.stdout:
            yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(END_SECONDS)
