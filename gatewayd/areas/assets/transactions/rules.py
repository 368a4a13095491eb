"""What each type of transaction takes, and what it does to cash (Domain B3). Pure.

A type needs some fields, may have others, and is refused with the rest, for a field without effect is a mistake.
`instrument` stands for `instrumentId` or `instrument`, and `amount` for `grossAmount` or what gives it, a quantity with
its price.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.areas.assets.books.transactions import EARLIEST, TransactionType
from gatewayd.areas.assets.transactions.shapes import CreateTransaction
from gatewayd.errors import FieldError, with_article


class Takes(NamedTuple):
    """The fields of a type, as the wire spells them. `cash` is what its gross amount does to cash: -1, 0 or 1.

    Fees and taxes are paid in cash whatever the type, so that `netAmount` is cash x gross - fees - taxes.
    """

    needs: frozenset[str]
    may: frozenset[str]
    cash: int


def _takes(needs: str, may: str, cash: int = 0) -> Takes:
    allowed = may.replace("costs", "fees taxes").split()
    return Takes(frozenset(needs.split()), frozenset((*allowed, "tradeTime", "settlementDate")), cash)


_TRANSFER = _takes(
    "instrument quantity", "unitPrice amount costs currency fxRate counterAccountId spouseTransfer", cash=0
)
TAKES: Final[Mapping[TransactionType, Takes]] = {
    "buy": _takes("instrument quantity amount", "unitPrice costs currency fxRate", cash=-1),
    "sell": _takes("instrument quantity amount", "unitPrice costs currency fxRate", cash=1),
    "transfer_in": _TRANSFER,
    "transfer_out": _TRANSFER,
    "deposit": _takes("amount", "fees currency fxRate", cash=1),
    "withdrawal": _takes("amount", "fees currency fxRate", cash=-1),
    "dividend": _takes("instrument amount", "quantity unitPrice costs currency fxRate exDate", cash=1),
    "interest": _takes("amount", "instrument quantity unitPrice costs currency fxRate exDate", cash=1),
    "distribution": _takes("instrument amount", "quantity unitPrice costs currency fxRate exDate", cash=1),
    "notional_distribution": _takes("instrument amount", "quantity unitPrice currency fxRate exDate"),
    # Chosen: equalisation comes in cash, beside the distribution it is a part of. Where it stays in the fund nothing is
    # entered: the notional distribution is then told without it.
    "equalisation": _takes("instrument amount", "quantity unitPrice currency fxRate exDate", cash=1),
    "return_of_capital": _takes(
        "instrument amount",
        "quantity unitPrice costs currency fxRate exDate remainingValue smallDistribution",
        cash=1,
    ),
    "fee": _takes("amount", "instrument currency fxRate", cash=-1),
    "tax": _takes("amount", "instrument currency fxRate", cash=-1),
    "split": _takes("instrument splitRatio", ""),
    "bonus_issue": _takes("instrument quantity", "exDate"),
    "rights_issue": _takes("instrument quantity amount", "unitPrice costs currency fxRate exDate", cash=-1),
    "spin_off": _takes("instrument quantity fromInstrumentId", "costShare amount unitPrice currency fxRate exDate"),
    "merger": _takes(
        "instrument quantity fromInstrumentId",
        "fromQuantity grossAmount currency fxRate exDate remainingValue smallDistribution",
        cash=1,
    ),
    "stock_dividend": _takes("instrument quantity amount", "unitPrice currency fxRate exDate taxedAsDividend"),
    "excess_reportable_income": _takes("instrument amount", "quantity unitPrice currency fxRate"),
    "opening_position": _takes("instrument quantity amount", "unitPrice currency fxRate"),
    # what it reverses has all the rest
    "reversal": Takes(frozenset({"reversesTransactionId"}), frozenset(), 0),
}

# Chosen: of an account with holdings balances alone are told: what it holds, and what went in and out in money.
OF_HOLDINGS: Final = frozenset({"opening_position", "deposit", "withdrawal", "reversal"})
"""The types that an account takes of which balances alone are kept."""


TRANSFERS: Final = frozenset({"transfer_in", "transfer_out"})


def field_errors(request: CreateTransaction, today: str) -> Iterator[FieldError]:
    """What is wrong with a request whatever the account, field by field. `today` is ISO."""
    takes, fields = TAKES[request.type], _given_fields(request)
    yield from _missing_fields(request, takes, fields)
    yield from _unwanted_fields(request, takes, fields)
    yield from _range_errors(request)
    yield from _date_errors(request, today)
    if request.type == "spin_off" and ("costShare" in fields) == _has_amount(fields):
        message = "A spin-off takes a part of the cost, costShare, or an amount of it, grossAmount: one of the two."
        yield FieldError("costShare", "conflict" if "costShare" in fields else "required", message)
    yield from _distribution_errors(request, fields)


def _distribution_errors(request: CreateTransaction, fields: frozenset[str]) -> Iterator[FieldError]:
    """What is wrong with what is said of a capital distribution: it needs an amount, a disposal what remains too."""
    if request.type == "merger" and "grossAmount" not in fields:
        for name in sorted(fields & {"remainingValue", "smallDistribution"}):
            yield FieldError(name, "conflict", "Without grossAmount in cash nothing is distributed.")
    elif _is_part(request) and request.remaining_value is None:
        message = "A disposal of a part takes the part of the cost that what remains is worth less: how much is it?"
        yield FieldError("remainingValue", "required", message)


def _is_part(request: CreateTransaction) -> bool:
    return request.small_distribution is False and "smallDistribution" in TAKES[request.type].may


def has_amount(request: CreateTransaction) -> bool:
    """Whether it has any amount of money, and so a currency."""
    return _has_amount(_given_fields(request)) or request.fees is not None or request.taxes is not None


def _has_amount(fields: frozenset[str]) -> bool:
    return "grossAmount" in fields or {"quantity", "unitPrice"} <= fields


_NAMES: Final[Mapping[str, str]] = {
    "instrument_id": "instrumentId",
    "instrument": "instrument",
    "quantity": "quantity",
    "unit_price": "unitPrice",
    "gross_amount": "grossAmount",
    "fees": "fees",
    "taxes": "taxes",
    "currency": "currency",
    "fx_rate": "fxRate",
    "settlement_date": "settlementDate",
    "ex_date": "exDate",
    "trade_time": "tradeTime",
    "split_ratio": "splitRatio",
    "from_instrument_id": "fromInstrumentId",
    "from_quantity": "fromQuantity",
    "cost_share": "costShare",
    "remaining_value": "remainingValue",
    "small_distribution": "smallDistribution",
    "taxed_as_dividend": "taxedAsDividend",
    "counter_account_id": "counterAccountId",
    "spouse_transfer": "spouseTransfer",
    "reverses_transaction_id": "reversesTransactionId",
}
"""The fields that not every type takes."""


def _given_fields(request: CreateTransaction) -> frozenset[str]:
    """The fields of `_NAMES` that were given; a spouseTransfer that is false says nothing."""
    fields = {wire for name, wire in _NAMES.items() if getattr(request, name) is not None}
    return frozenset(fields if request.spouse_transfer else fields - {"spouseTransfer"})


def _missing_fields(request: CreateTransaction, takes: Takes, fields: frozenset[str]) -> Iterator[FieldError]:
    what = with_article(request.type)
    for name in sorted(takes.needs):
        if name == "instrument":
            if not fields & {"instrument", "instrumentId"}:
                message = (
                    f"{what.capitalize()} is of an instrument: give `instrumentId`, or `instrument` for a new one."
                )
                yield FieldError("instrumentId", "required", message)
        elif name == "amount":
            if not _has_amount(fields):
                by_price = ", or a `quantity` with its `unitPrice`" if "quantity" in takes.needs | takes.may else ""
                message = f"{what.capitalize()} needs it{by_price}."
                yield FieldError("grossAmount", "required", message)
        elif name not in fields:
            yield FieldError(name, "required", f"This field is required: {what} has one.")
    if {"instrument", "instrumentId"} <= fields:
        yield FieldError("instrument", "conflict", "Give instrumentId or an instrument, not both.")
    if "amount" in takes.needs and "unitPrice" in fields and "quantity" not in fields and "quantity" in takes.may:
        yield FieldError("quantity", "required", "A unitPrice is the price of a quantity.")
    if request.type in TRANSFERS and request.counter_account_id is None and not _has_amount(fields):
        yield from _transfer_without_amount(request)


def _transfer_without_amount(request: CreateTransaction) -> Iterator[FieldError]:
    """Why a transfer alone needs its amount: it is an acquisition or a disposal, unless it goes to a spouse."""
    if request.type == "transfer_in":
        message = (
            "What comes in has a cost: that of the account it comes from, counterAccountId, or else what was paid for"
            " it, or what it was worth."
        )
        yield FieldError("grossAmount", "required", message)
    elif not request.spouse_transfer:
        message = (
            "What goes to somebody else is disposed of: at what worth? To an account of one's own it goes with"
            " counterAccountId."
        )
        yield FieldError("grossAmount", "required", message)


def _unwanted_fields(request: CreateTransaction, takes: Takes, fields: frozenset[str]) -> Iterator[FieldError]:
    taken = takes.needs | takes.may
    allowed = set(taken)
    if "instrument" in taken:
        allowed.add("instrumentId")
    if "amount" in taken:
        allowed.add("grossAmount")
    for name in sorted(fields - allowed):
        yield FieldError(name, "conflict", f"{with_article(request.type).capitalize()} has none: leave this out.")
    if "amount" not in takes.needs and not has_amount(request):
        for name in sorted(fields & {"currency", "fxRate"} & allowed):
            yield FieldError(name, "conflict", "Without an amount nothing is in a currency.")


def _range_errors(request: CreateTransaction) -> Iterator[FieldError]:
    above = (("quantity", request.quantity), ("fromQuantity", request.from_quantity), ("fxRate", request.fx_rate))
    for path, text in above:
        if text is not None and Decimal(text) <= 0:
            yield FieldError(path, "out_of_range", "Expected more than 0: the type says which way it goes.")
    amounts = (
        ("unitPrice", request.unit_price),
        ("grossAmount", request.gross_amount),
        ("fees", request.fees),
        ("taxes", request.taxes),
        ("remainingValue", request.remaining_value),
    )
    for path, text in amounts:
        if text is not None and Decimal(text) < 0:
            yield FieldError(path, "out_of_range", "Expected 0 or more: the type says which way it goes.")
    if request.cost_share is not None and not 0 <= Decimal(request.cost_share) <= 1:
        yield FieldError("costShare", "out_of_range", "Expected a part of the cost, from 0 to 1, such as 0.25.")
    ratio = request.split_ratio
    if ratio is not None and ratio.numerator == ratio.denominator:
        message = "A split of one for one changes nothing: expected another ratio, such as 2 for 1."
        yield FieldError("splitRatio", "out_of_range", message)


def _date_errors(request: CreateTransaction, today: str) -> Iterator[FieldError]:
    dates = (
        ("tradeDate", request.trade_date),
        ("settlementDate", request.settlement_date),
        ("exDate", request.ex_date),
    )
    for path, date in dates:
        if date is not None and date < EARLIEST:
            yield FieldError(path, "out_of_range", f"It lies before {EARLIEST}: a year is missing digits.")
    if request.trade_date.isoformat() > today:
        message = f"It lies ahead, and what is to come is not booked: expected {today} or an earlier day."
        yield FieldError("tradeDate", "out_of_range", message)
    if request.settlement_date is not None and request.settlement_date < request.trade_date:
        yield FieldError("settlementDate", "date_order", "It is before tradeDate: expected that day or a later one.")
