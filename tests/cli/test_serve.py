"""`gatewayd serve` and what every command costs to start. The life of the process: tests/daemon."""

import subprocess
import sys

import pytest

from gatewayd.cli import main
from gatewayd.cli.runner import run
from tests.cli.conftest import Run
from tests.daemon.instance import ROOT, SECONDS, environment

HEAVY = ("trio", "apsw", "msgspec", "cryptography", "structlog", "rich", "hypercorn", "httptools")
SERVERS = ("argparse", "stripe", "trustme")
LATER = (  # by what needs them, when it does
    *("httpx", "hypercorn", "joserfc", "prometheus_client", "quart", "tenacity"),
    "gatewayd.statements.profile_files",
)


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after `code`."""
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules, sep='\\n', file=sys.stderr)"],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    return set(ran.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["key", "create", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    loaded = loaded_by(f"from gatewayd.cli import main; assert main({arguments!r}) == 0")
    assert loaded.isdisjoint(HEAVY), loaded.intersection(HEAVY)


def test_the_daemon_loads_nothing_of_the_command_line_or_of_the_tests() -> None:
    loaded = loaded_by("import gatewayd.daemon.daemon")
    assert loaded.isdisjoint(SERVERS), loaded.intersection(SERVERS)
    assert {name for name in loaded if name.startswith("gatewayd.cli")} == set()
    assert loaded.isdisjoint(LATER), loaded.intersection(LATER)


def test_a_store_that_cannot_be_opened_fails_in_one_line(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    config = tmp_path_factory.mktemp("blocked") / "gatewayd.toml"
    config.write_text('[server]\nbind = ["127.0.0.1:0"]\n[store]\ndirectory = "data"\n')
    (config.parent / "data").write_text("a file is in the way")
    assert main(["serve", "--config", str(config)]) == 1


async def _fail(error: Exception) -> None:
    raise ExceptionGroup("outer", [ExceptionGroup("inner", [error]), OSError("later")])


def test_one_cause_comes_out_of_a_group() -> None:
    with pytest.raises(LookupError, match="first"):
        run(_fail, LookupError("first"))


async def _interrupt(error: Exception) -> None:
    raise BaseExceptionGroup("both", [error, KeyboardInterrupt()])


def test_an_interruption_goes_before_other_causes() -> None:
    with pytest.raises(KeyboardInterrupt):
        run(_interrupt, LookupError("first"))
