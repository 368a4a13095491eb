"""The terms of tenancies as their rows hold them. Reads of the table `tenancies`, which the landlord area owns."""

from typing import Final

import msgspec

from gatewayd.ledger.rents.schedule import Frequency, Step, Terms
from gatewayd.money import to_minor

COLUMNS: Final = "tenancies.currency, start_date, last_day, rent_frequency, rent_due_day, rent_history"


class _Step(msgspec.Struct, frozen=True, rename="camel"):
    """A rent of the history: its first ISO date, and its amount as a decimal."""

    from_date: str
    amount: str


_history = msgspec.json.Decoder(list[_Step])


def terms_of(
    currency: str, start: str, last_day: str | None, frequency: Frequency, due_day: int, history: str
) -> Terms:
    """The terms of `COLUMNS`."""
    steps = [Step(step.from_date, to_minor(step.amount, currency)) for step in _history.decode(history)]
    return Terms(start, last_day, frequency, due_day, tuple(steps))
