"""What happens to staged rows of any kind: decisions are taken back, counted, and in the end the rows are deleted."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, get_args

from msgspec.structs import replace

from gatewayd.importing.fencing import Database
from gatewayd.importing.pace import Pace
from gatewayd.ledger.imports.import_shapes import DUPLICATES_KEPT, REFUSED_SHOWN, Action, ImportRunRow, RefusedLine
from gatewayd.store import ReadTx, StagedRows

AT_ONCE: Final = 500  # Chosen: rows of one transaction


async def reset(pace: Pace, staged: StagedRows, import_id: str) -> None:
    """Take back what an earlier comparison decided: every row is to be added again."""
    for action in ("duplicate", "replace", "refuse"):
        await pace.drain(partial(staged.reset, import_id=import_id, action=action), AT_ONCE)


def counted(tx: ReadTx, staged: StagedRows, run: ImportRunRow) -> ImportRunRow:
    """The run with what would become of its rows."""
    counts = staged.counts(tx, run.id)
    refused = [RefusedLine(line=line, reason=why) for line, why in staged.refused(tx, run.id, REFUSED_SHOWN)]
    from_file = [refusal for refusal in run.refused if refusal not in refused]
    if from_file:  # and not by an earlier comparison, for reasons that are gone
        fitting = staged.lines(tx, run.id, from_file[0].line, from_file[-1].line)
        from_file = [refusal for refusal in from_file if refusal.line not in fitting]
    unstaged = run.rows - run.ignored_rows - sum(counts.values())
    return replace(
        run,
        added=counts.get("add", 0),
        duplicates=counts.get("duplicate", 0),
        replaced=counts.get("replace", 0),
        refused_rows=unstaged + counts.get("refuse", 0),
        refused=sorted([*from_file, *refused], key=lambda refusal: refusal.line)[:REFUSED_SHOWN],
    )


def spans(days: Sequence[tuple[str, int]], pace: Pace) -> Iterator[tuple[str, str]]:
    """Ranges of days with some hundred rows each; a day with more has one of its own."""
    first, count = "", 0
    for index, (day, rows_of_day) in enumerate(days):
        first = first or day
        count += rows_of_day
        following = days[index + 1][1] if index + 1 < len(days) else AT_ONCE
        if count + following > pace.rows(AT_ONCE):
            yield first, day
            first, count = "", 0


async def forget_all(store: Database, staged: StagedRows, org_id: str, import_id: str) -> None:
    """Delete whatever is staged, a few rows at a time."""
    pace = Pace(store, org_id)
    for action in get_args(Action):
        await _forget(pace, staged, import_id, action)


async def forget_ended(store: Database, staged: StagedRows, org_id: str, run: ImportRunRow) -> None:
    """Delete what is staged of a run that has ended.

    Of one that was applied, rows stay that were replaced or refused, and duplicates where they are not very many.
    """
    if run.status != "applied":
        await forget_all(store, staged, org_id, run.id)
        return
    pace = Pace(store, org_id)
    await _forget(pace, staged, run.id, "add")
    counts = await store.read_later(lambda tx: staged.counts(tx, run.id), org_id)
    if counts.get("duplicate", 0) > DUPLICATES_KEPT:
        await _forget(pace, staged, run.id, "duplicate")


async def _forget(pace: Pace, staged: StagedRows, import_id: str, action: str) -> None:
    await pace.drain(partial(staged.forget, import_id=import_id, action=action), AT_ONCE)
