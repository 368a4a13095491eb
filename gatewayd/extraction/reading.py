"""The text of a document, by its kind; and pictures of its pages."""

from typing import BinaryIO, NamedTuple

from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.docx_files import read_docx
from gatewayd.extraction.html import read_html
from gatewayd.extraction.kinds import Kind, find_kind
from gatewayd.extraction.mail import read_mail
from gatewayd.extraction.odt import read_odt
from gatewayd.extraction.pdf import draw_pdf, read_pdf
from gatewayd.extraction.pictures import draw_picture, read_picture
from gatewayd.extraction.recognition import Recognition
from gatewayd.extraction.shapes import ExtractionFailed, Picture
from gatewayd.extraction.spreadsheets import read_spreadsheet
from gatewayd.extraction.text import read_text

_ENGINES: dict[Kind, str] = {
    "pdf": "pdfium",
    "picture": "pillow",
    "docx": "python-docx",
    "spreadsheet": "calamine",
    "odt": "expat",
    "html": "lexbor",
    "mail": "email",
    "text": "text",
}


class ReadPages(NamedTuple):
    """The texts of pages, and the same as rows, where they stand on paper so. `page_count` None: it has no pages.

    `is_cut`: the document goes on beyond them.
    """

    engine: str
    pages: list[str]
    rows: list[str]
    page_count: int | None
    is_cut: bool


class Reading(NamedTuple):
    """Within which bounds a document is read, and by what text in pictures is."""

    bounds: Bounds
    recognition: Recognition

    def read(self, stream: BinaryIO, name: str, mime_type: str) -> ReadPages:
        """Raises `ExtractionFailed`, also where no text stands in the document at all."""
        kind = find_kind(stream, name, mime_type)
        pages, count = self._pages(kind, stream)
        if not any(map(str.strip, pages)):
            raise ExtractionFailed("empty", "No text stands in the document.")
        engine = f"{_ENGINES[kind]}+tesseract" if self.recognition.was_used else _ENGINES[kind]
        bounded = _bounded(pages, self.bounds)
        is_cut = (
            self.recognition.ran_out or (count or 0) > len(bounded) or sum(map(len, bounded)) >= self.bounds.characters
        )
        return ReadPages(engine, bounded, [self.recognition.in_rows(page) for page in pages], count, is_cut)

    def _pages(self, kind: Kind, stream: BinaryIO) -> tuple[list[str], int | None]:
        most = self.bounds.characters
        match kind:
            case "pdf":
                return read_pdf(stream, self.bounds, self.recognition)
            case "picture":
                pages = read_picture(stream, self.bounds, self.recognition)
                return pages, len(pages)
            case "spreadsheet":
                return read_spreadsheet(stream, self.bounds), None
            case "mail":
                return read_mail(stream, most, self._attached), None
            case "docx":
                return read_docx(stream, most), None
            case "odt":
                return read_odt(stream, most), None
            case "html":
                return read_html(stream, most), None
            case "text":
                return read_text(stream, most), None

    def _attached(self, stream: BinaryIO, name: str, mime_type: str) -> list[str]:
        """The pages of what is attached to a mail. Chosen: what is attached to a mail that is attached is not read."""
        kind = find_kind(stream, name, mime_type)
        return [] if kind == "mail" else self._pages(kind, stream)[0]


def draw(stream: BinaryIO, mime_type: str, page: int, width: int) -> Picture:
    """A page as a picture. Raises `ExtractionFailed`, unsupported where this kind of document has no picture."""
    match find_kind(stream, "", mime_type):
        case "pdf":
            return draw_pdf(stream, page, width)
        case "picture":
            return draw_picture(stream, page, width)
        case kind:
            raise ExtractionFailed("unsupported", f"Documents of this kind ({kind}) have no picture.")


def _bounded(pages: list[str], bounds: Bounds) -> list[str]:
    """The first pages, up to as many characters."""
    left, taken = bounds.characters, []
    for text in pages[: bounds.pages]:
        taken.append(text[:left])
        left -= len(taken[-1])
    return taken
