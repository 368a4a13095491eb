"""What a confined process can still do, tried by a process that tries everything."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gatewayd.isolation import landlock

ATTEMPTS: Final = """
import os, socket, sys, ctypes
from gatewayd.isolation.confinement import Confinement, confine
readable = tuple(sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
confine(Confinement(memory_bytes=600 << 20, cpu_seconds=20, readable=readable))
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
def memory():
    return bytearray(1 << 30)
def call(number, *given):
    if libc.syscall(number, *given) < 0:
        raise OSError(ctypes.get_errno(), "refused")
attempts = {
    "read": lambda: open("/etc/passwd"),
    "read as a descriptor": lambda: os.open("/etc/hostname", os.O_RDONLY),
    "write": lambda: open("/tmp/by-a-confined-child", "w"),
    "list": lambda: os.listdir("/"),
    "TCP": lambda: socket.socket(),
    "UNIX": lambda: socket.socket(socket.AF_UNIX),
    "run": lambda: os.execv("/bin/true", ["true"]),
    "fork": fork,
    "memory": memory,
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "trace its parent": lambda: call(101, 16, os.getppid(), 0, 0),
    "read its parent": lambda: open(f"/proc/{os.getppid()}/environ"),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, MemoryError):
        continue
    print(name)
"""


def attempted(*readable: str) -> list[str]:
    """What a confined child could do of all that it tried."""
    ran = subprocess.run(
        [sys.executable, "-c", ATTEMPTS, *readable], capture_output=True, text=True, timeout=60, check=True
    )
    return ran.stdout.split("\n")[:-1]


def test_nothing_is_left_but_computing() -> None:
    assert attempted() == []


def test_the_limits_hold_where_a_folder_may_be_read() -> None:
    """Landlock lets it, and still no descriptor is left to open it with."""
    assert attempted("/etc") == []


def test_each_layer_is_named() -> None:
    script = (
        "from gatewayd.isolation.confinement import *;"
        "print(*confine(Confinement(memory_bytes=1 << 30, cpu_seconds=5)), sep='|')"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    layers = ran.stdout.strip().split("|")
    assert "resource limits" in layers
    assert ("seccomp" in layers) == (os.uname().machine in ("x86_64", "aarch64"))
    assert any(layer.startswith("landlock") for layer in layers) == bool(landlock.version())


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("while True: pass", -24),  # SIGXCPU
        ("import ctypes; ctypes.string_at(0)", -11),  # SIGSEGV leaves no core
        ("import os; os.abort()", -6),
    ],
)
def test_what_computes_without_end_or_breaks_is_ended(script: str, code: int) -> None:
    confined = (
        "from gatewayd.isolation.confinement import *;"
        f"confine(Confinement(memory_bytes=1 << 30, cpu_seconds=1));exec({script!r})"
    )
    ran = subprocess.run([sys.executable, "-c", confined], capture_output=True, timeout=60, check=False)
    assert ran.returncode == code


def test_a_program_may_be_run_only_from_what_it_may_read() -> None:
    if not landlock.version():
        pytest.skip("this kernel has no landlock")
    script = (
        "import os,sys;from gatewayd.isolation.confinement import *;"
        "confine(Confinement(memory_bytes=1<<30,cpu_seconds=5,open_files=16,purpose='program',"
        "readable=('/lib','/lib64','/usr/lib','/usr/lib64','/etc/ld.so.cache','/usr/bin/cat','/bin/cat')));"
        "os.execve(sys.argv[1], sys.argv[1:], {})"
    )

    def run(*command: str) -> tuple[int, str]:
        ran = subprocess.run(
            [sys.executable, "-c", script, *command], capture_output=True, text=True, timeout=60, check=False
        )
        return ran.returncode, ran.stdout

    code, said = run("/usr/bin/cat", "/etc/passwd")
    assert (code, said) == (1, "")
    assert run("/usr/bin/id")[0] != 0


def test_a_network_can_be_left() -> None:
    script = (
        "from gatewayd.isolation import kernel; import socket\n"
        "kernel.leave_network()\n"
        "s = socket.socket(); s.settimeout(2)\n"
        "try: s.connect(('127.0.0.1', 9))\n"
        "except OSError as error: print(error.errno)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode:
        pytest.skip("this kernel gives nobody a network of their own")
    assert ran.stdout.strip() == "101"  # ENETUNREACH: not even loopback is up


def test_what_recognises_text_reads_its_libraries_and_nothing_else(tmp_path: Path) -> None:
    """As tesseract is confined; cat in its place shows what it could read."""
    if not landlock.version():
        pytest.skip("this kernel has no landlock")
    database = tmp_path / "gatewayd.db"
    database.write_text("everything")
    script = (
        "import os,sys;from gatewayd.extraction import recognition as r;"
        "from gatewayd.isolation.confinement import *;"
        "confine(Confinement(memory_bytes=1<<30,cpu_seconds=5,open_files=16,purpose='program',"
        "readable=(*r._READABLE,'/usr/bin/cat')));"
        "os.execve('/usr/bin/cat', ['cat', *sys.argv[1:]], {})"
    )
    paths = [str(database), "/etc/passwd", "/usr/lib/os-release"]
    ran = subprocess.run(
        [sys.executable, "-c", script, *paths], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, Path("/usr/lib/os-release").read_text())
