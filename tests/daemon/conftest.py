"""A daemon for the tests of one file that do no harm to it, and a fresh instance for those that do."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemon.instance import Firm, Instance, Running, serving

ORIGIN = "http://localhost:8080"
NO_LIMIT = "[limits]\nrequests_per_minute = 0\n"


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path)


@dataclass
class Shared:
    """A running daemon with one firm."""

    instance: Instance
    running: Running
    firm: Firm


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """One daemon for a whole file, without a rate limit; at a host with a name, which passkeys want."""
    instance = Instance(tmp_path_factory.mktemp("shared"), NO_LIMIT, extra_server=f'public_url = "{ORIGIN}"')
    firm = instance.firm()
    with serving(instance) as running:
        yield Shared(instance, running, firm)
        assert running.end() == 0
