"""The types that cross the wire, and how structs become bytes."""

import datetime
from typing import Annotated, NewType

import msgspec
from msgspec import Meta

from gatewayd.money import AMOUNT_PATTERN, CURRENCIES, DECIMAL_PATTERN


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Root of request structs. camelCase on the wire; unknown names are refused (domain model §0.2)."""


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Root of response structs. No field has a default, so none can be left out."""


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Root of structs that stand inside requests and responses alike."""


Rendered = NewType("Rendered", bytes)
"""A whole response that is JSON already."""

Amount = Annotated[
    str,
    Meta(
        pattern=AMOUNT_PATTERN,
        extra={"code": "invalid_decimal"},
        description="Money: a decimal string, padded to the currency's minor unit in answers.",
        examples=["1234.50"],
    ),
]
DecimalText = Annotated[
    str,
    Meta(
        pattern=DECIMAL_PATTERN,
        extra={"code": "invalid_decimal"},
        description="A quantity, price or rate: a decimal string of at most 12 fraction digits.",
        examples=["7.5"],
    ),
]
Currency = Annotated[
    str,
    Meta(
        pattern=f"^({'|'.join(sorted(CURRENCIES))})$",
        extra={"code": "invalid_enum"},
        description="ISO 4217, upper case.",
        examples=["GBP"],
    ),
]
CountryCode = Annotated[str, Meta(pattern="^[A-Z]{2}$", description="ISO 3166-1 alpha-2, upper case.", examples=["GB"])]
Date = Annotated[datetime.date, Meta(description="A civil date in Europe/London.", examples=["2026-11-20"])]
Since = Annotated[datetime.datetime, Meta(tz=True, description="UTC timestamp.", examples=["2026-11-20T09:30:00Z"])]
Timestamp = Annotated[
    str,
    Meta(
        description="UTC, ISO 8601 with Z and milliseconds.",
        examples=["2026-11-20T09:30:00.125Z"],
        extra_json_schema={"format": "date-time"},
    ),
]
Id = Annotated[str, Meta(min_length=1, max_length=64, description="Identifier with a prefix that tells its kind.")]
ExternalId = Annotated[
    str, Meta(min_length=1, max_length=128, description="Your own identifier, unique per kind of resource.")
]
Name = Annotated[str, Meta(min_length=1, max_length=160)]
Email = Annotated[
    str, Meta(max_length=254, pattern=r"^[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+$", examples=["accounts@example.com"])
]
Search = Annotated[str, Meta(min_length=1, max_length=200, description="Text to look for, in any letter case.")]
Version = Annotated[
    int, Meta(ge=1, description="The version you last read; another one stored answers `version_conflict`.")
]


class Address(Part, frozen=True, kw_only=True):
    """A postal address."""

    line1: Annotated[str, Meta(min_length=1, max_length=160)]
    line2: Annotated[str, Meta(max_length=160)] | None = None
    town: Annotated[str, Meta(max_length=80)] | None = None
    county: Annotated[str, Meta(max_length=80)] | None = None
    postcode: Annotated[str, Meta(max_length=16)] | None = None
    country_code: CountryCode


_encoder = msgspec.json.Encoder()
encode = _encoder.encode


def open_wire(resource: Response) -> bytes:
    """The JSON of `resource` without its closing brace, so that members of today can be appended to stored bytes."""
    return encode(resource)[:-1]
