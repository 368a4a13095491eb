"""The period resource (Spec §4, domain model A9 and B9): reads, closing and reopening.

    open --close, begin--> closing --close--> closed --reopen, an administrator--> open
    open --close--> closed

Closed days are refused with `period_closed`, and those of a period that is closing unless that is overridden, by
`ledger.period_locks`.
"""

import msgspec
from msgspec.structs import replace

from gatewayd.areas.periods.checklist import checklist
from gatewayd.areas.periods.pages import BY_END, Condition, dated_page, matching, one_of
from gatewayd.areas.periods.shapes import (
    Check,
    ClosePeriod,
    GetPeriod,
    ListPeriods,
    Period,
    PeriodDetail,
    ReopenPeriod,
)
from gatewayd.areas.periods.totals import totals
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import encode, project
from gatewayd.errors import Problem, either, invalid_field, invalid_state
from gatewayd.ledger.calendar import period_locks, period_seals, periods
from gatewayd.ledger.calendar.periods import PERIODS, PeriodRow
from gatewayd.ledger.dates.tax_calendar import is_tax_year
from gatewayd.ledger.obligations import obligations
from gatewayd.store import ReadTx, WriteTx


def list_periods(tx: ReadTx, caller: Caller, request: ListPeriods) -> Listing[Period]:
    """List periods.

    By their last day, earliest first, or in the order of change with `updatedSince`. Those that apply no more, because
    the entity or the business became another, are left out unless `includeArchived` or `updatedSince` is given, and
    months always unless `type` asks for them.
    """
    if request.tax_year is not None and not is_tax_year(request.tax_year):
        raise invalid_field("taxYear", "invalid_format", "Expected a tax year, such as 2026-27.")
    if request.from_date and request.to_date and request.to_date < request.from_date:
        raise invalid_field("toDate", "date_order", "It is before fromDate: expected that day or a later one.")
    filters = {
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "business_id = :business_id": request.business_id,
        "tax_year = :tax_year": request.tax_year,
        "end_date >= :from_date": request.from_date,
        "start_date <= :to_date": request.to_date,
    }
    conditions = [*matching(filters), *one_of("type", request.type), *one_of("status", request.status)]
    if not request.type:  # Chosen: who does not ask for months is not flooded with them
        conditions.append(Condition("type <> 'month'", {}))
    if not request.include_archived and request.updated_since is None:
        conditions.append(Condition("archived_at IS NULL", {}))
    return dated_page(tx, request, BY_END, conditions, lambda row: encode(_shown(tx, row)))


def get_period(tx: ReadTx, caller: Caller, request: GetPeriod) -> PeriodDetail:
    """Get one period, with what is to be done before it is closed, what came together in it, and its seals.

    `totals` are of its days: what was invoiced, of a VAT period the boxes of its return, of others the profit and loss
    of each business.
    """
    row = PERIODS.get(tx, request.id)
    ids = obligations.ids_of_period(tx, row.id)
    return project(
        row,
        PeriodDetail,
        obligation_ids=ids,
        checklist=checklist(tx, row),
        totals=totals(tx, row),
        seals=period_seals.of_period(tx, row.id),
    )


def close_period(tx: WriteTx, caller: Caller, request: ClosePeriod) -> Period:
    """Close a period: what is dated in it stays as it is.

    Every point of the checklist has to be done, or `force` given with a `reason`; that expenses have documents is one
    where `evidencePercent` says how much of them. The answer `invalid_state` names the points. `begin` marks it as
    closing: from then on its days take what is sent with `Period-Override: closing` alone.
    """
    row = PERIODS.get(tx, request.id, request.expected_version)
    if row.archived_at is not None:
        message = "The period is archived, and of no books any more: only one that is open or closing can be closed."
        raise invalid_state(message, "archived", ("open", "closing"))
    if row.status == "closed" or (row.status == "closing" and request.begin):
        allowed = ("open",) if request.begin else ("open", "closing")
        message = (
            f"The period is {row.status} already: only one that is {either(allowed)} can be"
            f" {'closing' if request.begin else 'closed'}. `periods.reopen` opens it again."
        )
        raise invalid_state(message, row.status, allowed)
    if request.begin:
        period_locks.begin_closing(tx, *_days(row))
        return _shown(tx, PERIODS.update(tx, replace(row, status="closing")))
    undone = [check for check in checklist(tx, row, request.evidence_percent) if not check.done]
    if undone and not request.force:
        raise _undone(row, undone)
    if undone and request.reason is None:
        message = "This field is required, as points of the checklist are not done: why is it closed?"
        raise invalid_field("reason", "required", message)
    _unlock(tx, row)
    period_locks.close(tx, *_days(row))
    after = replace(
        row,
        status="closed",
        locked_through_date=row.end_date,
        closed_at=tx.now,
        closed_by=caller.reference,
        forced_reason=request.reason if undone else None,
    )
    PERIODS.update(tx, after)
    return _shown(tx, PERIODS.get(tx, row.id))


def reopen_period(tx: WriteTx, caller: Caller, request: ReopenPeriod) -> Period:
    """Open a closed period again, or leave off closing one. An administrator does, and says why.

    Refused once the authority has a return for it, so that corrections go into the next period, and while a later
    period is closed.
    """
    if not caller.is_admin:
        raise Problem("forbidden", "Only an administrator of the organization can reopen a period.")
    row = PERIODS.get(tx, request.id, request.expected_version)
    if row.status == "open":
        raise invalid_state(
            "The period is open already: only one that is closing or closed can be reopened.",
            "open",
            ("closing", "closed"),
        )
    if row.status == "closed":
        _refuse_reopening(tx, row)
    _unlock(tx, row)
    after = replace(
        row,
        status="open",
        locked_through_date=None,
        closed_at=None,
        closed_by=None,
        forced_reason=None,
        reopened_count=row.reopened_count + (row.status == "closed"),
        reopened_reason=request.reason,
    )
    PERIODS.update(tx, after)
    return _shown(tx, PERIODS.get(tx, row.id))


def _shown(tx: ReadTx, row: PeriodRow) -> Period:
    return project(row, Period, obligation_ids=obligations.ids_of_period(tx, row.id))


def _days(row: PeriodRow) -> tuple[str, str, str, str | None]:
    """What its lock is made of: whose days, and which."""
    return row.legal_entity_id, row.start_date, row.end_date, row.business_id


def _unlock(tx: WriteTx, row: PeriodRow) -> None:
    """Take away the lock of a period that is closed or closing, unless another has the same."""
    if row.status == "open" or periods.alike(tx, row) is not None:
        return
    unlock = period_locks.reopen if row.status == "closed" else period_locks.end_closing
    unlock(tx, *_days(row))


def _undone(row: PeriodRow, undone: list[Check]) -> Problem:
    """The problem 409 with the points that are in the way."""
    names = ", ".join(check.code for check in undone)
    extra = {"currentState": row.status, "allowedStates": ["closing"], "checklist": msgspec.to_builtins(undone)}
    message = f"It cannot be closed before this is done: {names}. `force` and a `reason` close it all the same."
    return Problem("invalid_state", message, extra=extra)


def _refuse_reopening(tx: ReadTx, row: PeriodRow) -> None:
    filed = obligations.filed_of_period(tx, row.id)
    if filed is not None:
        message = f"The tax authority has a return for it, {filed}: enter corrections in the next period."
        raise invalid_state(message, "closed", ())
    later = periods.later_closed(tx, row)
    if later is not None:  # Chosen: or it would be open before one that is closed
        message = f"A later period is closed, {later.id}: reopen that first, with `periods.reopen`."
        raise invalid_state(message, "closed", ())


OPERATIONS = (
    Operation(
        id="periods.list",
        kind="read",
        method="GET",
        path="/periods/list",
        scopes=("periods:read",),
        request=ListPeriods,
        response=SyncPage[Period],
        handler=list_periods,
        held=HeldBy(entity="legal_entity_id", leads={"business_id": "business"}, days=Days()),
        errors=("date_order", "invalid_format"),
        example={"type": ["itsa_quarter"], "taxYear": "2026-27", "limit": 20},
    ),
    Operation(
        id="periods.get",
        kind="read",
        method="GET",
        path="/periods/get",
        scopes=("periods:read",),
        request=GetPeriod,
        response=PeriodDetail,
        handler=get_period,
        held=HeldBy(leads={"id": "period"}, day_of=("startDate", "endDate")),
        long=True,  # it adds up lines and allocations
        example={"id": "per_01k0000000000000000000000a"},
    ),
    Operation(
        id="periods.close",
        kind="write",
        method="POST",
        path="/periods/close",
        scopes=("periods:write",),
        request=ClosePeriod,
        response=Period,
        handler=close_period,
        errors=("invalid_state", "version_conflict"),
        extension=True,
        example={"id": "per_01k0000000000000000000000c", "force": True, "reason": "Kept elsewhere until now"},
    ),
    Operation(
        id="periods.reopen",
        kind="write",
        method="POST",
        path="/periods/reopen",
        scopes=("periods:write",),
        request=ReopenPeriod,
        response=Period,
        handler=reopen_period,
        errors=("forbidden", "invalid_state", "version_conflict"),
        extension=True,
        example={"id": "per_01k0000000000000000000000b", "reason": "A rent was forgotten"},
    ),
)
