"""The watchdog and `/readyz` follow the store."""

import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from gatewayd.store.files.directory import LOCK_NAME
from tests.daemon.instance import SECONDS, Instance, Running, serving, until

WATCHDOG_USEC = "1000000"  # the daemon then pings every half second or so


def readiness(running: Running) -> tuple[int, str]:
    answer = running.client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["store"]


def test_a_store_that_does_not_answer_is_not_ready_and_gets_no_watchdog_ping(instance: Instance) -> None:
    with serving(instance, WATCHDOG_USEC=WATCHDOG_USEC) as running:
        running.claimed = {"store_does_not_answer"}
        running.supervisor.until("WATCHDOG")
        with instance.locked():
            until(lambda: readiness(running) == (503, "does not answer"))
            assert running.supervisor.quiet(2.0)
            assert readiness(running) == (503, "does not answer")
            assert running.client.get("/healthz").status_code == 200
        running.supervisor.until("WATCHDOG")
        until(lambda: readiness(running) == (200, "ok"))
        assert running.end() == 0
    told = [line["event"] for line in running.lines() if "answer" in line["event"]]
    assert told == ["store_does_not_answer", "store_answers_again"]


@contextmanager
def no_room(instance: Instance, running: Running) -> Iterator[None]:
    """Let no file of the daemon grow, as on a full disk: its log is far shorter than the store's."""
    size = instance.database.with_name("gatewayd.db-wal").stat().st_size
    before = resource.prlimit(running.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.sqlite_only("the disk is a server's own there: test_server_failures.py")
def test_a_full_disk_is_not_ready_and_writing_goes_on_without_a_restart(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance, WATCHDOG_USEC=WATCHDOG_USEC) as running:
        running.claimed = {"store_is_unwell", "store_failed", "housekeeping_failed", "webhooks_not_recorded"}

        def lead() -> int:
            return running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code

        assert lead() == 200
        with no_room(instance, running):
            until(lambda: lead() == 503)
            until(lambda: readiness(running) == (503, "takes no writes: disk I/O error"))
            assert running.call(firm.key, "GET", "/api/rpc/crm/listLeads").status_code == 200
            assert not running.supervisor.quiet(2.0)  # it is not restarted: it still reads
        until(lambda: readiness(running) == (200, "ok"))
        assert lead() == 200
        assert running.end() == 0
    told = [line["event"] for line in running.lines() if line["event"].startswith("store_is")]
    assert told == ["store_is_unwell", "store_is_well_again"]


@pytest.mark.sqlite_only("the file was exchanged that it works with")
def test_a_directory_exchanged_under_the_daemon_loses_nothing_that_was_acknowledged(instance: Instance) -> None:
    firm, data = instance.firm(), instance.data
    copy, aside = instance.directory / "copy", instance.directory / "aside"
    assert instance.run("backup", str(copy)).returncode == 0
    with serving(instance) as running:
        running.claimed = {"store_is_unwell", "store_failed", "housekeeping_failed", "webhooks_not_recorded"}

        def lead() -> int:
            return running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code

        assert lead() == 200
        opened = instance.database.stat().st_ino
        data.rename(aside)
        refused = instance.run("restore", str(copy))
        assert (refused.returncode, data.exists()) == (1, False)
        assert f"process {running.pid}, works with {data}: stop it first" in refused.stderr
        shutil.copytree(copy, data)  # by hand, then
        assert lead() == 503
        until(lambda: "was exchanged" in readiness(running)[1])  # until then it was gone
        status, store = readiness(running)
        assert status == 503
        assert f"opened was inode {opened} of" in store
        assert f"now it is inode {instance.database.stat().st_ino} of" in store
        shutil.rmtree(data)
        aside.rename(data)
        until(lambda: readiness(running) == (200, "ok"))
        assert lead() == 200
        leads = running.call(firm.key, "GET", "/api/rpc/crm/listLeads").json()["data"]
        assert len(leads) == 2
        assert running.end() == 0


@pytest.mark.sqlite_only("its file is checked; a server checks its own (data checksums, pg_amcheck)")
def test_after_a_kill_the_database_is_checked_beside_the_requests(instance: Instance) -> None:
    instance.firm()
    with serving(instance) as running:
        assert checks(running) == []
        running.process.kill()
        running.process.wait(SECONDS)
    with serving(instance) as running:
        until(lambda: checks(running)[-1:] == ["database_checked"])
        assert readiness(running) == (200, "ok")
        assert running.end() == 0
    spoil(instance.database)
    (instance.data / LOCK_NAME).write_text("killed again")
    with serving(instance) as running:
        running.claimed = {"database_damaged", "store_is_unwell"}
        until(lambda: readiness(running)[1].startswith("is damaged: "))
        until(lambda: checks(running)[-1:] == ["database_damaged"])
        assert running.end() == 0
    with serving(instance) as running:  # it is looked at again, for as long as it is so
        running.claimed = {"database_damaged", "store_is_unwell"}
        until(lambda: checks(running)[2:] == ["database_damaged"])
        assert running.end() == 0


def checks(running: Running) -> list[str]:
    return [line["event"] for line in running.lines() if line["event"].startswith("database_")]


def spoil(database: Path) -> None:
    """Damage the tree of a table that a start does not look at."""
    connection = apsw.Connection(str(database))
    (root,) = next(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'opportunities'"))
    page_bytes = int(str(connection.pragma("page_size")))
    connection.close()
    with database.open("r+b") as file:
        file.seek((int(root) - 1) * page_bytes)
        file.write(b"\xa5" * 64)


def test_without_a_watchdog_nothing_is_sent(instance: Instance) -> None:
    with serving(instance) as running:
        assert running.supervisor.quiet(2.0)
        assert running.end() == 0


def test_a_watchdog_for_another_process_is_not_ours(instance: Instance) -> None:
    with serving(instance, WATCHDOG_USEC=WATCHDOG_USEC, WATCHDOG_PID="1") as running:
        assert running.supervisor.quiet(2.0)
        assert running.end() == 0


@pytest.mark.sqlite_only("how long it waits for the lock of its file is a setting")
def test_a_write_that_cannot_have_the_lock_is_told_so(instance: Instance) -> None:
    instance = Instance(instance.directory)
    instance.config.write_text(instance.config.read_text().replace("[store]", "[store]\nbusy_timeout_seconds = 0.1"))
    firm = instance.firm()
    with serving(instance) as running:
        running.claimed = {"store_does_not_answer", "store_failed", "webhooks_not_recorded"}
        with instance.locked():
            answer = running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"})
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200
        assert running.end() == 0


@pytest.mark.sqlite_only("how long it waits for the lock of its file is a setting: else test_server_failures.py")
def test_a_store_that_fails_the_housekeeping_ends_nothing(instance: Instance) -> None:
    instance.config.write_text(instance.config.read_text().replace("[store]", "[store]\nbusy_timeout_seconds = 0.1"))
    firm = instance.firm()
    with serving(instance) as running:
        running.claimed = {"store_does_not_answer", "housekeeping_failed", "webhooks_not_recorded"}
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        with instance.locked():
            assert running.end() == 0
    told = [line["event"] for line in running.lines()]
    assert "housekeeping_failed" in told
    assert told[-1] == "stopped"
