"""How a CSV will be read: by the mapping given, by a bank's profile, or as proposed where nothing is in doubt.

The profiles tell which of the banks' exports a file is of, and its mapping (Domain E).
"""

import functools
from collections.abc import Iterable, Sequence
from typing import BinaryIO, NamedTuple

from msgspec import Struct, structs

from gatewayd.statements.csv.lines import Columns
from gatewayd.statements.csv.proposal import Table, body_of, proposal_of
from gatewayd.statements.csv.rows import folded
from gatewayd.statements.csv.sample import (
    DELIMITERS,
    body_rows,
    currency_in,
    cut,
    delimiter_of,
    row_at,
    sample_of,
    trimmed,
)
from gatewayd.statements.csv.settling import settled, settled_dates
from gatewayd.statements.dates import DateOrder
from gatewayd.statements.profile_files import profiles_in, texts_of
from gatewayd.statements.shapes import Hints, Limits, Mapping, Supposed, Unreadable
from gatewayd.statements.text import TextLines, encoding_of

BY_HEADING = frozenset({"reference", "balance", "counterparty_account", "transaction_id", "merchant_category_code"})
"""Columns that not all exports of a profile have."""


class ProfileMapping(Mapping, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mapping of a profile. What differs from file to file is filled in for each."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bank's export: its headings, how it is read, where and when that was seen."""

    name: str
    bank: str
    headings: tuple[str, ...]
    mapping: ProfileMapping
    source: str
    seen: str  # year and month of the source
    currency: str = "GBP"  # where no column says


@functools.cache  # of the program's own files
def bank_profiles() -> tuple[Profile, ...]:
    """All of them, in the order in which they count."""
    return tuple(profile for text in texts_of("bank") for profile in profiles_in(text, Profile))


def profile_of(headings: Iterable[str]) -> Profile | None:
    """The profile of a line of headings: that with most of them, or None."""
    present = {folded(heading) for heading in headings}
    matching = [profile for profile in bank_profiles() if present.issuperset(map(folded, profile.headings))]
    return max(matching, key=lambda profile: len(profile.headings), default=None)


def mapping_of(profile: Profile, headings: Iterable[str], delimiter: str, header_row: int) -> Mapping:
    """The profile's mapping for a file; columns that it has no headings of are left out."""
    present = {folded(heading) for heading in headings}
    values = structs.asdict(profile.mapping)
    for name, column in values.items():
        if name == "description":
            values[name] = tuple(heading for heading in column if folded(heading) in present)
        elif name in BY_HEADING and isinstance(column, str) and folded(column) not in present:
            values[name] = None
    return Mapping(**{**values, "delimiter": delimiter, "header_row": header_row, "profile": profile.name})


class Plan(NamedTuple):
    """What the rows are read by. `preamble` is what stands before the headings; `currency` that of rows without one.

    `supposed` is what nothing shows. The encoding is the file's and not the mapping's, which may serve for other files.
    """

    mapping: Mapping
    encoding: str
    columns: Columns
    headings: Sequence[str]
    supposed: tuple[Supposed, ...]
    currency: str | None
    preamble: Sequence[Sequence[str]]
    profile: Profile | None


def plan_of(stream: BinaryIO, hints: Hints) -> Plan:
    """The plan. Raises `Unreadable`, with a proposal where a mapping would settle what the file leaves in doubt."""
    hinted = hints.mapping
    encoding = (hinted.encoding if hinted else None) or encoding_of(stream)
    sample = sample_of(stream, encoding, hints.limits)
    profile: Profile | None = None
    supposed: tuple[Supposed, ...] = ()
    if hinted is not None and (hinted.date is not None):
        mapping, table = hinted, cut(sample, hinted.delimiter)
    else:
        mapping, table, profile, supposed = _recognised(stream, encoding, sample, hints)
    mapping = _as_answered(mapping, hints)
    at = None if mapping.header_row is None else row_at(table, mapping.header_row)
    headings = trimmed(table.rows[at]) if at is not None else []
    columns = Columns(mapping, headings)
    if mapping.date_format is None:
        date_format, told = _date_format(stream, encoding, mapping, columns, hints)
        mapping, supposed = structs.replace(mapping, date_format=date_format), (*supposed, *told)
    currency = currency_in(headings) or hints.currency or (profile.currency if profile else None)
    return Plan(mapping, encoding, columns, headings, supposed, currency, table.rows[: at or 0], profile)


def _as_answered(mapping: Mapping, hints: Hints) -> Mapping:
    """The mapping with what a person said goes before it."""
    if hints.date_format is not None:
        mapping = structs.replace(mapping, date_format=hints.date_format)
    if hints.negate is not None and mapping.amount is not None:
        mapping = structs.replace(mapping, negate=hints.negate)
    return mapping


def _recognised(
    stream: BinaryIO, encoding: str, sample: Sequence[str], hints: Hints
) -> tuple[Mapping, Table, Profile | None, tuple[Supposed, ...]]:
    """The mapping of the profile that the headings belong to, else the proposal's with what was supposed."""
    for delimiter in DELIMITERS:
        table = cut(sample, delimiter)
        for row, line in zip(table.rows[:30], table.lines, strict=False):
            profile = profile_of(row) if len(row) > 2 else None
            if profile is not None:
                return mapping_of(profile, row, delimiter, line), table, profile, ()
    table = cut(sample, delimiter_of(sample))
    proposal = proposal_of(table)
    if proposal.mapping.date is None and not any(len(row) > 1 for row in table.rows):
        raise Unreadable(None, "the file is no statement: there are neither columns nor another format that is known")
    doubts, dates = {doubt.field for doubt in proposal.doubts}, DateOrder()
    if "date_format" in doubts and doubts.isdisjoint({"date", "amount"}):
        columns = Columns(proposal.mapping, proposal.headings)
        dates = _dates(stream, encoding, proposal.mapping, columns, hints.limits)
        proposal = proposal_of(table, dates)
    proposal, supposed = settled(proposal, body_of(table), dates, hints)
    if proposal.doubts:
        questions = " ".join(doubt.question for doubt in proposal.doubts)
        raise Unreadable(None, f"the columns of this CSV have to be confirmed. {questions}", proposal)
    return proposal.mapping, table, None, supposed


def _date_format(
    stream: BinaryIO, encoding: str, mapping: Mapping, columns: Columns, hints: Hints
) -> tuple[str, tuple[Supposed, ...]]:
    """The format that all dates of the file agree with. Raises `Unreadable` where they leave two."""
    dates = _dates(stream, encoding, mapping, columns, hints.limits)
    formats = dates.formats()
    if len(formats) == 1:
        return formats[0], ()
    settled_format = settled_dates(dates, hints)
    if settled_format is None:
        proposal = proposal_of(cut(sample_of(stream, encoding, hints.limits), mapping.delimiter), dates)
        reason = f"nothing shows which is the day and which the month of {dates.doubtful!r}"
        raise Unreadable(None, reason, structs.replace(proposal, mapping=mapping))
    return settled_format


def _dates(stream: BinaryIO, encoding: str, mapping: Mapping, columns: Columns, limits: Limits) -> DateOrder:
    """The order of the dates of the file, read as far as it takes."""
    lines = TextLines(stream, encoding, limits)
    dates = DateOrder()
    try:
        for row in body_rows(lines, mapping):
            if columns.date is not None and columns.date < len(row.cells):
                dates.add(row.cells[columns.date])
            if dates.is_settled:
                break
    finally:
        lines.detach()
    return dates
