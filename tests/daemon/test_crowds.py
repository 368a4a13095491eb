"""Four crowds at the door at once, each from an address of its own, and a neighbour from another who works on.

`GATEWAYD_CROWD=16` multiplies places and crowds: 1,024 places, and crowds that could take all of them four times over.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.bench.report import percentile
from tests.daemon.conftest import NO_LIMIT
from tests.daemon.instance import SECONDS, Instance, Running, environment, plain_client, serving, until
from tests.support import loaded

pytestmark = pytest.mark.either_engine("its subject is the door")

SCALE = int(os.environ.get("GATEWAYD_CROWD", "1"))
PLACES = 64 * SCALE
SHARE = PLACES // 4
CROWDS = {"head": 81 * SCALE, "handshake": 69 * SCALE, "body": 69 * SCALE, "http2": 24 * SCALE}
REQUESTS = 100 * SCALE
NEWCOMERS = 10 * SCALE


@contextmanager
def crowd(kind: str, address: str, port: int) -> Iterator[None]:
    """It stands there for the length of the block."""
    command = ["-m", "tests.support.crowd", kind, str(CROWDS[kind]), address, str(port)]
    with loaded.start(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "standing\n"
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(SECONDS)


def certificate(directory: Path) -> str:
    """The settings of a server with a certificate."""
    issued = trustme.CA().issue_cert("127.0.0.1")
    (directory / "door.pem").write_bytes(issued.private_key_and_cert_chain_pem.bytes())
    return 'tls_certificate = "door.pem"\ntls_key = "door.pem"\n'


def milliseconds(ask: Callable[[], int], count: int) -> list[float]:
    """How long each of so many requests took, every one of which is answered 200."""
    taken = []
    for _ in range(count):
        began = time.monotonic()
        assert ask() == 200
        taken.append((time.monotonic() - began) * 1000)
    return taken


def newcomer(running: Running) -> int:
    with plain_client(running.url) as client:
        return client.get("/healthz").status_code


def crowded_lines(running: Running) -> list[dict[str, Any]]:
    return [line for line in running.lines() if line["event"] == "connections_crowded"]


def test_crowds_keep_nobody_out(tmp_path: Path) -> None:
    instance = Instance(tmp_path, NO_LIMIT, extra_server=f"{certificate(tmp_path)}max_connections = {PLACES}")
    key = instance.firm().key
    with serving(instance) as running, ExitStack() as crowds:

        def known() -> int:
            return running.call(key, "GET", "/api/rpc/invoices").status_code

        quiet = milliseconds(known, REQUESTS)
        for number, kind in enumerate(CROWDS):
            crowds.enter_context(crowd(kind, f"127.0.0.{number + 2}", running.port))
            assert known() == 200
        crowded = milliseconds(known, REQUESTS)
        came = milliseconds(lambda: newcomer(running), NEWCOMERS)
        before, after = percentile(quiet, 99), percentile(crowded, 99)
        print(
            f"\np99 of a neighbour: {before:.1f} ms alone, {after:.1f} ms beside the crowds ({after / before:.1f});"
            f" of newcomers {percentile(came, 99):.1f} ms"
        )
        said = until(lambda: crowded_lines(running))
        assert len(said) == 1
        assert said[0]["limit"] == PLACES
        assert said[0]["most"] <= SHARE
