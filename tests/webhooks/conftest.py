"""Fixtures of the webhook tests."""

from collections.abc import Iterator

import pytest
from trio.testing import MockClock

from tests.support.virtual import House


@pytest.fixture
def house(database_image: bytes, autojump_clock: MockClock) -> Iterator[House]:
    """A store, a scripted network and what a dispatcher is made of, on virtual time."""
    built = House.built(database_image, autojump_clock)
    yield built
    built.memory.close()
