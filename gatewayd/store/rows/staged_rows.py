"""What tables of staged rows have in common, whatever the rows say: what is decided of each, and how they go."""

from collections.abc import Iterator

from gatewayd.store.transactions import ReadTx, WriteTx


class StagedRows:
    """One such table.

    It has the columns org_id, import_id, position, date, line, action, reason, existing_transaction_id.
    """

    def __init__(self, name: str) -> None:
        own = f"FROM {name} WHERE org_id = :org_id AND import_id = :import_id"
        some = f"SELECT position {own} AND action = :action ORDER BY position LIMIT :count"
        of_run = "org_id = :org_id AND import_id = :import_id"
        self._reset = (
            f"UPDATE {name} SET action = 'add', reason = NULL, existing_transaction_id = NULL"
            f" WHERE {of_run} AND position IN ({some})"
        )
        self._last_position = f"SELECT coalesce(max(position), 0) {own}"
        self._refused = f"SELECT line, reason {own} AND action = 'refuse' ORDER BY position LIMIT :count"
        self._lines = f"SELECT line {own} AND action <> 'refuse' AND line >= :first AND line <= :last"
        self._refused_days = f"SELECT DISTINCT date {own} AND action = 'refuse' ORDER BY date"
        self._count = f"SELECT action, count(position) {own} GROUP BY action"
        self._forget = f"DELETE FROM {name} WHERE {of_run} AND position IN ({some})"

    def statements(self) -> Iterator[tuple[str, str]]:
        """Every statement by name."""
        yield from (("reset", self._reset), ("last_position", self._last_position), ("refused", self._refused))
        yield from (("lines", self._lines), ("refused_days", self._refused_days))
        yield from (("count", self._count), ("forget", self._forget))

    def reset(self, tx: WriteTx, import_id: str, action: str, count: int) -> int:
        """Take at most `count` decisions for this action back, for others to be made; answers how many that was."""
        return tx.run(self._reset, import_id=import_id, action=action, count=count)

    def last_position(self, tx: ReadTx, import_id: str) -> int:
        """The position of the last row that is staged; 0 where none is."""
        return int(tx.value(self._last_position, import_id=import_id))

    def refused(self, tx: ReadTx, import_id: str, count: int) -> list[tuple[int, str]]:
        """Line and reason of the first of the staged rows that were refused."""
        return [(row[0], row[1]) for row in tx.rows(self._refused, import_id=import_id, count=count)]

    def lines(self, tx: ReadTx, import_id: str, first: int, last: int) -> set[int]:
        """Those of some lines whose rows were not refused."""
        return {row[0] for row in tx.rows(self._lines, import_id=import_id, first=first, last=last)}

    def refused_days(self, tx: ReadTx, import_id: str) -> list[str]:
        """The days of the staged rows that were refused, as ISO dates."""
        return [row[0] for row in tx.rows(self._refused_days, import_id=import_id)]

    def counts(self, tx: ReadTx, import_id: str) -> dict[str, int]:
        """How many rows have each action."""
        return {row[0]: row[1] for row in tx.rows(self._count, import_id=import_id)}

    def forget(self, tx: WriteTx, import_id: str, action: str, count: int) -> int:
        """Delete at most `count` staged rows with this action; answers how many that was."""
        return tx.run(self._forget, import_id=import_id, action=action, count=count)
