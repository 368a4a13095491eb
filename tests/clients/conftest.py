"""One identity provider for each file of clients."""

from collections.abc import Iterator

import pytest

from tests.clients.provider import Provider, opened


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """A running daemon with one firm and its owner."""
    with opened(tmp_path_factory.mktemp("provider")) as provider:
        yield provider
