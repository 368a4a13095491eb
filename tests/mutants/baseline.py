"""What is tried, and what is known of it: `modules.toml` and `baseline.json`."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.mutations import Mutant
from tests.mutants.trials import Module

HERE = Path(__file__).parent
TABLE, BASELINE = HERE / "modules.toml", HERE / "baseline.json"


class Survivor(NamedTuple):
    """A mutant that no test kills, and why that is right. `why` is empty until somebody has written it."""

    mutant: Mutant
    why: str


class Known(NamedTuple):
    """What the baseline says of a module."""

    mutants: int
    killed: int
    survivors: list[Survivor]


@dataclass
class Result:
    """What a run found. `timeouts` are among the killed, the `new` among the survivors."""

    path: str
    mutants: int = 0
    timeouts: int = 0
    new: int = 0
    survivors: list[Mutant] = field(default_factory=list)


def table() -> dict[str, Module]:
    """The modules by path, in the order of the file."""
    rows: dict[str, list[str]] = tomllib.loads(TABLE.read_text("utf-8"))
    return {path: Module(path, tuple(tests)) for path, tests in rows.items()}


def load() -> dict[str, Known]:
    """The baseline by module."""
    rows: dict[str, dict[str, Any]] = json.loads(BASELINE.read_text("utf-8"))
    return {
        path: Known(
            row["mutants"],
            row["killed"],
            [Survivor(Mutant(one["where"], one["before"], one["after"]), one["why"]) for one in row["survivors"]],
        )
        for path, row in rows.items()
    }


def save(known: dict[str, Known]) -> None:
    """Write the baseline, modules in the order of the table."""
    order = [path for path in table() if path in known]
    rows = {path: known[path]._asdict() for path in order}
    for path in order:
        rows[path]["survivors"] = [{**one.mutant._asdict(), "why": one.why} for one in known[path].survivors]
    BASELINE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")


def merged(before: Known, result: Result) -> Known:
    """The result, with the reasons that are known already. Those of mutants that are killed now are dropped."""
    reasons = {survivor.mutant: survivor.why for survivor in before.survivors}
    survivors = [Survivor(mutant, reasons.get(mutant, "")) for mutant in result.survivors]
    return Known(result.mutants, result.mutants - len(survivors), survivors)
