"""Tokens in download URLs: what may be read until when, signed with the instance key, so that nothing is stored.

base64url of {"org": …, "document": …, "variant": …, "inline": …, "until": microseconds, "reader": …}, a dot, and
base64url of HMAC-SHA256 of the first part
"""

import base64
import binascii
import hmac
from typing import Final

import msgspec

from gatewayd.areas.vault.links.shapes import Variant
from gatewayd.store import ReadTx

TOKEN_MAX: Final = 1_000  # characters
_CONTEXT: Final = "vault download"


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """What a token opens. `until` is an instant in microseconds; `reader` is whose reading it counts as."""

    org: str
    document: str
    variant: Variant
    inline: bool
    until: int
    reader: str


def make(tx: ReadTx, download: Download) -> str:
    """The token: the same for the same download."""
    text = _text(msgspec.json.encode(download))
    return f"{text}.{_text(tx.sign(text, _CONTEXT))}"


def open_token(tx: ReadTx, token: str) -> Download | None:
    """What a token opens now; the transaction acts for its organization from then on. None: nothing."""
    text, dot, signature = token.partition(".")
    if len(token) > TOKEN_MAX or not token.isascii() or not dot:
        return None
    if not hmac.compare_digest(_text(tx.sign(text, _CONTEXT)), signature):
        return None
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Download)
    except (binascii.Error, msgspec.MsgspecError):  # of a version that signed something else
        return None
    if found.until <= tx.now:
        return None
    tx.bind(found.org)
    return found


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
