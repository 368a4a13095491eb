"""The demo's HTTP client: one request at a time, each on a thread, with cookies."""

import copy
import http.client
import urllib.request
from collections.abc import Mapping
from email.message import Message
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
import trio

REQUEST_SECONDS = 20.0  # Chosen
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
BYTES = "application/octet-stream"


class DemoFailed(Exception):
    """A step did not do its work."""


class Response(NamedTuple):
    """A response of any status. `url` is that of the request."""

    method: str
    url: str
    status: int
    headers: Message
    body: bytes

    def expect(self, status: int = 200) -> "Response":
        """Itself. Raises `DemoFailed` where the status is another."""
        if self.status != status:
            path = urlsplit(self.url).path  # the query may hold a code
            raise DemoFailed(f"{self.method} {path} answered {self.status}, not {status}: {self.body[:500]!r}")
        return self

    def json(self) -> dict[str, Any]:
        """The body. Raises `DemoFailed` where it is no JSON object."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except msgspec.DecodeError:
            raise DemoFailed(f"{self.method} {urlsplit(self.url).path}: no JSON object: {self.body[:500]!r}") from None


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Errors and redirects are returned like other responses."""

    def http_response(self, request: urllib.request.Request, response: http.client.HTTPResponse) -> Any:
        return response


class HttpClient:
    """Sends requests to the daemon, past any proxy. Remembers cookies."""

    def __init__(self) -> None:
        no_proxy = urllib.request.ProxyHandler({})
        self._opener = urllib.request.build_opener(no_proxy, urllib.request.HTTPCookieProcessor(), _AnyStatus)

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> Response:
        return await self.send(urllib.request.Request(url, headers=dict(headers or {})))

    async def post_form(
        self, url: str, fields: Mapping[str, str] | list[tuple[str, str]], headers: Mapping[str, str] | None = None
    ) -> Response:
        headers = {"Content-Type": FORM, **(headers or {})}
        return await self.send(urllib.request.Request(url, urlencode(fields).encode(), headers))

    async def post_json(self, url: str, document: object, headers: Mapping[str, str] | None = None) -> Response:
        headers = {"Content-Type": JSON, **(headers or {})}
        return await self.send(urllib.request.Request(url, msgspec.json.encode(document), headers))

    async def post_file(self, url: str, content: bytes, headers: Mapping[str, str]) -> Response:
        return await self.send(urllib.request.Request(url, content, {"Content-Type": BYTES, **headers}))

    async def put_file(self, url: str, content: bytes, headers: Mapping[str, str]) -> Response:
        return await self.send(urllib.request.Request(url, content, dict(headers), method="PUT"))

    async def delete(self, url: str, headers: Mapping[str, str]) -> Response:
        return await self.send(urllib.request.Request(url, headers=dict(headers), method="DELETE"))

    async def send(self, request: urllib.request.Request) -> Response:
        """What is answered, whatever its status. Raises `DemoFailed`."""
        return await trio.to_thread.run_sync(self._send_blocking, request, abandon_on_cancel=True)

    def _send_blocking(self, request: urllib.request.Request) -> Response:
        method, url = request.get_method(), request.full_url
        try:
            with self._opener.open(request, timeout=REQUEST_SECONDS) as response:
                return Response(method, url, response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise DemoFailed(f"{method} {urlsplit(url).path}: {error}") from None


class ApiClient:
    """Calls operations of the daemon's API with a key. `base` is the address before their paths."""

    def __init__(self, base: str, key: str, http: HttpClient | None = None) -> None:
        self.base = base
        self.authorization = {"Authorization": f"Bearer {key}"}
        self.http = http or HttpClient()

    def under(self, path: str) -> "ApiClient":
        """The same key and what sends, for what lies under a path."""
        client = copy.copy(self)
        client.base += path
        return client

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The answer of a read. Raises `DemoFailed`."""
        url = f"{self.base}{path}?{urlencode(query)}" if query else self.base + path
        return (await self.http.get(url, self.authorization)).expect().json()

    async def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The answer of a write. Raises `DemoFailed`."""
        headers = {**self.authorization, **(headers or {})}
        return (await self.http.post_json(self.base + path, body, headers)).expect().json()
