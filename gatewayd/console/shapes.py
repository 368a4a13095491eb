"""What the components of pages are given: fields, tables, steps and events, ready to be shown.

Each has a macro of its name in `templates/components`. Texts are what a person reads; nothing here knows an operation.
"""

from collections.abc import Sequence
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
    "select",
    "choices",
    "checkbox",
    "secret",
    "entity",
]
"""How a field is entered. `choices`: several of `options`, ticked; `entity`: one of `options`, found by typing."""
Tone = Literal["neutral", "success", "information", "warning", "danger"]
CellKind = Literal["text", "money", "number", "date", "moment", "badge", "code"]


class Option(NamedTuple):
    """One of the values that a field may have."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form. `values` are those of `choices`; `most` is how many characters it takes, None: any.

    `error` is what was wrong with what was given; `currency` stands beside money.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value of a table. `text` is what is read; `at` an instant that is shown in words; `tone` that of a badge."""

    text: str = ""
    href: str = ""
    at: Instant | None = None
    tone: Tone = "neutral"


class Column(NamedTuple):
    """What stands below one heading."""

    label: str
    kind: CellKind = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table. `id` is what a form says of it where rows can be ticked; `label` names it to a reader."""

    cells: Sequence[Cell]
    id: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows below headings. `caption` says what they are, for who does not see the page around it."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]


class Action(NamedTuple):
    """A link that is drawn as a button."""

    label: str
    href: str


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
