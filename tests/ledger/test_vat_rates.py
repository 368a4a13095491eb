"""The dated table of VAT rates: the days on which a rate changed."""

import datetime
from decimal import Decimal
from typing import get_args

import pytest

from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import (
    DOMESTIC_REVERSE_CHARGES,
    NEEDS_REGISTRATION,
    AllocationVatCode,
    VatCode,
    VatRate,
    purchase_rate_on,
    rate_on,
    rate_within,
)


@pytest.mark.parametrize(
    ("code", "date", "percent"),
    [
        ("standard", "2026-11-20", "20"),
        ("standard", "2011-01-04", "20"),
        ("standard", "2011-01-03", "17.5"),
        ("standard", "2010-01-01", "17.5"),
        ("standard", "2009-12-31", "15"),
        ("standard", "2008-12-01", "15"),
        ("standard", "2008-11-30", "17.5"),
        ("standard", "1991-04-01", "17.5"),
        ("standard", "1991-03-31", None),
        ("reduced", "1997-09-01", "5"),
        ("reduced", "1997-08-31", None),
        ("reverse_charge_domestic_standard", "2021-03-01", "20"),
        ("reverse_charge_domestic_standard", "2021-02-28", None),
        ("reverse_charge_domestic_reduced", "2021-03-01", "5"),
        ("reverse_charge_domestic_reduced", "2021-02-28", None),
        ("ni_eu_goods_zero", "2021-01-01", "0"),
        ("ni_eu_goods_zero", "2020-12-31", None),
        ("reverse_charge_services_overseas", "2026-11-20", "0"),
        ("outside_scope", "1973-04-01", "0"),
    ],
)
def test_rate_on_a_day(code: VatCode, date: str, percent: str | None) -> None:
    rate = rate_on(code, date)
    assert (None if rate is None else rate.percent) == (None if percent is None else Decimal(percent))


@pytest.mark.parametrize(
    ("code", "date", "borne", "within"),
    [
        ("standard", "2011-01-03", "17.5", "17.5"),
        ("reduced", "2026-11-20", "5", "5"),
        ("zero", "2026-11-20", "0", "0"),
        ("reverse_charge_domestic_standard", "2021-03-01", "20", "0"),
        ("reverse_charge_domestic_standard", "2021-02-28", None, None),
        ("reverse_charge_domestic_reduced", "2026-11-20", "5", "0"),
        ("reverse_charge_services_overseas", "2026-11-20", "20", "0"),
        ("reverse_charge_services_overseas", "2011-01-03", "17.5", "0"),
        ("postponed_import_standard", "2021-01-01", "20", "0"),
        ("postponed_import_standard", "2020-12-31", None, None),
        ("postponed_import_reduced", "2021-01-01", "5", "0"),
        ("postponed_import_reduced", "2020-12-31", None, None),
        ("ni_eu_acquisition_standard", "2021-01-01", "20", "0"),
        ("ni_eu_acquisition_standard", "2020-12-31", None, None),
        ("ni_eu_acquisition_reduced", "2021-01-01", "5", "0"),
        ("ni_eu_acquisition_zero", "2021-01-01", "0", "0"),
        ("ni_eu_acquisition_zero", "2020-12-31", None, None),
    ],
)
def test_what_a_purchase_bears_and_what_of_it_was_paid(
    code: AllocationVatCode, date: str, borne: str | None, within: str | None
) -> None:
    """Domain B5: where the customer accounts for the VAT, none stands in what was paid."""
    expected = tuple(None if percent is None else Decimal(percent) for percent in (borne, within))
    assert (purchase_rate_on(code, date), rate_within(code, date)) == expected


def test_no_flat_rate_is_taken_of_what_the_customer_accounts_for() -> None:
    assert {
        "outside_scope",
        "margin_scheme",
        "reverse_charge_domestic_standard",
        "reverse_charge_domestic_reduced",
        "reverse_charge_services_overseas",
    } == vat_rates.OUTSIDE_FLAT_RATE


def test_what_comes_in_is_never_sold() -> None:
    """Domain B5: of goods that come in, a purchase alone has codes."""
    assert set(get_args(AllocationVatCode)) - set(get_args(VatCode)) == vat_rates.PURCHASES_ONLY


def test_only_domestic_codes_reverse_the_charge() -> None:
    reversed_codes = {code for code in get_args(VatCode) if rate_on(code, "2026-11-20").reverse_charge}
    assert reversed_codes == DOMESTIC_REVERSE_CHARGES


def test_vat_is_charged_by_the_registered_alone() -> None:
    free = {"zero", "exempt", "outside_scope", "reverse_charge_services_overseas", "export_goods_zero"}
    assert set(get_args(VatCode)) - free == NEEDS_REGISTRATION


def test_standard_rate_has_neither_gap_nor_overlap_since_1991() -> None:
    day = datetime.date(1991, 4, 1)
    while day < datetime.date(2027, 1, 1):
        fitting = [
            rate
            for rate in vat_rates._STANDARD
            if rate.first <= day.isoformat() and (rate.last is None or day.isoformat() <= rate.last)
        ]
        assert [VatRate(fitting[0].percent, False)] == [rate_on("standard", day.isoformat())]
        assert len(fitting) == 1
        day += datetime.timedelta(days=1)
