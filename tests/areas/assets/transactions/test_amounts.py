"""Amounts of a transaction: what is computed, what contradicts itself, and what it is in the base currency."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking


@pytest.mark.parametrize(
    ("quantity", "price", "gross"),
    [
        ("100", "7.42", "742.00"),
        ("3", "0.335", "1.01"),  # 1.005: half a penny is up
        ("1", "0.0049", "0.00"),
        ("12.5", "1.23456789", "15.43"),
        ("0.000000000001", "1000000000000", "1.00"),
    ],
)
def test_the_gross_amount_is_quantity_by_price(broking: Broking, quantity: str, price: str, gross: str) -> None:
    made = broking.buy(quantity, unitPrice=price)
    assert (made["grossAmount"], made["unitPrice"]) == (gross, price)


def test_an_amount_needs_no_price(broking: Broking) -> None:
    made = broking.buy("3", unitPrice=None, grossAmount="10.00")
    assert (made["grossAmount"], made["unitPrice"], made["quantity"]) == ("10.00", None, "3")


@pytest.mark.parametrize(
    ("quantity", "price", "gross"),
    [
        ("3", "0.33", "1.00"),  # 0.99: a penny
        ("1", "0.01", "0.00"),  # a penny of nothing
        ("10000", "7.4212", "74250.00"),  # 38 pounds of 74 thousand: a rounded price
        ("1000", "0.995", "1000.00"),  # half a per cent
    ],
)
def test_pennies_of_rounding_pass_on_small_and_large_trades(
    broking: Broking, quantity: str, price: str, gross: str
) -> None:
    assert broking.buy(quantity, unitPrice=price, grossAmount=gross)["grossAmount"] == gross


@pytest.mark.parametrize(
    ("quantity", "price", "gross"),
    [
        ("100", "742", "742.00"),  # a price in pence
        ("100", "7.42", "753.95"),  # with the fee in it
        ("3", "0.33", "1.01"),  # two pence
        ("100", "7.42", "74.20"),  # a digit too few
        ("1000", "0.9949", "1000.00"),
        ("1", "0.011", "0.00"),
    ],
)
def test_amounts_that_contradict_each_other_are_refused(
    broking: Broking, quantity: str, price: str, gross: str
) -> None:
    with pytest.raises(Problem) as caught:
        broking.buy(quantity, unitPrice=price, grossAmount=gross)
    assert (caught.value.code, caught.value.status) == ("amount_mismatch", 422)
    assert broking.listed() == []


def test_a_currency_without_pennies_has_a_whole_unit_of_noise(broking: Broking) -> None:
    sony = broking.instrument(name="Sony", currency="JPY")
    made = broking.buy("3", instrumentId=sony, unitPrice="33.4", grossAmount="101", fxRate="0.005")
    assert made["grossAmount"] == "101"
    with pytest.raises(Problem, match="amount_mismatch"):
        broking.buy("3", instrumentId=sony, unitPrice="33.2", grossAmount="101", fxRate="0.005")


def test_the_currency_is_that_of_the_instrument_else_of_the_account(broking: Broking) -> None:
    in_dollars = broking.account(currency="USD")
    assert broking.buy(instrumentId=broking.aapl, fxRate="0.8")["currency"] == "USD"
    assert broking.buy(accountId=in_dollars)["currency"] == "GBP"
    cash = broking.enter(
        "deposit", "2026-05-01", instrumentId=None, accountId=in_dollars, grossAmount="10.00", fxRate="1"
    )
    assert (cash["currency"], cash["baseCurrency"]) == ("USD", "GBP")


def test_an_inline_instrument_gets_the_currency_of_the_trade(broking: Broking) -> None:
    made = broking.buy(instrumentId=None, instrument={"name": "Siemens"}, currency="EUR", fxRate="0.9")
    assert broking.named(made["instrumentId"])["currency"] == "EUR"
    again = broking.buy(instrumentId=None, instrument={"name": "siemens"}, fxRate="0.9")
    assert (again["instrumentId"], again["currency"]) == (made["instrumentId"], "EUR")


def test_the_base_currency_is_rounded_half_up_once(broking: Broking) -> None:
    made = broking.buy("1", instrumentId=broking.aapl, unitPrice="10.01", fxRate="0.75")  # 7.5075
    assert (made["fxRate"], made["baseCurrency"], made["grossBase"]) == ("0.75", "GBP", "7.51")
    even = broking.buy("1", instrumentId=broking.aapl, unitPrice="10.02", fxRate="0.75")  # 7.515
    assert even["grossBase"] == "7.52"


def test_a_rate_goes_by_units_whatever_the_fraction_digits(broking: Broking) -> None:
    """Domain B3: fxRate is the base currency for 1 of currency, and a yen has no fraction."""
    sony = broking.instrument(name="Sony", currency="JPY")
    made = broking.buy("10", instrumentId=sony, unitPrice="2500", fxRate="0.0052")
    assert (made["grossAmount"], made["grossBase"], made["netAmount"]) == ("25000", "130.00", "-25000")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"quantity": "9999999999999", "unitPrice": "10"}, "grossAmount"),
        ({"quantity": "1", "unitPrice": "9999999999999", "currency": "USD", "fxRate": "2"}, "fxRate"),
    ],
)
def test_an_amount_that_cannot_be_kept_is_refused(broking: Broking, fields: dict[str, str], path: str) -> None:
    with pytest.raises(Problem) as caught:
        broking.buy(**fields)
    assert fields_of(caught.value) == [(path, "out_of_range")]
