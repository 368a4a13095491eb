"""Mortgages: what is made, changed, redeemed and found, and what is refused."""

import pytest
from msgspec.structs import replace

from gatewayd.areas.landlord.mortgages.rows import MORTGAGES, loan_of, of_property
from gatewayd.areas.landlord.mortgages.rules import STEPS_MAX
from gatewayd.areas.landlord.mortgages.shapes import RateStep
from gatewayd.clock import DAY, days_after
from gatewayd.errors import Problem
from gatewayd.ledger.loans import amortising, loans
from gatewayd.store import ReadTx, WriteTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore

TODAY = "2026-11-20"


def refused(premises: Premises, mortgage: Json | None = None, /, **fields: object) -> list[tuple[str, str]]:
    """What is wrong with the fields of a change, or of a new mortgage."""
    with pytest.raises(Problem) as caught:
        premises.mortgage(None, **fields) if mortgage is None else update(premises, mortgage, **fields)
    return fields_of(caught.value)


def update(premises: Premises, mortgage: Json, **fields: object) -> Json:
    return premises.post("updateMortgage", id=mortgage["id"], **fields)


def loan(premises: Premises, mortgage: Json) -> amortising.Loan:
    def read(tx: ReadTx) -> amortising.Loan:
        return loan_of(MORTGAGES.get(tx, mortgage["id"]))

    found: amortising.Loan = premises.read(read)
    return found


def test_a_new_mortgage_is_answered_whole(premises: Premises) -> None:
    property_id = premises.property()
    made = premises.mortgage(
        property_id,
        accountNumberMasked="12-34 5678",
        rateType="fixed",
        rateEndDate="2027-01-31",
        reversionRate="07.50",
        termMonths=300,
        monthlyPayment="750",
        currentBalance="149000.00",
        balanceDate="2026-10-31",
        ercUntilDate="2027-01-31",
        ercPercent="1.0",
        externalId="m-1",
    )
    assert made["id"].startswith("mtg_")
    stamps = ("id", "createdAt", "updatedAt")
    assert {name: value for name, value in made.items() if name not in stamps} == {
        "externalId": "m-1",
        "propertyId": property_id,
        "lender": "Severn Building Society",
        "accountNumberMasked": "****5678",
        "type": "interest_only",
        "status": "active",
        "rateType": "fixed",
        "interestRate": "6",
        "rateEndDate": "2027-01-31",
        "reversionRate": "7.5",
        "rateHistory": [{"fromDate": "2025-01-01", "interestRate": "6"}],
        "originalAmount": "150000.00",
        "startDate": "2025-01-01",
        "termMonths": 300,
        "monthlyPayment": "750.00",
        "currentBalance": "149000.00",
        "balanceDate": "2026-10-31",
        "balanceHistory": [{"date": "2026-10-31", "amount": "149000.00", "reachesBack": True}],
        "estimatedBalance": "149000.00",
        "ercUntilDate": "2027-01-31",
        "ercPercent": "1",
        "businessPurposePercent": "100",
        "redeemedDate": None,
        "currency": "GBP",
        "version": 1,
    }
    assert premises.get("listMortgages")[0] == [made]
    with pytest.raises(Problem) as caught:
        premises.mortgage(property_id, externalId="m-1")
    assert caught.value.code == "already_exists"
    other = premises.mortgage(property_id)
    with pytest.raises(Problem) as caught:
        update(premises, other, externalId="m-1")
    assert caught.value.code == "already_exists"


def test_the_estimate_is_of_today(premises: Premises) -> None:
    # 150,000.00 at 6 %: 750.00 of interest, then 749.50, of 850.00 on 1 October and 1 November
    made = premises.mortgage(type="repayment", startDate="2026-09-01", monthlyPayment="850.00")
    assert made["estimatedBalance"] == "149799.50"
    premises.store.clock.advance(11 * DAY)  # 1 December: 748.9975 of interest
    assert premises.get("listMortgages")[0][0]["estimatedBalance"] == "149698.50"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"interestRate": "100"}, [("interestRate", "out_of_range")]),
        ({"interestRate": "-1"}, [("interestRate", "out_of_range")]),
        ({"reversionRate": "100", "rateEndDate": "2027-01-01"}, [("reversionRate", "out_of_range")]),
        ({"reversionRate": "7"}, [("rateEndDate", "required")]),
        ({"ercPercent": "100.1"}, [("ercPercent", "out_of_range")]),
        ({"businessPurposePercent": "-0.1"}, [("businessPurposePercent", "out_of_range")]),
        ({"businessPurposePercent": "101"}, [("businessPurposePercent", "out_of_range")]),
        ({"originalAmount": "0"}, [("originalAmount", "out_of_range")]),
        ({"monthlyPayment": "0.00"}, [("monthlyPayment", "out_of_range")]),
        ({"originalAmount": "1.005"}, [("originalAmount", "invalid_decimal")]),
        ({"currentBalance": "1.00"}, [("balanceDate", "required")]),
        ({"balanceDate": "2026-01-01"}, [("currentBalance", "required")]),
        ({"currentBalance": "-0.01", "balanceDate": "2026-01-01"}, [("currentBalance", "out_of_range")]),
        ({"currentBalance": "1.00", "balanceDate": "2026-11-21"}, [("balanceDate", "out_of_range")]),
        ({"currentBalance": "1.00", "balanceDate": "2024-12-31"}, [("balanceDate", "date_order")]),
        ({"rateEndDate": "2024-12-31"}, [("rateEndDate", "date_order")]),
        ({"ercUntilDate": "2024-12-31"}, [("ercUntilDate", "date_order")]),
        ({"redeemedDate": "2024-12-31"}, [("redeemedDate", "date_order")]),
        (
            {"currentBalance": "1.00", "balanceDate": "2026-02-01", "redeemedDate": "2026-01-31"},
            [("redeemedDate", "date_order")],
        ),
        ({"startDate": "1899-12-31"}, [("startDate", "out_of_range")]),
        ({"startDate": "2200-01-01"}, [("startDate", "out_of_range")]),
        ({"rateEndDate": "9999-12-31"}, [("rateEndDate", "out_of_range")]),
        ({"currency": "EUR"}, [("currency", "currency_mismatch")]),
        ({"propertyId": "prop_1"}, [("propertyId", "unknown_reference")]),
    ],
)
def test_what_cannot_be_is_refused(premises: Premises, fields: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert refused(premises, **fields) == expected


@pytest.mark.parametrize("percent", ["0", "99.999"])
def test_rates_are_from_0_to_less_than_100(premises: Premises, percent: str) -> None:
    assert premises.mortgage(interestRate=percent)["interestRate"] == percent


@pytest.mark.parametrize("percent", ["0", "100"])
def test_shares_are_from_0_to_100(premises: Premises, percent: str) -> None:
    made = premises.mortgage(businessPurposePercent=percent, ercPercent=percent)
    assert (made["businessPurposePercent"], made["ercPercent"]) == (percent, percent)


def test_what_is_just_possible_is_taken(premises: Premises) -> None:
    first, last = "1900-01-01", "2199-12-31"
    old = premises.mortgage(
        startDate=first,
        rateEndDate=first,
        ercUntilDate=last,
        redeemedDate=first,
        currentBalance="0.00",
        balanceDate=first,
        originalAmount="0.01",
        monthlyPayment="0.01",
    )
    assert (old["startDate"], old["ercUntilDate"], old["status"]) == (first, last, "redeemed")
    assert premises.mortgage(currentBalance="1.00", balanceDate=TODAY)["balanceDate"] == TODAY


def test_amounts_are_of_the_currency_of_the_property(premises: Premises) -> None:
    made = premises.mortgage(premises.property(currency="JPY"), originalAmount="9000000", currency="JPY")
    assert (made["currency"], made["estimatedBalance"]) == ("JPY", "9000000")


def test_a_property_that_is_sold_takes_a_mortgage_and_one_that_is_archived_none(premises: Premises) -> None:
    premises.mortgage(premises.property(status="sold"))
    with pytest.raises(Problem) as caught:
        premises.mortgage(premises.property(status="archived"))
    assert caught.value.code == "invalid_state"


def test_another_organizations_property_and_mortgage_are_unknown(premises: Premises, store: MemoryStore) -> None:
    theirs = Premises(store)
    assert refused(premises, propertyId=theirs.property()) == [("propertyId", "unknown_reference")]
    mortgage = theirs.mortgage()
    with pytest.raises(Problem) as caught:
        update(premises, mortgage, lender="Ours")
    assert caught.value.code == "not_found"
    assert premises.get("listMortgages")[0] == []


def test_a_change_is_made_to_the_version_that_was_seen(premises: Premises) -> None:
    made = premises.mortgage()
    changed = update(premises, made, lender="Tamar Bank", expectedVersion=1)
    assert (changed["lender"], changed["version"]) == ("Tamar Bank", 2)
    with pytest.raises(Problem) as caught:
        update(premises, made, lender="Other", expectedVersion=1)
    assert caught.value.code == "version_conflict"


def test_absent_stays_and_null_clears(premises: Premises) -> None:
    made = premises.mortgage(
        accountNumberMasked="12345678",
        rateType="fixed",
        monthlyPayment="750.00",
        rateEndDate="2027-01-31",
        termMonths=9,
    )
    same = update(premises, made)
    stamps = ("updatedAt", "version")
    assert {k: v for k, v in same.items() if k not in stamps} == {k: v for k, v in made.items() if k not in stamps}
    cleared = update(
        premises,
        made,
        accountNumberMasked=None,
        rateType=None,
        monthlyPayment=None,
        rateEndDate=None,
        termMonths=None,
    )
    names = ("accountNumberMasked", "rateType", "monthlyPayment", "rateEndDate", "termMonths")
    assert [cleared[name] for name in names] == [None] * 5
    assert update(premises, made, accountNumberMasked="****9876")["accountNumberMasked"] == "****9876"


# -- rates


def test_a_new_rate_holds_from_its_day_on_and_the_former_stays(premises: Premises) -> None:
    made = premises.mortgage()
    changed = update(premises, made, interestRate="5", rateFromDate="2026-01-01")
    assert changed["interestRate"] == "5"
    assert changed["rateHistory"] == [
        {"fromDate": "2025-01-01", "interestRate": "6"},
        {"fromDate": "2026-01-01", "interestRate": "5"},
    ]
    paid = amortising.instalments(loan(premises, made), "2026-01-01", "2026-02-01")
    assert [part.interest for part in paid] == [750_00, 625_00]  # 150,000.00 at 6 % for December, at 5 % for January
    again = update(premises, made, interestRate="4.5")
    assert again["rateHistory"][-1] == {"fromDate": TODAY, "interestRate": "4.5"}
    corrected = update(premises, made, interestRate="6.1", rateFromDate="2025-01-01")
    assert [step["interestRate"] for step in corrected["rateHistory"]] == ["6.1", "5", "4.5"]
    assert corrected["interestRate"] == "4.5"


def test_a_rate_that_is_no_change_is_no_step(premises: Premises) -> None:
    made = premises.mortgage()
    assert update(premises, made, interestRate="6.0")["rateHistory"] == made["rateHistory"]
    update(premises, made, interestRate="5", rateFromDate="2026-01-01")
    back = update(premises, made, interestRate="6", rateFromDate="2026-01-01")
    assert back["rateHistory"] == made["rateHistory"]


def test_what_a_rate_went_back_to_stays_when_the_next_is_agreed(premises: Premises) -> None:
    made = premises.mortgage(rateEndDate="2026-03-31", reversionRate="8")
    paid = amortising.instalments(loan(premises, made), "2026-04-01", "2026-05-01")
    assert [part.interest for part in paid] == [750_00, 1_000_00]
    agreed = update(
        premises, made, interestRate="4", rateFromDate="2026-07-01", rateEndDate="2028-06-30", reversionRate="9"
    )
    assert (agreed["interestRate"], agreed["rateEndDate"], agreed["reversionRate"]) == ("4", "2028-06-30", "9")
    assert agreed["rateHistory"] == [
        {"fromDate": "2025-01-01", "interestRate": "6"},
        {"fromDate": "2026-04-01", "interestRate": "8"},
        {"fromDate": "2026-07-01", "interestRate": "4"},
    ]
    without_end = premises.mortgage(rateEndDate="2026-03-31", reversionRate="8")
    tracker = update(premises, without_end, interestRate="5", rateFromDate="2026-04-01")
    assert (tracker["rateEndDate"], tracker["reversionRate"]) == (None, None)
    assert [step["fromDate"] for step in tracker["rateHistory"]] == ["2025-01-01", "2026-04-01"]


def test_an_end_that_has_come_stays_until_there_is_a_new_rate(premises: Premises) -> None:
    made = premises.mortgage(rateEndDate="2026-03-31", reversionRate="8")
    changed = update(premises, made, lender="Tamar Bank")
    assert (changed["rateEndDate"], changed["reversionRate"], len(changed["rateHistory"])) == ("2026-03-31", "8", 1)
    on_its_last_day = update(premises, made, interestRate="5", rateFromDate="2026-03-31")
    assert (on_its_last_day["rateEndDate"], on_its_last_day["reversionRate"]) == ("2026-03-31", "8")


def test_without_a_reversion_a_rate_goes_on(premises: Premises) -> None:
    made = premises.mortgage(rateEndDate="2026-03-31")
    paid = amortising.instalments(loan(premises, made), "2026-05-01", "2026-06-30")
    assert [part.interest for part in paid] == [750_00, 750_00]
    agreed = update(premises, made, interestRate="5", rateFromDate="2026-07-01")
    assert [step["fromDate"] for step in agreed["rateHistory"]] == ["2025-01-01", "2026-07-01"]


def test_an_end_that_is_still_to_come_stays_with_a_new_rate(premises: Premises) -> None:
    made = premises.mortgage(rateEndDate="2027-03-31", reversionRate="8")
    changed = update(premises, made, interestRate="5.75")
    assert (changed["rateEndDate"], changed["reversionRate"]) == ("2027-03-31", "8")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"rateFromDate": "2026-01-01"}, [("interestRate", "required")]),
        ({"interestRate": "5", "rateFromDate": "2026-11-21"}, [("rateFromDate", "out_of_range")]),
        ({"interestRate": "5", "rateFromDate": "2024-12-31"}, [("rateFromDate", "date_order")]),
        ({"interestRate": "100"}, [("interestRate", "out_of_range")]),
        ({"currentBalance": "1.00"}, [("balanceDate", "required")]),
        ({"balanceDate": "2026-01-01"}, [("currentBalance", "required")]),
        ({"currentBalance": "1.00", "balanceDate": "2026-11-21"}, [("balanceDate", "out_of_range")]),
        ({"currentBalance": "1.00", "balanceDate": "2024-12-31"}, [("balanceDate", "date_order")]),
        ({"startDate": "2026-10-31"}, [("balanceDate", "date_order")]),
        ({"redeemedDate": "2026-10-29"}, [("redeemedDate", "date_order")]),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    premises: Premises, fields: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    made = premises.mortgage(currentBalance="149000.00", balanceDate="2026-10-30")
    assert refused(premises, made, **fields) == expected


def test_a_step_between_others_is_checked_too(premises: Premises) -> None:
    made = premises.mortgage(currentBalance="149000.00", balanceDate="2026-10-30")
    update(premises, made, interestRate="5", rateFromDate="2026-01-01")
    wrong_rate = {"interestRate": "100", "rateFromDate": "2025-06-01"}
    assert refused(premises, made, **wrong_rate) == [("interestRate", "out_of_range")]
    wrong_balance = {"currentBalance": "-1.00", "balanceDate": "2025-06-01"}
    assert refused(premises, made, **wrong_balance) == [("currentBalance", "out_of_range")]


def test_the_first_rate_goes_with_the_start(premises: Premises) -> None:
    made = premises.mortgage()
    update(premises, made, interestRate="5", rateFromDate="2026-01-01")
    earlier = update(premises, made, startDate="2024-06-01")
    assert [step["fromDate"] for step in earlier["rateHistory"]] == ["2024-06-01", "2026-01-01"]
    same = update(premises, made, startDate="2026-01-01")
    assert same["rateHistory"] == [{"fromDate": "2026-01-01", "interestRate": "5"}]
    later = update(premises, made, startDate="2026-02-01")
    assert later["rateHistory"] == [{"fromDate": "2026-02-01", "interestRate": "5"}]


def test_a_loan_to_come_owes_nothing_yet(premises: Premises) -> None:
    made = premises.mortgage(startDate="2026-12-15")
    assert (made["estimatedBalance"], made["status"]) == ("0.00", "active")
    assert update(premises, made, interestRate="5")["rateHistory"] == [{"fromDate": "2026-12-15", "interestRate": "5"}]


# -- balances


def test_former_balances_stay_in_the_history(premises: Premises) -> None:
    made = premises.mortgage(currentBalance="149000.00", balanceDate="2026-03-31")
    update(premises, made, currentBalance="148000.00", balanceDate="2026-10-31")
    earlier = update(premises, made, currentBalance="149500.00", balanceDate="2025-12-31")
    assert (earlier["currentBalance"], earlier["balanceDate"]) == ("148000.00", "2026-10-31")
    assert [said["amount"] for said in earlier["balanceHistory"]] == ["149500.00", "149000.00", "148000.00"]
    corrected = update(premises, made, currentBalance="148100.00", balanceDate="2026-10-31")
    assert corrected["currentBalance"] == "148100.00"
    assert len(corrected["balanceHistory"]) == 3
    of_loan = loan(premises, made)
    days = ("2026-01-01", "2026-03-31", "2026-10-30", "2026-10-31")
    assert [amortising.balance_on(of_loan, day) for day in days] == [149_500_00, 149_000_00, 149_000_00, 148_100_00]


def test_a_balance_is_taken_back(premises: Premises) -> None:
    made = premises.mortgage(currentBalance="149000.00", balanceDate="2026-03-31")
    update(premises, made, currentBalance="148000.00", balanceDate="2026-10-31")
    taken = update(premises, made, currentBalance=None, balanceDate="2026-03-31")
    assert [said["date"] for said in taken["balanceHistory"]] == ["2026-10-31"]
    none = update(premises, made, currentBalance=None)
    assert (none["currentBalance"], none["balanceDate"], none["balanceHistory"]) == (None, None, [])
    assert none["estimatedBalance"] == "150000.00"
    assert update(premises, made, currentBalance=None)["balanceHistory"] == []


def test_a_balance_of_nothing_is_one(premises: Premises) -> None:
    made = premises.mortgage(currentBalance="0.00", balanceDate="2026-03-31")
    assert (made["currentBalance"], made["estimatedBalance"], made["status"]) == ("0.00", "0.00", "active")


def test_a_history_has_an_end(premises: Premises) -> None:
    made = premises.mortgage()
    steps = [RateStep(from_date=days_after("2025-01-01", n), interest_rate=str(6 + n % 2)) for n in range(STEPS_MAX)]

    def fill(tx: WriteTx) -> None:
        MORTGAGES.update(tx, replace(MORTGAGES.get(tx, made["id"]), rate_history=steps))

    premises.store.write(fill, premises.org_id)
    assert len(update(premises, made, lender="Tamar Bank")["rateHistory"]) == STEPS_MAX
    assert refused(premises, made, interestRate="9") == [("interestRate", "out_of_range")]


# -- redemption


def test_a_mortgage_is_redeemed_from_its_day_on_and_back(premises: Premises) -> None:
    made = premises.mortgage()
    redeemed = update(premises, made, redeemedDate=TODAY)
    assert (redeemed["status"], redeemed["estimatedBalance"]) == ("redeemed", "0.00")
    back = update(premises, made, redeemedDate=None)
    assert (back["status"], back["estimatedBalance"], back["redeemedDate"]) == ("active", "150000.00", None)
    planned = update(premises, made, redeemedDate="2026-11-21")
    assert (planned["status"], planned["estimatedBalance"]) == ("active", "150000.00")
    premises.store.clock.advance(DAY)
    assert premises.get("listMortgages")[0][0]["status"] == "redeemed"  # and nobody wrote anything


# -- lists


def ids(premises: Premises, query: str) -> list[str]:
    return [row["id"] for row in premises.walk("listMortgages", query)]


def test_mortgages_are_found_by_property_state_and_end_of_rate(premises: Premises) -> None:
    property_id = premises.property()
    open_ = premises.mortgage(property_id)["id"]
    ends = premises.mortgage(property_id, rateEndDate="2027-01-31")["id"]
    later = premises.mortgage(rateEndDate="2027-02-01")["id"]
    gone = premises.mortgage(property_id, rateEndDate="2027-01-31", redeemedDate="2026-11-20")["id"]
    planned = premises.mortgage(rateEndDate="2027-01-30", redeemedDate="2026-11-21")["id"]
    assert ids(premises, "limit=1") == [planned, gone, later, ends, open_]
    assert ids(premises, f"propertyId={property_id}&limit=2") == [gone, ends, open_]
    assert ids(premises, "status=active&limit=1") == [planned, later, ends, open_]
    assert ids(premises, "status=redeemed") == [gone]
    assert ids(premises, "rateEndDateBefore=2027-02-01&limit=1") == [planned, ends]
    assert ids(premises, "rateEndDateBefore=2027-02-02&limit=1") == [planned, ends, later]
    assert ids(premises, f"rateEndDateBefore=2027-02-02&propertyId={property_id}") == [ends]
    assert ids(premises, "rateEndDateBefore=2027-02-02&updatedSince=2026-11-20T00:00:00Z&limit=1") == [
        ends,
        later,
        planned,
    ]
    assert ids(premises, "rateEndDateBefore=2027-02-01&status=redeemed") == [gone]
    assert ids(premises, "externalId=none") == []
    of_property_ = premises.read(lambda tx: of_property(tx, property_id))
    assert [row.id for row in of_property_] == [gone, ends, open_]


def test_changes_are_followed(premises: Premises) -> None:
    first, second = premises.mortgage(), premises.mortgage()
    premises.store.clock.advance(DAY)
    update(premises, first, lender="Tamar Bank")
    assert ids(premises, "updatedSince=2026-11-21T00:00:00Z&limit=1") == [first["id"]]
    assert ids(premises, "updatedSince=2026-11-20T00:00:00Z&limit=1") == [second["id"], first["id"]]


def test_the_balances_of_properties_are_summed_as_of_a_day(premises: Premises, store: MemoryStore) -> None:
    one, other, left_out = premises.property(), premises.property(), premises.property()
    premises.mortgage(one, currentBalance="149000.00", balanceDate="2026-10-31")
    premises.mortgage(one, originalAmount="1000.00", redeemedDate="2026-11-01")
    of_last_year = {"currentBalance": "500.00", "balanceDate": "2025-12-31"}
    premises.mortgage(one, originalAmount="500.00", redeemedDate="2026-11-01", **of_last_year)
    premises.mortgage(other, originalAmount="60000.00", startDate="2026-11-01")
    premises.mortgage(left_out)
    Premises(store).mortgage()

    def owed(day: str) -> int:
        found = premises.read(lambda tx: list(loans.balances_on(tx, day)))
        return sum(balance for property_id, balance in found if property_id in (one, other))

    assert owed("2024-12-31") == 0
    assert owed("2026-10-30") == 149_000_00 + 1_500_00
    assert owed("2026-10-31") == 149_000_00 + 1_500_00
    assert owed("2026-11-01") == 149_000_00 + 60_000_00
