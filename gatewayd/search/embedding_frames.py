"""What the daemon and the child that makes vectors say to each other: MessagePack, each behind its length."""

from typing import BinaryIO, Final, TypeVar

from msgspec import Struct, msgpack

from gatewayd.isolation import frames
from gatewayd.isolation.frames import LENGTH_BYTES

LARGEST: Final = 16 << 20  # bytes of a frame

F = TypeVar("F")


class Question(Struct, frozen=True):
    """Texts to be embedded."""

    texts: list[str]


class Answer(Struct, frozen=True, omit_defaults=True):
    """A vector for each text. The first answer has none: the model is loaded, or `fault` says why it is not."""

    vectors: list[bytes] = []
    fault: str = ""


def framed(frame: Struct) -> bytes:
    """The frame behind its length."""
    return frames.framed(msgpack.encode(frame))


def write_frame(stream: BinaryIO, frame: Struct) -> None:
    """Write a frame at once."""
    stream.write(framed(frame))
    stream.flush()


def read_frame(stream: BinaryIO, kind: type[F]) -> F | None:
    """The next frame; None: there are no more, or it is cut off."""
    head = stream.read(LENGTH_BYTES)
    length = int.from_bytes(head, "big")
    if len(head) < LENGTH_BYTES or length > LARGEST:
        return None
    body = stream.read(length)
    return msgpack.decode(body, type=kind) if len(body) == length else None
