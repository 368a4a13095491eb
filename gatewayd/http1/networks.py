"""Addresses as packets bear them, and the network that one is counted as: what one subscriber is given."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

_MAPPED: Final = bytes(10) + b"\xff\xff"  # RFC 4291 §2.5.5.2
_SUBSCRIBER_BYTES: Final = 8  # 64 bits: what one subscriber has at least (RFC 6177)


def address_of(host: str) -> IPv4Address | IPv6Address:
    """Without its zone; of an IPv4 peer as a dual-stack socket shows it the IPv4 address. Raises ValueError."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def network_of(host: str) -> str:
    """An IPv4 address as it is, an IPv6 one as its /64. Raises ValueError for what is no address."""
    if ":" not in host:
        try:
            return socket.inet_ntop(socket.AF_INET, socket.inet_pton(socket.AF_INET, host))
        except OSError:
            raise ValueError(f"{host!r} is no address") from None
    try:
        packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    except OSError:
        raise ValueError(f"{host!r} is no address") from None
    if packed.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET, packed[len(_MAPPED) :])
    network = packed[:_SUBSCRIBER_BYTES] + bytes(16 - _SUBSCRIBER_BYTES)
    return f"{socket.inet_ntop(socket.AF_INET6, network)}/{8 * _SUBSCRIBER_BYTES}"


def network_of_peer(peer: str | None) -> str:
    """The network that a request is counted for; peers on a unix socket are one."""
    try:
        return network_of(peer or "")
    except ValueError:
        return ""
