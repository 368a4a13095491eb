"""What handlers hold: a transaction bound to one organization and one instant."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from gatewayd.clock import Instant, london_date
from gatewayd.store.reactions import Change, Reacting
from gatewayd.store.sealer import Sealer

Row = tuple[Any, ...]


class Bindings(NamedTuple):
    """What every statement of a transaction may name: `:org_id` and `:now`.

    `org_id` is None for work of the daemon itself, whose statements then cannot name it.
    """

    org_id: str | None
    now: Instant


class Rows(Protocol):
    """What a statement answers, row by row."""

    def fetchall(self) -> list[Row]: ...

    def fetchone(self) -> Row | None: ...

    def __iter__(self) -> Iterator[Row]: ...

    def __next__(self) -> Row: ...


class Executor(Protocol):
    """What runs statements: a connection, or the snapshot of one."""

    def execute(self, sql: str, values: dict[str, Any], /) -> Rows: ...


class Statements(Executor, Protocol):
    """What runs statements that change rows too: a connection."""

    def executemany(self, sql: str, values: Sequence[tuple[Any, ...]], /) -> object:
        """Run one statement for each tuple of values, in the order in which it names them."""

    def changes(self) -> int:
        """How many rows the last statement changed."""


class UpdateStamps(Protocol):
    """The instants that changed rows bear as `updatedAt`, which never go back over commits."""

    def stamp(self, now: Instant) -> Instant:
        """The instant for a row that changes at `now`: that, or where a commit before it left a later one, the next."""


class ReadTx:
    """A consistent snapshot of the database. Nothing in it can write.

    `used_now` and `used_today` tell whether `now` or `today` was asked for: of what was read, whatever depends on
    neither holds until the next commit. A statement of a read that names `:now` would not be noticed; a test looks.
    """

    version: int | None = None
    """Of the state that it sees at the least: two reads of one version see the same. None: that is not known."""

    def __init__(self, connection: Executor, bindings: Bindings, sealer: Sealer) -> None:
        self._executor = connection
        self._execute = connection.execute
        self._bound: dict[str, Any] = {"now": bindings.now}
        if bindings.org_id is not None:
            self._bound["org_id"] = bindings.org_id
        self._sealer = sealer
        self._now = bindings.now
        self.used_now = self.used_today = False
        self.overrides: frozenset[str] = frozenset()
        """What its caller wants done in spite of a rule that may be overridden, by the name of the rule."""

    def bind(self, org_id: str) -> None:
        """Act for this organization from now on: once the caller is known."""
        self._bound["org_id"] = org_id

    @property
    def org_id(self) -> str:
        """The organization this transaction acts for. Raises `KeyError` in the daemon's own work."""
        return str(self._bound["org_id"])

    @property
    def now(self) -> Instant:
        """The instant at which the transaction began."""
        self.used_now = True
        return self._now

    @property
    def today(self) -> str:
        """The civil date in Europe/London at `now`."""
        self.used_today = True
        return london_date(self._now)

    def rows(self, sql: str, /, **values: object) -> list[Row]:
        """Every row of a statement."""
        return self._execute(sql, {**self._bound, **values}).fetchall()

    def each(self, sql: str, /, **values: object) -> Iterator[Row]:
        """The rows of a statement one by one, for those who may stop before the last: what they leave is not read."""
        each: Callable[[str, dict[str, Any]], Iterator[Row]] = getattr(self._executor, "each", self._execute)
        return each(sql, {**self._bound, **values})  # SQLite's connection reads on as rows are asked for

    def row(self, sql: str, /, **values: object) -> Row | None:
        """The first row, or None."""
        return self._execute(sql, {**self._bound, **values}).fetchone()

    def value(self, sql: str, /, **values: object) -> Any:
        """The first column of the first row, or None where there is no row."""
        row = self._execute(sql, {**self._bound, **values}).fetchone()
        return None if row is None else row[0]

    def sign(self, text: str, context: str) -> bytes:
        """32 bytes that this instance alone makes of `text`, the same each time; `context` is what it is signed for."""
        return self._sealer.sign(text.encode(), context)

    def unseal(self, sealed: bytes, context: str) -> str:
        """The secret text behind `sealed`; `context` is the one it was sealed under."""
        return self._sealer.unseal(sealed, context).decode()


class WriteTx(ReadTx):
    """One operation's savepoint inside a group commit: to raise is to roll back, and nobody commits."""

    def __init__(
        self,
        connection: Statements,
        bindings: Bindings,
        sealer: Sealer,
        new_id: Callable[[str], str],
        stamps: UpdateStamps,
        reacting: Reacting,
    ) -> None:
        super().__init__(connection, bindings, sealer)
        self._connection = connection
        self._reactions = reacting.reactions
        self._changes: dict[tuple[str, str, str], Change] = {}
        self._listened = reacting.listened
        self._stamps = stamps
        self._updated_at: Instant | None = None
        self.new_id = new_id
        self.topics: set[str] = set()

    @property
    def updated_at(self) -> Instant:
        """What rows changed by this transaction bear as `updatedAt`: `now`, or later while the clock is behind."""
        if self._updated_at is None:
            self._updated_at = self._stamps.stamp(self._now)
        return self._updated_at

    def run(self, sql: str, /, **values: object) -> int:
        """Run a statement that changes rows; returns how many it changed."""
        self._execute(sql, {**self._bound, **values}).fetchall()
        return self._connection.changes()

    def run_each(self, sql: str, many: Sequence[tuple[object, ...]]) -> None:
        """Run one statement for each row of values: all that it names, `:org_id` too, in the order it names them."""
        self._connection.executemany(sql, many)

    def seal(self, secret: str, context: str) -> bytes:
        """`secret` encrypted at rest. `context` names its row and column, and is needed to unseal it."""
        return self._sealer.seal(secret.encode(), context)

    def announce(self, topic: str) -> None:
        """Wake the tasks that wait for `topic`, once this is durable."""
        self.topics.add(topic)

    # -- what follows from a change of a row

    def reacts(self, table: str) -> bool:
        """Whether anything follows from a change of a row of this table, so that it matters what the row was."""
        return table in self._reactions.follow_ups or self._tells(table)

    def changed(self, table: str, id_: str, before: Any, after: Any) -> None:
        """A row of a table is stored, with what it was; None: it is new, it is removed.

        What follows from it is done at once; who listens is told when the operation ends, once for each row.
        """
        for follow_up in self._reactions.follow_ups.get(table, ()):
            follow_up(self, before, after)
        if self._tells(table):
            key = (self.org_id, table, id_)
            first = self._changes.get(key)
            self._changes[key] = Change(table, before if first is None else first.before, after)

    def tell(self) -> None:
        """Tell whoever listens what has become of the rows that changed. Called once, at the end of the operation."""
        of_organizations: dict[str, list[Change]] = {}
        for (org_id, _, _), change in self._changes.items():
            of_organizations.setdefault(org_id, []).append(change)
        for org_id, changes in of_organizations.items():
            self.bind(org_id)
            self._reactions.tell(self, changes)

    def forget_listened(self) -> None:
        """Look anew who listens, since that has changed."""
        self._listened.pop(self.org_id, None)

    @property
    def listened(self) -> frozenset[str]:
        """The kinds of events that anybody of the organization listens to, and perhaps some that somebody did."""
        kinds = self._listened.get(self.org_id)
        if kinds is None:
            kinds = self._listened[self.org_id] = self._reactions.listened(self)
        return kinds

    def _tells(self, table: str) -> bool:
        return table in self._reactions.told and bool(self.listened)
