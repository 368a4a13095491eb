"""Firms that sell, the process that sets papers, and what stands in one."""

import io
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
import trio

from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.isolation.forking import Forking
from gatewayd.papers.engine import Papers
from gatewayd.papers.orders import Order
from gatewayd.papers.setter import ENTRY, Setter, SetterSettings
from gatewayd.papers.typesetting import Typesetter
from tests.areas.accounting.books import Books
from tests.contract.rows import OPERATIONS
from tests.papers.firms import ADDRESS, Firm, OpenFirm
from tests.support.api import Tuning, open_api
from tests.support.engines import Engines
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


@pytest.fixture
def open_firm(database_image: bytes, tmp_path: Path, setter: Setter) -> OpenFirm:
    @asynccontextmanager
    async def opened(organization_bytes: int = 0) -> AsyncIterator[Firm]:
        engines = Engines()
        async with open_api(tmp_path, database_image, OPERATIONS, Tuning(deps=engines)) as api:
            engines.papers = Papers(api.store, setter, organization_bytes)
            api.token("org_a", "good", ALL_SCOPES)
            await api.org("org_b", "other", ALL_SCOPES)
            firm = Firm(api, engines)
            seller = {"vatNumber": "980780684", "vat": {"status": "registered"}, "companyNumber": "13579246"}
            made = await firm.call(
                "legalEntity.createLegalEntity", name="Oak Ltd", type="limited_company", address=ADDRESS, **seller
            )
            firm.ids["ent"] = made["id"]
            client = await firm.call(
                "accounting.createClient", name="Harbour Ltd", billingAddress=ADDRESS, email="ap@harbour.example"
            )
            firm.ids["cli"] = client["id"]
            yield firm

    return opened


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
