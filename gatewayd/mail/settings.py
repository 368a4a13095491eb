"""What the mail engine is told by the configuration."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gatewayd.clock import HOUR, SECOND
from gatewayd.config.keys import Mail

CONNECTIONS: Final = 4  # Chosen: to the one server; many count those of one client
PER_QUEUE: Final = 2  # Chosen: of these, to one organization, so that others' mail goes on beside a flood
STEPS: Final = 4  # Chosen: an attempt has as much time as this many answers
ATTACH_SECONDS: Final = 30.0  # Chosen: to have what is attached; it waits its turn among papers
LEASE_MARGIN_SECONDS: Final = 15.0  # Chosen: between the end of an attempt and its record, on a disk that is busy
FIRST_RETRY_SECONDS: Final = 60.0  # Chosen; RFC 5321 §4.5.4.1 asks for 30 minutes between relays, we are a client
RETRY_CAP_SECONDS: Final = 4 * 3600.0  # Chosen
FIRST_PAUSE_SECONDS: Final = 5.0  # Chosen: of a server that is in trouble; it doubles
STOP_SECONDS: Final = 10.0  # Chosen: how long a stop waits for mails under way
PASSWORD_BYTES_MAX: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class MailSettings:
    """The `[mail]` table. `greeting` is what we call ourselves to the server (EHLO)."""

    host: str
    port: int
    security: str
    ca_file: str | None
    user: str
    password_file: str
    sender: str
    sender_name: str
    greeting: str
    timeout_seconds: float
    retry_hours: int
    organization_per_hour: int
    recipient_per_hour: int
    retention_days: int
    first_retry_seconds: float = FIRST_RETRY_SECONDS
    retry_cap_seconds: float = RETRY_CAP_SECONDS
    first_pause_seconds: float = FIRST_PAUSE_SECONDS
    connections: int = CONNECTIONS
    per_queue: int = PER_QUEUE
    stop_seconds: float = STOP_SECONDS

    @property
    def attempt_seconds(self) -> float:
        """The most that one attempt may take, from the connection to the last answer."""
        return STEPS * self.timeout_seconds

    @property
    def lease(self) -> int:
        """Microseconds after which an attempt that was not recorded counts as interrupted."""
        return round((self.attempt_seconds + ATTACH_SECONDS + LEASE_MARGIN_SECONDS) * SECOND)

    @property
    def retried_for(self) -> int:
        """Microseconds since it was written after which a mail is given up."""
        return self.retry_hours * HOUR

    def password(self) -> str:
        """The password of `user`, read anew each time: a new one needs no restart. Empty: there is none.

        Raises `OSError`, or `ValueError` where the file is no text.
        """
        if not self.password_file:
            return ""
        with Path(self.password_file).open("rb") as file:
            text = file.read(PASSWORD_BYTES_MAX).decode("utf-8")
        return text.split("\n", 1)[0].rstrip("\r")


def settings_from(mail: Mail, public_url: str) -> MailSettings | None:
    """None where no mail is sent."""
    if not mail.host:
        return None
    return MailSettings(
        host=mail.host,
        port=mail.port,
        security=mail.security,
        ca_file=mail.ca_file or None,
        user=mail.user,
        password_file=mail.password_file,
        sender=mail.from_,
        sender_name=mail.from_name,
        greeting=_greeting(public_url),
        timeout_seconds=mail.timeout_seconds,
        retry_hours=mail.retry_hours,
        organization_per_hour=mail.organization_per_hour,
        recipient_per_hour=mail.recipient_per_hour,
        retention_days=mail.retention_days,
    )


def _greeting(public_url: str) -> str:
    """A host's name, or its address in brackets (RFC 5321 §4.1.3)."""
    host = urlsplit(public_url).hostname or "localhost"
    if ":" in host:
        return f"[IPv6:{host}]"
    return f"[{host}]" if host.replace(".", "").isdigit() else host
