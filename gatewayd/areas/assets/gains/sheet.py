"""Disposals as rows of a sheet, one each, for the computation that a return takes along. Pure."""

from collections.abc import Iterable, Iterator

from gatewayd.areas.assets.gains.shapes import Disposal, DisposalMatch
from gatewayd.ledger.csv_text import Cell

COLUMNS = (
    "date",
    "instrument",
    "isin",
    "quantity",
    "proceeds",
    "cost",
    "gain",
    "treatment",
    "section",
    "provisional",
    "matches",
)


def rows(disposals: Iterable[Disposal]) -> Iterator[tuple[Cell, ...]]:
    """The names of the columns, and a row for each disposal."""
    yield COLUMNS
    for one in disposals:
        amounts = (str(one.proceeds), str(one.cost), str(one.gain))
        provisional = "yes" if one.provisional else "no"
        matches = "; ".join(map(_told, one.matches))
        yield one.date, one.name, one.isin, one.quantity, *amounts, one.treatment, one.section, provisional, matches


def _told(match: DisposalMatch) -> str:
    return " ".join(filter(None, (match.quantity, match.rule, match.date, str(match.cost))))
