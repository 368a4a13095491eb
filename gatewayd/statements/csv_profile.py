"""What a profile of a bank's CSV is."""

from typing import NamedTuple

from gatewayd.statements.shapes import Mapping


class Profile(NamedTuple):
    """A bank's export: its headings, how it is read, where and when that was seen."""

    name: str
    bank: str
    headings: tuple[str, ...]
    mapping: Mapping
    source: str
    seen: str  # year and month of the source
    currency: str = "GBP"  # where no column says
