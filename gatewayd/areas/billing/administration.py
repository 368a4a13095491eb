"""What is noted of those who give credits, and set plans and costs, and the amounts that they may give."""

from gatewayd.contract.caller import Caller
from gatewayd.errors import invalid_field
from gatewayd.identity import audit
from gatewayd.identity.audit import Act, Action
from gatewayd.money import MICRO, Credits, to_credits
from gatewayd.store import WriteTx

MOST = 1_000_000_000 * MICRO
"""Chosen: of one amount. The sums of ten thousand of them are numbers of 64 bits still."""


def record(tx: WriteTx, caller: Caller, action: Action, subject: str) -> None:
    """Note in the audit log of the organization who has done it."""
    audit.record(tx, Act(actor=caller.reference, action=action, subject=subject, org_id=tx.org_id))


def record_for_all(tx: WriteTx, caller: Caller, action: Action, subject: str) -> None:
    """Note in the audit log of the instance who has done what concerns all of it."""
    audit.record(tx, Act(actor=caller.reference, action=action, subject=subject, org_id=None))


def positive(path: str, text: str) -> Credits:
    """Credits that are more than 0. Raises `Problem` `validation_failed`."""
    return _within(path, to_credits(text), 1)


def not_negative(path: str, text: str) -> Credits:
    """Credits that may be 0. Raises `Problem` `validation_failed`."""
    return _within(path, to_credits(text), 0)


def signed(path: str, text: str) -> Credits:
    """Credits to add, or below 0 to take. Raises `Problem` `validation_failed`."""
    amount = to_credits(text)
    if not 1 <= abs(amount) <= MOST:
        message = "Expected more than 0 to add, or less than 0 to take, and at most 1000000000 credits either way."
        raise invalid_field(path, "out_of_range", message)
    return amount


def _within(path: str, amount: Credits, least: int) -> Credits:
    if not least <= amount <= MOST:
        raise invalid_field(path, "out_of_range", "Expected more than 0, and at most 1000000000 credits.")
    return amount
