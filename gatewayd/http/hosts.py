"""By which names the daemon is reached: a request for another host is none of ours (RFC 9110 §7.4, §15.5.20).

A page of a stranger may let its own name lead to this machine, and would then be of one origin with what answers there
(DNS rebinding). It cannot do so with an address, nor with a name that the browser itself resolves.
"""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Final

from gatewayd.config.forms import is_loopback
from gatewayd.http.render import refusal
from gatewayd.http1.log import Log
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response

STATUS: Final = 421
TOLD_MAX: Final = 20  # Chosen: names in the log, which strangers choose
HEALTH: Final = frozenset({"/healthz", "/readyz"})
"""Whoever looks whether the daemon is well asks by whatever name it has for it."""
_MESSAGE: Final = (
    "Nothing is served here under the name that the request was sent to. server.public_url is the one that counts, and "
    "server.hosts holds further ones."
)
Note = Callable[[Request, Response], None]
"""Told of each refusal."""


class Hosts:
    """The names at which the daemon is reached; none: whichever they are.

    Addresses, and the names of this machine itself, are served in any case, and so is a request that names no host.
    """

    def __init__(self, names: Iterable[str] = (), log: Log | None = None, note: Note | None = None) -> None:
        """`names` are without ports. `log` is told of the first requests to others, each name once; `note` of each."""
        self._names = frozenset(name.lower() for name in names)
        self._log = log
        self._note = note
        self._told: set[str] = set()

    def refused(self, request: Request) -> Response | None:
        """421 for a request to another host; None for what is to be answered.

        What came through a proxy that is trusted, or by a unix socket, is for whoever stands in front to judge.
        """
        if not self._names or request.vouched or request.client is None or request.path in HEALTH:
            return None
        host = _host_of(request)
        if self._serves(host):
            return None
        if self._log is not None and host not in self._told and len(self._told) < TOLD_MAX:
            self._told.add(host)
            self._log.warning("host_refused", host=host, setting="server.hosts", request_id=request.id)
        response = refusal(STATUS, _MESSAGE, request.id)
        if self._note is not None:
            self._note(request, response)
        return response

    def _serves(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        name = name.lower().removesuffix(".")
        return not name or name in self._names or is_loopback(name) or _is_address(name)


def _host_of(request: Request) -> str:
    """Host as it was sent; empty where it was not."""
    return next((value for name, value in request.headers if name == b"host"), b"").decode("latin-1")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
