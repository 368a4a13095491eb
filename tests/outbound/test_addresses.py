"""Every block of the registries and every embedding, by name."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.outbound.addresses import (
    METADATA,
    SPECIAL_IPV4,
    SPECIAL_IPV6,
    IPNetwork,
    embedded_ipv4,
    parse_networks,
    refusal,
)

PUBLIC = (
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "11.0.0.0",  # just past 10/8
    "100.63.255.255",  # just before 100.64/10
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:200::1",  # just past 2001::/23
    "2003::1",  # just past 6to4
    "9.255.255.255",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "191.255.255.255",
    "192.0.3.0",
    "192.31.195.255",
    "192.31.197.0",
    "192.52.192.255",
    "192.52.194.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "192.175.47.255",
    "192.175.49.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:ffff::1",
    "2620:4f:7fff::1",
    "2620:4f:8001::",
    "3ffd:ffff::1",
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8: an IPv6-only network sees every IPv4 receiver so
    "::ffff:8.8.8.8",
    "2606:4700::5efe:8.8.8.8",  # ISATAP of a public address
)

# The registries, row by row (iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry), also the
# rows inside a wider one and those that are marked globally reachable; then what other registries reserve.
REGISTRIES = {
    "this network": "0.0.0.0/8",
    "this host on this network": "0.0.0.0/32",
    "private use 10": "10.0.0.0/8",
    "shared address space": "100.64.0.0/10",
    "loopback": "127.0.0.0/8",
    "link local": "169.254.0.0/16",
    "private use 172": "172.16.0.0/12",
    "IETF protocol assignments": "192.0.0.0/24",
    "IPv4 service continuity prefix": "192.0.0.0/29",
    "IPv4 dummy address": "192.0.0.8/32",
    "port control protocol anycast": "192.0.0.9/32",
    "traversal using relays around NAT anycast": "192.0.0.10/32",
    "NAT64/DNS64 discovery 170": "192.0.0.170/32",
    "NAT64/DNS64 discovery 171": "192.0.0.171/32",
    "documentation TEST-NET-1": "192.0.2.0/24",
    "AS112-v4": "192.31.196.0/24",
    "AMT": "192.52.193.0/24",
    "deprecated 6to4 relay anycast": "192.88.99.0/24",
    "6a44 relay anycast": "192.88.99.2/32",
    "private use 192": "192.168.0.0/16",
    "direct delegation AS112 service": "192.175.48.0/24",
    "benchmarking": "198.18.0.0/15",
    "documentation TEST-NET-2": "198.51.100.0/24",
    "documentation TEST-NET-3": "203.0.113.0/24",
    "reserved": "240.0.0.0/4",
    "limited broadcast": "255.255.255.255/32",
    "multicast": "224.0.0.0/4",
    "v6 loopback": "::1/128",
    "v6 unspecified": "::/128",
    "v6 IPv4-IPv6 translation, local use": "64:ff9b:1::/48",
    "v6 discard only": "100::/64",
    "v6 dummy prefix": "100:0:0:1::/64",
    "v6 IETF protocol assignments": "2001::/23",
    "v6 Teredo": "2001::/32",
    "v6 port control protocol anycast": "2001:1::1/128",
    "v6 traversal using relays around NAT anycast": "2001:1::2/128",
    "v6 DNS-SD service registration protocol anycast": "2001:1::3/128",
    "v6 benchmarking": "2001:2::/48",
    "v6 AMT": "2001:3::/32",
    "v6 AS112": "2001:4:112::/48",
    "v6 deprecated ORCHID": "2001:10::/28",
    "v6 ORCHIDv2": "2001:20::/28",
    "v6 drone remote ID": "2001:30::/28",
    "v6 documentation 2001": "2001:db8::/32",
    "v6 6to4": "2002::/16",
    "v6 direct delegation AS112 service": "2620:4f:8000::/48",
    "v6 documentation 3fff": "3fff::/20",
    "v6 segment routing SIDs": "5f00::/16",
    "v6 unique local": "fc00::/7",
    "v6 link local": "fe80::/10",
    "v6 site local": "fec0::/10",
    "v6 multicast": "ff00::/8",
    "v6 IPv4-compatible": "::/96",
    "v6 IPv4-translated": "::ffff:0:0:0/96",
    "v6 6bone": "3ffe::/16",
    "v6 NSAP": "200::/7",
    "v6 above global unicast": "4000::/2",
    "v6 upper half": "8000::/1",
}
# One inside and the edges of every block, written out by hand so that a slip in the table shows.
BLOCKED = {
    "this-network": ("0.0.0.0", "0.0.0.1", "0.255.255.255"),
    "private-10": ("10.0.0.0", "10.1.2.3", "10.255.255.255"),
    "cgnat": ("100.64.0.0", "100.127.255.255"),
    "loopback": ("127.0.0.1", "127.255.255.255"),
    "link-local": ("169.254.0.0", "169.254.255.255"),
    "private-172": ("172.16.0.0", "172.31.255.255"),
    "ietf-assignments": ("192.0.0.0", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255"),
    "test-net-1": ("192.0.2.0", "192.0.2.255"),
    "as112-v4": ("192.31.196.1", "192.175.48.1"),
    "amt": ("192.52.193.1",),
    "6to4-relay": ("192.88.99.1", "192.88.99.2"),
    "private-192": ("192.168.0.0", "192.168.255.255"),
    "benchmarking": ("198.18.0.0", "198.19.255.255"),
    "test-net-2": ("198.51.100.7",),
    "test-net-3": ("203.0.113.7",),
    "multicast": ("224.0.0.1", "239.255.255.255"),
    "reserved": ("240.0.0.1", "255.255.255.254"),
    "broadcast": ("255.255.255.255",),
    "v6-loopback": ("::1",),
    "v6-unspecified": ("::",),
    "v4-mapped": ("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe"),
    "v4-compatible": ("::127.0.0.1", "::8.8.8.8"),
    "v4-translated": ("::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"),
    "nat64": ("64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe"),
    "nat64-local": ("64:ff9b:1::1", "64:ff9b:1:ffff::8.8.8.8"),
    "discard": ("100::1",),
    "dummy": ("100:0:0:1::1",),
    "teredo": ("2001::1", "2001:0:53aa:64c:0:f27f:80ff:fffe"),
    "v6-benchmarking": ("2001:2::1",),
    "v6-amt": ("2001:3::1",),
    "v6-as112": ("2001:4:112::1", "2620:4f:8000::1"),
    "orchid": ("2001:10::1", "2001:20::1"),
    "drone": ("2001:30::1",),
    "v6-ietf-assignments": ("2001:1::1", "2001:1::2", "2001:1ff:ffff::1"),
    "v6-documentation": ("2001:db8::1", "3fff::1", "3fff:fff::1"),
    "6to4": ("2002:7f00:1::1", "2002:808:808::1"),
    "srv6": ("5f00::1",),
    "unique-local": ("fc00::1", "fdff::1"),
    "v6-link-local": ("fe80::1", "febf::1"),
    "v6-scoped": ("fe80::1%1", "2606:4700::1%1"),
    "site-local": ("fec0::1", "feff::1"),
    "v6-multicast": ("ff02::1", "ff0e::1"),
    "isatap": ("2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:127.0.0.1"),
    "unassigned": ("4000::1", "8000::1", "::1:0:0:0"),
    "metadata": (
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:a9fe:a9fe::1",
        "fe80::a9fe:a9fe",
        "169.254.0.23",
        "::ffff:168.63.129.16",
        "64:ff9b::168.63.129.16",
    ),
}


def at(prefix: str, shift: int = 0) -> Callable[[int], IPv6Address]:
    """An embedding that puts the IPv4 address so many bits above the end of a prefix."""
    return lambda number: IPv6Address(int(IPv6Address(prefix)) | number << shift)


def split(prefix: str, low_bits: int, shift: int) -> Callable[[int], IPv6Address]:
    """The same across octet 8, which carries nothing (RFC 6052 §2.2): `low_bits` stand behind it, shifted."""

    def embed(number: int) -> IPv6Address:
        high, low = divmod(number, 1 << low_bits)
        return IPv6Address(int(IPv6Address(prefix)) | high << 64 | low << shift)

    return embed


FORMS: dict[str, Callable[[int], IPv6Address]] = {
    "mapped": at("::ffff:0:0"),
    "compatible": at("::"),
    "translated": at("::ffff:0:0:0"),
    "nat64": at("64:ff9b::"),
    "nat64-local-96": at("64:ff9b:1:aa::"),
    "nat64-local-64": at("64:ff9b:1:aa::", 24),
    "nat64-local-56": split("64:ff9b:1:aa00::", 24, 32),
    "nat64-local-48": split("64:ff9b:1::", 16, 40),
    "6to4": at("2002::", 80),
    "6to4-with-a-subnet": at("2002::1:0:0:0:1", 80),
    "teredo-server": at("2001:0:0:0:8000:63bf:f7f7:f7f7", 64),
    "teredo-client": lambda number: IPv6Address(int(IPv6Address("2001:0:808:808::")) | number ^ 0xFFFF_FFFF),
    "isatap": at("2606:4700::5efe:0:0"),
    "isatap-universal": at("2606:4700::200:5efe:0:0"),
}
"""Each way in which an IPv6 address carries an IPv4 address to somebody who takes it out."""


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_pass(text: str) -> None:
    assert refusal(ip_address(text)) is None


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BLOCKED.items() for text in texts])
def test_special_addresses_are_refused(name: str, text: str) -> None:
    assert refusal(ip_address(text)), name


@pytest.mark.parametrize("network", [network for network, _ in (*SPECIAL_IPV4, *SPECIAL_IPV6)], ids=str)
def test_every_block_is_refused_to_its_edges(network: IPNetwork) -> None:
    assert refusal(network[0]) is not None
    assert refusal(network[-1]) is not None


@pytest.mark.parametrize("name", REGISTRIES)
def test_every_row_of_the_registries_is_refused(name: str) -> None:
    network = ip_network(REGISTRIES[name])
    step = max(1, network.num_addresses // 97)
    for offset in {0, network.num_addresses - 1, *range(0, network.num_addresses, step)}:
        assert refusal(network[offset]) is not None, network[offset]


@pytest.mark.parametrize("form", FORMS)
def test_every_row_is_refused_in_every_embedding(form: str) -> None:
    for name in (name for name in REGISTRIES if not name.startswith("v6")):
        network = ip_network(REGISTRIES[name])
        for inner in {network[0], network[-1], network[network.num_addresses // 2]}:
            address = FORMS[form](int(inner))
            assert refusal(address) is not None, (name, inner)
            assert inner in embedded_ipv4(address), (name, inner)


@pytest.mark.parametrize("form", FORMS)
def test_a_range_does_not_open_the_metadata_service_embedded_in_it(form: str) -> None:
    address = FORMS[form](int(IPv4Address("169.254.169.254")))
    everything = parse_networks(["0.0.0.0/0", "::/0"])
    assert refusal(address, everything) == "cloud metadata"
    harmless = FORMS[form](int(IPv4Address("10.0.0.1")))
    assert refusal(harmless, everything) is None
    if form != "mapped":
        assert refusal(address, parse_networks([str(address)])) is None


@pytest.mark.parametrize("address", sorted(map(str, METADATA)))
def test_a_metadata_service_is_opened_by_its_own_name_alone(address: str) -> None:
    target = ip_address(address)
    wide = f"{address}/{target.max_prefixlen - 1}"
    assert refusal(target, (ip_network(wide, strict=False),)) == "cloud metadata"
    assert refusal(target, parse_networks([address])) is None


@pytest.mark.parametrize("form", sorted(FORMS.keys() & {"nat64", "isatap", "isatap-universal", "mapped"}))
def test_what_carries_a_public_address_to_a_public_place_passes(form: str) -> None:
    assert refusal(FORMS[form](int(IPv4Address("8.8.8.8")))) is None


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_an_embedding_is_never_more_reachable_than_what_it_embeds(inner: IPv4Address) -> None:
    number = int(inner)
    embeddings = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2606_4700 << 96) | (0x5EFE << 32) | number),
        IPv6Address((0x2606_4700 << 96) | (0x0200_5EFE << 32) | number),
    ]
    for address in embeddings:
        assert embedded_ipv4(address) == (inner,)
        assert refusal(inner) is None or refusal(address) is not None
    assert refusal(IPv6Address((0x2002 << 112) | (number << 80))) is not None


@settings(deadline=None)
@given(st.ip_addresses(v=6))
def test_nothing_outside_global_unicast_passes(address: IPv6Address) -> None:
    if refusal(address) is None:
        assert address.ipv4_mapped is not None or int(address) >> 125 == 1 or int(address) >> 32 == 0x64FF9B << 64


def test_allow_networks_open_ranges_and_only_those() -> None:
    allow = parse_networks(["127.0.0.0/8", "10.1.0.0/16", "fd12::/16"])
    assert refusal(ip_address("127.0.0.1"), allow) is None
    assert refusal(ip_address("::ffff:127.0.0.1"), allow) is None
    assert refusal(ip_address("10.1.2.3"), allow) is None
    assert refusal(ip_address("fd12::1"), allow) is None
    assert refusal(ip_address("10.2.0.0"), allow) == "private use"
    assert refusal(ip_address("::1"), allow) == "loopback"


def test_a_range_does_not_open_the_metadata_service_inside_it() -> None:
    target = ip_address("169.254.169.254")
    assert refusal(target, parse_networks(["169.254.0.0/16", "0.0.0.0/0"])) == "cloud metadata"
    assert refusal(target, parse_networks(["169.254.169.254"])) is None
    assert all(refusal(one, parse_networks(["0.0.0.0/0", "::/0"])) for one in METADATA)


@pytest.mark.parametrize("text", ["0.0.0.0", "::", "::ffff:0.0.0.0"])
def test_the_unspecified_address_is_never_opened(text: str) -> None:
    assert refusal(ip_address(text), parse_networks(["0.0.0.0/0", "::/0"])) == "unspecified"


@pytest.mark.parametrize("text", ["127.0.0.1/8", "example.com", "1.2.3", ""])
def test_a_bad_network_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=text or "''"):
        parse_networks([text])
