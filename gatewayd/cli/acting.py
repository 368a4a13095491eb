"""Runs operations of the API as the operator: the same checks and the same handlers, without the doors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewayd.cli.session import Session
    from gatewayd.contract.caller import Caller
    from gatewayd.contract.operation import Area, Operation
    from gatewayd.store import ReadTx, WriteTx


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


def act(session: "Session", operation: "Operation", org_id: str, values: Mapping[str, object]) -> object:
    """Run one read or write row; `values` are spelled as on the wire, those that are None are left out.

    Answers what the handler answers. Raises `Problem` as the API would, and for an organization that does not exist.
    """
    import msgspec

    from gatewayd.contract.decoding import RequestDecoder
    from gatewayd.identity import organizations

    given = {name: value for name, value in values.items() if value is not None}
    request = RequestDecoder(operation).body(msgspec.json.encode(given))
    caller = operator_of(org_id)

    def read(tx: "ReadTx") -> object:
        organizations.get(tx, org_id)
        answer: object = operation.handler(tx, caller, request)
        return answer

    def write(tx: "WriteTx") -> object:
        return read(tx)

    return session.read(read, org_id) if operation.kind == "read" else session.write(write, org_id)
