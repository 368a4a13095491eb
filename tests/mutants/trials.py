"""Trying a mutant: the tests run in a process of their own, which imports the changed code in place of the file.

Nothing in the tree is written. The process is forked from one that has pytest loaded already, so that a trial costs
little more than its tests. Property tests draw the same examples each time and keep none.
"""

import ast
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, ModuleType
from typing import Literal, NamedTuple

import hypothesis
import pytest

Verdict = Literal["survived", "killed", "timeout"]

ROOT = Path(__file__).resolve().parents[2]
LOADED = ("apsw", "cryptography.x509", "h11", "httpx", "joserfc.jwt", "msgspec", "pytest_trio.plugin", "trio.testing")
"""What nearly every test imports, loaded once: nothing of ours."""
PYTEST = ("-x", "-q", "--no-header", "-p", "pytest_trio.plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning")
WHOLE_SECONDS = 600.0
GRACE_SECONDS = 10.0  # on a busy machine


class Module(NamedTuple):
    """A module of the program, and the tests that have to notice when it changes: paths from the root."""

    path: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return ".".join(Path(self.path).with_suffix("").parts)


class BrokenTests(Exception):
    """The tests fail without any mutant."""


def prepare(bytecode: str) -> None:
    """Make this process one to fork trials from; `bytecode` is a folder for what they compile."""
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", database=None, derandomize=True, deadline=None, phases=phases)
    hypothesis.settings.load_profile("mutants")
    for name in LOADED:
        importlib.import_module(name)
    sys.dont_write_bytecode, sys.pycache_prefix = False, bytecode
    gc.freeze()  # the trials need not look through what is loaded here


def limit(module: Module) -> float:
    """The seconds after which a trial is given up: some times what the tests use of the processor with nothing changed.

    Raises `BrokenTests`.
    """
    before = _seconds_used()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        if _run(module, None, WHOLE_SECONDS, output.fileno()) != 0:
            output.seek(0)
            raise BrokenTests(f"{output.read()}\n{module.path}: its tests fail before anything is changed")
    return GRACE_SECONDS + 4 * (_seconds_used() - before)


def attempt(module: Module, changed: ast.Module, seconds: float) -> Verdict:
    """Run the tests over the changed module, for at most so many seconds."""
    code = compile(changed, str(ROOT / module.path), "exec")
    with open(os.devnull, "w", encoding="utf-8") as output:
        ended = _run(module, code, seconds, output.fileno())
    if ended is None:
        return "timeout"
    return "survived" if ended == 0 else "killed"


def _seconds_used() -> float:
    """What the processes started here have used of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(module: Module, code: CodeType | None, seconds: float, output: int) -> int | None:
    """The exit status of pytest, which writes to the descriptor `output`; None where it took too long."""
    process = get_context("fork").Process(target=_child, args=(module, code, output))
    process.start()
    process.join(seconds)
    if process.exitcode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        return None
    return process.exitcode


def _child(module: Module, code: CodeType | None, output: int) -> None:
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    if code is not None:
        sys.meta_path.insert(0, _Instead(module.name, code))
    ended = pytest.main([*PYTEST, *module.tests])
    sys.stdout.flush()
    os._exit(ended)


class _Instead(importlib.abc.MetaPathFinder):
    """Imports one module from code at hand instead of from its file."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name = name
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _CodeLoader(fullname, self._code.co_filename)
        loader.code = self._code
        return importlib.util.spec_from_file_location(fullname, self._code.co_filename, loader=loader)


class _CodeLoader(importlib.machinery.SourceFileLoader):
    code: CodeType

    def get_code(self, fullname: str) -> CodeType:
        return self.code
