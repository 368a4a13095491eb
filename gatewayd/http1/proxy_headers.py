"""Who is really calling: X-Forwarded-For and X-Forwarded-Proto, believed from trusted proxies only."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from gatewayd.http1.header_fields import Headers
from gatewayd.http1.networks import address_of
from gatewayd.http1.request import Address

UNIX_PEER = "unix"

_Network = IPv4Network | IPv6Network
_Ip = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The networks whose forwarding headers are believed."""

    networks: tuple[_Network, ...]
    unix: bool

    @classmethod
    def parse(cls, entries: tuple[str, ...]) -> TrustedProxies:
        """Networks or single addresses, and "unix" for peers on unix sockets. Raises ValueError."""
        networks = tuple(ip_network(entry, strict=False) for entry in entries if entry != UNIX_PEER)
        return cls(networks, UNIX_PEER in entries)

    def believes(self, peer: Address | None) -> bool:
        """Whether the peer of a connection may say who it speaks for. None is a peer on a unix socket."""
        if peer is None:
            return self.unix
        return bool(self.networks) and self._trusted(_parse_ip(peer[0]))

    def resolve(self, peer: Address | None, scheme: str, headers: Headers) -> tuple[Address | None, str]:
        """The client and scheme behind a believed peer.

        The client is the rightmost hop that is no trusted proxy; its port is unknown and given as 0. A hop that is no
        address ends the walk: what stands left of it was not written by a proxy of ours.
        """
        hops = _values(headers, b"x-forwarded-for")
        client = peer
        for hop in reversed(hops):
            address = _parse_ip(_without_port(hop))
            if address is None:
                break
            client = (str(address), 0)
            if not self._trusted(address):
                break
        # Chosen: the last value, the one the nearest proxy wrote.
        proto = (_values(headers, b"x-forwarded-proto") or [""])[-1].lower()
        return client, proto if proto in ("http", "https") else scheme

    def _trusted(self, address: _Ip | None) -> bool:
        return address is not None and any(address in network for network in self.networks)


def are_forwarded(headers: Headers) -> bool:
    """Whether a proxy says for whom it asks."""
    return any(name == b"x-forwarded-for" for name, _ in headers)


def _values(headers: Headers, name: bytes) -> list[str]:
    """The members of a list header over all its lines, in order."""
    lines = [value.decode("latin-1") for key, value in headers if key == name]
    return [member.strip() for line in lines for member in line.split(",") if member.strip()]


def _parse_ip(text: str) -> _Ip | None:
    try:
        return address_of(text)
    except ValueError:
        return None


def _without_port(hop: str) -> str:
    """`192.0.2.1:80` and `[2001:db8::1]:80` carry a port; a bare IPv6 address does not."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
