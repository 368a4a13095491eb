"""Our hop on the way to the authority: added to what the caller says, and never in its place."""

import pytest
import trio

import gatewayd
from gatewayd.tax.authority.headers import with_hop
from tests.tax.conftest import HEADERS, OpenTax, with_header
from tests.tax.recording import upstream

OURS, PEER = "9.9.9.9", "8.8.8.8"
OURS_6, PEER_6 = "2001:4860:4860::8888", "2A00:1450:4009:81F::200E"
OUR_VERSION = f"gatewayd={gatewayd.__version__}".encode()
SECONDS = 60.0


def forwarded(told: bytes, ours: str = OURS, peer: str | None = PEER) -> bytes:
    ((_, value),) = with_hop([(b"Gov-Vendor-Forwarded", told)], ours, peer)
    return value


def test_the_hop_is_added_at_the_end() -> None:
    assert forwarded(b"by=1.1.1.1&for=8.8.4.4") == b"by=1.1.1.1&for=8.8.4.4,by=9.9.9.9&for=8.8.8.8"


def test_addresses_are_percent_encoded() -> None:
    added = forwarded(b"x", OURS_6, PEER_6).removeprefix(b"x,")
    assert added == b"by=2001%3A4860%3A4860%3A%3A8888&for=2a00%3A1450%3A4009%3A81f%3A%3A200e"


@pytest.mark.parametrize(
    "peer", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "fe80::1", "fc00::1", "::1", "unix", "", None]
)
def test_a_private_peer_is_no_hop_over_the_internet(peer: str | None) -> None:
    assert forwarded(b"by=1.1.1.1&for=8.8.4.4", peer=peer) == b"by=1.1.1.1&for=8.8.4.4"


def test_a_peer_on_a_socket_for_both_families_is_told_as_what_it_is() -> None:
    assert forwarded(b"x", peer="::ffff:8.8.8.8") == b"x,by=9.9.9.9&for=8.8.8.8"
    assert forwarded(b"x", peer="::ffff:10.0.0.1") == b"x"


@pytest.mark.parametrize(
    "told", [b"by=9.9.9.9&for=8.8.8.8", b"for=8.8.8.8&by=9.9.9.9", b"by=9.9.9.9&for=8.8.8.8, by=1.1.1.1&for=9.9.9.9"]
)
def test_a_hop_that_the_caller_tells_of_is_not_told_twice(told: bytes) -> None:
    assert forwarded(told) == told


def test_nor_is_one_that_is_written_otherwise() -> None:
    told = b"by=2001%3a4860%3a4860%3a0%3A0%3a0%3a0%3a8888&for=2a00%3A1450%3A4009%3A81f%3A%3A200E"
    assert forwarded(told, OURS_6, PEER_6) == told


def test_nothing_is_made_up() -> None:
    """Neither a header that is not there, nor the rest of one that is empty."""
    fields = [(b"Accept", b"x"), (b"Gov-Vendor-Forwarded", b""), (b"Gov-Vendor-Version", b" ")]
    assert with_hop(fields, OURS, PEER) == fields
    assert with_hop(fields[:1], OURS, PEER) == fields[:1]


def test_our_version_stands_beside_the_callers() -> None:
    fields = [(b"Gov-Vendor-Version", b"my-app=1.0"), (b"Gov-Client-Timezone", b"UTC+00:00")]
    assert with_hop(fields, OURS, None) == [(b"Gov-Vendor-Version", b"my-app=1.0&" + OUR_VERSION), fields[1]]
    again = [(b"Gov-Vendor-Version", b"gatewayd=0.1&my-app=1.0")]
    assert with_hop(again, OURS, None) == again


def test_of_several_fields_the_last_is_the_end() -> None:
    fields = [(b"Gov-Vendor-Forwarded", b"a"), (b"X", b"y"), (b"Gov-Vendor-Forwarded", b"b"), (b"X", b"z")]
    assert with_hop(fields, OURS, PEER) == [
        *fields[:2],
        (b"Gov-Vendor-Forwarded", b"b,by=9.9.9.9&for=8.8.8.8"),
        fields[3],
    ]


@pytest.mark.parametrize("told", [b"\xff=\xff", b"by", b"&&==,,", b"by=%zz&for=%", b"by=9.9.9.9&by=8.8.8.8"])
def test_whatever_the_caller_says_stays(told: bytes) -> None:
    assert forwarded(told).startswith(told)


def test_without_an_address_of_ours_all_passes_as_it_is() -> None:
    fields = [(b"Gov-Vendor-Forwarded", b"x"), (b"Gov-Vendor-Version", b"my-app=1")]
    assert with_hop(fields, "", PEER) == fields


@pytest.mark.parametrize("ours", ["", OURS])
async def test_on_the_wire(open_tax: OpenTax, ours: str) -> None:
    headers = with_header(b"gov-vendor-license-ids", b"")
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="forward", upstream=server.url, append_hop=ours) as tax:
            assert (await tax.get(headers=headers)).status == 200
    told = dict(HEADERS)
    version = told[b"gov-vendor-version"]
    assert server.request.values("gov-vendor-version") == [version + b"&" + OUR_VERSION if ours else version]
    assert server.request.values("gov-vendor-forwarded") == [told[b"gov-vendor-forwarded"]]  # the peer is not public
