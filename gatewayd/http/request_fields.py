"""The header fields of a request, read as a whole: what came twice, and what the caller takes."""

from collections.abc import Iterable

from gatewayd.contract.header_fields import RepeatedField, joined
from gatewayd.errors import Problem

_SINGLE_FIELDS = frozenset(
    {
        *(b"authorization", b"content-encoding", b"content-length", b"content-type", b"dpop", b"idempotency-key"),
        b"origin",
    }
)
"""Request header fields that hold one value. Two of them could be read as one by us and as the other by a proxy."""


def read_whole(fields: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Header fields by name where some name came twice.

    Raises `Problem` `invalid_request` for a second value of a field that holds one.
    """
    try:
        return joined(fields, _SINGLE_FIELDS)
    except RepeatedField as error:
        raise Problem("invalid_request", f"The header {error.name} was sent more than once.") from None


def check_accept(accept: bytes | None) -> None:
    """Raises `Problem` `not_acceptable` where JSON is not among what the caller takes (RFC 9110 §12.5.1)."""
    if not accept or b"*/*" in accept or b"application/json" in accept:
        return
    accept = accept.lower()
    if b"json" not in accept and b"application/*" not in accept:
        raise Problem("not_acceptable", "This API answers application/json.")
