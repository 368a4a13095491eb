"""Whether an address and port lead back to this daemon's own listeners."""

import socket
from collections.abc import Iterable
from typing import Final

from gatewayd.outbound.addresses import IPAddress, embedded_ipv4, parse_address, unmapped

Listener = tuple[str, int]  # as bound: address text and port; "0.0.0.0" and "::" are every local address

_NEVER_LOCAL: Final = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # RFC 5737, RFC 3849


def no_listeners() -> tuple[Listener, ...]:
    """For a transport that lives in no daemon."""
    return ()


def is_own(address: IPAddress, port: int, listeners: Iterable[Listener]) -> bool:
    """Whether a connection there would arrive at one of the listeners, also through an embedding of the address."""
    bound = [host for host, bound_port in listeners if bound_port == port]
    if not bound:
        return False
    reached = (unmapped(address), *embedded_ipv4(address))
    return any(_listens(host, destination) for host in bound for destination in reached)


def _listens(host: str, address: IPAddress) -> bool:
    own = parse_address(host.partition("%")[0])
    if own is None:  # bound by name: the address cannot be told from here, so any local one counts
        return is_local(address)
    return is_local(address) if own.is_unspecified else unmapped(own) == address


def is_local(address: IPAddress) -> bool:
    """Whether the address is this machine's: only then can a socket be bound to it. Sends nothing."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    if not _binds(family, str(address)):
        return False
    # With net.ipv4.ip_nonlocal_bind set (fail-over pairs) everything binds; then ask which source the kernel would use.
    return not _binds(family, _NEVER_LOCAL[family]) or _source_towards(family, str(address)) == str(address)


def _binds(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _source_towards(family: socket.AddressFamily, address: str) -> str | None:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))  # a datagram socket: no packet leaves
            return str(probe.getsockname()[0])
    except OSError:
        return None
