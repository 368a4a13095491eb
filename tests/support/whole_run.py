"""What can be told at the end of a whole run alone: what no test came to see, and what none ever gave.

Each worker of pytest-xdist has run a part, and hands over what it noted; who started them looks at all of it. Of a run
that was narrowed, that left to SQLite what is its own, or that failed, it cannot be told, and it says so instead of
passing for one that was looked at.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support import given_fields, outcomes
from tests.support.store import ON_POSTGRESQL

NOT_LOOKED_AT = "a part of the suite ran: what no test sees or gives was not looked for"
FAILED = "tests failed: what no test sees or gives was not looked for"


def hand_over(config: Any) -> None:
    """A worker ends."""
    config.workeroutput["noted"] = [sorted(outcomes.SEEN), sorted(given_fields.GIVEN)]


def take_over(node: Any) -> None:
    """A worker has ended. One that was killed hands over nothing, and its test has failed."""
    seen, fields_given = getattr(node, "workeroutput", {}).get("noted", ((), ()))
    outcomes.SEEN.update(map(tuple, seen))
    given_fields.GIVEN.update(map(tuple, fields_given))


def is_whole(config: pytest.Config) -> bool:
    """Whether all tests run, so that what was not seen is not there."""
    chosen = config.option
    narrowed = chosen.keyword or chosen.markexpr or chosen.deselect or chosen.ignore or chosen.ignore_glob
    arguments = {_place(config.invocation_params.dir, argument) for argument in config.args}
    all_places = {_place(config.rootpath, path) for path in config.getini("testpaths")}
    return all_places <= arguments and not narrowed and not chosen.collectonly and not ON_POSTGRESQL


def _place(folder: Path, path: str) -> Path:
    return (folder / path).resolve()


def faults(config: pytest.Config, exitstatus: int) -> list[str]:
    """What a whole run that passed did not come to; nothing where that cannot be told."""
    if exitstatus != pytest.ExitCode.OK or not is_whole(config):
        return []
    return [*outcomes.unseen(), *given_fields.faults()]


def told(config: pytest.Config, exitstatus: int) -> list[str]:
    """What is said at the end: the faults, or why they were not looked for."""
    if not is_whole(config):
        return [NOT_LOOKED_AT]
    return faults(config, exitstatus) if exitstatus == pytest.ExitCode.OK else [FAILED]
