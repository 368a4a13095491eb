"""Proposals to split a bank line as earlier ones with the same counterparty were split."""

from typing import Any

import pytest

from tests.areas.banking.conftest import Trading
from tests.areas.banking.test_proposals import proposed

INTEREST: dict[str, Any] = {"category": "interestOnBankOtherLoans"}
CAPITAL: dict[str, Any] = {"category": "not_pnl", "purpose": "loan_capital"}


def split(trading: Trading, amount: int, *parts: dict[str, Any], date: str = "2026-10-02") -> str:
    line = trading.line(trading.current, amount, date=date)
    trading.post("allocate", bankTransactionId=line, parts=list(parts))
    return line


def proposed_split(trading: Trading, amount: int) -> dict[str, Any] | None:
    found = proposed(trading, trading.line(trading.current, amount))
    return next((one for one in found if one["kind"] == "split"), None)


def amounts(proposal: dict[str, Any] | None) -> dict[str, tuple[str, str]]:
    assert proposal is not None
    return {part["category"]: (part["direction"], part["amount"]) for part in proposal["parts"]}


def test_the_same_shares(trading: Trading) -> None:
    """60 % home, 40 % business, of 100.00 and of 33.33."""
    home = {"category": "not_pnl", "purpose": "drawings"}
    split(trading, -10000, {**home, "amount": "60.00"}, {"category": "premisesRunningCosts", "amount": "40.00"})
    split(trading, -3333, {**home, "amount": "20.00"}, {"category": "premisesRunningCosts"}, date="2026-10-03")
    found = proposed_split(trading, -5000)
    assert amounts(found) == {"not_pnl": ("out", "30.00"), "premisesRunningCosts": ("out", "20.00")}
    assert found is not None
    assert (found["score"], found["amount"]) == (66, "50.00")
    assert found["reason"] == "2 of 2 lines of TESCO STORES were split in the same shares, last on 3 Oct 2026."
    assert (found["allocation"], found["invoiceId"], found["counterpartId"]) == (None, None, None)


def test_a_fixed_part_and_the_rest(trading: Trading) -> None:
    """500.00 of capital, and the interest of the month."""
    for month, amount in (("08", -62000), ("09", -61500), ("10", -61000)):
        split(trading, amount, {**CAPITAL, "amount": "500.00"}, INTEREST, date=f"2026-{month}-02")
    found = proposed_split(trading, -60500)
    assert amounts(found) == {"not_pnl": ("out", "500.00"), "interestOnBankOtherLoans": ("out", "105.00")}
    assert found is not None
    assert found["score"] == 75
    assert found["reason"] == (
        "3 of 3 lines of TESCO STORES were split with the same amounts but for the rest, last on 2 Oct 2026."
    )


def test_a_line_that_the_fixed_part_does_not_fit_is_not_proposed(trading: Trading) -> None:
    for amount in (-62000, -61500):
        split(trading, amount, {**CAPITAL, "amount": "500.00"}, INTEREST)
    assert proposed_split(trading, -50000) is None


def test_charges_that_a_provider_kept_are_in_shares(trading: Trading) -> None:
    """95.00 was 100.00 of turnover in and 5.00 out."""
    charges = {"category": "financeCharges", "direction": "out"}
    split(trading, 9500, {"category": "turnover", "amount": "100.00"}, {**charges, "amount": "5.00"})
    split(trading, 19000, {"category": "turnover", "amount": "200.00"}, {**charges, "amount": "10.00"})
    assert amounts(proposed_split(trading, 4750)) == {"turnover": ("in", "50.00"), "financeCharges": ("out", "2.50")}


def test_parts_add_up_to_the_line_whatever_is_rounded(trading: Trading) -> None:
    thirds = ("adminCosts", "advertisingCosts", "professionalFees")
    split(trading, -300, *({"category": category, "amount": "1.00"} for category in thirds))
    found = amounts(proposed_split(trading, -1000))
    assert sorted(amount for _, amount in found.values()) == ["3.33", "3.33", "3.34"]


def test_lines_of_one_part_make_it_less_sure(trading: Trading) -> None:
    split(trading, -61000, {**CAPITAL, "amount": "500.00"}, INTEREST)
    split(trading, -61000, {**CAPITAL, "amount": "500.00"}, INTEREST)
    split(trading, -5000, INTEREST)
    found = proposed_split(trading, -61000)
    assert found is not None
    assert found["score"] == 50
    assert found["reason"].startswith("2 of 3 lines")


def test_its_parts_carry_code_and_vat(trading: Trading) -> None:
    split(trading, -12000, {"category": "adminCosts", "amount": "60.00", "vatCode": "standard"}, INTEREST)
    found = proposed_split(trading, -24000)
    assert found is not None
    vats = {part["category"]: (part["vatCode"], part["vatAmount"]) for part in found["parts"]}
    assert vats == {"adminCosts": ("standard", "20.00"), "interestOnBankOtherLoans": (None, "0.00")}


def test_what_it_proposes_can_be_allocated(trading: Trading) -> None:
    split(trading, -61000, {**CAPITAL, "amount": "500.00"}, INTEREST)
    line = trading.line(trading.current, -30500)
    (found,) = [one for one in proposed(trading, line) if one["kind"] == "split"]
    parts = [{name: value for name, value in part.items() if value is not None} for part in found["parts"]]
    trading.post("allocate", bankTransactionId=line, parts=parts)
    assert trading.left(line) == 0


@pytest.mark.parametrize("why", ["other way", "allocated in part", "archived", "in part before"])
def test_what_is_no_habit(trading: Trading, why: str) -> None:
    if why == "in part before":
        half = trading.line(trading.current, -61000)
        trading.post(
            "allocate", bankTransactionId=half, parts=[{**CAPITAL, "amount": "500.00"}, {**INTEREST, "amount": "1.00"}]
        )
    else:
        split(trading, -61000, {**CAPITAL, "amount": "500.00"}, INTEREST)
    line = trading.line(trading.current, 61000 if why == "other way" else -61000)
    if why == "allocated in part":
        trading.part(line, amount="1.00")
    if why == "archived":
        archive = "UPDATE businesses SET archived_at = :now WHERE org_id = :org_id"
        trading.write(lambda tx: tx.run(archive))
    assert [one for one in proposed(trading, line) if one["kind"] == "split"] == []
