"""The obligation resource (Spec §4, domain model A9, B9 and C7): reads, and what a person says of one.

    open --fulfil--> fulfilled --reopen--> open
    open --dismiss--> not_required --reopen--> open

Of those that the tax authority confirmed it alone says what became of them.
"""

import datetime
from typing import Final

from msgspec.structs import replace

from gatewayd.areas.periods.pages import BY_DUE, Condition, dated_page, matching, one_of
from gatewayd.areas.periods.shapes import (
    CreateObligation,
    DismissObligation,
    FulfilObligation,
    GetObligation,
    ListObligations,
    ObligationDetail,
    ReopenObligation,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode, project
from gatewayd.errors import FieldError, Problem, invalid, invalid_field, invalid_state
from gatewayd.ledger.calendar import periods
from gatewayd.ledger.calendar.forecast import PeriodKey
from gatewayd.ledger.dates import income_tax
from gatewayd.ledger.obligations import confirmations, obligations, schedule
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, Obligation, ObligationKey, ObligationRow
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.store import ReadTx, WriteTx

_REOPENED: Final = " `obligations.reopen` opens it again."


def list_obligations(tx: ReadTx, caller: Caller, request: ListObligations) -> Listing[Obligation]:
    """List obligations.

    By due date, earliest first, or in the order of change with `updatedSince`. `overdue` is what is open on a day after
    its due date. Those that are not required are left out unless `status` or `updatedSince` is given.
    """
    if request.due_date_from and request.due_date_to and request.due_date_to < request.due_date_from:
        raise invalid_field("dueDateTo", "date_order", "It is before dueDateFrom: expected that day or a later one.")
    today = tx.today
    filters = {
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "business_id = :business_id": request.business_id,
        "period_id = :period_id": request.period_id,
        "source = :source": request.source,
        "external_id = :external_id": request.external_id,
        "due_date >= :due_date_from": request.due_date_from,
        "due_date <= :due_date_to": request.due_date_to,
    }
    conditions = [*matching(filters), *one_of("kind", request.kind), *_in_states(request, today)]
    return dated_page(tx, request, BY_DUE, conditions, lambda row: encode(obligations.shown(row, today)))


def get_obligation(tx: ReadTx, caller: Caller, request: GetObligation) -> ObligationDetail:
    """Get one obligation, with what happened to it."""
    row = OBLIGATIONS.get(tx, request.id)
    return project(obligations.shown(row, tx.today), ObligationDetail, events=obligations.events_of(tx, row.id))


def create_obligation(tx: WriteTx, caller: Caller, request: CreateObligation) -> Obligation:
    """Create an obligation that nobody predicts: one of your own, or one that the calendar cannot know of.

    Payments on account follow from the tax of the year before, where it is known (`legalEntity.setTaxYear`), and those
    of VAT from what was owed in a year (`legalEntity.setVatYear`).
    """
    _refuse_mistakes(tx, request)
    due = request.due_date
    start = request.period_start_date or (request.period_end_date or due)
    row = OBLIGATIONS.new(
        tx,
        request,
        slot=confirmations.slot_of(request.kind, due.isoformat()),
        period_start_date=start.isoformat(),
        period_end_date=(request.period_end_date or due).isoformat(),
        status="open",
        dismissed=False,
        source="local",
        confidence="confirmed" if request.kind == "custom" else "predicted",
        undecided=False,
        calculated=False,
        currency=schedule.CURRENCY,
    )
    if request.kind == "payment_on_account":
        row = _payment_on_account(tx, row)
    row = replace(row, slot=row.slot or row.id)
    return obligations.shown(OBLIGATIONS.insert(tx, row), tx.today)


def fulfil_obligation(tx: WriteTx, caller: Caller, request: FulfilObligation) -> Obligation:
    """Mark an obligation as met. A quarterly update meets those of the earlier quarters of its source and year too."""
    row = OBLIGATIONS.get(tx, request.id, request.expected_version)
    _refuse_confirmed(row)
    if row.status != "open":
        message = f"The obligation is {row.status} already: only one that is open can be fulfilled.{_REOPENED}"
        raise invalid_state(message, row.status, ("open",))
    received = tx.today if request.received_date is None else request.received_date.isoformat()
    if received > tx.today:
        raise invalid_field(
            "receivedDate", "out_of_range", "The day is still to come: expected today or an earlier one."
        )
    return obligations.shown(obligations.fulfil(tx, row, received, caller.reference), tx.today)


def reopen_obligation(tx: WriteTx, caller: Caller, request: ReopenObligation) -> Obligation:
    """Take back that an obligation was met, or that it is not required."""
    row = OBLIGATIONS.get(tx, request.id, request.expected_version)
    _refuse_confirmed(row)
    if row.status == "open":
        raise invalid_state(
            "The obligation is open already: only one that is fulfilled or not_required can be reopened.",
            "open",
            ("fulfilled", "not_required"),
        )
    if row.status == "not_required" and not row.dismissed:
        message = (
            "The obligation does not apply any more: the calendar left it out, and nobody dismissed it."
            " `obligations.create` makes one of your own."
        )
        raise invalid_state(message, row.status, ("fulfilled",))
    after = replace(row, status="open", dismissed=False, received_date=None, fulfilled_at=None)
    after = OBLIGATIONS.update(tx, after)
    obligations.note(tx, after, "reopened", caller.reference, request.reason)
    schedule.refresh(tx, row.legal_entity_id)
    return obligations.shown(OBLIGATIONS.get(tx, row.id), tx.today)


def dismiss_obligation(tx: WriteTx, caller: Caller, request: DismissObligation) -> Obligation:
    """Say that an obligation is not required: there is an exemption, or the income is below the threshold."""
    row = OBLIGATIONS.get(tx, request.id, request.expected_version)
    _refuse_confirmed(row)
    if row.status != "open":
        message = f"The obligation is {row.status}: only one that is open can be dismissed.{_REOPENED}"
        raise invalid_state(message, row.status, ("open",))
    others = obligations.open_updates_beside(tx, row) if request.whole_year else []
    after = _dismissed(tx, caller, row, request.reason)
    for other in others:
        if other.source == "local":
            _dismissed(tx, caller, other, request.reason)
    return obligations.shown(after, tx.today)


def _dismissed(tx: WriteTx, caller: Caller, row: ObligationRow, reason: str) -> ObligationRow:
    after = OBLIGATIONS.update(tx, replace(row, status="not_required", dismissed=True))
    obligations.note(tx, after, "not_required", caller.reference, reason)
    return after


def _in_states(request: ListObligations, today: str) -> list[Condition]:
    """The conditions of the requested states: what is stored as open is either `open` or `overdue`."""
    if request.status is None:
        return [] if request.updated_since is not None else [Condition("status <> 'not_required'", {})]
    wanted = set(request.status)
    conditions = one_of("status", sorted({"open" if status == "overdue" else status for status in wanted}))
    if len(wanted & {"open", "overdue"}) == 1:
        is_open = "(due_date >= :today OR undecided = 1)"
        part = is_open if "open" in wanted else "due_date < :today AND undecided = 0"
        if len(wanted) > 1:
            part = f"(status <> 'open' OR ({part}))"
        conditions.append(Condition(part, {"today": today}))
    return conditions


def _refuse_mistakes(tx: ReadTx, request: CreateObligation) -> None:
    errors = [*owners.mistakes(owners.find(tx, request.legal_entity_id))]
    business = None if request.business_id is None else businesses.find(tx, request.business_id)
    if request.business_id is not None and (business is None or business.legal_entity_id != request.legal_entity_id):
        errors.append(unknown_reference("businessId", "business"))
    start, end = request.period_start_date, request.period_end_date or request.due_date
    if start is not None and start > end:
        message = f"It is before periodStartDate, {start}: expected that day or a later one."
        errors.append(FieldError("periodEndDate", "date_order", message))
    if request.kind == "custom" and request.name is None:
        errors.append(FieldError("name", "required", "This field is required of the kind custom: what is it?"))
    errors += _payment_mistakes(request)
    if errors:
        raise invalid(*errors)


def _payment_mistakes(request: CreateObligation) -> list[FieldError]:
    """What is wrong with a payment on account, which is of a tax year and due on two days of the law."""
    if request.kind != "payment_on_account":
        return []
    end = request.period_end_date
    if end is None or end != income_tax.year_end(income_tax.year_of(end)):
        message = "It is of a tax year: give the 5 April with which that ends. Those of VAT follow from `vatYears`."
        return [FieldError("periodEndDate", "conflict", message)]
    if request.due_date not in income_tax.payments_on_account_due(income_tax.year_of(end)):
        message = "Payments on account are due on 31 January in the tax year, and on 31 July after it."
        return [FieldError("dueDate", "conflict", message)]
    return []


def _payment_on_account(tx: WriteTx, row: ObligationRow) -> ObligationRow:
    """The row with the days of its tax year. Raises `Problem` `already_exists` where there is this payment already."""
    key = ObligationKey(row.kind, row.business_id, row.period_end_date, row.slot)
    existing = obligations.find(tx, row.legal_entity_id, key)
    if existing is not None:
        message = f"This payment on account exists: {existing.id}. Use that one."
        raise Problem("already_exists", message, extra={"existingId": existing.id, "field": "dueDate"})
    year = income_tax.year_of(datetime.date.fromisoformat(row.period_end_date))
    period = periods.find(tx, row.legal_entity_id, PeriodKey("tax_year", None, row.period_end_date))
    return replace(
        row,
        period_start_date=income_tax.year_start(year).isoformat(),
        predicted_due_date=row.due_date,
        period_id=None if period is None else period.id,
    )


def _refuse_confirmed(row: ObligationRow) -> None:
    if row.source == "tax_authority":
        message = "The tax authority told of this obligation, and says what becomes of it: ask with `obligations.sync`."
        raise invalid_state(message, row.status, ())


OPERATIONS = (
    Operation(
        id="obligations.list",
        kind="read",
        method="GET",
        path="/obligations/list",
        scopes=("periods:read",),
        request=ListObligations,
        response=SyncPage[Obligation],
        handler=list_obligations,
        held=HeldBy(
            entity="legal_entity_id",
            leads={"business_id": "business", "period_id": "period"},
            days=Days(first="due_date_from", last="due_date_to"),
        ),
        errors=("date_order",),
        example={"status": ["open"], "dueDateFrom": "2026-11-20", "dueDateTo": "2027-01-31", "limit": 20},
    ),
    Operation(
        id="obligations.get",
        kind="read",
        method="GET",
        path="/obligations/get",
        scopes=("periods:read",),
        request=GetObligation,
        response=ObligationDetail,
        handler=get_obligation,
        held=HeldBy(leads={"id": "obligation"}, day_of=("dueDate",)),
        example={"id": "obl_01k0000000000000000000000a"},
    ),
    Operation(
        id="obligations.create",
        kind="write",
        method="POST",
        path="/obligations/create",
        scopes=("periods:write",),
        request=CreateObligation,
        response=Obligation,
        handler=create_obligation,
        errors=("already_exists",),
        extension=True,
        example={
            "legalEntityId": "ent_01k0000000000000000000000a",
            "name": "Insurance renewal",
            "dueDate": "2027-03-01",
        },
    ),
    Operation(
        id="obligations.fulfil",
        kind="write",
        method="POST",
        path="/obligations/fulfil",
        scopes=("periods:write",),
        request=FulfilObligation,
        response=Obligation,
        handler=fulfil_obligation,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "obl_01k0000000000000000000000a", "receivedDate": "2026-11-05"},
    ),
    Operation(
        id="obligations.dismiss",
        kind="write",
        method="POST",
        path="/obligations/dismiss",
        scopes=("periods:write",),
        request=DismissObligation,
        response=Obligation,
        handler=dismiss_obligation,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "obl_01k0000000000000000000000a", "reason": "The policy was cancelled"},
    ),
    Operation(
        id="obligations.reopen",
        kind="write",
        method="POST",
        path="/obligations/reopen",
        scopes=("periods:write",),
        request=ReopenObligation,
        response=Obligation,
        handler=reopen_obligation,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "obl_01k0000000000000000000000b", "reason": "The engineer has to come again"},
    ),
)
