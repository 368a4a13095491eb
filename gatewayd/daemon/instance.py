"""The daemon as its administrators look at it: what the pages of health and of jobs are told."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from gatewayd.areas.vault.documents import queues
from gatewayd.clock import Instant
from gatewayd.console.instance import (
    Deliveries,
    Documents,
    Figures,
    Finding,
    Import,
    Jobs,
    Lease,
    Mails,
    Round,
    Unknown,
    UnsentMail,
)
from gatewayd.daemon.examining import Examination
from gatewayd.doctor.examined import Examined
from gatewayd.http.documents import ReadinessCheck
from gatewayd.leases import rows as leases
from gatewayd.ledger.imports import import_runs
from gatewayd.mail import outbox
from gatewayd.performing import idempotency
from gatewayd.search import index
from gatewayd.store import ReadTx, Store, StoreFailure
from gatewayd.webhooks.queue import standing

ROWS: Final = 50  # Chosen: of a list; longer ones are a matter for commands
PASSAGES: Final = 10_000  # Chosen: passages that are counted, in a millisecond
FORM_SECONDS: Final = 1.0  # Chosen
_STATM: Final = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDaemon:
    """See `console.instance.Instance`. `holder` is the id by which this daemon has leases; `sending`: its attempts.

    `gives_vectors`: whether anything gives texts their vectors here.
    """

    store: Store
    examined: Examined
    examination: Examination
    ready: ReadinessCheck
    started_at: Instant
    holder: str
    sending: Callable[[], int]
    gives_vectors: bool
    rounds: Mapping[str, Round]

    def readiness(self) -> Mapping[str, str]:
        return self.ready()

    async def examine(self) -> list[Finding]:
        return await self.examination.run(self.examined)

    async def figures(self) -> Figures:
        form = None
        with trio.move_on_after(FORM_SECONDS), suppress(StoreFailure):
            form = await self.store.form()
        return Figures(
            started_at=self.started_at,
            engine="" if form is None else form.engine,
            schema=0 if form is None else form.schema,
            store_bytes=None if form is None else form.size_bytes,
            free_bytes=self.store.free_bytes,
            memory_bytes=memory_bytes(),
        )

    async def jobs(self) -> Jobs:
        """Eight statements, whatever the number of organizations."""
        return await self.store.read(self._look)

    def _look(self, tx: ReadTx) -> Jobs:
        lately = Instant(tx.now - outbox.LETTER_KEPT)
        passages = index.count_without_vectors(tx, PASSAGES) if self.gives_vectors else None
        return Jobs(
            deliveries=[Deliveries(*each) for each in standing.by_organization(tx)],
            sending=self.sending(),
            documents=[Documents(*each) for each in queues.by_organization(tx)],
            passages=passages,
            more_passages=passages == PASSAGES,
            imports=[Import(*each) for each in import_runs.list_at_work(tx, ROWS)],
            leases=[self._lease(each) for each in leases.list_some(tx, ROWS)],
            unknown=[Unknown(*each) for each in idempotency.unknown_outcomes(tx, ROWS)],
            rounds=self.rounds,
            mails=[Mails(*each) for each in outbox.standing(tx, lately, ROWS)],
            unsent=[UnsentMail(*each) for each in outbox.given_up(tx, lately, ROWS)],
        )

    def _lease(self, found: leases.NamedLease) -> Lease:
        kind = found.subject.partition(":")[0]
        return Lease(found.organization, kind, found.holder, found.holder == self.holder, found.until)


def memory_bytes() -> int | None:
    """What the process holds in memory (proc(5), statm); None where the kernel does not tell."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
