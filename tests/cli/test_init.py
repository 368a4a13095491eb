"""`gatewayd init`."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from gatewayd.cli import main
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.config import system_file
from gatewayd.identity.people import memberships, users
from gatewayd.identity.sign_in import one_time_links
from tests.cli.conftest import CommandResult

FLAGS = ("--public-url", "https://books.example.com", "--organization", "Oak", "--email", "a@x.org", "--name", "Ann")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "etc" / "gatewayd.toml"


def init(target: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> CommandResult:
    data = target.parent.parent / "data"
    code = main(["init", "--config", str(target), "--directory", str(data), *arguments])
    return CommandResult(code, *capsys.readouterr())


def test_it_makes_an_instance_that_works(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = init(target, capsys, *FLAGS).document
    context = Context(str(target), {}, SystemClock())
    assert context.config.server.public_url == "https://books.example.com"
    assert context.key_file.stat().st_mode & 0o777 == 0o600
    found = context.read(lambda tx: users.find(tx, "a@x.org"))
    assert found is not None
    assert (found.id, found.instance_admin) == (made["userId"], True)
    assert context.read(lambda tx: memberships.role_of(tx, made["userId"]), made["orgId"]) == "owner"
    stored = context.read(lambda tx: users.credentials(tx, "a@x.org"))
    assert stored is not None
    assert stored.password_hash is None
    start, _, token = made["link"].rpartition("/")
    assert start == "https://books.example.com/sign-in/link"
    assert context.read(lambda tx: one_time_links.find(tx, token, "sign_in")) == made["userId"]
    assert token not in target.read_text()
    assert [path.name for path in target.parent.iterdir()] == ["gatewayd.toml"]


def test_it_writes_nothing_over(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init(target, capsys, *FLAGS).code == 0
    before = target.read_bytes()
    again = init(target, capsys, *FLAGS)
    assert (again.code, again.out) == (1, "")
    assert "is there already" in again.err
    assert target.read_bytes() == before
    target.unlink()
    other = init(target, capsys, *FLAGS)
    assert other.code == 1
    assert "init is for a new instance" in other.err
    assert list(target.parent.iterdir()) == []


def test_wrong_settings_leave_nothing(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = init(target, capsys, "--public-url", "ftp://x/y", *FLAGS[2:])
    assert (ran.code, ran.out) == (2, "")
    assert "server.public_url" in ran.err
    assert not target.parent.exists()
    assert not (target.parent.parent / "data").exists()


def test_in_a_pipe_everything_must_be_given(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("x\n"))
    ran = init(target, capsys, *FLAGS[:4])
    assert (ran.code, "E-mail" in ran.err) == (2, True)
    assert not target.parent.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_asks(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("\nOak\n\na@x.org\nAnn\n"))
    ran = init(target, capsys)
    assert ran.document["email"] == "a@x.org"
    assert "Public URL [http://127.0.0.1:8080]: Organization: E-mail" in ran.err
    assert 'public_url = "http://127.0.0.1:8080"' in target.read_text()


def test_on_a_terminal_a_wrong_answer_is_told_before_the_next_question(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["ftp://x", "https://books.example.com", "\u202egro", "Oak", "nobody", "a@x.org", "\u200b", "Ann"]
    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{answer}\n" for answer in answers)))
    ran = init(target, capsys)
    assert ran.document["email"] == "a@x.org"
    told = [
        "Public URL [http://127.0.0.1:8080]: server.public_url must begin with https://",
        "Public URL [http://127.0.0.1:8080]: Organization: The character U+202E",
        "Organization: E-mail address of its owner: Expected an address",
        "E-mail address of its owner: Name of its owner: The character U+200B",
        "Name of its owner: ",
    ]
    lines = ran.err.splitlines()
    assert [line[: len(start)] for line, start in zip(lines, told, strict=False)] == told[: len(lines)]
    assert len(lines) >= 4


@pytest.mark.parametrize(
    ("flag", "value"), [("--email", "nobody"), ("--organization", " "), ("--public-url", "http://x")]
)
def test_a_wrong_flag_is_refused_before_anything_is_asked(
    target: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flag: str, value: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("x\n"))
    ran = init(target, capsys, flag, value)
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert ": " in ran.err
    assert sys.stdin.read() == "x\n"
    assert not target.parent.exists()


@pytest.mark.parametrize(
    ("url", "bind"),
    [
        ("http://127.0.0.1:9000", "127.0.0.1:9000"),
        ("http://[::1]:9000", "[::1]:9000"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("https://books.example.com", "127.0.0.1:8080"),
    ],
)
def test_the_daemon_listens_where_a_url_of_this_machine_leads(
    target: Path, capsys: pytest.CaptureFixture[str], url: str, bind: str
) -> None:
    assert init(target, capsys, "--public-url", url, *FLAGS[2:]).code == 0
    config = Context(str(target), {}, SystemClock()).config
    assert (config.server.public_url, config.server.bind) == (url, (bind,))


def test_the_settings_of_the_service_are_for_its_user_to_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Root may have any umask; the daemon is another user. What starts it is told."""
    target = system_file(tmp_path)
    before = os.umask(0o077)
    try:
        code = main(["init", "--config", str(target), *FLAGS], tmp_path)
    finally:
        os.umask(before)
    assert (code, json.loads(capsys.readouterr().out)["config"]) == (0, str(target))
    assert target.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "var" / "lib" / "gatewayd" / "gatewayd.db").exists()
