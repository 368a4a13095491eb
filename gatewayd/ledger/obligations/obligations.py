"""Obligations: what is due to an authority, or by oneself, and when (domain model B9 and C7).

Owns the tables `obligations` and `obligation_events`. Stored are open, fulfilled and not_required: `overdue` is open on
a day after the due date, and is never stored.

Of deadlines the outbox tells: once that a due date comes near, and once that it has passed. What was told stands in the
obligation's row, written in the transaction of the event: a kill neither loses an event nor sends it twice. Another due
date is told of anew.
"""

import datetime
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from gatewayd import events
from gatewayd.clock import Instant, days_after, london_date
from gatewayd.contract.wire import Amount, AmountText, DateText, Id, Response, Timestamp, project
from gatewayd.ledger.calendar.forecast import ObligationKind
from gatewayd.ledger.dates.tax_calendar import bounds, tax_year_of
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, Table, WriteTx

StoredStatus = Literal["open", "fulfilled", "not_required"]
Status = Literal["open", "overdue", "fulfilled", "not_required"]
Source = Literal["tax_authority", "local"]
EventType = Literal["confirmed", "due_date_changed", "fulfilled", "reopened", "not_required", "required"]
TOLD_AT_ONCE: Final = 50  # Chosen: obligations in one transaction, some milliseconds

_SELECT_TO_COME_ANY_ORG = """
SELECT org_id, id FROM obligations
WHERE status = 'open' AND undecided = 0 AND (due_soon_for IS NULL OR due_soon_for <> due_date)
    AND due_date >= :today AND due_date <= :until
ORDER BY due_date, id LIMIT :count
"""
_SELECT_PASSED_ANY_ORG = """
SELECT org_id, id FROM obligations
WHERE status = 'open' AND undecided = 0 AND (overdue_for IS NULL OR overdue_for <> due_date) AND due_date < :today
ORDER BY due_date, id LIMIT :count
"""
_SELECT_CHANGED = """
SELECT max(at) FROM obligation_events
WHERE org_id = :org_id AND obligation_id = :id AND type = 'due_date_changed'
"""


class Penalty(Response, frozen=True, kw_only=True):
    """What missed deadlines have cost, as the authority says."""

    points: int | None
    """How many penalty points there are. Null: nobody said."""
    regime_threshold: int | None
    """With how many points a penalty is due. Null: nobody said."""
    amount: AmountText | None
    """What is charged, in the obligation's currency. Null: nobody said."""


class StoredObligation(Response, frozen=True, kw_only=True):
    """The part of an obligation that does not depend on today."""

    id: Id
    external_id: str | None
    kind: ObligationKind
    """What is due. `itsa_` is of Making Tax Digital for Income Tax, `cgt_property_report` of homes that were sold;
    `custom`: what a person entered under a `name`."""
    name: Annotated[str, Meta(description="What it is, where a person entered it.")] | None
    legal_entity_id: Id
    """Whose obligation it is."""
    business_id: Id | None
    """The business, or source of income, that it is about. Null: it is about the whole legal entity."""
    period_id: Id | None
    """The period of `periods.list` that it is of. Null: it is of none of them."""
    period_start_date: DateText
    """The first day of what it is about."""
    period_end_date: DateText
    """The last day of what it is about, included."""
    due_date: DateText
    """The last day on which it is in time: the authority's, else the one that is predicted or was entered."""
    predicted_due_date: (
        Annotated[str, Meta(description="What the calendar says, where it knows; the authority's dueDate goes before.")]
        | None
    )
    received_date: DateText | None
    """The day on which it was met, as the authority or a person says. Null: it is not met, or nobody said when."""
    fulfilled_at: Timestamp | None
    """When it was noted here that it was met. Null: it is not met."""
    period_key: Annotated[str, Meta(description="The authority's own key. Not to be shown to people.")] | None
    source: Source
    """`tax_authority`: the authority has it, and alone says what becomes of it; `local`: the calendar predicts it, or a
    person entered it."""
    confidence: Literal["confirmed", "predicted"]
    """`predicted`: the calendar reckons it; `confirmed`: the authority says so, or it follows from a certificate, a
    sale or a deadline of your own."""
    undecided: Annotated[
        bool, Meta(description="Nobody knows whether it is asked for, or was met elsewhere: it is never overdue.")
    ]
    penalty: Penalty | None
    """What missed deadlines have cost, as the authority says. Null: it said nothing."""
    amount_due: Amount | None
    """What is to be paid. Null: nothing is, or nobody knows how much."""
    currency: str
    """The currency of the amounts; always GBP."""
    last_checked_at: Timestamp | None
    """When the authority told of it last. Null: it never did."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Obligation(StoredObligation, frozen=True, kw_only=True):
    """What is due to an authority, or by oneself, and when."""

    status: Status
    """`overdue`: it is open on a day after the due date, in London; `not_required`: it applies no more, or a person
    said that it does not."""
    days_until_due: int
    """Whole days from today to the due date, in London. Negative once it has passed, whether it was met or not."""


class ObligationRow(StoredObligation, frozen=True, kw_only=True):
    """An obligation as it is stored.

    `slot` is empty for the one of its kind, business and period, and else tells several apart. `dismissed`: it is not
    required because a person said so. `calculated`: it follows from figures of an earlier year, and goes with them.
    """

    status: StoredStatus
    slot: str
    dismissed: bool
    calculated: bool


class ObligationEvent(Response, frozen=True, kw_only=True):
    """Something that happened to an obligation."""

    type: EventType
    """What happened. `required`: it applies again; `reopened`: it was not met, or is required, after all."""
    at: Timestamp
    """When it happened."""
    by: str | None
    """The user who did it, else the credential; `operator`: whoever runs the server. Null: the calendar or the tax
    authority did."""
    detail: str | None
    """The dates that it is about, or the reason that was given, for people. Null: there is no more to say."""


class ObligationKey(NamedTuple):
    """What tells the obligations of an entity apart. `end` is an ISO date."""

    kind: ObligationKind
    business_id: str | None
    end: str
    slot: str


OBLIGATIONS = Table("obligations", ObligationRow, kind="obligation", prefix="obl")

_SELECT_OF_ENTITY = f"{OBLIGATIONS.select} AND legal_entity_id = :legal_entity_id ORDER BY due_date, id"
_SELECT_BESIDE_BUSINESSES = f"""{OBLIGATIONS.select} AND legal_entity_id = :legal_entity_id
    AND (business_id IS NULL OR business_id = :business_id)
ORDER BY due_date, id"""
_SELECT_BY_KEY = f"""{OBLIGATIONS.select} AND legal_entity_id = :legal_entity_id
    AND coalesce(business_id, '') = :of AND kind = :kind AND period_end_date = :end AND slot = :slot"""
_SELECT_OF_PERIOD = "SELECT id FROM obligations WHERE org_id = :org_id AND period_id = :period_id ORDER BY id"
_SELECT_FILED = """
SELECT id FROM obligations
WHERE org_id = :org_id AND period_id = :period_id AND status = 'fulfilled' AND source = 'tax_authority'
ORDER BY id LIMIT 1
"""
_SELECT_ON_ACCOUNT = """
SELECT id FROM obligations
WHERE org_id = :org_id AND legal_entity_id = :legal_entity_id AND kind = 'payment_on_account'
    AND period_start_date = :start AND (status <> 'not_required' OR dismissed = 1)
ORDER BY id LIMIT 1
"""
_SELECT_UPDATE_MADE = """
SELECT id FROM obligations
WHERE org_id = :org_id AND business_id = :business_id AND kind = 'itsa_quarterly_update' AND status = 'fulfilled'
    AND period_end_date BETWEEN :first AND :last
ORDER BY id LIMIT 1
"""
_SELECT_OPEN_OF_BUSINESS = """
SELECT id FROM obligations
WHERE org_id = :org_id AND business_id = :business_id AND status = 'open' AND undecided = 0
    AND period_start_date <= :today
ORDER BY due_date, id LIMIT 1
"""
_SELECT_OPEN_UPDATES = f"""{OBLIGATIONS.select} AND business_id = :business_id
    AND kind = 'itsa_quarterly_update' AND status = 'open' AND period_end_date BETWEEN :first AND :last
ORDER BY due_date, id"""
_INSERT_EVENT = """
INSERT INTO obligation_events (id, org_id, obligation_id, type, at, noted_by, detail)
VALUES (:id, :org_id, :obligation_id, :type, :now, :noted_by, :detail)
"""
_SELECT_EVENTS = """
SELECT type, at, noted_by, detail FROM obligation_events
WHERE org_id = :org_id AND obligation_id = :obligation_id ORDER BY id
"""
# Chosen: that something was told is no change that a caller's `expectedVersion` could run into.
_MARK_DUE_SOON = "UPDATE obligations SET due_soon_for = due_date WHERE org_id = :org_id AND id = :id"
_MARK_OVERDUE = "UPDATE obligations SET overdue_for = due_date WHERE org_id = :org_id AND id = :id"


def key_of(row: ObligationRow) -> ObligationKey:
    """What tells it from the other obligations of its entity."""
    return ObligationKey(row.kind, row.business_id, row.period_end_date, row.slot)


def shown(row: ObligationRow, today: str) -> Obligation:
    """The obligation as it is on a day: the due day itself is open still (domain model C7)."""
    status: Status = "overdue" if row.status == "open" and today > row.due_date and not row.undecided else row.status
    left = datetime.date.fromisoformat(row.due_date) - datetime.date.fromisoformat(today)
    return project(row, Obligation, status=status, days_until_due=left.days)


def of_entity(tx: ReadTx, legal_entity_id: str, business_id: str | None = None) -> dict[ObligationKey, ObligationRow]:
    """All obligations of a legal entity; with a business, without those of the others."""
    select = _SELECT_OF_ENTITY if business_id is None else _SELECT_BESIDE_BUSINESSES
    rows = tx.rows(select, legal_entity_id=legal_entity_id, business_id=business_id)
    obligations = (OBLIGATIONS.read(tx, row) for row in rows)
    return {key_of(row): row for row in obligations}


def find(tx: ReadTx, legal_entity_id: str, key: ObligationKey) -> ObligationRow | None:
    """The obligation of that key, if there is one."""
    kind, business_id, end, slot = key
    values = {"of": business_id or "", "kind": kind, "end": end, "slot": slot}
    columns = tx.row(_SELECT_BY_KEY, legal_entity_id=legal_entity_id, **values)
    return None if columns is None else OBLIGATIONS.read(tx, columns)


def ids_of_period(tx: ReadTx, period_id: str) -> list[str]:
    """The obligations of a period."""
    return [row[0] for row in tx.rows(_SELECT_OF_PERIOD, period_id=period_id)]


def filed_of_period(tx: ReadTx, period_id: str) -> str | None:
    """An obligation of a period that the authority says is fulfilled."""
    obligation_id: str | None = tx.value(_SELECT_FILED, period_id=period_id)
    return obligation_id


def are_payments_on_account(tx: ReadTx, legal_entity_id: str, start: str) -> bool:
    """Whether there are payments on account of a period that begins on an ISO date; dismissed ones count too."""
    return tx.row(_SELECT_ON_ACCOUNT, legal_entity_id=legal_entity_id, start=start) is not None


def update_made(tx: ReadTx, business_id: str, first: str, last: str) -> str | None:
    """A quarterly update of a business that was made for a quarter that ends within these ISO dates."""
    obligation_id: str | None = tx.value(_SELECT_UPDATE_MADE, business_id=business_id, first=first, last=last)
    return obligation_id


def open_of_business(tx: ReadTx, business_id: str) -> str | None:
    """The first obligation of a business that is not met. Chosen: of a period that is to come there is none yet."""
    obligation_id: str | None = tx.value(_SELECT_OPEN_OF_BUSINESS, business_id=business_id, today=tx.today)
    return obligation_id


def events_of(tx: ReadTx, obligation_id: str) -> list[ObligationEvent]:
    """What happened to an obligation, in its order."""
    rows = tx.rows(_SELECT_EVENTS, obligation_id=obligation_id)
    return [ObligationEvent(type=type_, at=Instant(at), by=by, detail=detail) for type_, at, by, detail in rows]


def note(tx: WriteTx, row: ObligationRow, type_: EventType, by: str | None = None, detail: str | None = None) -> None:
    """Write down what happened to an obligation."""
    tx.run(_INSERT_EVENT, id=tx.new_id("oev"), obligation_id=row.id, type=type_, noted_by=by, detail=detail)


def fulfil(tx: WriteTx, row: ObligationRow, received_date: str | None, by: str | None) -> ObligationRow:
    """Mark an obligation as met, and with a quarterly update those before it (domain model C7).

    `received_date` is ISO, None where nobody said it; `by` None is the authority.
    """
    done = replace(row, status="fulfilled", dismissed=False, received_date=received_date, fulfilled_at=tx.now)
    done = OBLIGATIONS.update(tx, done)
    note(tx, done, "fulfilled", by, received_date)
    for other in open_updates_beside(tx, row):
        confirmed = by is not None and other.source == "tax_authority"  # which says itself what it received
        if confirmed or other.period_end_date > row.period_end_date:
            continue
        met = replace(other, status="fulfilled", received_date=received_date, fulfilled_at=tx.now)
        OBLIGATIONS.update(tx, met)
        note(tx, met, "fulfilled", by, f"with the update to {row.period_end_date}")
    return done


def mark_due_soon(tx: WriteTx, obligation_id: str) -> None:
    """Note that it was told of the due date that comes near."""
    tx.run(_MARK_DUE_SOON, id=obligation_id)


def mark_overdue(tx: WriteTx, obligation_id: str) -> None:
    """Note that it was told of the due date that has passed."""
    tx.run(_MARK_OVERDUE, id=obligation_id)


def open_updates_beside(tx: ReadTx, row: ObligationRow) -> list[ObligationRow]:
    """The other open updates of the source and tax year of a quarterly update, by due date."""
    if row.kind != "itsa_quarterly_update" or row.business_id is None:
        return []
    first, last = bounds(tax_year_of(row.period_end_date))
    rows = tx.rows(_SELECT_OPEN_UPDATES, business_id=row.business_id, first=first, last=last)
    return [other for other in (OBLIGATIONS.read(tx, values) for values in rows) if other.id != row.id]


def is_silent(tx: ReadTx, days: int) -> bool:
    """Whether there is nothing to tell; `days` is how long before it a due date is near."""
    return (
        tx.row(_SELECT_PASSED_ANY_ORG, today=tx.today, count=1) is None
        and tx.row(_SELECT_TO_COME_ANY_ORG, today=tx.today, until=days_after(tx.today, days), count=1) is None
    )


def tell_some(tx: WriteTx, days: int) -> None:
    """Tell of some of what there is to tell of, in all organizations."""
    for org_id, id_ in tx.rows(_SELECT_PASSED_ANY_ORG, today=tx.today, count=TOLD_AT_ONCE):
        tx.bind(org_id)
        row = OBLIGATIONS.get(tx, id_)
        if _was_known(tx, row):
            _tell(tx, "obligation.overdue", row)
        mark_overdue(tx, id_)
    for org_id, id_ in tx.rows(
        _SELECT_TO_COME_ANY_ORG, today=tx.today, until=days_after(tx.today, days), count=TOLD_AT_ONCE
    ):
        tx.bind(org_id)
        _tell(tx, "obligation.due_soon", OBLIGATIONS.get(tx, id_))
        mark_due_soon(tx, id_)


def _was_known(tx: ReadTx, row: ObligationRow) -> bool:
    """Whether the due date stood in the books on that day.

    Chosen: what was due before its entity came into the books, and a date that is put right once it has passed, are no
    news, or the first start would tell of a whole year.
    """
    changed = tx.value(_SELECT_CHANGED, id=row.id)
    return london_date(Instant(max(row.created_at, changed or 0))) <= row.due_date


def _tell(tx: WriteTx, kind: str, row: ObligationRow) -> None:
    """Record the event, unless the entity is archived: nobody waits for it."""
    owner = owners.find(tx, row.legal_entity_id)
    if owner is None or owner.archived:
        return
    left = datetime.date.fromisoformat(row.due_date) - datetime.date.fromisoformat(tx.today)
    data = {
        "obligation_id": row.id,
        "kind": row.kind,
        "legal_entity_id": row.legal_entity_id,
        "business_id": row.business_id,
        "period_start_date": row.period_start_date,
        "period_end_date": row.period_end_date,
        "due_date": row.due_date,
        "days_until_due": left.days,
        "confidence": row.confidence,
    }
    events.append(tx, kind, data)
