"""A Python that has the program loaded and makes processes of itself: `python -m tests.support.forking DESCRIPTOR`.

`tests.support.loaded` starts it and sends it orders over a socket, until that is closed. It has no thread and opens
nothing, so what it forks is as a new interpreter after its imports.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import sys
import threading
import time
from typing import NamedTuple, NoReturn

import gatewayd

HIGH = 500  # descriptors below may be asked for by number
NUMBER = struct.Struct("i")  # the process id, then the exit status as `subprocess` has it


class Order(NamedTuple):
    """One process: `arguments` are Python's, beginning with `-m` or `-c`; `descriptors` are what it has open."""

    arguments: list[str]
    environ: dict[str, str]
    directory: str
    descriptors: list[int]


def load() -> None:
    """Import the whole program."""
    gc.disable()
    for module in pkgutil.walk_packages(gatewayd.__path__, "gatewayd."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    gc.freeze()
    gc.enable()


def serve(control: socket.socket) -> Order | None:
    """Carry out orders. Returns in each new process, with its own, and in this one once nobody can order any more."""
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    running: dict[int, tuple[int, int]] = {}  # by a descriptor of the process: its id, and whom to tell of its end
    while True:
        for ready, _ in waiting.poll():
            if ready in running:
                waiting.unregister(ready)
                tell_end(ready, *running.pop(ready))
                continue
            message, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 16)
            if not message:
                return None
            order, told = Order(*json.loads(message)), descriptors[0]
            process = os.fork()
            if process == 0:
                control.close()
                settle(order, descriptors[1:])
                return order
            for descriptor in descriptors[1:]:
                os.close(descriptor)
            os.write(told, NUMBER.pack(process))
            handle = os.pidfd_open(process)
            running[handle] = process, told
            waiting.register(handle, select.POLLIN)


def tell_end(handle: int, process: int, told: int) -> None:
    """A process has ended: say how, if anybody still listens."""
    _, status = os.waitpid(process, 0)
    with contextlib.suppress(BrokenPipeError):
        os.write(told, NUMBER.pack(os.waitstatus_to_exitcode(status)))
    os.close(handle)
    os.close(told)


def settle(order: Order, descriptors: list[int]) -> None:
    """In a new process: have what a new interpreter would have, and nothing else."""
    for at, descriptor in enumerate(descriptors):
        fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH + at)
    os.closerange(3, HIGH)
    for at, wanted in enumerate(order.descriptors):
        os.dup2(HIGH + at, wanted)
    os.closerange(HIGH, HIGH + len(descriptors))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under `nohup`
    os.environ.clear()
    os.environ.update(order.environ)
    time.tzset()
    os.chdir(order.directory)


def run(order: Order) -> int:
    """What Python does with its arguments; answers the exit status."""
    kind, what, *rest = order.arguments
    sys.argv = [kind, *rest]
    try:
        if kind == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        return end.code
    return 0


def leave(status: int) -> NoReturn:
    """End as an interpreter does, but for taking all that is loaded apart, which costs more than many a command."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: for the tests, which then close the socket
    load()
    received = serve(socket.socket(fileno=int(sys.argv[1])))
    if received is not None:
        leave(run(received))
