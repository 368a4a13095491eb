"""When a mail is tried again, and how long the server is left alone that cannot be reached. Pure."""

from typing import Final

from gatewayd.clock import SECOND, Instant
from gatewayd.mail.settings import MailSettings

JITTER_SHARE: Final = 0.2  # Chosen
LONGEST_PAUSE_SECONDS: Final = 300.0  # Chosen: of a server that is in trouble


def next_attempt(settings: MailSettings, attempts: int, now: Instant, fraction: float) -> Instant:
    """When to try again after so many attempts, of which the server refused each for now; `fraction` from [0, 1)."""
    doublings = min(attempts - 1, 20)  # further ones are past the cap
    seconds = min(settings.first_retry_seconds * 2.0**doublings, settings.retry_cap_seconds)
    return Instant(now + round(seconds * (1 + JITTER_SHARE * fraction) * SECOND))


def pause_seconds(settings: MailSettings, failures: int, fraction: float) -> float:
    """How long nothing is sent after so many failures in a row that say nothing about a mail."""
    seconds = min(settings.first_pause_seconds * 2.0 ** min(failures - 1, 20), LONGEST_PAUSE_SECONDS)
    return seconds * (1 + JITTER_SHARE * fraction)
