"""OpenDocument text (odt): headings, paragraphs and tables."""

from collections.abc import Iterator
from typing import IO, BinaryIO, Final
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from gatewayd.extraction.archives import open_archive
from gatewayd.extraction.bounds import joined
from gatewayd.extraction.shapes import ExtractionFailed

_NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_PARAGRAPHS: Final = frozenset({f"{_NAMESPACE}p", f"{_NAMESPACE}h"})
_BETWEEN: Final = {f"{_NAMESPACE}tab": "\t", f"{_NAMESPACE}line-break": "\n", f"{_NAMESPACE}s": " "}


def read_odt(stream: BinaryIO, most: int) -> list[str]:
    """One page, as the file does not say where they end. Raises `ExtractionFailed`."""
    with open_archive(stream) as archive:
        if "content.xml" not in archive.namelist():
            raise ExtractionFailed("damaged", "The document has no content.")
        with archive.open("content.xml") as part:
            try:
                return [joined(_pieces(part), most)]
            except (DefusedXmlException, ParseError) as error:
                raise ExtractionFailed(
                    "damaged", "The document holds XML that is broken or defines entities."
                ) from error


def _pieces(part: IO[bytes]) -> Iterator[str]:
    """Text in the order of the file: what stands before an element's first child, then what follows each child."""
    depth = 0
    for event, node in iterparse(part, events=("start", "end"), forbid_dtd=True):
        if event == "start":
            depth += node.tag in _PARAGRAPHS
            continue
        if node.tag in _PARAGRAPHS:
            depth -= 1
            if not depth:
                yield f"{_flat(node)}\n"
                node.clear()
        elif not depth:
            node.clear()


def _flat(node: Element) -> str:
    """The text of an element, with what stands between its children."""
    parts = [_BETWEEN.get(node.tag, ""), node.text or ""]
    for child in node:
        parts += (_flat(child), child.tail or "")
    return "".join(parts)
