"""What valuations of properties look like (Domain B4): requests and responses."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    Date,
    DateText,
    ExternalId,
    Id,
    Request,
    Response,
    Timestamp,
)

Method = Literal["purchase", "surveyor", "agent", "automated", "house_price_index", "owner_estimate", "tribunal"]
Confidence = Literal["low", "medium", "high"]
Source = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["Harbour Surveyors"])]
ValuationNotes = Annotated[str, Meta(max_length=2000)]


class PropertyValuation(Response, frozen=True, kw_only=True):
    """What a property was worth on a day: all of it, whatever part is one's own."""

    id: Id
    external_id: str | None
    property_id: Id
    valuation_date: DateText
    amount: Amount
    currency: str
    method: Method
    source: str | None
    confidence: Confidence | None
    document_id: str | None
    notes: str | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class ListPropertyValuations(PageRequest, frozen=True, kw_only=True):
    """The valuations of a property, latest day first. Dates are inclusive."""

    property_id: Id
    from_date: Date | None = None
    to_date: Date | None = None
    external_id: ExternalId | None = None


class CreatePropertyValuation(Request, frozen=True, kw_only=True):
    """A new valuation, in the currency of the property."""

    property_id: Id
    valuation_date: Date
    amount: AmountText
    currency: Currency | None = None
    method: Method
    source: Source | None = None
    confidence: Confidence | None = None
    document_id: Id | None = None
    notes: ValuationNotes | None = None
    external_id: ExternalId | None = None
