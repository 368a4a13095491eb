"""Payments on account of VAT follow from what was owed in a year, and from what HMRC said (Domain B9 and C6).

It is 20 November 2026. Periods end in March, June, September and December.
"""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.periods.desk import Desk, Json
from tests.areas.periods.test_closing import close, close_all, invoice
from tests.areas.periods.test_feeds import read, token_of
from tests.support.store import MemoryStore

QUARTERS = {"2025-11-01": "3000000", "2026-02-01": "3500000", "2026-05-01": "2500000", "2026-08-01": "4000000"}
"""Sales by the day, net of 20 %: 600,000, 700,000, 500,000 and 800,000 of VAT, 2,600,000 in the year."""
REST = [
    *(("2026-12-31", "2026-11-30"), ("2026-12-31", "2026-12-31")),
    *(("2027-03-31", "2027-02-26"), ("2027-03-31", "2027-03-31")),
]


def seller(desk: Desk) -> str:
    company = desk.vat_company()
    desk.change_entity(company, address={"line1": "1 Mill Lane", "countryCode": "GB"})
    return company


def sell(desk: Desk, company: str, quarters: dict[str, str]) -> None:
    for day, net in quarters.items():
        line = {"description": "Steel", "unitPrice": f"{net}.00", "vatCode": "standard"}
        invoice(desk, company, day, status="issued", lines=[line])


def payments(desk: Desk, query: str = "dueDateTo=2027-04-30") -> list[tuple[str, str]]:
    return [(one["periodEndDate"], one["dueDate"]) for one in desk.obligations(f"kind=payment_on_account&{query}")]


def amounts(desk: Desk, query: str = "dueDateTo=2027-04-30") -> set[str | None]:
    return {one["amountDue"] for one in desk.obligations(f"kind=payment_on_account&{query}")}


def say(desk: Desk, company: str, end: str = "2026-09-30", **values: object) -> Json:
    return desk.do("legalEntity.setVatYear", id=company, endDate=end, **values)


def years(desk: Desk, company: str) -> list[Json]:
    found: list[Json] = desk.ask("legalEntity.listVatYears", f"id={company}")["data"]
    return found


def codes(shown: Json) -> list[str]:
    return [one["code"] for one in shown["warnings"]]


def test_closing_a_year_above_the_limit_makes_payments_of_a_24th(desk: Desk) -> None:
    """2,600,000 / 24 is 108,333.33; what is left of December is due on Friday 29 January, its return on the 31st."""
    company = seller(desk)
    sell(desk, company, QUARTERS)
    close_all(desk, "2026-06-30")
    assert payments(desk) == []
    close_all(desk, "2026-09-30", "type=vat_period&fromDate=2026-07-01")
    assert (payments(desk), amounts(desk)) == (REST, {"108333.33"})
    shown = years(desk, company)[-1]
    assert (shown["endDate"], shown["liability"], shown["isWhole"]) == ("2026-09-30", "2600000.00", True)
    assert (shown["source"], codes(shown)) == ("books", ["limit_passed"])
    assert desk.due("kind=vat_return&dueDateFrom=2027-01-01&dueDateTo=2027-02-28") == [
        ("2026-12-31", "2027-01-31", "open")
    ]
    assert desk.due("kind=vat_payment&dueDateFrom=2027-01-01&dueDateTo=2027-02-28") == [
        ("2026-12-31", "2027-01-29", "open")
    ]
    (period,) = desk.periods("type=vat_period&fromDate=2026-12-31&toDate=2026-12-31")
    assert period["filingDueDate"] == "2027-01-31"
    assert {one["periodId"] for one in desk.obligations("kind=payment_on_account&dueDateTo=2026-12-31")} == {
        period["id"]
    }
    later = desk.obligations("kind=payment_on_account&dueDateFrom=2027-05-01&dueDateTo=2028-03-31")
    assert {(one["amountDue"], one["undecided"]) for one in later} == {("108333.33", False)}  # the cycle's own year


def test_a_period_that_is_opened_again_takes_them_back(desk: Desk) -> None:
    company = seller(desk)
    sell(desk, company, QUARTERS)
    last = close_all(desk, "2026-09-30")
    desk.do("obligations.fulfil", id=desk.one("kind=payment_on_account")["id"], receivedDate="2026-11-19")
    desk.do("periods.reopen", id=last["id"], reason="An invoice was forgotten")
    assert desk.obligations("kind=payment_on_account&status=open") == []
    assert desk.due("kind=payment_on_account") == [("2026-12-31", "2026-11-30", "fulfilled")]
    assert [one["endDate"] for one in years(desk, company)] == [
        "2025-06-30",
        "2025-09-30",
        "2025-12-31",
        "2026-03-31",
        "2026-06-30",
    ]
    sell(desk, company, {"2026-09-29": "480000"})  # 96,000 of VAT: 2,696,000 / 24 = 112,333.33
    close(desk, last)
    open_ = desk.obligations("kind=payment_on_account&status=open&dueDateTo=2027-04-30")
    assert {one["amountDue"] for one in open_} == {"112333.33"}


def test_what_was_closed_before_is_reckoned_too(desk: Desk) -> None:
    """As with a database of a version that kept nothing: the first refresh adds the closed periods up."""
    company = seller(desk)
    sell(desk, company, QUARTERS)
    close_all(desk, "2026-09-30")
    desk.store.write(lambda tx: tx.run("DELETE FROM vat_period_liabilities WHERE org_id = :org_id"), desk.org_id)
    desk.refresh(company)
    assert (payments(desk), amounts(desk)) == (REST, {"108333.33"})


def test_a_period_that_passes_the_limit_warns_before_it_is_closed(desk: Desk) -> None:
    company = seller(desk)
    sell(desk, company, QUARTERS)
    close_all(desk, "2026-06-30")
    (period,) = desk.periods("type=vat_period&fromDate=2026-09-30&toDate=2026-09-30")

    def warned() -> list[str]:
        return codes(desk.ask("periods.get", f"id={period['id']}")["totals"])

    assert warned() == ["vat_payments_on_account"]
    say(desk, company, paymentsOnAccount="instalments", instalment="90000.00")
    assert (warned(), payments(desk), amounts(desk)) == ([], REST, {"90000.00"})
    say(desk, company, paymentsOnAccount=None, instalment=None)
    assert warned() == ["vat_payments_on_account"]
    vat = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard", "returnFrequency": "monthly"}
    desk.change_entity(company, vat=vat)
    assert warned() == []


def test_a_person_says_what_was_owed_and_what_hmrc_asks_for(desk: Desk) -> None:
    company = desk.vat_company()
    shown = say(desk, company, liability="2400000.00", importVat="10.00")
    assert (shown["liability"], shown["importVat"], shown["source"]) == ("2400000.00", "10.00", "entered")
    assert (codes(shown), amounts(desk)) == (["limit_passed"], {"100000.00"})
    say(desk, company, paymentsOnAccount="actual")
    assert (payments(desk), amounts(desk)) == (REST, {None})
    shown = say(desk, company, paymentsOnAccount="none")
    assert (shown["liability"], shown["paymentsOnAccount"], codes(shown)) == ("2400000.00", "none", [])
    assert payments(desk) == []
    shown = say(desk, company, liability=None, importVat=None, paymentsOnAccount="instalments")
    assert (shown["liability"], shown["importVat"], shown["source"]) == (None, "0.00", None)
    assert (codes(shown), payments(desk), amounts(desk)) == (["amount_unknown"], REST, {None})


def test_a_calendar_calls_them_by_their_tax(desk: Desk) -> None:
    say(desk, desk.vat_company(), liability="2400000.00")
    token = token_of(desk.do("obligations.createFeed"))
    shown = {one.summary for one in read(desk, token) or [] if one.day.isoformat() == "2026-11-30"}
    assert shown == {"VAT payment on account (Oak Ltd)"}


def test_a_cycle_that_nobody_knows_of_is_undecided_and_never_overdue(desk: Desk) -> None:
    """Said of the year to June: from April 2027 on the year to September decides, and nobody knows it."""
    company = desk.vat_company()
    say(desk, company, "2026-06-30", liability="2400000.00")
    later = desk.obligations("kind=payment_on_account&dueDateFrom=2027-05-01&dueDateTo=2027-06-30")
    assert [(one["dueDate"], one["amountDue"], one["undecided"]) for one in later] == [
        ("2027-05-28", None, True),  # Monday 31 May is the spring bank holiday
        ("2027-06-30", None, True),
    ]
    say(desk, company, liability="2300000.00")
    assert desk.obligations("kind=payment_on_account&dueDateFrom=2027-05-01") == []


@pytest.mark.parametrize(
    "vat",
    [
        {"returnFrequency": "monthly"},
        {"scheme": "annual", "returnFrequency": "annual", "periodEndMonth": 9, "staggerGroup": None},
    ],
)
def test_monthly_returns_and_annual_accounting_have_none(desk: Desk, vat: Json) -> None:
    company = desk.vat_company(**vat)
    shown = say(desk, company, liability="9000000.00")
    assert (codes(shown), desk.obligations("kind=payment_on_account")) == (["no_payments_on_account"], [])


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"liability": "-1"}, [("liability", "out_of_range")]),
        ({"importVat": "1.001"}, [("importVat", "invalid_decimal")]),
        ({"instalment": "5.00"}, [("instalment", "conflict")]),
        ({"instalment": "5.00", "paymentsOnAccount": "actual"}, [("instalment", "conflict")]),
        ({"endDate": "2026-10-31", "liability": "1"}, [("endDate", "conflict")]),
        ({"endDate": "2026-09-29", "liability": "1"}, [("endDate", "conflict")]),
    ],
)
def test_years_that_are_none(desk: Desk, values: Json, fields: list[tuple[str, str]]) -> None:
    body = {"id": desk.vat_company(), "endDate": "2026-09-30", **values}
    assert fields_of(desk.refused("legalEntity.setVatYear", **body)) == fields


def test_a_year_is_of_somebody_who_is_registered(desk: Desk, store: MemoryStore) -> None:
    shown = say(desk, desk.company(), liability="9000000.00")
    assert (codes(shown), desk.obligations("kind=payment_on_account")) == (["vat_periods_unknown"], [])
    stranger = Desk(store).vat_company()
    assert desk.refused("legalEntity.setVatYear", id=stranger, endDate="2026-09-30").code == "not_found"
    with pytest.raises(Problem):
        desk.ask("legalEntity.listVatYears", f"id={stranger}")
