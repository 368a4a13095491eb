"""Every block of the registries and every embedding, by name."""

from ipaddress import IPv4Address, IPv6Address, ip_address

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
    "64:ff9b::808:808",  # NAT64 of 8.8.8.8: an IPv6-only network sees every IPv4 receiver so
    "::ffff:8.8.8.8",
    "2606:4700::5efe:8.8.8.8",  # ISATAP of a public address
)

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
        "::ffff:168.63.129.16",
        "64:ff9b::168.63.129.16",
    ),
}


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
        assert embedded_ipv4(address) == inner
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
