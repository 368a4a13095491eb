"""A real SMTP server in a process of its own, which does as the recipient's address says, and writes down what it took.

    python -m tests.mail.server SETTINGS

`SETTINGS` is JSON: `port_file`, `taken_file`, and perhaps `certificate` with `key`, `tls` or `starttls`, `user` with
`password`, `utf8`, `refuse` (what it says to everybody at MAIL). The local part of an address begins with what becomes
of it: `temp3-…` is refused for now three times, `gone-…` is not known, `spam-…` is refused for what it says, and the
link in it is quoted, `hang-…` is never answered, `close-…` and `drop-…` end the connection, before and after what it
says.
"""

import asyncio
import base64
import json
import re
import ssl
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class Handler:
    """What becomes of mails. What was taken is on disk before it is told."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._taken = Path(settings["taken_file"])
        self._tls = bool(settings.get("tls"))
        self._refuse = settings.get("refuse", "")
        self._refused: Counter[str] = Counter()

    async def handle_MAIL(  # noqa: N802 - as aiosmtpd calls it
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self._refuse:
            return str(self._refuse)
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.rcpt_tos.append(address)
        if address.startswith("gone-"):
            return "550 5.1.1 Nobody here by that name"
        if address.startswith("close-"):
            _transport(server).close()
            return "421 bye"
        found = re.match(r"temp(\d+)-", address)
        if found and self._refused[address] < int(found[1]):
            self._refused[address] += 1
            return "451 4.7.1 Come back later"
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        address = envelope.rcpt_tos[0]
        if address.startswith("hang-"):
            await asyncio.Event().wait()
        if address.startswith("spam-"):
            content = envelope.original_content or b""
            link = re.search(rb"https?://\S+", content.replace(b"=\r\n", b"").replace(b"=3D", b"="))
            return f"554 5.7.1 We do not like {link[0].decode() if link else 'it'}"
        line = {
            "to": address,
            "from": envelope.mail_from,
            "options": envelope.mail_options,
            "content": base64.b64encode(envelope.original_content or b"").decode(),
            "session": id(session),
            "tls": self._tls or session.ssl is not None,
            "user": session.authenticated,
        }
        with self._taken.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if address.startswith("drop-") and self._refused[address] == 0:
            self._refused[address] += 1
            _transport(server).close()
        return "250 2.0.0 Taken"


def _transport(server: SMTP) -> asyncio.BaseTransport:
    assert server.transport is not None
    return server.transport


async def serve(settings: dict[str, Any]) -> None:
    context = None
    if settings.get("certificate"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(settings["certificate"], settings["key"])
    handler, user = Handler(settings), settings.get("user")

    def authenticate(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        wanted = LoginPassword(str(user).encode(), str(settings["password"]).encode())
        return AuthResult(success=data == wanted, handled=False)

    def protocol() -> SMTP:
        return SMTP(
            handler,
            hostname="mail.test",
            enable_SMTPUTF8=settings.get("utf8", False),
            tls_context=context if settings.get("starttls") else None,
            require_starttls=bool(settings.get("starttls")),
            authenticator=authenticate if user else None,
            auth_required=bool(user),
            auth_require_tls=False,
            loop=asyncio.get_running_loop(),
        )

    listening = context if settings.get("tls") else None
    server = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", settings.get("port", 0), ssl=listening
    )
    port_file = Path(settings["port_file"])
    draft = port_file.with_suffix(".draft")
    draft.write_text(str(server.sockets[0].getsockname()[1]))
    draft.rename(port_file)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text())))
