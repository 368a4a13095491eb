"""What the mt-940 package makes of the fields of a message, as lines and balances."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from mt940.models import Amount, Transactions
from mt940.models import Balance as SwiftBalance
from mt940.options import Options
from mt940.tags import Statement, StatementASNB, StatementGLS

from gatewayd.money import CURRENCIES
from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.shapes import Line, Refused
from gatewayd.statements.text import cleaned
from gatewayd.statements.transaction_types import MT940_TYPES

_NO_REFERENCE = frozenset({"NONREF", "NOREF"})
_FAULTS = (RuntimeError, ValueError, InvalidOperation, KeyError, TypeError)
"""What the package raises for a field that it can't read."""

Written = tuple[int, str]
"""Line of the file and text of a statement line, with the fields that belong to it behind."""


class Balance(NamedTuple):
    """A balance: signed, in minor units, of a day."""

    amount: int
    currency: str
    date: str | None


def balance_of(tag: str, text: str) -> Balance:
    """The balance of a field 60, 62 or 64. Raises `ValueError` with a sentence."""
    try:
        parsed = Transactions(options=Options.all())
        parsed.parse(f":{tag}:{text}")
    except _FAULTS as error:
        raise ValueError(f"{text[:40]!r} is no balance") from error
    found = next((value for value in parsed.data.values() if isinstance(value, SwiftBalance)), None)
    if found is None or not isinstance(found.amount, Amount) or found.amount.currency not in CURRENCIES:
        raise ValueError(f"{text[:40]!r} is no balance in a currency")
    currency = found.amount.currency
    return Balance(_minor(found.amount.amount, currency), currency, found.date.isoformat() if found.date else None)


def lines_of(run: Sequence[Written], currency: str, statement: int) -> Iterator[Line | Refused]:
    """The lines of a run. Where it holds one that cannot be read, each is tried alone."""
    try:
        yield from _parsed(run, currency, statement, Statement())
    except _FAULTS:
        for one in run:
            yield _alone(one, currency, statement)


def _alone(one: Written, currency: str, statement: int) -> Line | Refused:
    """The line as SWIFT has it, else as banks do that write longer references."""
    for dialect in (Statement(), StatementASNB(), StatementGLS()):
        try:
            return _parsed([one], currency, statement, dialect)[0]
        except _FAULTS:
            continue
    first = one[1].split("\n", maxsplit=1)[0][:60]
    return Refused(line=one[0], reason=f"{first!r} is no statement line (:61:)", statement=statement)


def _parsed(run: Sequence[Written], currency: str, statement: int, dialect: Statement) -> list[Line]:
    parsed = Transactions(options=Options.all(), tags={61: dialect})
    # A line of no amount in front tells the package the currency and nothing else.
    found = parsed.parse(f":60F:C000101{currency}0,\n" + "\n".join(f":61:{text}" for _, text in run))
    if len(found) != len(run):
        raise ValueError("it cannot be told apart from the lines around it")
    return [_line(one.data, written, currency, statement) for one, written in zip(found, run, strict=True)]


def _line(data: Mapping[str, object], written: Written, currency: str, statement: int) -> Line:
    amount, value_date = data["amount"], data["date"]
    booked = data.get("guessed_entry_date") or data.get("entry_date") or value_date
    if not isinstance(amount, Amount) or not isinstance(booked, datetime.date):
        raise KeyError("amount, date")
    raw = "\n".join(line.removeprefix(":86:") for line in written[1].split("\n")[1:]).strip()
    structured = [_text(data, name) for name in ("posting_text", "applicant_name", "purpose", "additional_purpose")]
    customer = _text(data, "customer_reference")
    return Line(
        statement=statement,
        line=written[0],
        booking_date=booked.isoformat(),
        value_date=value_date.isoformat() if isinstance(value_date, datetime.date) else None,
        amount=_minor(amount.amount, currency),
        currency=currency,
        description=cleaned(" ".join(t for t in structured if t) or raw) or customer or "",
        raw_description=raw,
        type=MT940_TYPES.get((_text(data, "id") or "")[1:4], "other"),
        counterparty_name=_cleaned(data, "applicant_name"),
        counterparty_account=_text(data, "applicant_iban") or _text(data, "gvc_applicant_iban"),
        reference=customer if customer not in _NO_REFERENCE else None,
        end_to_end_id=_cleaned(data, "end_to_end_reference"),
        bank_reference=_text(data, "bank_reference"),
        bank_transaction_code=_text(data, "id"),
    )


def _text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _cleaned(data: Mapping[str, object], name: str) -> str | None:
    text = _text(data, name)
    return (cleaned(text) or None) if text else None


def _minor(amount: Decimal, currency: str) -> int:
    return parse_amount(f"{amount:f}", currency)
