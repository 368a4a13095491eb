"""What `gatewayd doctor` has found."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that was looked at."""

    about: str
    well: bool
    sentence: str
