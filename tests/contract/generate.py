"""Write `docs/openapi.json`: `python -m tests.contract.generate`, as `make generate` does."""

import contextlib
import io
import os
from pathlib import Path

import msgspec

from gatewayd.cli import main

FILE = Path(__file__).parents[2] / "docs" / "openapi.json"


def served() -> bytes:
    """The description that a daemon with default settings serves."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = main(["openapi", "--config", os.devnull])
    assert code == 0
    return output.getvalue().rstrip("\n").encode()


def written() -> bytes:
    """The same with a line for each value, so that a change of a row is one that can be read."""
    return msgspec.json.format(served(), indent=2) + b"\n"


if __name__ == "__main__":
    FILE.write_bytes(written())
