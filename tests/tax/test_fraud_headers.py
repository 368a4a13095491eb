"""Fraud-prevention headers: what each connection method needs, the format of each, and that no value is repeated."""

import re
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayd.config.keys import FRAUD_HEADERS
from gatewayd.tax.fraud_headers import HEADERS, METHODS, TOLERATED, FraudFault, FraudWarning, Mode, judge

SOUND = {  # the examples of the authority's specification
    "Gov-Client-Device-ID": "beec798b-b366-47fa-b1f8-92cede14a1ce",
    "Gov-Client-User-IDs": "my-application=alice123&email=alice%40example.com",
    "Gov-Client-Timezone": "UTC-01:15",
    "Gov-Client-Local-IPs": "fc00%3A%3A,10.1.2.3",
    "Gov-Client-Local-IPs-Timestamp": "2020-09-21T14:30:05.123Z",
    "Gov-Client-MAC-Addresses": "ea%3A43%3A1a%3A5d%3A21%3A45,10%3A12%3Acc%3Afa%3Aaa%3A32",
    "Gov-Client-User-Agent": "os-family=Windows&os-version=10&device-manufacturer=Dell%20Inc.&device-model=XPS%2013",
    "Gov-Client-Browser-JS-User-Agent": "Mozilla/5.0 (iPad; U; CPU OS 3_2_1 like Mac OS X; en-us) AppleWebKit/531",
    "Gov-Client-Browser-Plugins": "Shockwave%20Flash,Chromium%20PDF%20Viewer",
    "Gov-Client-Browser-Do-Not-Track": "false",
    "Gov-Client-Screens": "width=1920&height=1080&scaling-factor=1&colour-depth=16,"
    "width=3000&height=2000&scaling-factor=1.25&colour-depth=16",
    "Gov-Client-Window-Size": "width=1256&height=803",
    "Gov-Client-Public-IP": "198.51.100.0",
    "Gov-Client-Public-IP-Timestamp": "2020-09-21T14:30:05.000Z",
    "Gov-Client-Public-Port": "12345",
    "Gov-Client-Multi-Factor": "type=AUTH_CODE&timestamp=2021-11-21T13%3A23Z&unique-reference=fc4b5fd6816f75a7c,"
    "type=TOTP&timestamp=2021-11-21T13%3A20%3A05.500Z&unique-reference=0283da60063abfb3a",
    "Gov-Vendor-Version": "my-frontend-software=2.2.2&my-server=v3.8",
    "Gov-Vendor-Product-Name": "My%20Product",
    "Gov-Vendor-License-IDs": "my-licensed-software=8D7963490527D33716835EE7C195516D5E562E03B224E9B359836466EE40CDE1",
    "Gov-Vendor-Public-IP": "203.0.113.6",
    "Gov-Vendor-Forwarded": "by=203.0.113.6&for=198.51.100.0,by=2001%3A0db8%3A%3A1&for=203.0.113.6",
}
PAGES = {  # written out as the pages `connection-method/*` list them, against the table that is derived
    "MOBILE_APP_DIRECT": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-Multi-Factor Gov-Client-Screens Gov-Client-Timezone"
    " Gov-Client-User-Agent Gov-Client-User-IDs Gov-Client-Window-Size Gov-Vendor-License-IDs Gov-Vendor-Product-Name"
    " Gov-Vendor-Version",
    "DESKTOP_APP_DIRECT": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-MAC-Addresses Gov-Client-Multi-Factor Gov-Client-Screens"
    " Gov-Client-Timezone Gov-Client-User-Agent Gov-Client-User-IDs Gov-Client-Window-Size Gov-Vendor-License-IDs"
    " Gov-Vendor-Product-Name Gov-Vendor-Version",
    "MOBILE_APP_VIA_SERVER": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-Multi-Factor Gov-Client-Public-IP Gov-Client-Public-IP-Timestamp"
    " Gov-Client-Public-Port Gov-Client-Screens Gov-Client-Timezone Gov-Client-User-Agent Gov-Client-User-IDs"
    " Gov-Client-Window-Size Gov-Vendor-Forwarded Gov-Vendor-License-IDs Gov-Vendor-Product-Name Gov-Vendor-Public-IP"
    " Gov-Vendor-Version",
    "DESKTOP_APP_VIA_SERVER": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-MAC-Addresses Gov-Client-Multi-Factor Gov-Client-Public-IP"
    " Gov-Client-Public-IP-Timestamp Gov-Client-Public-Port Gov-Client-Screens Gov-Client-Timezone"
    " Gov-Client-User-Agent Gov-Client-User-IDs Gov-Client-Window-Size Gov-Vendor-Forwarded Gov-Vendor-License-IDs"
    " Gov-Vendor-Product-Name Gov-Vendor-Public-IP Gov-Vendor-Version",
    "WEB_APP_VIA_SERVER": "Gov-Client-Connection-Method Gov-Client-Browser-JS-User-Agent Gov-Client-Device-ID"
    " Gov-Client-Multi-Factor Gov-Client-Public-IP Gov-Client-Public-IP-Timestamp Gov-Client-Public-Port"
    " Gov-Client-Screens Gov-Client-Timezone Gov-Client-User-IDs Gov-Client-Window-Size Gov-Vendor-Forwarded"
    " Gov-Vendor-License-IDs Gov-Vendor-Product-Name Gov-Vendor-Public-IP Gov-Vendor-Version",
    "BATCH_PROCESS_DIRECT": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-MAC-Addresses Gov-Client-Timezone Gov-Client-User-Agent"
    " Gov-Client-User-IDs Gov-Vendor-License-IDs Gov-Vendor-Product-Name Gov-Vendor-Version",
    "OTHER_DIRECT": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-MAC-Addresses Gov-Client-Multi-Factor Gov-Client-Timezone"
    " Gov-Client-User-Agent Gov-Client-User-IDs Gov-Vendor-License-IDs Gov-Vendor-Product-Name Gov-Vendor-Version",
    "OTHER_VIA_SERVER": "Gov-Client-Connection-Method Gov-Client-Device-ID Gov-Client-Local-IPs"
    " Gov-Client-Local-IPs-Timestamp Gov-Client-MAC-Addresses Gov-Client-Multi-Factor Gov-Client-Public-IP"
    " Gov-Client-Public-IP-Timestamp Gov-Client-Public-Port Gov-Client-Timezone Gov-Client-User-Agent"
    " Gov-Client-User-IDs Gov-Vendor-Forwarded Gov-Vendor-License-IDs Gov-Vendor-Product-Name Gov-Vendor-Public-IP"
    " Gov-Vendor-Version",
}
MAY_BE_EMPTY = {
    "Gov-Client-Multi-Factor",
    "Gov-Client-Public-IP",
    "Gov-Client-Public-Port",
    "Gov-Vendor-License-IDs",
    "Gov-Vendor-Public-IP",
}
SERVER = "DESKTOP_APP_VIA_SERVER"


def sound(method: str) -> dict[str, str]:
    """All that a method needs."""
    return {"Gov-Client-Connection-Method": method, **{name: SOUND[name] for name in METHODS[method]}}


def faults(
    headers: dict[str, str], mode: Mode = "require", *, sandbox: bool = True, documentation: bool = True
) -> list[tuple[str, str]]:
    found = judge(headers, mode, sandbox=sandbox, documentation=documentation)
    return [(fault.header, fault.code) for fault in found.faults]


def warnings(headers: dict[str, str], mode: Mode = "require") -> list[tuple[str, str]]:
    found = judge(headers, mode, sandbox=True, documentation=True)
    return [(warning.header, warning.code) for warning in found.warnings]


def method_of(name: str) -> str:
    """A method that takes a header."""
    return next(method for method in METHODS if name in METHODS[method] | TOLERATED.get(method, frozenset()))


def with_one(name: str, value: str) -> dict[str, str]:
    return {**sound(method_of(name)), name: value}


# -- which headers


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_needs_is_enough(method: str) -> None:
    assert faults(sound(method)) == []
    assert sound(method).keys() == set(PAGES[method].split())


def test_every_method_has_a_page() -> None:
    assert METHODS.keys() == PAGES.keys()
    assert len(PAGES["WEB_APP_VIA_SERVER"].split()) == 16  # domain model §D2


@pytest.mark.parametrize(("method", "name"), [(method, name) for method in METHODS for name in sorted(METHODS[method])])
def test_each_header_that_is_missing_is_named(method: str, name: str) -> None:
    headers = sound(method)
    del headers[name]
    assert faults(headers) == [(name, "required")]


@pytest.mark.parametrize("method", METHODS)
def test_each_header_of_another_method_is_remarked_on_and_no_fault(method: str) -> None:
    """The authority's own validator warns of it; whatever it holds, it says nothing."""
    foreign = HEADERS.keys() - METHODS[method] - TOLERATED.get(method, frozenset())
    assert foreign
    for name in foreign:
        for value in (SOUND[name], "", "null"):
            headers = {**sound(method), name: value}
            assert (faults(headers), warnings(headers)) == ([], [(name, "unexpected")])
    assert warnings(sound(method)) == []


@pytest.mark.parametrize(
    ("method", "name"), [(method, name) for method in TOLERATED for name in sorted(TOLERATED[method])]
)
def test_what_is_no_longer_needed_may_still_be_sent_but_must_be_sound(method: str, name: str) -> None:
    assert faults({**sound(method), name: SOUND[name]}) == []
    assert faults({**sound(method), name: "null"}) == [(name, "invalid_format")]


@pytest.mark.parametrize("method", METHODS)
def test_an_application_with_a_server_names_the_versions_of_both(method: str) -> None:
    """But not a web application, whose pages come from its server."""
    two = method.endswith("_VIA_SERVER") and not method.startswith("WEB_")
    expected = [("Gov-Vendor-Version", "invalid_format")] if two else []
    assert faults({**sound(method), "Gov-Vendor-Version": "my-app=1.0"}) == expected


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_empty_only_where_a_value_may_be_unknowable(name: str) -> None:
    tolerated = {"Gov-Client-Browser-Plugins", "Gov-Client-Browser-Do-Not-Track"}
    expected = [] if name in MAY_BE_EMPTY | tolerated else [(name, "required")]
    assert faults(with_one(name, "")) == expected


def test_without_a_method_only_what_all_need_is_missed() -> None:
    common = frozenset.intersection(*METHODS.values())
    missing = faults({})
    assert missing[0] == ("Gov-Client-Connection-Method", "required")
    assert {name for name, _ in missing[1:]} == common


def test_an_unknown_method_is_refused_and_the_formats_are_judged() -> None:
    headers = {**SOUND, "Gov-Client-Connection-Method": "CARRIER_PIGEON", "Gov-Client-Timezone": "GMT"}
    assert faults(headers) == [
        ("Gov-Client-Connection-Method", "invalid_enum"),
        ("Gov-Client-Timezone", "invalid_format"),
    ]


def test_names_have_no_case_and_other_headers_are_not_judged() -> None:
    headers = {name.lower(): f" {value}\t" for name, value in sound(SERVER).items()}
    assert faults({**headers, "gov-client-from-a-later-version": "\x00", "Accept": "*/*"}) == []


# -- what cannot be collected


@pytest.mark.parametrize("method", [method for method in METHODS if method.endswith("VIA_SERVER")])
def test_a_client_and_its_server_on_one_private_network_have_no_public_addresses(method: str) -> None:
    """The specification's own words: where a value cannot be had, the header is empty; with no address, no hop."""
    private = (
        *("Gov-Client-Public-IP", "Gov-Client-Public-IP-Timestamp", "Gov-Client-Public-Port"),
        *("Gov-Vendor-Public-IP", "Gov-Vendor-Forwarded"),
    )
    assert faults({**sound(method), **dict.fromkeys(private, "")}) == []
    for name in ("Gov-Client-Public-IP-Timestamp", "Gov-Vendor-Forwarded"):
        assert faults({**sound(method), name: ""}) == [(name, "required")]


@pytest.mark.parametrize(("method", "name"), [(method, name) for method in METHODS for name in sorted(METHODS[method])])
def test_what_the_authority_does_without_may_be_empty_or_left_out_and_not_malformed(method: str, name: str) -> None:
    def verdict(headers: dict[str, str]) -> list[tuple[str, str]]:
        agreed = (name,)
        found = judge(headers, "require", sandbox=True, documentation=True, agreed_missing=agreed)
        return [(fault.header, fault.code) for fault in found.faults]

    left_out = sound(method)
    del left_out[name]
    assert verdict(left_out) == verdict({**left_out, name: ""}) == []
    assert verdict({**left_out, name: "null"}) == [(name, "invalid_format")]
    other = "Gov-Client-Device-ID" if name != "Gov-Client-Device-ID" else "Gov-Client-Timezone"
    del left_out[other]
    assert verdict(left_out) == [(other, "required")]


def test_the_settings_know_the_same_headers() -> None:
    assert set(FRAUD_HEADERS) == HEADERS.keys()


LISTS = [name for name, value in SOUND.items() if "," in value and name != "Gov-Client-Browser-JS-User-Agent"]


@pytest.mark.parametrize("name", LISTS)
def test_a_space_after_a_comma_is_remarked_on_and_no_fault(name: str) -> None:
    for space in (" ", "  "):
        headers = with_one(name, SOUND[name].replace(",", f",{space}"))
        assert (faults(headers), warnings(headers)) == ([], [(name, "space_after_comma")])
    headers = with_one(name, SOUND[name].replace(",", " ,"))
    assert (faults(headers), warnings(headers)) == ([(name, "invalid_format")], [])
    assert judge(with_one(name, SOUND[name].replace(",", ", ")), "off", sandbox=True, documentation=True).warnings == []


def test_a_warning_says_what_is_remarked_on() -> None:
    headers = {**sound("BATCH_PROCESS_DIRECT"), "Gov-Client-Public-IP": "planted"}
    found = judge(headers, "require", sandbox=True, documentation=True).warnings
    assert found == [FraudWarning("Gov-Client-Public-IP", "unexpected", "does not belong to BATCH_PROCESS_DIRECT")]


# -- modes


def test_require_and_warn_find_the_same_and_off_finds_nothing() -> None:
    headers = {"Gov-Client-Device-ID": "none of it"}
    assert faults(headers, "require") == faults(headers, "warn") != []
    assert faults(headers, "off") == []


@pytest.mark.parametrize("mode", ["require", "warn", "off"])
def test_a_test_scenario_is_for_the_sandbox_only(mode: Mode) -> None:
    headers = {**sound("BATCH_PROCESS_DIRECT"), "gov-test-scenario": "OPEN"}
    assert faults(headers, mode, sandbox=True) == []
    assert faults(headers, mode, sandbox=False) == [("Gov-Test-Scenario", "test_header_in_production")]


# -- formats

ACCEPTED = [
    ("Gov-Client-Device-ID", "BEEC798B-B366-47FA-B1F8-92CEDE14A1CE"),
    ("Gov-Client-Timezone", "UTC+00:00"),
    ("Gov-Client-Timezone", "UTC+14:00"),
    ("Gov-Client-Local-IPs", "10.0.0.1"),
    ("Gov-Client-Local-IPs", "fe80%3A%3A1%25eth0"),
    ("Gov-Client-MAC-Addresses", "EA-43-1A-5D-21-45"),
    ("Gov-Client-User-Agent", "device-model=&os-family=Linux&os-version=6.1"),
    ("Gov-Client-User-IDs", "os=bob&email="),
    ("Gov-Client-Public-Port", "1"),
    ("Gov-Client-Public-Port", "65535"),
    ("Gov-Client-Screens", "colour-depth=24&scaling-factor=0.5&height=1&width=1"),
    ("Gov-Client-Multi-Factor", "type=OTHER&timestamp=2024-02-29T00%3A00Z&unique-reference=x"),
    ("Gov-Vendor-Product-Name", "%E2%82%AC%20Books%20(Pro)!"),
    ("Gov-Vendor-Version", "a=1"),
]
MALFORMED = [
    ("Gov-Client-Device-ID", "beec798bb36647fab1f892cede14a1ce"),
    ("Gov-Client-Device-ID", "00000000-0000-0000-0000-000000000000"),
    ("Gov-Client-User-IDs", "alice"),
    ("Gov-Client-User-IDs", "=alice"),
    ("Gov-Client-User-IDs", "app=alice&app=bob"),
    ("Gov-Client-User-IDs", "email=alice@example.com"),  # not encoded
    ("Gov-Client-User-IDs", "app="),
    ("Gov-Client-User-IDs", "app=undefined"),
    ("Gov-Client-User-IDs", "app=%FF"),  # not UTF-8
    ("Gov-Client-User-IDs", "app=a%0D%0Ab"),
    ("Gov-Client-User-IDs", "app=100%"),
    ("Gov-Client-Timezone", "UTC"),
    ("Gov-Client-Timezone", "Europe/London"),
    ("Gov-Client-Timezone", "UTC+1:00"),
    ("Gov-Client-Timezone", "UTC+14:30"),
    ("Gov-Client-Timezone", "UTC+00:60"),
    ("Gov-Client-Local-IPs", "fc00::,10.1.2.3"),  # not encoded
    ("Gov-Client-Local-IPs", "10.1.2.3,"),
    ("Gov-Client-Local-IPs", "10.1.2.256"),
    ("Gov-Client-Local-IPs-Timestamp", "2020-09-21T14:30:05Z"),
    ("Gov-Client-Local-IPs-Timestamp", "2020-09-21T14:30:05.123+00:00"),
    ("Gov-Client-Local-IPs-Timestamp", "2020-09-21 14:30:05.123Z"),
    ("Gov-Client-Local-IPs-Timestamp", "2020-02-30T14:30:05.123Z"),
    ("Gov-Client-Local-IPs-Timestamp", "2020-09-21T25:30:05.123Z"),
    ("Gov-Client-MAC-Addresses", "ea:43:1a:5d:21:45"),  # not encoded
    ("Gov-Client-MAC-Addresses", "ea%3A43%3A1a%3A5d%3A21"),
    ("Gov-Client-User-Agent", "Windows/10 (Dell/XPS)"),
    ("Gov-Client-User-Agent", "os-family=Windows&os-version="),
    ("Gov-Client-Browser-JS-User-Agent", "undefined"),
    ("Gov-Client-Browser-JS-User-Agent", "Mozilla/5.0 \u20ac"),
    ("Gov-Client-Browser-JS-User-Agent", "Mozilla\x7f"),
    ("Gov-Client-Browser-JS-User-Agent", "M" * 5000),
    ("Gov-Client-Browser-Plugins", "Flash,,PDF"),
    ("Gov-Client-Browser-Do-Not-Track", "yes"),
    ("Gov-Client-Screens", "width=1920&height=1080"),
    ("Gov-Client-Screens", "width=1920&height=1080&scaling-factor=0&colour-depth=24"),
    ("Gov-Client-Screens", "width=1920.5&height=1080&scaling-factor=1&colour-depth=24"),
    ("Gov-Client-Screens", "width=1920&height=1080&scaling-factor=1&color-depth=24"),
    ("Gov-Client-Window-Size", "width=0&height=803"),
    ("Gov-Client-Window-Size", "width=-5&height=803"),
    ("Gov-Client-Window-Size", "1256x803"),
    ("Gov-Client-Public-IP", "10.1.2.3"),
    ("Gov-Client-Public-IP", "127.0.0.1"),
    ("Gov-Client-Public-IP", "fe80::1"),
    ("Gov-Client-Public-IP", "::ffff:192.168.0.1"),
    ("Gov-Client-Public-IP", "100.64.0.1"),
    ("Gov-Client-Public-IP", "null"),
    ("Gov-Client-Public-IP", "198.51.100.1,198.51.100.2"),
    ("Gov-Client-Public-IP-Timestamp", "2020-09-21T14:30:05.12Z"),
    ("Gov-Client-Public-Port", "0"),
    ("Gov-Client-Public-Port", "65536"),
    ("Gov-Client-Public-Port", "443"),  # the server's
    ("Gov-Client-Public-Port", "012"),
    ("Gov-Client-Public-Port", "\u0661\u0662"),  # Arabic digits
    ("Gov-Client-Multi-Factor", "type=SMS&timestamp=2021-11-21T13%3A23Z&unique-reference=x"),
    ("Gov-Client-Multi-Factor", "type=TOTP&timestamp=2021-11-21T13:23Z&unique-reference=x"),  # not encoded
    ("Gov-Client-Multi-Factor", "type=TOTP&timestamp=2021-11-21&unique-reference=x"),
    ("Gov-Client-Multi-Factor", "type=TOTP&timestamp=2021-11-21T13%3A23Z"),
    ("Gov-Vendor-Version", "1.0"),
    ("Gov-Vendor-Version", "app="),
    ("Gov-Vendor-Product-Name", "My Product"),
    ("Gov-Vendor-Product-Name", "nil"),
    ("Gov-Vendor-License-IDs", "abc"),
    ("Gov-Vendor-License-IDs", "app=null"),
    ("Gov-Vendor-Public-IP", "192.168.1.1"),
    ("Gov-Vendor-Forwarded", "by=203.0.113.6"),
    ("Gov-Vendor-Forwarded", "by=203.0.113.6&for=10.0.0.1"),
    ("Gov-Vendor-Forwarded", "by=2001:db8::1&for=198.51.100.0"),  # not encoded
    ("Gov-Vendor-Forwarded", "by=203.0.113.6&for=198.51.100.0,"),
]


@pytest.mark.parametrize(("name", "value"), ACCEPTED)
def test_sound_values_pass(name: str, value: str) -> None:
    assert faults(with_one(name, value)) == []


@pytest.mark.parametrize(("name", "value"), MALFORMED)
def test_malformed_values_are_named(name: str, value: str) -> None:
    assert faults(with_one(name, value)) == [(name, "invalid_format")]


def test_the_specifications_example_addresses_are_not_public_in_production() -> None:
    assert faults(sound(SERVER), sandbox=False) == []
    assert faults(sound(SERVER), documentation=False) == [
        ("Gov-Client-Public-IP", "invalid_format"),
        ("Gov-Vendor-Public-IP", "invalid_format"),
        ("Gov-Vendor-Forwarded", "invalid_format"),
    ]
    real = {
        "Gov-Client-Public-IP": "2A00:1450:4009:81F:0:0:0:200E",
        "Gov-Vendor-Public-IP": "8.8.4.4",
        "Gov-Vendor-Forwarded": "by=8.8.4.4&for=2a00%3A1450%3A4009%3A81f%3A%3A200e",  # the same, written otherwise
    }
    assert faults({**sound(SERVER), **real}, documentation=False) == []


def test_the_first_hop_leads_from_the_client_to_the_vendor() -> None:
    other = {"Gov-Vendor-Forwarded": "by=203.0.113.6&for=198.51.100.99"}
    assert faults({**sound(SERVER), **other}) == [("Gov-Vendor-Forwarded", "conflict")]
    late = {"Gov-Vendor-Forwarded": "by=9.9.9.9&for=203.0.113.6,by=203.0.113.6&for=198.51.100.0"}
    assert faults({**sound(SERVER), **late}) == [("Gov-Vendor-Forwarded", "conflict")]
    same = {"Gov-Vendor-Public-IP": "198.51.100.0"}
    assert faults({**sound(SERVER), **same}) == [("Gov-Vendor-Public-IP", "conflict")]
    unknown = {"Gov-Client-Public-IP": "", "Gov-Client-Public-Port": ""}
    assert faults({**sound(SERVER), **unknown}) == []


def test_contradictions_are_found_beside_other_faults() -> None:
    wrong = {"Gov-Vendor-Forwarded": "by=203.0.113.6&for=198.51.100.99", "Gov-Client-Timezone": "BST"}
    assert faults({**sound(SERVER), **wrong}) == [
        ("Gov-Client-Timezone", "invalid_format"),
        ("Gov-Vendor-Forwarded", "conflict"),
    ]


# -- properties

TEXT = st.text(min_size=1, max_size=30).filter(
    lambda text: text.lower() not in ("null", "nil", "undefined") and not re.search(r"[\x00-\x1f\x7f-\x9f]", text)
)
FIELDS = st.dictionaries(TEXT, TEXT, min_size=1, max_size=5)
ANYTHING = st.one_of(st.text(max_size=60), st.sampled_from(sorted(SOUND.values())), st.just("null"))


@settings(max_examples=50, deadline=None)
@given(FIELDS)
def test_any_percent_encoded_pairs_are_sound(fields: dict[str, str]) -> None:
    distinct = {quote(key, safe=""): quote(value, safe="") for key, value in fields.items()}
    structure = "&".join(f"{key}={value}" for key, value in distinct.items())
    for name in ("Gov-Client-User-IDs", "Gov-Vendor-Version", "Gov-Vendor-License-IDs"):
        assert faults(with_one(name, structure)) == []


@settings(max_examples=50, deadline=None)
@given(st.datetimes(), st.integers(1, 65535), st.uuids(), st.integers(-13 * 60 - 59, 14 * 60))
def test_any_moment_port_device_and_offset_are_sound(moment: datetime, port: int, device: UUID, minutes: int) -> None:
    timestamp = moment.isoformat(timespec="milliseconds") + "Z"
    zone = f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    values = {
        "Gov-Client-Public-IP-Timestamp": timestamp,
        "Gov-Client-Public-Port": str(port),
        "Gov-Client-Device-ID": str(device),
        "Gov-Client-Timezone": zone,
    }
    expected = [("Gov-Client-Public-Port", "invalid_format")] if port in (80, 443) else []
    assert faults({**sound(SERVER), **values}) == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.ip_addresses(), min_size=1, max_size=4))
def test_any_local_addresses_are_sound(addresses: list[IPv4Address | IPv6Address]) -> None:
    value = ",".join(quote(str(address), safe="") for address in addresses)
    assert faults(with_one("Gov-Client-Local-IPs", value)) == []


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(sorted(HEADERS)), ANYTHING),
    st.one_of(st.sampled_from(sorted(METHODS)), st.text(max_size=10)),
    st.booleans(),
)
def test_whatever_comes_each_header_has_one_fault_at_most_and_nothing_raises(
    headers: dict[str, str], method: str, sandbox: bool
) -> None:
    found = judge(
        {**headers, "Gov-Client-Connection-Method": method}, "require", sandbox=sandbox, documentation=not sandbox
    )
    for notes in (found.faults, found.warnings):
        assert len({note.header for note in notes}) == len(notes)
    names = [note.header for note in (*found.faults, *found.warnings)]
    assert {"Gov-Client-Connection-Method", *HEADERS} >= set(names)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(sorted(HEADERS)), st.text("!#%&=,:@0123456789abcdefghij", min_size=6, max_size=30), st.booleans()
)
def test_no_value_stands_in_a_message(name: str, value: str, sandbox: bool) -> None:
    headers = {**sound(method_of(name)), name: f"planted-{value}", "Gov-Client-Connection-Method": f"planted-{value}"}
    found = judge(headers, "require", sandbox=sandbox, documentation=sandbox).faults
    assert found
    assert not [fault for fault in found if "planted" in repr(fault) or value in fault.message]


def test_a_fault_says_what_the_header_must_be() -> None:
    found = judge(with_one("Gov-Client-Device-ID", "x"), "require", sandbox=True, documentation=True)
    assert found.warnings == []
    assert found.faults == [FraudFault("Gov-Client-Device-ID", "invalid_format", "must be a UUID")]
