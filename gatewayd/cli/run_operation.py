"""Runs operations of the API as the operator: by the path of every door, on the store of a command."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from gatewayd.cli.context import Context
    from gatewayd.contract.caller import Caller
    from gatewayd.contract.given_files import WrittenFile
    from gatewayd.contract.operation import Area, Handlers, Operation
    from gatewayd.store import Store

T = TypeVar("T")
Answer = Callable[["Operation", Mapping[str, object]], Awaitable[object]]
Perform = Callable[["Operation", Mapping[str, object]], Awaitable[dict[str, Any]]]
"""`perform(row, values)`: runs a row and answers its JSON."""


def operator_of(org_id: str, overrides: frozenset[str] = frozenset()) -> "Caller":
    """The command line as a caller that acts for one organization."""
    from gatewayd.contract.caller import Caller
    from gatewayd.contract.scopes import ALL_SCOPES
    from gatewayd.identity import audit

    return Caller(
        kind="operator",
        credential_id=audit.OPERATOR,
        org_id=org_id,
        user_id=None,
        role="owner",
        scopes=frozenset(ALL_SCOPES),
        overrides=overrides,
    )


def offered_operation(context: "Context", operation_id: str) -> "Operation":
    """The row with that id as the daemon has it: for what has to know of all others, which takes a moment to load."""
    from gatewayd.daemon.description import catalogue_of

    return next(row for row in catalogue_of(context.config).operations if row.id == operation_id)


def operation_of(area: "Area", operation_id: str, handlers: "Handlers | None" = None) -> "Operation":
    """The row with that id. `handlers` has the handler of one that is declared without."""
    row = next(operation for operation in area.operations if operation.id == operation_id)
    return replace(row, handler=handlers[row.id]) if handlers is not None and row.id in handlers else row


def run_operation(
    context: "Context",
    operation: "Operation",
    org_id: str,
    values: Mapping[str, object],
    deps: "Callable[[Store], object] | None" = None,
) -> dict[str, Any]:
    """Run one row; `values` are spelled as on the wire, those that are None are left out.

    `deps` makes what a row of kind `call` is given to work with. Answers the row's JSON. Raises `Problem` as the API
    would, and for an organization that does not exist.
    """

    async def once(perform: Perform) -> dict[str, Any]:
        return await perform(operation, values)

    return run_operations(context, org_id, once, deps)


def walk(
    context: "Context", org_id: str, operation: "Operation", values: Mapping[str, object], wanted: tuple[int, int]
) -> list[dict[str, Any]]:
    """The items of a list, page by page; `wanted` is how many on a page, and how many at most."""
    size, most = wanted

    async def work(perform: Perform) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = await perform(operation, {**values, "limit": min(size, most - len(items)), "cursor": cursor})
            items += page["data"]
            cursor = page["nextCursor"]
            if cursor is None or len(items) == most:
                return items

    return run_operations(context, org_id, work)


def run_operations(
    context: "Context",
    org_id: str,
    work: Callable[[Perform], Awaitable[T]],
    deps: "Callable[[Store], object] | None" = None,
) -> T:
    """Run rows of one organization, one after the other, on one opened store. See `run_operation`."""
    import msgspec

    from gatewayd.performing.answers import encoded

    async def in_json(answer: Answer) -> T:
        async def perform(operation: "Operation", values: Mapping[str, object]) -> dict[str, Any]:
            return msgspec.json.decode(encoded(await answer(operation, values)), type=dict[str, Any])

        return await work(perform)

    return _run(context, org_id, in_json, deps)


def run_for_file(
    context: "Context", operation: "Operation", org_id: str, values: Mapping[str, object]
) -> "WrittenFile":
    """Run a read that `gives_file`. See `run_operation`."""
    from gatewayd.contract.given_files import WrittenFile

    async def once(answer: Answer) -> WrittenFile:
        file = await answer(operation, values)
        assert isinstance(file, WrittenFile)
        return file

    return _run(context, org_id, once)


def _run(
    context: "Context",
    org_id: str,
    work: Callable[[Answer], Awaitable[T]],
    deps: "Callable[[Store], object] | None" = None,
) -> T:
    import msgspec

    from gatewayd.identity.people import organizations
    from gatewayd.performing.performer import Performer
    from gatewayd.performing.prepared import prepare

    async def run(store: "Store") -> T:
        await store.read(lambda tx: organizations.get(tx, org_id), org_id)
        performer = Performer(store, None if deps is None else deps(store))
        caller = operator_of(org_id, context.overrides)

        async def answer(operation: "Operation", values: Mapping[str, object]) -> object:
            body = {name: value for name, value in values.items() if value is not None}
            request = prepare(operation).decoder.body(msgspec.json.encode(body))
            return await performer.perform(operation, caller, request)

        return await work(answer)

    return context.run(run)
