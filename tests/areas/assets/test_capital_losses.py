"""Losses of persons: what comes off first, what is brought forward, and until when it is claimed (C5)."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from gatewayd.ledger.calendar import period_locks
from tests.areas.accounting.books import fields_of
from tests.areas.assets.holdings import Holdings
from tests.areas.assets.test_returns import codes, report, sold, told


def record(holdings: Holdings, year: str, elsewhere: str = "0", claimed: str | None = None, **more: Any) -> Any:
    given = {"legalEntityId": holdings.person, "taxYear": year, "elsewhere": elsewhere, "claimedDate": claimed}
    return holdings.post("recordCapitalLoss", **{**given, **more})


def walked(holdings: Holdings, until: str) -> list[tuple[str, ...]]:
    """Year, net, brought forward, used and carried forward."""
    names = ("taxYear", "net", "broughtForward", "used", "carriedForward")
    found = holdings.ask("listCapitalLosses", legalEntityId=holdings.person, taxYear=until)["data"]
    return [tuple(one[name] for name in names) for one in found]


def test_losses_of_a_year_go_first_and_below_the_exempt_amount(holdings: Holdings) -> None:
    """CG18201: gains of 13,000 and losses of 3,500 of 2014-15, whose exempt amount is 11,000."""
    sold(holdings, 13_000, "2014-09-01")
    sold(holdings, -3500, "2014-10-01")
    found = report(holdings, "2014-15")
    assert (found["losses"]["net"], found["losses"]["used"], found["taxable"]) == ("9500.00", "0.00", "0.00")
    assert found["losses"]["carriedForward"] == "0.00"


def test_losses_brought_forward_go_down_to_the_exempt_amount(holdings: Holdings) -> None:
    """CG18202: gains of 13,000 of 2014-15, and 3,500 brought forward: 2,000 are used, 1,500 carried on."""
    record(holdings, "2013-14", "3500", "2014-12-01")
    sold(holdings, 13_000, "2014-09-01")
    found = report(holdings, "2014-15")["losses"]
    assert (found["broughtForward"], found["used"], found["carriedForward"]) == ("3500.00", "2000.00", "1500.00")
    assert report(holdings, "2014-15")["taxable"] == "0.00"
    assert walked(holdings, "2015-16") == [
        ("2013-14", "-3500.00", "0.00", "0.00", "3500.00"),
        ("2014-15", "13000.00", "3500.00", "2000.00", "1500.00"),
        ("2015-16", "0.00", "1500.00", "0.00", "1500.00"),
    ]


def test_a_return_has_what_was_used_and_what_is_left(holdings: Holdings) -> None:
    """Losses of 10,000 in 2023-24; gains of 8,000 in 2024-25, of which 3,000 are exempt: 5,000 used, 5,000 left."""
    sold(holdings, -10_000, "2023-09-01")
    sold(holdings, 8000, "2024-12-02")
    record(holdings, "2023-24", claimed="2025-01-20")
    assert told(report(holdings, "2023-24"))["47"] == "10000.00"
    found = report(holdings, "2024-25")
    assert (told(found)["45"], told(found)["47"]) == ("5000.00", "5000.00")
    assert (found["taxable"], found["ratePeriods"][1]["taxable"], found["rateAdjustment"]) == ("0.00", "0.00", None)
    assert found["aboveExemptAmount"] == "5000.00"  # before losses of other years
    assert codes(found) == []


def test_exempt_amounts_are_those_of_each_year(holdings: Holdings) -> None:
    """12,300, 6,000 and 3,000: of 20,000 brought forward, gains of 13,000 a year take 700, 7,000 and 10,000."""
    record(holdings, "2021-22", "20000", "2022-10-01")
    for year in (2022, 2023, 2024):
        sold(holdings, 13_000, f"{year}-09-01")
    assert [one[3] for one in walked(holdings, "2024-25")] == ["0.00", "700.00", "7000.00", "10000.00"]
    assert walked(holdings, "2024-25")[-1][-1] == "2300.00"


def test_a_loss_counts_that_can_still_be_claimed_and_is_told(holdings: Holdings) -> None:
    """Of 2022-23: until 5 April 2027. Today is 20 November 2026."""
    sold(holdings, -1000, "2022-09-01")
    found = report(holdings, "2022-23")
    assert (found["losses"]["claim"], found["losses"]["claimBy"]) == ("open", "2027-04-05")
    assert (found["losses"]["carriedForward"], codes(found)) == ("1000.00", ["loss_not_claimed"])


def test_a_loss_that_nobody_claimed_in_time_is_carried_nowhere(holdings: Holdings) -> None:
    """Of 2021-22: until 5 April 2026 (TMA 1970 s43)."""
    sold(holdings, -1000, "2021-09-01")
    sold(holdings, 13_000, "2024-09-01")
    found = report(holdings, "2024-25")
    assert (found["losses"]["broughtForward"], codes(found)) == ("0.00", ["loss_claim_late"])
    assert record(holdings, "2021-22", claimed="2023-01-31", notes="with the return")["claim"] == "claimed"
    found = report(holdings, "2024-25")
    assert (found["losses"]["broughtForward"], found["losses"]["used"], codes(found)) == ("1000.00", "1000.00", [])


def test_a_loss_elsewhere_comes_off_gains_of_its_year(holdings: Holdings) -> None:
    sold(holdings, 9000, "2025-09-01")
    record(holdings, "2025-26", "2500", "2026-10-01")
    found = report(holdings, "2025-26")
    assert (found["losses"]["net"], found["taxable"]) == ("6500.00", "3500.00")
    (period,) = found["ratePeriods"]
    assert (period["deducted"], period["taxable"]) == ("5500.00", "3500.00")


def test_gains_of_funds_that_do_not_report_use_no_losses(holdings: Holdings) -> None:
    """They are income, and exempt ones are nothing."""
    record(holdings, "2023-24", "900", "2025-01-05")
    sold(holdings, 9000, "2025-09-01", reporting_fund=False)
    sold(holdings, 9000, "2025-09-01", cgt_exempt=True)
    sold(holdings, -100, "2025-09-02", reporting_fund=False)
    assert walked(holdings, "2025-26")[-1] == ("2025-26", "-100.00", "900.00", "0.00", "1000.00")


def test_what_is_recorded_again_is_replaced_and_nothing_is_left_of_nothing(holdings: Holdings) -> None:
    record(holdings, "2020-21", "500", "2022-01-31")
    record(holdings, "2020-21", "700", "2022-01-31")
    assert walked(holdings, "2021-22")[0] == ("2020-21", "-700.00", "0.00", "0.00", "700.00")
    assert walked(holdings, "2019-20") == [("2019-20", "0.00", "0.00", "0.00", "0.00")]
    record(holdings, "2020-21")
    assert walked(holdings, "2021-22") == [("2021-22", "0.00", "0.00", "0.00", "0.00")]


def test_a_trust_whose_exempt_amount_is_unknown_is_not_reckoned_further(holdings: Holdings) -> None:
    trust = holdings.entity("trust")
    account = holdings.new_account(holdings.new_portfolio(trust))
    record(holdings, "2023-24", "900", "2025-01-05", legalEntityId=trust)
    holdings.buy("2024-05-01", 10, "100", account=account)
    holdings.sell("2024-09-01", 10, "5100", account=account)
    found = holdings.ask("capitalGains", legalEntityId=trust, taxYear="2024-25")
    assert (found["losses"]["broughtForward"], found["losses"]["used"], found["taxable"]) == ("900.00", None, None)
    assert (found["ratePeriods"], codes(found)) == ([], ["exempt_amount_unknown"])


@pytest.mark.parametrize(
    ("given", "path", "code"),
    [
        ({"taxYear": "2026-28"}, "taxYear", "invalid_format"),
        ({"taxYear": "2027-28"}, "taxYear", "out_of_range"),
        ({"elsewhere": "-1"}, "elsewhere", "out_of_range"),
        ({"elsewhere": "1.001"}, "elsewhere", "invalid_decimal"),
        ({"claimedDate": "2025-04-05"}, "claimedDate", "out_of_range"),
        ({"claimedDate": "2026-11-21"}, "claimedDate", "out_of_range"),
        ({"legalEntityId": "ent_1"}, "legalEntityId", "unknown_reference"),
    ],
)
def test_what_cannot_be_is_refused(holdings: Holdings, given: dict[str, str], path: str, code: str) -> None:
    with pytest.raises(Problem) as caught:
        record(holdings, "2025-26", **given)
    assert fields_of(caught.value) == [(path, code)]


def test_a_company_has_none_of_these(holdings: Holdings) -> None:
    company = holdings.entity("limited_company", companyNumber="01234567")
    with pytest.raises(Problem) as caught:
        record(holdings, "2025-26", legalEntityId=company)
    assert fields_of(caught.value) == [("legalEntityId", "conflict")]
    with pytest.raises(Problem) as caught:
        holdings.ask("listCapitalLosses", legalEntityId=company)
    assert fields_of(caught.value) == [("legalEntityId", "conflict")]


def test_a_closed_year_keeps_its_losses(holdings: Holdings) -> None:
    holdings.write(lambda tx: period_locks.close(tx, holdings.person, "2025-04-06", "2026-04-05"))
    with pytest.raises(Problem) as caught:
        record(holdings, "2025-26", "1")
    assert (caught.value.code, caught.value.extra["date"]) == ("period_closed", "2026-04-05")
    assert record(holdings, "2024-25", "1")["elsewhere"] == "1.00"
