"""What a bundle says of itself: the manifest that is signed, and the names of the files that seal it.

manifest.json     the files with their hashes, and whose books of which days they are
manifest.jws      the signature of manifest.json, detached (RFC 7515 appendix F), ES256
key.json          the public key (RFC 7517), whose thumbprint (RFC 7638) one compares
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec

FORMAT: Final = "gatewayd.period-seal.1"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.jws"
KEY: Final = "key.json"
SEALING: Final = (MANIFEST, SIGNATURE, KEY)


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a bundle. `rows` are those of a CSV without its heading."""

    path: str
    bytes: int
    rows: int | None
    sha256: str


class PeriodFacts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Which period of whom."""

    id: str
    type: str
    label: str
    start_date: str
    end_date: str
    legal_entity_id: str
    legal_entity_name: str
    business_id: str | None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole of it. `notes` are what the files do not hold, in sentences."""

    format: str
    period: PeriodFacts
    organization_id: str
    sealed_at: str
    contents_sha256: str
    files: list[FileEntry]
    notes: list[str]


def contents_digest(files: Iterable[FileEntry]) -> str:
    """Of all files together: the SHA-256 of what sha256sum writes of them, in the order of their names."""
    lines = sorted((file.path, file.sha256) for file in files)
    return hashlib.sha256("".join(f"{digest}  {path}\n" for path, digest in lines).encode()).hexdigest()
