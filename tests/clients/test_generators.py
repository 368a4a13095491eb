"""Seven generators: what each makes of the description compiles under its strict settings, and does the main job."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.generators import GENERATORS, called
from tests.daemon.instance import Instance, Running, serving

pytestmark = pytest.mark.either_engine("its subject is the description")

CALLED = {
    "client": ["Willow Interiors", "8 Canal Wharf", 14],
    "draft": ["draft", None],
    "issued": ["issued", "599.88", True],
    "listed": [[True, False]],
    "missing": [404, "not_found"],
    "business": ["company_trade", "2024-05-01"],
    "businesses": ["Joinery"],
}
"""What each program finds by its ten calls."""


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    instance = Instance(tmp_path_factory.mktemp("generators"))
    instance.firm()
    return instance


@pytest.fixture(scope="module")
def running(instance: Instance) -> Iterator[Running]:
    with serving(instance) as running:
        yield running
        assert running.end() == 0


@pytest.mark.parametrize("generate", GENERATORS, ids=lambda generate: generate.__name__)
def test_a_generated_client_compiles_and_makes_ten_calls(
    instance: Instance, running: Running, tmp_path: Path, generate: Callable[[Path], str]
) -> None:
    program = generate(tmp_path)
    key = instance.firm().key  # a firm for each, so that their businesses are told apart
    assert called(tmp_path, program, f"{running.url}/api/rpc", key) == CALLED
