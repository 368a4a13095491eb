"""Signs requests to an S3-compatible store (AWS Signature Version 4), by botocore, which comes with `gatewayd[s3]`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.store.failures import StoreFailure
from gatewayd.store.settings import Bucket

if TYPE_CHECKING:
    from botocore.auth import S3SigV4Auth
    from botocore.credentials import Credentials


class Unsigned(NamedTuple):
    """A request without its signature. `sha256` is of its body, in hexadecimal, and signed with it."""

    method: str
    url: str
    headers: Mapping[str, str]
    sha256: str


class Signer:
    """What signs for one bucket's key."""

    def __init__(self, bucket: Bucket) -> None:
        """Raises `StoreFailure` where botocore is not installed, or the secret cannot be read."""
        self._auth = _signing_class()
        self._region = bucket.region
        self._credentials = _credentials(bucket.key_id, _secret(bucket))

    def headers_of(self, request: Unsigned) -> dict[str, str]:
        """The header fields to send, with date and signature of now."""
        from botocore.awsrequest import AWSRequest

        signed = AWSRequest(method=request.method, url=request.url, headers=dict(request.headers))
        signed.context["gatewayd_sha256"] = request.sha256
        self._auth(self._credentials, "s3", self._region).add_auth(signed)
        return dict(signed.headers.items())


def _signing_class() -> "type[S3SigV4Auth]":
    """Botocore's, which is told the digest of a body that is not at hand."""
    try:
        from botocore.auth import S3SigV4Auth
    except ImportError:
        raise StoreFailure("store.files names a bucket, and botocore is not installed: gatewayd[s3] has it") from None

    return type("Auth", (S3SigV4Auth,), {"payload": lambda self, request: request.context["gatewayd_sha256"]})


def _credentials(key_id: str, secret: str) -> "Credentials":
    from botocore.credentials import Credentials

    return Credentials(key_id, secret)


def _secret(bucket: Bucket) -> str:
    path = bucket.secret_file
    try:
        secret = path.read_text("utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreFailure(f"the secret file {path} cannot be read: {error}") from None
    if not secret:
        raise StoreFailure(f"the secret file {path} is empty")
    return secret
