"""What is owed on a loan, and the interest in what is paid, against figures by hand and an oracle month by month."""

import datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.clock import months_later
from gatewayd.ledger.loans.amortising import (
    MONTHS_KEPT,
    Balance,
    Instalment,
    Loan,
    MortgageType,
    Rate,
    balance_on,
    estimate_on,
    instalments,
    owed_by_month,
    rate_on,
    rates_of,
)

START = "2024-03-15"


def loan(
    type_: MortgageType = "repayment",
    *rates: tuple[str, str],
    original: int = 200_000_00,
    start: str = START,
    term_months: int | None = None,
    payment: int | None = None,
    balances: tuple[tuple[str, int], ...] = (),
    redeemed: str | None = None,
) -> Loan:
    """A loan of 200,000.00 at 6 % from 15 March 2024 on, unless other figures are given."""
    said = tuple(Balance(*balance) for balance in balances)
    agreed = tuple(Rate(*rate) for rate in rates or ((start, "6"),))
    return Loan(type_, original, start, term_months, payment, agreed, said, redeemed)


# -- by hand


def test_a_month_bears_interest_on_its_balance_and_the_rest_of_the_payment_repays() -> None:
    paid = list(instalments(loan(payment=1_500_00), START, "2024-06-15"))
    # 200,000.00 x 6 % / 12 = 1,000.00; 199,500.00: 997.50; 198,997.50: 994.9875
    assert paid == [
        Instalment("2024-04-15", 1_000_00, 500_00),
        Instalment("2024-05-15", 997_50, 502_50),
        Instalment("2024-06-15", 994_99, 505_01),
    ]
    assert estimate_on(loan(payment=1_500_00), "2024-06-14") == 198_997_50
    assert estimate_on(loan(payment=1_500_00), "2024-06-15") == 198_492_49


def test_nothing_is_owed_before_the_start_and_all_of_it_on_that_day() -> None:
    assert estimate_on(loan(payment=1_500_00), "2024-03-14") == 0
    assert estimate_on(loan(payment=1_500_00), START) == 200_000_00
    assert estimate_on(loan(payment=1_500_00), "2024-04-14") == 200_000_00


def test_interest_alone_leaves_the_balance_as_it_is() -> None:
    buy_to_let = loan("interest_only", (START, "4.5"), original=150_000_00, payment=562_50)
    assert estimate_on(buy_to_let, "2044-01-01") == 150_000_00
    assert list(instalments(buy_to_let, "2025-01-01", "2025-01-31")) == [Instalment("2025-01-15", 562_50, 0)]


def test_without_a_payment_the_term_says_what_is_paid() -> None:
    # 599.5505... a month repays 100,000 at 6 % in 30 years: the textbook's 599.55, rounded up
    of_term = loan(original=100_000_00, term_months=360)
    paid = list(instalments(of_term, START, "2054-03-15"))
    assert (paid[0].interest, paid[0].capital) == (500_00, 99_56)
    assert len(paid) == 360
    assert {part.interest + part.capital for part in paid[:-1]} == {599_56}
    assert paid[-1].interest + paid[-1].capital < 599_56
    assert estimate_on(of_term, "2054-03-14") > 0
    assert estimate_on(of_term, "2054-03-15") == 0


def test_what_rounding_leaves_is_paid_at_the_end_of_the_term() -> None:
    # 69.96... a month repays 8.00 at 9 % in a year: 70, and twelve months' rounded interest leaves 2 more
    small = loan("repayment", (START, "9"), original=8_00, term_months=12)
    paid = list(instalments(small, START, "2030-01-01"))
    assert [part.interest + part.capital for part in paid] == [70] * 11 + [72]
    assert sum(part.capital for part in paid) == 8_00
    assert [estimate_on(small, day) for day in ("2025-03-14", "2025-03-15", "2025-04-15")] == [71, 0, 0]


def test_without_interest_the_term_divides_the_loan() -> None:
    free = loan("repayment", (START, "0"), original=100_00, term_months=3)
    assert list(instalments(free, START, "2030-01-01")) == [
        Instalment("2024-04-15", 0, 33_34),
        Instalment("2024-05-15", 0, 33_34),
        Instalment("2024-06-15", 0, 33_32),
    ]


@pytest.mark.parametrize("type_", ["repayment", "part_and_part"])
def test_a_loan_of_which_neither_term_nor_payment_is_known_is_not_repaid(type_: MortgageType) -> None:
    term = 300 if type_ == "part_and_part" else None  # the term alone doesn't say how much of it is repaid
    assert estimate_on(loan(type_, term_months=term), "2026-03-15") == 200_000_00


def test_part_and_part_goes_by_its_payment() -> None:
    assert estimate_on(loan("part_and_part", payment=1_100_00), "2024-04-15") == 199_900_00


def test_a_payment_below_the_interest_does_not_raise_the_balance() -> None:
    low = loan(payment=900_00)
    assert list(instalments(low, "2024-04-01", "2024-04-30")) == [Instalment("2024-04-15", 1_000_00, 0)]
    assert estimate_on(low, "2030-01-01") == 200_000_00


def test_a_rate_holds_for_the_months_that_begin_on_its_day_or_later() -> None:
    fixed = loan("interest_only", (START, "3"), ("2026-03-15", "6"))
    assert [part.interest for part in instalments(fixed, "2026-03-01", "2026-05-01")] == [500_00, 1_000_00]
    between = loan("interest_only", (START, "3"), ("2026-03-16", "6"))
    assert [part.interest for part in instalments(between, "2026-03-01", "2026-05-20")] == [500_00, 500_00, 1_000_00]
    assert [rate_on(fixed, day) for day in ("2020-01-01", "2026-03-14", "2026-03-15")] == ["3", "3", "6"]


def test_with_a_new_rate_the_term_stays_and_the_payment_changes() -> None:
    changed = loan("repayment", (START, "3"), ("2025-03-15", "6"), original=100_000_00, term_months=120)
    paid = list(instalments(changed, START, "2034-03-15"))
    assert len(paid) == 120
    assert len({part.interest + part.capital for part in paid[:12]}) == 1
    assert paid[11].interest + paid[11].capital < paid[12].interest + paid[12].capital
    assert sum(part.capital for part in paid) == 100_000_00


def test_the_months_go_on_from_what_the_lender_said() -> None:
    said = loan(payment=1_500_00, balances=(("2025-01-20", 150_000_00),))
    assert estimate_on(said, "2025-01-20") == 150_000_00
    assert estimate_on(said, "2025-02-14") == 150_000_00
    assert estimate_on(said, "2025-02-15") == 149_250_00  # 150,000.00 x 6 % / 12 = 750.00 of 1,500.00
    assert balance_on(said, "2025-06-01") == 150_000_00  # the lender's word, until there is another


def test_the_last_word_counts_whatever_was_computed() -> None:
    said = loan(payment=1_500_00, balances=(("2025-01-20", 150_000_00), ("2025-03-20", 100_000_00)))
    days = ("2025-03-19", "2025-03-20", "2025-04-14", "2025-04-15")
    # 149,250.00 is owed from 15 February on; 746.25 of interest in March, 500.00 in April
    assert [estimate_on(said, day) for day in days] == [148_496_25, 100_000_00, 100_000_00, 99_000_00]
    assert [balance_on(said, day) for day in days] == [150_000_00, 100_000_00, 100_000_00, 100_000_00]
    assert balance_on(loan(payment=1_500_00), START) == 200_000_00


def test_what_was_said_on_the_day_of_a_payment_is_after_it() -> None:
    said = loan(payment=1_500_00, balances=(("2025-01-15", 150_000_00),))
    assert estimate_on(said, "2025-02-15") == 149_250_00


def test_the_months_before_the_first_word_lead_to_it() -> None:
    said = loan(payment=1_500_00, balances=(("2025-03-15", 170_000_00),))
    before = estimate_on(said, "2025-03-14")
    # before + before x 0.5 % - 1,500.00 = 170,000.00
    assert before == 170_646_77
    assert balance_on(said, "2025-03-14") == before
    assert balance_on(said, "2025-03-15") == 170_000_00


def test_one_month_before_the_first_word_leads_to_it_too() -> None:
    said = loan(payment=1_500_00, balances=(("2024-04-15", 170_000_00),))
    assert estimate_on(said, START) == 170_646_77


def test_the_months_before_the_first_word_bear_their_own_rates() -> None:
    rates = ((START, "3"), ("2024-09-15", "6"))
    said = loan("repayment", *rates, payment=1_500_00, balances=(("2025-03-15", 170_000_00),))
    owed = Decimal(estimate_on(said, START))
    for percent in [3] * 6 + [6] * 6:
        owed += owed * percent / 1200 - 1_500_00
    assert abs(owed - 170_000_00) < 12  # a penny each month


def test_without_a_payment_the_months_before_the_first_word_are_a_share_of_the_loan() -> None:
    plain = loan(original=100_000_00, term_months=360)
    half = estimate_on(plain, "2025-03-15") // 2
    said = plain._replace(balances=(Balance("2025-03-15", half),))
    for day in (START, "2024-06-15", "2025-03-14"):
        assert abs(2 * estimate_on(said, day) - estimate_on(plain, day)) < 24
    over = plain._replace(term_months=12, balances=(Balance("2025-06-15", 5_00),))  # computed, it was repaid
    assert estimate_on(over, "2025-03-14") == estimate_on(over._replace(balances=()), "2025-03-14")


@pytest.mark.parametrize("type_", ["repayment", "interest_only"])
def test_that_nothing_is_owed_any_more_says_nothing_of_before(type_: MortgageType) -> None:
    repaid = loan(type_, payment=1_500_00, balances=(("2025-03-15", 0),))
    assert estimate_on(repaid, "2025-03-14") == estimate_on(repaid._replace(balances=()), "2025-03-14") > 0
    assert estimate_on(repaid, "2025-03-15") == 0


def test_up_to_a_word_of_the_first_month_all_of_it_is_owed() -> None:
    said = loan("interest_only", balances=(("2024-03-20", 190_000_00),))
    assert [estimate_on(said, day) for day in ("2024-03-19", "2024-03-20")] == [200_000_00, 190_000_00]
    assert [part.interest for part in instalments(said, START, "2024-04-30")] == [950_00]


def test_the_months_before_the_first_word_never_owe_more_than_was_lent() -> None:
    said = loan(payment=5_000_00, balances=(("2026-03-15", 190_000_00),))
    assert estimate_on(said, START) == 200_000_00


def test_interest_alone_was_what_it_is_before_the_first_word() -> None:
    said = loan("interest_only", balances=(("2026-03-15", 190_000_00),))
    assert estimate_on(said, "2025-01-01") == 190_000_00


def test_from_the_day_of_its_redemption_nothing_is_owed() -> None:
    redeemed = loan(payment=1_500_00, redeemed="2024-05-15", balances=(("2024-04-20", 199_000_00),))
    assert estimate_on(redeemed, "2024-05-14") == 199_000_00
    assert estimate_on(redeemed, "2024-05-15") == 0
    assert balance_on(redeemed, "2024-05-14") == 199_000_00
    assert balance_on(redeemed, "2024-05-15") == 0
    assert [part.due for part in instalments(redeemed, START, "2030-01-01")] == ["2024-04-15", "2024-05-15"]


def test_a_loan_of_the_31st_is_paid_on_the_last_day_of_a_shorter_month() -> None:
    paid = instalments(loan("interest_only", start="2025-01-31"), "2025-01-01", "2025-05-30")
    assert [part.due for part in paid] == ["2025-02-28", "2025-03-31", "2025-04-30"]


def test_a_range_begins_with_its_first_day_and_ends_with_its_last() -> None:
    paid = loan(payment=1_500_00)
    assert [part.due for part in instalments(paid, "2024-04-15", "2024-05-15")] == ["2024-04-15", "2024-05-15"]
    assert [part.due for part in instalments(paid, "2024-04-16", "2024-05-14")] == []


def test_a_rate_that_ends_reverts_where_nothing_else_is_known() -> None:
    assert rates_of([("2024-03-15", "5")], "2026-03-14", "7.5") == (Rate("2024-03-15", "5"), Rate("2026-03-15", "7.5"))
    known = [("2026-03-15", "6"), ("2024-03-15", "5")]
    assert rates_of(known, "2026-03-14", "7.5") == (Rate("2024-03-15", "5"), Rate("2026-03-15", "6"))
    for ends, reversion in ((None, "7.5"), ("2026-03-14", None)):
        assert rates_of([("2024-03-15", "5")], ends, reversion) == (Rate("2024-03-15", "5"),)


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_no_day_is_too_far(day: str) -> None:
    far = loan("interest_only", (START, "3"), ("9999-12-31", "6"))
    assert estimate_on(far, day) in (0, 200_000_00)
    assert balance_on(far, day) in (0, 200_000_00)
    assert list(instalments(far, day, day)) == []


# -- at random, against an oracle

DAYS = st.dates(datetime.date(2020, 1, 1), datetime.date(2034, 12, 31)).map(datetime.date.isoformat)
PERCENT = st.integers(0, 1500).map(lambda n: str(Decimal(n) / 100))


@st.composite
def loans(draw: st.DrawFn) -> Loan:
    start = draw(st.dates(datetime.date(2020, 1, 1), datetime.date(2026, 12, 31))).isoformat()
    later = DAYS.filter(lambda day: day >= start)
    rates = {start: draw(PERCENT), **draw(st.dictionaries(later, PERCENT, max_size=3))}
    said = draw(st.dictionaries(later, st.integers(0, 3_000_000_00), max_size=3))
    return Loan(
        draw(st.sampled_from(["repayment", "repayment", "interest_only", "part_and_part"])),
        draw(st.integers(1, 3_000_000_00)),
        start,
        draw(st.none() | st.integers(1, 120)),
        draw(st.none() | st.integers(1, 40_000_00)),
        tuple(Rate(*rate) for rate in sorted(rates.items())),
        tuple(Balance(*balance) for balance in sorted(said.items())),
        draw(st.none() | later),
    )


def _due(loan_: Loan, month: int) -> str:
    return months_later(datetime.date.fromisoformat(loan_.start), month).isoformat()


def _annuity(balance: int, percent: str, months: int) -> int:
    """The least payment that leaves nothing after so many months of exact interest."""
    rate = Decimal(percent) / 1200
    if rate == 0:
        return -(-balance // months)
    exact = balance * rate / (1 - (1 + rate) ** -months)
    return int(exact.to_integral_value("ROUND_CEILING"))


def oracle(loan_: Loan, until: str, opening: int) -> tuple[list[Instalment], int]:
    """Month by month in decimals, in the words of the domain page: what was paid, and what is owed at the end."""
    owed, month, payment, last_rate = opening, 0, loan_.payment, None
    paid: list[Instalment] = []
    amortised = loan_.type != "interest_only" and (
        payment is not None or (loan_.type == "repayment" and loan_.term_months is not None)
    )
    said = list(loan_.balances)
    while True:
        begins, due = _due(loan_, month), _due(loan_, month + 1)
        words = [word for word in said if word.date < due and word.date <= until]
        said = said[len(words) :]
        starts_anew = any(word.date >= begins for word in words)
        if words:
            owed = words[-1].amount
        if due > until or (loan_.redeemed is not None and due > loan_.redeemed):
            return paid, owed
        in_force = [rate for rate in loan_.rates if rate.from_date <= begins][-1]
        over = loan_.term_months is not None and month >= loan_.term_months
        if amortised and loan_.payment is None and (starts_anew or in_force != last_rate):
            payment = 0 if over else _annuity(owed, in_force.percent, (loan_.term_months or 0) - month)
        last_rate = in_force
        interest = int((owed * Decimal(in_force.percent) / 1200).quantize(Decimal(1), ROUND_HALF_UP))
        capital = min(owed, max(0, (payment or 0) - interest)) if amortised else 0
        if loan_.payment is None and amortised and month + 1 == loan_.term_months:
            capital = owed
        if owed:
            paid.append(Instalment(due, interest, capital))
        owed -= capital
        month += 1


@given(loans(), DAYS)
def test_it_is_what_the_months_come_to(loan_: Loan, day: str) -> None:
    if day < loan_.start:
        assert estimate_on(loan_, day) == 0
        return
    opening = estimate_on(loan_._replace(redeemed=None, balances=()), loan_.start)
    assert opening == loan_.original
    if loan_.balances and loan_.balances[0].date > loan_.start:
        opening = estimate_on(loan_._replace(redeemed=None), loan_.start)
    paid, owed = oracle(loan_, day, opening)
    assert list(instalments(loan_, "0001-01-01", day)) == paid
    assert estimate_on(loan_, day) == (0 if loan_.redeemed is not None and loan_.redeemed <= day else owed)


@given(loans(), st.integers(0, 200))
def test_what_is_kept_by_month_is_what_the_months_come_to(loan_: Loan, month: int) -> None:
    day, alive = _due(loan_, month), loan_._replace(redeemed=None)
    opening = estimate_on(alive, loan_.start)
    if loan_.balances and loan_.balances[0].date == loan_.start:
        opening = loan_.original
    before = tuple(said for said in loan_.balances if said.date < day)
    kept = owed_by_month(loan_)
    assert (kept[month] if month < len(kept) else kept[-1]) == oracle(alive._replace(balances=before), day, opening)[1]


def test_what_is_kept_ends_where_nothing_changes_and_after_fifty_years() -> None:
    assert owed_by_month(loan("interest_only")) == [200_000_00]
    assert len(owed_by_month(loan(term_months=25))) == 26
    forever = owed_by_month(loan(term_months=9_000))
    assert len(forever) == MONTHS_KEPT == 600
    assert forever[-1] == balance_on(loan(term_months=9_000), _due(loan(), 599))


@given(loans(), DAYS, DAYS)
def test_a_range_is_what_falls_into_it(loan_: Loan, one: str, other: str) -> None:
    from_date, to_date = sorted([one, other])
    whole = list(instalments(loan_, "0001-01-01", "2035-01-01"))
    assert list(instalments(loan_, from_date, to_date)) == [p for p in whole if from_date <= p.due <= to_date]


@given(loans(), DAYS)
def test_nothing_is_owed_to_the_borrower(loan_: Loan, day: str) -> None:
    assert estimate_on(loan_, day) >= 0
    assert balance_on(loan_, day) >= 0
    for part in instalments(loan_, "0001-01-01", day):
        assert part.interest >= 0
        assert part.capital >= 0


@given(loans())
def test_what_is_repaid_is_what_is_no_longer_owed(loan_: Loan) -> None:
    plain = loan_._replace(balances=(), redeemed=None)
    owed = plain.original
    for part in instalments(plain, plain.start, "2035-01-01"):
        owed -= part.capital
        assert estimate_on(plain, part.due) == owed


@given(loans())
def test_the_estimate_reaches_the_first_word(loan_: Loan) -> None:
    if not loan_.balances or loan_.balances[0].date == loan_.start:
        return
    first = loan_.balances[0]
    on_its_day = estimate_on(loan_._replace(redeemed=None), loan_.start)
    assert on_its_day <= loan_.original
    paid, _ = oracle(loan_._replace(balances=(), redeemed=None), first.date, on_its_day)
    reached = on_its_day - sum(part.capital for part in paid)
    if on_its_day < loan_.original and first.amount > 0 and paid and paid[-1].capital < reached:
        # From the sum that was lent and from the estimate, each month rounds a payment by a penny and its interest by
        # half of one; and what was rounded bears interest.
        growth = 1 + max(Decimal(rate.percent) for rate in loan_.rates) / 1200
        assert abs(reached - first.amount) <= sum(
            (3 * growth**month for month in range(len(paid))), growth ** len(paid)
        )
