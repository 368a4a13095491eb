"""PDF: the text of its pages, and pictures of them. PDFium reads it, in memory and on one thread."""

import contextlib
from collections.abc import Iterator
from typing import BinaryIO, Final

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from gatewayd.extraction import pictures
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.einvoices import EInvoice, attached
from gatewayd.extraction.recognition import Recognition
from gatewayd.extraction.shapes import ExtractionFailed, Picture

_POINTS_OF_INCH: Final = 72
_DOTS_OF_INCH: Final = 300  # for which tesseract is made
_SIDE_MAX: Final = 3508  # pixels, however large the page says it is
_VISIBLE_MIN: Final = 16  # Chosen: a scan with a stamp or a page number above it has fewer characters than that
_HYPHENS: Final = str.maketrans({"\x02": None, "\ufffe": None, "\0": None, "\xad": None, "\r": None})
"""What PDFium gives for the hyphen at the end of a line, among others."""
_SAMPLE: Final = 1000
_ATTACHMENTS_MAX: Final = 20  # Chosen
_PASSWORD_ERRORS: Final = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)


def open_pdf(stream: BinaryIO) -> pypdfium2.PdfDocument:
    """The document. Raises `ExtractionFailed`: encrypted, damaged, empty."""
    stream.seek(0)
    try:
        document = pypdfium2.PdfDocument(stream.read())
    except pypdfium2.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise ExtractionFailed("encrypted", "The document can be opened with a password only.") from error
        raise ExtractionFailed("damaged", "The document is cut off or damaged.") from error
    if not len(document):
        raise ExtractionFailed("damaged", "The document has no pages that can be found.")
    return document


def read_pdf(stream: BinaryIO, bounds: Bounds, recognition: Recognition) -> tuple[list[str], int]:
    """The text of its first pages, and how many it has. Raises `ExtractionFailed`: no_ocr too."""
    with open_pdf(stream) as document:
        count = len(document)
        pages: list[str] = []
        unread = 0
        left = bounds.characters
        for page in pages_of(document, min(count, bounds.pages)):
            text = _page_text(page, left)
            if _visible(text) < _VISIBLE_MIN and _has_drawings(page):
                unread += not text.strip()
                recognised = recognition.text(render(page, _DOTS_OF_INCH)) if recognition.is_there else ""
                text = max(text, recognised, key=_visible)
            left -= len(text)
            pages.append(text)
    if unread and not recognition.is_there and not any(map(str.strip, pages)):
        raise ExtractionFailed(
            "no_ocr", "Its pages are pictures, and no program that recognises text is there or allowed."
        )
    return pages, count


def invoice_in_pdf(stream: BinaryIO) -> EInvoice | None:
    """The e-invoice that is attached to a PDF; None: none is. Raises `ExtractionFailed` as `open_pdf`."""
    with open_pdf(stream) as document:
        return attached(_attachments(document))


def _attachments(document: pypdfium2.PdfDocument) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of what is attached, but for what is broken."""
    for number in range(min(document.count_attachments(), _ATTACHMENTS_MAX)):
        with contextlib.suppress(pypdfium2.PdfiumError):
            attachment = document.get_attachment(number)
            yield attachment.get_name(), bytes(attachment.get_data())


def draw_pdf(stream: BinaryIO, page: int, width: int) -> Picture:
    """A page as it is printed. Raises `ExtractionFailed`, unsupported for a page that is not there."""
    with open_pdf(stream) as document:
        if page > len(document):
            raise ExtractionFailed("unsupported", f"It has no page {page}.")
        for drawn in pages_of(document, 1, page - 1):
            across, down = drawn.get_size()
            scale = min(width / max(across, 1.0), pictures.TALLEST * width / max(down, 1.0))
            return pictures.as_webp(_rendered(drawn, scale, is_gray=False), width)
    raise AssertionError("there is one page")


def pages_of(document: pypdfium2.PdfDocument, most: int, first: int = 0) -> Iterator[pypdfium2.PdfPage]:
    """Some pages, each closed before the next. One that is broken is as if it were empty."""
    for number in range(first, first + most):
        with contextlib.ExitStack() as stack:
            try:
                page = document[number]
            except pypdfium2.PdfiumError:
                page = stack.enter_context(pypdfium2.PdfDocument.new()).new_page(1, 1)
            stack.callback(page.close)
            yield page


def render(page: pypdfium2.PdfPage, dots_of_inch: int) -> Image.Image:
    """A page in grey, of no more pixels than are looked at."""
    longest = max(*page.get_size(), 1.0)
    return _rendered(page, min(dots_of_inch / _POINTS_OF_INCH, _SIDE_MAX / longest), is_gray=True)


def is_picture(page: pypdfium2.PdfPage) -> bool:
    """Whether what stands on a page is no text, or next to none."""
    return _has_drawings(page) and _visible(_page_text(page, _SAMPLE)) < _VISIBLE_MIN


def _has_drawings(page: pypdfium2.PdfPage) -> bool:
    """Whether anything but text stands on it."""
    objects = (pdfium.FPDFPage_GetObject(page.raw, number) for number in range(pdfium.FPDFPage_CountObjects(page.raw)))
    return any(pdfium.FPDFPageObj_GetType(each) != pdfium.FPDF_PAGEOBJ_TEXT for each in objects)


def _rendered(page: pypdfium2.PdfPage, scale: float, *, is_gray: bool) -> Image.Image:
    across, down = page.get_size()
    least = 1.0 / max(min(across, down), 1e-3)  # a pixel at least, however flat it is
    if max(across, down) * max(scale, least) > 4 * _SIDE_MAX:
        raise ExtractionFailed("damaged", "A page of the document has no sensible size.")
    image: Image.Image = page.render(scale=max(scale, least), grayscale=is_gray).to_pil()
    return image


def _page_text(page: pypdfium2.PdfPage, most: int) -> str:
    text = page.get_textpage()
    try:
        count = min(text.count_chars(), most)
        return text.get_text_range(0, count).translate(_HYPHENS) if count > 0 else ""
    finally:
        text.close()


def _visible(text: str) -> int:
    return sum(not character.isspace() for character in text)
