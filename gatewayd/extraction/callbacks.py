"""What PDFium calls to read and to write, made when this module is loaded.

A function of ours that C can call takes memory to write and to execute, or a file in memory that is mapped twice
(libffi). A child that reads documents gets neither any more, under a service manager that refuses such memory. The
mapping is shared between processes, so that nothing is made in it after the template: what differs stands in structs.
"""

import ctypes
import os
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium

_FIELDS_OF_WRITER: Final[dict[str, Any]] = dict(pdfium.FPDF_FILEWRITE._fields_)
_FIELDS_OF_READER: Final[dict[str, Any]] = dict(pdfium.FPDF_FILEACCESS._fields_)


class _Writer(ctypes.Structure):
    """What PDFium is given, and behind it what it does not know."""

    _fields_ = (("known", pdfium.FPDF_FILEWRITE), ("descriptor", ctypes.c_int))


def _write(this: Any, data: int, size: int) -> int:
    descriptor = ctypes.cast(this, ctypes.POINTER(_Writer)).contents.descriptor
    left = memoryview(ctypes.string_at(data, size))
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        return 0
    return 1


def _copy_block(content: int, position: int, target: Any, size: int) -> int:
    ctypes.memmove(target, content + position, size)
    return 1


_WRITE: Final = _FIELDS_OF_WRITER["WriteBlock"](_write)
_READ: Final = _FIELDS_OF_READER["m_GetBlock"](_copy_block)


def save(document: pypdfium2.PdfDocument, descriptor: int) -> None:
    """Write a document. Raises `OSError` where it cannot be written."""
    writer = _Writer(pdfium.FPDF_FILEWRITE(1, _WRITE), descriptor)
    if not pdfium.FPDF_SaveAsCopy(document.raw, ctypes.byref(writer.known), 0):
        raise OSError("the document cannot be written")


def load_jpeg(image: pypdfium2.PdfImage, content: bytes) -> None:
    """Make it the picture of an image, at once and whole."""
    kept = ctypes.create_string_buffer(content, len(content))
    reader = pdfium.FPDF_FILEACCESS(len(content), _READ, ctypes.addressof(kept))
    if not pdfium.FPDFImageObj_LoadJpegFileInline(None, 0, image.raw, ctypes.byref(reader)):
        raise ValueError("it is no JPEG")
