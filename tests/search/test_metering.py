"""What a question costs: by meaning where it was answered by meaning, by words where it was not (Domain B8, C8)."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
import trio

from gatewayd.areas.vault import AREA
from gatewayd.areas.vault.search import SearchDocuments
from gatewayd.contract.caller import Caller
from gatewayd.performing.performer import Performer
from gatewayd.search.engine import Search
from tests.search.conftest import DEADLINE, ORG, OpenShelf
from tests.support import purses
from tests.support.rows import served
from tests.support.store import make_caller

SEARCH = next(row for row in served(AREA) if row.id == "vault.searchDocuments")
OWN, BY_MEANING = (SEARCH.id, 2), ("vault.search.vector", 7)
CALLER: Caller = msgspec.structs.replace(make_caller(ORG), metered=True)


@dataclass
class Deps:
    """What the row is given."""

    search: Search


@pytest.mark.parametrize(
    ("mode", "is_down", "used", "charges"),
    [
        ("hybrid", False, "hybrid", [OWN, BY_MEANING]),
        ("vector", False, "vector", [OWN, BY_MEANING]),
        ("text", False, "text", [OWN]),
        ("hybrid", True, "text", [OWN]),
        ("vector", True, "text", [OWN]),
    ],
)
async def test_a_question_is_charged_as_it_was_answered(
    open_shelf: OpenShelf, mode: Any, is_down: bool, used: str, charges: list[tuple[str, int]]
) -> None:
    with trio.fail_after(DEADLINE):
        async with open_shelf() as shelf:
            for name, price in (OWN, BY_MEANING):
                await shelf.store.write(lambda tx, name=name, price=price: purses.price(tx, name, price))
            await shelf.store.write(purses.put_on_plan, ORG)
            await shelf.store.write(lambda tx: purses.grant(tx, 100), ORG)
            shelf.embedder.is_down = is_down
            request = SearchDocuments(q="boiler", mode=mode)
            found = await Performer(shelf.store, Deps(shelf.engine)).perform(SEARCH, CALLER, request)
            assert msgspec.to_builtins(found)["modeUsed"] == used
            assert await shelf.store.read(purses.charged, ORG) == charges
            assert await shelf.store.read(purses.held, ORG) == 0
