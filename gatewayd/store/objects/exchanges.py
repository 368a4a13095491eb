"""Requests to one S3-compatible store, each bounded in time, and repeated where it is over soon.

Whatever is asked here may be asked again: an object that is written twice is the same, and one that is deleted twice is
gone. Redirects and proxies of the environment are not followed.
"""

import contextlib
import hashlib
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote

import httpcore
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from gatewayd.store.failures import StoreFailure
from gatewayd.store.objects.answers import Refusal, Unreadable, refusal_of
from gatewayd.store.objects.signing import Signer, Unsigned
from gatewayd.store.settings import Bucket

TRIES: Final = 4  # Chosen
WAIT_SECONDS_MAX: Final = 2.0  # Chosen: between two of them
CONNECT_SECONDS: Final = 5.0  # Chosen
SILENT_SECONDS: Final = 15.0  # Chosen: a store that neither takes nor sends a byte so long is given up
ASK_SECONDS: Final = 30.0  # Chosen: for all tries of a request with no large body
WHOLE_SECONDS: Final = 900.0  # Chosen: for all of a large object: 1 GiB at 10 Mbit/s
CONNECTIONS_MAX: Final = 16  # Chosen: as many as come in at once
IDLE_SECONDS: Final = 5.0  # Chosen
ANSWER_BYTES_MAX: Final = 8 << 20  # of a listing of 1,000 keys, each of at most 1,024 bytes that may be encoded
CHUNK_BYTES: Final = 1 << 18
PARTIAL_CONTENT: Final = 206
EMPTY_SHA256: Final = hashlib.sha256().hexdigest()
T = TypeVar("T")


class NoObject(Exception):
    """There is no such object."""


class _Again(Exception):
    """It failed, and may be tried again. Says why."""


class Body(NamedTuple):
    """What a request carries: a part of a file, or `content` where that is not None."""

    size_bytes: int
    sha256: str
    content: bytes | None = None
    path: Path | None = None
    offset: int = 0

    @classmethod
    def of(cls, content: bytes) -> "Body":
        """Bytes in memory."""
        return cls(len(content), hashlib.sha256(content).hexdigest(), content)

    def parts(self, deadline: float) -> Iterator[bytes]:
        """From its beginning on. Raises `_Again` behind the deadline, `OSError`."""
        if self.path is None:
            if self.content:
                yield self.content
            return
        with self.path.open("rb") as file:
            file.seek(self.offset)
            left = self.size_bytes
            while left and (part := file.read(min(left, CHUNK_BYTES))):
                _require_time(deadline)
                left -= len(part)
                yield part


NOTHING: Final = Body(0, EMPTY_SHA256, b"")


class Ask(NamedTuple):
    """A request about a key, or about the bucket where that is empty."""

    method: str
    key: str = ""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: Body = NOTHING


class Answer(NamedTuple):
    """A good answer. `etag` is empty where it has none."""

    body: bytes
    etag: str


class Exchanges:
    """The way to one bucket. Threads may share it."""

    def __init__(self, bucket: Bucket) -> None:
        """Nothing is read or opened before the first request."""
        self.bucket = bucket
        self._origin = httpcore.URL(bucket.endpoint)
        self._host = bucket.endpoint.partition("://")[2]
        self._lock = threading.Lock()
        self._opened: tuple[httpcore.ConnectionPool, Signer] | None = None

    def failure(self, sentence: str) -> StoreFailure:
        """What is told of a failure."""
        return StoreFailure(f"{self.bucket.url}, where documents lie: {sentence}")

    def ask(self, request: Ask, check: Callable[[Answer], T], seconds: float = ASK_SECONDS) -> T:
        """What `check` makes of a good answer.

        Raises `NoObject`, or `StoreFailure` where another answer comes, or none within all tries.
        """
        deadline = time.monotonic() + seconds
        return self._again_and_again(lambda: self._once(request, deadline, check), seconds)

    def stream(self, key: str, seconds: float = WHOLE_SECONDS) -> Iterator[bytes]:
        """The bytes of an object. Where they break off they are gone on with. Raises as `ask`."""
        deadline, received = time.monotonic() + seconds, 0
        tries = 0
        while True:
            begun = received
            try:
                with self._answer(_from(key, received), deadline) as answer:
                    if received and answer.status != PARTIAL_CONTENT:
                        raise self.failure("it cannot go on in the middle of an object")
                    for part in answer.iter_stream():
                        _require_time(deadline)
                        received += len(part)
                        yield part
                    return
            except _BROKEN as error:
                told: Exception = error
            except _Again as error:
                told = error
            tries = 1 if received > begun else tries + 1
            if tries >= TRIES or time.monotonic() > deadline:
                raise self.failure(_reason(told)) from told
            time.sleep(min(0.1 * 2**tries, WAIT_SECONDS_MAX))

    def _again_and_again(self, work: Callable[[], T], seconds: float) -> T:
        retrying = Retrying(
            retry=retry_if_exception_type(_Again),
            stop=stop_after_attempt(TRIES) | stop_after_delay(seconds),
            wait=wait_random_exponential(multiplier=0.2, max=WAIT_SECONDS_MAX),
            reraise=True,
        )
        try:
            return retrying(work)
        except _Again as error:
            raise self.failure(str(error)) from error

    def _once(self, request: Ask, deadline: float, check: Callable[[Answer], T]) -> T:
        body = b""
        try:
            with self._answer(request, deadline) as answer:
                body = _read(answer, deadline)
                etag = next((value.decode("latin-1") for name, value in answer.headers if name.lower() == b"etag"), "")
            return check(Answer(body, etag))
        except _BROKEN as error:
            raise _Again(_reason(error)) from error
        except Unreadable as error:
            refused = refusal_of(200, body)  # some say first that it goes well, and then that it did not
            if refused.is_over_soon:
                raise _Again(refused.sentence) from error
            raise self.failure(refused.sentence if refused.code else f"it gives {error}") from error

    @contextlib.contextmanager
    def _answer(self, request: Ask, deadline: float) -> Iterator[httpcore.Response]:
        """A good answer, whose body is to be read. Raises `NoObject`, `_Again`, `StoreFailure`, httpcore's."""
        pool, signer = self._open()
        _require_time(deadline)
        target = f"/{self.bucket.name}"
        if request.key:
            target += f"/{self.bucket.prefix}{request.key}"
        if request.query:
            target += "?" + "&".join(f"{name}={quote(value, safe='-_.~')}" for name, value in request.query.items())
        fields = {"Host": self._host, **request.headers}
        if request.method in ("PUT", "POST"):
            fields["Content-Length"] = str(request.body.size_bytes)
        unsigned = Unsigned(request.method, self.bucket.endpoint + target, fields, request.body.sha256)
        sent = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=self._origin.scheme, host=self._origin.host, port=self._origin.port, target=target.encode()
            ),
            headers=[*signer.headers_of(unsigned).items()],
            content=request.body.parts(deadline),
            extensions={"timeout": _timeouts(deadline)},
        )
        answer = pool.handle_request(sent)
        try:
            if not 200 <= answer.status < 300:
                self._refuse(refusal_of(answer.status, _read(answer, deadline)))
            yield answer
        finally:
            answer.close()

    def _refuse(self, refused: Refusal) -> None:
        """Raises `NoObject`, `_Again` or `StoreFailure`."""
        if refused.is_over_soon:
            raise _Again(refused.sentence)
        if refused.status == 404 and refused.code in ("", "NoSuchKey"):
            raise NoObject
        if refused.code == "NoSuchUpload":
            raise NoObject
        raise self.failure(refused.sentence)

    def _open(self) -> tuple[httpcore.ConnectionPool, Signer]:
        """Connections and what signs; made once, since to read the system's certificates takes 25 ms."""
        with self._lock:
            if self._opened is None:
                signer = Signer(self.bucket)
                context = ssl.create_default_context()
                context.minimum_version = ssl.TLSVersion.TLSv1_2
                pool = httpcore.ConnectionPool(
                    ssl_context=context,
                    max_connections=CONNECTIONS_MAX,
                    max_keepalive_connections=CONNECTIONS_MAX,
                    keepalive_expiry=IDLE_SECONDS,
                )
                weakref.finalize(self, pool.close)
                self._opened = pool, signer
            return self._opened


_BROKEN: Final = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)


def _from(key: str, offset: int) -> Ask:
    return Ask("GET", key, headers={"Range": f"bytes={offset}-"} if offset else {})


def _timeouts(deadline: float) -> dict[str, float]:
    left = max(deadline - time.monotonic(), 0.001)
    silent = min(SILENT_SECONDS, left)
    return {"connect": min(CONNECT_SECONDS, left), "read": silent, "write": silent, "pool": silent}


def _require_time(deadline: float) -> None:
    """Raises `_Again` behind the deadline: nothing is begun again there."""
    if time.monotonic() > deadline:
        raise _Again("it is too slow")


def _read(answer: httpcore.Response, deadline: float) -> bytes:
    body = bytearray()
    for part in answer.iter_stream():
        _require_time(deadline)
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise Unreadable("an answer that does not end")
    return bytes(body)


def _reason(error: Exception) -> str:
    """Why a connection failed; httpcore's own errors say it, or the one below them."""
    if isinstance(error, httpcore.TimeoutException):
        return "it does not answer"
    text = str(error) or str(error.__cause__ or "")
    return f"it cannot be reached: {text or type(error).__name__}" if not isinstance(error, _Again) else text
