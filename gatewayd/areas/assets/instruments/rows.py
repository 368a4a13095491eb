"""Instruments as they are stored. Owns the tables `instruments` and `instrument_words`."""

from msgspec.structs import replace

from gatewayd.areas.assets.instruments import names
from gatewayd.areas.assets.instruments.shapes import Instrument, PriceSource
from gatewayd.store import Table, WriteTx

INSTRUMENTS = Table(
    "instruments",
    Instrument,
    kind="instrument",
    prefix="ins",
    written={"name_folded": lambda row: names.folded(row.name)},
)
_INSERT_WORD = "INSERT INTO instrument_words (org_id, word, instrument_id) VALUES (:org_id, :word, :instrument_id)"
_DELETE_WORDS = "DELETE FROM instrument_words WHERE org_id = :org_id AND instrument_id = :instrument_id"


def add(tx: WriteTx, row: Instrument) -> Instrument:
    """Store a new instrument, so that a search finds it by the words of its name."""
    row = INSTRUMENTS.insert(tx, row)
    _add_words(tx, row)
    return row


def change(tx: WriteTx, before: Instrument, after: Instrument) -> Instrument:
    """Store what an instrument has become, as its next version."""
    after = INSTRUMENTS.update(tx, after)
    if after.name != before.name:
        tx.run(_DELETE_WORDS, instrument_id=after.id)
        _add_words(tx, after)
    return after


def show_price(tx: WriteTx, instrument_id: str, date: str, quote: tuple[str, str, PriceSource]) -> None:
    """Let an instrument show a price, its currency and its source, unless it has a later one.

    A price in another currency than the instrument's is not shown. Its version stays: nobody changed the instrument.
    """
    price, currency, source = quote
    row = INSTRUMENTS.get(tx, instrument_id)
    if row.currency == currency and (row.last_price_date is None or row.last_price_date <= date):
        INSTRUMENTS.save(tx, replace(row, last_price=price, last_price_date=date, price_source=source))


def _add_words(tx: WriteTx, row: Instrument) -> None:
    tx.run_each(_INSERT_WORD, [(tx.org_id, word, row.id) for word in names.words(row.name)])
