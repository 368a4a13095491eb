"""Text as points in a space of meanings. Three kinds: a model of ours in a child process, a service of the operator's
that speaks OpenAI's API, or none.

A vector is float32, little-endian, of length 1; its length in numbers is a multiple of eight.
"""

import math
from array import array
from collections.abc import Sequence
from typing import Final, Protocol

LOCAL_MODEL: Final = "wordllama-l2-supercat-256"
LOCAL_DIMENSIONS: Final = 256


class EmbeddingUnavailable(Exception):
    """No vectors can be had now. The reason is a sentence for whoever runs the instance."""


class Embedder(Protocol):
    """What makes vectors. `model` is by what they are told from others; None: there is nothing that makes any."""

    @property
    def model(self) -> str | None: ...

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        """A vector for each text, within so many seconds. Raises `EmbeddingUnavailable`."""
        ...


class NoEmbedder:
    """Search by words alone."""

    model: str | None = None

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def embed(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        """Raises `EmbeddingUnavailable`."""
        raise EmbeddingUnavailable(self._reason)


def unit_vector(numbers: Sequence[float]) -> bytes:
    """A vector of length 1 in this direction. Raises `EmbeddingUnavailable` for one that has none."""
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not math.isfinite(length) or length == 0 or len(numbers) % 8:
        raise EmbeddingUnavailable("what makes vectors gave something that is none")
    vector = array("f", (number / length for number in numbers))
    return vector.tobytes()
