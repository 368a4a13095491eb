"""Runs operations of the API as the operator: by the path of every door, on the store of a command."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gatewayd.cli.context import Context
    from gatewayd.contract.caller import Caller
    from gatewayd.contract.operation import Area, Operation
    from gatewayd.store import Store


def operator_of(org_id: str) -> "Caller":
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
    )


def operation_of(area: "Area", operation_id: str) -> "Operation":
    """The row with that id."""
    return next(operation for operation in area.operations if operation.id == operation_id)


def run_operation(
    context: "Context", operation: "Operation", org_id: str, values: Mapping[str, object]
) -> dict[str, Any]:
    """Run one read or write row; `values` are spelled as on the wire, those that are None are left out.

    Answers the row's JSON. Raises `Problem` as the API would, and for an organization that does not exist.
    """
    import msgspec

    from gatewayd.identity import organizations
    from gatewayd.performing.performer import Performer, encoded
    from gatewayd.performing.prepared import prepare

    given = {name: value for name, value in values.items() if value is not None}
    request = prepare(operation).decoder.body(msgspec.json.encode(given))

    async def perform(store: "Store") -> object:
        await store.read(lambda tx: organizations.get(tx, org_id), org_id)
        return await Performer(store).perform(operation, operator_of(org_id), request)

    return msgspec.json.decode(encoded(context.run(perform)), type=dict[str, Any])
