"""The header fields of tus 1.0.0, the protocol of uploads that go on where they were cut short (tus.io/protocols).

Served are its core, and of its extensions `creation-defer-length`, `checksum`, `expiration` and `termination`. Uploads
are created by `vault.createDocumentRecord`, so that an upload's URL is known from there.
"""

import base64
import datetime
from email.utils import format_datetime
from typing import Final

from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.http1 import bodies
from gatewayd.http1.header_fields import Header, Headers
from gatewayd.http1.request import Request
from gatewayd.vault_files.uploading import Standing

VERSION: Final = b"1.0.0"
RESUMABLE: Final[Header] = (b"tus-resumable", VERSION)
CHECKSUMS: Final = ("sha1", "sha256", "md5")
FROM_PAGES: Final = (
    *(b"tus-resumable", b"upload-checksum", b"upload-length", b"upload-offset"),
    *(b"x-http-method-override", b"x-requested-with", b"x-request-id"),
)
"""What clients in pages send; see `Cors`."""
TO_PAGES: Final = (
    *(b"tus-checksum-algorithm", b"tus-extension", b"tus-max-size", b"tus-resumable", b"tus-version"),
    *(b"upload-defer-length", b"upload-expires", b"upload-length", b"upload-offset"),
)
_EXTENSIONS: Final = b"creation-defer-length,checksum,expiration,termination"
_MEDIA_TYPE: Final = b"application/offset+octet-stream"
_LENGTH_DIGITS: Final = 18
_NO_STORE: Final[Header] = (b"cache-control", b"no-store")


def method_of(request: Request) -> str:
    """The method, which clients behind old proxies send in a header field of a POST."""
    if request.method != "POST":
        return request.method
    return (request.text(b"x-http-method-override") or "POST").upper()


def capabilities(max_bytes: int) -> Headers:
    """What OPTIONS is answered."""
    return (
        (b"tus-version", VERSION),
        (b"tus-extension", _EXTENSIONS),
        (b"tus-max-size", b"%d" % max_bytes),
        (b"tus-checksum-algorithm", ",".join(CHECKSUMS).encode()),
    )


def require_version(request: Request, method: str) -> None:
    """Raises `Problem` `tus_version_not_supported`; a plain HEAD, as a person sends it, needs none."""
    version = request.fields.get(b"tus-resumable", VERSION if method == "HEAD" else b"")
    if version != VERSION:
        message = "Send Tus-Resumable: 1.0.0."
        raise Problem("tus_version_not_supported", message, headers=((b"tus-version", VERSION),))


def offset(request: Request) -> int:
    """Where the part of a PATCH begins. Raises `Problem`: `invalid_request`, `unsupported_media_type`."""
    if bodies.media_type(request) != _MEDIA_TYPE:
        raise Problem("unsupported_media_type", f"Send a part as {_MEDIA_TYPE.decode()}.")
    position = _number(request, b"upload-offset")
    if position is None:
        raise Problem("invalid_request", "Upload-Offset says where the part begins.")
    return position


def length(request: Request) -> int | None:
    """The length of the whole, where the request says so. Raises `Problem` `invalid_request`."""
    return _number(request, b"upload-length")


def checksum(request: Request) -> tuple[str, bytes] | None:
    """The algorithm and digest of a part, where it has one. Raises `Problem` `invalid_request`."""
    header = request.text(b"upload-checksum")
    if header is None:
        return None
    algorithm, _, text = header.partition(" ")
    try:
        digest = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        digest = b""
    if algorithm not in CHECKSUMS or not digest:
        known = ", ".join(CHECKSUMS)
        raise Problem("invalid_request", f"Upload-Checksum is one of {known}, a space, and a digest in base64.")
    return algorithm, digest


def standing(upload: Standing) -> Headers:
    """What HEAD is answered."""
    known = (b"upload-defer-length", b"1") if upload.length is None else (b"upload-length", b"%d" % upload.length)
    return (*progress(upload), known, _NO_STORE)


def progress(upload: Standing) -> Headers:
    """What PATCH is answered: how far the upload is, and when it is over."""
    ends = datetime.datetime.fromtimestamp(upload.expires_at // SECOND, datetime.UTC)
    expires = format_datetime(ends, usegmt=True).encode("ascii")
    return ((b"upload-offset", b"%d" % upload.offset), (b"upload-expires", expires))


def _number(request: Request, name: bytes) -> int | None:
    number_text = request.fields.get(name)
    if number_text is None:
        return None
    if not number_text.isdigit() or len(number_text) > _LENGTH_DIGITS:
        raise Problem("invalid_request", f"{name.decode()} is a number of bytes.")
    return int(number_text)
