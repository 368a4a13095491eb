"""The states of an invoice and the moves between them, as a table (domain model B5). Pure.

    draft --issue--> issued --send--> sent            issued, sent --void--> void
      |--change--> draft
      `--delete--> (gone)                             issued, sent, part_paid --settle--> part_paid or paid
                                                      paid, part_paid --unsettle--> part_paid, sent or issued

A rate of exchange is given to whatever is issued and not void (`rate`), which stays in its state.

Whether an invoice is overdue is no state: it follows from its due date and from what is still due.
"""

from typing import Final, Literal, NamedTuple

from gatewayd.errors import Problem, either, invalid_state
from gatewayd.money import Money

Status = Literal["draft", "issued", "sent", "part_paid", "paid", "void"]
Move = Literal["change", "issue", "delete", "send", "settle", "unsettle", "rate", "void"]

STATUSES: tuple[Status, ...] = ("draft", "issued", "sent", "part_paid", "paid", "void")
OPEN: tuple[Status, ...] = ("issued", "sent", "part_paid")
"""States in which money may be due."""
CREDITABLE = frozenset({"issued", "sent", "part_paid", "paid"})
"""States in which a credit note may be made out against an invoice."""

TRANSITIONS: dict[Move, dict[Status, tuple[Status, ...]]] = {
    "change": {"draft": ("draft",)},
    "issue": {"draft": ("issued",)},
    "delete": {"draft": ()},
    "send": {"issued": ("sent",)},
    "settle": {
        "issued": ("part_paid", "paid"),
        "sent": ("part_paid", "paid"),
        "part_paid": ("part_paid", "paid"),
        "paid": ("paid",),
    },
    "unsettle": {"paid": ("paid", "part_paid", "sent", "issued"), "part_paid": ("part_paid", "sent", "issued")},
    "rate": {"issued": ("issued",), "sent": ("sent",), "part_paid": ("part_paid",), "paid": ("paid",)},
    "void": {"issued": ("void",), "sent": ("void",)},
}
"""For each move: from which state, to which states. An invoice that is paid can be settled further by a credit note
alone: what the client then has in hand is a negative balance."""


class Settlement(NamedTuple):
    """What stands against an invoice: `due` is gross less CIS deduction, `settled` is paid and credited."""

    due: Money
    settled: Money

    @property
    def balance(self) -> Money:
        """What is still due; negative is an overpayment."""
        return self.due - self.settled


def check(move: Move, status: Status) -> None:
    """Raises `Problem` `invalid_state` where the table has no such move from this state."""
    if status not in TRANSITIONS[move]:
        allowed = tuple(TRANSITIONS[move])
        raise _refusal(move, status, allowed)


def check_payment(status: Status) -> None:
    """Raises `Problem` `invalid_state` where no payment can be taken. A paid invoice takes none."""
    if status not in OPEN:
        raise _refusal("pay", status, OPEN)


def _refusal(move: Move | Literal["pay"], status: Status, allowed: tuple[Status, ...]) -> Problem:
    way_out = _WAYS_OUT.get((move, status), "")
    message = f"An invoice that is {status} cannot {_VERBS[move]}: only one that is {either(allowed)}.{way_out}"
    return invalid_state(message, status, allowed)


def after_settlement(status: Status, settlement: Settlement) -> Status:
    """The state once more was paid or credited."""
    check("settle", status)
    return "paid" if settlement.balance.minor <= 0 else "part_paid"


def after_unsettlement(status: Status, settlement: Settlement, *, is_seen: bool = True) -> Status:
    """The state once a payment bounced, was unmatched, or a credit note was voided.

    Chosen: with nothing left against it the invoice is `sent`, as B5 says, for whoever paid it has seen it. `is_seen`
    False: nobody paid it and it was never marked as sent, so that it is `issued` again.
    """
    check("unsettle", status)
    if settlement.settled.minor <= 0:
        return "sent" if is_seen else "issued"
    return "paid" if settlement.balance.minor <= 0 else "part_paid"


def refuse_void(status: Status, is_filed: bool) -> None:
    """Raises `Problem`: `invalid_state` for a wrong state, `period_closed` where VAT was filed.

    With a payment or a credit an invoice is `part_paid` or `paid`, which cannot be voided.
    """
    check("void", status)
    if is_filed:
        message = "The period of the invoice is closed: make out a credit note instead."
        raise Problem("period_closed", message, extra={"state": "closed"})


_VERBS: dict[Move | Literal["pay"], str] = {
    "pay": "be paid",
    "change": "be changed",
    "issue": "be issued",
    "delete": "be deleted",
    "send": "be marked as sent",
    "settle": "be settled",
    "unsettle": "lose a payment",
    "rate": "take a rate of exchange",
    "void": "be voided",
}

_UNDONE: Final = " `accounting.voidInvoice` voids it, and a credit note takes it back."
_TAKEN_BACK: Final = " A credit note takes it back."
_ISSUED_FIRST: Final = " Issue it first, with `accounting.issueInvoice`."
_WAYS_OUT: dict[tuple[Move | Literal["pay"], Status], str] = {
    **{(move, status): _UNDONE for move in ("change", "delete") for status in ("issued", "sent")},
    **{(move, status): _TAKEN_BACK for move in ("change", "delete") for status in ("part_paid", "paid")},
    ("send", "draft"): _ISSUED_FIRST,
    ("pay", "draft"): _ISSUED_FIRST,
    ("rate", "draft"): " It takes `fxRate` with `accounting.updateInvoice` or `accounting.issueInvoice`.",
    ("void", "draft"): " `accounting.deleteInvoice` deletes a draft.",
    ("void", "part_paid"): " A credit note takes it back, or `accounting.removePayment` its payments first.",
    ("void", "paid"): " A credit note takes it back, or `accounting.removePayment` its payments first.",
}
"""What to do instead, where there is anything."""
