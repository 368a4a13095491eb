"""The child that sets a paper: what comes of it when it may not go on, and what it is shut in by."""

import pytest
import trio
from msgspec.structs import replace

from gatewayd.isolation.forking import Forking
from gatewayd.papers import cii
from gatewayd.papers.orders import Order
from gatewayd.papers.setter import ENTRY, NotSet, Setter, SetterSettings, open_setter
from gatewayd.papers.typesetting import Typesetter
from tests.papers.conftest import words_of
from tests.papers.samples import line, paper

ORDER = Order(paper=paper(), xml=cii.write(paper()))


async def test_a_child_sets_what_its_code_would_set_here(setter: Setter, typesetter: Typesetter) -> None:
    made = await setter.set(ORDER)
    assert made == typesetter.answer(ORDER)
    assert made.is_archival


async def test_the_longest_invoice_fits(setter: Setter) -> None:
    """200 lines of 2,000 characters: within the memory, the time and the bytes that a child has."""
    lines = [line(at, description=f"{at} " + "word " * 399) for at in range(1, 201)]
    told = replace(paper(200), lines=lines)
    made = await setter.set(Order(paper=told, xml=cii.write(told)))
    assert "Page 1 of" in words_of(made.pdf)
    assert all(f"{at} word" in words_of(made.pdf) for at in (1, 100, 200))


async def test_a_child_is_shut_in(forking: Forking) -> None:
    """By walls that its template has, or by a bubblewrap around it."""
    layers = await forking.layers()
    assert {"bubblewrap", "no network"} & set(layers), layers


@pytest.mark.parametrize(
    "settings",
    [SetterSettings(memory_bytes=32 << 20), SetterSettings(deadline_seconds=0.0)],
    ids=["memory", "deadline"],
)
async def test_a_child_that_may_not_go_on_is_told(forking: Forking, settings: SetterSettings) -> None:
    with pytest.raises(NotSet) as told:
        await Setter(settings, forking).set(ORDER)
    assert not told.value.of_logo
    await Setter(SetterSettings(), forking).set(ORDER)  # the next one is none the worse


async def test_several_at_once_are_set_side_by_side(setter: Setter) -> None:
    made = {}

    async def one(count: int) -> None:
        made[count] = (await setter.set(Order(paper=paper(count)))).pdf

    async with trio.open_nursery() as nursery:
        for count in range(1, 6):
            nursery.start_soon(one, count)
    assert [words_of(made[count]).count("Joinery") for count in range(1, 6)] == [1, 2, 3, 4, 5]


async def test_a_template_that_ended_is_started_anew() -> None:
    async with open_setter() as setter:
        first = await setter.set(ORDER)
        running = setter._forking._running
        assert running is not None
        running.process.kill()
        await running.process.wait()
        assert await setter.set(ORDER) == first


async def test_no_process_is_there_before_the_first_paper() -> None:
    forking = Forking(ENTRY, ())
    Setter(SetterSettings(), forking)
    assert forking._running is None
    await forking.aclose()
