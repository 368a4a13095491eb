"""Instruments as they are stored. Owns the table `instruments`."""

from gatewayd.areas.assets.instruments.shapes import Instrument
from gatewayd.store import Table


def _search_text(row: Instrument) -> str:
    words = (row.name, row.symbol, row.isin, row.sedol, row.figi, row.cusip)
    return " ".join(word for word in words if word is not None).casefold()


INSTRUMENTS = Table("instruments", Instrument, kind="instrument", prefix="ins", written={"search_text": _search_text})
