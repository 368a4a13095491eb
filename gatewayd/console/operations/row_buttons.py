"""Buttons of a form that give it back with one row more or less: nothing is done, and nothing is lost."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from werkzeug.datastructures import MultiDict

from gatewayd.console.operations.request_fields import Leaf, RequestFields
from gatewayd.console.operations.row_names import Texts, name_in_row, rows_in, texts_of_rows
from gatewayd.contract import hints
from gatewayd.errors import FieldError

BUTTON: Final = "rows"
"""The name of these buttons. Their values are `add <path>`, or `remove <path> <number>`."""
ADD: Final = "add"


class Reshaped(NamedTuple):
    """What a form begins with then, which field one goes on at, and what spoke against it."""

    given: Texts
    focus: str
    errors: Sequence[FieldError] = ()


def reshaped(fields: RequestFields, form: MultiDict[str, str]) -> Reshaped:
    """The form as a button of it asks for; one that it does not have changes nothing."""
    verb, path, number, *_ = f"{form.get(BUTTON, '')}  ".split(" ")
    brought = form.to_dict(flat=False)
    given: dict[str, Sequence[str]] = {leaf.path: form.getlist(leaf.path) for leaf in fields.leaves if not leaf.inner}
    focus, errors = "", []
    for leaf in fields.leaves:
        if not leaf.inner:
            continue
        rows = rows_in(brought, leaf.path)
        if leaf.path == path and verb == ADD and not (errors := _too_many(leaf, len(rows))):
            rows[max(rows, default=-1) + 1] = fields.empty_row(leaf)
            focus = name_in_row(path, len(rows) - 1, leaf.inner[0].path)
        elif leaf.path == path and verb != ADD and number.isdecimal():
            rows.pop(int(number), None)
            focus = path
        given |= texts_of_rows(
            leaf.path, [{**dict.fromkeys(fields.empty_row(leaf), ()), **row} for row in rows.values()]
        )
    return Reshaped(given, focus, errors)


def _too_many(leaf: Leaf, there: int) -> list[FieldError]:
    most = hints.bound(leaf.hint, "max_length")
    if most is None or there < most:
        return []
    return [FieldError(leaf.path, "out_of_range", f"There may be {most} at most.")]
