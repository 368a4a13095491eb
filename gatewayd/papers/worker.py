"""The child that sets one paper: from its standard input, shut in, in a frame to its standard output.

`main` is the template of children, which loads compiler and fonts and becomes one of them for each request.
"""

import logging
from typing import Final

import msgspec
from msgspec import msgpack

from gatewayd.isolation import template
from gatewayd.isolation.confinement import Confinement, confine
from gatewayd.isolation.frames import framed
from gatewayd.papers.orders import Limits, Order
from gatewayd.papers.typesetting import Typesetter

IDLE_SECONDS: Final = 300.0  # Chosen: the template ends when nothing was set for so long
_ORDERS: Final = msgpack.Decoder(Order)
_LIMITS: Final = msgspec.json.Decoder(Limits)


def main(layer: str) -> None:
    """Be the template until the daemon is gone. `layer` is not empty where bubblewrap started it."""
    logging.disable()
    typesetter = Typesetter()

    def work(request: bytes) -> None:
        """Be the child of a request."""
        limits = _LIMITS.decode(request)
        confine(Confinement(memory_bytes=limits.memory_bytes, cpu_seconds=limits.cpu_seconds))
        with open(0, "rb") as stream:
            order = _ORDERS.decode(stream.read())
        answer = typesetter.answer(order)
        with open(1, "wb") as frames:
            frames.write(framed(msgpack.encode(answer)))

    template.serve(work, IDLE_SECONDS, bubblewrap=bool(layer))
