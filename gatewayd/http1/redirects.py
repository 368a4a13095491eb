"""Where a browser is sent: addresses with parameters, in characters that a `Location` can hold."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode


def with_parameters(uri: str, parameters: Mapping[str, str]) -> str:
    """The address with parameters added to its query, which is kept as it was (RFC 6749 §3.1.2).

    `uri` has no fragment. One `&` stands between what was there and what is added: a query that ends in one gets no
    second, which would leave a pair without a name between them.
    """
    if not parameters:
        return uri
    _, mark, query = uri.partition("?")
    separator = "?" if not mark else "&" if query and not query.endswith("&") else ""
    return f"{uri}{separator}{urlencode(parameters, quote_via=quote)}"


def location(address: str) -> str:
    """The address as a `Location` field holds it: what is percent-encoded stays, all else that must be is."""
    return quote(address, safe="!#$%&'()*+,/:;=?@[]~")
