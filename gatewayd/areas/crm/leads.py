"""The lead resource: somebody who may become a client. Owns the table `leads` and fires `lead.created` (Spec §6)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd import events
from gatewayd.clock import to_wire
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, SyncRequest
from gatewayd.contract.wire import Email, ExternalId, Id, Name, Request, Response, Timestamp, encode
from gatewayd.errors import external_id_exists
from gatewayd.ledger.lists import sync_page
from gatewayd.store import ReadTx, Row, WriteTx

LeadStatus = Literal["new", "contacted", "qualified", "disqualified", "converted"]  # Chosen: Spec §2 shows none
Source = Annotated[
    str, Meta(min_length=1, max_length=64, description="Where the lead came from.", examples=["website"])
]
Phone = Annotated[str, Meta(max_length=32)]
Notes = Annotated[str, Meta(max_length=4000)]


class Lead(Response, frozen=True, kw_only=True):
    """Somebody who may become a client."""

    id: Id
    external_id: str | None
    source: str
    name: str | None
    email: str | None
    phone: str | None
    company: str | None
    notes: str | None
    status: LeadStatus
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class CreateLead(Request, frozen=True, kw_only=True):
    """A new lead."""

    source: Source
    name: Name | None = None
    email: Email | None = None
    phone: Phone | None = None
    company: Name | None = None
    notes: Notes | None = None
    status: LeadStatus = "new"
    external_id: ExternalId | None = None


class ListLeads(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: LeadStatus | None = None
    source: Source | None = None


_INSERT = """
INSERT INTO leads (id, org_id, external_id, source, name, email, phone, company, notes, status, created_at, updated_at,
    version)
VALUES (:id, :org_id, :external_id, :source, :name, :email, :phone, :company, :notes, :status, :now, :now, 1)
RETURNING id, updated_at, external_id, source, name, email, phone, company, notes, status, created_at, version
"""
_SELECT_PAGE = """
SELECT id, updated_at, external_id, source, name, email, phone, company, notes, status, created_at, version
FROM leads WHERE org_id = :org_id
"""
_SELECT_BY_EXTERNAL_ID = "SELECT id FROM leads WHERE org_id = :org_id AND external_id = :external_id"


def create_lead(tx: WriteTx, caller: Caller, request: CreateLead) -> Lead:
    """Create a lead; fires `lead.created`."""
    if request.external_id is not None:
        existing_id = tx.value(_SELECT_BY_EXTERNAL_ID, external_id=request.external_id)
        if existing_id is not None:
            raise external_id_exists("A lead", existing_id)
    row = tx.row(
        _INSERT,
        id=tx.new_id("lead"),
        external_id=request.external_id,
        source=request.source,
        name=request.name,
        email=request.email,
        phone=request.phone,
        company=request.company,
        notes=request.notes,
        status=request.status,
    )
    assert row is not None  # RETURNING of one inserted row
    lead = _lead(row)
    events.append(tx, "lead.created", {"lead_id": lead.id, "source": lead.source, "status": lead.status})
    return lead


def list_leads(tx: ReadTx, caller: Caller, request: ListLeads) -> Listing:
    """List leads."""
    filters = {"status = :status": request.status, "source = :source": request.source}
    return sync_page(tx, request, _SELECT_PAGE, filters, lambda row: encode(_lead(row)))


def _lead(row: Row) -> Lead:
    lead_id, updated_at, external_id, source, name, email, phone, company, notes, status, created_at, version = row
    return Lead(
        id=lead_id,
        external_id=external_id,
        source=source,
        name=name,
        email=email,
        phone=phone,
        company=company,
        notes=notes,
        status=status,
        created_at=to_wire(created_at),
        updated_at=to_wire(updated_at),
        version=version,
    )


OPERATIONS = (
    Operation(
        id="crm.createLead",
        kind="write",
        method="POST",
        path="/crm/createLead",
        scopes=("crm:write",),
        request=CreateLead,
        response=Lead,
        handler=create_lead,
        errors=("already_exists",),
        extension=True,
        example={
            "source": "website",
            "name": "Priya Shah",
            "email": "priya@example.com",
            "company": "Shah Interiors",
            "status": "new",
        },
    ),
    Operation(
        id="crm.listLeads",
        kind="read",
        method="GET",
        path="/crm/listLeads",
        scopes=("crm:read",),
        request=ListLeads,
        response=Page[Lead],
        handler=list_leads,
        extension=True,
        example={"status": "new", "limit": 20},
    ),
)
