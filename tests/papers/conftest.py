"""Firms that sell, the process that sets papers, and what stands in one."""

import io
from collections.abc import Callable, Iterator

import pikepdf
import pypdfium2
import pytest
import trio

from gatewayd.isolation.forking import Forking
from gatewayd.papers.orders import Order
from gatewayd.papers.setter import ENTRY, Setter, SetterSettings
from gatewayd.papers.typesetting import Typesetter
from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore

SetPaper = Callable[[Order], bytes]


@pytest.fixture
def registered(store: MemoryStore) -> Books:
    """An organization whose one legal entity is registered for VAT since 2000."""
    books = Books(store)
    books.entity(cis={"subcontractor": True, "verifiedRate": 20})
    return books


@pytest.fixture(scope="session")
def typesetter() -> Typesetter:
    """What the child does, in this process."""
    return Typesetter()


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    """One template for all papers of a module."""
    made = Forking(ENTRY, ())
    yield made
    trio.run(made.aclose)


@pytest.fixture
def setter(forking: Forking) -> Setter:
    return Setter(SetterSettings(), forking)


def words_of(pdf: bytes) -> str:
    """The text of all pages, as somebody copies it."""
    with pypdfium2.PdfDocument(pdf) as document:
        pages = [page.get_textpage().get_text_bounded() for page in document]
    return "\n".join(pages).replace("\r\n", "\n")


def opened(pdf: bytes) -> pikepdf.Pdf:
    """The file as qpdf reads it, which has no fault to tell."""
    document = pikepdf.open(io.BytesIO(pdf))
    assert document.check_pdf_syntax() == []
    return document
