"""What is known of a broker's CSV export: how it is recognised, and where its columns stand (Domain E).

A file is a profile's when it has all of `headings`, in whatever order and among others: brokers add columns. Where
`is_whole`, it has no others, as its headings are such as many files have. Of several headings for one column the first
that the file has counts: brokers rename them. A pair is a heading and how many columns behind it: some have no heading.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Literal, NamedTuple

from gatewayd.statements.csv_headings import folded

DAY_FIRST, MONTH_FIRST = "dd/mm/yyyy", "mm/dd/yyyy"
Place = str | tuple[str, int]

Signs = Literal["sure", "some", "none"]
"""What the signs of a profile's amounts say: `sure`, that what goes out has a minus, always; `some`, that a minus goes
out and what has none may do either; `none`, nothing of money."""


class Profile(NamedTuple):
    """A broker's export: how it is known and read, where and when that was seen."""

    name: str
    broker: str
    headings: tuple[str, ...]
    columns: Mapping[str, tuple[Place, ...]]  # by the fields of a mapping
    source: str
    seen: str  # year and month of the source
    flags: Mapping[str, Any] = {}
    currency: str | None = "GBP"  # where no column says; None: the account's
    signs: Signs = "some"
    is_whole: bool = False
    decimal: Literal["point", "found"] = "point"  # found: out of the amounts, as it is that of the customer's country

    def lacks(self, found: AbstractSet[str]) -> int:
        """How many of its headings are not among these folded ones."""
        return sum(folded(heading) not in found for heading in self.headings)
