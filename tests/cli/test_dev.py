"""`gatewayd dev`: what is refused before anything is served. The stub itself runs in `tests/daemon`."""

import socket

import pytest

from tests.cli.conftest import Run


def test_a_port_that_is_taken_is_said_in_one_line(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("dev", "tax-stub", "--port", str(taken.getsockname()[1]))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("gatewayd: cannot serve: ")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_is_a_number_that_there_is(run: Run, port: str) -> None:
    assert run("dev", "tax-stub", "--port", port).code == 2
