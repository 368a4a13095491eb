"""Renaming, suspending and deleting organizations. Extensions, for administrators of the instance (Domain A8).

They act for an organization of their own, and on any.
"""

from typing import Annotated

from msgspec import Meta

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, listing_of
from gatewayd.contract.wire import Id, Request
from gatewayd.errors import invalid_field
from gatewayd.identity.people import organizations, suspensions
from gatewayd.identity.people.organizations import NAME_LENGTH_MAX, ZONE_LENGTH_MAX, Organization
from gatewayd.identity.people.users import require_administrator
from gatewayd.store import ReadTx, WriteTx

Name = Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH_MAX)]
TimeZone = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=ZONE_LENGTH_MAX,
        description="An IANA name. Days on which credits end are over at its midnights; what was given before stays.",
        examples=["Europe/Paris"],
    ),
]
Reason = Annotated[
    str, Meta(max_length=suspensions.REASON_MAX, description="It is told to whoever is refused.", examples=["Unpaid."])
]


class ListOrganizations(PageRequest, frozen=True, kw_only=True):
    """The list of organizations."""


class RenameOrganization(Request, frozen=True, kw_only=True):
    """Which organization, and what changes. One of `name` and `timeZone` is needed."""

    id: Id
    name: Name | None = None
    """What it is called from now on."""
    time_zone: TimeZone | None = None


class SuspendOrganization(Request, frozen=True, kw_only=True):
    """Which organization, and why."""

    id: Id
    reason: Reason | None = None


class ResumeOrganization(Request, frozen=True, kw_only=True):
    """Which organization."""

    id: Id


class DeleteOrganization(Request, frozen=True, kw_only=True):
    """Which organization to delete."""

    id: Id
    name: Name
    """What it is called now, so that no other is deleted by mistake."""


def list_organizations(tx: ReadTx, caller: Caller, request: ListOrganizations) -> Listing[Organization]:
    """List every organization of the instance, the newest first. An administrator of the instance does."""
    require_administrator(tx, caller)
    newest_first = reversed(organizations.list_all(tx))
    return listing_of(request, newest_first, lambda organization: organization.id, descending=True)


def rename_organization(tx: WriteTx, caller: Caller, request: RenameOrganization) -> Organization:
    """Give an organization another name, or another time zone. An administrator of the instance does.

    The zone is that of credits: days of the books and of taxes are London's.
    """
    require_administrator(tx, caller)
    if request.name is None and request.time_zone is None:
        raise invalid_field("name", "required", "Nothing is to be changed: give `name`, `timeZone`, or both.")
    if request.time_zone is not None:
        organizations.set_time_zone(tx, request.id, request.time_zone, caller.reference)
    if request.name is not None:
        organizations.rename(tx, request.id, request.name, caller.reference)
    return organizations.get(tx, request.id)


def suspend_organization(tx: WriteTx, caller: Caller, request: SuspendOrganization) -> Organization:
    """Let nobody act for an organization until it is resumed. An administrator of the instance does.

    Its keys and tokens are refused with `organization_suspended`, its links, upload URLs and feeds are not found, its
    webhooks wait, and nothing of it is ended.
    """
    require_administrator(tx, caller)
    return suspensions.suspend(tx, request.id, request.reason, caller.reference)


def resume_organization(tx: WriteTx, caller: Caller, request: ResumeOrganization) -> Organization:
    """Let in again whom a suspended organization let in before. An administrator of the instance does."""
    require_administrator(tx, caller)
    return suspensions.resume(tx, request.id, caller.reference)


def delete_organization(tx: WriteTx, caller: Caller, request: DeleteOrganization) -> Organization:
    """Delete an organization with all that it has, documents too. An administrator of the instance does.

    Nobody acts for it from now on; what it has goes in pieces within the next minutes, and cannot be brought back. Its
    people stay, as members of nothing or of others.
    """
    require_administrator(tx, caller)
    if organizations.get(tx, request.id).name != request.name:
        raise invalid_field("name", "conflict", "The organization is called otherwise.")
    return suspensions.begin_deletion(tx, request.id, caller.reference)


_ID = "org_01k0000000000000000000000a"

OPERATIONS = (
    Operation(
        id="organizations.list",
        kind="read",
        method="GET",
        path="/organizations/list",
        scopes=("billing:read",),
        request=ListOrganizations,
        response=Page[Organization],
        handler=list_organizations,
        errors=("forbidden", "invalid_cursor"),
        extension=True,
    ),
    Operation(
        id="organizations.rename",
        kind="write",
        method="POST",
        path="/organizations/rename",
        scopes=("billing:write",),
        request=RenameOrganization,
        response=Organization,
        handler=rename_organization,
        errors=("forbidden", "invalid_format", "out_of_range", "required"),
        extension=True,
        example={"id": _ID, "name": "Fern Accounting"},
    ),
    Operation(
        id="organizations.suspend",
        kind="write",
        method="POST",
        path="/organizations/suspend",
        scopes=("billing:write",),
        request=SuspendOrganization,
        response=Organization,
        handler=suspend_organization,
        errors=("forbidden",),
        extension=True,
        example={"id": _ID, "reason": "The invoice of March is not paid."},
    ),
    Operation(
        id="organizations.resume",
        kind="write",
        method="POST",
        path="/organizations/resume",
        scopes=("billing:write",),
        request=ResumeOrganization,
        response=Organization,
        handler=resume_organization,
        errors=("forbidden", "invalid_state"),
        extension=True,
        example={"id": _ID},
    ),
    Operation(
        id="organizations.delete",
        kind="write",
        method="POST",
        path="/organizations/delete",
        scopes=("billing:write",),
        request=DeleteOrganization,
        response=Organization,
        handler=delete_organization,
        errors=("conflict", "forbidden"),
        extension=True,
        example={"id": _ID, "name": "Fern Bookkeeping"},
    ),
)
