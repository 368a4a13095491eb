"""The demo's webhook receiver: HTTPS on loopback, and it accepts only what is signed."""

import math
from dataclasses import dataclass
from pathlib import Path

import trio
import trustme

from gatewayd.clock import SECOND, Clock
from gatewayd.http.render import refusal
from gatewayd.http1.asgi import HttpScope, Receive, Send
from gatewayd.http1.bodies import BodyCutShort, BodyTooLarge, read_body
from gatewayd.http1.response import Response, send_response
from gatewayd.http1.server import Server
from gatewayd.http1.settings import ServerSettings
from gatewayd.logs import Logger
from gatewayd.webhooks.signature import SignatureError, verify

MAX_BODY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ReceivedDelivery:
    """One delivery as it came in."""

    event: str
    signature: str
    body: bytes


class Receiver:
    """Answers 204 to what verifies against `secret`, 400 to the rest."""

    def __init__(self, directory: Path, clock: Clock) -> None:
        authority = trustme.CA()
        certificate = authority.issue_cert("127.0.0.1", "localhost")
        self.ca_file = directory / "receiver-ca.pem"
        self._certificate = directory / "receiver-certificate.pem"
        self._key = directory / "receiver-key.pem"
        authority.cert_pem.write_to_path(self.ca_file)
        self._key.touch(mode=0o600)
        certificate.private_key_pem.write_to_path(self._key)
        self._certificate.write_bytes(b"".join(blob.bytes() for blob in certificate.cert_chain_pems))
        self._clock = clock
        self.secret = ""
        self._incoming, self.received = trio.open_memory_channel[ReceivedDelivery](math.inf)

    async def serve(self, log: Logger, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. Starts with the URL to subscribe."""
        settings = ServerSettings(bind=("127.0.0.1:0",), tls_certificate=str(self._certificate), tls_key=str(self._key))
        server = Server(self._app, settings, refuse=refusal, log=log, clock=self._clock)
        async with trio.open_nursery() as nursery:
            (address,) = await nursery.start(server.serve)
            task_status.started(f"{address}/hooks")

    async def _app(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = scope["request"]
        request.read_fields()
        signature = request.text(b"x-service-signature") or ""
        status = 204
        try:
            body = await read_body(request, receive, MAX_BODY_BYTES)
            verify(signature, body, self.secret, now=self._clock.now() // SECOND)
        except (BodyTooLarge, BodyCutShort, SignatureError):
            status = 400
        else:
            event = request.text(b"x-service-event") or ""
            self._incoming.send_nowait(ReceivedDelivery(event, signature, body))
        await send_response(request, Response(status, ()), send)
