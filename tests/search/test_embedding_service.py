"""A service of embeddings that answers, refuses, lies and hangs, over a real connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trio

from gatewayd.config import Config, Vault
from gatewayd.daemon.embedding import embedder_of
from gatewayd.search.embedding import Embedder, EmbeddingUnavailable, unit_vector

ONE, TWO = [1.0, 0, 0, 0, 0, 0, 0, 0], [0, 2.0, 0, 0, 0, 0, 0, 0]


def answer_of(*vectors: tuple[int, list[float]]) -> bytes:
    data = [{"object": "embedding", "index": n, "embedding": numbers} for n, numbers in vectors]
    return msgspec.json.encode({"object": "list", "data": data, "model": "m"})


@asynccontextmanager
async def service(
    body: bytes | None, status: int = 200, key_file: str = ""
) -> AsyncIterator[tuple[Embedder, list[bytes]]]:
    """An embedder of a service that says that; None: it says nothing. And what it was asked."""
    asked: list[bytes] = []

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            request = b""
            while b"input" not in request or not request.endswith(b"}"):
                request += await stream.receive_some()
            asked.append(request)
            if body is None:
                await trio.sleep_forever()
            head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body or b'')}\r\nConnection: close\r\n\r\n"
            await stream.send_all(head.encode() + (body or b""))

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        vault = Vault(embeddings=f"http://127.0.0.1:{port}/v1", embeddings_model="m", embeddings_key_file=key_file)
        async with embedder_of({})(Config(vault=vault)) as embedder:
            yield embedder, asked
        nursery.cancel_scope.cancel()


async def test_a_service_is_asked_as_openai_is(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text("sk-1\n")
    async with service(answer_of((1, TWO), (0, ONE)), key_file=str(key_file)) as (embedder, asked):
        assert await embedder.embed(["a", "b"], 10) == [unit_vector(ONE), unit_vector(TWO)], "by their index"
        assert embedder.model == "service:m"
    head, _, body = asked[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/embeddings HTTP/1.1\r\n")
    assert b"Authorization: Bearer sk-1" in head
    assert msgspec.json.decode(body) == {"model": "m", "input": ["a", "b"], "encoding_format": "float"}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{}", 500, "answers 500"),
        (b"", 401, "answers 401"),
        (b"<html>", 200, "answers something else"),
        (b'{"data": [{"index": 0, "embedding": ["x"]}]}', 200, "answers something else"),
        (answer_of((0, ONE)), 200, "another number of vectors"),
        (answer_of((0, ONE), (0, TWO)), 200, "another number of vectors"),
        (answer_of((0, ONE), (1, [0.0] * 8)), 200, "something that is none"),
        (answer_of((0, ONE), (1, [1.0])), 200, "something that is none"),
    ],
)
async def test_an_answer_of_no_use_says_why(body: bytes, status: int, reason: str) -> None:
    async with service(body, status) as (embedder, _):
        with pytest.raises(EmbeddingUnavailable, match=reason):
            await embedder.embed(["a", "b"], 10)


async def test_a_service_that_hangs_costs_its_deadline() -> None:
    async with service(None) as (embedder, _):
        with pytest.raises(EmbeddingUnavailable, match="too late"):
            await embedder.embed(["a", "b"], 0.1)


async def test_a_service_that_is_not_there_is_told() -> None:
    vault = Vault(embeddings="http://127.0.0.1:1/v1", embeddings_model="m")
    async with embedder_of({})(Config(vault=vault)) as embedder:
        with pytest.raises(EmbeddingUnavailable, match="does not answer"):
            await embedder.embed(["a"], 10)


async def test_off_is_off() -> None:
    async with embedder_of({})(Config(vault=Vault(embeddings="off"))) as embedder:
        assert embedder.model is None
        with pytest.raises(EmbeddingUnavailable, match="switched off"):
            await embedder.embed(["a"], 10)
