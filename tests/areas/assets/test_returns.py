"""What goes into a return (SA108): sections, boxes, rates before and from 30 October 2024, and what is asked (C5)."""

from typing import Any

import pytest

from gatewayd.ledger.taxpayers import tax_year_figures
from gatewayd.ledger.taxpayers.tax_year_figures import Residence, TaxYearFigures
from tests.areas.assets.holdings import Holdings


def sold(holdings: Holdings, gain: int, date: str, **values: object) -> str:
    """100 that cost 10,000 go for so much more; answers the instrument."""
    share = holdings.instrument(**values)
    holdings.buy("2014-01-10", 100, "10000", instrument=share)
    holdings.sell(date, 100, f"{10_000 + gain}", instrument=share)
    return share


def report(holdings: Holdings, year: str) -> Any:
    return holdings.ask("capitalGains", legalEntityId=holdings.person, taxYear=year)


def codes(found: Any) -> list[str]:
    return [one["code"] for one in found["warnings"]]


def told(found: Any) -> dict[str, object]:
    """By box: the number of disposals, or the amount."""
    return {one["box"]: one["count"] if one["amount"] is None else one["amount"] for one in found["boxes"]}


def test_each_kind_of_asset_has_its_boxes(holdings: Holdings) -> None:
    """The numbers of SA108 (2026)."""
    sold(holdings, 1000, "2025-06-02")
    sold(holdings, -400, "2025-06-03", asset_class="fund", domicile_country="GB")
    sold(holdings, 300, "2025-06-04", listed=False)
    sold(holdings, -200, "2025-06-05", asset_class="crypto")
    sold(holdings, 100, "2025-06-06", asset_class="commodity")
    sold(holdings, 50, "2025-06-09", cgt_exempt=True)
    found = report(holdings, "2025-26")
    assert told(found) == {
        "13.1": 1,
        "13.2": "9800.00",
        "13.3": "10000.00",
        "13.4": "0.00",
        "13.5": "200.00",
        "14": 1,
        "15": "10100.00",
        "16": "10000.00",
        "17": "100.00",
        "19": "0.00",
        "23": 2,
        "24": "20600.00",
        "25": "20000.00",
        "26": "1000.00",
        "27": "400.00",
        "31": 1,
        "32": "10300.00",
        "33": "10000.00",
        "34": "300.00",
        "35": "0.00",
    }
    assert [(one["section"], one["net"]) for one in found["sections"]] == [
        ("cryptoassets", "-200.00"),
        ("other_assets", "100.00"),
        ("listed_shares", "600.00"),
        ("unlisted_shares", "300.00"),
    ]
    sources = {one["source"] for one in found["boxes"] if one["box"] in ("31", "35")}
    assert (sources, codes(found)) == ({"SA108, Unlisted shares and securities"}, [])


def test_cryptoassets_were_other_assets_before_they_had_a_section(holdings: Holdings) -> None:
    sold(holdings, 700, "2023-06-02", asset_class="crypto")
    sold(holdings, 100, "2023-06-06", asset_class="commodity")
    expected = {"14": 2, "15": "20800.00", "16": "20000.00", "17": "800.00", "19": "0.00"}
    assert told(report(holdings, "2023-24")) == expected
    sold(holdings, 100, "2018-06-06")
    assert report(holdings, "2018-19")["boxes"] == []


def test_whole_pounds_favour_the_taxpayer(holdings: Holdings) -> None:
    for paid, got in (("100.10", "150.90"), ("100.10", "90.05")):
        share = holdings.instrument()
        holdings.buy("2025-05-01", 1, paid, instrument=share)
        holdings.sell("2025-09-01", 1, got, instrument=share)
    boxes = {one["box"]: one["pounds"] for one in report(holdings, "2025-26")["boxes"]}
    # 240.95, 200.20, 50.80 and 10.05; the loss can be carried forward
    assert boxes == {"23": None, "24": 240, "25": 201, "26": 50, "27": 11}


@pytest.mark.parametrize(
    ("values", "section", "known"),
    [
        ({"symbol": "LOB", "exchange_mic": "XLON"}, "listed_shares", True),
        ({"symbol": "LOB", "exchange_mic": "AIMX"}, "unlisted_shares", True),  # CG50255
        ({"asset_class": "fund", "asset_sub_class": "oeic"}, "listed_shares", True),
        ({"asset_class": "fund", "asset_sub_class": "unit_trust"}, "listed_shares", True),
        ({"asset_class": "alternative", "asset_sub_class": "private_equity"}, "unlisted_shares", True),
        ({"asset_class": "real_estate"}, "other_assets", True),
        ({"asset_class": "real_estate", "asset_sub_class": "reit"}, "listed_shares", False),
        ({}, "listed_shares", False),
    ],
)
def test_a_section_is_that_of_what_is_known(
    holdings: Holdings, values: dict[str, str], section: str, known: bool
) -> None:
    sold(holdings, 100, "2025-06-02", **{"domicile_country": "GB", "listed": None, **values})
    (one,) = holdings.ask("listDisposals", legalEntityId=holdings.person)["data"]
    assert (one["section"], one["sectionKnown"]) == (section, known)
    assert codes(report(holdings, "2025-26")) == ([] if known else ["listing_unknown"])


def test_gains_are_apart_before_and_from_the_change_of_rates(holdings: Holdings) -> None:
    """5,000 in September and 10,000 in November: the exempt amount saves most where 18 and 24 % are due."""
    sold(holdings, 5000, "2024-09-10")
    sold(holdings, 10_000, "2024-11-10")
    early, late = report(holdings, "2024-25")["ratePeriods"]
    assert (early["firstDay"], early["lastDay"]) == ("2024-04-06", "2024-10-29")
    assert (late["firstDay"], late["lastDay"]) == ("2024-10-30", "2025-04-05")
    assert (early["gains"], early["deducted"], early["taxable"]) == ("5000.00", "0.00", "5000.00")
    assert (late["gains"], late["deducted"], late["taxable"]) == ("10000.00", "3000.00", "7000.00")
    rates = [(one["basicRate"], one["higherRate"], one["source"]) for one in (early, late)]
    assert rates == [(10, 20, "Finance Act 2016 s83"), (18, 24, "Finance Act 2025 s7")]


def test_the_day_of_the_change_is_of_the_later_rates(holdings: Holdings) -> None:
    sold(holdings, 4000, "2024-10-29")
    sold(holdings, 5000, "2024-10-30")
    assert [one["gains"] for one in report(holdings, "2024-25")["ratePeriods"]] == ["4000.00", "5000.00"]


def test_box_51_adds_what_the_return_does_not_reckon(holdings: Holdings) -> None:
    """A gain of 8,000 on 1 November 2024 of a higher rate taxpayer: 24 less 20 % of 5,000 (AJ Bell, on box 51)."""
    sold(holdings, 8000, "2024-11-01")
    found = report(holdings, "2024-25")["rateAdjustment"]
    assert (found["box"], found["atHigherRate"], found["atBasicRate"]) == ("51", "200.00", "400.00")
    sold(holdings, 8000, "2025-11-03")
    assert report(holdings, "2025-26")["rateAdjustment"] is None


def test_losses_of_the_year_come_off_the_later_gains_first(holdings: Holdings) -> None:
    sold(holdings, 5000, "2024-09-10")
    sold(holdings, -6000, "2024-06-10")
    sold(holdings, 8000, "2024-11-10")
    found = report(holdings, "2024-25")
    early, late = found["ratePeriods"]
    assert (early["losses"], early["taxable"]) == ("6000.00", "4000.00")  # 9,000 to deduct, of which 8,000 there
    assert (late["deducted"], late["taxable"]) == ("8000.00", "0.00")
    assert (found["taxable"], found["rateAdjustment"]) == ("4000.00", None)


def test_a_fund_of_which_nobody_told_whether_it_reports_is_named(holdings: Holdings) -> None:
    funds: dict[str, dict[str, object]] = {
        "Moon ETF": {"domicile_country": "IE"},
        "Sun ETF": {"domicile_country": "IE", "reporting_fund": True},
        "Sea fund": {"domicile_country": "GB"},
    }
    for name, values in funds.items():
        sold(holdings, 100, "2025-06-02", name=name, asset_class="fund", **values)
    (warning,) = report(holdings, "2025-26")["warnings"]
    assert warning["code"] == "offshore_status_unknown"
    assert warning["message"].endswith(": Moon ETF.")


def test_eis_and_seis_are_told_and_not_counted(holdings: Holdings) -> None:
    for wrapper in ("eis", "seis", "isa"):
        account = holdings.new_account(wrapper=wrapper)
        holdings.buy("2025-05-01", 10, "100", account=account)
        holdings.sell("2025-09-01", 10, "150", account=account)
    found = report(holdings, "2025-26")
    (warning,) = found["warnings"]
    assert (warning["code"], found["chargeable"]["disposals"]) == ("eis_seis", 0)
    assert warning["message"].endswith(": Broker (EIS), Broker (SEIS).")


@pytest.mark.parametrize(
    ("residency", "code"), [(None, "residence_unknown"), ("non_uk", "not_resident"), ("scotland", None)]
)
def test_where_a_person_is_resident_is_asked(holdings: Holdings, residency: str | None, code: str | None) -> None:
    person = holdings.entity("individual", taxResidency=residency)
    account = holdings.new_account(holdings.new_portfolio(person))
    asked = {"legalEntityId": person, "taxYear": "2025-26"}
    assert codes(holdings.ask("capitalGains", **asked)) == []
    holdings.buy("2025-05-01", 10, "100", account=account)
    holdings.sell("2025-09-01", 10, "150", account=account)
    assert codes(holdings.ask("capitalGains", **asked)) == ([] if code is None else [code])


def say(holdings: Holdings, person: str, **years: Residence | None) -> None:
    """Where somebody was resident, by tax years such as `y2024`."""
    for year, residence in years.items():
        figures = TaxYearFigures(int(year[1:]), residence=residence)
        holdings.write(lambda tx, said=figures: tax_year_figures.put(tx, person, said))


@pytest.mark.parametrize(
    ("residency", "said", "code"),
    [
        (None, "resident", None),
        ("non_uk", "resident", None),
        ("scotland", "not_resident", "not_resident"),
        (None, "not_resident", "not_resident"),
        ("non_uk", "split", "split_year"),
        ("wales", "split", "split_year"),
        ("non_uk", None, "not_resident"),
        (None, None, "residence_unknown"),
    ],
)
def test_what_is_said_of_the_year_goes_before_what_holds_for_all(
    holdings: Holdings, residency: str | None, said: Residence | None, code: str | None
) -> None:
    person = holdings.entity("individual", taxResidency=residency)
    account = holdings.new_account(holdings.new_portfolio(person))
    say(holdings, person, y2025=said, y2023="not_resident", y2024="resident")
    holdings.buy("2025-05-01", 10, "100", account=account)
    holdings.sell("2025-09-01", 10, "150", account=account)
    found = holdings.ask("capitalGains", legalEntityId=person, taxYear="2025-26")
    assert codes(found) == ([] if code is None else [code])
    assert found["chargeable"]["gains"] == "50.00"  # whatever was said
    assert codes(holdings.ask("capitalGains", legalEntityId=person, taxYear="2024-25")) == []


ABROAD: dict[str, Residence] = {f"y{year}": "not_resident" for year in range(2020, 2025)}


@pytest.mark.parametrize(
    ("years", "sold_on", "told_of"),
    [
        # five whole tax years away, and one; what was sold then may be chargeable in 2025-26
        (ABROAD, "2020-04-06", "from 2020-21 to 2024-25"),
        (ABROAD, "2025-04-05", "from 2020-21 to 2024-25"),
        ({"y2024": "not_resident"}, "2024-06-03", "from 2024-25 to 2024-25"),
        # in the overseas part of the year of leaving, it may be
        ({**ABROAD, "y2019": "split"}, "2019-06-03", "from 2020-21 to 2024-25"),
        # before the absence, and after it
        (ABROAD, "2020-04-05", None),
        (ABROAD, "2025-06-03", None),
        # longer than five years, not ended, or of somebody who was never here
        ({**ABROAD, "y2019": "not_resident"}, "2024-06-03", None),
        ({**ABROAD, "y2025": "not_resident"}, "2024-06-03", None),
        ({f"y{year}": "not_resident" for year in range(2008, 2025)}, "2024-06-03", None),
    ],
)
def test_the_year_of_return_tells_of_gains_of_the_absence(
    holdings: Holdings, years: dict[str, Residence], sold_on: str, told_of: str | None
) -> None:
    """TCGA 1992 s1M; HMRC's CG26550: five years or less."""
    say(holdings, holdings.person, **years)
    holdings.buy("2014-01-10", 100, "10000")
    holdings.sell(sold_on, 100, "12000")
    found = [one for one in report(holdings, "2025-26")["warnings"] if one["code"] == "temporary_non_residence"]
    assert [told_of in one["message"] for one in found if told_of] == [True] * (told_of is not None)
    assert len(found) == (told_of is not None)
    # of the years before and after it there is nothing of the kind to say
    for year in ("2024-25", "2026-27"):
        assert "temporary_non_residence" not in codes(report(holdings, year))


def test_a_return_in_a_split_year_tells_of_both(holdings: Holdings) -> None:
    say(holdings, holdings.person, y2024="not_resident", y2025="split")
    holdings.buy("2014-01-10", 100, "10000")
    holdings.sell("2024-06-03", 50, "6000")
    holdings.sell("2025-06-03", 50, "6000")
    assert codes(report(holdings, "2025-26")) == ["split_year", "temporary_non_residence"]
