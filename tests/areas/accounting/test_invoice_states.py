"""The machine of an invoice: every state against every move (domain model B5)."""

from typing import get_args

import pytest

from gatewayd.areas.accounting.invoices import states
from gatewayd.areas.accounting.invoices.states import Move, Settlement, Status
from gatewayd.errors import Problem
from gatewayd.money import Money

ALLOWED = {
    ("change", "draft"),
    ("issue", "draft"),
    ("delete", "draft"),
    ("send", "issued"),
    ("settle", "issued"),
    ("settle", "sent"),
    ("settle", "part_paid"),
    ("settle", "paid"),
    ("unsettle", "paid"),
    ("unsettle", "part_paid"),
    ("rate", "issued"),
    ("rate", "sent"),
    ("rate", "part_paid"),
    ("rate", "paid"),
    ("void", "issued"),
    ("void", "sent"),
}


@pytest.mark.parametrize("move", get_args(Move))
@pytest.mark.parametrize("status", get_args(Status))
def test_every_move_from_every_state(move: Move, status: Status) -> None:
    if (move, status) in ALLOWED:
        states.check(move, status)
        return
    with pytest.raises(Problem) as caught:
        states.check(move, status)
    assert caught.value.code == "invalid_state"
    assert caught.value.extra["currentState"] == status
    assert set(caught.value.extra["allowedStates"]) == {each for name, each in ALLOWED if name == move}


@pytest.mark.parametrize(
    ("status", "due", "settled", "after"),
    [
        ("issued", 100, 40, "part_paid"),
        ("sent", 100, 100, "paid"),
        ("part_paid", 100, 99, "part_paid"),
        ("part_paid", 100, 130, "paid"),
        ("paid", 100, 150, "paid"),
        ("sent", 0, 0, "paid"),
    ],
)
def test_after_settlement(status: Status, due: int, settled: int, after: Status) -> None:
    assert states.after_settlement(status, Settlement(Money(due, "GBP"), Money(settled, "GBP"))) == after


@pytest.mark.parametrize(
    ("status", "due", "settled", "after"),
    [
        ("paid", 100, 40, "part_paid"),
        ("paid", 100, 99, "part_paid"),
        ("part_paid", 100, 1, "part_paid"),
        ("paid", 100, 0, "sent"),
        ("part_paid", 100, 0, "sent"),
        ("paid", 100, 100, "paid"),
    ],
)
def test_after_unsettlement(status: Status, due: int, settled: int, after: Status) -> None:
    assert states.after_unsettlement(status, Settlement(Money(due, "GBP"), Money(settled, "GBP"))) == after


def test_what_nobody_has_seen_is_issued_again() -> None:
    assert states.after_unsettlement("paid", Settlement(Money(100, "GBP"), Money(0, "GBP")), is_seen=False) == "issued"


@pytest.mark.parametrize("status", ["draft", "void"])
def test_money_moves_no_invoice_that_is_not_in_force(status: Status) -> None:
    for move in (states.after_settlement, states.after_unsettlement):
        with pytest.raises(Problem) as caught:
            move(status, Settlement(100, 40))
        assert (caught.value.code, caught.value.extra["currentState"]) == ("invalid_state", status)


@pytest.mark.parametrize("status", ["issued", "sent"])
def test_what_was_never_paid_cannot_lose_a_payment(status: Status) -> None:
    with pytest.raises(Problem) as caught:
        states.after_unsettlement(status, Settlement(100, 0))
    assert caught.value.extra["currentState"] == status


@pytest.mark.parametrize("status", ["draft", "paid", "void"])
def test_no_payment_is_taken_where_nothing_can_be_due(status: Status) -> None:
    with pytest.raises(Problem) as caught:
        states.check_payment(status)
    assert caught.value.code == "invalid_state"


def test_void_needs_no_payments_and_an_open_period() -> None:
    states.refuse_void("sent", is_filed=False)
    with pytest.raises(Problem) as caught:
        states.refuse_void("part_paid", is_filed=False)
    assert caught.value.code == "invalid_state"
    with pytest.raises(Problem) as caught:
        states.refuse_void("sent", is_filed=True)
    assert caught.value.code == "period_closed"
