"""What is made of a request whose amounts are wrong, so that what else is wrong can be told beside them."""

import msgspec
import pytest

from gatewayd.contract.faults import made_of
from gatewayd.errors import FieldError, Problem, invalid, not_found
from gatewayd.money import Money


class Berth(msgspec.Struct, frozen=True, rename="camel"):
    """A request with amounts of which one has to be there."""

    night_fee: str
    winter_fee: str | None = None
    deposit: str | msgspec.UnsetType = msgspec.UNSET


def fees(request: Berth) -> tuple[object, ...]:
    """The amounts one after the other, as a row takes them: the first that is wrong ends it."""
    fees = []
    for path, text in (
        ("nightFee", request.night_fee),
        ("winterFee", request.winter_fee),
        ("deposit", request.deposit),
    ):
        try:
            fees.append(Money.of(text, "GBP") if isinstance(text, str) else text)
        except ValueError as error:
            raise invalid(FieldError(path, "invalid_decimal", str(error))) from None
    return tuple(fees)


def test_amounts_that_are_right_are_taken() -> None:
    errors: list[FieldError] = []
    assert made_of(errors, fees, Berth("12.00")) == (Money(1200, "GBP"), None, msgspec.UNSET)
    assert errors == []


def test_all_amounts_that_are_wrong_are_told_and_left_out() -> None:
    errors: list[FieldError] = []
    made = made_of(errors, fees, Berth("12.001", "0.001", "5.005"))
    assert made == (Money(100, "GBP"), None, msgspec.UNSET)
    assert [error.path for error in errors] == ["nightFee", "winterFee", "deposit"]


def test_what_is_no_field_of_the_request_is_raised() -> None:
    def refuse(request: Berth) -> None:
        raise invalid(FieldError("lines[0].fee", "required", "Needed."))

    with pytest.raises(Problem, match="lines"):
        made_of([], refuse, Berth("1"))


def test_another_problem_is_raised() -> None:
    def refuse(request: Berth) -> None:
        raise not_found("berth")

    with pytest.raises(Problem, match="not_found"):
        made_of([], refuse, Berth("1"))
