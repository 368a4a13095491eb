"""The lead resource: somebody who may become a client. Owns the table `leads` and fires `lead.created` (Spec §6)."""

from typing import Annotated, Literal

from msgspec import Meta

from gatewayd import events
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage, SyncRequest
from gatewayd.contract.wire import Email, ExternalId, Id, Name, Request, Response, Timestamp
from gatewayd.ledger.lists import table_page
from gatewayd.store import ReadTx, Table, WriteTx

LeadStatus = Literal["new", "contacted", "qualified", "disqualified", "converted"]  # Chosen: Spec §2 shows none
Source = Annotated[str, Meta(min_length=1, max_length=64, examples=["website"])]
Phone = Annotated[str, Meta(max_length=32)]
Notes = Annotated[str, Meta(max_length=4000)]


class Lead(Response, frozen=True, kw_only=True):
    """Somebody who may become a client."""

    id: Id
    external_id: str | None
    source: str
    """Where the lead came from, in your own words."""
    name: str | None
    """Who it is. Null: not known yet."""
    email: str | None
    """Where to write to. Null: not known."""
    phone: str | None
    """Telephone number, as it was given. Null: not known."""
    company: str | None
    """The firm that the person is of. Null: none, or not known."""
    notes: str | None
    """Notes of whoever deals with the lead. Null: none."""
    status: LeadStatus
    """How far it has come, from `new` by `contacted` and `qualified` to `converted` (a client); or `disqualified`."""
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


class GetLead(Request, frozen=True, kw_only=True):
    """Which lead."""

    id: Id


class ListLeads(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    status: LeadStatus | None = None
    """The state to list."""
    source: Source | None = None
    """Where the leads came from."""
    external_id: ExternalId | None = None


LEADS = Table("leads", Lead, kind="lead", prefix="lead")


def create_lead(tx: WriteTx, caller: Caller, request: CreateLead) -> Lead:
    """Create a lead; fires `lead.created`."""
    lead = LEADS.insert(tx, LEADS.new(tx, request))
    events.append(tx, "lead.created", {"lead_id": lead.id, "source": lead.source, "status": lead.status})
    return lead


def get_lead(tx: ReadTx, caller: Caller, request: GetLead) -> Lead:
    """Get one lead."""
    return LEADS.get(tx, request.id)


def list_leads(tx: ReadTx, caller: Caller, request: ListLeads) -> Listing[Lead]:
    """List leads."""
    filters = {
        "status = :status": request.status,
        "source = :source": request.source,
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, LEADS, filters)


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
        id="crm.getLead",
        kind="read",
        method="GET",
        path="/crm/getLead",
        scopes=("crm:read",),
        request=GetLead,
        response=Lead,
        handler=get_lead,
        extension=True,
        example={"id": "lead_01k0000000000000000000000a"},
    ),
    Operation(
        id="crm.listLeads",
        kind="read",
        method="GET",
        path="/crm/listLeads",
        scopes=("crm:read",),
        request=ListLeads,
        response=SyncPage[Lead],
        handler=list_leads,
        extension=True,
        example={"status": "new", "limit": 20},
    ),
)
