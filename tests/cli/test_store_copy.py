"""`gatewayd store copy`: there and back, what it refuses, and what a kill leaves."""

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from gatewayd.store.files.directory import locked
from tests.cli.conftest import Run
from tests.contract.answers import ANSWERING
from tests.contract.conftest import Seeded
from tests.contract.demo_firm import make_demo, opened_demo, token_of
from tests.contract.rows import example, send
from tests.daemon.instance import until
from tests.support.postgres import Server
from tests.support.whole_database import everything

KILLS = 4
LONGEST_SECONDS = 3.0
"""Until a kill; a copy of the demo's firm takes about as long."""
SESSIONS = """
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gatewayd' AND datname = current_database()
"""
MADE_ANEW = {"migrations", "vault_index_parts", "vault_index_queue"}
INDEX = ("vault_words", "vault_vocabulary")
"""SQLite's own, which is empty where nothing was indexed yet."""
SEARCH = {"vault.searchDocuments"}
"""What is found is said once the index is made."""


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, database_image: bytes) -> Seeded:
    """The demo's firm. Only ever copied."""
    return trio.run(make_demo, tmp_path_factory.mktemp("demo"), database_image)


@pytest.fixture
def data(demo: Seeded, config_file: Path) -> Path:
    """It in the data directory of the settings."""
    return Path(shutil.copytree(demo.directory, config_file.with_name("data")))


@pytest.fixture
def url(postgresql: Server) -> Iterator[str]:
    """Of a new database."""
    name = postgresql.new_database()
    yield postgresql.url(name)
    postgresql.drop(name)


def work_with(config_file: Path, url: str) -> None:
    """Have the settings name a PostgreSQL."""
    config_file.write_text(f'[store]\ndirectory = "data"\nurl = "{url}"\n')


def compared(directory: Path) -> dict[str, list[Any]]:
    """All rows, but those that are made anew, and when a database was migrated."""
    found = everything(directory)
    return {name: rows for name, rows in found.items() if name not in MADE_ANEW and not name.startswith(INDEX)}


def test_there_and_back(run: Run, data: Path, url: str, config_file: Path, tmp_path: Path) -> None:
    before = (data / "gatewayd.db").read_bytes()
    made = run("store", "copy", "--to", url, "--json").document
    assert (made["from"], made["to"]) == (str(data / "gatewayd.db"), url)
    tables = {table["table"]: table for table in made["tables"]}
    expected = compared(data)
    assert {name: table["rows"] for name, table in tables.items() if name in expected} == {
        name: len(rows) for name, rows in expected.items()
    }
    assert made["rows"] == sum(table["rows"] for table in tables.values()) > 500
    assert made["beside"]["directory"] == str(data)
    assert {"blobs", "gatewayd.db"} & set(made["beside"]["names"]) == {"blobs"}
    assert (data / "gatewayd.db").read_bytes() == before
    organizations = run("org", "list", "--json").document
    work_with(config_file, url)
    assert run("org", "list", "--json").document == organizations
    again = run("store", "copy", "--to", str(tmp_path / "back"), "--json").document
    assert again["tables"] == made["tables"]
    assert compared(tmp_path / "back") == expected


def test_every_answer_is_the_same_byte_for_byte(
    run: Run, demo: Seeded, data: Path, url: str, config_file: Path, tmp_path: Path
) -> None:
    assert run("store", "copy", "--to", url).code == 0
    work_with(config_file, url)
    assert run("store", "copy", "--to", str(tmp_path / "back")).code == 0
    shutil.copytree(data, tmp_path / "back", ignore=lambda _, names: {"gatewayd.db"} & set(names), dirs_exist_ok=True)
    expected = trio.run(answers, demo, tmp_path / "first")
    assert len(expected) > 80
    assert sum(b'"data":[{' in body for body in expected.values()) > 20
    assert trio.run(answers, Seeded(tmp_path / "back", demo.ids), tmp_path / "second") == expected


async def answers(firm: Seeded, directory: Path) -> dict[str, bytes]:
    """What the API answers to the example of each row that reads."""
    async with opened_demo(firm, directory) as (api, ids):
        found = {}
        for operation in ANSWERING:
            if operation.method == "GET" and operation.id not in SEARCH:
                reply = await send(api, operation, example(operation, ids), token=token_of(operation.id))
                found[operation.id] = reply.body
        return found


def test_what_is_told_on_a_terminal(
    run: Run, data: Path, url: str, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = tmp_path / "password"
    password.write_text("asked for by nobody\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    there = run("store", "copy", "--to", url, "--password-file", str(password))
    assert there.code == 0, there.err
    assert f'Write [store] url = "{url}" and password_file = "{password}" into {config_file}' in there.out
    assert f"It goes on to need what stays in {data}: blobs" in there.out
    assert "the same on both sides" in there.out
    assert "indexed anew" in there.out
    work_with(config_file, url)
    back = run("store", "copy", "--to", str(tmp_path / "back"))
    assert f'Write [store] url = "" and directory = "{tmp_path / "back"}" into' in back.out
    assert f"Before, move there from {data} what belongs to it: blobs" in back.out
    (data / "gatewayd.db").unlink()
    home = run("store", "copy", "--to", str(data))
    assert home.code == 0, home.err
    assert "Before, move there" not in home.out


def test_beside_a_daemon_it_is_refused(run: Run, data: Path, url: str, config_file: Path, tmp_path: Path) -> None:
    with locked(data, "gatewayd serve"):
        there = run("store", "copy", "--to", url)
        assert (there.code, "gatewayd serve" in there.err) == (1, True)
    assert run("store", "copy", "--to", url).code == 0
    work_with(config_file, url)
    with locked(data, "gatewayd serve"):
        back = run("store", "copy", "--to", str(tmp_path / "back"))
        assert (back.code, "gatewayd serve" in back.err) == (1, True)
    with locked(tmp_path / "back", "gatewayd serve"):
        back = run("store", "copy", "--to", str(tmp_path / "back"))
        assert (back.code, "gatewayd serve" in back.err) == (1, True)
    assert not (tmp_path / "back" / "gatewayd.db").exists()


def test_wrong_usage(run: Run, database: None, config_file: Path, tmp_path: Path) -> None:
    for words, told in (
        (("--to", str(tmp_path / "x")), "the store is a SQLite already"),
        (("--to", "postgresql://ann:secret@db/x"), "must not hold a password"),
        (("--to", "postgresql://db"), "must name the database"),
    ):
        result = run("store", "copy", *words)
        assert (result.code, told in result.err) == (2, True), result.err
    unreachable = f"postgresql:///x?host={tmp_path}"
    result = run("store", "copy", "--to", unreachable)
    assert (result.code, "the PostgreSQL cannot be reached" in result.err) == (1, True)
    result = run("store", "copy", "--to", unreachable, "--password-file", str(tmp_path / "none"))
    assert (result.code, "the password file" in result.err) == (1, True)
    work_with(config_file, unreachable)
    for words, told in (
        (("--to", unreachable), "the store is a PostgreSQL already"),
        (("--to", str(tmp_path / "x"), "--password-file", "y"), "--password-file goes with a URL"),
    ):
        result = run("store", "copy", *words)
        assert (result.code, told in result.err) == (2, True), result.err
    assert not (tmp_path / "x").exists()


def test_without_a_database_nothing_is_made(run: Run, config_file: Path, url: str) -> None:
    result = run("store", "copy", "--to", url)
    assert (result.code, "there is no database" in result.err) == (1, True)
    assert not config_file.with_name("data").exists()


def kill_at_random(config_file: Path, to: str, chances: random.Random) -> bool:
    """Begin a copy and kill it; whether it had ended by then, as it should."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gatewayd", "store", "copy", "--to", to, "--config", str(config_file)],
        stdout=subprocess.DEVNULL,
    )
    try:
        process.wait(chances.uniform(0.2, LONGEST_SECONDS))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return False
    assert process.returncode == 0
    return True


def rows_at(url: str) -> int | None:
    """How many organizations a PostgreSQL has, once nobody of ours is connected to it; None: it has no tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        until(lambda: connection.execute(SESSIONS).fetchall() == [(0,)])
        if connection.execute("SELECT to_regclass('organizations') IS NULL").fetchall() == [(True,)]:
            return None
        return int(connection.execute("SELECT count(*) FROM organizations").fetchall()[0][0])


def test_killed_on_the_way_to_postgresql(data: Path, url: str, config_file: Path) -> None:
    before = everything(data)
    chances = random.Random(28)
    killed = 0
    for _ in range(KILLS):
        if kill_at_random(config_file, url, chances):
            assert rows_at(url) == len(before["organizations"])
            break
        killed += 1
        assert rows_at(url) is None
    assert killed
    assert everything(data) == before


def test_killed_on_the_way_back(run: Run, data: Path, url: str, config_file: Path, tmp_path: Path) -> None:
    assert run("store", "copy", "--to", url).code == 0
    expected = compared(data)
    work_with(config_file, url)
    chances = random.Random(82)
    killed = 0
    for number in range(KILLS):
        directory = tmp_path / f"back-{number}"
        # Killed after its last step, which puts the database in its place, it was done all the same.
        if kill_at_random(config_file, str(directory), chances) or (directory / "gatewayd.db").exists():
            assert compared(directory) == expected
        else:
            killed += 1
            assert rows_at(url) == len(expected["organizations"])
            again = run("store", "copy", "--to", str(directory))
            assert again.code == 0, again.err
            assert sorted(path.name for path in directory.iterdir()) == ["gatewayd.db", "gatewayd.lock"]
            assert compared(directory) == expected
    assert killed
