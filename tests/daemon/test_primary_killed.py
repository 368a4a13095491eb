"""The primary is killed under load, and its synchronous standby is promoted: nothing that was answered is lost.

Two daemons name both servers in their URL. Who promotes a standby is not ours: here the test does, after 3 seconds.
"""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.daemon.instance import SECONDS, until
from tests.daemon.test_daemons_on_one_database import CALLERS, NO_LIMIT, Work, check_rows, made_pair
from tests.support import postgres

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")

LOAD: Final = 60  # calls that are answered before the primary is killed, and after
PROMOTED_AFTER_SECONDS: Final = 3.0


def test_nothing_is_lost_though_the_primary_is_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    programs = postgres.require_programs()
    with postgres.running(programs, replicates=True) as primary, postgres.standing_by(programs, primary) as standby:
        name = primary.new_database()
        url = f"postgresql://{postgres.USER}@/{name}?host={primary.folder},{standby.folder}"
        with made_pair(tmp_path, url, NO_LIMIT, ("gatewayd", "gatewayd")) as pair, ThreadPoolExecutor(CALLERS) as pool:
            work = Work(pair)
            tasks = [pool.submit(work.call_on, seed) for seed in range(CALLERS)]
            try:
                until(lambda: len(work.answered) >= LOAD or work.over.is_set())
                primary.kill()
                threading.Event().wait(PROMOTED_AFTER_SECONDS)
                with psycopg.connect(standby.address(name), autocommit=True) as session:
                    session.execute("SELECT pg_promote()")
                before = len(work.answered)
                until(lambda: len(work.answered) >= before + LOAD or work.over.is_set())
            finally:
                work.over.set()
            for task in tasks:
                task.result(SECONDS)
            gap = max(later - earlier for earlier, later in itertools.pairwise(sorted(work.answered)))
            pair.instances[0].url = standby.url(name)
            check_rows(work)
            pair.end()
    with capsys.disabled():
        print(f"\n{len(work.answered)} answered; none for {gap:.1f} s, {PROMOTED_AFTER_SECONDS:.1f} of them unpromoted")
