"""What the child says to its parent: frames of MessagePack, each behind its length."""

from msgspec import Struct, msgpack

from gatewayd.isolation import frames
from gatewayd.statements.shapes import Limits, Part, Proposal

LINES_OF_ONE_FRAME = 500
CHARACTERS_OF_ONE_FRAME = 256 * 1024


class Batch(Struct, frozen=True, tag="batch"):
    """Parts, in the file's order."""

    parts: list[Part]


class Failure(Struct, frozen=True, tag="failure"):
    """The last frame of a file that is unreadable."""

    line: int | None
    reason: str
    proposal: Proposal | None


Frame = Batch | Failure
_ENCODER = msgpack.Encoder()
_DECODER: msgpack.Decoder[Frame] = msgpack.Decoder(Frame)


def framed(frame: Frame) -> bytes:
    """The frame behind its length."""
    return frames.framed(_ENCODER.encode(frame))


def unframed(body: bytes | memoryview) -> Frame:
    """The frame of its body. Raises `msgspec.DecodeError` for what is none."""
    return _DECODER.decode(body)


def largest_frame(limits: Limits) -> int:
    """How long a frame may be: a full batch, and the longest line behind it in its forms, at four bytes a character."""
    return 4 * (4 * CHARACTERS_OF_ONE_FRAME + 8 * limits.line_bytes)
