"""Transactions as tests think of them, whatever format they are written in."""

import datetime
from typing import NamedTuple

from hypothesis import strategies as st


class Row(NamedTuple):
    """A transaction as a test thinks of it."""

    day: datetime.date
    pence: int
    text: str

    @property
    def amount(self) -> str:
        """`-12.34`."""
        return f"{'-' if self.pence < 0 else ''}{abs(self.pence) // 100}.{abs(self.pence) % 100:02d}"

    @property
    def plain(self) -> str:
        """The text without what is a sign of some format."""
        return " ".join("".join(c if c.isalnum() else " " for c in self.text).split())


WORDS = st.text("ABCdef £é&<>\"'.-()", max_size=30).map(lambda text: f"A{text}Z")
ROWS = st.lists(
    st.builds(
        Row,
        st.dates(datetime.date(2020, 1, 1), datetime.date(2030, 12, 31)),
        st.integers(-(10**11), 10**11).filter(bool),
        WORDS,
    ),
    min_size=1,
    max_size=20,
)
SOME = Row(datetime.date(2026, 3, 1), 100, "Any")
