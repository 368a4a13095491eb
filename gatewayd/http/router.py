"""Which of the daemon's applications answers a request: a fixed path's, one that is mounted, or the API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gatewayd.http.hosts import Hosts
from gatewayd.http1.asgi import App, HttpScope, Receive, Send
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response, send_response
from gatewayd.http1.state import AtOnce, never


def _nowhere(path: str) -> bool:
    return False


def _everywhere(path: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Router:
    """A server's one application: fixed paths first, then what is mounted, everything else is the API's.

    `mounts` are applications by the beginning of their paths, `ready` what answers fixed or mounted paths at once.
    `pages` is the application of those paths of which `is_page` says so, and of those at which a browser looks for a
    page where the API has nothing, as it says by `knows`: a person reads a page there, a program JSON. `hosts` are the
    names by which anything is served.
    """

    fixed: Mapping[str, App]
    api: App
    api_at_once: AtOnce = never
    mounts: tuple[tuple[str, App], ...] = ()
    ready: Mapping[str, AtOnce] = field(default_factory=dict)
    pages: App | None = None
    is_page: Callable[[str], bool] = _nowhere
    knows: Callable[[str], bool] = _everywhere
    hosts: Hosts = field(default_factory=Hosts)

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        refused = self.hosts.refused(scope["request"])
        if refused is not None:
            await send_response(scope["request"], refused, send)
            return
        app = self.fixed.get(path) or self._mounted(path) or self._page_of_nothing(scope["request"]) or self.api
        await app(scope, receive, send)

    def at_once(self, request: Request) -> Response | None:
        """What can be answered without waiting; None for everything else."""
        path = request.path
        if (refused := self.hosts.refused(request)) is not None:
            return refused
        if path in self.ready:
            return self.ready[path](request)
        if path in self.fixed or self._mounted(path) is not None or self._page_of_nothing(request) is not None:
            return None
        return self.api_at_once(request)

    def _mounted(self, path: str) -> App | None:
        for start, app in self.mounts:
            if path.startswith(start):
                return app
        return self.pages if self.is_page(path) else None

    def _page_of_nothing(self, request: Request) -> App | None:
        """What shows a person that their address leads nowhere; None: it leads somewhere, or no browser asks."""
        if self.pages is None or request.method not in ("GET", "HEAD") or self.knows(request.path):
            return None
        asks = any(name == b"accept" and b"text/html" in value for name, value in request.headers)
        return self.pages if asks else None
