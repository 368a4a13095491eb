"""What only whoever runs the instance may do, and nobody who merely owns an organization of it."""

from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem
from gatewayd.identity.people import users
from gatewayd.store import ReadTx


def require_administrator(tx: ReadTx, caller: Caller) -> None:
    """Let administrators of the instance through, and the command line on the machine. Raises `Problem` `forbidden`."""
    if caller.kind == "operator":
        return
    user = None if caller.user_id is None else users.get(tx, caller.user_id)
    if user is None or not user.instance_admin or user.disabled_at is not None:
        raise Problem("forbidden", "Only an administrator of the instance can do this.")
