"""Payments of mortgages that are split when they are entered (Domain C2), worked by hand.

Of 100,000.00 at 6 % since 6 April 2025, with 644.30 a month, the interest is 500.00, then 499.28 of 99,855.70, then
498.55 of 99,710.68.
"""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.clock import months_later
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Entry, Part
from gatewayd.ledger.allocating.allocations import ALLOCATIONS
from gatewayd.ledger.calendar import period_locks
from gatewayd.money import half_up
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.let_books import LetBooks
from tests.support.store import MemoryStore

WISH: dict[str, Any] = {"category": "not_pnl", "purpose": "loan_payment"}
MONTHLY = 644_30


@pytest.fixture
def books(store: MemoryStore) -> LetBooks:
    return LetBooks(store)


def loan(books: LetBooks, house: str | None = None, **fields: Any) -> str:
    return books.mortgage(house or books.property(), **{"monthly_payment": MONTHLY, **fields})


def paid(books: LetBooks, mortgage: str, date: str, amount: int = MONTHLY, **fields: Any) -> list[Allocation]:
    """What a payment out of the bank is."""
    line = books.line(books.account(books.owner), -amount, date=date)
    return books.allocate(line, Part(**WISH, mortgage_id=mortgage, **fields))


def amounts(rows: list[Allocation]) -> list[tuple[str, str]]:
    return [(row.purpose or row.category, str(row.amount)) for row in rows]


def split(interest: str, capital: str) -> list[tuple[str, str]]:
    return [("residentialFinancialCost", interest), ("loan_capital", capital)]


# -- how much is interest


def test_a_payment_is_interest_and_capital(books: LetBooks) -> None:
    house = books.property()
    mortgage = loan(books, house)
    rows = paid(books, mortgage, "2025-05-06")
    assert amounts(rows) == split("500.00", "144.30")
    for row in rows:
        assert (row.property_id, row.business_id, row.mortgage_id) == (house, books.lets, mortgage)
        assert (row.direction, row.date, row.source_type) == ("out", "2025-05-06", "bank")
    assert [row.interest_source for row in rows] == ["computed", None]
    assert books.line_of(rows[0].source_id or "").unallocated == 0


@pytest.mark.parametrize(
    ("date", "interest", "capital"),
    [
        ("2025-06-06", "499.28", "145.02"),
        ("2025-06-08", "499.28", "145.02"),  # a Sunday is no day to pay
        ("2025-05-22", "500.00", "144.30"),  # late by more than it would be early
        ("2025-07-06", "498.55", "145.75"),
        ("2025-04-21", "500.00", "144.30"),
    ],
)
def test_a_first_one_is_of_the_last_instalment_that_is_due(
    books: LetBooks, date: str, interest: str, capital: str
) -> None:
    assert amounts(paid(books, loan(books), date)) == split(interest, capital)


def test_a_late_payment_does_not_take_the_next_ones_interest(books: LetBooks) -> None:
    mortgage = loan(books)
    assert amounts(paid(books, mortgage, "2025-06-09")) == split("499.28", "145.02")
    assert amounts(paid(books, mortgage, "2025-07-06")) == split("498.55", "145.75")


def test_what_is_paid_over_in_a_month_is_capital(books: LetBooks) -> None:
    mortgage = loan(books)
    paid(books, mortgage, "2025-05-06")
    assert amounts(paid(books, mortgage, "2025-05-15", 5_000_00)) == [("loan_capital", "5000.00")]


def test_before_the_loan_all_of_it_is_capital(books: LetBooks) -> None:
    mortgage = loan(books)
    assert amounts(paid(books, mortgage, "2024-12-01", 100_00)) == [("loan_capital", "100.00")]


def test_after_the_redemption_all_of_it_is_capital(books: LetBooks) -> None:
    mortgage = loan(books, redeemed_date="2025-07-06")
    assert amounts(paid(books, mortgage, "2025-07-06")) == split("498.55", "145.75")
    assert amounts(paid(books, mortgage, "2025-08-06")) == [("loan_capital", "644.30")]


def test_a_payment_below_the_interest_is_all_interest(books: LetBooks) -> None:
    mortgage = loan(books)
    assert amounts(paid(books, mortgage, "2025-05-06", 300_00)) == [("residentialFinancialCost", "300.00")]
    assert amounts(paid(books, mortgage, "2025-05-10", 250_00)) == split("200.00", "50.00")


def test_interest_that_the_lender_told_goes_before(books: LetBooks) -> None:
    mortgage = loan(books)
    books.enter(books.lets, "residentialFinancialCost", 480_00, "2025-05-06", mortgage_id=mortgage)
    books.enter(books.lets, "residentialFinancialCost", 5_00, "2025-05-07", mortgage_id=mortgage, direction="in")
    assert amounts(paid(books, mortgage, "2025-05-06")) == [*split("25.00", "144.30"), ("loan_capital", "475.00")]


def test_a_balance_and_a_rate_that_the_lender_told_count(books: LetBooks) -> None:
    stated = loan(books, balance_history='[{"date":"2025-06-06","amount":"98000.00"}]')
    assert amounts(paid(books, stated, "2025-07-06")) == split("490.00", "154.30")
    steps = '[{"fromDate":"2025-04-06","interestRate":"6"},{"fromDate":"2025-06-06","interestRate":"5"}]'
    assert amounts(paid(books, loan(books, rate_history=steps), "2025-07-06")) == split("415.46", "228.84")
    reverted = loan(books, rate_end_date="2025-06-05", reversion_rate="9")
    assert amounts(paid(books, reverted, "2025-07-06", 800_00)) == split("747.83", "52.17")


def test_an_interest_only_loan_repays_nothing(books: LetBooks) -> None:
    mortgage = loan(books, type="interest_only", monthly_payment=None)
    for date in ("2025-05-06", "2025-06-06"):
        assert amounts(paid(books, mortgage, date, 500_00)) == [("residentialFinancialCost", "500.00")]


def test_what_was_split_stays_when_the_rate_changes(books: LetBooks) -> None:
    mortgage = loan(books)
    rows = paid(books, mortgage, "2025-05-06")
    sql = "UPDATE mortgages SET rate_history = :rates WHERE org_id = :org_id AND id = :id"
    rates = '[{"fromDate":"2025-04-06","interestRate":"3"}]'
    books.write(lambda tx: tx.run(sql, id=mortgage, rates=rates))
    assert books.of_line(rows[0].source_id or "") == rows
    part = {**WISH, "mortgageId": mortgage}
    again = books.post("allocate", bankTransactionId=rows[0].source_id, parts=[part], replace=True)
    assert [row["amount"] for row in again["allocations"]] == ["250.00", "394.30"]


def test_several_payments_at_once_share_the_interest(books: LetBooks) -> None:
    mortgage = loan(books)
    part = Part(**WISH, mortgage_id=mortgage, amount=350_00, direction="out", description="In cash")
    rows = books.write(lambda tx: allocations.enter(tx, [part, part], Entry("2025-05-06", "GBP")))
    assert amounts(rows) == [
        ("residentialFinancialCost", "350.00"),
        ("residentialFinancialCost", "150.00"),
        ("loan_capital", "144.30"),
        ("loan_capital", "55.70"),  # more than the instalment
    ]


@pytest.mark.parametrize("told", [480_00, 510_00, 990_00, 1_010_00])
@pytest.mark.parametrize("day", ["2025-05-06", "2025-05-20", "2025-05-26", "2025-07-20"])
def test_what_the_lender_told_beside_a_payment_counts_as_if_it_was_entered_before(
    books: LetBooks, told: int, day: str
) -> None:
    first, second = (loan(books, type="interest_only", monthly_payment=None) for _ in range(2))
    books.enter(books.lets, "residentialFinancialCost", told, day, mortgage_id=first)
    entered = paid(books, first, day, 500_00)
    interest = Part(
        "residentialFinancialCost", mortgage_id=second, amount=told, direction="out", description="Statement"
    )
    payment = Part(**WISH, mortgage_id=second, amount=500_00, direction="out", description="In cash")
    at_once = books.write(lambda tx: allocations.enter(tx, [interest, payment], Entry(day, "GBP")))
    assert amounts(at_once[1:]) == amounts(entered)


def test_a_rounding_of_the_lenders_is_capital_and_not_told(books: LetBooks) -> None:
    assert amounts(paid(books, loan(books), "2025-05-06", 645_00)) == split("500.00", "145.00")


def test_payments_of_two_loans_at_once_bear_the_interest_of_each(books: LetBooks) -> None:
    parts = [
        Part(**WISH, mortgage_id=loan(books), amount=MONTHLY, direction="out", description="In cash") for _ in range(2)
    ]
    rows = books.write(lambda tx: allocations.enter(tx, parts, Entry("2025-05-06", "GBP")))
    assert amounts(rows) == [*split("500.00", "144.30"), *split("500.00", "144.30")]


def test_a_year_of_an_interest_only_loan_that_is_paid_on_the_16th_is_interest(books: LetBooks) -> None:
    """120,000.00 at 5 %, due on the 1st: 500.00 a month, 6,000.00 a year."""
    house = books.property()
    rates = '[{"fromDate":"2025-04-01","interestRate":"5"}]'
    mortgage = loan(
        books,
        house,
        type="interest_only",
        monthly_payment=None,
        start_date="2025-04-01",
        rate_history=rates,
        original_amount=120_000_00,
        interest_rate="5",
    )
    for month in range(5, 17):
        date = f"{2025 + (month - 1) // 12}-{(month - 1) % 12 + 1:02}-16"
        assert amounts(paid(books, mortgage, date, 500_00)) == [("residentialFinancialCost", "500.00")]
    totals = books.one("propertyPnl", f"id={house}&fromDate=2025-05-01&toDate=2026-04-30")["totals"]
    assert (totals["residentialFinancialCost"], totals["capitalRepaid"]) == ("6000.00", "0.00")


def told(books: LetBooks, mortgage: str, date: str, amount: int) -> list[tuple[str, str]]:
    """What is told of a payment: the code, and the part of it."""
    line = books.line(books.account(books.owner), -amount, date=date)
    answer = books.post("allocate", bankTransactionId=line, parts=[{**WISH, "mortgageId": mortgage}])
    parts = {row["id"]: row["amount"] for row in answer["allocations"]}
    return [(one["code"], parts[one["allocationId"]]) for one in answer["warnings"]]


def test_what_an_interest_only_loan_does_not_take_is_told_and_no_capital(books: LetBooks) -> None:
    house = books.property()
    mortgage = loan(books, house, type="interest_only", monthly_payment=None)
    assert told(books, mortgage, "2025-05-06", 500_00) == []
    assert told(books, mortgage, "2025-06-06", 700_00) == [("loan_payment_over", "200.00")]
    found = books.one("propertyPnl", f"id={house}&taxYear=2025-26")
    assert (found["totals"]["residentialFinancialCost"], found["totals"]["capitalRepaid"]) == ("1000.00", "0.00")
    assert [one["code"] for one in found["warnings"]] == ["loan_payment_over"]
    (over,) = [row for row in books.walk("listAllocations", f"propertyId={house}") if row["purpose"] == "other"]
    assert over["reason"]
    made = books.post("updateAllocation", allocationId=over["id"], purpose="loan_capital")
    assert made["reason"] is None
    codes = [one["code"] for one in books.one("propertyPnl", f"id={house}&taxYear=2025-26")["warnings"]]
    assert codes == ["interest_only_repaid"]


def test_what_is_repaid_beyond_the_instalments_is_capital_and_told(books: LetBooks) -> None:
    mortgage = loan(books)
    assert told(books, mortgage, "2025-05-06", MONTHLY) == []
    assert told(books, mortgage, "2025-05-15", 5_000_00) == [("loan_overpaid", "5000.00")]
    assert told(books, mortgage, "2025-06-06", MONTHLY + 5_00) == []  # as lenders round


def test_an_interest_only_loan_is_repaid_at_its_end(books: LetBooks) -> None:
    house = books.property()
    mortgage = loan(books, house, type="interest_only", monthly_payment=None, redeemed_date="2025-06-06")
    assert told(books, mortgage, "2025-05-06", 500_00) == []
    assert told(books, mortgage, "2025-06-06", 100_500_00) == [("loan_overpaid", "100000.00")]
    totals = books.one("propertyPnl", f"id={house}&taxYear=2025-26")
    assert (totals["totals"]["capitalRepaid"], totals["warnings"]) == ("100000.00", [])


# -- on which line


def test_the_line_is_that_of_what_is_let(books: LetBooks) -> None:
    shop = books.property(use="commercial_let")
    assert amounts(paid(books, loan(books, shop), "2025-05-06"))[0] == ("financialCosts", "500.00")
    company = books.unregistered_entity(name="Oak Ltd", type="limited_company", companyNumber="01234567")
    for kind, line in (("uk_property", "financialCosts"), ("company_trade", "interestOnBankOtherLoans")):
        mortgage = loan(books, books.property(books.trade(company, type=kind, name="Oak")))
        account = books.account(company)
        part = Part(**WISH, mortgage_id=mortgage)
        rows = books.allocate(books.line(account, -MONTHLY, date="2025-05-06"), part)
        assert amounts(rows)[0] == (line, "500.00")


def test_the_line_is_that_of_the_day_of_the_bill(books: LetBooks) -> None:
    """The end of furnished holiday lettings, 6 April 2025."""
    cottage = books.property(use="holiday_let")
    mortgage = loan(
        books, cottage, start_date="2025-03-06", rate_history='[{"fromDate":"2025-03-06","interestRate":"6"}]'
    )
    assert amounts(paid(books, mortgage, "2025-04-06"))[0] == ("residentialFinancialCost", "500.00")
    rows = paid(books, mortgage, "2025-05-06", document_date="2025-04-05")
    assert amounts(rows)[0] == ("financialCosts", "499.28")


def test_what_was_borrowed_for_other_ends_is_disallowable(books: LetBooks) -> None:
    mortgage = loan(books, business_purpose_percent="75")
    interest, capital = paid(books, mortgage, "2025-05-06")
    assert (str(interest.disallowable_amount), str(capital.disallowable_amount)) == ("125.00", "0.00")
    (interest, _) = paid(books, mortgage, "2025-06-06", disallowable_amount=0)
    assert (str(interest.amount), str(interest.disallowable_amount)) == ("499.28", "0.00")


def test_the_accounts_tell_that_it_was_computed(books: LetBooks) -> None:
    house = books.property()
    mortgage = loan(books, house)
    paid(books, mortgage, "2025-05-06")
    books.enter(books.lets, "residentialFinancialCost", 1_28, "2026-04-05", mortgage_id=mortgage)
    found = books.one("propertyPnl", f"id={house}&taxYear=2025-26")
    sources = [(one["interestSource"], one["interest"]) for one in found["mortgageInterest"]]
    assert sources == [("computed", "500.00"), ("statement", "1.28")]
    assert (found["totals"]["residentialFinancialCost"], found["totals"]["capitalRepaid"]) == ("501.28", "144.30")
    assert (found["totals"]["cashFlow"], found["warnings"]) == ("-645.58", [])
    business = books.pnl(books.lets, "2025-04-06", "2026-04-05")
    assert business["memoranda"] == [{"category": "residentialFinancialCost", "amount": "501.28"}]


# -- as one of several parts


def test_it_may_be_a_part_of_a_line(books: LetBooks) -> None:
    house = books.property()
    line = books.line(books.account(books.owner), -700_00, date="2025-05-06")
    parts = [Part("other", amount=55_70, property_id=house), Part(**WISH, mortgage_id=loan(books, house))]
    rows = books.allocate(line, *parts)
    assert amounts(rows) == [("other", "55.70"), *split("500.00", "144.30")]
    assert books.line_of(line).unallocated == 0


def test_the_key_of_another_system_is_kept_once(books: LetBooks) -> None:
    rows = paid(books, loan(books), "2025-05-06", external_id="dd-1", document_ids=())
    assert [row.external_id for row in rows] == ["dd-1", None]


def test_a_person_who_changes_the_interest_says_it(books: LetBooks) -> None:
    interest, capital = paid(books, loan(books), "2025-05-06")
    made = books.post("updateAllocation", allocationId=interest.id, description="Interest of May")
    assert made["interestSource"] == "computed"
    books.post("updateAllocation", allocationId=capital.id, amount="144.00")
    made = books.post("updateAllocation", allocationId=interest.id, amount="500.30")
    assert made["interestSource"] == "statement"


def test_a_rule_splits_what_it_is_applied_to(books: LetBooks) -> None:
    mortgage = loan(books)
    outcome = {**WISH, "mortgageId": mortgage}
    books.post("createRule", name="Loan", mode="apply", conditions={"text": "society"}, outcome=outcome)
    for date in ("2025-05-06", "2025-06-06"):
        books.line(books.account(books.owner), -MONTHLY, date=date, description="DD BUILDING SOCIETY")
    applied = books.post("applyRules")["data"]
    assert [[row["amount"] for row in one["allocations"]] for one in applied] == [
        ["500.00", "144.30"],
        ["499.28", "145.02"],
    ]
    assert [one["allocation"] for one in applied] == [one["allocations"][0] for one in applied]
    assert {row["matchedBy"] for one in applied for row in one["allocations"]} == {"rule"}


def test_lines_that_were_split_so_are_proposed_to_be_split_so(books: LetBooks) -> None:
    mortgage = loan(books)
    for date in ("2025-05-06", "2025-06-06"):
        paid(books, mortgage, date)
    line = books.line(books.account(books.owner), -MONTHLY, date="2025-07-06")
    ((found,), _) = books.get("listProposals", f"bankTransactionId={line}")
    (proposal,) = found["proposals"]
    assert (proposal["kind"], proposal["score"]) == ("history", 66)
    wanted = {name: proposal["allocation"][name] for name in ("category", "purpose", "mortgageId", "businessId")}
    assert wanted == {**WISH, "mortgageId": mortgage, "businessId": books.lets}
    answer = books.post("allocate", bankTransactionId=line, parts=[wanted])
    assert [row["amount"] for row in answer["allocations"]] == ["498.55", "145.75"]
    books.post("learnRule", matchKey="tesco stores", mode="propose")


# -- what is refused


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"mortgage_id": None}, [("parts[0].mortgageId", "required")]),
        ({"mortgage_id": "mtg_x"}, [("parts[0].mortgageId", "unknown_reference")]),
        ({"direction": "in"}, [("parts[0].direction", "conflict")]),
        ({"amount": 0}, [("parts[0].amount", "out_of_range")]),
        ({"vat_code": "standard"}, [("parts[0].vatAmount", "conflict"), ("parts[0].vatCode", "conflict")]),
        ({"disallowable_amount": 1}, [("parts[0].disallowableAmount", "conflict")]),
    ],
)
def test_what_cannot_be_split_is_refused(
    books: LetBooks, fields: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    part = {
        "mortgage_id": loan(books),
        "business_id": books.lets,
        "direction": "out",
        "amount": 10_00,
        "description": "Loan",
        **fields,
    }
    with pytest.raises(Problem) as caught:
        books.write(lambda tx: allocations.enter(tx, [Part(**WISH, **part)], Entry("2025-05-06", "GBP")))
    assert fields_of(caught.value) == errors


def test_a_payment_is_in_the_currency_of_the_loan(books: LetBooks) -> None:
    line = books.line(books.account(books.owner, currency="EUR"), -100_00, currency="EUR")
    with pytest.raises(Problem) as caught:
        books.allocate(line, Part(**WISH, mortgage_id=loan(books)))
    assert fields_of(caught.value) == [("parts[0].mortgageId", "currency_mismatch")]


def test_nothing_becomes_a_payment_by_a_change(books: LetBooks) -> None:
    mortgage = loan(books)
    row = books.enter(books.lets, "not_pnl", 100_00, purpose="loan_capital", mortgage_id=mortgage)
    with pytest.raises(Problem) as caught:
        books.post("updateAllocation", allocationId=row.id, purpose="loan_payment")
    assert fields_of(caught.value) == [("purpose", "conflict")]


def test_a_rule_for_payments_names_the_mortgage(books: LetBooks) -> None:
    with pytest.raises(Problem) as caught:
        books.post("createRule", name="Loan", mode="apply", conditions={"text": "x"}, outcome=WISH)
    assert fields_of(caught.value) == [("outcome.mortgageId", "required")]


def test_both_halves_count_for_what_a_line_may_have(books: LetBooks) -> None:
    line = books.line(books.account(books.owner), -MONTHLY - 199, date="2025-05-06")
    for _ in range(2):
        books.allocate(line, *[Part("not_pnl", "drawings", amount=1)] * 99)
    with pytest.raises(Problem) as caught:
        books.allocate(line, Part("not_pnl", "drawings", amount=1), Part(**WISH, mortgage_id=loan(books)))
    assert caught.value.code == "limit_reached"


def test_no_payment_of_a_closed_period_is_split(books: LetBooks) -> None:
    books.write(lambda tx: period_locks.close(tx, books.owner, "2025-05-01", "2025-05-31"))
    mortgage = loan(books)
    with pytest.raises(Problem) as caught:
        paid(books, mortgage, "2025-05-06")
    assert caught.value.code == "period_closed"


# -- a year of them


def schedule(rate: str, months: int) -> Iterator[tuple[int, int]]:
    """Interest and capital of each month of 100,000.00 with the monthly payment."""
    balance = 100_000_00
    for _ in range(months):
        interest = half_up(balance * round(float(rate) * 100), 120_000)
        capital = max(0, MONTHLY - interest)
        yield interest, capital
        balance -= capital


def taken(waits: list[list[Any]], day: datetime.date, amount: int) -> int:
    """The interest that a payment takes of what waits, as due day, interest and capital: the oldest first."""
    due = [one for one in waits if one[0] <= day and one[1]]
    interest = 0
    for one in due or [one for one in waits if one[0] > day and one[1]][:1]:
        part = min(amount, one[1])
        interest, amount, one[1] = interest + part, amount - part, one[1] - part
        amount -= min(amount, one[2])
    return interest


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rate=st.sampled_from(["0", "1.5", "4.79", "6", "11.25"]),
    payments=st.lists(st.tuples(st.integers(-10, 10), st.integers(1, 1_500_00)), min_size=12, max_size=12),
)
def test_every_penny_of_a_payment_is_one_or_the_other(
    store: MemoryStore, rate: str, payments: list[tuple[int, int]]
) -> None:
    """Whatever is paid: not more interest than the schedule has, and all of it where enough is paid."""
    books = LetBooks(store)
    house = books.property()
    rates = f'[{{"fromDate":"2025-04-06","interestRate":"{rate}"}}]'
    mortgage = loan(books, house, interest_rate=rate, rate_history=rates)
    start, table = datetime.date(2025, 4, 6), [*schedule(rate, 13)]
    waits = [[months_later(start, month), *row] for month, row in enumerate(table, 1)]
    for month, (days, amount) in enumerate(payments, 1):
        day = months_later(start, month) + datetime.timedelta(days)
        rows = paid(books, mortgage, day.isoformat(), amount)
        interest = sum(row.amount.minor for row in rows if row.interest_source == "computed")
        capital = sum(row.amount.minor for row in rows if row.purpose == "loan_capital")
        assert interest == taken(waits, day, amount)
        assert interest + capital == amount
    sql = f"{ALLOCATIONS.select} AND purpose = 'loan_payment'"
    assert books.store.read(lambda tx: tx.rows(sql), books.org_id) == []
