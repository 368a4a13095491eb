"""Fixtures of the webhook tests."""

from collections.abc import Iterator

import pytest
from trio.testing import MockClock

from tests.webhooks.harness import Harness


@pytest.fixture
def harness(database_image: bytes, autojump_clock: MockClock) -> Iterator[Harness]:
    """A store, a scripted network and what a dispatcher is made of, on virtual time."""
    build = Harness.build(database_image, autojump_clock)
    yield build
    build.memory.close()
