"""The terms of tenancies as their rows hold them. Reads of the table `tenancies`, which the landlord area owns."""

from typing import Any, Final

import msgspec

from gatewayd.ledger.rents import monthly_periods
from gatewayd.ledger.rents.schedule import Frequency, Step, Terms
from gatewayd.money import to_minor

COLUMNS: Final = """
tenancies.currency, start_date, last_day, rent_frequency, rent_due_day, rent_history, tenancies.type,
    rent_quarter_days
""".strip()


class _Step(msgspec.Struct, frozen=True, rename="camel"):
    """A rent of the history: its first ISO date, its amount as a decimal, and how often where that is not as agreed."""

    from_date: str
    amount: str
    frequency: Frequency | None = None


_history = msgspec.json.Decoder(list[_Step])


def terms_of(*columns: Any) -> Terms:
    """The terms of `COLUMNS`, as they are by law."""
    currency, start, last_day, frequency, due_day, history, type_, quarter_days = columns
    steps = [Step(one.from_date, to_minor(one.amount, currency), one.frequency) for one in _history.decode(history)]
    terms = Terms(start, last_day, frequency, due_day, tuple(steps), quarter_days=quarter_days)
    return monthly_periods.put_in(terms, type_)
