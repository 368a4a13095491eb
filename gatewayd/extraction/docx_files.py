"""Word documents (docx): paragraphs, tables, text boxes, headers and footers, notes."""

from collections.abc import Iterator
from typing import BinaryIO, Final

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.opc.part import Part, XmlPart
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml

from gatewayd.extraction.archives import open_archive, refuse_definitions
from gatewayd.extraction.bounds import joined
from gatewayd.extraction.shapes import ExtractionFailed

_BESIDE: Final = ("header", "footer", "footnotes", "endnotes", "comments")
_ENDS: Final = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n"}
_TEXT, _PARAGRAPH, _CELL = qn("w:t"), qn("w:p"), qn("w:tc")


def read_docx(stream: BinaryIO, most: int) -> list[str]:
    """One page, as the file does not say where they end. Raises `ExtractionFailed`."""
    with open_archive(stream) as archive:
        for part in archive.namelist():
            if part.endswith((".xml", ".rels")):
                with archive.open(part) as file:
                    refuse_definitions(file)
    stream.seek(0)
    try:
        document = docx.Document(stream)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise ExtractionFailed("damaged", "The document is cut off or damaged.") from error
    return [joined(_pieces(document.part), most)]


def _pieces(main: Part) -> Iterator[str]:
    beside = list(_beside(main))
    for wanted in ("header", None, *_BESIDE[1:]):
        if wanted is None:
            yield from _text_of(main)
            continue
        for kind, part in beside:
            if kind == wanted:
                yield from _text_of(part)


def _beside(main: Part) -> Iterator[tuple[str, Part]]:
    """What else stands in the file, with the kind of its relation to the text."""
    for related in main.rels.values():
        if not related.is_external:
            yield related.reltype.rpartition("/")[2], related.target_part


def _text_of(part: Part) -> Iterator[str]:
    """A line for each paragraph; python-docx knows neither text boxes nor what was inserted under review."""
    root = part.element if isinstance(part, XmlPart) else parse_xml(part.blob)
    for node in root.iter(_TEXT, _PARAGRAPH, _CELL, *_ENDS):
        if node.tag == _TEXT:
            yield node.text or ""
        else:
            yield _ENDS.get(node.tag, "\n")
