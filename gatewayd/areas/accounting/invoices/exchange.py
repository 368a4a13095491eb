"""Rates of exchange of invoices in another currency than their seller's, and of their payments (Domain B5, C1).

An invoice is worth what it was on its supply date: for VAT (VATA 1994 Sch 6 para 11), and for profit. What its payment
brings more or less is a difference of exchange. Who gives no rate has one taken that is known of the day, and told;
where none is known, it is asked for.
"""

from fractions import Fraction
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import drafts
from gatewayd.areas.accounting.invoices.shapes import InvoiceRow, InvoiceWarning, TakenRateSource
from gatewayd.errors import invalid_field
from gatewayd.ledger.allocating.bank_lines import BankLine
from gatewayd.ledger.exchange import known_rates
from gatewayd.ledger.exchange.known_rates import Pair
from gatewayd.ledger.exchange.published_rates import text_of
from gatewayd.ledger.results.allocated_money import convert
from gatewayd.money import Money, exponent, is_decimal
from gatewayd.store import ReadTx

_TAKEN: Final[dict[str, TakenRateSource]] = {"recorded": "recorded", "hmrc": "hmrc"}


class PaymentRate(NamedTuple):
    """Units of the seller's currency for one of the invoice's; None: it is the same. `source` None: it was given."""

    text: str | None
    source: TakenRateSource | None = None


def is_foreign(row: InvoiceRow) -> bool:
    """Whether an invoice is in another currency than its seller's books."""
    return row.currency != row.base_currency


def at_rate(row: InvoiceRow, text: str) -> InvoiceRow:
    """The invoice at a rate that somebody gives, decimal text. Raises `Problem` `validation_failed`."""
    return replace(_at(row, _given(row, text)), fx_rate_source=None, fx_rate_date=None)


def rated(tx: ReadTx, row: InvoiceRow) -> InvoiceRow:
    """The invoice with a rate: its own, else what is known of its supply date.

    Raises `Problem` `validation_failed` where nothing is known.
    """
    if not is_foreign(row) or row.fx_rate is not None:
        return row
    pair = Pair(row.currency, row.base_currency)
    known = known_rates.for_day(tx, pair, row.supply_date)
    if known is None:
        what = f"The invoice is in {row.currency} and the books are in {row.base_currency}"
        raise invalid_field("fxRate", "required", known_rates.unknown(what, pair))
    source = _TAKEN[known.source or "recorded"]
    return replace(_at(row, known.text), fx_rate_source=source, fx_rate_date=known.date)


def of_payment(tx: ReadTx, row: InvoiceRow, text: str | None, date: str) -> PaymentRate:
    """At what rate money counts that was received on an ISO date: the given one, else what is known of the day.

    Raises `Problem` `validation_failed` where it is not known, or given and not needed.
    """
    if text is not None:
        return PaymentRate(_given(row, text))
    if not is_foreign(row):
        return PaymentRate(None)
    pair = Pair(row.currency, row.base_currency)
    known = known_rates.for_day(tx, pair, date)
    if known is None:
        what = f"The payment is in {row.currency} and the books are in {row.base_currency}"
        raise invalid_field("fxRate", "required", known_rates.unknown(what, pair))
    return PaymentRate(known.text, _TAKEN[known.source or "recorded"])


def brought(row: InvoiceRow, amount: Money, line: BankLine, text: str | None) -> tuple[PaymentRate, Money]:
    """At what rate a bank transaction in the seller's currency paid an amount, and how much of it did.

    All that is left of it, unless a rate is given. Raises `Problem` `validation_failed`.
    """
    if text is not None:
        rate = PaymentRate(_given(row, text))
        assert rate.text is not None  # the currencies differ
        return rate, Money(convert(amount.minor, rate.text, row.currency, line.currency), line.currency)
    if not line.rest.minor:
        raise invalid_field("amount", "out_of_range", "Nothing of the bank transaction is left.")
    scale = Fraction(10) ** (exponent(row.currency) - exponent(line.currency))
    return PaymentRate(text_of(Fraction(line.rest.minor, amount.minor) * scale)), line.rest


def warnings(row: InvoiceRow) -> list[InvoiceWarning]:
    """What to tell of an invoice whose rate nobody gave."""
    if not row.fx_rate_source:
        return []
    whose = "HMRC's of the month from" if row.fx_rate_source == "hmrc" else "recorded on"
    rate = f"1 {row.currency} is {row.fx_rate} {row.base_currency}"
    message = f"No `fxRate` was given: {rate}, {whose} {row.fx_rate_date}."
    return [InvoiceWarning(path="fxRate", code="fx_rate_taken", message=message)]


def _given(row: InvoiceRow, text: str) -> str | None:
    if not is_decimal(text):
        raise invalid_field("fxRate", "invalid_decimal", "A rate of exchange is a decimal such as 0.8412.")
    return drafts.rate_of_exchange(text, row.currency, row.base_currency)


def _at(row: InvoiceRow, fx_rate: str | None) -> InvoiceRow:
    vat = drafts.vat_in_base(row.vat_total, fx_rate, row.base_currency)
    return replace(row, fx_rate=fx_rate, vat_total_base=vat)
