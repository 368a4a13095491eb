"""The server's certificate and its key: read from their files, proven to fit, and told apart from what was there."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """The server's own certificate, the first of a chain: when it is good, and its SHA-256.

    Microseconds since the epoch, both ends included.
    """

    begins_at: int
    ends_at: int
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that is served: the TLS of new connections, and what they are shown."""

    context: ssl.SSLContext
    leaf: Leaf


class CertificateError(OSError):
    """A certificate or its key cannot be used; the text names the file."""


def load_certificate(certificate: str, key: str) -> Certificate:
    """The chain and the private key of these PEM files, with h2 and http/1.1 on offer. Raises `CertificateError`.

    `key` may be empty where the first file holds it too.
    """
    key = key or certificate
    for path in (certificate, key):
        try:
            Path(path).open("rb").close()  # OpenSSL leaves out the name of the file
        except OSError as error:
            raise CertificateError(f"{path} cannot be read: {error.strerror}") from error
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION  # RFC 9113 §9.2.1
    context.set_alpn_protocols(["h2", "http/1.1"])
    try:
        context.load_cert_chain(certificate, key, _no_password)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise CertificateError(f"{certificate} and {key} cannot be used together: {reason}") from error
    return Certificate(context, _read_leaf(certificate))


def _no_password() -> str:
    """Else OpenSSL would ask for the password of an encrypted key on the terminal, and wait."""
    raise ValueError("the key is encrypted, and nobody is there to give its password")


def _read_leaf(certificate: str) -> Leaf:
    try:
        return leaf_of(Path(certificate).read_bytes())
    except OSError as error:
        raise CertificateError(f"{certificate} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CertificateError(f"{certificate} holds no certificate that can be read: {error}") from error


def leaf_of(pem: bytes) -> Leaf:
    """The first certificate in PEM, which is the server's own (RFC 8446 §4.4.2). Raises `ValueError`."""
    from cryptography import x509  # for TLS alone
    from cryptography.hazmat.primitives.hashes import SHA256

    certificate = x509.load_pem_x509_certificate(pem)
    begins, ends = certificate.not_valid_before_utc.timestamp(), certificate.not_valid_after_utc.timestamp()
    return Leaf(round(begins) * _MICROSECONDS, round(ends) * _MICROSECONDS, certificate.fingerprint(SHA256()))


FileState = tuple[int, int, int, int]
"""Device, inode, time of change and size: another one is another content."""


def states(*paths: str) -> tuple[FileState | None, ...]:
    """How the files stand, where links lead; None for one that is not there or may not be looked at."""
    return tuple(_state(Path(path)) for path in paths)


def _state(path: Path) -> FileState | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
