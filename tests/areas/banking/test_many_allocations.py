"""Many bank transactions are coded at once: all of them or none, in shares to the penny."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_allocations import close, refused

FUEL = {"category": "carVanTravelExpenses"}
DRAWINGS = {"category": "not_pnl", "purpose": "drawings"}


def amounts(trading: Trading, line: str) -> list[tuple[str, str]]:
    return [(row.category, str(row.amount)) for row in trading.of_line(line)]


def code(trading: Trading, lines: list[str], *parts: dict[str, Any], **values: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = trading.post("allocateMany", bankTransactionIds=lines, parts=[*parts], **values)[
        "transactions"
    ]
    return found


def test_many_are_for_the_same_thing(trading: Trading) -> None:
    lines = [trading.line(trading.current, amount) for amount in (-4000, -1205, 300)]
    told = code(trading, lines, FUEL)
    assert [(one["bankTransactionId"], one["unallocatedAmount"]) for one in told] == [(id_, "0.00") for id_ in lines]
    assert [amounts(trading, id_)[0][1] for id_ in lines] == ["40.00", "12.05", "3.00"]
    assert [one["allocationIds"] for one in told] == [[row.id for row in trading.of_line(id_)] for id_ in lines]


@pytest.mark.parametrize(
    ("shares", "amount", "expected"),
    [
        (("60", "40"), -1001, ["6.01", "4.00"]),  # 6.006 and 4.004
        (("33.3", "33.3", None), -100, ["0.33", "0.33", "0.34"]),
        (("12.5", "87.5"), -1, ["0.01"]),  # 0.125 is nothing
        (("25",), -1000, ["2.50"]),
        (("50", "50"), -101, ["0.51", "0.50"]),
    ],
)
def test_shares_come_to_the_penny(
    trading: Trading, shares: tuple[str | None, ...], amount: int, expected: list[str]
) -> None:
    line = trading.line(trading.current, amount)
    parts = [
        {**(DRAWINGS if at else FUEL), **({} if share is None else {"share": share})} for at, share in enumerate(shares)
    ]
    code(trading, [line], *parts)
    assert [money for _, money in amounts(trading, line)] == expected


def test_what_is_left_of_a_line_is_coded_or_all_of_it_anew(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    trading.part(line, "adminCosts", amount="4")
    code(trading, [line], FUEL)
    assert amounts(trading, line) == [("adminCosts", "4.00"), ("carVanTravelExpenses", "6.00")]
    problem = refused(code, trading, [line], FUEL)
    assert [(one.path, one.code) for one in problem.errors] == [("bankTransactionIds[0]", "conflict")]
    code(trading, [line], DRAWINGS, replace=True)
    assert amounts(trading, line) == [("not_pnl", "10.00")]


def test_what_parts_do_not_describe_is_described_for_all(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    parts = ({**FUEL, "share": "50", "description": "Diesel"}, DRAWINGS)
    code(trading, [line], *parts, description="The van")
    assert [row.description for row in trading.of_line(line)] == ["Diesel", "The van"]


def test_one_that_may_not_leaves_all_as_they_are(trading: Trading) -> None:
    lines = [trading.line(trading.current, -1000), trading.line(trading.current, -500, status="pending")]
    problem = refused(code, trading, lines, FUEL)
    assert (problem.code, problem.extra["bankTransactionId"]) == ("invalid_state", lines[1])
    assert trading.of_line(lines[0]) == []


def test_a_line_that_is_not_there_or_named_twice_is_told_with_its_place(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    problem = refused(code, trading, [line, "btx_1", line], FUEL)
    assert [(one.path, one.code) for one in problem.errors] == [
        ("bankTransactionIds[1]", "unknown_reference"),
        ("bankTransactionIds[2]", "conflict"),
    ]


@pytest.mark.parametrize(
    ("shares", "path", "code_"),
    [
        (("60", "50"), "parts", "share_total"),
        (("100", None), "parts", "share_total"),
        ((None, None), "parts", "conflict"),
        (("0",), "parts[0].share", "out_of_range"),
        (("101",), "parts[0].share", "out_of_range"),
    ],
)
def test_shares_that_cannot_be(trading: Trading, shares: tuple[str | None, ...], path: str, code_: str) -> None:
    line = trading.line(trading.current, -1000)
    problem = refused(code, trading, [line], *({**FUEL, "share": share} for share in shares))
    assert (path, code_) in [(one.path, one.code) for one in problem.errors]


def test_a_closed_period_takes_none(trading: Trading) -> None:
    line = trading.line(trading.current, -1000)
    close(trading)
    assert refused(code, trading, [line], FUEL).code == "period_closed"


def test_a_code_of_vat_that_the_day_has_not_is_told(trading: Trading) -> None:
    line = trading.line(trading.current, -1000, date="2021-02-28")
    problem = refused(code, trading, [line], {**FUEL, "vatCode": "reverse_charge_domestic_standard"})
    assert [(one.path, one.code) for one in problem.errors] == [("bankTransactionIds[0]", "vat_rate_invalid_on_date")]


def test_a_line_that_has_too_many_is_told(trading: Trading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocations, "MAX_PER_LINE", 1)
    line = trading.line(trading.current, -1000)
    problem: Problem = refused(code, trading, [line], {**FUEL, "share": "50"}, DRAWINGS)
    assert problem.code == "limit_reached"
