"""Query strings as names and values."""

from typing import Final
from urllib.parse import parse_qsl

from gatewayd.errors import Problem

MAX_QUERY_FIELDS: Final = 200


def plain_pairs(raw: str) -> list[tuple[str, str]]:
    """Names and values of a query without escapes. Raises `Problem` `invalid_request`."""
    parts = raw.split("&")
    if len(parts) > MAX_QUERY_FIELDS:
        raise _too_many()
    return [(name, value) for name, _, value in (part.partition("=") for part in parts if part)]


def encoded_pairs(raw: str) -> list[tuple[str, str]]:
    """The same of any other. Raises `Problem` `invalid_request`."""
    if raw.count("&") >= MAX_QUERY_FIELDS:
        raise _too_many()
    if not raw.isascii():  # RFC 3986 §2
        raise Problem("invalid_request", "The query string holds characters that must be percent-encoded.")
    try:
        return parse_qsl(raw, keep_blank_values=True, errors="strict")
    except ValueError:
        raise Problem("invalid_request", "The query string is not UTF-8.") from None


def _too_many() -> Problem:
    return Problem("invalid_request", f"A query string has at most {MAX_QUERY_FIELDS} parameters.")
