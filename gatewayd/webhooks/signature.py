"""Signs webhook bodies in two dialects, and verifies the first as Spec §6's reference receiver does.

X-Service-Signature (Spec §6) keys the HMAC with the whole secret text; Standard Webhooks (standardwebhooks.com, 1.0.0)
with the bytes behind `whsec_`. During a rotation several secrets are live: the new one signs first, the old one last.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Final

SECRET_MARK: Final = "whsec_"  # Spec §2
SECRET_BYTES: Final = 32  # Chosen: the size of an HMAC-SHA256 output; Standard Webhooks asks for 24 to 64
PREFIX_CHARACTERS: Final = 10  # Chosen: `whsec_` and 4 characters, 24 bits of the secret's 256
TOLERANCE_SECONDS: Final = 300  # Spec §6, §8


class SignatureError(Exception):
    """A delivery that a receiver must not believe. `reason` is malformed, expired or mismatch."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def new_secret(token_bytes: Callable[[int], bytes]) -> str:
    """Makes a signing secret; `token_bytes` is `secrets.token_bytes`."""
    return SECRET_MARK + b64encode(token_bytes(SECRET_BYTES)).decode("ascii")


def secret_prefix(secret: str) -> str:
    """What lists may show of a secret (Spec §2, secretPrefix)."""
    return secret[:PREFIX_CHARACTERS]


def service_signature(secrets: Sequence[str], timestamp: int, body: bytes) -> str:
    """The value of X-Service-Signature; `timestamp` in Unix seconds, secrets newest first."""
    signed = b"%d." % timestamp + body
    parts = [f"t={timestamp}"]
    parts += [f"v1={hmac.digest(secret.encode(), signed, 'sha256').hex()}" for secret in secrets]
    return ",".join(parts)


def standard_signature(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """The value of webhook-signature; raises ValueError when a secret is not `whsec_` and base64."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = [hmac.digest(_hmac_key(secret), signed, "sha256") for secret in secrets]
    return " ".join("v1," + b64encode(digest).decode("ascii") for digest in digests)


def signed_headers(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> tuple[tuple[str, str], ...]:
    """The four headers that authenticate one attempt; signed anew each time, as the timestamp is the attempt's.

    `message_id` is the `id` of the body: it stays the same where an event is sent again.
    """
    return (
        ("X-Service-Signature", service_signature(secrets, timestamp, body)),
        ("webhook-id", message_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", standard_signature(secrets, message_id, timestamp, body)),
    )


def confidential_texts(secrets: Sequence[str], headers: Sequence[tuple[str, str]]) -> list[str]:
    """What of a signed attempt nobody else may see: the random part of each secret, and each signature alone."""
    texts = [secret[len(SECRET_MARK) :] for secret in secrets]
    for name, value in headers:
        if name == "X-Service-Signature":
            texts += [part.removeprefix("v1=") for part in value.split(",")[1:]]
        elif name == "webhook-signature":
            texts += [part.removeprefix("v1,") for part in value.split(" ")]
    return texts


def verify(header: str, body: bytes, secret: str, *, now: int, tolerance: int = TOLERANCE_SECONDS) -> None:
    """Checks an X-Service-Signature over the raw body; `now` and `tolerance` in seconds. Raises SignatureError."""
    timestamp, received = _parse(header)
    if abs(now - timestamp) > tolerance:
        raise SignatureError("expired")
    expected = hmac.digest(secret.encode(), b"%d." % timestamp + body, "sha256").hex().encode()
    # Every candidate is compared, in constant time each: which of them matched is not told by the clock.
    matches = [len(one) == len(expected) and hmac.compare_digest(one, expected) for one in received]
    if not any(matches):
        raise SignatureError("mismatch")


def _parse(header: str) -> tuple[int, list[bytes]]:
    """Reads comma-separated key=value pairs; both `t` and `v1` are required (Spec §6), other keys are ignored."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for key, _, value in pairs if key == "t"]
    signatures = [value.encode() for key, _, value in pairs if key == "v1" and value]
    if len(times) != 1 or not signatures:
        raise SignatureError("malformed")
    text = times[0]
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise SignatureError("malformed")
    return int(text), signatures


def _hmac_key(secret: str) -> bytes:
    if not secret.startswith(SECRET_MARK):
        raise ValueError("a signing secret starts with whsec_")
    return b64decode(secret[len(SECRET_MARK) :], validate=True)
