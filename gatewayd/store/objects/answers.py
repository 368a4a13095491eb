"""What an S3-compatible store answers: listings and errors in XML ("ListObjectsV2", "Error Responses")."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from gatewayd.clock import SECOND, Instant

AGAIN: Final = frozenset(
    {"InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown", "ThrottlingException"}
    | {"BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch"}
)
"""Codes of errors that are over by themselves, or were met on the way there."""
_AGAIN_STATUS: Final = frozenset({429, 500, 502, 503, 504})
_SENTENCES: Final = {
    "AccessDenied": "the access key may not do this",
    "AllAccessDisabled": "the access key may not do this",
    "AuthorizationHeaderMalformed": "store.files_region is not the bucket's",
    "IllegalLocationConstraintException": "store.files_region is not the bucket's",
    "InvalidAccessKeyId": "store.files_key_id is not known there",
    "NoSuchBucket": "there is no such bucket",
    "PermanentRedirect": "store.files_region, or files_endpoint, is not the bucket's",
    "TemporaryRedirect": "store.files_region, or files_endpoint, is not the bucket's",
    "RequestTimeTooSkewed": "the clock of this machine is wrong by more than 15 minutes",
    "SignatureDoesNotMatch": "the secret in store.files_secret_file is not that of store.files_key_id",
}


class Unreadable(Exception):
    """What came is no answer of such a store."""


class Listed(NamedTuple):
    """An object of a listing. `modified_at` by the store's clock, in whole seconds as all of its answers can be."""

    key: str
    size_bytes: int
    modified_at: Instant


class Listing(NamedTuple):
    """A page: objects, and what the keys behind a delimiter begin with. `next` None: it is the last one."""

    objects: list[Listed]
    folders: list[str]
    next: str | None


class Refusal(NamedTuple):
    """An answer that is not what was asked for. `code` is empty where nothing says it."""

    status: int
    code: str
    region: str

    @property
    def is_over_soon(self) -> bool:
        """Whether the same may be asked again."""
        return self.status in _AGAIN_STATUS or self.code in AGAIN

    @property
    def sentence(self) -> str:
        """For people, without its subject."""
        named = f"{self.status} {self.code}".strip()
        region = f": it is in {self.region}" if self.region else ""
        known = _SENTENCES.get(self.code)
        return f"{known}{region} ({named})" if known else f"it answers {named}"


def refusal_of(status: int, body: bytes) -> Refusal:
    """What an error says; a proxy's page says only its status."""
    try:
        root = _root(body)
    except Unreadable:
        return Refusal(status, "", "")
    if _name(root) != "Error":
        return Refusal(status, "", "")
    return Refusal(status, _text(root, "Code"), _text(root, "Region"))


def listing_of(body: bytes) -> Listing:
    """A page of ListObjectsV2 whose keys are encoded as in URLs. Raises `Unreadable`."""
    root = _root(body, "ListBucketResult")
    is_encoded = _text(root, "EncodingType") == "url"

    def key(text: str) -> str:
        return unquote(text) if is_encoded else text

    objects = [
        Listed(key(_text(each, "Key")), _number(_text(each, "Size")), _instant(_text(each, "LastModified")))
        for each in _named(root, "Contents")
    ]
    folders = [key(_text(each, "Prefix")) for each in _named(root, "CommonPrefixes")]
    return Listing(objects, folders, _text(root, "NextContinuationToken") or None)


class Unfinished(NamedTuple):
    """A multipart upload that was begun, and neither finished nor given up."""

    key: str
    id: str
    begun_at: Instant


def unfinished_of(body: bytes) -> tuple[list[Unfinished], tuple[str, str] | None]:
    """A page of ListMultipartUploads, and where the next begins. Raises `Unreadable`."""
    root = _root(body, "ListMultipartUploadsResult")
    found = [
        Unfinished(_text(each, "Key"), _text(each, "UploadId"), _instant(_text(each, "Initiated")))
        for each in _named(root, "Upload")
    ]
    behind = (_text(root, "NextKeyMarker"), _text(root, "NextUploadIdMarker"))
    return found, behind if _text(root, "IsTruncated") == "true" else None


def text_of(body: bytes, root: str, name: str) -> str:
    """One field of an answer. Raises `Unreadable` where the answer is another, or has it not."""
    text = _text(_root(body, root), name)
    if not text:
        raise Unreadable(f"an answer without {name}")
    return text


def _root(body: bytes, name: str | None = None) -> Element:
    try:
        root: Element = fromstring(body)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise Unreadable("an answer that is no XML") from error
    if name is not None and _name(root) != name:
        raise Unreadable(f"{_name(root)} and not {name}")
    return root


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _named(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if _name(child) == name)


def _text(element: Element, name: str) -> str:
    return next((child.text or "" for child in _named(element, name)), "")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise Unreadable("a size that is no number")
    return int(text)


def _instant(text: str) -> Instant:
    try:
        return Instant(int(datetime.fromisoformat(text).timestamp()) * SECOND)
    except ValueError as error:
        raise Unreadable("a time that is none") from error
