"""The types that cross the wire, and how structs become bytes."""

import datetime
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Meta

from gatewayd.clock import Instant, to_wire
from gatewayd.contract import countries
from gatewayd.money import (
    AMOUNT_PATTERN,
    CREDITS_PATTERN,
    CURRENCIES,
    DECIMAL_PATTERN,
    Credits,
    Money,
    credits_text,
    from_minor,
)

T = TypeVar("T")


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Root of request structs. camelCase on the wire; unknown names are refused (domain model §0.2)."""

    former_names: ClassVar[Mapping[str, str]] = {}
    """Names that members had before, each with the one of now: see `contract/former_names.py`."""


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Root of response structs. No field has a default, so none can be left out."""


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Root of structs that stand inside requests and responses alike."""


class Rendered(bytes, Generic[T]):
    """A whole response `T` that is JSON already."""

    __slots__ = ()


_AMOUNT_TEXT = "Money: a decimal string, padded to the currency's minor unit in answers."
AmountText = Annotated[
    str,
    Meta(
        pattern=AMOUNT_PATTERN,
        extra={"code": "invalid_decimal"},
        description=_AMOUNT_TEXT,
        examples=["1234.50"],
    ),
]
Amount = Annotated[
    Money,
    Meta(
        description=_AMOUNT_TEXT,
        examples=["1234.50"],
        extra_json_schema={"type": "string", "pattern": AMOUNT_PATTERN},
    ),
]
"""Money of the `currency` that stands beside it in the same response."""
_CREDITS_TEXT = "Credits: a decimal string of at most 6 fraction digits."
CreditsText = Annotated[
    str,
    Meta(
        pattern=CREDITS_PATTERN,
        extra={"code": "invalid_decimal"},
        description=_CREDITS_TEXT,
        examples=["12.5"],
    ),
]
CreditAmount = Annotated[
    Credits,
    Meta(
        description=_CREDITS_TEXT,
        examples=["12.5"],
        extra_json_schema={"type": "string", "pattern": CREDITS_PATTERN},
    ),
]
DecimalText = Annotated[
    str,
    Meta(
        pattern=DECIMAL_PATTERN,
        extra={"code": "invalid_decimal", "canonical": True},
        description="A quantity, price or rate: a decimal string of at most 12 fraction digits.",
        examples=["7.5"],
    ),
]
Flat = Annotated[T, Meta(extra={"flat": True})]
"""A struct that is stored in columns of its own, so that they can be asked for."""
CanonicalDecimal = Annotated[str, Meta(extra={"canonical": True})]
"""A decimal of a response, in the canonical form that is stored."""
Currency = Annotated[
    str,
    Meta(
        title="Currency",
        pattern=f"^({'|'.join(sorted(CURRENCIES))})$",
        extra={"code": "invalid_enum", "form": "a currency code in capital letters"},
        description="ISO 4217, upper case.",
        examples=["GBP"],
    ),
]
CountryCode = Annotated[
    str,
    Meta(
        title="CountryCode",
        pattern=countries.pattern(),
        extra={"code": "invalid_enum", "form": "a country code of two capital letters"},
        description="ISO 3166-1 alpha-2, upper case; the United Kingdom is GB.",
        examples=["GB"],
    ),
]
Date = Annotated[datetime.date, Meta(description="A civil date in Europe/London.", examples=["2026-11-20"])]
Since = Annotated[datetime.datetime, Meta(tz=True, description="UTC timestamp.", examples=["2026-11-20T09:30:00Z"])]
DateText = Annotated[str, Meta(description="A civil date in Europe/London.", extra_json_schema={"format": "date"})]
"""A date of a response: ISO text, as it is stored and compared."""
Timestamp = Annotated[
    Instant,
    Meta(
        description="UTC, ISO 8601 with Z and milliseconds.",
        examples=["2026-11-20T09:30:00.125Z"],
        extra_json_schema={"format": "date-time", "type": "string"},
    ),
]
Id = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        extra={"form": "an id of 1 to 64 characters"},
        description="Identifier with a prefix that tells its kind.",
    ),
]
ExternalId = Annotated[
    str, Meta(min_length=1, max_length=128, description="Your own identifier, unique per kind of resource.")
]
Name = Annotated[str, Meta(min_length=1, max_length=160)]
Email = Annotated[
    str,
    Meta(
        max_length=254,
        pattern=r"^[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+$",
        extra={"form": "an e-mail address"},
        examples=["accounts@example.com"],
    ),
]
Search = Annotated[str, Meta(min_length=1, max_length=200, description="Text to look for, in any letter case.")]
Version = Annotated[
    int, Meta(ge=1, description="The version you last read; another one stored answers `version_conflict`.")
]


class Address(Part, frozen=True, kw_only=True):
    """A postal address, as it is kept. Its country may be of before only those that are assigned were taken."""

    line1: Annotated[str, Meta(min_length=1, max_length=160)]
    """The first line: number and street, or the name of a building."""
    line2: Annotated[str, Meta(max_length=160)] | None = None
    """The second line. Null: none."""
    town: Annotated[str, Meta(max_length=80)] | None = None
    """The post town. Null: none."""
    county: Annotated[str, Meta(max_length=80)] | None = None
    """County, state or province. Null: none."""
    postcode: Annotated[str, Meta(max_length=16)] | None = None
    """Postcode, as it was written. Null: none."""
    country_code: Annotated[str, Meta(pattern="^[A-Z]{2}$", description="ISO 3166-1 alpha-2.", examples=["GB"])]
    """The country, ISO 3166-1 alpha-2; the United Kingdom is GB."""


class AddressRequest(Address, frozen=True, kw_only=True):
    """A postal address."""

    line1: Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
    country_code: CountryCode


def _as_text(value: Any) -> str:
    """The JSON form of what msgspec does not know."""
    kind = type(value)
    if kind is Money:
        return from_minor(value.minor, value.currency)
    if kind is Instant:
        return to_wire(value)
    if kind is Credits:
        return credits_text(value)
    raise NotImplementedError(f"{type(value)} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_as_text)
encode = _encoder.encode


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON Schema of what msgspec does not know: nothing, for its annotations say all of it."""
    if kind in (Credits, Instant, Money):
        return {}
    raise NotImplementedError(f"{kind} has no JSON form")


W = TypeVar("W", bound=msgspec.Struct)


def project(resource: msgspec.Struct, response: type[W], **members: object) -> W:
    """The response that a resource gives: its fields of the same names, and `members` beside them or in their place."""
    names, values = _shared(response, tuple(members))
    return response(**dict(zip(names, values(resource), strict=True)), **members)


@functools.cache  # of the program's own responses
def _shared(response: type[msgspec.Struct], members: tuple[str, ...]) -> tuple[list[str], Callable[[Any], Any]]:
    """The names of a response's other members, and what gets their values from a resource."""
    names = [name for name in response.__struct_fields__ if name not in members]
    return names, operator.attrgetter(*names)


def open_wire(resource: msgspec.Struct, response: type[msgspec.Struct] | None = None) -> bytes:
    """The JSON of `resource` without its closing brace, so that members of today can be appended to stored bytes.

    `response` is a class that the resource's own extends by fields which are not served.
    """
    wire: bytes = encode(resource)
    return wire[:-1] if response is None else wire[: wire.rindex(_first_beyond(type(resource), response))]


@functools.cache  # of the program's own rows
def _first_beyond(row: type[msgspec.Struct], response: type[msgspec.Struct]) -> bytes:
    """Where the JSON of a row leaves that of a response: fields of a subclass come last, and names have no escapes."""
    names = row.__struct_encode_fields__[len(response.__struct_fields__) :]
    return b',"%b":' % names[0].encode()
