"""Processes with the program loaded are as new ones are."""

import signal
import socket
import subprocess

import pytest

from tests.support import loaded

SECONDS = 30.0


def said(code: str, *arguments: str, given: str = "", **environ: str) -> "subprocess.CompletedProcess[str]":
    return loaded.run(["-c", code, *arguments], env=environ, timeout=SECONDS, given=given)


def test_it_has_its_arguments_its_environment_and_what_it_is_given() -> None:
    code = """
import os, sys
print(sys.argv, dict(os.environ), sys.stdin.read(), os.getcwd())
print("e", file=sys.stderr)
"""
    ran = said(code, "a", "b c", given="text\n", HOME="/h")
    assert (ran.returncode, ran.stderr) == (0, "e\n")
    assert ran.stdout == f"['-c', 'a', 'b c'] {{'HOME': '/h'}} text\n {loaded.ROOT}\n"


def test_a_module_runs_as_the_main_one() -> None:
    ran = loaded.run(["-m", "gatewayd", "--version"], env={}, timeout=SECONDS)
    assert (ran.returncode, ran.stdout.split()[0], ran.stderr) == (0, "gatewayd", "")


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        ("pass", 0, ""),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('so')", 1, "so"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("import atexit; atexit.register(print, 'late', file=__import__('sys').stderr)", 0, "late"),
        ("import threading, os; threading.Thread(target=lambda: os.write(2, b'thread')).start()", 0, "thread"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, ""),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT, "KeyboardInterrupt"),
    ],
)
def test_its_end_is_told(code: str, status: int, told: str) -> None:
    ran = said(code)
    assert (ran.returncode, ran.stderr.rstrip().rpartition("\n")[2]) == (status, told)


def test_the_program_is_loaded_and_runs_nothing_yet() -> None:
    code = """
import sys, threading
print("gatewayd.daemon.daemon" in sys.modules, "tests.conftest" in sys.modules, threading.active_count())
"""
    assert said(code).stdout == "True False 1\n"


def test_it_has_open_what_it_is_given_and_nothing_else() -> None:
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd')))); os.write({}, b'x')"
    ours, its = socket.socketpair()
    with (
        ours,
        its,
        loaded.start(
            ["-c", code.format(its.fileno())], env={}, stdout=subprocess.PIPE, pass_fds=[its.fileno()]
        ) as process,
    ):
        assert process.stdout is not None
        opened = [0, 1, 2, its.fileno()]
        listing = next(number for number in range(3, 5) if number != its.fileno())  # of the folder that is being read
        assert process.stdout.read() == f"{sorted([*opened, listing])}\n"
        assert (process.wait(SECONDS), ours.recv(2)) == (0, b"x")


def test_it_is_waited_for_and_killed() -> None:
    with loaded.start(["-c", "import signal; signal.pause()"], env={}) as process:
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.kill()
        assert (process.wait(SECONDS), process.poll()) == (-signal.SIGKILL, -signal.SIGKILL)
        process.kill()  # it is gone: nothing happens


def test_two_have_no_chance_in_common() -> None:
    ran = [said("import random, secrets; print(random.random(), secrets.token_hex(4))").stdout for _ in range(2)]
    assert len({part for line in ran for part in line.split()}) == 4


def test_what_an_interpreter_reads_at_its_start_is_refused() -> None:
    with pytest.raises(AssertionError):
        said("pass", PYTHONUNBUFFERED="1")


def test_one_that_takes_too_long_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        loaded.run(["-c", "import signal; signal.pause()"], env={}, timeout=0.05)
