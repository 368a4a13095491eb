"""Tokens that are nothing but random: 256 bits as 43 characters of base64url, known to the database by their hash."""

import hashlib
import secrets

RANDOM_BYTES = 32


def make_token(prefix: str = "") -> str:
    """A new token; `prefix` tells people and scanners what it is."""
    return prefix + secrets.token_urlsafe(RANDOM_BYTES)


def hash_token(token: str) -> bytes:
    """What is stored of a token: its SHA-256. Any text has one, also what no token could be."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
