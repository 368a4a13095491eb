"""What a client reads in a response: the JSON, without the types it was made from."""

from typing import Any, TypeVar

import msgspec

from gatewayd.clock import Instant, from_wire
from gatewayd.contract.pages import Listing
from gatewayd.contract.wire import encode
from gatewayd.money import Credits, Money, to_credits

T = TypeVar("T")

_CURRENCIES = {0: "JPY", 2: "GBP", 3: "KWD"}
"""By fraction digits: of an amount whose currency stands elsewhere in the document any will do that writes it alike."""


def shown(resource: object) -> Any:
    """The members of a resource, or of the page of a listing, as they cross the wire."""
    return msgspec.json.decode(resource.data if isinstance(resource, Listing) else encode(resource))


def read_as(document: bytes, kind: type[T]) -> T:
    """A struct from the JSON that it was written as."""
    return msgspec.json.decode(document, type=kind, dec_hook=_from_text)


def expect_form(document: object, response: Any) -> None:
    """Expect that JSON is of the form of a response, and that the response says no more than the JSON."""
    read = msgspec.convert(document, response, dec_hook=_from_text)
    assert msgspec.json.decode(encode(read)) == document


def _from_text(kind: type, text: Any) -> object:
    if kind is Instant:
        return from_wire(text)
    if kind is Credits:
        return to_credits(text)
    assert kind is Money
    return Money.of(text, _CURRENCIES[len(text.partition(".")[2])])
