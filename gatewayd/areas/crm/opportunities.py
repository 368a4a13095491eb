"""The opportunity resource: business that may be won. Owns the table `opportunities`.

Fires `opportunity.stage_changed` when one moves to a different stage (Spec §6).
# Chosen: stages and pipelines are free text; there is no resource that lists them.
"""

from typing import Annotated

from msgspec import Meta

from gatewayd import events
from gatewayd.clock import to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncRequest
from gatewayd.contract.wire import (
    Amount,
    Currency,
    ExternalId,
    Id,
    Name,
    Request,
    Response,
    Timestamp,
    Version,
    encode,
)
from gatewayd.errors import external_id_exists, invalid_field, not_found, version_conflict
from gatewayd.ledger.lists import sync_page
from gatewayd.money import Minor, from_minor, to_minor
from gatewayd.store import ReadTx, Row, WriteTx

KIND = "opportunity"
FIRST_STAGE = "new"  # Chosen

Label = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^\S(.*\S)?$")]
Stage = Annotated[Label, Meta(description="A stage of the pipeline, in your own words.", examples=["proposal"])]


class Opportunity(Response, frozen=True, kw_only=True):
    """Business that may be won."""

    id: Id
    external_id: str | None
    lead_id: str | None
    name: str
    pipeline_id: str
    stage: str
    amount: Amount | None
    currency: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class CreateOpportunity(Request, frozen=True, kw_only=True):
    """A new opportunity."""

    name: Name
    lead_id: Id | None = None
    pipeline_id: Label = "default"
    stage: Stage = FIRST_STAGE
    amount: Amount | None = None
    currency: Currency = "GBP"
    external_id: ExternalId | None = None


class MoveOpportunity(Request, frozen=True, kw_only=True):
    """Which opportunity, and where to."""

    id: Id
    stage: Stage
    expected_version: Version | None = None


class ListOpportunities(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    lead_id: Id | None = None
    pipeline_id: Label | None = None
    stage: Label | None = None


_INSERT = """
INSERT INTO opportunities (id, org_id, external_id, lead_id, name, pipeline_id, stage, amount, currency, created_at,
    updated_at, version)
VALUES (:id, :org_id, :external_id, :lead_id, :name, :pipeline_id, :stage, :amount, :currency, :now, :now, 1)
RETURNING id, updated_at, external_id, lead_id, name, pipeline_id, stage, amount, currency, created_at, version
"""
_SELECT_PAGE = """
SELECT id, updated_at, external_id, lead_id, name, pipeline_id, stage, amount, currency, created_at, version
FROM opportunities WHERE org_id = :org_id
"""
_SELECT_ONE = f"{_SELECT_PAGE} AND id = :id"
_SELECT_BY_EXTERNAL_ID = "SELECT id FROM opportunities WHERE org_id = :org_id AND external_id = :external_id"
_SELECT_LEAD = "SELECT id FROM leads WHERE org_id = :org_id AND id = :lead_id"
_SELECT_ORGANIZATION = "SELECT org_id FROM opportunities WHERE id = :id"
_MOVE = """
UPDATE opportunities SET stage = :stage, updated_at = :now, version = version + 1 WHERE org_id = :org_id AND id = :id
RETURNING id, updated_at, external_id, lead_id, name, pipeline_id, stage, amount, currency, created_at, version
"""


def create_opportunity(tx: WriteTx, caller: Caller, request: CreateOpportunity) -> Opportunity:
    """Create an opportunity. Its first stage is no move and fires nothing."""
    if request.lead_id is not None and tx.row(_SELECT_LEAD, lead_id=request.lead_id) is None:
        raise invalid_field("leadId", "unknown_reference", "There is no such lead.")
    amount = _minor(request.amount, request.currency)
    if request.external_id is not None:
        existing_id = tx.value(_SELECT_BY_EXTERNAL_ID, external_id=request.external_id)
        if existing_id is not None:
            raise external_id_exists("An opportunity", existing_id)
    row = tx.row(
        _INSERT,
        id=tx.new_id("opp"),
        external_id=request.external_id,
        lead_id=request.lead_id,
        name=request.name,
        pipeline_id=request.pipeline_id,
        stage=request.stage,
        amount=amount,
        currency=request.currency,
    )
    assert row is not None  # RETURNING of one inserted row
    return _opportunity(row)


def move_opportunity(tx: WriteTx, caller: Caller, request: MoveOpportunity) -> Opportunity:
    """Move an opportunity to another stage; fires `opportunity.stage_changed`.

    A move to the stage it is in changes nothing and fires nothing.
    """
    row = tx.row(_SELECT_ONE, id=request.id)
    if row is None:
        raise not_found(KIND)
    before = _opportunity(row)
    if request.expected_version is not None and request.expected_version != before.version:
        raise version_conflict(request.expected_version, before.version)
    if request.stage == before.stage:
        return before
    moved = tx.row(_MOVE, id=request.id, stage=request.stage)
    assert moved is not None  # it was there a moment ago in this transaction
    data = {
        "opportunity_id": before.id,
        "pipeline_id": before.pipeline_id,
        "from_stage": before.stage,
        "to_stage": request.stage,
        "changed_by": caller.reference,
        "lead_id": before.lead_id,
    }
    events.append(tx, "opportunity.stage_changed", data)
    return _opportunity(moved)


def list_opportunities(tx: ReadTx, caller: Caller, request: ListOpportunities) -> Listing:
    """List opportunities."""
    filters = {
        "lead_id = :lead_id": request.lead_id,
        "pipeline_id = :pipeline_id": request.pipeline_id,
        "stage = :stage": request.stage,
    }
    return sync_page(tx, request, _SELECT_PAGE, filters, lambda row: encode(_opportunity(row)))


def org_of(tx: ReadTx, opportunity_id: str) -> str:
    """The organization of an opportunity, for the operator. Raises `Problem` `not_found`."""
    org_id = tx.value(_SELECT_ORGANIZATION, id=opportunity_id)
    if org_id is None:
        raise not_found(KIND)
    return str(org_id)


def _minor(amount: str | None, currency: str) -> Minor | None:
    if amount is None:
        return None
    try:
        minor = to_minor(amount, currency)
    except ValueError as error:
        raise invalid_field("amount", "invalid_decimal", f"{error}.") from None
    if minor < 0:
        raise invalid_field("amount", "out_of_range", "An opportunity is worth nothing or more.")
    return minor


def _opportunity(row: Row) -> Opportunity:
    opportunity_id, updated_at, external_id, lead_id, name, pipeline_id, stage, amount, currency, *rest = row
    created_at, version = rest
    return Opportunity(
        id=opportunity_id,
        external_id=external_id,
        lead_id=lead_id,
        name=name,
        pipeline_id=pipeline_id,
        stage=stage,
        amount=None if amount is None else from_minor(amount, currency),
        currency=currency,
        created_at=to_wire(created_at),
        updated_at=to_wire(updated_at),
        version=version,
    )


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
        example={"name": "Shah Interiors: bookkeeping", "stage": "proposal", "amount": "2400.00", "currency": "GBP"},
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
        id="crm.listOpportunities",
        kind="read",
        method="GET",
        path="/crm/listOpportunities",
        scopes=("crm:read",),
        request=ListOpportunities,
        response=Page[Opportunity],
        handler=list_opportunities,
        extension=True,
        example={"stage": "proposal", "limit": 20},
    ),
)
