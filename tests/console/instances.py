"""The daemon as the pages of administration are told of it: what it finds is a test's, what waits is in the store."""

from typing import Any, cast

from gatewayd.console.instance import Finding, Round
from gatewayd.daemon.examining import Examination
from gatewayd.daemon.instance import OwnDaemon
from gatewayd.store import Store
from tests.support.store import START

HOLDER = "0123456789abcdef:here"


class Found:
    """Checks that are over: their findings stand here, to be changed."""

    def __init__(self) -> None:
        self.findings = [Finding("disk", "well", "9000 MiB are free at /srv.")]

    async def run(self, examined: object) -> list[Finding]:
        return self.findings


class Told:
    """What a test has the daemon tell."""

    def __init__(self, store: Store) -> None:
        self.found = Found()
        self.ready = {"store": "ok", "clock": "ok", "dispatcher": "ok", "stopping": "ok"}
        self.rounds: dict[str, Round] = {}
        self.daemon = OwnDaemon(
            store=store,
            examined=cast(Any, None),
            examination=cast(Examination, self.found),
            ready=lambda: self.ready,
            started_at=START,
            holder=HOLDER,
            sending=lambda: 2,
            gives_vectors=True,
            rounds=self.rounds,
        )
