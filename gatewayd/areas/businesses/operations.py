"""The business resource, a source of income (Spec §4, domain model A2 and B2): its operations."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from gatewayd.areas.businesses import rows, rules
from gatewayd.areas.businesses.rows import BUSINESSES
from gatewayd.areas.businesses.shapes import (
    ArchiveBusiness,
    Business,
    BusinessRow,
    BusinessType,
    CreateBusiness,
    GetBusiness,
    ListBusinesses,
    LiveStatus,
    SetStatus,
    Status,
    UpdateBusiness,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, SyncPage
from gatewayd.contract.wire import Rendered
from gatewayd.errors import FieldError, archived_already, either, invalid, invalid_field, invalid_state, not_found
from gatewayd.ledger import references
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.dates.tax_calendar import bounds, tax_year_of
from gatewayd.ledger.lists import Source, archive_filter, sync_page
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.references import Reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.owners import Owner
from gatewayd.store import ReadTx, Row, WriteTx

_SELECT_PAGE = """
SELECT id, updated_at, wire, status, commencement_date, archived_at FROM businesses WHERE org_id = :org_id
"""
_SELECT_ONE = f"{_SELECT_PAGE} AND id = :id"


def list_businesses(tx: ReadTx, caller: Caller, request: ListBusinesses) -> Listing[Business]:
    """List businesses.

    Newest first, or in the order of change with `updatedSince`. `status` is the state today: a business whose
    commencement date has come is no longer `pending`. Archived ones are left out unless `includeArchived`,
    `updatedSince` or `status` asks for them.
    """
    status, today = request.status, tx.today
    stored = None if status in (None, "archived") else "active" if status == "pending" else status
    filters = {
        **archive_filter(request),
        "legal_entity_id = :legal_entity_id": request.legal_entity_id,
        "type = :type": request.type,
        "external_id = :external_id": request.external_id,
        "status = :status": stored,
        "commencement_date > :begins_after": today if status == "pending" else None,
        "(commencement_date IS NULL OR commencement_date <= :begun_by)": today if status == "active" else None,
    }
    return sync_page(tx, request, Source(BUSINESSES, [_SELECT_PAGE]), filters, lambda row: _business_item(row, today))


def get_business(tx: ReadTx, caller: Caller, request: GetBusiness) -> Rendered[Business]:
    """Get one business, archived or not."""
    row = tx.row(_SELECT_ONE, id=request.id)
    if row is None:
        raise not_found(BUSINESSES.kind)
    return Rendered(_business_item(row, tx.today))


def create_business(tx: WriteTx, caller: Caller, request: CreateBusiness) -> Business:
    """Create a business.

    It is `pending` until its commencement date. A company has no self-employment. A person has one UK property
    business at most, which holds all its lets in the United Kingdom; `externalId` may be used once.
    """
    owner = owners.find(tx, request.legal_entity_id)
    errors = [
        *rules.choice_mistakes(request.quarterly_period_type, request.quarterly_period_tax_year, tx.today),
        *owners.mistakes(owner),
        *_type_mistakes(owner, request.type),
        *_bank_account_mistakes(tx, request.bank_account_ids or []),
    ]
    errors += rules.share_mistakes(request.owner_share_percent)
    if errors or owner is None:
        raise invalid(*errors)
    chosen = None if request.quarterly_period_type is None else tax_year_of(tx.today)
    row = rows.new(tx, owner, request, quarterly_period_tax_year=request.quarterly_period_tax_year or chosen)
    return rows.shown(rows.add(tx, row, owner), tx.today)


def update_business(tx: WriteTx, caller: Caller, request: UpdateBusiness) -> Business:
    """Change the given fields of a business.

    Another `quarterlyPeriodType` is a choice made in the present tax year, or in `quarterlyPeriodTaxYear`, before its
    first update; the years before it keep theirs. The same type with another year puts the year of the choice right.
    The accounting basis and the currency are fixed once a period of the legal entity is closed.
    """
    before = BUSINESSES.get(tx, request.id, request.expected_version)
    after = _with_choice(BUSINESSES.changed(before, request), before, request, tx.today)
    errors = [*rules.date_mistakes(before, after, tx.today), *rules.new_choice_mistakes(before, after, tx.today)]
    if not errors:
        _refuse_late_choice(tx, before, after)
    if not errors and after.cessation_date not in (None, before.cessation_date):
        last = _entry_after(tx, after, after.cessation_date)
        errors += [] if last is None else [FieldError("cessationDate", "date_order", last)]
    if after.type != before.type:
        errors += _type_mistakes(owners.find(tx, before.legal_entity_id), after.type)
    if request.owner_share_percent is not UNSET:
        errors += rules.share_mistakes(after.owner_share_percent)
    if request.bank_account_ids is not UNSET:
        errors += _bank_account_mistakes(tx, request.bank_account_ids)
    if errors:
        raise invalid(*errors)
    return rows.shown(rows.change(tx, before, after), tx.today)


def archive_business(tx: WriteTx, caller: Caller, request: ArchiveBusiness) -> Business:
    """Archive a business: lists hide it, and it can still be read. setStatus brings it back as it was.

    With an open obligation of a period that has begun it is refused, unless `force` is true: its obligations are not
    required any more then.
    """
    before = BUSINESSES.get(tx, request.id, request.expected_version)
    if before.archived_at is not None:
        raise archived_already(BUSINESSES.kind, rules.unarchived_status(before, tx.today))
    open_id = obligations.open_of_business(tx, before.id)
    if open_id is not None and not request.force:
        current = rules.shown_status(before, tx.today)
        message = (
            f"It has an open obligation, {open_id}: meet that first with `obligations.fulfil`, put it away with"
            " `obligations.dismiss`, or send force: true."
        )
        raise invalid_state(message, current, ())
    after = replace(before, archived_at=tx.now, archive_reason=request.reason)
    return rows.shown(rows.change(tx, before, after), tx.today)


def set_status(tx: WriteTx, caller: Caller, request: SetStatus) -> Business:
    """Move a business to another state.

    An active one may become dormant, once all income of the tax year is allocated, and a dormant one active. Both may
    cease on `effectiveDate`, which has come and is not before the last entry. One that ceased may become active again
    within the same tax year, and an archived one what it was before. A pending one becomes active by itself on its
    commencement date.
    """
    before = BUSINESSES.get(tx, request.id, request.expected_version)
    current = rules.shown_status(before, tx.today)
    allowed = _reachable(before, tx.today)
    if request.status not in allowed:
        raise invalid_state(_refusal(before, current, request.status, allowed), current, allowed)
    if request.status == "dormant":
        _refuse_unallocated(tx, before, current)
    cessation_date = _cessation_date(tx, before, request)
    after = replace(
        before,
        status="active" if request.status == "pending" else request.status,
        cessation_date=cessation_date,
        archived_at=None,
        archive_reason=None,
    )
    return rows.shown(rows.change(tx, before, after), tx.today)


def _business_item(row: Row, today: str) -> bytes:
    _, _, wire, stored, commencement_date, archived_at = row
    status = "archived" if archived_at is not None else rules.unarchived(stored, commencement_date, today)
    return rows.served(wire, status)


def _type_mistakes(owner: Owner | None, wanted: BusinessType) -> Iterator[FieldError]:
    if owner is not None and owner.is_incorporated and wanted == "self_employment":
        yield FieldError("type", "conflict", "A company is nobody's self-employment: its trade is a company_trade.")


def _bank_account_mistakes(tx: ReadTx, ids: list[str]) -> Iterator[FieldError]:
    yield from references.unknown(
        tx, (Reference(f"bankAccountIds[{i}]", "bank_account", id_) for i, id_ in enumerate(ids))
    )
    for index, id_ in enumerate(ids):
        if id_ in ids[:index]:
            yield FieldError(f"bankAccountIds[{index}]", "conflict", "The account is named twice.")


def _with_choice(after: BusinessRow, before: BusinessRow, request: UpdateBusiness, today: str) -> BusinessRow:
    """The business with the year of its choice: another type without one is chosen in the present year."""
    if request.quarterly_period_tax_year is UNSET and after.quarterly_period_type != before.quarterly_period_type:
        return replace(after, quarterly_period_tax_year=tax_year_of(today))
    return after


def _refuse_late_choice(tx: ReadTx, before: BusinessRow, after: BusinessRow) -> None:
    """Raises `Problem` `invalid_state` once an update was made of a tax year that the choice bears on [MTD guide]."""
    years = [row.quarterly_period_tax_year for row in (before, after) if row.quarterly_period_tax_year is not None]
    if rows.choice_of(after) == rows.choice_of(before) or after.quarterly_period_tax_year is None:
        return
    same = after.quarterly_period_type == before.quarterly_period_type
    first = min(years) if same else after.quarterly_period_tax_year
    made = obligations.update_made(tx, before.id, bounds(first)[0], bounds(tax_year_of(tx.today))[1])
    if made is not None:
        message = (
            f"An update of {first} or later was made, {made}: `quarterlyPeriodType` stays as it is for that year, and"
            " can be chosen anew once the next one has begun."
        )
        raise invalid_state(message, before.quarterly_period_type, ())


def _reachable(row: BusinessRow, today: str) -> tuple[LiveStatus, ...]:
    """Where `setStatus` leads today: from the archive, back to the state before."""
    current = rules.unarchived_status(row, today)
    return (current,) if row.archived_at is not None else rules.reachable(current, row.cessation_date, today)


def _refusal(row: BusinessRow, current: Status, wanted: LiveStatus, allowed: Sequence[LiveStatus]) -> str:
    if current == wanted:
        return f"The business is {current} already{f': it can become {either(allowed)}' if allowed else ''}."
    if current == "pending":
        return f"The business is pending: it becomes active by itself on {row.commencement_date}."
    if (current, wanted) == ("ceased", "active"):
        return f"The business ceased on {row.cessation_date}, and the tax year of that day is over: create another."
    return f"A business that is {current} cannot become {wanted}{f': only {either(allowed)}' if allowed else ''}."


def _refuse_unallocated(tx: ReadTx, row: BusinessRow, current: Status) -> None:
    """Raises `Problem` `invalid_state` where income of the present tax year is not allocated yet (domain model B2)."""
    if row.archived_at is not None:
        return
    left = bank_lines.unallocated_income(tx, row.legal_entity_id, row.id, DateRange(*bounds(tax_year_of(tx.today))))
    if left.lines:
        message = (
            f"{left.lines} bank transactions of its income are not allocated yet: say with `banking.allocate` what they"
            f" are for, beginning with {left.first_id}."
        )
        raise invalid_state(message, current, ())


def _cessation_date(tx: ReadTx, before: BusinessRow, request: SetStatus) -> str | None:
    """The cessation date after a move that is allowed. Raises `Problem`: `validation_failed`, `invalid_state`."""
    last_day = None if request.effective_date is None else request.effective_date.isoformat()
    if request.status != "ceased":
        if last_day is not None:
            raise invalid_field("effectiveDate", "conflict", "It is for a business that ceases: leave this out.")
        return None if before.status == "ceased" else before.cessation_date
    if before.status == "ceased":  # out of the archive, as it was
        if last_day not in (None, before.cessation_date):
            message = f"The business ceased on {before.cessation_date}: leave this out."
            raise invalid_field("effectiveDate", "conflict", message)
        return before.cessation_date
    if last_day is None:
        message = "This field is required: on which day does the business cease?"
        raise invalid_field("effectiveDate", "required", message)
    if rules.ends_before_it_begins(before.commencement_date, last_day):
        message = f"The business began on {before.commencement_date}: expected that day or a later one."
        raise invalid_field("effectiveDate", "date_order", message)
    last = _entry_after(tx, before, last_day)
    if last is not None:
        raise invalid_state(last, rules.shown_status(before, tx.today), ())
    if last_day > tx.today:  # Chosen: the state would say today what is so later
        raise invalid_field(
            "effectiveDate", "out_of_range", "The day is still to come: expected today or an earlier one."
        )
    return last_day


def _entry_after(tx: ReadTx, row: BusinessRow, cessation_date: str) -> str | None:
    """What is wrong with a cessation before the last entry (domain model B2); None: there is none after it."""
    last = rows.last_entry_date(tx, row.id, row.accounting_basis)
    if last is None or last <= cessation_date:
        return None
    return f"The business has an entry of {last}: expected that day or a later one."


OPERATIONS = (
    Operation(
        id="businesses.list",
        kind="read",
        method="GET",
        path="/businesses/list",
        scopes=("entities:read",),
        request=ListBusinesses,
        response=SyncPage[Business],
        handler=list_businesses,
        held=HeldBy(entity="legal_entity_id", undated=True),
        example={"type": "self_employment", "limit": 20},
    ),
    Operation(
        id="businesses.get",
        kind="read",
        method="GET",
        path="/businesses/get",
        scopes=("entities:read",),
        request=GetBusiness,
        response=Business,
        handler=get_business,
        held=HeldBy(leads={"id": "business"}, undated=True),
        example={"id": "biz_01k0000000000000000000000a"},
    ),
    Operation(
        id="businesses.create",
        kind="write",
        method="POST",
        path="/businesses/create",
        scopes=("entities:write",),
        request=CreateBusiness,
        response=Business,
        handler=create_business,
        errors=("already_exists", "limit_reached"),
        example={
            "legalEntityId": "ent_01k0000000000000000000000b",
            "type": "self_employment",
            "name": "Furniture restoration",
            "tradingName": "Ann Oak Restorations",
            "tradingType": "Furniture restorer",
            "commencementDate": "2026-09-01",
            "quarterlyPeriodType": "calendar",
        },
    ),
    Operation(
        id="businesses.update",
        kind="write",
        method="POST",
        path="/businesses/update",
        scopes=("entities:write",),
        request=UpdateBusiness,
        response=Business,
        handler=update_business,
        errors=("already_exists", "invalid_state", "version_conflict"),
        example={"id": "biz_01k0000000000000000000000a", "tradingType": "Joinery", "expectedVersion": 1},
    ),
    Operation(
        id="businesses.archive",
        kind="write",
        method="POST",
        path="/businesses/archive",
        scopes=("entities:write",),
        request=ArchiveBusiness,
        response=Business,
        handler=archive_business,
        errors=("invalid_state", "version_conflict"),
        example={"id": "biz_01k0000000000000000000000c", "reason": "Lessons are given no more", "force": True},
    ),
    Operation(
        id="businesses.setStatus",
        kind="write",
        method="POST",
        path="/businesses/setStatus",
        scopes=("entities:write",),
        request=SetStatus,
        response=Business,
        handler=set_status,
        errors=("already_exists", "invalid_state", "version_conflict"),
        example={"id": "biz_01k0000000000000000000000c", "status": "ceased", "effectiveDate": "2026-11-20"},
    ),
)
