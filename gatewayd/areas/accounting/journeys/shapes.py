"""Requests and answers of journeys, which are stored as they are answered."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd.areas.accounting.journeys.rates import VehicleKind
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    CanonicalDecimal,
    Date,
    DateText,
    DecimalText,
    ExternalId,
    Id,
    Request,
    Response,
    Timestamp,
    Version,
)

Place = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["Workshop, Leeds"])]
Purpose = Annotated[str, Meta(min_length=1, max_length=400, pattern=r"\S", examples=["Measuring at Harbour Ltd"])]
Vehicle = Annotated[str, Meta(min_length=1, max_length=40, pattern=r"\S", examples=["AB12 CDE"])]
Driver = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["Ann Oak"])]
Passengers = Annotated[int, Meta(ge=0, le=8)]


class Journey(Response, frozen=True, kw_only=True):
    """A journey on business by a vehicle of one's own, and what it comes to."""

    id: Id
    external_id: str | None
    legal_entity_id: Id
    """The legal entity of the business."""
    business_id: Id
    """The business for which it was made, wholly."""
    tax_year: str
    """The tax year of `date`, in which the 10,000 miles are counted."""
    date: DateText
    """The day of the journey."""
    vehicle_kind: VehicleKind
    """What it was made by. `van` is any goods vehicle; a bicycle is paid for by employers alone."""
    vehicle: str
    """Which vehicle, such as its registration."""
    driver: str | None
    """The employee who drove, of whose miles the first 10,000 have the higher rate. Null: the business has none."""
    miles: CanonicalDecimal
    """How far, there and back where both were on business."""
    from_place: str
    """Where it began."""
    to_place: str
    """Where it led."""
    purpose: str
    """What it was for."""
    passengers: int
    """How many other employees came along on business; an employer may pay 5p a mile for each."""
    full_rate_miles: CanonicalDecimal
    """Of `miles`, those at the higher rate; all of them where the vehicle has one rate."""
    amount: Amount
    """What it comes to at the published rates. It may change while others of its tax year are entered, but for
    journeys in closed periods."""
    currency: str
    """Always GBP."""
    allocation_id: Id
    """The entry of `banking.listAllocations` by which profit and loss counts it."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class JourneyWarning(Response, frozen=True, kw_only=True):
    """What the law asks beside the miles, and nobody here can know."""

    code: str
    """`vehicle_for_good`: it is the first journey of a vehicle, which then has no other costs; `vehicle_costs_claimed`:
    costs of vehicles and travel are in the same year's books; `rate_unsettled`: the rate may have been raised."""
    message: str
    """What to look at, for people."""


class EnteredJourney(Journey, frozen=True, kw_only=True):
    """A journey as it was entered or changed, with what is to be looked at."""

    warnings: list[JourneyWarning]
    """What the law asks beside the miles. Empty: nothing."""


class ListJourneys(SyncRequest, frozen=True, kw_only=True):
    """Which journeys."""

    business_id: Id | None = None
    legal_entity_id: Id | None = None
    vehicle_kind: VehicleKind | None = None
    vehicle: Vehicle | None = None
    """Only those of this vehicle, as it was entered."""
    driver: Driver | None = None
    """Only those that this employee drove, as entered."""
    from_date: Date | None = None
    """The first day of journeys, inclusive."""
    to_date: Date | None = None
    """The last day of journeys, inclusive."""
    external_id: ExternalId | None = None


class GetJourney(Request, frozen=True, kw_only=True):
    """Which journey."""

    journey_id: Id


class CreateJourney(Request, frozen=True, kw_only=True):
    """A journey that was made."""

    business_id: Id
    date: Date
    vehicle_kind: VehicleKind
    vehicle: Vehicle
    miles: DecimalText
    """How far, to a tenth of a mile: there and back where both were on business. Above 0, and below 10,000."""
    from_place: Place
    to_place: Place
    purpose: Purpose
    driver: Driver | None = None
    """The employee who drove: asked for where the business is a company's, a charity's or a club's."""
    passengers: Passengers = 0
    external_id: ExternalId | None = None


@updates(CreateJourney, of=Journey, without=("business_id",))
class UpdateJourney(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears."""

    journey_id: Id
    expected_version: Version | None = None


class DeleteJourney(Request, frozen=True, kw_only=True):
    """Which journey was none."""

    journey_id: Id
    expected_version: Version | None = None


class DeletedJourney(Response, frozen=True, kw_only=True):
    """The journey that was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""
