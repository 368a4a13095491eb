"""Splits: a fact of an instrument on one day, for all who hold it, told by any number of transactions (Domain B3)."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import msgspec
from msgspec.structs import replace

from gatewayd.areas.assets.books.instruments import INSTRUMENTS, InstrumentSplit, Ratio
from gatewayd.areas.assets.pools.matching import Split
from gatewayd.clock import days_after
from gatewayd.errors import Problem, invalid_field
from gatewayd.store import ReadTx, WriteTx

SAME_WITHIN_DAYS: Final = 7  # Chosen: brokers book a split on its day, or when they come to it

_SELECT = "SELECT splits FROM instruments WHERE org_id = :org_id AND id = :id"
_SELECT_TOLD = """
SELECT id, trade_date, split_ratio FROM asset_transactions
WHERE org_id = :org_id AND instrument_id = :instrument_id AND type = 'split' AND reversed_by_id IS NULL ORDER BY id
"""

_splits = msgspec.json.Decoder(list[InstrumentSplit]).decode
_ratio = msgspec.json.Decoder(Ratio).decode


def of_instrument(tx: ReadTx, instrument_id: str) -> list[Split]:
    """The splits of an instrument of the organization, oldest first."""
    text = tx.value(_SELECT, id=instrument_id)
    if text is None or text == "[]":
        return []
    return [Split(split.date, Fraction(split.numerator, split.denominator)) for split in _splits(text)]


def retell(tx: WriteTx, instrument_id: str, without: Iterable[str] = ()) -> list[str]:
    """Make the splits of an instrument those that its transactions tell, but for some of these.

    Returns the ISO dates on which holdings change by that, oldest first. Raises `Problem` `validation_failed` where two
    of them tell another ratio for the same day.
    """
    instrument = INSTRUMENTS.get(tx, instrument_id)
    facts = _split_facts(_told_ratios(tx, instrument_id, set(without)))
    differing = {_split_key(split) for split in facts} ^ {_split_key(split) for split in instrument.splits}
    if differing:
        INSTRUMENTS.update(tx, replace(instrument, splits=facts))
    return sorted({date for date, _ in differing})


def differ(tx: ReadTx, instrument_id: str) -> bool:
    """Whether an instrument has other splits than its transactions tell, or these contradict each other."""
    try:
        told = _split_facts(_told_ratios(tx, instrument_id, set()))
    except Problem:
        return True
    stored = INSTRUMENTS.get(tx, instrument_id).splits
    return {_split_key(split) for split in told} != {_split_key(split) for split in stored}


def _told_ratios(tx: ReadTx, instrument_id: str, without: set[str]) -> list[tuple[str, Ratio]]:
    rows = tx.rows(_SELECT_TOLD, instrument_id=instrument_id)
    return [(date, _ratio(ratio)) for id_, date, ratio in rows if id_ not in without]


def _split_facts(told: list[tuple[str, Ratio]]) -> list[InstrumentSplit]:
    """The splits that transactions tell, in the order in which they came: the first to tell one gives it its day."""
    facts: list[InstrumentSplit] = []
    for date, ratio in told:
        near = [split for split in facts if _are_near(split.date, date)]
        if any(split.date == date and _as_fraction(split) != _as_fraction(ratio) for split in facts):
            raise invalid_field("splitRatio", "conflict", f"Another split of the instrument is known for {date}.")
        if not any(_as_fraction(split) == _as_fraction(ratio) for split in near):
            facts.append(InstrumentSplit(date=date, numerator=ratio.numerator, denominator=ratio.denominator))
    return sorted(facts, key=lambda split: split.date)


def _are_near(date: str, other: str) -> bool:
    """Whether two ISO dates are so near that they may be of one split."""
    return days_after(date, -SAME_WITHIN_DAYS) <= other <= days_after(date, SAME_WITHIN_DAYS)


def _as_fraction(ratio: InstrumentSplit | Ratio) -> Fraction:
    return Fraction(ratio.numerator, ratio.denominator)


def _split_key(split: InstrumentSplit) -> tuple[str, Fraction]:
    return split.date, _as_fraction(split)
