"""How a broker's CSV will be read: by the mapping given, by a profile, or as proposed where nothing is in doubt."""

from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from msgspec import structs

from gatewayd.statements.amounts import show_decimal_comma
from gatewayd.statements.csv_headings import folded
from gatewayd.statements.csv_proposal import Table
from gatewayd.statements.csv_sample import (
    DELIMITERS,
    body_rows,
    currency_in,
    cut,
    delimiter_of,
    row_at,
    sample_of,
    trimmed,
)
from gatewayd.statements.dates import DAY_FIRST, DateOrder
from gatewayd.statements.shapes import Column, Hints, Limits, Mapping, Unreadable
from gatewayd.statements.text import TextLines, encoding_of
from gatewayd.statements.trades.csv_proposal import overlaid, proposal_of
from gatewayd.statements.trades.profiles import Profile, mapping_of, nearest_of, profile_of

_HEADINGS_WITHIN = 30  # rows


class Plan(NamedTuple):
    """What the rows are read by. `currency` is that of rows without one, `width` how many cells the headings have."""

    mapping: Mapping
    encoding: str
    headings: Sequence[str]
    currency: str | None
    profile: Profile | None
    width: int


def plan_of(stream: BinaryIO, hints: Hints) -> Plan:
    """The plan. Raises `Unreadable`, with a proposal where a mapping would settle what the file leaves in doubt."""
    given = hints.mapping
    encoding = (given.encoding if given else None) or encoding_of(stream)
    sample = sample_of(stream, encoding, hints.limits)
    if given is not None and _is_complete(given):
        mapping, table, profile = given, cut(sample, given.delimiter), None
    else:
        mapping, table, profile = _found(stream, encoding, sample, hints)
    line = [] if mapping.header_row is None else table.rows[row_at(table, mapping.header_row)]
    headings = trimmed(line)
    if mapping.date_format is None:
        formats, doubtful = _formats(stream, encoding, mapping, headings, hints.limits)
        if len(formats) > 1:
            proposal = structs.replace(proposal_of(table, formats), mapping=mapping)
            raise Unreadable(None, f"nothing shows which is the day and which the month of {doubtful!r}", proposal)
        mapping = structs.replace(mapping, date_format=formats[0] if formats else DAY_FIRST)
    amount = mapping.amount if isinstance(mapping.amount, str) else ""
    said = currency_in([amount]) or (currency_in(headings) if profile is None else profile.currency)
    return Plan(mapping, encoding, headings, said or hints.currency, profile, len(line))


def _is_complete(given: Mapping) -> bool:
    """Whether a mapping says how a file is read, and not only some of it, such as what words mean."""
    told = (given.type, given.direction, given.quantity, given.price, given.amount, given.paid_in)
    return given.date is not None and (bool(given.description) or any(one is not None for one in told))


def _found(
    stream: BinaryIO, encoding: str, sample: Sequence[str], hints: Hints
) -> tuple[Mapping, Table, Profile | None]:
    """The mapping of the profile that the headings belong to, else the proposal's; what was said goes before it."""
    near: tuple[Mapping, Profile] | None = None
    for delimiter in DELIMITERS:
        table = cut(sample, delimiter)
        for row, line in zip(table.rows[:_HEADINGS_WITHIN], table.lines, strict=False):
            profile = profile_of(row) if len(row) > 2 else None
            if profile is not None:
                return _with(_of_profile(profile, table, row, line), hints.mapping), table, profile
            nearest = nearest_of(row) if near is None and len(row) > 2 else None
            if nearest is not None:
                near = _of_profile(nearest, table, row, line), nearest
    table = cut(sample, delimiter_of(sample))
    said = hints.mapping if near is None else _with(near[0], hints.mapping)
    proposal = proposal_of(table, said=said)
    if proposal.mapping.date is None and not any(len(row) > 1 for row in table.rows):
        raise Unreadable(None, "the file is no list of transactions: there are neither columns nor a format we know")
    if proposal.mapping.date is not None:
        formats, _ = _formats(stream, encoding, proposal.mapping, proposal.headings, hints.limits)
        proposal = proposal_of(table, formats, said)
    if proposal.doubts:
        questions = " ".join(doubt.question for doubt in proposal.doubts)
        raise Unreadable(None, f"the columns of this CSV have to be confirmed. {questions}", proposal)
    return proposal.mapping, table, None if near is None else near[1]


def _of_profile(profile: Profile, table: Table, headings: Sequence[str], line: int) -> Mapping:
    """The profile's mapping, and how the numbers of the file are written where that is the customer's country's."""
    mapping = mapping_of(profile, headings, table.delimiter, line)
    if profile.decimal == "point":
        return mapping
    places = [place_of(column, headings) for column in (mapping.amount, mapping.price)]
    numbers = [row[at] for row in table.rows for at in places if at is not None and at < len(row)]
    return structs.replace(mapping, decimal_comma=show_decimal_comma(numbers))


def _with(mapping: Mapping, said: Mapping | None) -> Mapping:
    return mapping if said is None else overlaid(mapping, said)


def _formats(
    stream: BinaryIO, encoding: str, mapping: Mapping, headings: Sequence[str], limits: Limits
) -> tuple[tuple[str, ...], str]:
    """In which formats the dates of the file can be read, and one that is in doubt."""
    at = place_of(mapping.date, headings)
    lines = TextLines(stream, encoding, limits)
    dates = DateOrder()
    try:
        for row in body_rows(lines, mapping):
            if at is not None and at < len(row.cells):
                dates.add(row.cells[at])
            if dates.is_settled:
                break
    finally:
        lines.detach()
    return dates.formats(), dates.doubtful


def place_of(column: Column | None, headings: Sequence[str]) -> int | None:
    """Where a column stands. Raises `Unreadable` for one that the file has not."""
    if column is None or isinstance(column, int):
        return column
    for at, heading in enumerate(headings):
        if folded(heading) == folded(column):
            return at
    names = ", ".join(heading for heading in headings if heading)
    raise Unreadable(None, f"there is no column {column!r}: the file has {names}")
