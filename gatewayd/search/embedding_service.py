"""Vectors from a service of the operator's that speaks OpenAI's API for embeddings, such as Ollama or vLLM."""

from collections.abc import Sequence
from typing import Final

import msgspec
import trio
from msgspec import Struct

from gatewayd.http1.request import Request
from gatewayd.outbound.errors import OutboundError
from gatewayd.outbound.http_client import OneServer
from gatewayd.search.embedding import EmbeddingUnavailable, unit_vector

BYTES_MAX: Final = 32 << 20  # of an answer: 64 vectors of 4,096 numbers as text, and more
_OK: Final = 200


class _Vector(Struct, frozen=True):
    index: int
    embedding: list[float]


class _Answer(Struct, frozen=True):
    data: list[_Vector]


_DECODER: Final = msgspec.json.Decoder(_Answer)


class ServiceEmbedder:
    """`name` is the model's at the service; `key` goes as a bearer token, where there is one."""

    def __init__(self, server: OneServer, name: str, key: str) -> None:
        self._server = server
        self._name = name
        self._key = key
        self.model: str | None = f"service:{name}"

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        """As `Embedder.embed`."""
        headers = [(b"Content-Type", b"application/json"), (b"Accept", b"application/json")]
        if self._key:
            headers.append((b"Authorization", f"Bearer {self._key}".encode("ascii")))
        body = msgspec.json.encode({"model": self._name, "input": list(texts), "encoding_format": "float"})
        request = Request(method="POST", target="/embeddings", headers=headers, body=body)
        try:
            with trio.fail_after(seconds):
                response = await self._server.send(request, BYTES_MAX)
        except (OutboundError, trio.TooSlowError) as error:
            raise EmbeddingUnavailable(
                f"the service of embeddings does not answer ({str(error) or 'too late'})"
            ) from error
        if response.status != _OK:
            raise EmbeddingUnavailable(f"the service of embeddings answers {response.status}")
        return _vectors(response.body, len(texts))


def _vectors(body: bytes, count: int) -> list[bytes]:
    try:
        items = sorted(_DECODER.decode(body).data, key=lambda item: item.index)
    except msgspec.MsgspecError as error:
        raise EmbeddingUnavailable("the service of embeddings answers something else") from error
    if [item.index for item in items] != list(range(count)):
        raise EmbeddingUnavailable("the service of embeddings gives another number of vectors")
    return [unit_vector(item.embedding) for item in items]
