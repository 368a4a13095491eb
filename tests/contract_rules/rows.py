"""Requests of an imagined area, with every kind of field that the real ones have."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import (
    AddressRequest,
    AmountText,
    Currency,
    Date,
    DecimalText,
    Email,
    Id,
    Part,
    Request,
    Version,
)

Colour = Literal["red", "blue"]


class Line(Part, frozen=True, kw_only=True):
    description: Annotated[str, Meta(min_length=1, max_length=20)]
    unit_price: AmountText
    quantity: DecimalText = "1"


class Create(Request, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=10)]
    currency: Currency = "GBP"
    total: AmountText | None = None
    count: int = 0
    few: Annotated[int, Meta(ge=1, le=9)] = 1
    paid: bool = False
    colour: Colour = "red"
    due_date: Date | None = None
    email: Email | None = None
    address: AddressRequest | None = None
    lines: list[Line] = msgspec.field(default_factory=list)
    tags: list[str] = msgspec.field(default_factory=list)
    note: str | UnsetType | None = UNSET


class Update(Request, frozen=True, kw_only=True):
    id: Id
    expected_version: Version | None = None


class Get(Request, frozen=True, kw_only=True):
    id: Id


class Listed(SyncRequest, frozen=True, kw_only=True):
    q: str | None = None
    colour: list[Colour] | None = None
    archived: bool = False
    count: int | None = None


class OtherListed(SyncRequest, frozen=True, kw_only=True):
    q: str | None = None
    colour: list[Colour] | None = None
    archived: bool = False
    count: int | None = None


def decoder(request: type[msgspec.Struct]) -> RequestDecoder:
    return RequestDecoder(row(request))


def row(request: type[msgspec.Struct] = Get) -> Operation:
    return Operation(
        id="things.getThing",
        kind="read",
        method="GET",
        path="/things/:id/parts/:partId",
        scopes=("things:read",),
        request=request,
        response=None,
        handler=lambda tx, caller, req: None,
    )
