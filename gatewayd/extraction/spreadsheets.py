"""Spreadsheets (xlsx, xlsb, xls, ods): the cells of each sheet, a line for each row."""

import datetime
from collections.abc import Iterator
from typing import BinaryIO, Final

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from gatewayd.extraction.archives import open_archive
from gatewayd.extraction.bounds import Bounds, joined
from gatewayd.extraction.shapes import ExtractionFailed

_CELLS_MAX: Final = 5_000_000  # Chosen: what calamine lays out in memory, empty cells between others included
_ZIP: Final = b"PK"


def read_spreadsheet(stream: BinaryIO, bounds: Bounds) -> list[str]:
    """A page for each sheet, which begins with its name. Raises `ExtractionFailed`."""
    stream.seek(0)
    if stream.read(2) == _ZIP:
        open_archive(stream).close()
    stream.seek(0)
    left = bounds.characters
    pages: list[str] = []
    try:
        workbook = CalamineWorkbook.from_filelike(stream)
        for name in workbook.sheet_names[: bounds.pages]:
            if left <= 0:
                break
            pages.append(joined(_sheet_lines(name, workbook.get_sheet_by_name(name)), left))
            left -= len(pages[-1])
    except PasswordError as error:
        raise ExtractionFailed("encrypted", "The spreadsheet can be opened with a password only.") from error
    except (CalamineError, ValueError, OSError) as error:
        raise ExtractionFailed("damaged", "The spreadsheet is cut off or damaged.") from error
    return pages


def _sheet_lines(name: str, sheet: CalamineSheet) -> Iterator[str]:
    if sheet.height * sheet.width > _CELLS_MAX:
        raise ExtractionFailed("too_large", "A sheet has more cells than are read.")
    yield f"{name}\n"
    for row in sheet.iter_rows():
        cells = [_shown(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield "\t".join(cells) + "\n"


def _shown(cell: object) -> str:
    """A cell as a person would write it; whole numbers without a point, which the format does not tell apart."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat(" ") if isinstance(cell, datetime.datetime) else cell.isoformat()
    return str(cell)
