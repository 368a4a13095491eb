"""The SMTP server of `tests.mail.server` for the length of a test, and what it took."""

import base64
import email
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from tests.support import loaded

SECONDS = 60.0
END_SECONDS = 30.0


@dataclass(frozen=True)
class Taken:
    """One mail that the server took."""

    to: str
    sender: str
    content: bytes
    session: int
    tls: bool
    user: bool
    options: tuple[str, ...]

    @property
    def message(self) -> EmailMessage:
        return email.message_from_bytes(self.content, policy=policy.default)

    @property
    def message_id(self) -> str:
        return str(self.message["Message-ID"])

    def text(self, kind: str = "plain") -> str:
        part = self.message.get_body((kind,))
        assert part is not None
        return str(part.get_content())


@dataclass
class MailServer:
    """One that runs. `directory` is where it keeps what it took."""

    directory: Path
    port: int
    process: loaded.Program

    def taken(self) -> list[Taken]:
        return taken_in(self.directory)


def taken_in(directory: Path) -> list[Taken]:
    path = directory / "taken.jsonl"
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return [
        Taken(
            to=line["to"],
            sender=line["from"],
            content=base64.b64decode(line["content"]),
            session=line["session"],
            tls=line["tls"],
            user=line["user"],
            options=tuple(line["options"]),
        )
        for line in lines
    ]


@contextmanager
def mail_server(directory: Path, port: int = 0, **settings: Any) -> Iterator[MailServer]:
    """Run one on loopback; `settings` as `tests.mail.server` takes them."""
    directory.mkdir(exist_ok=True)
    port_file, file = directory / "port", directory / "settings.json"
    port_file.unlink(missing_ok=True)
    given = {"port_file": str(port_file), "taken_file": str(directory / "taken.jsonl"), "port": port, **settings}
    file.write_text(json.dumps(given))
    process = loaded.start(["-m", "tests.mail.server", str(file)], env={}, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + SECONDS
        while not port_file.exists():
            assert process.poll() is None, "the SMTP server ended"
            assert time.monotonic() < until, "the SMTP server does not start"
            threading.Event().wait(0.01)
        yield MailServer(directory, int(port_file.read_text()), process)
    finally:
        process.kill()
        process.wait(END_SECONDS)
