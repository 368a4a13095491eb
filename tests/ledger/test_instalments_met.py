"""Which instalments payments meet (Domain C2), against schedules that are worked out here by hand.

100,000.00 at 6 % is 500.00 of interest a month; with 644.30 a month it is 500.00, 499.28, 498.55.
"""

import calendar
import datetime
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

import pytest

from gatewayd.ledger.loans.amortising import Borne, InterestEntered, Loan, MortgageType, Rate, borne

LENT, MONTHLY = 100_000_00, 644_30
YEAR = 14  # payments: a year and a bit


def loan(type_: MortgageType = "interest_only", start: str = "2025-01-01", **values: object) -> Loan:
    payment = MONTHLY if type_ == "repayment" else None
    made = Loan(type_, LENT, start, None, payment, (Rate(start, "6"),), (), None)
    return made._replace(**values)  # type: ignore[arg-type]


def on(year: int, month: int, day: int) -> str:
    """A day of a month, its last where it has no such one. Months go on after 12."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return datetime.date(year, month, min(day, calendar.monthrange(year, month)[1])).isoformat()


def schedule(type_: MortgageType) -> Iterator[tuple[int, int]]:
    """Interest and capital of each month, in pennies, as a lender's table has them."""
    owed = Decimal(LENT)
    while True:
        interest = (owed * 6 / 100 / 12).quantize(Decimal(1), ROUND_HALF_UP)
        capital = Decimal(0) if type_ == "interest_only" else MONTHLY - interest
        owed -= capital
        yield int(interest), int(capital)


class Payments:
    """Payments of a loan as they are entered, one after the other."""

    def __init__(self, loan_: Loan) -> None:
        self._loan = loan_
        self._entered: list[InterestEntered] = []

    def pay(self, day: str, amount: int) -> Borne:
        made = borne(self._loan, sorted(self._entered, key=lambda one: one.date), day, amount)
        assert made.interest + made.capital + made.over == amount
        self.say(day, made.interest, stated=False)
        return made

    def say(self, day: str, interest: int, *, stated: bool = True) -> None:
        if interest:
            self._entered.append(InterestEntered(day, interest, stated))


@pytest.mark.parametrize("type_", ["interest_only", "repayment"])
@pytest.mark.parametrize("due", range(1, 32))
def test_paid_on_any_day_of_the_month_each_payment_bears_an_instalment(type_: MortgageType, due: int) -> None:
    """Due on each day from the 1st to the 31st and paid on each: the kth payment is the kth row of the table."""
    for day in range(1, 32):
        payments, table = Payments(loan(type_, on(2025, 1, due))), schedule(type_)
        for month in range(2, 2 + YEAR):
            interest, capital = next(table)
            made = payments.pay(on(2025, month, day), interest + capital)
            assert (made.interest, made.capital, made.over) == (interest, capital, 0), (due, day, month)


def test_an_interest_only_loan_paid_on_the_16th_repays_nothing() -> None:
    payments = Payments(loan())
    made = [payments.pay(on(2025, month, 16), 500_00) for month in range(2, 14)]
    assert (sum(one.interest for one in made), sum(one.capital for one in made)) == (6_000_00, 0)


@pytest.mark.parametrize("type_", ["interest_only", "repayment"])
@pytest.mark.parametrize("missed", range(2, 8))
def test_a_payment_that_was_missed_is_met_by_the_next_one(type_: MortgageType, missed: int) -> None:
    payments, table = Payments(loan(type_)), [row for row, _ in zip(schedule(type_), range(YEAR), strict=False)]
    for month in range(2, 2 + YEAR):
        if month == missed:
            continue
        rows = [table[month - 2]] if month != missed + 1 else table[month - 3 : month - 1]
        interest, capital = (sum(row[part] for row in rows) for part in (0, 1))
        made = payments.pay(on(2025, month, 3), interest + capital)
        assert (made.interest, made.capital, made.over) == (interest, capital, 0)


def test_a_part_of_a_payment_is_interest_first_and_the_next_payment_takes_what_is_left() -> None:
    payments = Payments(loan("repayment"))
    assert payments.pay("2025-02-01", 300_00) == (300_00, 0, 0, True)
    assert payments.pay("2025-02-10", 250_00) == (200_00, 50_00, 0, True)
    assert payments.pay("2025-03-01", 644_30) == (499_28, 145_02, 0, True)


def test_what_an_instalment_does_not_take_is_over() -> None:
    assert Payments(loan()).pay("2025-02-01", 700_00) == (500_00, 0, 200_00, False)
    payments = Payments(loan("repayment"))
    payments.pay("2025-02-01", MONTHLY)
    assert payments.pay("2025-02-10", 5_000_00) == (0, 0, 5_000_00, True)
    assert payments.pay("2025-03-01", MONTHLY) == (499_28, 145_02, 0, True)


def test_a_payment_that_finds_nothing_due_is_of_what_falls_due_next() -> None:
    payments = Payments(loan())
    assert payments.pay("2025-01-04", 500_00) == (500_00, 0, 0, False)  # the first since the loan began
    assert payments.pay("2025-01-10", 500_00) == (0, 0, 500_00, False)  # a second one, too early for March
    assert payments.pay("2025-02-13", 500_00).interest == 500_00  # for March: the first since February's day
    assert payments.pay("2025-03-16", 500_00).interest == 500_00  # for April
    assert payments.pay("2025-03-17", 500_00).interest == 0  # April is met


def test_a_payment_before_the_loan_bears_nothing() -> None:
    assert Payments(loan()).pay("2024-12-31", 500_00) == (0, 0, 500_00, False)
    assert Payments(loan("repayment")).pay("2024-12-31", 500_00) == (0, 0, 500_00, True)


def test_at_its_end_an_interest_only_loan_is_repaid() -> None:
    redeemed = loan(redeemed="2025-06-20")
    assert Payments(redeemed).pay("2025-06-20", 100_500_00) == (500_00, 0, 100_000_00, True)
    assert Payments(redeemed).pay("2025-06-04", 700_00) == (500_00, 0, 200_00, False)
    ends = loan(term_months=6)
    assert Payments(ends).pay("2025-07-01", 100_500_00) == (500_00, 0, 100_000_00, True)
    assert not Payments(ends).pay("2025-06-15", 900_00).repays


def test_a_first_payment_is_of_the_last_instalment_for_nobody_entered_those_before() -> None:
    payments, rows = Payments(loan("repayment", "2020-01-01")), schedule("repayment")
    table = [next(rows) for _ in range(64)]
    first = payments.pay("2025-03-10", MONTHLY)  # the 62nd
    assert (first.interest, first.capital) == table[61]
    second = payments.pay("2025-04-10", MONTHLY)
    assert (second.interest, second.capital) == table[62]


def test_a_first_payment_may_be_of_the_first_few_where_it_is_as_much() -> None:
    assert Payments(loan()).pay("2025-03-10", 1_000_00) == (1_000_00, 0, 0, False)
    assert Payments(loan()).pay("2025-04-10", 1_000_00) == (1_000_00, 0, 0, False)  # March and April
    assert Payments(loan()).pay("2025-03-10", 999_99) == (500_00, 0, 499_99, False)
    assert Payments(loan()).pay("2025-05-10", 1_000_00) == (500_00, 0, 500_00, False)  # four: those before were paid
    assert Payments(loan("repayment")).pay("2025-03-10", 2 * MONTHLY) == (999_28, 289_32, 0, True)


def test_what_fell_due_more_than_a_year_before_is_not_looked_for() -> None:
    payments = Payments(loan())
    payments.pay("2025-02-01", 500_00)
    assert payments.pay("2027-02-01", 20_000_00).interest == 13 * 500_00  # 1 February 2026 to 1 February 2027


def test_the_lenders_word_meets_an_instalment() -> None:
    payments = Payments(loan("repayment"))
    payments.say("2025-02-01", 475_00)
    assert payments.pay("2025-02-05", 100_00) == (25_00, 75_00, 0, True)  # it may be told in two parts
    payments = Payments(loan())
    payments.say("2025-02-01", 475_00)
    assert payments.pay("2025-03-01", 500_00) == (500_00, 0, 0, False)  # and is not asked for again
    payments.say("2025-04-01", 510_00)
    assert payments.pay("2025-05-01", 500_00) == (500_00, 0, 0, False)


def test_the_word_of_a_year_meets_its_instalments() -> None:
    payments = Payments(loan())
    payments.pay("2025-02-01", 500_00)
    payments.say("2026-02-01", 6_000_00)
    assert payments.pay("2026-03-01", 500_00) == (500_00, 0, 0, False)


def test_what_was_taken_back_is_waited_for_again() -> None:
    payments = Payments(loan())
    payments.pay("2025-02-01", 500_00)
    payments.say("2025-02-03", -500_00, stated=False)
    assert payments.pay("2025-02-10", 500_00) == (500_00, 0, 0, False)


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_payments_are_entered_in_any_order(order: str) -> None:
    payments = Payments(loan())
    days = [on(2025, month, 16) for month in range(2, 14)]
    for day in days if order == "forwards" else reversed(days):
        assert payments.pay(day, 500_00) == (500_00, 0, 0, False)


def test_what_was_entered_for_a_later_day_is_not_taken_twice() -> None:
    payments = Payments(loan())
    payments.pay("2025-02-10", 500_00)
    payments.pay("2025-03-01", 500_00)
    assert payments.pay("2025-02-08", 500_00) == (0, 0, 500_00, False)
    assert payments.pay("2025-02-27", 500_00) == (0, 0, 500_00, False)
    payments.say("2025-03-02", -500_00, stated=False)
    assert payments.pay("2025-02-27", 500_00) == (500_00, 0, 0, False)


def test_a_loan_of_which_nobody_said_what_is_repaid_takes_the_rest_as_capital() -> None:
    payments = Payments(loan("part_and_part"))
    assert payments.pay("2025-02-01", 800_00) == (500_00, 300_00, 0, True)
    assert payments.pay("2025-04-01", 1_600_00) == (1_000_00, 600_00, 0, True)


def test_without_interest_all_of_it_is_capital() -> None:
    free = loan("repayment", rates=(Rate("2025-01-01", "0"),))
    assert Payments(free).pay("2025-02-01", MONTHLY) == (0, MONTHLY, 0, True)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_no_day_is_too_far(day: str) -> None:
    assert borne(loan(), [], day, 1_00) == (0, 0, 1_00, False)
    assert borne(loan(term_months=600, start="9980-01-01"), [], day, 1_00).interest == 0
