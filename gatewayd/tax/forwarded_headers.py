"""This service as a hop between the caller and the authority, told where the operator wants it (§D2). Pure.

Nothing of the client is ever made up: a header that the caller does not send is not made, and an address that is not
public is none of the hops over the internet that the authority asks for.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import gatewayd
from gatewayd.outbound.addresses import IPAddress, parse_address, refusal, unmapped

FORWARDED: Final = b"Gov-Vendor-Forwarded"
VERSION: Final = b"Gov-Vendor-Version"
OUR_NAME: Final = b"gatewayd"

_Fields = Sequence[tuple[bytes, bytes]]


def with_hop(fields: _Fields, ours: str, peer: str | None) -> list[tuple[bytes, bytes]]:
    """The fields of a request to the authority with our hop and version at the end of what the caller says of both.

    `ours` is our public address, empty where we say nothing; `peer` is who called us, None where that is no address.
    """
    made = list(fields)
    if not ours:
        return made
    _append(made, VERSION, _version(_last(made, VERSION)))
    _append(made, FORWARDED, _hop(_last(made, FORWARDED), ours, peer))
    return made


def _version(versions: bytes) -> bytes:
    names = {pair.partition(b"=")[0] for pair in versions.split(b"&")}
    return b"" if OUR_NAME in names else b"&%b=%b" % (OUR_NAME, _encoded(gatewayd.__version__))


def _hop(hops: bytes, ours: str, peer: str | None) -> bytes:
    """Empty where the sender's address is not public, or the caller tells of the hop already."""
    by, sender = _public(ours), _public(peer or "")
    if by is None or sender is None:
        return b""
    hop = b"by=%b&for=%b" % (_encoded(str(by)), _encoded(str(sender)))
    return b"" if any(_ends(told) == (by, sender) for told in hops.split(b",")) else b"," + hop


def _ends(hop: bytes) -> tuple[IPAddress | None, IPAddress | None]:
    """Where a hop that the caller tells of leads to, and from where."""
    told = dict(pair.strip(b" \t").partition(b"=")[::2] for pair in hop.split(b"&"))
    by, sender = (unquote_to_bytes(told.get(name, b"")).decode("latin-1") for name in (b"by", b"for"))
    return parse_address(by), parse_address(sender)


def _last(fields: _Fields, name: bytes) -> bytes:
    """The value that something is added to; empty where there is none."""
    return next((value.strip(b" \t") for key, value in reversed(fields) if key == name), b"")


def _append(fields: list[tuple[bytes, bytes]], name: bytes, more: bytes) -> None:
    value = _last(fields, name)
    if not value or not more:
        return
    at = max(number for number, (key, _) in enumerate(fields) if key == name)
    fields[at] = (name, value + more)


def _public(text: str) -> IPAddress | None:
    address = parse_address(text)
    return None if address is None or refusal(address) is not None else unmapped(address)


def _encoded(text: str) -> bytes:
    return quote(text, safe="").encode()
