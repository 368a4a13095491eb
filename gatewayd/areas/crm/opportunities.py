"""The opportunity resource: business that may be won. Owns the table `opportunities`.

Fires `opportunity.stage_changed` when one moves to a different stage (Spec §6).
# Chosen: stages and pipelines are free text; there is no resource that lists them.
"""

from typing import Annotated

from msgspec import Meta

from gatewayd import events
from gatewayd.areas.crm.leads import LEADS
from gatewayd.contract.caller import Caller
from gatewayd.contract.faults import made_of
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage, SyncRequest
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    ExternalId,
    Id,
    Name,
    Request,
    Response,
    Timestamp,
    Version,
)
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.lists import table_page
from gatewayd.store import ReadTx, Table, WriteTx

FIRST_STAGE = "new"  # Chosen

Label = Annotated[
    str,
    Meta(
        min_length=1, max_length=64, pattern=r"^\S(.*\S)?$", extra={"form": "one line of text without spaces around it"}
    ),
]
Stage = Annotated[Label, Meta(description="A stage of the pipeline, in your own words.", examples=["proposal"])]


class Opportunity(Response, frozen=True, kw_only=True):
    """Business that may be won."""

    id: Id
    external_id: str | None
    lead_id: str | None
    """The lead that it came from. Null: none."""
    name: str
    """What may be won, in a line."""
    pipeline_id: str
    """The pipeline whose stages it passes, under a name of your own."""
    stage: str
    """The stage of the pipeline that it is in, under a name of your own."""
    amount: Amount | None
    """What it would bring, of `currency`; 0 or more. Null: nobody can say yet."""
    currency: str
    """The currency of `amount`."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class CreateOpportunity(Request, frozen=True, kw_only=True):
    """A new opportunity."""

    name: Name
    lead_id: Id | None = None
    pipeline_id: Label = "default"
    stage: Stage = FIRST_STAGE
    amount: AmountText | None = None
    currency: Currency = "GBP"
    external_id: ExternalId | None = None


class MoveOpportunity(Request, frozen=True, kw_only=True):
    """Which opportunity, and where to."""

    id: Id
    stage: Stage
    expected_version: Version | None = None


class GetOpportunity(Request, frozen=True, kw_only=True):
    """Which opportunity."""

    id: Id


class ListOpportunities(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    lead_id: Id | None = None
    """The lead that they came from."""
    pipeline_id: Label | None = None
    """The pipeline to list."""
    stage: Label | None = None
    """The stage to list."""
    external_id: ExternalId | None = None


OPPORTUNITIES = Table("opportunities", Opportunity, kind="opportunity", prefix="opp")


def create_opportunity(tx: WriteTx, caller: Caller, request: CreateOpportunity) -> Opportunity:
    """Create an opportunity. Its first stage is no move and fires nothing."""
    errors: list[FieldError] = []
    if request.lead_id is not None and LEADS.find(tx, request.lead_id) is None:
        message = "There is no such lead: `crm.listLeads` lists those there are."
        errors.append(FieldError("leadId", "unknown_reference", message))
    opportunity = made_of(errors, lambda asked: OPPORTUNITIES.new(tx, asked), request)
    if opportunity.amount is not None and opportunity.amount.minor < 0:
        errors.append(FieldError("amount", "out_of_range", "Expected 0 or more."))
    if errors:
        raise invalid(*errors)
    return OPPORTUNITIES.insert(tx, opportunity)


def move_opportunity(tx: WriteTx, caller: Caller, request: MoveOpportunity) -> Opportunity:
    """Move an opportunity to another stage; fires `opportunity.stage_changed`.

    A move to the stage it is in changes nothing and fires nothing.
    """
    before = OPPORTUNITIES.get(tx, request.id, request.expected_version)
    if request.stage == before.stage:
        return before
    after = OPPORTUNITIES.update(tx, OPPORTUNITIES.changed(before, request))
    data = {
        "opportunity_id": after.id,
        "pipeline_id": after.pipeline_id,
        "from_stage": before.stage,
        "to_stage": after.stage,
        "changed_by": caller.reference,
        "lead_id": after.lead_id,
    }
    events.append(tx, "opportunity.stage_changed", data)
    return after


def get_opportunity(tx: ReadTx, caller: Caller, request: GetOpportunity) -> Opportunity:
    """Get one opportunity."""
    return OPPORTUNITIES.get(tx, request.id)


def list_opportunities(tx: ReadTx, caller: Caller, request: ListOpportunities) -> Listing[Opportunity]:
    """List opportunities."""
    filters = {
        "lead_id = :lead_id": request.lead_id,
        "pipeline_id = :pipeline_id": request.pipeline_id,
        "stage = :stage": request.stage,
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, OPPORTUNITIES, filters)


OPERATIONS = (
    Operation(
        id="crm.createOpportunity",
        kind="write",
        method="POST",
        path="/crm/createOpportunity",
        scopes=("crm:write",),
        request=CreateOpportunity,
        response=Opportunity,
        handler=create_opportunity,
        errors=("already_exists",),
        extension=True,
        example={"name": "Shah Interiors: fitted shelves", "stage": "proposal", "amount": "2400.00", "currency": "GBP"},
    ),
    Operation(
        id="crm.moveOpportunity",
        kind="write",
        method="POST",
        path="/crm/moveOpportunity",
        scopes=("crm:write",),
        request=MoveOpportunity,
        response=Opportunity,
        handler=move_opportunity,
        errors=("version_conflict",),
        extension=True,
        example={"id": "opp_01k0000000000000000000000a", "stage": "won"},
    ),
    Operation(
        id="crm.getOpportunity",
        kind="read",
        method="GET",
        path="/crm/getOpportunity",
        scopes=("crm:read",),
        request=GetOpportunity,
        response=Opportunity,
        handler=get_opportunity,
        extension=True,
        example={"id": "opp_01k0000000000000000000000a"},
    ),
    Operation(
        id="crm.listOpportunities",
        kind="read",
        method="GET",
        path="/crm/listOpportunities",
        scopes=("crm:read",),
        request=ListOpportunities,
        response=SyncPage[Opportunity],
        handler=list_opportunities,
        extension=True,
        example={"stage": "proposal", "limit": 20},
    ),
)
