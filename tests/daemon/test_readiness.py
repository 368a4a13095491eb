"""The watchdog and `/readyz` follow the store."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from tests.daemon.instance import Instance, Running, serving, until

WATCHDOG_USEC = "1000000"  # the daemon then pings every half second or so


@contextmanager
def locked(instance: Instance) -> Iterator[None]:
    """Hold the database's one write lock, as another process would."""
    connection = apsw.Connection(str(instance.database))
    connection.set_busy_timeout(5_000)  # the daemon may be writing
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def readiness(running: Running) -> tuple[int, str]:
    answer = running.client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["store"]


def test_a_store_that_does_not_answer_is_not_ready_and_gets_no_watchdog_ping(instance: Instance) -> None:
    with serving(instance, WATCHDOG_USEC=WATCHDOG_USEC) as running:
        running.claimed = {"store_does_not_answer"}
        running.supervisor.until("WATCHDOG")
        with locked(instance):
            until(lambda: readiness(running) == (503, "does not answer"))
            assert running.supervisor.quiet(2.0)
            assert readiness(running) == (503, "does not answer")
            assert running.client.get("/healthz").status_code == 200
        running.supervisor.until("WATCHDOG")
        until(lambda: readiness(running) == (200, "ok"))
        assert running.end() == 0
    told = [line["event"] for line in running.lines() if "answer" in line["event"]]
    assert told == ["store_does_not_answer", "store_answers_again"]


def test_without_a_watchdog_nothing_is_sent(instance: Instance) -> None:
    with serving(instance) as running:
        assert running.supervisor.quiet(2.0)
        assert running.end() == 0


def test_a_watchdog_for_another_process_is_not_ours(instance: Instance) -> None:
    with serving(instance, WATCHDOG_USEC=WATCHDOG_USEC, WATCHDOG_PID="1") as running:
        assert running.supervisor.quiet(2.0)
        assert running.end() == 0


def test_a_write_that_cannot_have_the_lock_is_told_so(instance: Instance) -> None:
    instance = Instance(instance.directory)
    instance.config.write_text(instance.config.read_text().replace("[store]", "[store]\nbusy_timeout_seconds = 0.1"))
    firm = instance.firm()
    with serving(instance) as running:
        running.claimed = {"store_does_not_answer", "store_failed", "webhooks_not_recorded"}
        with locked(instance):
            answer = running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"})
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200
        assert running.end() == 0


def test_a_store_that_fails_the_housekeeping_ends_nothing(instance: Instance) -> None:
    instance.config.write_text(instance.config.read_text().replace("[store]", "[store]\nbusy_timeout_seconds = 0.1"))
    firm = instance.firm()
    with serving(instance) as running:
        running.claimed = {"store_does_not_answer", "housekeeping_failed", "webhooks_not_recorded"}
        assert running.call(firm.key, "GET", "/api/rpc/invoices").status_code == 200
        with locked(instance):
            assert running.end() == 0
    told = [line["event"] for line in running.lines()]
    assert "housekeeping_failed" in told
    assert told[-1] == "stopped"
