"""The findings of `gatewayd doctor`."""

from typing import NamedTuple


class Finding(NamedTuple):
    """The result of one check. `well`: nothing is wrong."""

    about: str
    well: bool
    sentence: str
