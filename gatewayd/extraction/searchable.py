"""Scans and photographs as PDF with their text behind the picture, so that any viewer can search and copy it."""

import ctypes
import io
from typing import BinaryIO, Final

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from gatewayd.extraction import callbacks, pdf, pictures
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.kinds import find_kind
from gatewayd.extraction.recognition import Recognition, Word
from gatewayd.extraction.shapes import ExtractionFailed

_FONT: Final = b"Helvetica"
_POINTS_OF_PIXEL: Final = 72 / 200  # Chosen: a photograph is as large as if it were scanned with 200 dots an inch
_DOTS_OF_INCH: Final = 300
_QUALITY: Final = 80


def add_text(stream: BinaryIO, mime_type: str, bounds: Bounds, recognition: Recognition, target: BinaryIO) -> int:
    """Write the PDF; answers how many pages have text that they had not.

    Raises `ExtractionFailed`: no_ocr, and unsupported for what has its text, or is neither PDF nor picture.
    """
    kind = find_kind(stream, "", mime_type)
    if kind not in ("pdf", "picture"):
        raise ExtractionFailed("unsupported", "Only pictures and PDF of pictures get text behind them.")
    if not recognition.is_there:
        raise ExtractionFailed("no_ocr", "No program that recognises text is there or allowed.")
    with pdf.open_pdf(stream) if kind == "pdf" else _of_pictures(stream, bounds) as document:
        font = pdfium.FPDFText_LoadStandardFont(document.raw, _FONT)
        added = sum(_add(document, number, recognition, font) for number in range(min(len(document), bounds.pages)))
        if not added:
            raise ExtractionFailed("unsupported", "Its text stands in it already, or there is none.")
        callbacks.save(document, target.fileno())
        return added


def _of_pictures(stream: BinaryIO, bounds: Bounds) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument.new()
    for picture in pictures.pages_of(stream, bounds.pages):
        width, height = (side * _POINTS_OF_PIXEL for side in picture.size)
        page = document.new_page(width, height)
        image = pypdfium2.PdfImage.new(document)
        callbacks.load_jpeg(image, _jpeg(picture))
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page.insert_obj(image)
        page.gen_content()
        page.close()
    return document


def _jpeg(picture: Image.Image) -> bytes:
    body = io.BytesIO()
    picture.convert("RGB").save(body, "JPEG", quality=_QUALITY)
    return body.getvalue()


def _add(document: pypdfium2.PdfDocument, number: int, recognition: Recognition, font: "pdfium.FPDF_FONT") -> bool:
    """Put what is recognised on a page behind it; False for one that has its text, or on which there is none."""
    page = document[number]
    try:
        if not pdf.is_picture(page):
            return False
        words = recognition.words(pdf.render(page, _DOTS_OF_INCH))
        for word in words:
            _insert(document, page, word, font)
        if words:
            page.gen_content()
        return bool(words)
    finally:
        page.close()


def _insert(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, word: Word, font: "pdfium.FPDF_FONT") -> None:
    """A word, invisible, stretched to its box."""
    left, bottom, right, top = page.get_bbox()
    across, down = right - left, top - bottom
    text = pdfium.FPDFPageObj_CreateTextObj(document.raw, font, ctypes.c_float(1.0))
    encoded = (f"{word.text} \0").encode("utf-16-le")
    units = ctypes.cast(ctypes.create_string_buffer(encoded), ctypes.POINTER(ctypes.c_ushort))
    pdfium.FPDFText_SetText(text, units)
    pdfium.FPDFTextObj_SetTextRenderMode(text, pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
    width = max(len(word.text) * 0.5, 0.1)  # of Helvetica about, at one point
    pdfium.FPDFPageObj_Transform(
        text,
        word.width * across / width,
        0,
        0,
        word.height * down,
        left + word.left * across,
        bottom + (1 - word.top - word.height) * down,
    )
    pdfium.FPDFPage_InsertObject(page.raw, text)
