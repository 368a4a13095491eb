"""Commands that print a list of the API: of `--org`, as many as `--limit` says."""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import Context
from gatewayd.cli.output import print_list
from gatewayd.cli.run_operation import operation_of, walk

if TYPE_CHECKING:
    from gatewayd.contract.operation import Area

PAGE: Final = 100
"""As many as a list gives at once."""
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
    found = walk(context, arguments.org, operation_of(area, operation), values, size)
    print_list(arguments, found, columns, [cells(row, names) for row in found])


def cells(row: Mapping[str, object], names: Sequence[str]) -> tuple[str, ...]:
    """The members of an item as text; what it has not is empty."""
    return tuple("" if row[name] is None else str(row[name]) for name in names)
