"""What an API key looks like: `gwd_`, 32 random bytes, and a checksum by which a typo shows without a look-up.

gwd_  43 characters, base62 of 256 random bits  6 characters, base62 of the CRC-32 of all before
"""

import hashlib
import zlib

PREFIX = "gwd_"  # Spec §5, API keys, rule 3
RANDOM_BYTES = 32
_BODY_LENGTH = 43  # 62^43 is the first power above 2^256
_CHECK_LENGTH = 6  # and 62^6 above 2^32
_CHECK_START = len(PREFIX) + _BODY_LENGTH
KEY_LENGTH = _CHECK_START + _CHECK_LENGTH
_HINT_LENGTH = len(PREFIX) + 6

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def make_key(random: bytes) -> str:
    """The key made of `RANDOM_BYTES` random bytes."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a key is made of {RANDOM_BYTES} random bytes, not {len(random)}")
    start = PREFIX + _base62(int.from_bytes(random, "big"), _BODY_LENGTH)
    return start + _checksum(start)


def checksum_ok(text: str) -> bool:
    """True for a text that `make_key` could have made. Any change of one character makes it False."""
    if len(text) != KEY_LENGTH or not text.startswith(PREFIX) or not text.isascii():
        return False
    return text[_CHECK_START:] == _checksum(text[:_CHECK_START])


def hash_key(text: str) -> bytes:
    """What is stored of a key: its SHA-256. A slow hash would add nothing to 256 random bits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def hint_of(text: str) -> str:
    """What lists show of a key; the 220 bits that are not shown still cannot be guessed."""
    return text[:_HINT_LENGTH] + "…"


def _checksum(start: str) -> str:
    return _base62(zlib.crc32(start.encode("ascii")), _CHECK_LENGTH)


def _base62(value: int, length: int) -> str:
    digits = []
    for _ in range(length):
        value, digit = divmod(value, 62)
        digits.append(_ALPHABET[digit])
    digits.reverse()
    return "".join(digits)
