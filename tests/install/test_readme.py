"""README, as a newcomer runs it: its commands as they are printed, but for the port."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gatewayd.cli.parser import build_parser
from gatewayd.clock import SystemClock
from gatewayd.store.database import open_store
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.store.sqlite import schema
from gatewayd.store.sqlite.integrity import find_faults
from tests.daemon.instance import ROOT, SECONDS, Instance, until
from tests.store.test_upgrade import last_migration, older

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


class Shell:
    """The two terminals of a newcomer in one folder: `gatewayd serve` in one, commands in the other."""

    BASH = ("bash", "-euo", "pipefail", "-c")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])

    def block(self, heading: str, number: int) -> str:
        """The commands of a section, on a port that is free."""
        return blocks(heading)[number].replace("8080", self.port)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """What the first block starts."""
        log = self.folder / "log"
        with log.open("wb") as stream:
            daemon = subprocess.Popen(
                [*self.BASH, self.block("Your own instance", 0)],
                cwd=self.folder,
                env=environ(self.folder),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        address = f"http://127.0.0.1:{self.port}"
        try:
            until(lambda: address in log.read_text().partition("serving")[2] or daemon.poll() is not None)
            assert daemon.poll() is None, log.read_text()
            yield
        finally:
            os.killpg(daemon.pid, signal.SIGINT)
            daemon.wait(SECONDS)

    def run(self, commands: str) -> str:
        """What they print."""
        ran = subprocess.run(
            [*self.BASH, commands],
            cwd=self.folder,
            env=environ(self.folder),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
        return ran.stdout


def test_your_own_instance_and_its_documents(folder: Path) -> None:
    (folder / "scans").mkdir()
    for path in (folder / "invoice.pdf", folder / "scans" / "one.pdf"):
        path.write_bytes(f"%PDF-1.4 {path.name}".encode())
    shell = Shell(folder)
    with shell.serving():
        begin = shell.block("Your own instance", 1)
        documents = [shell.block("Documents", number) for number in (0, 1)]
        printed = shell.run("\n".join([begin, *documents])).splitlines()
    invoice = next(json.loads(line) for line in printed if '"lines"' in line)
    assert (invoice["status"], invoice["vatTotal"], invoice["grossTotal"]) == ("issued", "84.00", "504.00")
    assert "84.00 VAT" in README
    confirmed, imported = (json.loads(line) for line in printed[-2:])
    assert (confirmed["name"], confirmed["status"]) == ("invoice.pdf", "uploaded")
    assert imported["added"] == 1


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
    assert {line.split()[0] for line in commands} == {"make", "gatewayd", "systemctl", "mv", "git", "sh"}
    for line in commands:
        if line.startswith("gatewayd "):
            build_parser().parse_args(shlex.split(line)[1:])
        elif line.startswith("make "):
            assert subprocess.run([*shlex.split(line), "-n"], cwd=ROOT, capture_output=True, check=True).stdout


async def test_the_way_back_from_an_upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the one command that does it: the books of before are there for the program of before."""
    data = tmp_path / "data"
    older(data)
    settings = StoreSettings(directory=data)
    async with open_store(settings, SystemClock()) as store:
        await store.write(lambda tx: tx.run("UPDATE organizations SET name = 'Elm'"))
    (line,) = [line for block in blocks("As a service") for line in block.splitlines() if "newer" in line]
    command = shlex.split(line.replace("/var/lib/gatewayd", shlex.quote(str(data))))[3:]  # without sudo -u gatewayd
    subprocess.run(command, check=True)
    before = schema.packaged()[:-1]
    monkeypatch.setattr(schema, "packaged", lambda: before)
    async with open_store(settings, SystemClock()) as store:
        assert store.upgraded is None
        assert await store.read(lambda tx: tx.value("SELECT name FROM organizations")) == "Oak"
    assert find_faults(data / DATABASE_NAME) == []
    assert last_migration(data / "newer" / DATABASE_NAME) == (len(before) + 1, ["Elm"])


def test_a_shared_box_is_metered(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    firm = instance.firm()
    for line in filter(None, blocks("Metering a shared box")[0].splitlines()):
        words = shlex.split(line.replace("ORG_ID", firm.org_id), comments=True)[1:]
        ran = instance.run(*words)
        assert ran.returncode == 0, ran.stderr
    assert json.loads(instance.run("credits", "balance", "--org", firm.org_id, "--json").stdout)["available"] == "700"
