"""The operator's commands where the rows are on a PostgreSQL: what each does, or what does it instead."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayd.cli.instance.store import dump_command
from gatewayd.clock import DAY, MINUTE, SECOND, SystemClock, from_wire
from gatewayd.store.files.restored import find_restored
from gatewayd.store.migration_files import Migration
from gatewayd.store.postgres import schema
from gatewayd.store.postgres.connections import Connection, open_connection
from tests.cli.conftest import SCAN, Run
from tests.daemon.instance import SECONDS
from tests.support.postgres import Server, require_programs


@pytest.fixture
def url(postgresql: Server, migrated_database: str) -> Iterator[str]:
    """Of a database with all tables and no rows."""
    name = postgresql.new_database(migrated_database)
    yield postgresql.url(name)
    postgresql.drop(name)


@pytest.fixture
def config_file(tmp_path: Path, url: str) -> Path:
    return configured(tmp_path, url)


def configured(folder: Path, url: str, more: str = "") -> Path:
    path = folder / "gatewayd.toml"
    path.write_text(f'[store]\ndirectory = "data"\nurl = "{url}"\n{more}')
    return path


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    opened = open_connection(url, 60)
    opened.execute("SET application_name = 'psql'")
    yield opened
    opened.close()


@pytest.fixture
def org_id(run: Run, url: str) -> str:
    assert run("migrate").code == 0
    return str(run("org", "create", "--name", "Acme", "--json").document["id"])


@pytest.fixture
def stored(run: Run, org_id: str, tmp_path: Path) -> Path:
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "a.pdf").write_bytes(SCAN)
    assert run("document", "import", str(tmp_path / "scans"), "--org", org_id, "--json").document["added"] == 1
    (blob,) = (path for path in (tmp_path / "data" / "blobs").glob("??/*") if path.read_bytes() == SCAN)
    return blob


def name_of(url: str) -> str:
    database, _, folder = url.removeprefix("postgresql://gatewayd@/").partition("?host=")
    return f"the PostgreSQL database {database} at {folder}"


def findings(run: Run) -> dict[str, tuple[bool, str]]:
    return {each["about"]: (each["well"], each["sentence"]) for each in json.loads(run("doctor", "--json").out)}


# -- migrate and compact


def test_an_empty_database_is_migrated_and_has_a_key(run: Run, postgresql: Server, tmp_path: Path) -> None:
    name = postgresql.new_database()
    configured(tmp_path, postgresql.url(name))
    assert findings(run)["database"] == (
        True,
        f"{name_of(postgresql.url(name))} is empty; the first start makes its tables.",
    )
    assert not (tmp_path / "data").exists()
    done = run("migrate", "--json").document
    number = schema.packaged()[-1].number
    assert done == {
        "applied": len(schema.packaged()),
        "migration": number,
        "database": name_of(postgresql.url(name)),
        "copy": None,
    }
    assert (tmp_path / "data" / "instance.key").stat().st_mode & 0o777 == 0o600
    assert run("migrate").document["applied"] == 0
    (tmp_path / "data" / "instance.key").write_bytes(bytes(32))
    assert "instance.key is not the one that sealed the secrets in the PostgreSQL" in run("migrate").err
    postgresql.drop(name)


def test_a_host_without_its_folder_is_told_so(run: Run, org_id: str, tmp_path: Path) -> None:
    """The tables are there, and on this host nothing was begun yet."""
    shutil.rmtree(tmp_path / "data")
    verified = run("verify")
    assert (verified.code, verified.out) == (1, "")
    assert verified.err == f"gatewayd: {tmp_path / 'data'}, where documents lie, is not there\n"
    assert not (tmp_path / "data").exists()


def test_nothing_is_changed_before_it_was_dumped_and_beside_others(
    run: Run, org_id: str, url: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = schema.packaged()
    later = Migration(migrations[-1].number + 1, "9999_later.sql", "CREATE TABLE later (id bigint PRIMARY KEY)")
    monkeypatch.setattr(schema, "packaged", lambda: (*migrations, later))
    asked = run("migrate")
    assert asked.code == 1
    assert asked.err == (
        f"gatewayd: {name_of(url)} waits for 1 migrations, and is not copied before as a SQLite file is: dump it with"
        f" pg_dump --format=custom --file=gatewayd.dump '{url}', then say --without-copy\n"
    )
    assert "it waits for migrations" in findings(run)["database"][1]
    assert "gatewayd migrate" in run("org", "list").err  # no other command does it
    daemon = open_connection(url, 60)
    beside = run("migrate", "--without-copy")
    assert "gatewayd migrate works beside no daemon, and from its own machine gatewayd is connected" in beside.err
    assert connection.execute("SELECT to_regclass('later') IS NULL").get == 1
    daemon.close()
    done = run("migrate", "--without-copy", "--json").document
    assert (done["applied"], done["migration"]) == (1, later.number)
    assert connection.execute("SELECT to_regclass('later') IS NULL").get == 0
    monkeypatch.undo()
    assert "it needs a newer gatewayd" in findings(run)["database"][1]


def test_it_is_made_smaller_by_its_own_means(run: Run, org_id: str, url: str) -> None:
    refused = run("compact")
    assert refused.code == 1
    assert refused.err == (
        f"gatewayd: the rows are in {name_of(url)}, which reuses its space by itself (autovacuum): VACUUM (FULL) there"
        " makes a table smaller; compact is for SQLite\n"
    )


def test_a_file_of_sqlite_is_always_copied(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gatewayd.toml").write_text('[store]\ndirectory = "data"\n')
    refused = run("migrate", "--without-copy")
    assert (refused.code, "--without-copy is for a PostgreSQL" in refused.err) == (2, True)


# -- the instance key


def test_the_key_is_rotated_beside_no_daemon_and_told_to_the_other_hosts(
    run: Run, org_id: str, url: str, tmp_path: Path
) -> None:
    key = tmp_path / "data" / "instance.key"
    before = key.read_bytes()
    daemon = open_connection(url, 60)
    for command in ("rotate", "abandon"):
        beside = run("instance-key", command)
        assert (beside.code, f"gatewayd instance-key {command} works beside no daemon" in beside.err) == (1, True)
    daemon.close()
    assert key.read_bytes() == before
    done = run("instance-key", "rotate", "--json")
    assert Path(done.document["previous"]).read_bytes() == before != key.read_bytes()
    assert f"copy {key} to every other host before a daemon starts there" in done.err
    assert run("migrate").code == 0
    key.write_bytes(before)  # another host
    assert "is not the one that sealed" in run("migrate").err


def test_a_lost_key_is_given_up_for_another(run: Run, org_id: str, tmp_path: Path) -> None:
    key = tmp_path / "data" / "instance.key"
    key.unlink()
    missing = findings(run)["instance key"]
    assert missing == (False, f"{key} is missing: what it sealed cannot be opened.")
    assert "every host has the same: copy it from one that serves this database" in run("migrate").err
    assert run("instance-key", "abandon").code == 0  # nothing is lost but the proof, and no key is made
    assert not key.exists()
    assert run("instance-key", "abandon", "--yes", "--json").document == {"file": str(key), "givenUp": []}
    assert key.exists()
    assert run("migrate").code == 0


# -- backup, restore, verify


def test_a_backup_has_the_files_and_names_what_dumps_the_rows(
    run: Run, stored: Path, url: str, tmp_path: Path, connection: Connection
) -> None:
    copy, data = tmp_path / "copy", tmp_path / "data"
    made = run("backup", str(copy), "--with-key", "--json")
    assert (made.document["files"], made.document["withKey"]) == (3, True)
    assert made.err == (
        f"gatewayd: the rows are not in it, but in {name_of(url)}. Dump them before each backup, so that what they name"
        f" is in it: pg_dump --format=custom --file=gatewayd.dump '{url}'\n"
    )
    manifest = json.loads((copy / "manifest.json").read_text())
    assert manifest["database"] == name_of(url)
    files = [file["path"] for file in manifest["files"]]
    assert files == [str(stored.relative_to(data)), "gatewayd.files", "instance.key"]
    assert run("verify", str(copy)).code == 0
    data.rename(tmp_path / "lost")
    restored = run("restore", str(copy), "--end-everything")
    assert restored.code == 0
    assert "no daemon of another host may start before one on this host has" in restored.err
    assert stored.read_bytes() == SCAN
    found = find_restored(data)
    assert found is not None
    assert (found.decision is not None, found.done) == (True, False)
    verified = run("verify")
    assert verified.document == {"database": name_of(url), "files": 1, "faults": []}
    assert "the files of the PostgreSQL were not looked at: pg_amcheck does" in verified.err


def test_a_dump_and_a_backup_bring_everything_back(
    run: Run, stored: Path, org_id: str, url: str, postgresql: Server, tmp_path: Path
) -> None:
    """By the very command that is told."""
    programs, environment = require_programs(), {"PATH": os.environ["PATH"]}
    name, *arguments = shlex.split(dump_command(url))
    subprocess.run([programs / name, *arguments], cwd=tmp_path, env=environment, check=True, timeout=SECONDS)
    assert run("backup", str(tmp_path / "copy"), "--with-key").code == 0
    assert run("org", "create", "--name", "Oak").code == 0  # since then, and lost with the server
    (tmp_path / "data").rename(tmp_path / "lost")
    another = postgresql.url(postgresql.new_database())
    configured(tmp_path, another)
    restoring = [programs / "pg_restore", f"--dbname={another}", tmp_path / "gatewayd.dump"]
    subprocess.run(restoring, env=environment, check=True, timeout=SECONDS)
    assert run("restore", str(tmp_path / "copy"), "--keep-access").code == 0
    assert [org["id"] for org in run("org", "list", "--json").document] == [org_id]
    assert stored.read_bytes() == SCAN
    assert run("verify").code == 0
    assert run("migrate").document["applied"] == 0  # and the key is that of the rows


def test_a_backup_lacks_what_the_rows_name(run: Run, stored: Path, url: str, tmp_path: Path) -> None:
    content = stored.read_bytes()
    stored.unlink()
    refused = run("backup", str(tmp_path / "bad"))
    assert (refused.code, "is a copy of a store that is damaged" in refused.err) == (1, True)
    assert "the bytes of doc_" in run("verify").err
    stored.write_bytes(content)
    assert run("backup", str(tmp_path / "good")).code == 0
    (tmp_path / "scans" / "b.pdf").write_bytes(SCAN + b"2")
    org = run("org", "list", "--json").document[0]["id"]
    assert run("document", "import", str(tmp_path / "scans"), "--org", org).code == 0
    (tmp_path / "data").rename(tmp_path / "lost")  # and the rows are of a later dump
    lacking = run("restore", str(tmp_path / "good"))
    assert (lacking.code, " are lost" in lacking.err) == (1, True)
    assert run("restore", str(tmp_path / "good"), "--damaged").code == 0


def test_rows_and_files_of_two_kinds_are_not_put_together(
    run: Run, org_id: str, url: str, tmp_path: Path, postgresql: Server
) -> None:
    (tmp_path / "data").rename(tmp_path / "of-server")
    of_server, of_file = tmp_path / "server", tmp_path / "file"
    shutil.copytree(tmp_path / "of-server", tmp_path / "data")
    assert run("backup", str(of_server)).code == 0
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "gatewayd.toml").write_text('[store]\ndirectory = "data"\n')
    refused = run("restore", str(of_server))
    assert f"has no rows: they were in {name_of(url)}; restore them with pg_restore" in refused.err
    assert run("migrate").code == 0
    assert run("backup", str(of_file)).code == 0
    shutil.rmtree(tmp_path / "data")
    configured(tmp_path, url)
    refused = run("restore", str(of_file))
    assert "has its rows in a file of SQLite's, and store.url names a PostgreSQL" in refused.err
    assert not (tmp_path / "data").exists()
    empty = postgresql.new_database()
    configured(tmp_path, postgresql.url(empty))
    assert "there are no tables in the PostgreSQL" in run("restore", str(of_server)).err
    postgresql.drop(empty)


def test_nothing_is_restored_beside_a_daemon(run: Run, org_id: str, url: str, tmp_path: Path) -> None:
    assert run("backup", str(tmp_path / "copy")).code == 0
    (tmp_path / "data").rename(tmp_path / "lost")
    daemon = open_connection(url, 60)
    assert "gatewayd restore works beside no daemon" in run("restore", str(tmp_path / "copy")).err
    daemon.close()
    assert run("restore", str(tmp_path / "copy")).code == 0


def test_rows_that_the_server_s_own_tools_restored_are_decided_about(run: Run, org_id: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert "was not restored from a backup" in run("after-restore", "--keep-access").err
    later = run("after-restore", "--keep-access", "--rows-of", "2999-01-01T00:00:00Z")
    assert (later.code, "is not past" in later.err) == (2, True)
    assert find_restored(data) is None
    decided = run("after-restore", "--end-everything", "--rows-of", "2026-11-20T09:30:00Z", "--json").document
    assert decided["backupMadeAt"] == "2026-11-20T09:30:00.000Z"
    found = find_restored(data)
    assert found is not None
    assert found.decision is not None
    assert (found.decision.access, found.done) == ("end", False)
    assert from_wire(found.restored_at) <= SystemClock().now()
    (tmp_path / "gatewayd.toml").write_text('[store]\ndirectory = "data"\n')
    refused = run("after-restore", "--keep-access", "--rows-of", "1h")
    assert (refused.code, "--rows-of is for a PostgreSQL" in refused.err) == (2, True)


# -- the end of an organization


def test_an_organization_is_deleted_with_its_files(run: Run, stored: Path, org_id: str, connection: Connection) -> None:
    other = run("org", "create", "--name", "Oak", "--json").document["id"]
    assert run("org", "delete", org_id, "--yes").code == 0
    assert [org["id"] for org in run("org", "list", "--json").document] == [other]
    assert not stored.exists()
    for table in ("vault_documents", "vault_folders", "audit_log"):
        assert connection.execute(f"SELECT count(*) FROM {table} WHERE org_id = :id", {"id": org_id}).get == 0
    assert run("verify").code == 0


def test_the_clocks_of_several_hosts_may_differ(run: Run, org_id: str, connection: Connection) -> None:
    connection.execute("UPDATE pulse SET now = :ahead", {"ahead": SystemClock().now() + 8 * SECOND})
    assert findings(run)["clock"][0] is True
    assert "there is nothing to accept" in run("accept-clock").err
    connection.execute("UPDATE pulse SET now = :ahead", {"ahead": SystemClock().now() + MINUTE})
    assert findings(run)["clock"][0] is False


def test_the_clock_is_accepted(run: Run, org_id: str, connection: Connection) -> None:
    connection.execute("UPDATE pulse SET now = :ahead", {"ahead": SystemClock().now() + 5 * DAY})
    assert findings(run)["clock"][0] is False
    assert run("accept-clock").code == 0
    well, sentence = findings(run)["clock"]
    assert (well, sentence.endswith("which was accepted.")) == (True, True)


# -- doctor


def test_doctor_tells_how_the_server_is_set_up(run: Run, org_id: str, url: str, connection: Connection) -> None:
    version = connection.execute("SELECT current_setting('server_version')").get
    found = findings(run)
    assert found["database"] == (
        True,
        f"{name_of(url)}: nothing is wrong. Its files are looked at by its own pg_amcheck.",
    )
    assert found["database server"] == (
        False,  # the server of the tests
        f"PostgreSQL {version}: fsync is off: a power cut may leave nothing of it; full_page_writes is off: a power cut"
        " may damage it.",
    )
    assert found["durability"] == (
        False,
        "synchronous_commit is off: what was acknowledged is lost when the server stops.",
    )
    assert found["database sessions"] == (
        True,
        "57 sessions are allowed, and a daemon takes up to 13: enough for 4.",
    )
    assert "database connection" not in found  # by a socket
    assert "database password" not in found
    assert found["instance key"][0]


@pytest.mark.parametrize(
    ("settings", "well", "told"),
    [
        ({"synchronous_commit": "on"}, True, "A commit waits for the server's own disk: "),
        (
            {"synchronous_commit": "on", "synchronous_standby_names": "b"},
            True,
            "A commit waits for standbys: b (synchronous_commit on).",
        ),
        (
            {"synchronous_commit": "local", "synchronous_standby_names": "b"},
            False,
            "synchronous_commit is local: no commit waits for a standby of b.",
        ),
    ],
)
def test_doctor_tells_what_a_commit_waits_for(
    run: Run, url: str, connection: Connection, settings: dict[str, str], *, well: bool, told: str
) -> None:
    standby = settings.pop("synchronous_standby_names", "")
    name = str(connection.execute("SELECT current_database()").get)
    for setting, value in settings.items():
        connection.execute(f"ALTER DATABASE {name} SET {setting} = {value}")
    if standby:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'b'")
        connection.execute("SELECT pg_reload_conf()")
        while connection.execute("SELECT current_setting('synchronous_standby_names')").get != "b":
            pass
    try:
        found = findings(run)["durability"]
    finally:
        connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
        connection.execute("SELECT pg_reload_conf()")
        while standby and connection.execute("SELECT current_setting('synchronous_standby_names')").get:
            pass
    assert (found[0], found[1].startswith(told)) == (well, True)


def test_doctor_finds_columns_that_are_sorted_otherwise(run: Run, org_id: str, connection: Connection) -> None:
    connection.execute('ALTER TABLE organizations ALTER name TYPE text COLLATE "en-x-icu"')
    assert (
        'organizations.name is not sorted by code point (COLLATE "C"), and lists skip rows'
        in (findings(run)["database server"][1])
    )


def test_doctor_finds_too_few_sessions(run: Run, org_id: str, url: str, connection: Connection) -> None:
    name = str(connection.execute("SELECT current_database()").get)
    connection.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 20")
    assert findings(run)["database sessions"] == (
        False,
        "20 sessions are allowed, and a daemon takes up to 13: enough for 1, and a command takes some beside it: raise"
        " max_connections.",
    )


def test_doctor_looks_at_the_password_file(run: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "password"
    configured(tmp_path, url, f'password_file = "{path}"\n')
    assert findings(run)["database password"] == (False, f"{path} is missing.")
    path.write_text("secret\n")
    path.chmod(0o644)
    assert findings(run)["database password"] == (False, f"{path} is open to other users (mode 644).")
    path.chmod(0o600)
    found = findings(run)
    assert found["database password"] == (True, f"{path} is private to you.")
    assert "secret" not in str(found)


@pytest.mark.parametrize("mode", ["prefer", "require", "verify-ca"])
def test_doctor_finds_a_way_that_others_could_be_on(run: Run, tmp_path: Path, mode: str) -> None:
    named = "" if mode == "prefer" else f"&sslmode={mode}"  # what holds where nothing is said
    configured(tmp_path, f"postgresql://gatewayd@203.0.113.1:1,127.0.0.1:1/books?connect_timeout=1{named}")
    found = findings(run)
    assert found["database connection"] == (
        False,
        f"store.url has sslmode {mode}: who is between this machine and 203.0.113.1 can pretend to be it, and read and"
        " change everything. Say sslmode=verify-full, and sslrootcert where its authority is your own.",
    )
    assert found["database"][0] is False


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:1", "[::1]:1"])
def test_on_this_machine_nobody_is_in_between(run: Run, tmp_path: Path, host: str) -> None:
    configured(tmp_path, f"postgresql://gatewayd@{host}/books?connect_timeout=1")
    found = findings(run)
    assert "database connection" not in found
    assert found["database"][1].startswith("the PostgreSQL cannot be reached: ")


def test_doctor_tells_who_is_not_connected_to_the_tax_authority(run: Run, config_file: Path, org_id: str) -> None:
    config_file.write_text(config_file.read_text() + '[tax]\nmode = "hmrc"\nupstream = "https://127.0.0.1:1"\n')
    assert taxes_of(run) == (True, f"Not connected: {org_id}.")


def taxes_of(run: Run) -> tuple[bool, str]:
    (found,) = (each for each in json.loads(run("doctor", "--json").out) if each["about"] == "tax connections")
    return found["well"], found["sentence"]


def test_a_standby_is_told(run: Run, org_id: str, connection: Connection) -> None:
    name = str(connection.execute("SELECT current_database()").get)
    connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert findings(run)["database"][0] is False


def test_no_password_stands_in_what_is_printed(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is wrong the server says so, and nobody repeats it."""
    path = tmp_path / "password"
    path.write_text("hunter2\n")
    path.chmod(0o600)
    configured(tmp_path, "postgresql://gatewayd@127.0.0.1:1/books", f'password_file = "{path}"\n')
    for command in (("migrate",), ("doctor",), ("verify",), ("backup", str(tmp_path / "copy")), ("org", "list")):
        ran = run(*command)
        assert ran.code == 1
        assert "hunter2" not in ran.out + ran.err
    assert "hunter2" not in str(os.environ)


def test_without_psycopg_it_is_said_what_has_it(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    told = "store.url names a PostgreSQL, and psycopg is not installed: gatewayd[postgresql] has it"
    assert findings(run)["database"] == (False, f"{told}.")
    for command in (("migrate",), ("verify",), ("compact",), ("instance-key", "rotate")):
        assert told in run(*command).err
