"""Entries that an administrator of the instance makes (Domain B8): refunds, adjustments, imports. Extensions."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.areas.billing import entering
from gatewayd.areas.billing.administration import positive, record, signed
from gatewayd.areas.billing.costs import IMPORTED, PricedWork, name_fault
from gatewayd.areas.billing.entering import ImportedEntry
from gatewayd.areas.billing.grants import Description
from gatewayd.clock import from_moment
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.wire import CreditsText, ExternalId, Id, Part, Request, Response, Since, project
from gatewayd.errors import FieldError, invalid
from gatewayd.identity.people.users import require_administrator
from gatewayd.ledger.credits.shapes import LedgerEntry, OperationName
from gatewayd.store import WriteTx

MOST_IMPORTED: Final = 250  # Chosen: in one transaction, which holds up others for 0.15 s


class RefundEntry(Request, frozen=True, kw_only=True):
    """Which usage to give back, and how much of it."""

    id: Id
    """The entry of usage."""
    amount: CreditsText | None = None
    """How many credits are given back. By default all that were not refunded yet."""
    description: Description | None = None


class AdjustCredits(Request, frozen=True, kw_only=True):
    """Credits to add or to take, where nothing else fits."""

    amount: CreditsText
    """How many credits are added, or below 0 taken."""
    description: Description
    """Why; kept with the entries."""


class ImportEntry(Part, frozen=True, kw_only=True):
    """One entry of another ledger."""

    occurred_at: Since
    """When it occurred there; not in the future."""
    type: Literal["grant", "purchase", "usage", "adjustment"]
    """What it was: credits given or bought, used, or put right."""
    amount: CreditsText
    """How many credits: below 0 for usage, above 0 for grants and purchases, either for adjustments."""
    description: Description | None = None
    """What was said of it there."""
    external_id: ExternalId | None = None
    """The entry's own identifier there; one that was imported before is left out, whatever else it says."""
    operation: OperationName | None = None
    """What was used, under its name here. By default `billing.importEntries`; of usage alone."""


class ImportEntries(Request, frozen=True, kw_only=True):
    """Entries of another ledger."""

    entries: Annotated[list[ImportEntry], Meta(min_length=1, max_length=MOST_IMPORTED)]
    """The entries, in the order in which they are booked: what is used has to be given before."""
    source: Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S", examples=["credits.csv"])]
    """What they were taken from, such as the name of the file."""


class BookedEntries(Response, frozen=True, kw_only=True):
    """What was entered: several where several grants were drawn from."""

    data: list[LedgerEntry]


class ImportedEntries(Response, frozen=True, kw_only=True):
    """What became of an import."""

    import_id: str
    """The import, as its entries name it."""
    added: int
    """How many of the given entries were added."""
    duplicates: int
    """How many were left out, since they were imported before."""


def refund_entry(tx: WriteTx, caller: Caller, request: RefundEntry) -> LedgerEntry:
    """Give back what was used, in an entry of its own. An administrator of the instance does.

    The credits go back to the grant they came from, or to a new one where that has expired or was voided.
    """
    require_administrator(tx, caller)
    amount = None if request.amount is None else positive("amount", request.amount)
    entry = entering.refund(tx, request.id, amount, request.description)
    record(tx, caller, "credits.refunded", entry.id)
    return project(entry, LedgerEntry)


def adjust_credits(tx: WriteTx, caller: Caller, request: AdjustCredits) -> BookedEntries:
    """Add credits or take some, where nothing else fits. An administrator of the instance does."""
    require_administrator(tx, caller)
    entries = entering.adjust(tx, signed("amount", request.amount), request.description)
    record(tx, caller, "credits.adjusted", entries[0].id)
    return BookedEntries(data=[project(entry, LedgerEntry) for entry in entries])


def import_entries(tx: WriteTx, caller: Caller, request: ImportEntries, *, priced: PricedWork) -> ImportedEntries:
    """Take over entries of another ledger, all or none. An administrator of the instance does.

    They occurred when they say and are booked now. Chosen: usage is of work that this instance has, by its name here.
    Credits that are given so don't expire.
    """
    require_administrator(tx, caller)
    errors = [error for place, entry in enumerate(request.entries) for error in _mistakes(tx, place, entry, priced)]
    if errors:
        raise invalid(*errors)
    import_id = tx.new_id("imp")
    added = sum(entering.enter(tx, import_id, _imported(place, entry)) for place, entry in enumerate(request.entries))
    record(tx, caller, "credits.imported", import_id)
    return ImportedEntries(import_id=import_id, added=added, duplicates=len(request.entries) - added)


def _mistakes(tx: WriteTx, place: int, entry: ImportEntry, priced: PricedWork) -> list[FieldError]:
    errors = []
    if from_moment(entry.occurred_at) > tx.now:
        message = "It is still to come: expected a moment that is past."
        errors.append(FieldError(f"entries[{place}].occurredAt", "out_of_range", message))
    is_negative = entry.amount.startswith("-")
    if entry.type != "adjustment" and is_negative != (entry.type == "usage"):
        sign = "below" if entry.type == "usage" else "above"
        errors.append(FieldError(f"entries[{place}].amount", "out_of_range", f"Expected {sign} 0 for {entry.type}."))
    if entry.operation is not None and entry.type != "usage":
        message = f"Expected none for {entry.type}."
        errors.append(FieldError(f"entries[{place}].operation", "conflict", message))
    elif entry.operation not in (None, IMPORTED):
        fault = name_fault(f"entries[{place}].operation", entry.operation, priced)
        errors += [] if fault is None else [fault]
    return errors


def _imported(place: int, entry: ImportEntry) -> ImportedEntry:
    return ImportedEntry(
        type=entry.type,
        amount=signed(f"entries[{place}].amount", entry.amount),
        occurred_at=from_moment(entry.occurred_at),
        description=entry.description,
        external_id=entry.external_id,
        operation=entry.operation or IMPORTED,
    )


OPERATIONS = (
    Operation(
        id="billing.refundEntry",
        kind="write",
        method="POST",
        path="/billing/ledger/refund",
        scopes=("billing:write",),
        request=RefundEntry,
        response=LedgerEntry,
        handler=refund_entry,
        errors=("forbidden", "invalid_state", "out_of_range"),
        extension=True,
        example={"id": "led_01k0000000000000000000000a", "amount": "2", "description": "The lead was spam"},
    ),
    Operation(
        id="billing.adjustCredits",
        kind="write",
        method="POST",
        path="/billing/ledger/adjust",
        scopes=("billing:write",),
        request=AdjustCredits,
        response=BookedEntries,
        handler=adjust_credits,
        errors=("forbidden", "insufficient_credits", "out_of_range"),
        extension=True,
        example={"amount": "-1.5", "description": "Counted twice by the former ledger"},
    ),
    Operation(
        id="billing.importEntries",
        kind="write",
        method="POST",
        path="/billing/ledger/import",
        scopes=("billing:write",),
        request=ImportEntries,
        response=ImportedEntries,
        handler=AT_CATALOGUE,
        errors=("conflict", "forbidden", "insufficient_credits", "out_of_range", "unknown_reference"),
        extension=True,
        example={
            "source": "credits.csv",
            "entries": [
                {
                    "occurredAt": "2026-10-01T09:00:00Z",
                    "type": "purchase",
                    "amount": "100",
                    "externalId": "2026-10-01",
                },
                {
                    "occurredAt": "2026-10-02T09:00:00Z",
                    "type": "usage",
                    "amount": "-2.5",
                    "operation": "vault.parse",
                },
            ],
        },
    ),
)
