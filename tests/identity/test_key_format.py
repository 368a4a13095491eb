"""The form of API keys: fixed width, the alphabet, and a checksum that catches every typo of one character."""

import hashlib
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.identity.key_format import checksum_ok, hash_key, hint_of, make_key

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM = st.binary(min_size=32, max_size=32)
KEY = make_key(bytes(range(32)))


def decode62(text: str) -> int:
    """Read base62 back, by the definition."""
    value = 0
    for character in text:
        value = value * 62 + ALPHABET.index(character)
    return value


@given(RANDOM)
def test_has_prefix_random_bits_and_checksum(random: bytes) -> None:
    key = make_key(random)
    assert (key[:4], len(key)) == ("gwd_", 4 + 43 + 6)
    assert decode62(key[4:47]) == int.from_bytes(random, "big")
    assert decode62(key[47:]) == zlib.crc32(key[:47].encode())
    assert checksum_ok(key)


@pytest.mark.parametrize("random", [bytes(32), b"\xff" * 32])
def test_the_extremes_have_the_same_width(random: bytes) -> None:
    assert len(make_key(random)) == 53
    assert checksum_ok(make_key(random))


@given(RANDOM, st.integers(0, 52), st.characters())
def test_any_change_of_one_character_shows(random: bytes, position: int, character: str) -> None:
    key = make_key(random)
    changed = key[:position] + character + key[position + 1 :]
    assert checksum_ok(changed) == (changed == key)


@given(RANDOM, st.integers(4, 51))
def test_two_neighbours_swapped_show(random: bytes, position: int) -> None:
    key = make_key(random)
    swapped = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assert checksum_ok(swapped) == (swapped == key)


@pytest.mark.parametrize("text", ["", "gwd_", KEY[:-1], KEY + "0", " " + KEY, KEY.upper(), KEY.replace("gwd_", "gwe_")])
def test_another_form_is_no_key(text: str) -> None:
    assert not checksum_ok(text)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_refuses_another_number_of_random_bytes(length: int) -> None:
    with pytest.raises(ValueError, match="32 random bytes"):
        make_key(bytes(length))


def test_the_hash_is_sha256_of_the_whole_key() -> None:
    assert hash_key(KEY) == hashlib.sha256(KEY.encode()).digest()
    assert len(hash_key("\ud800")) == 32


def test_the_hint_shows_six_characters_of_the_random_part() -> None:
    assert hint_of(KEY) == KEY[:10] + "…"
