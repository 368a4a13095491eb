"""The table and the baseline fit the tree and each other, and a run tells what it finds."""

import subprocess
import sys

from tests.mutants import baseline
from tests.mutants.baseline import Known, Result, Survivor
from tests.mutants.mutations import Mutant
from tests.mutants.trials import ROOT

OLD, NEW, GONE = Mutant("f", "a < b", "a <= b"), Mutant("f", "g()", "pass"), Mutant("h", "1", "2")


def test_every_module_and_every_test_is_there() -> None:
    named = [path for module in baseline.table().values() for path in (module.path, *module.tests)]
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_every_module_has_been_tried() -> None:
    assert baseline.load().keys() == baseline.table().keys()


def test_every_survivor_has_its_reason() -> None:
    survivors = [(path, one) for path, known in baseline.load().items() for one in known.survivors]
    assert [one for one in survivors if not one[1].why.startswith(("equivalent: ", "accepted: "))] == []


def test_the_counts_add_up() -> None:
    for path, known in baseline.load().items():
        assert known.mutants == known.killed + len(known.survivors), path


def test_what_is_known_keeps_its_reason_and_what_is_killed_now_goes() -> None:
    before = Known(3, 1, [Survivor(OLD, "equivalent: so"), Survivor(GONE, "accepted: so")])
    merged = baseline.merged(before, Result("x.py", 4, survivors=[OLD, NEW]))
    assert merged == Known(4, 2, [Survivor(OLD, "equivalent: so"), Survivor(NEW, "")])


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.mutants", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_kills_what_its_tests_notice() -> None:
    ended = run("gatewayd/ledger/vat/vat_rates.py", "--within", "rate_on")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("gatewayd/ledger/vat/vat_rates.py: ")
    assert " 0 new; " in ended.stdout


def test_a_module_that_is_not_in_the_table_is_named() -> None:
    ended = run("gatewayd/nothing.py")
    assert ended.returncode == 2
    assert "gatewayd/nothing.py" in ended.stderr
