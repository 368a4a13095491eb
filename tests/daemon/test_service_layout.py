"""The daemon as its systemd unit starts it, and a shell beside it: one database, whichever way it is reached.

The unit gives STATE_DIRECTORY to the daemon alone; a shell has the settings in /etc and nothing else. Both look at a
machine below a folder of the test.
"""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gatewayd.cli import main
from tests.daemon.instance import SECONDS, Running, Supervisor, environment, plain_client
from tests.support import loaded

PROGRAM = """
import sys
from pathlib import Path
from gatewayd.cli import main
sys.exit(main(sys.argv[2:], Path(sys.argv[1])))
"""


class Machine:
    """A root with settings of the service."""

    def __init__(self, root: Path, settings: str) -> None:
        self.root = root
        self.data = root / "var" / "lib" / "gatewayd"
        self.settings = root / "etc" / "gatewayd" / "gatewayd.toml"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(settings)
        self.home = root / "home"
        self.home.mkdir()

    def command(self, *arguments: str) -> list[str]:
        return ["-c", PROGRAM, str(self.root), *arguments]

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """What a shell runs, without a word about where anything lies."""
        return loaded.run(self.command(*arguments), env=environment(HOME=str(self.home), **environ), timeout=SECONDS)

    def made(self, *arguments: str) -> dict[str, str]:
        ran = self.run(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        document: dict[str, str] = json.loads(ran.stdout)
        return document

    @contextmanager
    def serving(self, **environ: str) -> Iterator[Running]:
        """The unit's ExecStart, with the unit's environment."""
        manager, log = Supervisor(), self.root / "log"
        given = environment(HOME=str(self.home), NOTIFY_SOCKET=manager.name, STATE_DIRECTORY=str(self.data), **environ)
        with log.open("ab") as stream:
            process = loaded.start(
                self.command("serve", "--config", str(self.settings)), env=given, stdout=stream, stderr=stream
            )
        running = Running(process, manager, log)
        try:
            running.wait_ready()
            yield running
            assert running.end() == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait(SECONDS)
            manager.close()


pytestmark = pytest.mark.sqlite_only("where its file lies; a PostgreSQL is named by the settings, which all read")


@pytest.fixture
def url() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def machine(tmp_path: Path, url: str) -> Machine:
    address = url.removeprefix("http://")
    return Machine(tmp_path, f'[server]\nbind = ["{address}"]\n[log]\nformat = "json"\n')


def status(url: str, key: str) -> int:
    with plain_client(url) as client:
        return client.get("/api/rpc/clients", headers={"Authorization": f"Bearer {key}"}).status_code


def new_key(machine: Machine) -> str:
    org_id = machine.made("org", "create", "--name", "Oak")["id"]
    machine.made("user", "create", "--email", "a@x.org", "--name", "Ann", "--org", org_id, "--role", "owner")
    return machine.made("key", "create", "--org", org_id, "--user", "a@x.org", "--name", "Shop")["key"]


def test_the_daemon_and_the_command_line_work_on_one_database(machine: Machine, url: str) -> None:
    with machine.serving() as running:
        assert running.url == url
        key = new_key(machine)
        assert status(url, key) == 200
        ran = machine.run("doctor")
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
        assert f"What answers at {url} works with {machine.data}." in ran.stdout
        copy = machine.root / "copy"
        machine.made("backup", str(copy), "--with-key")
    machine.data.rename(machine.root / "lost")
    machine.made("restore", str(copy), "--keep-access")
    with machine.serving():
        assert status(url, key) == 200
    assert list(machine.home.rglob("*")) == []


def test_the_doctor_tells_of_a_daemon_that_works_elsewhere(machine: Machine, url: str) -> None:
    with machine.serving():
        other = machine.settings.with_name("other.toml")
        other.write_text(machine.settings.read_text() + f'[store]\ndirectory = "{machine.root}/other"\n')
        assert told(machine, other) == (False, "works with another database")
        machine.made("migrate", "--config", str(other))
        assert told(machine, other) == (False, "works with another database")
        shutil.rmtree(machine.root / "other")
        machine.made("backup", str(machine.root / "copy"), "--with-key")
        machine.made("restore", str(machine.root / "copy"), "--config", str(other))
        assert told(machine, other) == (False, "has a copy of it")
        assert told(machine, machine.settings) == (True, "works with")


def told(machine: Machine, settings: Path) -> tuple[bool, str]:
    """What the doctor says of the daemon, its places left out."""
    document = json.loads(machine.run("doctor", "--json", "--config", str(settings)).stdout)
    (finding,) = (each for each in document if each["about"] == "daemon")
    phrases = ("works with another database", "has a copy of it", "works with")
    return finding["well"], next(phrase for phrase in phrases if phrase in finding["sentence"])


READING = (
    ("org", "list"),
    ("user", "list"),
    ("key", "list"),
    ("client", "list"),
    ("tax", "requests"),
    ("listen", "--org", "org_a"),
    ("invoice", "list", "--org", "org_a"),
    ("webhook", "list", "--org", "org_a"),
    ("member", "list", "--org", "org_a"),
    ("key", "revoke", "key_a"),
    ("user", "unlock", "a@x.org"),
    ("backup", "copy"),
    ("verify",),
)


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_does_not_begin_an_instance_makes_none(
    machine: Machine, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(machine.root)
    before = sorted(machine.root.rglob("*"))
    assert main(command, machine.root) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (f"gatewayd: there is no database in {machine.data}, the data directory of {machine.settings}\n")
    assert sorted(machine.root.rglob("*")) == before


# -- credentials


def test_a_shell_without_the_credential_can_do_what_needs_no_secret(machine: Machine, url: str) -> None:
    """The key of the instance is a credential, which the manager passes to the daemon alone."""
    passed = machine.root / "passed"
    passed.mkdir()
    (passed / "instance.key").write_bytes(os.urandom(32))
    machine.settings.write_text(machine.settings.read_text() + '[store]\nkey_file = "credential:instance.key"\n')
    ran = machine.run("serve")
    assert (ran.returncode, 'store.key_file: the credential "instance.key"' in ran.stderr) == (2, True)
    with machine.serving(CREDENTIALS_DIRECTORY=str(passed)):
        key = new_key(machine)
        assert status(url, key) == 200
        assert machine.run("org", "list").returncode == 0
        assert machine.run("check-config").returncode == 0
        assert machine.run("backup", str(machine.root / "copy")).returncode == 0
        ran = machine.run("doctor")
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
        assert 'Not looked at. store.key_file: the credential "instance.key"' in ran.stdout
        subscribe = ("webhook", "create", "--url", "https://example.com/hooks", "--event", "lead.created")
        org_id = json.loads(machine.run("org", "list", "--json").stdout)[0]["id"]
        refused = machine.run(*subscribe, "--org", org_id)
        assert (refused.returncode, refused.stdout) == (2, "")
        for word in ("store.key_file", '"instance.key"', "$CREDENTIALS_DIRECTORY"):
            assert word in refused.stderr
        ran = machine.run(*subscribe, "--org", org_id, CREDENTIALS_DIRECTORY=str(passed))
        assert ran.returncode == 0, ran.stderr
    assert not list(machine.data.glob("instance.key*"))
