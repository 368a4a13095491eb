"""The header fields of a request, read as a whole: what came twice, and what the caller takes."""

from collections.abc import Iterable

from gatewayd.errors import Problem

_SINGLE_FIELDS = frozenset(
    {
        *(b"authorization", b"content-encoding", b"content-length", b"content-type", b"dpop", b"idempotency-key"),
        b"origin",
    }
)
"""Request header fields that hold one value. Two of them could be read as one by us and as the other by a proxy."""


def joined(fields: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Header fields by name where some name came twice; lists are joined (RFC 9110 §5.3).

    Raises `Problem` `invalid_request` for a second value of a field that holds one.
    """
    found: dict[bytes, bytes] = {}
    for name, value in fields:
        if name not in found:
            found[name] = value
        elif name in _SINGLE_FIELDS:
            raise Problem("invalid_request", f"The header {name.decode('ascii')} was sent more than once.")
        else:
            found[name] += b", " + value
    return found


def check_accept(accept: bytes | None) -> None:
    """Raises `Problem` `not_acceptable` where JSON is not among what the caller takes (RFC 9110 §12.5.1)."""
    if not accept or b"*/*" in accept or b"application/json" in accept:
        return
    accept = accept.lower()
    if b"json" not in accept and b"application/*" not in accept:
        raise Problem("not_acceptable", "This API answers application/json.")
