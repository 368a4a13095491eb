"""What another choice would make of the same books (Domain F.11)."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.businesses.ledger_books import Json, LedgerBooks, lines
from tests.support.store import MemoryStore

YEAR = {"fromDate": "2026-04-06", "toDate": "2027-04-05"}


@pytest.fixture
def books(store: MemoryStore) -> LedgerBooks:
    return LedgerBooks(store)


def ask(books: LedgerBooks, business: str, **query: object) -> Json:
    return books.ask("whatIf", id=business, **{**YEAR, **query})


def test_nothing_else_is_no_difference(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 100_00)
    found = ask(books, trade)
    assert found["actual"] == found["whatIf"]
    assert lines(found["actual"]) == {"turnover": "100.00"}
    assert set(found["difference"].values()) == {"0.00"}


def test_another_basis(books: LedgerBooks) -> None:
    owner = books.unregistered_entity()
    trade = books.trade(owner)
    sold = books.invoice(businessId=trade, legalEntityId=owner, issueDate="2026-10-01")
    books.post("recordPayment", invoiceId=sold["id"], amount="40.00", date="2026-10-02")
    found = ask(books, trade, basis="accruals")
    assert (found["actual"]["basis"], found["whatIf"]["basis"]) == ("cash", "accruals")
    assert found["difference"]["netProfit"] == "60.00"
    assert [warning["code"] for warning in found["whatIf"]["warnings"]] == ["other_basis"]


def test_the_flat_rate_by_percentage_and_by_category(books: LedgerBooks) -> None:
    """Sales of 1,200.00 and purchases of 120.00, both with VAT. Standard: 1,000 - 100. At 12 %: 1,056 - 120."""
    trade = books.trade(books.entity())
    books.enter(trade, "turnover", 1_200_00, vat_amount=200_00)
    books.enter(trade, "adminCosts", 120_00, vat_amount=20_00)
    found = ask(books, trade, vatScheme="flat_rate", flatRatePercent="12")
    assert (found["actual"]["totals"]["netProfit"], found["whatIf"]["totals"]["netProfit"]) == ("900.00", "936.00")
    assert found["difference"] == {
        "income": "56.00",
        "expenses": "20.00",
        "disallowable": "0.00",
        "netProfit": "36.00",
        "taxableProfit": "36.00",
    }
    assert (found["whatIf"]["vatScheme"], found["whatIf"]["flatRatePercent"]) == ("flat_rate", "12")
    by_category = ask(books, trade, vatScheme="flat_rate", flatRateCategory="002")  # advertising, 11 %
    assert (by_category["difference"]["netProfit"], by_category["whatIf"]["flatRatePercent"]) == ("48.00", "11")


def test_the_standard_scheme_instead_of_the_flat_rate(books: LedgerBooks) -> None:
    vat = {"status": "registered", "effectiveDate": "2000-01-01", "scheme": "flat_rate", "flatRatePercent": "12"}
    trade = books.trade(books.entity(vat=vat))
    books.enter(trade, "turnover", 1_200_00, vat_amount=200_00)
    assert ask(books, trade, vatScheme="standard")["difference"]["netProfit"] == "-56.00"
    assert ask(books, trade, flatRatePercent="10")["difference"]["netProfit"] == "24.00"


def test_a_scheme_that_is_asked_for_holds_from_the_registration_on(books: LedgerBooks) -> None:
    """And a category goes before the percentage that the entity has."""
    vat = {
        "status": "registered",
        "effectiveDate": "2000-01-01",
        "scheme": "flat_rate",
        "flatRatePercent": "12",
        "flatRateStartDate": "2026-12-01",
    }
    trade = books.trade(books.entity(vat=vat))
    books.enter(trade, "turnover", 120_00, vat_amount=20_00)
    assert ask(books, trade, flatRatePercent="10")["difference"]["netProfit"] == "0.00"
    assert ask(books, trade, vatScheme="flat_rate")["difference"]["netProfit"] == "5.60"
    found = ask(books, trade, vatScheme="flat_rate", flatRateCategory="042")  # 4 %
    assert found["difference"]["netProfit"] == "15.20"


def test_other_quarters(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "turnover", 5_00, "2026-07-03")
    found = ask(books, trade, quarterlyPeriodType="calendar", groupBy="quarter")
    assert [lines(bucket) for bucket in found["actual"]["buckets"][:2]] == [{"turnover": "5.00"}, {}]
    assert [lines(bucket) for bucket in found["whatIf"]["buckets"][:2]] == [{}, {"turnover": "5.00"}]


def test_another_share_of_property(books: LedgerBooks) -> None:
    lets = books.trade(type="uk_property", name="Lets", ownerSharePercent="50")
    books.enter(lets, "periodAmount", 1_000_00)
    found = ask(books, lets, ownerSharePercent="75")
    assert found["whatIf"]["ownerShare"]["totals"]["netProfit"] == "750.00"
    assert (found["difference"]["netProfit"], found["ownerShareDifference"]["netProfit"]) == ("0.00", "250.00")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"ownerSharePercent": "50"}, [("ownerSharePercent", "conflict")]),
        ({"ownerSharePercent": "0"}, [("ownerSharePercent", "conflict"), ("ownerSharePercent", "out_of_range")]),
        ({"vatScheme": "flat_rate"}, [("flatRatePercent", "required")]),
        ({"vatScheme": "flat_rate", "flatRatePercent": "101"}, [("flatRatePercent", "out_of_range")]),
        (
            {"vatScheme": "flat_rate", "flatRatePercent": "12", "flatRateCategory": "001"},
            [("flatRateCategory", "conflict")],
        ),
        ({"flatRatePercent": "12"}, [("flatRatePercent", "conflict")]),
        ({"fromDate": "2027-05-01"}, [("toDate", "date_order")]),
        ({"fromDate": "2024-04-05"}, [("toDate", "range_too_long")]),
    ],
)
def test_what_makes_no_sense_is_refused(
    books: LedgerBooks, query: dict[str, str], found: list[tuple[str, str]]
) -> None:
    trade = books.trade(books.entity())
    with pytest.raises(Problem) as refused:
        ask(books, trade, **query)
    assert fields_of(refused.value) == found


def test_who_is_not_registered_has_no_scheme(books: LedgerBooks) -> None:
    trade = books.trade(books.entity(vat={"status": "registered", "effectiveDate": "2027-04-06"}))
    with pytest.raises(Problem) as refused:
        ask(books, trade, vatScheme="standard")
    assert fields_of(refused.value) == [("vatScheme", "vat_not_registered")]


def test_foreign_money_without_a_rate_is_refused(books: LedgerBooks) -> None:
    trade = books.trade()
    books.enter(trade, "adminCosts", 10_00)
    books.change("update", id=trade, currency="EUR")
    with pytest.raises(Problem, match="currency_mismatch"):
        ask(books, trade)
