"""Looks into the store that a test's commands wrote."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.store import ReadTx

T = TypeVar("T")


def read_store(config_file: Path, work: Callable[[ReadTx], T]) -> T:
    """What `work` reads in the store of this configuration."""
    return Context(str(config_file), {}, SystemClock()).read(work)
