"""Tokens in download URLs: what may be read until when, signed with the instance key, so that nothing is stored.

base64url of {"org": …, "document": …, "variant": …, "inline": …, "until": microseconds, "reader": …, "made": …,
"credential": …}, a dot, and base64url of HMAC-SHA256 of the first part

What a token opens ends with the credential and the membership that it was made by, though its time is not over.
"""

import base64
import binascii
import hmac
from typing import Final

import msgspec

from gatewayd.areas.vault.links import Variant
from gatewayd.identity.clients import grants
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, suspensions, users
from gatewayd.store import ReadTx

TOKEN_MAX: Final = 1_000  # characters
_CONTEXT: Final = "vault download"


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """What a token opens. `made` and `until` are instants in microseconds; `reader` is whose reading it counts as.

    `credential` is the key or the grant that asked for it; empty: nobody's, or it was made before that was noted.
    """

    org: str
    document: str
    variant: Variant
    inline: bool
    until: int
    reader: str
    made: int = 0
    credential: str = ""

    @property
    def is_of_link(self) -> bool:
        """Whether the password of a link opened it: `reader` is the link then."""
        return self.reader.startswith("lnk_")


def make(tx: ReadTx, download: Download) -> str:
    """The token: the same for the same download."""
    text = _base64_text(msgspec.json.encode(download))
    return f"{text}.{_base64_text(tx.sign(text, _CONTEXT))}"


def open_token(tx: ReadTx, token: str) -> Download | None:
    """What a token opens now; the transaction acts for its organization from then on. None: nothing."""
    text, dot, signature = token.partition(".")
    if len(token) > TOKEN_MAX or not token.isascii() or not dot:
        return None
    if not hmac.compare_digest(_base64_text(tx.sign(text, _CONTEXT)), signature):
        return None
    try:
        download = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Download)
    except (binascii.Error, msgspec.MsgspecError):  # of a version that signed something else
        return None
    if download.until <= tx.now or suspensions.is_suspended(tx, download.org):
        return None
    tx.bind(download.org)
    return download if _is_good(tx, download) else None


def _is_good(tx: ReadTx, download: Download) -> bool:
    """Whether who asked for it could do so still."""
    since = users.addresses_since(tx, download.reader)
    if since is None:  # no user: the operator, or a link, which is looked at where it is served
        return True
    if 0 < since >= download.made or not memberships.is_active(tx, download.reader):
        return False
    if download.credential.startswith("key_"):
        return api_keys.works(tx, download.credential)
    return not download.credential.startswith("grt_") or grants.find_live(tx, download.credential) is not None


def _base64_text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
