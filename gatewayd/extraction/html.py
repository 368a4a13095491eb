"""HTML: what a browser would show, as lines."""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from selectolax.lexbor import LexborHTMLParser

from gatewayd.extraction.bounds import joined
from gatewayd.extraction.text import decoded

_BYTES_MAX: Final = 32 * 1024 * 1024
_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.I)
_UNSEEN: Final = ["script", "style", "noscript", "template", "svg", "head"]
_LINES: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "div"),
        *("dl", "dt", "fieldset", "figcaption", "footer", "form", "h1", "h2", "h3"),
        *("h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol"),
        *("option", "p", "pre", "section", "select", "table", "tbody", "tfoot", "thead"),
        *("title", "tr", "ul"),
    }
)
_CELLS: Final = frozenset({"td", "th"})


def read_html(stream: BinaryIO, most: int) -> list[str]:
    """One page, up to `most` characters."""
    stream.seek(0)
    content = stream.read(_BYTES_MAX)
    said = _CHARSET.search(content[:4096])
    return [html_text(decoded(content, said[1].decode("ascii") if said else None), most)]


def html_text(markup: str, most: int) -> str:
    """The text of markup, a line for each block and a tab before each cell."""
    parser = LexborHTMLParser(markup)
    title = parser.css_first("title")
    heading = title.text() if title is not None else ""
    parser.strip_tags(_UNSEEN, recursive=True)
    text = joined(_pieces(parser, heading), 2 * most)
    lines = (re.sub(r"[^\S\n\t]+", " ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)[:most]


def _pieces(parser: LexborHTMLParser, title: str) -> Iterator[str]:
    yield f"{title}\n"
    if parser.root is None:
        return
    for node in parser.root.traverse(include_text=True):
        if node.is_text_node:
            yield re.sub(r"\s+", " ", node.text_content or "")
        elif node.tag in _LINES:
            yield "\n"
        elif node.tag in _CELLS:
            yield "\t"
