"""Elements of OFX 1 (SGML) and 2 (XML), read alike and one by one (decision 0018).

OFX has no attributes; a leaf may lack its end tag, and many a bank writes `&` as it is. Nothing is ever expanded but
the five entities of XML, `&nbsp;` and characters by number, and a document type is refused.
"""

import html
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from gatewayd.statements.shapes import Limits, Unreadable

_CHUNK = 64 * 1024
_ELEMENT = re.compile(r"<(?P<tag>/?[A-Za-z][\w.]*)(?:\s[^<>]*)?/?>(?P<text>[^<]*(?:<(?![A-Za-z/!?])[^<]*)*)")
_LITERAL = re.compile(r"<!\[CDATA\[(?P<literal>.*?)\]\]>(?P<text>[^<]*(?:<(?![A-Za-z/!?])[^<]*)*)", re.DOTALL)
_SKIPPED = re.compile(r"<!--.*?-->[^<]*|<\?.*?\?>[^<]*", re.DOTALL)
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")


class Element(NamedTuple):
    """A tag in capitals, `/STMTTRN` where it ends one, and the text behind it without outer spaces."""

    tag: str
    text: str


def elements(stream: BinaryIO, encoding: str, limits: Limits) -> Iterator[Element]:
    """The elements of a file from `<OFX>` on. Raises `Unreadable` for what is cut off, or no such text."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding=encoding, newline=None)
    try:
        yield from _joined(_pieces(text, limits), limits)
    except UnicodeError as error:
        raise Unreadable(None, f"the file has characters that are none in {encoding}") from error
    finally:
        text.detach()


def _pieces(stream: io.TextIOWrapper, limits: Limits) -> Iterator[Element]:
    """Elements, and pieces of literal text as elements without a tag."""
    buffer = _head(stream)
    while True:
        chunk = _read(stream)
        buffer += chunk
        at = 0
        while (found := _next(buffer, at)) is not None and (found.end() < len(buffer) or not chunk):
            piece = _element(found)
            if piece is not None:
                yield piece
            at = found.end()
        buffer = buffer[at:]
        if not chunk:
            break
        if len(buffer) > limits.line_bytes + _CHUNK:
            raise _too_long(limits)
    if buffer:
        raise Unreadable(None, "the file ends within an element: is it cut off?")


def _read(stream: io.TextIOWrapper) -> str:
    chunk = stream.read(_CHUNK)
    if "\0" in chunk:
        raise Unreadable(None, "there is a NUL byte: the file is damaged, or is no text")
    return chunk


def _too_long(limits: Limits) -> Unreadable:
    return Unreadable(None, f"an element is longer than {limits.line_bytes} characters")


def _head(stream: io.TextIOWrapper) -> str:
    """The beginning, from `<OFX>` on: before it stand the headers of OFX 1, or the declarations of OFX 2."""
    head = _read(stream)
    if re.search(r"<!(DOCTYPE|ENTITY)", head, re.IGNORECASE):
        raise Unreadable(None, "the file declares a document type or entities, which no bank's statement has")
    start = re.search(r"<OFX(\s[^<>]*)?>", head, re.IGNORECASE)
    if start is None:
        raise Unreadable(None, "there is no <OFX> in the beginning of the file")
    return head[start.start() :]


def _next(buffer: str, at: int) -> re.Match[str] | None:
    found = _ELEMENT.match(buffer, at)
    if found is not None:
        return found
    if buffer.startswith("<!", at) and len(buffer) - at >= 9 and not buffer.startswith(("<!--", "<![CDATA["), at):
        raise Unreadable(None, "the file declares a document type or entities, which no bank's statement has")
    return _LITERAL.match(buffer, at) or _SKIPPED.match(buffer, at)


def _element(found: re.Match[str]) -> Element | None:
    parts = found.groupdict()
    if "tag" in parts:
        return Element(parts["tag"].upper(), _unescaped(parts["text"]))
    if "literal" in parts:
        return Element("", parts["literal"] + _unescaped(parts["text"]))
    return None


def _joined(pieces: Iterator[Element], limits: Limits) -> Iterator[Element]:
    """The elements, literal text joined to that before it."""
    last: Element | None = None
    for piece in pieces:
        if not piece.tag and last is not None:
            last = Element(last.tag, last.text + piece.text)
            if len(last.text) > limits.line_bytes:
                raise _too_long(limits)
            continue
        if last is not None:
            yield Element(last.tag, last.text.strip())
        last = piece
    if last is not None:
        yield Element(last.tag, last.text.strip())


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text
