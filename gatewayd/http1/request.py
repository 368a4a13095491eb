"""The one request of the program, and the ids that requests are given."""

import secrets
from collections.abc import Callable, Collection, Mapping
from urllib.parse import unquote

from gatewayd.http1.header_fields import Headers, joined

Address = tuple[str, int]
_NOT_READ: Mapping[bytes, bytes] = {}


class Request:
    """One HTTP request, received or to be sent.

    `raw_path` and `query` are as on the request line, `path` is without percent-encoding. `fields` are the headers by
    name, once they were read. `client` is who sent it, behind trusted proxies: None on a unix socket. `begun` is what
    an application has begun of it before its ASGI call. `answer_fields` are header fields for its answer, from whoever
    works on it behind the door that makes the answer. `admitted` says that an application knows who sent it, whose
    body then has more time to arrive, and whose connection is not ended for a stranger's. `settle` is called with
    whether the peer took an answer that was sent to its end, as far as an HTTP/1.1 connection can tell; None: nobody
    asks. `vouched` says that a trusted proxy sent it.
    """

    __slots__ = (
        "admitted",
        "answer_fields",
        "begun",
        "body",
        "client",
        "fields",
        "headers",
        "id",
        "method",
        "path",
        "query",
        "raw_path",
        "scheme",
        "settle",
        "vouched",
    )

    def __init__(self, method: str, target: str, headers: Headers, body: bytes = b"") -> None:
        """`target` is path and query, percent-encoded. `body` is a whole one; that of a request received is read."""
        raw_path, _, query = target.encode("latin-1").partition(b"?")
        self._take(method, (raw_path, query, unquote(target.partition("?")[0])), headers)
        self.body = body

    def _take(self, method: str, target: tuple[bytes, bytes, str], headers: Headers) -> None:
        """`target` is the raw path, the query and the path."""
        self.method = method
        self.raw_path, self.query, self.path = target
        self.headers = headers
        self.body = b""
        self.fields: Mapping[bytes, bytes] = _NOT_READ
        self.id = ""
        self.scheme = "http"
        self.client: Address | None = None
        self.begun: object = None
        self.answer_fields: Headers = ()
        self.admitted = False
        self.vouched = False
        self.settle: Callable[[bool], None] | None = None

    def read_fields(self, single: Collection[bytes] = ()) -> None:
        """Set `fields`, the values of one name joined. Raises `RepeatedField` for a second value of one in `single`."""
        self.fields = dict(self.headers)
        if len(self.fields) != len(self.headers):
            self.fields = joined(self.headers, single)

    def text(self, name: bytes) -> str | None:
        """The value of a field as text; None where it was not sent."""
        value = self.fields.get(name)
        return None if value is None else value.decode("latin-1")

    @property
    def peer(self) -> str | None:
        """The address of who sent it, without the port."""
        return None if self.client is None else self.client[0]

    @property
    def target(self) -> str:
        """Path and query as on the request line."""
        return (b"%b?%b" % (self.raw_path, self.query) if self.query else self.raw_path).decode("latin-1")


class RequestIds:
    """Makes the ids of one server's requests. Each stands in its response, its log lines and its error document."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._count = 0

    def next(self) -> str:
        """An id that this server has not given before, and no other one is likely to give."""
        self._count += 1
        return f"req_{self._start}{self._count:08x}"
