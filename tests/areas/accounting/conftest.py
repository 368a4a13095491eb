import pytest

from tests.areas.accounting.books import Books
from tests.support.store import MemoryStore


@pytest.fixture
def books(store: MemoryStore) -> Books:
    """An organization without a legal entity: it sells in its own name."""
    return Books(store)


@pytest.fixture
def registered(store: MemoryStore) -> Books:
    """An organization whose one legal entity is registered for VAT since 2000."""
    books = Books(store)
    books.entity()
    return books
