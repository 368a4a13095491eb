"""What the store asks of a database: connections that write and read, and to be told what others have committed.

    writer.py      batches of jobs, each in a savepoint of its own   on a `WriteConnection`
    database.py    reads, wake-ups, what is wrong                    by an `Engine`

Neither knows which database it is.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from gatewayd.clock import Instant
from gatewayd.shares import Shares
from gatewayd.store.catalogue import Catalogue
from gatewayd.store.transactions import Bindings, ReadTx, Statements, UpdateStamps

T = TypeVar("T")


class Upgrade(NamedTuple):
    """The last migration before and after; `copy` is the database as it was before, None where it is new."""

    before: int
    after: int
    copy: Path | None


class Form(NamedTuple):
    """Which database it is, with its version; its last migration; how large it is, with its log."""

    engine: str
    schema: int
    size_bytes: int


class Begun(NamedTuple):
    """A transaction that has begun: at which instant, and whether others have committed since the last one."""

    now: Instant
    is_news: bool


class WriteConnection(Protocol):
    """The connection that writes, for the writer's thread alone. Of its transactions one is open at a time.

    `errors` are all that ends a transaction, `StoreFailure` among them.
    """

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    @property
    def statements(self) -> Statements:
        """What a transaction's statements are run by."""

    @property
    def stamps(self) -> UpdateStamps: ...

    @property
    def is_open(self) -> bool:
        """Whether the transaction is: an engine may give it up with a statement that fails."""

    def is_failure(self, error: BaseException) -> bool:
        """Whether no statement is to blame for it, but the disk, the file, the machine or the way there."""

    def begin(self, clock: Callable[[], Instant]) -> Begun:
        """Begin a transaction once nobody else writes; what an earlier one left undecided is rolled back.

        Raises `StoreFailure` where this is no longer the database that
        was opened.
        """

    def mark(self) -> None:
        """Note where the transaction is, so that what follows can be undone alone."""

    def release(self) -> None:
        """Keep what was done since `mark`."""

    def undo(self) -> None:
        """Undo what was done since `mark`."""

    def roll_back(self) -> None:
        """Undo all of the transaction, which is over then: to commit it does nothing."""

    def commit(self) -> None:
        """Make all of the transaction durable. Raises `Doubtful` where nobody knows whether it is."""

    def settle(self) -> bool:
        """After a commit: let every process know of it. False: there was nothing to know, for no row was changed."""

    def abandon(self) -> None:
        """Roll back what can be. Raises nothing."""

    def refused(self, error: BaseException) -> None:
        """Note what a write failed with."""

    def close(self) -> None:
        """Raises nothing of `errors` but for the close itself."""


class Engine(Protocol):
    """An open database, for the thread of the event loop."""

    @property
    def upgraded(self) -> Upgrade | None:
        """What the migrations of this start have changed; None: nothing."""

    @property
    def writes(self) -> WriteConnection: ...

    @property
    def is_shared(self) -> bool:
        """Whether daemons on several machines may work with the same rows at once."""

    @property
    def read_shares(self) -> Shares:
        """The places of reads on threads."""

    @property
    def fault(self) -> str | None:
        """What is wrong, to be read after "the store". None: nothing that is known."""

    @property
    def refuses_writes(self) -> bool:
        """Whether the last write failed, and that was not the statement's doing."""

    @property
    def log_bytes(self) -> int:
        """How much is committed and not yet in its place; 0 where the engine is another process's affair."""

    @property
    def holds_snapshot(self) -> bool:
        """True while a read transaction is kept for the next read."""

    def start(self) -> None:
        """Start what threads the engine has of its own."""

    def read_now(self, work: Callable[[ReadTx], T], bindings: Bindings) -> T:
        """Run a read on the loop. Raises `OverBudget` where it is too long for that, `StoreFailure`."""

    async def read_soon(self, work: Callable[[ReadTx], T], bindings: Bindings, holder: str | None) -> T:
        """Run a read that is usually short, wherever the engine does that: in the share of the organization `holder`.

        Raises as `read_now` does.
        """

    async def read_later(self, work: Callable[[ReadTx], T], org_id: str | None, now: Callable[[], Instant]) -> T:
        """Run a read on a thread. Cancelled, it ends at once. Raises `StoreFailure`."""

    def write_submitted(self) -> None:
        """A write waits from now on."""

    def writes_decided(self, number: int) -> None:
        """So many wait no more."""

    async def watch(self, on_commit: Callable[[], None]) -> None:
        """Call `on_commit` soon after each commit, also of other processes. Runs until cancelled."""

    async def find_damage(self) -> list[str] | None:
        """What is wrong with what is stored; empty: nothing. None where it was cancelled. Raises `StoreFailure`."""

    def catalogue(self) -> Catalogue:
        """What tables there are. It may block: call it on a thread. Raises `StoreFailure`."""

    def form(self) -> Form:
        """As it is now. It may block: call it on a thread. Raises `StoreFailure`."""

    def close_reads(self) -> None:
        """Close what reads; a read that is under way on a thread ends by itself. Raises nothing."""

    def stop(self) -> None:
        """End the threads that `start` began. It may block: call it off the event loop, before `writes` is closed."""

    def close(self) -> None:
        """Close what is left, when `writes` is closed."""
