"""Fixtures of every test: a migrated store in memory, and callers."""

from collections.abc import Callable, Iterator

import pytest

from gatewayd.contract.caller import Caller
from tests.support.store import MemoryStore, make_caller, migrated_image


@pytest.fixture(scope="session")
def database_image() -> bytes:
    """The bytes of an empty database after all migrations, made once."""
    return migrated_image()


@pytest.fixture
def store(database_image: bytes) -> Iterator[MemoryStore]:
    """An empty migrated store of this test alone."""
    memory_store = MemoryStore(database_image)
    yield memory_store
    memory_store.close()


@pytest.fixture(name="make_caller")
def caller_factory() -> Callable[..., Caller]:
    """`make_caller(org_id, *, role="owner", scopes=FULL_ACCESS)`."""
    return make_caller
