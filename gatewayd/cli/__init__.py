"""The command line. Exit 0: done. 1: failed, the reason on standard error. 2: wrong usage or configuration."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gatewayd.cli.context import CommandError, Context
from gatewayd.cli.parser import build_parser
from gatewayd.clock import SystemClock
from gatewayd.config import ROOT, ConfigError
from gatewayd.errors import Problem

DONE, FAILED, WRONG_USAGE = 0, 1, 2
UNWRITTEN: Final = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Why standard output takes no more."""
INTERRUPTED = 130  # as shells report a command that SIGINT ended


def _read_statement(*arguments: str) -> None:
    from gatewayd.statements.worker import main as read

    read(*arguments)


def _read_documents(*arguments: str) -> None:
    from gatewayd.extraction.worker import main as read

    read(*arguments)


def _embed_texts() -> None:
    from gatewayd.search.embedding_worker import main as embed

    embed()


def _set_papers(*arguments: str) -> None:
    from gatewayd.papers.worker import main as set_papers

    set_papers(*arguments)


CHILDREN: Final = {
    "read-statement": _read_statement,
    "read-documents": _read_documents,
    "embed-texts": _embed_texts,
    "set-papers": _set_papers,
}
"""First arguments by which a program of one file, which has no interpreter beside it, is a child (`Entry.name`)."""


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run one command and return its exit code. `argv` is without the program's name; None: the process's own.

    `root` is where /etc and /var/lib are.
    """
    words = sys.argv[1:] if argv is None else argv
    if words[:1] and words[0] in CHILDREN:
        CHILDREN[words[0]](*words[1:])
        return DONE
    try:
        arguments = build_parser(words).parse_args(words)
    except SystemExit as stop:  # argparse has printed help, version or what is wrong
        return stop.code if isinstance(stop.code, int) else WRONG_USAGE
    except OSError as error:
        return _not_written(error)
    context = Context(arguments.config, os.environ, SystemClock(), root)
    if getattr(arguments, "override", False):
        context.overrides = frozenset({"closing"})
    return _run(arguments, context)


def _run(arguments: argparse.Namespace, context: Context) -> int:
    """Run the command; what it raises becomes a sentence and an exit code."""
    from gatewayd.store.failures import MigrationError, StoreFailure  # heavy: help and version go without

    try:
        code: int = arguments.run(arguments, context)
    except ConfigError as error:
        return _fail("\n".join(str(problem) for problem in error.problems), WRONG_USAGE)
    except CommandError as error:
        return _fail(str(error), error.code)
    except Problem as error:
        return _fail(error.message, FAILED)
    except (StoreFailure, MigrationError) as error:
        return _fail(str(error), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.filename is None and error.errno in UNWRITTEN:  # more than standard output keeps back
            return _not_written(error)
        raise
    return _written(code)


def _written(code: int) -> int:
    """The exit code of a command that has printed all it had to say."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _not_written(error)
    return code


def _fail(reason: str, code: int) -> int:
    for line in reason.splitlines():
        print(f"gatewayd: {line}", file=sys.stderr)
    return code


def _not_written(error: OSError) -> int:
    """Standard output takes no more. Where the reader of a pipe has gone (`gatewayd key list | head -1`), that is said
    to nobody.

    The interpreter must not flush into it again.
    """
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    if error.errno == errno.EPIPE:
        return FAILED
    return _fail(f"the output cannot be written ({error.strerror}); what the command did is done", FAILED)
