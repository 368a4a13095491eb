"""The child that makes vectors: begun by the first text, ended when idle, and replaced where it dies."""

import os
import signal
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from gatewayd.search import embedding_child
from gatewayd.search.embedding import LOCAL_DIMENSIONS, EmbeddingUnavailable
from gatewayd.search.embedding_child import ChildEmbedder

SECONDS = 60.0  # a machine that is busy


@asynccontextmanager
async def running(idle_seconds: float = 300.0) -> AsyncIterator[ChildEmbedder]:
    child = ChildEmbedder(idle_seconds=idle_seconds)
    async with trio.open_nursery() as nursery:
        await nursery.start(child.run)
        yield child
        nursery.cancel_scope.cancel()
    assert pid_of(child) is None, "it ends with its keeper"


def pid_of(child: ChildEmbedder) -> int | None:
    return None if child._child is None else child._child._process.pid


def dot(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", one), array("f", other), strict=True))


async def test_what_means_alike_lies_close(capfd: pytest.CaptureFixture[str]) -> None:
    async with running() as child:
        assert pid_of(child) is None, "not before the first text"
        texts = [
            "The boiler was repaired.",
            "central heating repair",
            "share dividend voucher",
            "",
            "\ud7ff \U0001f3e0",
        ]
        boiler, heating, dividend, empty, odd = await child.embed(texts, SECONDS)
        assert [len(one) for one in (boiler, heating, dividend, empty, odd)] == [4 * LOCAL_DIMENSIONS] * 5
        assert dot(boiler, boiler) == pytest.approx(1, abs=1e-5)
        assert dot(boiler, heating) > dot(boiler, dividend) + 0.1
        assert await child.embed(texts[:1], SECONDS) == [boiler]
    assert capfd.readouterr() == ("", "")


async def test_a_child_that_was_killed_is_replaced() -> None:
    async with running() as child:
        await child.embed(["one"], SECONDS)
        first = pid_of(child)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        assert len(await _again(child)) == 1
        assert pid_of(child) not in (None, first)


async def _again(child: ChildEmbedder) -> list[bytes]:
    """A text that was on its way when the child died is lost with it; the next one is not."""
    try:
        return await child.embed(["two"], SECONDS)
    except EmbeddingUnavailable:
        return await child.embed(["two"], SECONDS)


async def test_a_child_that_hangs_costs_its_deadline_and_is_replaced() -> None:
    async with running() as child:
        await child.embed(["one"], SECONDS)
        first = pid_of(child)
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        with pytest.raises(EmbeddingUnavailable, match=r"no vectors within 0\.2 seconds"):
            await child.embed(["two"], 0.2)
        assert len(await child.embed(["three"], SECONDS)) == 1
        assert pid_of(child) != first


async def test_a_child_that_nobody_asks_ends() -> None:
    async with running(idle_seconds=0.05) as child:
        await child.embed(["one"], SECONDS)
        with trio.fail_after(SECONDS):
            while pid_of(child) is not None:
                await trio.sleep(0.01)
        assert len(await child.embed(["two"], SECONDS)) == 1


async def test_who_does_not_wait_for_the_model_finds_it_loaded_later() -> None:
    async with running() as child:
        with pytest.raises(EmbeddingUnavailable, match="within"):
            await child.embed(["one"], 0.001)
        first = pid_of(child)
        assert len(await child.embed(["two"], SECONDS)) == 1
        assert first in (None, pid_of(child)), "it was left to load on"


async def test_a_model_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from gatewayd.search import embedding_frames

    answer = embedding_frames.framed(embedding_frames.Answer(fault="the model cannot be loaded: gone"))
    code = f"import sys, time; sys.stdout.buffer.write({answer!r}); sys.stdout.flush(); time.sleep(60)"
    command = [*embedding_child._command()[:1], "-c", code]
    monkeypatch.setattr(embedding_child, "_command", lambda: command)
    async with running() as child:
        for _ in range(2):
            with pytest.raises(EmbeddingUnavailable, match="cannot be loaded: gone"):
                await child.embed(["one"], SECONDS)


@pytest.mark.parametrize("said", [b"", b"\xff\xff\xff\xff", b"\x00\x00\x00\x01\xc1", b"\x00\x00"])
async def test_a_child_that_says_something_else_is_no_embedder(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    command = [*embedding_child._command()[:1], "-c", f"import sys; sys.stdout.buffer.write({said!r})"]
    monkeypatch.setattr(embedding_child, "_command", lambda: command)
    async with running() as child:
        with pytest.raises(EmbeddingUnavailable, match="what makes vectors"):
            await child.embed(["one"], SECONDS)
