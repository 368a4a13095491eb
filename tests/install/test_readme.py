"""README, as a newcomer runs it: its commands as they are printed, but for the port."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from gatewayd.cli.parser import build_parser
from tests.daemon.instance import ROOT, SECONDS, Instance, until

README = (ROOT / "README.md").read_text("utf-8")
SOURCES = ("Makefile", "pyproject.toml", "requirements.lock", "requirements-dev.lock", "gatewayd", ".venv")
# The environment stands: this test installs nothing and asks no network.
MAKE = "--old-file=.venv/.runtime-installed"


def blocks(heading: str) -> list[str]:
    """The commands of a section, one text for each block."""
    below = README[README.index(f"\n## {heading}\n") :]
    section = below[: below.index("\n## ", 1)]
    found = re.findall(r"(?:^(?:    .*)?\n)+", section, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found if block.strip()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sources, where nobody has run anything yet."""
    for name in SOURCES:
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def environ(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "MAKEFLAGS": MAKE}


def test_your_own_instance(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    first, second = (block.replace("8080", port) for block in blocks("Your own instance"))
    bash = ["bash", "-euo", "pipefail", "-c"]
    log = folder / "log"
    with log.open("wb") as stream:
        daemon = subprocess.Popen(
            [*bash, first],
            cwd=folder,
            env=environ(folder),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        until(
            lambda: f"http://127.0.0.1:{port}" in log.read_text().partition("serving")[2] or daemon.poll() is not None
        )
        assert daemon.poll() is None, log.read_text()
        ran = subprocess.run(
            [*bash, second],
            cwd=folder,
            env=environ(folder),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.killpg(daemon.pid, signal.SIGINT)
        daemon.wait(SECONDS)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    invoice = next(json.loads(line) for line in ran.stdout.splitlines() if '"lines"' in line)
    assert (invoice["status"], invoice["vatTotal"], invoice["grossTotal"]) == ("issued", "84.00", "504.00")
    assert "84.00 VAT" in README


def test_the_service_is_installed_backed_up_restored_and_upgraded() -> None:
    """These commands need root: they are looked at one by one, against what they name."""
    lines = [line.partition("#")[0].strip() for block in blocks("As a service") for line in block.splitlines()]
    commands = [line.removeprefix("sudo ").removeprefix("-u gatewayd ") for line in lines if line]
    assert [line.split()[:2] for line in commands if line.split()[0] == "gatewayd"] == [
        ["gatewayd", "init"],
        ["gatewayd", "doctor"],
        ["gatewayd", "backup"],
        ["gatewayd", "restore"],
    ]
    assert {line.split()[0] for line in commands} == {"make", "gatewayd", "systemctl", "mv", "git"}
    for line in commands:
        if line.startswith("gatewayd "):
            build_parser().parse_args(shlex.split(line.replace("$(date +%F)", "2026-11-22"))[1:])
        elif line.startswith("make "):
            assert subprocess.run([*shlex.split(line), "-n"], cwd=ROOT, capture_output=True, check=True).stdout


def test_a_shared_box_is_metered(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    for line in filter(None, blocks("Metering a shared box")[0].splitlines()):
        words = shlex.split(line.replace("ORG_ID", firm.org_id), comments=True)[1:]
        ran = instance.run(*words)
        assert ran.returncode == 0, ran.stderr
    assert json.loads(instance.run("credits", "balance", "--org", firm.org_id, "--json").stdout)["available"] == "700"
