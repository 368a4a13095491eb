"""What a page says once, at the top of the page that is seen next: that what was asked for is done.

It travels in a cookie, which is bound to the session: nobody else can have a page say anything.
"""

import base64
import binascii
import hmac
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from gatewayd.console.components.shapes import Tone

FLASH_SECONDS: Final = 60  # Chosen: a page that nobody opened by then says nothing
TEXT_MAX: Final = 200  # Chosen, characters: a cookie holds 4 kB


class Flash(NamedTuple):
    """One sentence and how it is drawn."""

    tone: Tone
    text: str


def sealed_flashes(flashes: Sequence[Flash], token: str) -> str:
    """The value of a cookie that holds them for who has `token`; long ones are cut, and the last three are kept."""
    raw = msgspec.json.encode([(flash.tone, flash.text[:TEXT_MAX]) for flash in flashes[-3:]])
    return base64.urlsafe_b64encode(_digest(raw, token) + raw).decode("ascii")


def kept_flashes(sealed: str, token: str) -> list[Flash]:
    """What the cookie holds; nothing where it is missing, broken or of another session."""
    try:
        opened = base64.urlsafe_b64decode(sealed.encode("ascii", "replace"))
    except (ValueError, binascii.Error):
        return []
    digest, raw = opened[:32], opened[32:]
    if not hmac.compare_digest(digest, _digest(raw, token)):
        return []
    return msgspec.json.decode(raw, type=list[Flash])


def _digest(raw: bytes, token: str) -> bytes:
    return hmac.digest(token.encode(), b"flash\0" + raw, "sha256")
