"""XML that is written: elements in order, by names with their prefixes. Text is what XML 1.0 may hold."""

import re
from collections.abc import Mapping
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

_NOT_ALLOWED: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def root(name: str, namespaces: Mapping[str, str]) -> Element:
    """The outermost element. `namespaces` are by their prefixes, of which the empty one is the default."""
    return Element(name, {f"xmlns:{prefix}" if prefix else "xmlns": uri for prefix, uri in namespaces.items()})


def add(parent: Element, path: str, text: str | None = None, **attributes: str) -> Element:
    """A new element below `parent`, and the new ones on the way to it: names with slashes between them."""
    for name in path.split("/"):
        parent = SubElement(parent, name)
    for name, value in attributes.items():
        parent.set(name, clean(value))
    if text is not None:
        parent.text = clean(text)
    return parent


def add_known(parent: Element, path: str, text: str | None, **attributes: str) -> None:
    """The same where there is a text, since no element may be empty."""
    if text is not None and clean(text):
        add(parent, path, text, **attributes)


def written(element: Element) -> bytes:
    """The document, in UTF-8 with its declaration."""
    body: bytes = tostring(element, encoding="UTF-8", xml_declaration=True)
    return body


def clean(text: str) -> str:
    """The text as XML may hold it, without spaces around it."""
    return _NOT_ALLOWED.sub(" ", text).strip()
