"""Addresses that browsers are sent to, with parameters added."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.http1.redirects import location, with_parameters


@pytest.mark.parametrize(
    ("uri", "whole"),
    [
        ("https://a/cb", "https://a/cb?code=c"),
        ("https://a", "https://a?code=c"),
        ("https://a/cb?", "https://a/cb?code=c"),
        ("https://a/cb?x=1", "https://a/cb?x=1&code=c"),
        ("https://a/cb?x=1&", "https://a/cb?x=1&code=c"),
        ("https://a/cb?x=a?", "https://a/cb?x=a?&code=c"),
        ("https://a/cb?x=1&&y=2", "https://a/cb?x=1&&y=2&code=c"),
        ("https://a/b&", "https://a/b&?code=c"),
        ("http://[::1]:7/cb?x", "http://[::1]:7/cb?x&code=c"),
        ("com.example.app:/cb", "com.example.app:/cb?code=c"),
    ],
)
def test_what_is_added_follows_the_query_that_was_there(uri: str, whole: str) -> None:
    assert with_parameters(uri, {"code": "c"}) == whole


def test_without_parameters_the_address_is_as_it_was() -> None:
    assert [with_parameters(uri, {}) for uri in ("https://a/cb", "https://a/cb?x=1&")] == [
        "https://a/cb",
        "https://a/cb?x=1&",
    ]


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_values_arrive_as_they_were(parameters: dict[str, str]) -> None:
    query = urlsplit(location(with_parameters("https://a/cb?x=1&", parameters))).query
    assert parse_qsl(query, keep_blank_values=True, strict_parsing=True) == [("x", "1"), *parameters.items()]


def test_a_location_is_encoded_once() -> None:
    assert location("https://a/ü?x=%20&y=a b#c") == "https://a/%C3%BC?x=%20&y=a%20b#c"
