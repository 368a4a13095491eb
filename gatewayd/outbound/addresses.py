"""Which IP addresses are public: the IANA special-purpose registries, and what hides inside IPv6.

Default deny for IPv6: an address passes only inside 2000::/3 (or as NAT64 of a public IPv4 address) and outside every
listed block. Blocks the registries mark "globally reachable" are refused too:
# Chosen: relays, sinkholes and anycast services live there, never somebody's receiver.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

# IANA IPv4 Special-Purpose Address Registry (RFC 6890, RFC 8190), then what other registries reserve.
SPECIAL_IPV4: Final = (
    (IPv4Network("0.0.0.0/8"), "this network"),  # RFC 791 §3.2
    (IPv4Network("10.0.0.0/8"), "private use"),  # RFC 1918
    (IPv4Network("100.64.0.0/10"), "shared address space"),  # RFC 6598 (carrier-grade NAT)
    (IPv4Network("127.0.0.0/8"), "loopback"),  # RFC 1122 §3.2.1.3
    (IPv4Network("169.254.0.0/16"), "link local"),  # RFC 3927
    (IPv4Network("172.16.0.0/12"), "private use"),  # RFC 1918
    (IPv4Network("192.0.0.0/24"), "IETF protocol assignments"),  # RFC 6890 §2.1
    (IPv4Network("192.0.2.0/24"), "documentation"),  # RFC 5737 (TEST-NET-1)
    (IPv4Network("192.31.196.0/24"), "AS112"),  # RFC 7535
    (IPv4Network("192.52.193.0/24"), "AMT relays"),  # RFC 7450
    (IPv4Network("192.88.99.0/24"), "6to4 relay anycast"),  # RFC 7526
    (IPv4Network("192.168.0.0/16"), "private use"),  # RFC 1918
    (IPv4Network("192.175.48.0/24"), "AS112"),  # RFC 7534
    (IPv4Network("198.18.0.0/15"), "benchmarking"),  # RFC 2544
    (IPv4Network("198.51.100.0/24"), "documentation"),  # RFC 5737 (TEST-NET-2)
    (IPv4Network("203.0.113.0/24"), "documentation"),  # RFC 5737 (TEST-NET-3)
    (IPv4Network("224.0.0.0/4"), "multicast"),  # RFC 5771
    (IPv4Network("255.255.255.255/32"), "limited broadcast"),  # RFC 8190
    (IPv4Network("240.0.0.0/4"), "reserved"),  # RFC 1112 §4
)

# IANA IPv6 Special-Purpose Address Registry (RFC 6890, RFC 8190), then deprecated and multicast space.
SPECIAL_IPV6: Final = (
    (IPv6Network("::1/128"), "loopback"),  # RFC 4291 §2.5.3
    (IPv6Network("::/128"), "unspecified"),  # RFC 4291 §2.5.2
    (IPv6Network("::/96"), "IPv4-compatible"),  # RFC 4291 §2.5.5.1, deprecated
    (IPv6Network("::ffff:0:0:0/96"), "IPv4-translated"),  # RFC 2765 §2.1, obsolete
    (IPv6Network("64:ff9b:1::/48"), "local-use IPv4/IPv6 translation"),  # RFC 8215
    (IPv6Network("100::/64"), "discard only"),  # RFC 6666
    (IPv6Network("100:0:0:1::/64"), "dummy prefix"),  # RFC 9780
    (IPv6Network("2001::/32"), "Teredo"),  # RFC 4380
    (IPv6Network("2001:2::/48"), "benchmarking"),  # RFC 5180
    (IPv6Network("2001:3::/32"), "AMT relays"),  # RFC 7450
    (IPv6Network("2001:4:112::/48"), "AS112"),  # RFC 7535
    (IPv6Network("2001:10::/28"), "ORCHID"),  # RFC 4843, deprecated
    (IPv6Network("2001:20::/28"), "ORCHIDv2"),  # RFC 7343
    (IPv6Network("2001:30::/28"), "drone remote identification"),  # RFC 9374
    (IPv6Network("2001::/23"), "IETF protocol assignments"),  # RFC 2928
    (IPv6Network("2001:db8::/32"), "documentation"),  # RFC 3849
    (IPv6Network("2002::/16"), "6to4"),  # RFC 3056
    (IPv6Network("2620:4f:8000::/48"), "AS112"),  # RFC 7534
    (IPv6Network("3fff::/20"), "documentation"),  # RFC 9637
    (IPv6Network("3ffe::/16"), "6bone"),  # RFC 3701, returned
    (IPv6Network("5f00::/16"), "segment routing identifiers"),  # RFC 9602
    (IPv6Network("fc00::/7"), "unique local"),  # RFC 4193
    (IPv6Network("fe80::/10"), "link local"),  # RFC 4291 §2.5.6
    (IPv6Network("fec0::/10"), "site local"),  # RFC 3879, deprecated
    (IPv6Network("ff00::/8"), "multicast"),  # RFC 4291 §2.7
)

# Instance metadata services: they hand credentials to whoever asks from inside the machine.
METADATA: Final[frozenset[IPAddress]] = frozenset(
    (
        IPv4Address("169.254.169.254"),  # AWS, Azure, Google, OpenStack, DigitalOcean, Hetzner
        IPv4Address("169.254.170.2"),  # AWS ECS task credentials
        IPv4Address("169.254.170.23"),  # AWS EKS pod identity
        IPv4Address("169.254.42.42"),  # Scaleway
        IPv4Address("169.254.0.23"),  # Tencent Cloud
        IPv4Address("168.63.129.16"),  # Azure WireServer; looks public
        IPv4Address("100.100.100.200"),  # Alibaba Cloud
        IPv4Address("192.0.0.192"),  # Oracle Cloud
        IPv6Address("fd00:ec2::254"),  # AWS
        IPv6Address("fd00:ec2::23"),  # AWS EKS pod identity
        IPv6Address("fd20:ce::254"),  # Google Cloud
        IPv6Address("fd00:42::42"),  # Scaleway
        IPv6Address("fd00:c1::a9fe:a9fe"),  # Oracle Cloud
        IPv6Address("fd00:a9fe:a9fe::1"),  # Akamai (Linode)
        IPv6Address("fe80::a9fe:a9fe"),  # OpenStack
    )
)

GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # RFC 4291 §2.4; all that IANA hands out
NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052 §2.1: what DNS64 answers on an IPv6-only network
NAT64_LOCAL: Final = IPv6Network("64:ff9b:1::/48")  # RFC 8215 §5: translators use it with any prefix length
LAST_32_BITS: Final = (  # what ends in an IPv4 address
    NAT64,
    IPv6Network("::/96"),  # IPv4-compatible
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated
)
ISATAP_MARK: Final = 0x0000_5EFE  # RFC 5214 §6.1: upper half of the interface identifier
ISATAP_MASK: Final = 0xFDFF_FFFF  # the universal/local bit may be set (0200:5efe) or clear


def parse_networks(texts: Iterable[str]) -> tuple[IPNetwork, ...]:
    """Reads ranges such as `127.0.0.0/8`; a bare address is that one address. Raises ValueError naming the bad one."""
    return tuple(ip_network(text) for text in texts)


def unmapped(address: IPAddress) -> IPAddress:
    """The address packets will carry: ::ffff:a.b.c.d leaves this machine as IPv4 (RFC 4291 §2.5.5.2)."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def embedded_ipv4(address: IPAddress) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that a translator or tunnel may take out of this one; empty when nothing is embedded."""
    if isinstance(address, IPv4Address):
        return ()
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.teredo is not None:  # RFC 4380 §4: the server, and the client inverted
        return address.teredo
    if address.sixtofour is not None:
        return (address.sixtofour,)
    octets = address.packed
    if address in NAT64_LOCAL:  # RFC 6052 §2.2: prefixes of 48, 56, 64 and 96 bits; octet 8 carries nothing
        cuts = (octets[6:8] + octets[9:11], octets[7:8] + octets[9:12], octets[9:13], octets[12:])
        return tuple([IPv4Address(cut) for cut in cuts])
    isatap = (int(address) >> 32) & ISATAP_MASK == ISATAP_MARK
    return (IPv4Address(octets[12:]),) if isatap or any(address in network for network in LAST_32_BITS) else ()


def refusal(address: IPAddress, allow: Sequence[IPNetwork] = ()) -> str | None:
    """Why this address may not be connected to, in a few words; None when it may.

    `allow` opens ranges. A range does not open a metadata service inside it, plain or embedded: only naming that one
    address does. The unspecified address is never opened, as connecting to it reaches this machine.
    """
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return "scoped address"
    address = unmapped(address)
    if address.is_unspecified:
        return "unspecified"
    if not METADATA.isdisjoint((address, *embedded_ipv4(address))):
        named = any(address in network and network.num_addresses == 1 for network in allow)
        return None if named else "cloud metadata"
    if any(address in network for network in allow):
        return None
    return _registered(address)


def _registered(address: IPAddress) -> str | None:
    if isinstance(address, IPv4Address):
        return next((name for network, name in SPECIAL_IPV4 if address in network), None)
    for network, name in SPECIAL_IPV6:
        if address in network:
            return name
    for inner in embedded_ipv4(address):
        if (why := refusal(inner)) is not None:
            return f"embeds IPv4: {why}"
    if address in GLOBAL_UNICAST or address in NAT64:
        return None
    return "outside global unicast"


def parse_address(text: str) -> IPAddress | None:
    """Reads an address in its canonical notations; None when the text is not one."""
    try:
        return ip_address(text)
    except ValueError:
        return None
