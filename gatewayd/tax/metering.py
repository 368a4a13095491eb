"""Whether the tax authority was asked, which may have a price (Domain B8)."""

from gatewayd.http1.response import Response
from gatewayd.tax.headers import AGE, value_of


def was_forwarded(response: Response) -> bool:
    """Whether the authority was asked for an answer: one that a cache gave says how old it is (RFC 9111 §5.1)."""
    return value_of(response.headers, AGE) is None
