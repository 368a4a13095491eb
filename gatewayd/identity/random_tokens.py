"""Tokens that are nothing but random: 256 bits as 43 characters of base64url, known to the database by their hash."""

import secrets

from gatewayd.identity.key_format import hash_key

RANDOM_BYTES = 32

hash_token = hash_key
"""What is stored of a token: its SHA-256, as of an API key. Any text has one, also what no token could be."""


def make_token(prefix: str = "") -> str:
    """A new token; `prefix` tells people and scanners what it is."""
    return prefix + secrets.token_urlsafe(RANDOM_BYTES)
