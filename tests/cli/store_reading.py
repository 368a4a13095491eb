"""Looks into the store that a test's commands wrote, and writes what the daemon would."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.store import ReadTx, WriteTx

T = TypeVar("T")


def read_store(config_file: Path, work: Callable[[ReadTx], T]) -> T:
    """What `work` reads in the store of this configuration."""
    return Context(str(config_file), {}, SystemClock()).read(work)


def write_store(config_file: Path, work: Callable[[WriteTx], T]) -> T:
    """What `work` writes in the store of this configuration, as the daemon does."""
    return Context(str(config_file), {}, SystemClock()).write(work)
