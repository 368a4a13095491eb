"""What a proposal leaves in doubt, settled: by what a person said, by the file, or as British banks write it.

What is only supposed is told. It is supposed where the caller allows it, of an account in pounds.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import structs

from gatewayd.statements.amounts import parse_amount
from gatewayd.statements.csv.columns import cell_at, is_borne_out
from gatewayd.statements.dates import DAY_FIRST, DateOrder
from gatewayd.statements.shapes import Column, Doubt, Hints, Mapping, Proposal, Supposed

_TO_A_CARD: Final = re.compile(r"payment|thank|refund|cash ?back|credit|direct debit", re.IGNORECASE)
"""What stands beside the negative rows of a card's file, where what was spent is positive."""
_DAY: Final = "In Britain the day stands before the month, and nothing in the file says otherwise."
_SEQUENCE: Final = "Read so, the dates of the file follow upon each other."
_SPENT_NEGATIVE: Final = "What was spent is taken to be negative, as banks write it."
_SPENT_POSITIVE: Final = "Most amounts are positive, so that on a card they are what was spent."
_BORNE_OUT: Final = "The file has no headings: read so, each balance follows from the one before."
_ONE_AMOUNT: Final = "The file has no headings: it has one column of dates, one of amounts, and text."


class Settled(NamedTuple):
    """A proposal with what is still in doubt, and what was supposed."""

    proposal: Proposal
    supposed: tuple[Supposed, ...]


def settled(proposal: Proposal, body: Sequence[Sequence[str]], dates: DateOrder, hints: Hints) -> Settled:
    """The proposal once what can be settled is. `body` are the first rows, `dates` those of the whole file."""
    mapping, left = proposal.mapping, list[Doubt]()
    supposed: list[Supposed] = []
    for doubt in proposal.doubts:
        answer = _answer(doubt, structs.replace(proposal, mapping=mapping), body, dates, hints)
        if answer is None:
            left.append(doubt)
            continue
        mapping = structs.replace(mapping, **answer.values)
        supposed += answer.told
    return Settled(structs.replace(proposal, mapping=mapping, doubts=tuple(left)), tuple(supposed))


def settled_dates(dates: DateOrder, hints: Hints) -> tuple[str, tuple[Supposed, ...]] | None:
    """The format of dates that leave two, and what was supposed of it; None: it has to be asked for."""
    if hints.date_format is not None:
        return hints.date_format, ()
    if (date_format := dates.in_sequence()) is not None:
        return date_format, (Supposed(field="date_format", value=date_format, reason=_SEQUENCE),)
    if _may_suppose(hints) and not dates.contradict:
        return DAY_FIRST, (Supposed(field="date_format", value=DAY_FIRST, reason=_DAY),)
    return None


class _Answer(NamedTuple):
    values: dict[str, object]
    told: tuple[Supposed, ...] = ()


def _answer(
    doubt: Doubt, proposal: Proposal, body: Sequence[Sequence[str]], dates: DateOrder, hints: Hints
) -> _Answer | None:
    if doubt.field == "date_format":
        answer = settled_dates(dates, hints)
        return None if answer is None else _Answer({"date_format": answer[0]}, answer[1])
    if doubt.field == "negate":
        return _sign(proposal, body, hints)
    return _columns(proposal.mapping, body, hints) if doubt.field == "columns" else None


def _may_suppose(hints: Hints) -> bool:
    return hints.supposes and hints.currency == "GBP"


def _sign(proposal: Proposal, body: Sequence[Sequence[str]], hints: Hints) -> _Answer | None:
    """Whether what was spent is positive, of a file that has no balance.

    Chosen: of a bank account it is negative where any amount is, unless all of these read like payments to a card.
    """
    if hints.negate is not None:
        return _Answer({"negate": hints.negate})
    if not _may_suppose(hints):
        return None
    mapping = proposal.mapping
    amounts = list(_amounts(mapping, proposal.headings, body))
    negative = [text for amount, text in amounts if amount < 0]
    if hints.is_card:
        spent = 2 * len(negative) < len(amounts)
        return _Answer({"negate": spent}, (_told_sign(_SPENT_POSITIVE if spent else _SPENT_NEGATIVE, spent=spent),))
    if not negative or (2 * len(negative) < len(amounts) and all(map(_TO_A_CARD.search, negative))):
        return None
    return _Answer({"negate": False}, (_told_sign(_SPENT_NEGATIVE, spent=False),))


def _told_sign(reason: str, *, spent: bool) -> Supposed:
    return Supposed(field="negate", value=str(spent).lower(), reason=reason)


def _columns(mapping: Mapping, body: Sequence[Sequence[str]], hints: Hints) -> _Answer | None:
    """Whether columns without headings are what they are taken for."""
    if mapping.date is None or not mapping.description:
        return None
    if is_borne_out(mapping, body):
        return _Answer({}, (Supposed(field="columns", value="", reason=_BORNE_OUT),))
    if _may_suppose(hints) and mapping.amount is not None and mapping.balance is None:
        return _Answer({}, (Supposed(field="columns", value="", reason=_ONE_AMOUNT),))
    return None


def _amounts(mapping: Mapping, headings: Sequence[str], body: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
    """Amount and text of each row that has an amount."""
    at = _place(mapping.amount, headings)
    texts = [_place(column, headings) for column in mapping.description]
    for row in body:
        try:
            amount = parse_amount(cell_at(row, at), "GBP", decimal_comma=mapping.decimal_comma)
        except ValueError:
            continue
        yield amount, " ".join(cell_at(row, text) for text in texts)


def _place(column: Column | None, headings: Sequence[str]) -> int | None:
    return headings.index(column) if isinstance(column, str) else column
