"""The recurring invoice resource (domain model B5): its operations. `making` makes the invoices."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from gatewayd.areas.accounting.clients.rows import CLIENTS
from gatewayd.areas.accounting.recurring import making, rhythm, rows
from gatewayd.areas.accounting.recurring.rows import RECURRING
from gatewayd.areas.accounting.recurring.shapes import (
    ChangeRecurring,
    CreateRecurring,
    GetRecurring,
    ListRecurring,
    Recurring,
    RecurringStatus,
    ResumeRecurring,
    StoredRecurring,
    UpdateRecurring,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode, project
from gatewayd.errors import FieldError, either, gathered, invalid, invalid_field, invalid_state
from gatewayd.ledger.lists import Source, sync_page
from gatewayd.mail.notices import Mailing
from gatewayd.store import ReadTx, WriteTx

_RHYTHM: Final = {"start_date": "startDate", "unit": "unit", "every": "every", "day_of_month": "dayOfMonth"}


def list_recurring(tx: ReadTx, caller: Caller, request: ListRecurring) -> Listing[Recurring]:
    """List recurring invoices, newest first, or in the order of change with `updatedSince`."""
    filters: dict[str, object] = {
        "status = :status": request.status,
        "client_id = :client_id": request.client_id,
        "external_id = :external_id": request.external_id,
    }
    source = Source(RECURRING, [RECURRING.select])
    return sync_page(tx, request, source, filters, lambda row: encode(_shown(RECURRING.read(tx, row))))


def create_recurring(tx: WriteTx, caller: Caller, request: CreateRecurring, *, mailing: Mailing | None) -> Recurring:
    """Create a recurring invoice: from its first day on an invoice is made on each of its days.

    Of months each day is counted from the first, so that the 28th of February is followed by the 31st of March. What
    was missed, because the daemon was down, is made later, in order, each with the date of its own day. What cannot be
    made, such as in a closed period, or would bear other VAT than last time, halts it with a reason, until
    accounting.resumeRecurring.
    """
    RECURRING.refuse_taken(tx, request.external_id)
    errors = [*_rhythm_mistakes(request), *_sending_mistakes(tx, request, mailing)]
    if request.start_date.isoformat() < tx.today:
        errors.append(FieldError("startDate", "out_of_range", f"Expected today, {tx.today}, or a later day."))
    start = request.start_date.isoformat()
    values = {"status": "active", "next_date": start, "next_index": 0, "made_count": 0}
    charged = _charged(tx, request, start, errors)
    return _shown(RECURRING.insert(tx, RECURRING.new(tx, request, **values, **charged)))


def get_recurring(tx: ReadTx, caller: Caller, request: GetRecurring) -> Recurring:
    """Get one recurring invoice: its rhythm, the day that is next, and what halted it."""
    return _shown(RECURRING.get(tx, request.recurring_id))


def update_recurring(tx: WriteTx, caller: Caller, request: UpdateRecurring, *, mailing: Mailing | None) -> Recurring:
    """Change the given fields of what is made from now on; what was made stays.

    One that is halted stays so until it is resumed.
    """
    before = RECURRING.get(tx, request.recurring_id, request.expected_version)
    _require(before, ("active", "paused", "halted"))
    row = RECURRING.changed(before, request)
    RECURRING.refuse_taken(tx, row.external_id, row.id)
    terms = project(row, CreateRecurring, **_dates_of(row))
    errors = [*_rhythm_mistakes(terms), *_rhythm_changes(tx, before, row), *_sending_mistakes(tx, terms, mailing)]
    row = replace(row, **_charged(tx, terms, row.next_date or row.start_date, errors))
    return _shown(RECURRING.update(tx, rows.moved_on(row)))


def pause_recurring(tx: WriteTx, caller: Caller, request: ChangeRecurring) -> Recurring:
    """Pause a recurring invoice: nothing is made until it is resumed."""
    before = RECURRING.get(tx, request.recurring_id, request.expected_version)
    _require(before, ("active", "halted"))
    return _shown(RECURRING.update(tx, replace(rows.unhalted(before), status="paused")))


def resume_recurring(tx: WriteTx, caller: Caller, request: ResumeRecurring) -> Recurring:
    """Let a recurring invoice that is paused or halted go on. VAT that has changed meanwhile is taken as right.

    Of days that have passed meanwhile `missed` says whether they are made, in order, within a minute or so, or left
    out for good.
    """
    before = RECURRING.get(tx, request.recurring_id, request.expected_version)
    _require(before, ("paused", "halted"))
    row = replace(rows.unhalted(before), status="active", charged=None)
    missed = [*rhythm.missed(rows.rhythm_of(row), row.next_index, tx.today)]
    if missed and request.missed is None and before.status == "paused":
        message = f"{len(missed)} days have passed, from {missed[0]} to {missed[-1]}: expected make or skip."
        raise invalid_field("missed", "required", message)
    if request.missed == "skip":
        row = rows.skip(tx, row, missed)
    return _shown(RECURRING.update(tx, row))


def end_recurring(tx: WriteTx, caller: Caller, request: ChangeRecurring) -> Recurring:
    """End a recurring invoice for good: nothing more is made, and what was made stays."""
    before = RECURRING.get(tx, request.recurring_id, request.expected_version)
    _require(before, ("active", "paused", "halted"))
    return _shown(RECURRING.update(tx, rows.ended(before)))


def _shown(row: StoredRecurring) -> Recurring:
    return project(row, Recurring)


def _require(row: StoredRecurring, allowed: tuple[RecurringStatus, ...]) -> None:
    """Raises `Problem` `invalid_state`."""
    if row.status not in allowed:
        message = f"A recurring invoice that is {row.status} cannot do this: only one that is {either(allowed)}."
        if row.status == "ended":
            message += " `accounting.createRecurring` makes another."
        raise invalid_state(message, row.status, allowed)


def _dates_of(row: StoredRecurring) -> dict[str, Any]:
    """The fields of a row that a request has in another form."""
    rhythm_ = rows.rhythm_of(row)
    return {"start_date": rhythm_.start, "end_date": rhythm_.end, "discount_amount": str(row.discount_amount)}


def _charged(tx: WriteTx, terms: CreateRecurring, date: str, errors: list[FieldError]) -> dict[str, Any]:
    """What the invoice of an ISO date would take from seller and client, under the names of the row's fields.

    Raises `Problem` with `errors`, and all that is wrong with that invoice besides.
    """
    draft = gathered(errors, making.draft_of, tx, terms, date)
    if errors or draft is None:
        raise invalid(*errors)
    names = ("currency", "legal_entity_id", "business_id", "amounts_are", "vat_rounding", "discount_amount")
    return {**{name: getattr(draft.row, name) for name in names}, "charged": making.charged_by(draft.lines)}


def _rhythm_mistakes(terms: CreateRecurring) -> Iterator[FieldError]:
    """Where the days do not hold together."""
    start = terms.start_date
    if terms.day_of_month is not None and terms.unit == "week":
        yield FieldError("dayOfMonth", "conflict", "It goes by weeks, from the day of `startDate`: leave this out.")
    elif terms.day_of_month is not None and not rhythm.is_of_month(start, terms.day_of_month):
        message = f"`startDate` is the first of its days: expected {start.day}, or another `startDate`."
        yield FieldError("dayOfMonth", "conflict", message)
    if terms.end_date is not None and terms.end_date < start:
        yield FieldError("endDate", "date_order", f"It is before startDate, {start}: expected that day or a later one.")
    if terms.end_date is not None and terms.times is not None:
        yield FieldError("times", "conflict", "Give endDate or times, not both.")


def _sending_mistakes(tx: ReadTx, terms: CreateRecurring, mailing: Mailing | None) -> Iterator[FieldError]:
    """Why nothing could be sent as things are. What changes later halts it on its day."""
    if terms.makes != "sent":
        return
    if mailing is None:
        yield FieldError("makes", "conflict", "No mail is sent here: `[mail]` of the settings names no server.")
    client = CLIENTS.find(tx, terms.client_id)
    if client is not None and client.email is None:
        message = f"{client.name} has no `email`: give the client one, with `accounting.updateClient`."
        yield FieldError("makes", "conflict", message)


def _rhythm_changes(tx: ReadTx, before: StoredRecurring, row: StoredRecurring) -> Iterator[FieldError]:
    """What of a rhythm cannot be changed any more: a day of it would come twice, or never."""
    if row.start_date != before.start_date and row.start_date < tx.today:
        yield FieldError("startDate", "out_of_range", f"Expected today, {tx.today}, or a later day.")
    for name, path in _RHYTHM.items():
        if before.next_index and getattr(row, name) != getattr(before, name):
            message = "The rhythm has begun: end it with `accounting.endRecurring`, and create another."
            yield FieldError(path, "conflict", message)


_SCOPES: Final = ("accounting:write",)
_ID: Final = "rec_01k0000000000000000000000a"
_CHANGES: Final = ("invalid_state", "version_conflict")

OPERATIONS = (
    Operation(
        id="accounting.listRecurring",
        kind="read",
        method="GET",
        path="/recurring-invoices",
        scopes=("accounting:read",),
        request=ListRecurring,
        response=SyncPage[Recurring],
        handler=list_recurring,
        extension=True,
        example={"status": "active", "limit": 20},
    ),
    Operation(
        id="accounting.createRecurring",
        kind="write",
        method="POST",
        path="/recurring-invoices",
        scopes=_SCOPES,
        request=CreateRecurring,
        response=Recurring,
        handler=AT_CATALOGUE,
        errors=("already_exists",),
        extension=True,
        example={
            "clientId": "cli_01k0000000000000000000000a",
            "legalEntityId": "ent_01k0000000000000000000000a",
            "startDate": "2026-11-30",
            "unit": "month",
            "dayOfMonth": 31,
            "times": 12,
            "makes": "issued",
            "lines": [{"description": "Upkeep of the staircase, per month", "unitPrice": "85.00"}],
        },
    ),
    Operation(
        id="accounting.getRecurring",
        kind="read",
        method="GET",
        path="/recurring-invoices/:recurringId",
        scopes=("accounting:read",),
        request=GetRecurring,
        response=Recurring,
        handler=get_recurring,
        extension=True,
        example={"recurringId": _ID},
    ),
    Operation(
        id="accounting.updateRecurring",
        kind="write",
        method="PATCH",
        path="/recurring-invoices/:recurringId",
        scopes=_SCOPES,
        request=UpdateRecurring,
        response=Recurring,
        handler=AT_CATALOGUE,
        errors=("already_exists", *_CHANGES),
        extension=True,
        example={"recurringId": _ID, "reference": "Maintenance 2027", "expectedVersion": 1},
    ),
    Operation(
        id="accounting.pauseRecurring",
        kind="write",
        method="POST",
        path="/recurring-invoices/:recurringId/pause",
        scopes=_SCOPES,
        request=ChangeRecurring,
        response=Recurring,
        handler=pause_recurring,
        errors=_CHANGES,
        extension=True,
        example={"recurringId": _ID},
    ),
    Operation(
        id="accounting.resumeRecurring",
        kind="write",
        method="POST",
        path="/recurring-invoices/:recurringId/resume",
        scopes=_SCOPES,
        request=ResumeRecurring,
        response=Recurring,
        handler=resume_recurring,
        errors=_CHANGES,
        extension=True,
        example={"recurringId": "rec_01k0000000000000000000000b", "missed": "skip"},
    ),
    Operation(
        id="accounting.endRecurring",
        kind="write",
        method="POST",
        path="/recurring-invoices/:recurringId/end",
        scopes=_SCOPES,
        request=ChangeRecurring,
        response=Recurring,
        handler=end_recurring,
        errors=_CHANGES,
        extension=True,
        example={"recurringId": _ID},
    ),
)
