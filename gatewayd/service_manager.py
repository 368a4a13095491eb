"""What the daemon and its service manager tell each other: readiness, watchdog, passed sockets (sd_notify(3)).

Without a service manager every call does nothing, and a manager that went away is never an error.
"""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

SEND_SECONDS = 0.5  # Chosen: how long the one message that must arrive may wait for a full socket


@dataclass(frozen=True, slots=True)
class Notifier:
    """Sends states to the manager. `watchdog_seconds`: how often to call `watchdog`; None: nobody waits for it."""

    address: str | bytes | None = None
    watchdog_seconds: float | None = None

    def ready(self, status: str = "serving") -> None:
        self._send(f"READY=1\n{_status(status)}", SEND_SECONDS)

    def reloading(self) -> None:
        """Settings are read anew; `ready` follows, whatever became of it."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self, status: str = "stopping") -> None:
        self._send(f"STOPPING=1\n{_status(status)}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(_status(text))

    def watchdog(self) -> None:
        """To be called only while the daemon can do its work: silence makes the manager restart it."""
        self._send("WATCHDOG=1")

    def _send(self, state: str, seconds: float = 0) -> None:
        if self.address is None:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(seconds)
            sender.sendto(state.encode(errors="replace"), self.address)


def _status(text: str) -> str:
    return "STATUS=" + " ".join(text.splitlines())  # a line break would begin another assignment


def from_environ(environ: Mapping[str, str], pid: int | None = None) -> Notifier:
    """The notifier that $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID ask for. `pid`: ours, when None."""
    address = _socket_address(environ.get("NOTIFY_SOCKET", ""))
    if address is None:
        return Notifier()
    watched = environ.get("WATCHDOG_PID") in {None, "", str(os.getpid() if pid is None else pid)}
    interval_us = _count(environ.get("WATCHDOG_USEC"))
    # sd_watchdog_enabled(3) recommends half of the interval.
    return Notifier(address, interval_us / 2_000_000 if watched and interval_us else None)


def _socket_address(text: str) -> str | bytes | None:
    """A path, or an abstract name written with @ (sd_notify(3)); any other kind of address is not ours to use."""
    if "\0" in text:
        return None
    if text.startswith("@"):
        return b"\0" + os.fsencode(text[1:])
    return text if text.startswith("/") else None


def _count(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else 0
