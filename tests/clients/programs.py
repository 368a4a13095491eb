"""Programs that stand beside the tests: other people's packages, run in a process of their own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from tests.daemon.instance import SECONDS, environment

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"


def run_python(script: str, given: object) -> Any:
    """What a script of this folder answers; both are JSON."""
    return _run([sys.executable, str(HERE / script)], given)


def run_node(script: str, given: object, **environ: str) -> Any:
    """The same for a script of Node. Skips the test where there is no Node; `.ci/run` installs it."""
    return _run([needed_node(), str(HERE / script)], given, **environ)


def needed_node() -> str:
    """The machine's Node, with the packages of the lock. Skips the test as `run_node` does."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    outdated = {name for name, version in wanted().items() if installed(name) != version}
    assert not outdated, f"{MODULES} does not have what the lock names, run `make clients`: {sorted(outdated)}"
    return node


def recent_node() -> str:
    """The Node that comes with Playwright, for what needs one newer than Debian's. Skips as `run_node` does."""
    needed_node()
    node, _ = compute_driver_executable()
    return str(node)


def needed_java() -> str:
    """The machine's Java. Skips the test where there is none; `.ci/run` installs it."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("java is not installed")
    return java


def wanted() -> dict[str, str]:
    """The packages that the tests use, with their versions."""
    dependencies: dict[str, str] = json.loads((HERE / "package.json").read_text("utf-8"))["dependencies"]
    return dependencies


def installed(name: str) -> str | None:
    """The version of a package that is installed."""
    description = MODULES / name / "package.json"
    return str(json.loads(description.read_text("utf-8"))["version"]) if description.exists() else None


def _run(command: list[str], given: object, **environ: str) -> Any:
    ran = subprocess.run(
        command,
        input=json.dumps(given),
        env=environment(**environ),
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
