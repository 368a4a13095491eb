"""What the components of pages are given: fields, tables, steps and events, ready to be shown.

Each has a macro of its name in `templates/components`. Texts are what a person reads; nothing here knows an operation.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gatewayd.clock import Instant

FieldKind = Literal[
    "text",
    "textarea",
    "email",
    "number",
    "money",
    "decimal",
    "date",
    "instant",
    "select",
    "choices",
    "checkbox",
    "secret",
    "entity",
    "file",
    "rows",
    "carried",
]
"""How a field is entered. `choices`: several of `options`, ticked; `entity`: one of `options`, found by typing; `rows`:
the same fields several times; `carried`: not at all, what is there goes along."""
Tone = Literal["neutral", "success", "information", "warning", "danger"]
CellKind = Literal["text", "money", "number", "date", "moment", "badge", "code"]


class Option(NamedTuple):
    """One of the values that a field may have."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form. `values` are those of `choices`; `most` is how many characters it takes, None: any.

    `error` is what was wrong with what was given; `currency` stands beside money; `id` tells fields of one name apart,
    where several forms stand on a page; those of a `group` that follow each other stand under its name. `rows` are the
    fields of each row, of which `one` is called so; `most` is then how many rows there may be, and of a file how many
    bytes it may have. `none` says what it means to choose nothing. `autofocus`: one goes on here.
    """

    name: str
    label: str
    kind: FieldKind = "text"
    hint: str = ""
    error: str = ""
    value: str = ""
    values: Sequence[str] = ()
    options: Sequence[Option] = ()
    required: bool = False
    most: int | None = None
    currency: str = ""
    id: str = ""
    group: str = ""
    rows: "Sequence[Sequence[Field]]" = ()
    one: str = ""
    none: str = ""
    autofocus: bool = False

    @property
    def key(self) -> str:
        """What names it in the page."""
        return self.id or self.name

    @property
    def described_by(self) -> str:
        """The ids of what stands below it."""
        return " ".join([f"{self.key}-hint"] * bool(self.hint) + [f"{self.key}-error"] * bool(self.error))

    @property
    def is_filled(self) -> bool:
        """Whether it has any value."""
        return bool(self.value or self.values)


def by_group(fields: Iterable[Field]) -> list[tuple[str, list[Field]]]:
    """Fields that follow each other under the name that they share; empty: under none."""
    return [(group, list(members)) for group, members in itertools.groupby(fields, lambda each: each.group)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value. `text` is what is read; `at` an instant that is shown in words; `tone` that of a badge.

    `items` are several texts below each other, instead of `text`; `kind` counts where no column says it.
    """

    text: str = ""
    href: str = ""
    at: Instant | None = None
    tone: Tone = "neutral"
    items: Sequence[str] = ()
    kind: CellKind = "text"

    @property
    def is_plain(self) -> bool:
        """Whether it is its text and no more, unless its column says otherwise."""
        return not self.href and not self.items and self.at is None


class Column(NamedTuple):
    """What stands below one heading."""

    label: str
    kind: CellKind = "text"


class Action(NamedTuple):
    """A link that is drawn as a button."""

    label: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table. `id` is what a form says of it where rows can be ticked; `label` names it to a reader."""

    cells: Sequence[Cell]
    id: str = ""
    label: str = ""
    actions: Sequence[Action] = ()

    @property
    def name(self) -> str:
        """What it is called by what acts on it: its label, else its first cell."""
        return self.label or (self.cells[0].text if self.cells else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows below headings. `caption` says what they are, for who does not see the page around it.

    With `now` moments are said in words, such as "3 minutes ago"; without they are written out.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    now: Instant | None = None

    @property
    def has_actions(self) -> bool:
        """Whether any row has something to do."""
        return any(row.actions for row in self.rows)

    def pairs(self, row: Row) -> list[tuple[Column, Cell]]:
        """A row's cells, each with its column. Raises `ValueError` where one has no other."""
        return list(zip(self.columns, row.cells, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyState:
    """What stands in the place of a list without rows: a sentence, what to do, and the same as a command."""

    sentence: str
    action: Action | None = None
    command: str = ""


class Step(NamedTuple):
    """One step of several."""

    label: str
    state: Literal["done", "current", "next"]
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """Something that happened to a thing. `by` is who did it; empty: nobody in particular."""

    at: Instant
    text: str
    by: str = ""
    tone: Tone = "neutral"
