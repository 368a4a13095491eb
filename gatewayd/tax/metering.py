"""What asking the tax authority may be priced as (Domain B8): one call of ours, however many requests it takes."""

from typing import Final

from gatewayd.http1.response import Response
from gatewayd.tax.headers import AGE, value_of

FORWARDED: Final = "tax.forward"


def was_forwarded(response: Response) -> bool:
    """Whether the authority was asked for an answer: one that a cache gave says how old it is (RFC 9111 §5.1)."""
    return value_of(response.headers, AGE) is None
