"""Commands that print a list of the API: of `--org`, as many as `--limit` says."""

import argparse
import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list
from gatewayd.cli.parser import Subparsers, add_command, whole_number
from gatewayd.cli.run_operation import operation_of, walk

if TYPE_CHECKING:
    from gatewayd.contract.operation import Area

PAGE: Final = 100
"""As many as a list gives at once."""
LIST_MAX: Final = 100_000
ListRequest = tuple[str, Mapping[str, object]]
"""The operation, and its values as they are spelled on the wire."""
ListColumns = tuple[Sequence[str], Sequence[str]]
"""The headings of the columns, and the member that stands in each."""


def print_found(
    arguments: argparse.Namespace, context: Context, area: "Area", wanted: tuple[ListRequest, ListColumns]
) -> None:
    """Print what an operation of an area lists."""
    (operation, values), (columns, names) = wanted
    size = (min(PAGE, arguments.limit), arguments.limit)
    rows = walk(context, arguments.org, operation_of(area, operation), values, size)
    print_list(arguments, rows, columns, [cells(row, names) for row in rows])


class Listed(NamedTuple):
    """A list whose ids other commands ask for: of an area, the operation, and the headings with what stands below them.

    `archived`: archived items are left out but with `--all`.
    """

    area: str
    operation: str
    columns: Sequence[tuple[str, str]]
    archived: bool = False


def add_list(group: Subparsers, summary: str, listed: Listed, name: str = "list") -> argparse.ArgumentParser:
    """The command that prints it."""
    command = add_command(group, name, summary, partial(_list, listed), json=True)
    command.add_argument("--org", required=True, metavar="ID")
    command.add_argument("--limit", type=whole_number(1, LIST_MAX), default=PAGE, metavar="N")
    if listed.archived:
        command.add_argument("--all", action="store_true", help="archived ones too")
    return command


def _list(listed: Listed, arguments: argparse.Namespace, context: Context) -> int:
    area: Area = importlib.import_module(f"gatewayd.areas.{listed.area}").AREA
    values: dict[str, object] = {"accountId": getattr(arguments, "account", None)}
    if listed.archived:
        values["includeArchived"] = arguments.all
    filters = {name: value for name, value in values.items() if value is not None}
    headings, names = zip(*listed.columns, strict=True)
    print_found(arguments, context, area, ((listed.operation, filters), (headings, names)))
    return 0


def cells(row: Mapping[str, object], names: Sequence[str]) -> tuple[str, ...]:
    """The members of an item as text; what it has not is empty."""
    return tuple("" if row[name] is None else str(row[name]) for name in names)
