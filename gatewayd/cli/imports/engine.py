"""Operations of imports on the store of a command: asked of the engine, until their runs have ended.

A file of this machine is taken as an operation takes it: where it lies, its size and its content's hash.
"""

import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gatewayd.cli.context import Context
from gatewayd.cli.run_operation import operation_of, operator_of

if TYPE_CHECKING:
    from gatewayd.contract.operation import Operation
    from gatewayd.contract.received_file import ReceivedFile
    from gatewayd.importing.engine import Importing
    from gatewayd.store import Store
import hashlib
from typing import TYPE_CHECKING

from gatewayd.cli.context import CommandError

if TYPE_CHECKING:
    from gatewayd.contract.received_file import ReceivedFile

Json = dict[str, Any]
PROGRESS_ROWS = 1_000
PART_BYTES = 1 << 20


class _Deps(NamedTuple):
    """What the operations of imports are given to work with."""

    importing: "Importing"


def perform(
    context: Context, org_id: str, command: tuple[str, Mapping[str, object]], file: "ReceivedFile | None" = None
) -> Json:
    """What an operation of imports answers, once its run has ended. Raises `Problem`."""
    from gatewayd.areas import assets, banking
    from gatewayd.importing import HANDLERS
    from gatewayd.performing.performer import Performer

    areas = {"assets": assets.AREA, "banking": banking.AREA}
    operation = operation_of(areas[command[0].partition(".")[0]], command[0], HANDLERS)
    request = request_of(operation, command[1])

    async def ask(store: "Store", importing: "Importing") -> object:
        performer = Performer(store, _Deps(importing))
        return await performer.perform(operation, operator_of(org_id, context.overrides), request, None, file)

    return ask_engine(context, org_id, ask)


def request_of(operation: "Operation", values: Mapping[str, object]) -> Any:
    """The request of a row; values that are None are left out. Raises `Problem`."""
    import msgspec

    from gatewayd.performing.prepared import prepare

    body = {name: value for name, value in values.items() if value is not None}
    return prepare(operation).decoder.body(msgspec.json.encode(body))


def ask_engine(context: Context, org_id: str, ask: "Callable[[Store, Importing], Awaitable[object]]") -> Json:
    """What the engine answers on the store of the command. Raises `Problem`, also for an unknown organization."""
    import msgspec

    from gatewayd.contract.wire import encode
    from gatewayd.identity.people import organizations

    async def checked(store: "Store") -> object:
        await store.read(lambda tx: organizations.get(tx, org_id), org_id)
        return await _with_engine(context, store, ask)

    return msgspec.json.decode(encode(_run(context, checked)), type=Json)


def _run(context: Context, work: "Callable[[Store], Awaitable[object]]") -> object:
    from gatewayd.cli.runner import cause_of

    try:
        return context.run(work)
    except BaseExceptionGroup as group:
        raise cause_of(group) from None


async def _with_engine(
    context: Context, store: "Store", ask: "Callable[[Store, Importing], Awaitable[object]]"
) -> object:
    from gatewayd.http1.log import NoLog
    from gatewayd.importing.engine import open_importing
    from gatewayd.importing.parts import ImportParts
    from gatewayd.leases.holder import open_holder
    from gatewayd.statements.child import reader_of

    async with open_holder(store) as holder:
        parts = ImportParts(
            store=store,
            holder=holder,
            directory=Path(context.config.store.directory),
            read_apart=reader_of(context.environ),
            log=NoLog(),
            max_bytes=context.config.banking.max_import_bytes,
            patience=math.inf,
            source="command_line",
            progress=_Progress() if sys.stderr.isatty() else _quiet,
        )
        async with open_importing(parts) as importing:
            return await ask(store, importing)


class _Progress:
    """Tells on a terminal how many rows have been read."""

    def __init__(self) -> None:
        self._told = 0

    def __call__(self, rows: int) -> None:
        if rows - self._told >= PROGRESS_ROWS:
            self._told = rows
            print(f"\r{rows:,} rows read", end="", file=sys.stderr, flush=True)


def _quiet(rows: int) -> None:
    """Tell nobody."""


def received(path: Path) -> "ReceivedFile":
    """The file where it lies. Raises `CommandError`."""
    from gatewayd.contract.received_file import ReceivedFile

    digest, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while part := file.read(PART_BYTES):
                digest.update(part)
                size += len(part)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    return ReceivedFile(path.absolute(), size, digest.hexdigest())
