"""Disposals as a CSV file, one a line, for a spreadsheet or the computation that a return takes along. Pure."""

import csv
import io
from collections.abc import Iterable

from gatewayd.areas.assets.gains.shapes import Disposal

COLUMNS = ("date", "instrument", "isin", "quantity", "proceeds", "cost", "gain", "treatment", "provisional", "matches")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute at the start of a cell


def csv_text(disposals: Iterable[Disposal]) -> str:
    """The file, with a line of names first."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for one in disposals:
        matches = "; ".join(
            f"{m.quantity} {m.rule}{'' if m.date is None else ' ' + m.date} {m.cost}" for m in one.matches
        )
        name = f"'{one.name}" if one.name.startswith(_FORMULA) else one.name
        amounts = (str(one.proceeds), str(one.cost), str(one.gain))
        provisional = "yes" if one.provisional else "no"
        writer.writerow((one.date, name, one.isin or "", one.quantity, *amounts, one.treatment, provisional, matches))
    return text.getvalue()
