"""`make mutants`: change the code in small ways, one at a time, and see that a test fails each time.

`modules.toml` names the modules and, for each, the tests that have to notice. `baseline.json` keeps what is known:
how many mutants there were, how many were killed, and each that no test can or need kill, with the reason. A survivor
that is not in it fails the run.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from typing import NamedTuple

from tests.mutants import baseline, trials
from tests.mutants.baseline import Known, Result
from tests.mutants.mutations import Mutant, mutants
from tests.mutants.trials import ROOT, Module


class Options(NamedTuple):
    modules: list[Module]
    within: str | None
    write: bool


def main(arguments: list[str]) -> int:
    """The exit status: 1 where a mutant survived that the baseline doesn't name."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as bytecode:
        trials.prepare(bytecode)
        return _try_all(options)


def _try_all(options: Options) -> int:
    known = baseline.load()
    new = 0
    for module in options.modules:
        before = known.get(module.path, Known(0, 0, []))
        result = _try(module, options.within, Counter(survivor.mutant for survivor in before.survivors))
        new += result.new
        if options.write:
            known[module.path] = baseline.merged(before, result)
            baseline.save(known)
    return 1 if new else 0


def _options(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="make mutants ARGS=...", description="Try mutants; without names, all.")
    parser.add_argument("modules", nargs="*", metavar="gatewayd/money.py", help="the modules, as modules.toml has them")
    parser.add_argument("--within", metavar="NAME", help="only mutants of this class, function or constant")
    parser.add_argument("--write", action="store_true", help="write the result to the baseline, to fill in the reasons")
    given = parser.parse_args(arguments)
    table = baseline.table()
    if unknown := set(given.modules) - table.keys():
        parser.error(f"not in modules.toml: {', '.join(sorted(unknown))}")
    if given.write and given.within:
        parser.error("the baseline takes whole modules")
    return Options([table[name] for name in given.modules or table], given.within, given.write)


def _try(module: Module, within: str | None, known: Counter[Mutant]) -> Result:
    """Try every mutant of a module, and tell of each survivor that is not `known`."""
    begun = time.monotonic()
    seconds = trials.limit(module)
    result = Result(module.path)
    for mutant, tree in mutants((ROOT / module.path).read_text("utf-8")):
        if within is not None and not f"{mutant.where}.".startswith(f"{within}."):
            continue
        verdict = trials.attempt(module, tree, seconds)
        result.mutants += 1
        result.timeouts += verdict == "timeout"
        if verdict == "survived":
            result.survivors.append(mutant)
            if known[mutant]:
                known[mutant] -= 1
            else:
                result.new += 1
                print(f"new: {mutant.where}\n    - {mutant.before}\n    + {mutant.after}", flush=True)
    _tell(result, time.monotonic() - begun)
    return result


def _tell(result: Result, seconds: float) -> None:
    killed = result.mutants - len(result.survivors)
    late = f" ({result.timeouts} by the clock)" if result.timeouts else ""
    counts = f"{result.mutants} mutants, {killed} killed{late}, {result.mutants - killed} survived, {result.new} new"
    print(f"{result.path}: {counts}; {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
