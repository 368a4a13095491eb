"""URLs: what is accepted, how it is normalised, and every trick by its reason."""

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.outbound.addresses import refusal
from gatewayd.outbound.errors import TargetError
from gatewayd.outbound.targets import MAX_URL_CHARACTERS, REASONS, Target, parse_target

NORMALISED = (
    ("https://example.com", "https://example.com/"),
    ("https://EXAMPLE.com:443/Hook?a=B", "https://example.com/Hook?a=B"),
    ("https://example.com:8443/", "https://example.com:8443/"),
    ("https://example.com./x", "https://example.com/x"),
    ("https://example.com?x=1", "https://example.com/?x=1"),
    ("https://example.com/a?", "https://example.com/a"),
    ("https://example.com:/a", "https://example.com/a"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ("https://straße.example/", "https://xn--strae-oqa.example/"),  # UTS 46 non-transitional
    ("https://example。com/", "https://example.com/"),  # ideographic full stop
    ("https://ＥＸＡＭＰＬＥ.com/", "https://example.com/"),  # full width
    ("https://my_host.example.com/", "https://my_host.example.com/"),
    ("https://example.com/ä?ö=€", "https://example.com/%C3%A4?%C3%B6=%E2%82%AC"),
    ("https://example.com/%2e%2E/x;y=1", "https://example.com/%2e%2E/x;y=1"),
    ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
    ("https://[2606:4700:0:0:0:0:0:1111]:8443/", "https://[2606:4700::1111]:8443/"),
    ("https://[::FFFF:1.2.3.4]/", "https://[::ffff:102:304]/"),
)

LOOPBACK_SPELLINGS = (
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.1",
    "0x7f.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.1",
    "0x7f.0.0.01",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "127．0．0．1",  # full-width full stops
    "127｡0｡0｡1",  # half-width ideographic full stops
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",  # mathematical digits
    "¹²⁷.₀.₀.₁",  # superscripts and subscripts
    "０ｘ７ｆ.１",  # a full-width x
    "127.0.0.1。",
    "12\u00ad7.0.0.1",  # a soft hyphen is dropped
    "127.0\u200b.0.1",  # so is a zero-width space
    "0x7f.1.",
    "0x0000000000007f.1",
)

METADATA_SPELLINGS = (
    "169.254.169.254",
    "169.254.169.254.",
    "2852039166",
    "0xa9fea9fe",
    "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.43518",
    "169.16689662",
    "１６９.２５４.１６９.２５４",
    "①⑥⑨。②⑤④。①⑥⑨。②⑤④",
)

IPV6_SPELLINGS = (
    ("[::1]", "::1"),
    ("[0:0:0:0:0:0:0:1]", "::1"),
    ("[0000:0000:0000:0000:0000:0000:0000:0001]", "::1"),
    ("[::0.0.0.1]", "::1"),
    ("[::]", "::"),
    ("[::FFFF:127.0.0.1]", "::ffff:7f00:1"),
    ("[0:0:0:0:0:ffff:7f00:1]", "::ffff:7f00:1"),
    ("[64:ff9b::169.254.169.254]", "64:ff9b::a9fe:a9fe"),
    ("[2002:7f00:1::]", "2002:7f00:1::"),
    ("[FD00:EC2:0:0:0:0:0:254]", "fd00:ec2::254"),
)

REFUSED = (
    ("http://example.com/", "scheme"),
    ("ftp://example.com/", "scheme"),
    ("example.com/hook", "scheme"),
    ("//example.com/hook", "scheme"),
    ("", "scheme"),
    ("file:///etc/passwd", "scheme"),
    ("https://user@example.com/", "userinfo"),
    ("https://user:pass@example.com/", "userinfo"),
    ("https://example.com@127.0.0.1/", "userinfo"),
    ("https://@example.com/", "userinfo"),
    ("https://example.com/#part", "fragment"),
    ("https://example.com/#", "fragment"),
    ("https://", "host"),
    ("https:///path", "host"),
    ("https://./", "host"),
    ("https://a..b/", "host"),
    ("https://-a.example/", "host"),
    ("https://exa%6dple.com/", "host"),
    ("https://%31%32%37.0.0.1/", "host"),
    ("https://exam!ple.com/", "host"),
    ("https://" + "a" * 64 + ".example/", "host"),
    ("https://" + "a." * 127 + "example/", "host"),
    ("https://256.0.0.1/", "host"),
    ("https://xn--0.com/", "host"),
    ("https://a.xn--/", "host"),
    ("https://xn--a-ecp.ru/", "host"),
    ("https://1.2.3.4.5/", "host"),
    ("https://1.2.3.256/", "host"),
    ("https://4294967296/", "host"),
    ("https://0x100000000/", "host"),
    ("https://099.0.0.1/", "host"),
    ("https://foo.1/", "host"),
    ("https://foo.0x7f/", "host"),
    ("https://1..1/", "host"),
    ("https://" + "9" * 400 + "/", "host"),
    ("https://\u200d.example/", "host"),
    ("https://[::1/", "host"),
    ("https://[v1.fe80]/", "host"),
    ("https://[1.2.3.4]/", "host"),
    ("https://exam℀ple.com/", "host"),
    ("https://a[::1]/", "host"),
    ("https://[::1]x/", "host"),
    ("https://[fe80::1%25eth0]/", "zone"),
    ("https://[fe80::1%eth0]/", "zone"),
    ("https://[::1%lo]/", "zone"),
    ("https://[::1%25]/", "zone"),
    ("https://fe80::1%25eth0/", "port"),
    ("https://::1/", "host"),
    ("https://127.0.0.1%00.example/", "host"),
    ("https://127.0.0.1%2e/", "host"),
    ("https://１２７％2e０.０.１/", "host"),
    ("https://[127.0.0.1]/", "host"),
    ("https://[0x7f.1]/", "host"),
    ("https://[::0x7f.1]/", "host"),
    ("https://[::1].example/", "host"),
    ("https://[[::1]]/", "host"),
    ("https://127.0.0.1../", "host"),
    ("https://0x7f.0.0.1.0x0.1/", "host"),
    ("https://0b1111111.0.0.1.2.3/", "host"),
    ("https://127.0.0.1:80@example.com/", "userinfo"),
    ("https://example.com:443@[::1]/", "userinfo"),
    ("http+unix://%2Frun%2Fgatewayd.sock/", "scheme"),
    ("unix:/run/gatewayd.sock", "scheme"),
    ("gopher://127.0.0.1/", "scheme"),
    ("https://example.com:0/", "port"),
    ("https://example.com:65536/", "port"),
    ("https://example.com:99999999999/", "port"),
    ("https://example.com:+80/", "port"),
    ("https://example.com:80:90/", "port"),
    ("https://example.com:８０/", "port"),
    ("https://example.com:http/", "port"),
    (" https://example.com/", "url"),
    ("https://example.com/\n", "url"),
    ("https://exa\tmple.com/", "url"),
    ("https://example.com/a b", "url"),
    ("https://example.com\\@127.0.0.1/", "url"),
    ("https://example.com/\x00", "url"),
    ("https://example.com/\ud800", "url"),
    ("https://example.com/" + "a" * MAX_URL_CHARACTERS, "too_long"),
)


@pytest.mark.parametrize(("url", "expected"), NORMALISED)
def test_urls_are_normalised(url: str, expected: str) -> None:
    target = parse_target(url)
    assert target.url == expected
    assert parse_target(target.url) == target


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
def test_every_spelling_of_an_address_is_that_address(host: str) -> None:
    target = parse_target(f"https://{host}:8443/")
    assert (target.host, str(target.address)) == ("127.0.0.1", "127.0.0.1")
    assert target.authority == "127.0.0.1:8443"


@pytest.mark.parametrize("host", METADATA_SPELLINGS)
def test_every_spelling_of_the_metadata_service_is_refused(host: str) -> None:
    address = parse_target(f"https://{host}/").address
    assert address is not None
    assert refusal(address) == "cloud metadata"


@pytest.mark.parametrize(("host", "expected"), IPV6_SPELLINGS)
def test_every_spelling_in_brackets_is_that_address_and_refused(host: str, expected: str) -> None:
    address = parse_target(f"https://{host}/").address
    assert address is not None
    assert ip_address(expected) == address
    assert refusal(address) is not None


@pytest.mark.parametrize(("url", "reason"), REFUSED, ids=[ascii(url)[:50] for url, _ in REFUSED])
def test_refused_urls_name_the_reason(url: str, reason: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(url)
    assert caught.value.reason == reason
    assert caught.value.code == "blocked_address"
    assert caught.value.detail.endswith(".")


def test_http_needs_leave() -> None:
    target = parse_target("http://example.com:80/x", allow_http=True)
    assert (target.tls, target.port, target.authority) == (False, 80, "example.com")
    assert parse_target("http://example.com:443/", allow_http=True).authority == "example.com:443"


@settings(deadline=None)
@given(st.text(max_size=40))
def test_whatever_the_text_the_answer_is_a_target_or_a_reason(text: str) -> None:
    for url in (text, f"https://{text}", f"https://{text}/x", f"https://example.com{text}"):
        outcome = _outcome(url)
        if isinstance(outcome, TargetError):
            assert outcome.reason in REASONS
        else:
            assert outcome.url.isascii()
            assert not set(outcome.url) & set(" \r\n\t\\#")
            assert parse_target(outcome.url) == outcome


def _outcome(url: str) -> Target | TargetError:
    try:
        return parse_target(url)
    except TargetError as error:
        return error


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_numbers_read_as_inet_aton_does(number: int) -> None:
    dotted = str(parse_target(f"https://{number}/").address)
    assert (
        dotted
        == str(parse_target(f"https://{number:#x}/").address)
        == str(parse_target(f"https://0{number:o}/").address)
    )
    assert int.from_bytes(bytes(int(part) for part in dotted.split("."))) == number
