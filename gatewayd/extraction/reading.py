"""The text of a document, by its kind; and pictures of its pages."""

from functools import partial
from typing import BinaryIO, NamedTuple

from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.docx_files import read_docx
from gatewayd.extraction.einvoices import BYTES_MAX, EInvoice, read_einvoice
from gatewayd.extraction.html import read_html
from gatewayd.extraction.kinds import Kind, find_kind
from gatewayd.extraction.mail import read_mail
from gatewayd.extraction.odt import read_odt
from gatewayd.extraction.pdf import draw_pdf, invoice_in_pdf, read_pdf
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
    "einvoice": "e-invoice",
    "text": "text",
}


class ReadPages(NamedTuple):
    """The texts of pages, and the same as rows, where they stand on paper so. `page_count` None: it has no pages.

    `is_cut`: the document goes on beyond them. `einvoice`: what it is for programs; None: it has none in it.
    """

    engine: str
    pages: list[str]
    rows: list[str]
    page_count: int | None
    is_cut: bool
    einvoice: EInvoice | None


class Reading(NamedTuple):
    """Within which bounds a document is read, and by what text in pictures is."""

    bounds: Bounds
    recognition: Recognition

    def read(self, stream: BinaryIO, name: str, mime_type: str) -> ReadPages:
        """Raises `ExtractionFailed`, also where no text stands in the document at all."""
        kind = find_kind(stream, name, mime_type)
        found: list[EInvoice] = []
        pages, count = self._pages(kind, stream, found)
        if found and not any(map(str.strip, pages)):
            pages = [found[0].text]
        if not any(map(str.strip, pages)):
            raise ExtractionFailed("empty", "No text stands in the document.")
        engine = f"{_ENGINES[kind]}+tesseract" if self.recognition.was_used else _ENGINES[kind]
        bounded, most = _bounded(pages, self.bounds), self.bounds.characters
        is_cut = self.recognition.ran_out or (count or 0) > len(bounded) or sum(map(len, bounded)) >= most
        rows = [self.recognition.in_rows(page) for page in pages]
        return ReadPages(engine, bounded, rows, count, is_cut, found[0] if found else None)

    def _pages(self, kind: Kind, stream: BinaryIO, found: list[EInvoice]) -> tuple[list[str], int | None]:
        """The pages, and how many there are. E-invoices in it are added to `found`."""
        most = self.bounds.characters
        match kind:
            case "pdf":
                found += filter(None, [invoice_in_pdf(stream)])
                return self._pdf_pages(stream, has_einvoice=bool(found))
            case "einvoice":
                pages = read_text(stream, most)
                found += filter(None, [read_einvoice(_whole(stream))])
                return ([found[-1].text[:most]] if found else pages), None
            case "picture":
                pages = read_picture(stream, self.bounds, self.recognition)
                return pages, len(pages)
            case "spreadsheet":
                return read_spreadsheet(stream, self.bounds), None
            case "mail":
                return read_mail(stream, most, partial(self._attached, found=found)), None
            case "docx":
                return read_docx(stream, most), None
            case "odt":
                return read_odt(stream, most), None
            case "html":
                return read_html(stream, most), None
            case "text":
                return read_text(stream, most), None

    def _pdf_pages(self, stream: BinaryIO, *, has_einvoice: bool) -> tuple[list[str], int]:
        """Pages of a PDF. One of pictures is no failure where it has an e-invoice, even if nothing reads pictures."""
        try:
            return read_pdf(stream, self.bounds, self.recognition)
        except ExtractionFailed as error:
            if error.code != "no_ocr" or not has_einvoice:
                raise
            return [""], 1

    def _attached(self, stream: BinaryIO, name: str, mime_type: str, found: list[EInvoice]) -> list[str]:
        """The pages of what is attached to a mail. Chosen: what is attached to a mail that is attached is not read."""
        kind = find_kind(stream, name, mime_type)
        return [] if kind == "mail" else self._pages(kind, stream, found)[0]


def _whole(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(BYTES_MAX + 1)


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
