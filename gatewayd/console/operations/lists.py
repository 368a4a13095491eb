"""What a list operation answers, as a table: of each column what its name says in the response."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

import msgspec

from gatewayd.clock import Instant, from_wire
from gatewayd.console.components import words
from gatewayd.console.components.shapes import Cell, CellKind, Column, Row, Table, Tone
from gatewayd.console.operations.request_fields import words_of
from gatewayd.contract import hints
from gatewayd.contract.sentences import resources_of
from gatewayd.contract.wire import DateText
from gatewayd.money import Money, to_minor

_OF_DATES: Final = get_args(DateText)[1:]
JsonObject = Mapping[str, Any]
NOTHING: Final = "–"
"""What stands where there is no value."""
TONES: Final[Mapping[str, Tone]] = {
    **dict.fromkeys(("succeeded", "paid", "active", "accepted", "met", "true"), "success"),
    **dict.fromkeys(("retrying", "pending", "part_paid", "due_soon"), "information"),
    **dict.fromkeys(("overdue", "expiring", "disabled"), "warning"),
    **dict.fromkeys(("exhausted", "failed", "expired", "voided"), "danger"),
}  # fmt: skip
"""How states are drawn, whatever they are of; others are neutral."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of what is listed. `kind` is how it is shown."""

    name: str
    label: str
    kind: CellKind


@dataclass(frozen=True, slots=True)
class Listed:
    """What the rows of a list are shown by."""

    caption: str
    members: Sequence[Member]

    def table(self, rows: Sequence[JsonObject], now: Instant, href: Callable[[JsonObject], str] | None = None) -> Table:
        """The rows; the first cell of each leads to `href`."""
        return Table(
            caption=self.caption,
            columns=[Column(member.label, member.kind) for member in self.members],
            rows=[self._row(row, href) for row in rows],
            now=now,
        )

    def _row(self, row: JsonObject, href: Callable[[JsonObject], str] | None) -> Row:
        cells = [cell(member, row) for member in self.members]
        if href is not None:
            cells[0] = replace(cells[0], href=href(row))
        return Row(cells=cells, id=str(row.get("id", "")))


def listed(response: Any, caption: str, columns: Mapping[str, str]) -> Listed:
    """What a list operation answers, by the names of its columns with their headings; an empty one: by the name.

    Raises `KeyError` for a name that its rows do not have.
    """
    *_, resource = resources_of(response)
    return Listed(caption, members_of(resource, columns))


def members_of(resource: Any, columns: Mapping[str, str]) -> list[Member]:
    """The members with these names on the wire. Raises `KeyError`."""
    there = {each.encode_name: each for each in msgspec.structs.fields(resource)}
    return [Member(name, label or words_of(name), _kind(there[name].type)) for name, label in columns.items()]


def members_of_part(resource: Any, name: str, columns: Mapping[str, str]) -> list[Member]:
    """The same of what is listed inside a resource, such as the lines of an invoice. Raises `KeyError`."""
    there = {each.encode_name: hints.item_hint(each.type) for each in msgspec.structs.fields(resource)}
    return members_of(there[name], columns)


def facts(members: Sequence[Member], row: JsonObject) -> list[tuple[str, Cell]]:
    """What there is of one thing, each under its label; what it does not have is left out."""
    there = [member for member in members if row.get(member.name) not in (None, [])]
    return [(member.label, replace(cell(member, row), kind=member.kind)) for member in there]


def cell(member: Member, row: JsonObject) -> Cell:
    """One value as it is shown."""
    value = row.get(member.name)
    if value is None or value == []:
        return Cell(text=NOTHING)
    if member.kind == "moment":
        return Cell(text=str(value), at=from_wire(str(value)))
    if member.kind == "date":
        return Cell(text=words.day(str(value)))
    if member.kind == "money":
        currency = str(row["currency"])
        return Cell(text=words.money(to_minor(str(value), currency), currency))
    if isinstance(value, bool):
        return Cell(text="Yes" if value else "No", tone=TONES.get(str(value).lower(), "neutral"))
    if member.kind == "badge":
        return Cell(text=words_of(str(value)), tone=TONES.get(str(value), "neutral"))
    if isinstance(value, list) and len(value) > 1:
        return Cell(items=[str(each) for each in value])
    return Cell(text=str(value[0] if isinstance(value, list) else value))


def _kind(annotation: Any) -> CellKind:
    """How a member of a response is shown, by its type."""
    members = hints.members(annotation)
    if Instant in members:
        return "moment"
    if Money in members:
        return "money"
    if any(_is_date(each) for each in (annotation, *get_args(annotation))):
        return "date"
    if bool in members or (hints.literals(annotation) and not hints.is_list(annotation)):
        return "badge"
    return "number" if int in members else "text"


def _is_date(annotation: Any) -> bool:
    return any(meta in _OF_DATES for meta in get_args(annotation)[1:])
