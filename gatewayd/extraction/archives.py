"""ZIP archives of strangers, as office documents are: looked at before anything in them is unpacked."""

import zipfile
from typing import IO, BinaryIO, Final

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from gatewayd.extraction.shapes import ExtractionFailed

UNPACKED_BYTES_MAX: Final = 256 * 1024 * 1024  # Chosen
_PARTS_MAX: Final = 10_000  # Chosen
_RATIO_MAX: Final = 250  # Chosen: sheets of equal rows come to 100, a bomb to 1,000
_SMALL: Final = 16 * 1024 * 1024  # of which any ratio is harmless
_IS_ENCRYPTED: Final = 0x1


def open_archive(stream: BinaryIO) -> zipfile.ZipFile:
    """The archive. Raises `ExtractionFailed`: damaged, too_large, encrypted.

    What a part tells of its size is what is read of it at most: `zipfile` stops there.
    """
    stream.seek(0)
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise ExtractionFailed("damaged", "The document is cut off or damaged.") from error
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if len(parts) > _PARTS_MAX or unpacked > UNPACKED_BYTES_MAX or unpacked > max(_SMALL, _RATIO_MAX * packed):
        raise ExtractionFailed("too_large", "Unpacked, the document is far larger than it may be.")
    if any(part.flag_bits & _IS_ENCRYPTED for part in parts):
        raise ExtractionFailed("encrypted", "The document can be opened with a password only.")
    return archive


def refuse_definitions(part: IO[bytes]) -> None:
    """Raises `ExtractionFailed` for XML with a document type, in which entities are defined (XXE, billion laughs).

    It stands before the first element, so nothing more is read.
    """
    try:
        next(iter(iterparse(part, events=("start",), forbid_dtd=True)), None)
    except (DefusedXmlException, ParseError) as error:
        raise ExtractionFailed("damaged", "The document holds XML that is broken, or defines entities.") from error
