"""At its end a whole run fails for what no test saw or gave; any other says that it did not look."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from tests.support import loaded, whole_run

SECONDS = 60

SUITE = """
from gatewayd.areas.crm.leads import CreateLead
from tests.support import given_fields, outcomes

def test_create_lead_already_exists():
    outcomes.note("crm.createLead", "already_exists")
    given_fields.note("crm.createLead", CreateLead(source="web"))

def test_create_opportunity_already_exists():  # sees nothing
    pass
"""
PYTEST = "import os, sys, pytest; os.chdir(sys.argv[1]); sys.exit(pytest.main(sys.argv[2:]))"
HOOKS = "from tests.conftest import pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two tests under the hooks of this suite."""
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["suite"]\n')
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "conftest.py").write_text(HOOKS)
    (tmp_path / "suite" / "test_leads.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = ["-c", PYTEST, str(suite), "-p", "no:cacheprovider", "--import-mode=importlib", *arguments]
    environ = {"PATH": os.defpath, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more}
    return loaded.run(command, env=environ, timeout=SECONDS)


PARALLEL = ["-p", "xdist", "-n", "2"] if importlib.util.find_spec("xdist") else []


@pytest.mark.parametrize("arguments", [[], PARALLEL] if PARALLEL else [[]], ids=" ".join)
def test_a_whole_run_fails_where_an_outcome_was_not_seen(suite: Path, arguments: list[str]) -> None:
    ran = run(suite, *arguments)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout
    assert "no test came to see crm.createOpportunity already_exists" in ran.stdout
    assert "crm.createLead already_exists" not in ran.stdout
    assert "no test gives crm.createOpportunity name" in ran.stdout
    assert "crm.createLead source" not in ran.stdout


@pytest.mark.parametrize("argument", ["suite/", "./suite", "{suite}/suite"])
def test_a_whole_run_is_one_however_its_folder_is_spelt(suite: Path, argument: str) -> None:
    ran = run(suite, argument.format(suite=suite))
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    assert "no test came to see crm.createOpportunity already_exists" in ran.stdout


PARTS = [["-k", "lead"], ["suite/test_leads.py"], *([["suite/test_leads.py", *PARALLEL]] if PARALLEL else [])]


@pytest.mark.parametrize("arguments", PARTS, ids=" ".join)
def test_a_part_of_the_suite_says_that_it_did_not_look(suite: Path, arguments: list[str]) -> None:
    ran = run(suite, *arguments)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(whole_run.NOT_LOOKED_AT) == 1
    assert "no test came to see" not in ran.stdout
    assert "no test gives" not in ran.stdout


@pytest.mark.parametrize("arguments", [[], PARALLEL] if PARALLEL else [[]], ids=" ".join)
def test_a_whole_run_that_failed_says_that_it_did_not_look(suite: Path, arguments: list[str]) -> None:
    (suite / "suite" / "test_failing.py").write_text("def test_failing():\n    assert False\n")
    ran = run(suite, *arguments)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    assert whole_run.FAILED in ran.stdout
    assert "no test came to see" not in ran.stdout


def test_on_postgresql_no_run_is_whole(suite: Path) -> None:
    """It leaves to SQLite what is its own."""
    ran = run(suite, GATEWAYD_TEST_STORE="postgresql")
    assert ran.returncode == pytest.ExitCode.OK, ran.stdout + ran.stderr
    assert whole_run.NOT_LOOKED_AT in ran.stdout
