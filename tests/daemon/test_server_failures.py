"""The PostgreSQL goes away, its disk is full, or it takes no writes: readiness and log say so, and work goes on after.

What SQLite's file meets of this is in test_readiness.py and test_health.py; a server that stalls, and sessions that it
ends, in tests/store/postgres/test_engine.py; a primary that dies for good in test_primary_killed.py.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import Firm, Instance, Running, serving, until
from tests.support import postgres
from tests.support.postgres import Server

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")

FAILURES = {
    "store_is_unwell",
    "store_does_not_answer",
    "store_failed",
    "housekeeping_failed",
    "webhooks_not_recorded",
    "index_not_stored",
    "parse_not_stored",
}
LIMIT_BYTES = 1 << 20  # of a file: its log comes in pieces of this length
# Rows that leave no room in their pages for one more, and what a look for room would write again.
_FILL = """
INSERT INTO events (id, org_id, kind, data, created_at)
SELECT 'evt_' || lpad(n::text, 26, '0'), '{}', 'lead.created', convert_to(repeat('x', 1020), 'UTF8'), 0
FROM generate_series(1, 2000) n
"""
_FILL_CHECK = """
UPDATE write_check SET filler = (SELECT string_agg(decode(md5(n::text), 'hex'), '') FROM generate_series(1, 80000) n)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One of this file alone."""
    with postgres.running(postgres.require_programs()) as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path, server: Server) -> Instance:
    return Instance(tmp_path, NO_LIMIT, url=server.url(server.new_database()))


def readiness(running: Running) -> tuple[int, str]:
    answer = running.client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["store"]


def lead(running: Running, firm: Firm) -> int:
    return running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code


def leads(running: Running, firm: Firm) -> int:
    answer = running.call(firm.key, "GET", "/api/rpc/crm/listLeads?limit=100")
    assert answer.status_code == 200, answer.text
    return len(answer.json()["data"])


def test_a_server_that_is_away_is_told_and_work_goes_on_when_it_is_back(instance: Instance, server: Server) -> None:
    firm = instance.firm()
    with serving(instance, WATCHDOG_USEC="1000000") as running:
        running.claimed = FAILURES
        assert lead(running, firm) == 200
        with server.away():
            until(lambda: readiness(running) == (503, "takes no writes: the server cannot be reached"))
            assert running.client.get("/healthz").status_code == 200
            assert not running.supervisor.quiet(2.0)  # a restart would mend nothing
            refused = running.call(firm.key, "GET", "/api/rpc/crm/listLeads")
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
            assert int(refused.headers["retry-after"]) > 0
            assert lead(running, firm) == 503
        until(lambda: readiness(running) == (200, "ok"))
        assert (lead(running, firm), leads(running, firm)) == (200, 2)
        assert running.end() == 0
    told = Counter(line["event"] for line in running.lines() if line["level"] in ("error", "warning"))
    assert told["store_is_unwell"] == 1
    assert told["webhooks_not_recorded"] <= 1
    assert told["index_not_stored"] <= 1


def test_a_stop_while_the_server_is_away_ends(instance: Instance, server: Server) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        running.claimed = FAILURES
        assert lead(running, firm) == 200  # whose last use of a key is to be written at the end
        with server.away():
            assert running.end() == 0
    events = [line["event"] for line in running.lines()]
    assert "housekeeping_failed" in events
    assert events[-1] == "stopped"


def test_a_disk_of_the_server_that_is_full_is_told_and_reading_goes_on(instance: Instance, server: Server) -> None:
    firm = instance.firm()
    for sql in (_FILL.format(firm.org_id), _FILL_CHECK):  # beyond the limit, so that they are what meets it
        instance.change(sql)
    with serving(instance, WATCHDOG_USEC="1000000") as running:
        running.claimed = FAILURES
        made = 0
        with server.no_room(LIMIT_BYTES):
            while (status := lead(running, firm)) == 200:
                made += 1
            assert status == 503
            until(lambda: readiness(running)[0] == 503)
            assert readiness(running)[1].startswith("takes no writes: could not extend file ")
            until(lambda: "store_is_unwell" in [line["event"] for line in running.lines()])
            assert leads(running, firm) == made
            assert not running.supervisor.quiet(2.0)  # it is not restarted: it still reads
        until(lambda: readiness(running) == (200, "ok"))
        assert (lead(running, firm), leads(running, firm)) == (200, made + 1)
        assert running.end() == 0
    told = [line["event"] for line in running.lines() if line["event"].startswith("store_is")]
    assert told[-1] == "store_is_well_again"


def test_a_server_that_takes_no_writes_is_told_and_reading_goes_on(instance: Instance, server: Server) -> None:
    """As a standby that a provider's address leads to for a while."""
    firm = instance.firm()
    name = instance.url.partition("@/")[2].partition("?")[0]
    with serving(instance) as running:
        running.claimed = FAILURES
        assert lead(running, firm) == 200
        server.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        server.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'")
        until(lambda: readiness(running)[0] == 503)
        assert lead(running, firm) == 503
        server.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        until(lambda: readiness(running) == (200, "ok"))
        assert (lead(running, firm), leads(running, firm)) == (200, 2)
        assert running.end() == 0
