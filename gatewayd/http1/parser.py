"""HTTP/1.1 requests, parsed and vetted over llhttp (RFC 9110, RFC 9112)."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

import httptools

from gatewayd.http1.header_fields import Header
from gatewayd.http1.request import Request
from gatewayd.http1.settings import ServerSettings

# uri-host and port of RFC 9112 §3.2, loosely: what may not stand there is refused.
_HOST: Final = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]\-]*")
_ABSOLUTE: Final = re.compile(rb"https?://([^/?#@]+)((?:[/?][^#]*)?)", re.IGNORECASE)

_VETTED: Final = frozenset({b"host", b"transfer-encoding", b"content-length", b"expect"})

# llhttp says these only in words; any other fault is a plain 400.
_FAULT_STATUS: Final = {"Invalid HTTP version": 505}

# Chosen: chunks of one byte cost five of framing.
_FRAMING_PER_BODY_BYTE: Final = 8


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a connection cannot go on: the status to answer and a sentence for the reader."""

    status: int
    detail: str


class ReceivedRequest(Request):
    """A request of one connection; its body grows while the connection is read. `length` is None when chunked."""

    __slots__ = (
        "complete",
        "discarding",
        "expects_continue",
        "keep_alive",
        "length",
        "parts",
        "read_began",
        "received",
        "version",
    )

    def __init__(self, method: str, version: str, headers: list[Header], target: tuple[bytes, bytes, str]) -> None:
        self._take(method, target, headers)
        self.version = version
        self.keep_alive = True
        self.expects_continue = False
        self.length: int | None = 0
        # Coarse instant of the first wait for the body; 0 before it.
        self.read_began = 0.0
        self.received = 0
        self.parts: list[bytes] = []
        self.complete = False
        self.discarding = False

    def take_body(self) -> bytes:
        """The bytes that have arrived since the last call."""
        parts = self.parts
        if not parts:
            return b""
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        return data


class RequestParser:
    """Feeds llhttp and queues what it finds. After `fault` is set nothing more may be fed."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._llhttp: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self.requests: deque[ReceivedRequest] = deque()
        self.fault: Fault | None = None
        # A message has begun and its header block is not complete.
        self.in_head = False
        # The last message ends the connection: what follows it is not read.
        self.last = False
        self._open: ReceivedRequest | None = None
        self._target = b""
        self._headers: list[Header] = []
        self._vetted: list[Header] = []
        self._head_bytes = 0
        self._framing_bytes = 0

    def feed(self, data: bytes) -> None:
        """Parse what was read. Whole requests, bodies and the fault are found in the attributes."""
        was_in_head, was_open = self.in_head, self._open
        received = was_open.received if was_open is not None else 0
        self._feed(data)
        if was_in_head and self.in_head:
            self._head_bytes += len(data)
            if self._head_bytes > self._settings.max_header_bytes:
                self._head_too_large()
        elif was_open is not None and was_open is self._open:
            self._count_framing(len(data) - was_open.received + received, was_open)

    def close(self) -> None:
        """Break the cycle between llhttp and its callbacks."""
        self._llhttp = None

    def _feed(self, data: bytes) -> None:
        while data and self._llhttp is not None and not self.last and self.fault is None:
            try:
                self._llhttp.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                data = self._without_upgrade(self._llhttp) + data[upgrade.args[0] :]
            except httptools.HttpParserError as error:
                self._fail(str(error))
            else:
                return

    def _fail(self, reason: str) -> None:
        # llhttp faults data after "Connection: close"; it is simply not read here.
        if not self.last and self.fault is None:
            self.fault = Fault(_FAULT_STATUS.get(reason, 400), f"The request is not valid HTTP/1.1: {reason}.")

    def _without_upgrade(self, llhttp: httptools.HttpRequestParser) -> bytes:
        """The head just parsed, without its Upgrade fields, for a fresh parser (RFC 9110 §7.8: Upgrade may be ignored).

        llhttp leaves HTTP behind such a head, body included; clients that offer h2c with a POST rely on being read on.
        """
        version = llhttp.get_http_version().encode("ascii")
        head = [llhttp.get_method(), b" ", self._target, b" HTTP/", version, b"\r\n"]
        for name, value in self._headers:
            if name != b"upgrade":
                head += (name, b": ", value, b"\r\n")
        self._llhttp = httptools.HttpRequestParser(self)
        return b"".join([*head, b"\r\n"])

    def _head_too_large(self) -> None:
        self.fault = Fault(431, f"The header block is larger than {self._settings.max_header_bytes} bytes.")

    def _count_framing(self, size: int, request: ReceivedRequest) -> None:
        """Chunk extensions, leading zeros and trailers carry no body, and would otherwise flow without limit."""
        self._framing_bytes += size
        if self._framing_bytes > self._settings.max_header_bytes + _FRAMING_PER_BODY_BYTE * request.received:
            self._head_too_large()

    # llhttp's callbacks.

    def on_message_begin(self) -> None:
        self.in_head = True
        self._target = b""
        self._headers = []
        self._vetted = []
        self._head_bytes = 0
        self._framing_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._open is not None:
            self._count_framing(len(name) + len(value) + 4, self._open)
            return
        line = (name.lower(), value.rstrip(b" \t"))
        self._headers.append(line)
        if line[0] in _VETTED:
            self._vetted.append(line)

    def on_headers_complete(self) -> None:
        llhttp = self._llhttp
        if self.fault is not None or llhttp is None:
            return
        if llhttp.should_upgrade() and llhttp.get_method() != b"CONNECT":
            return
        self.in_head = False
        fault = self._vet(llhttp.get_method(), llhttp.get_http_version())
        if isinstance(fault, Fault):
            self.fault = fault
            return
        self._open = request = fault
        request.keep_alive = llhttp.should_keep_alive()
        self.requests.append(request)

    def on_body(self, body: bytes) -> None:
        request = self._open
        if request is not None:
            request.received += len(body)
            if not request.discarding:
                request.parts.append(body)

    def on_message_complete(self) -> None:
        request = self._open
        if request is not None and self.fault is None:
            request.complete = True
            self.last = not request.keep_alive
            self._open = None

    # Vetting: what llhttp leaves to its caller.

    def _vet(self, method: bytes, version: str) -> ReceivedRequest | Fault:
        if version not in ("1.1", "1.0"):
            return Fault(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
        if len(self._target) > self._settings.max_target_bytes:
            return Fault(414, f"The request target is longer than {self._settings.max_target_bytes} bytes.")
        size = len(self._target)
        for name, value in self._headers:
            size += len(name) + len(value) + 4
        if size > self._settings.max_header_bytes:
            return Fault(431, f"The header block is larger than {self._settings.max_header_bytes} bytes.")
        target = self._split_target(method)
        if isinstance(target, Fault):
            return target
        request = ReceivedRequest(method.decode("ascii"), version, self._headers, target)
        return self._vet_fields(request) or request

    def _vet_fields(self, request: ReceivedRequest) -> Fault | None:
        hosts = 0
        for name, value in self._vetted:
            if name == b"host":
                hosts += 1
                if _HOST.fullmatch(value) is None:
                    return Fault(400, "The Host header field is not valid.")
            elif name == b"content-length":
                request.length = int(value)
            elif name == b"transfer-encoding":
                if request.version == "1.0":  # RFC 9112 §6.1
                    return Fault(400, "Transfer-Encoding does not exist in HTTP/1.0.")
                if value.lower() != b"chunked":
                    return Fault(501, "The only transfer coding understood here is chunked.")
                request.length = None
            elif value.lower() != b"100-continue":
                return Fault(417, "The only expectation met here is 100-continue.")
            else:
                request.expects_continue = request.version == "1.1"
        if hosts > 1 or (hosts == 0 and request.version == "1.1"):  # RFC 9112 §3.2
            return Fault(400, "A request carries exactly one Host header field.")
        return None

    def _split_target(self, method: bytes) -> tuple[bytes, bytes, str] | Fault:
        target = self._target
        if method == b"CONNECT":
            return Fault(400, "This server is no proxy: CONNECT is refused.")
        if target == b"*" and method == b"OPTIONS":
            return b"*", b"", "*"
        if not target.startswith(b"/"):
            absolute = _ABSOLUTE.fullmatch(target)
            if absolute is None:
                return Fault(400, "The request target is not valid.")
            self._take_host(absolute[1])
            target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
        raw_path, _, query = target.partition(b"?")
        if b"#" in target:
            return Fault(400, "A request target has no fragment.")
        path = decode_path(raw_path)
        if path is None:
            return Fault(400, "The request path is not percent-encoded UTF-8.")
        return raw_path, query, path

    def _take_host(self, authority: bytes) -> None:
        """The authority of an absolute-form target stands above Host (RFC 9112 §3.2.2)."""
        replaced = (b"host", authority)
        self._headers[:] = [replaced if line[0] == b"host" else line for line in self._headers]
        self._vetted[:] = [replaced if line[0] == b"host" else line for line in self._vetted]


def decode_path(raw_path: bytes) -> str | None:
    """The path without percent-encoding; None when it is not UTF-8 or holds a NUL."""
    try:
        path = (unquote_to_bytes(raw_path) if b"%" in raw_path else raw_path).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in path else path
