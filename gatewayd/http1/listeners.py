"""Listening sockets: bound, inherited, named, taken away; and who is at the ends of what they accept."""

from __future__ import annotations

import errno
import os
import resource
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from gatewayd.http1.request import Address
from gatewayd.http1.settings import ServerSettings

# Descriptors left to the store, the log, the workers and outbound connections.
_RESERVED_DESCRIPTORS: Final = 256
_LEAST_CONNECTIONS: Final = 16


def open_listeners(settings: ServerSettings) -> list[socket.socket]:
    """Bind and listen on every address of the settings. Raises OSError or ValueError naming the address."""
    listeners: list[socket.socket] = []
    try:
        for bind in settings.bind:
            listeners.extend(_open_one(bind, settings))
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _open_one(bind: str, settings: ServerSettings) -> list[socket.socket]:
    try:
        if bind.startswith("unix:"):
            return [_listen_unix(bind.removeprefix("unix:"), settings)]
        if bind.startswith("fd://"):
            return [_inherit(int(bind.removeprefix("fd://")))]
        return _listen_tcp(bind, settings.backlog)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {bind}: {error.strerror or error}") from error
    except (ValueError, OverflowError) as error:
        raise ValueError(f"cannot listen on {bind}: {error}") from error


def _listen_tcp(bind: str, backlog: int) -> list[socket.socket]:
    host, _, port_text = bind.rpartition(":")
    port = int(port_text)
    addresses = socket.getaddrinfo(
        host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
    )
    listeners: list[socket.socket] = []
    failure: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        # A name with several addresses (localhost) shares the port the first one was given.
        wanted = (address[0], port or (listeners[0].getsockname()[1] if listeners else 0), *address[2:])
        try:
            listeners.append(_bound(socket.socket(family, kind, protocol), wanted, backlog))
        except OSError as error:
            failure = error
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                break
    if failure is not None and (not listeners or failure.errno == errno.EADDRINUSE):
        for listener in listeners:
            listener.close()
        raise failure
    return listeners


def _bound(listener: socket.socket, address: tuple[object, ...], backlog: int) -> socket.socket:
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if listener.family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(backlog)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _listen_unix(path: str, settings: ServerSettings) -> socket.socket:
    """Listen under another name, then rename over a stale socket: nobody meets a socket with the wrong mode."""
    _refuse_living_socket(path)
    fresh = f"{path}.{os.getpid()}"
    with suppress(FileNotFoundError):
        os.unlink(fresh)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(fresh)
        os.chmod(fresh, settings.unix_mode)
        listener.listen(settings.backlog)
        os.rename(fresh, path)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        with suppress(FileNotFoundError):
            os.unlink(fresh)
        raise
    return listener


def _refuse_living_socket(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError(errno.EEXIST, "a file that is no socket stands there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except OSError:
            return
    raise OSError(errno.EADDRINUSE, "another process listens there")


def _inherit(descriptor: int) -> socket.socket:
    """A listening socket handed over by systemd (sd_listen_fds(3)) or another parent."""
    listener = socket.socket(fileno=descriptor)
    if listener.type != socket.SOCK_STREAM or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        listener.detach()
        raise ValueError("not a listening stream socket")
    if listener.family in (socket.AF_INET, socket.AF_INET6):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.set_inheritable(False)
    listener.setblocking(False)
    return listener


def unlink_unix(inodes: dict[str, int]) -> None:
    """Remove the unix sockets that are still ours by inode."""
    for path, inode in inodes.items():
        with suppress(FileNotFoundError):
            if os.lstat(path).st_ino == inode:
                os.unlink(path)


def unix_inodes(settings: ServerSettings) -> dict[str, int]:
    """Paths and inodes of the unix sockets just bound."""
    paths = [bind.removeprefix("unix:") for bind in settings.bind if bind.startswith("unix:")]
    return {path: Path(path).lstat().st_ino for path in paths}


def describe(listener: socket.socket, scheme: str) -> str:
    """A listener's address as people write it: `http://127.0.0.1:8080` or `unix:/path`."""
    address = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        # Bound under a passing name: see _listen_unix.
        return f"unix:{str(address).removesuffix(f'.{os.getpid()}')}"
    host = f"[{address[0]}]" if listener.family == socket.AF_INET6 else address[0]
    return f"{scheme}://{host}:{address[1]}"


def connection_limit(wanted: int) -> int:
    """How many connections the descriptors allow, after raising the process's own soft limit as far as needed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    if soft == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(_LEAST_CONNECTIONS, soft - _RESERVED_DESCRIPTORS))


def peer_of(accepted: socket.socket) -> Address | None:
    """The peer's address; None on a unix socket. Raises OSError when the peer is gone already."""
    if accepted.family == socket.AF_UNIX:
        return None
    address = accepted.getpeername()
    return address[0], address[1]


def server_of(accepted: socket.socket) -> tuple[str, int | None]:
    """The address the peer reached, in the shape of the ASGI scope."""
    address = accepted.getsockname()
    return (str(address), None) if accepted.family == socket.AF_UNIX else (address[0], address[1])
