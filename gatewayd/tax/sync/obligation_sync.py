"""`obligations.sync`: obligations of a legal entity compared with the tax authority's (domain model A9, B9).

    who is asked about -> what the authority has -> compared and written in one transaction

Nothing of ours is held while the authority is asked: killed meanwhile, nothing has changed.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from gatewayd.areas.businesses import rows as businesses
from gatewayd.areas.legal_entities import rows as legal_entities
from gatewayd.areas.legal_entities.shapes import ItsaStatus
from gatewayd.areas.periods.obligation_sync import (
    ObligationDifference,
    ObligationSync,
    SyncObligations,
    UnknownSource,
)
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, invalid, invalid_field, invalid_state
from gatewayd.http1.request import Request as HttpRequest
from gatewayd.ledger.dates.tax_calendar import tax_year_of
from gatewayd.ledger.obligations import confirmations, obligations
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.ledger.obligations.obligations import ObligationKey, ObligationRow
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, WriteTx
from gatewayd.tax.forwarding import taxpayers
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.tax.forwarding.taxpayers import Taxpayer
from gatewayd.tax.sync.obligation_inquiry import AuthorityObligation, ObligationInquiry, Standing

ID: Final = "obligations.sync"
_FIELDS: Final = ("periodStartDate", "dueDate", "status", "receivedDate")


class Deps(Protocol):
    """What the row is given to work with."""

    @property
    def tax(self) -> Proxy: ...


class _Matched(NamedTuple):
    """What the authority told, under the ids of our businesses."""

    said: list[Confirmed]
    unknown: list[UnknownSource]


async def sync_obligations(
    deps: Deps, caller: Caller, request: SyncObligations, incoming: HttpRequest
) -> ObligationSync:
    """Compare a legal entity's obligations with the tax authority's, and take over what it says.

    VAT returns, quarterly updates and final declarations: what the authority has takes the place of what the calendar
    predicted, and its due dates hold. Where the two differed is answered. Quarterly updates are taken over for
    businesses that have a taxBusinessId: compare these first (`businesses.syncTaxBusiness`). With Income Tax goes the
    `itsaStatus` of the entity. Needs fraud-prevention headers, as every request that reaches the authority does.
    """
    async with deps.tax.open_session(ID, caller, incoming) as session:
        store, org_id = deps.tax.store, caller.org_id
        taxpayer, today = await store.read(lambda tx: (_taxpayer(tx, request), tx.today), org_id)
        session.legal_entity_id = request.legal_entity_id
        inquiry = ObligationInquiry(session, taxpayer, today)
        taxes = request.taxes or ["vat", "income_tax"]
        told = await inquiry.vat() if "vat" in taxes else []
        standing = None
        if "income_tax" in taxes:
            told += await inquiry.income_tax()
            standing = await inquiry.itsa_status()
        if request.dry_run:
            return await store.read(lambda tx: _compare(tx, request, taxpayer, told), org_id)
        return await store.write(lambda tx: _take_over(tx, request, taxpayer, told, standing), org_id)


def _taxpayer(tx: ReadTx, request: SyncObligations) -> Taxpayer:
    """Raises `Problem`: `invalid_state`, `validation_failed` where there is no such entity, or it has no number."""
    owner = owners.find(tx, request.legal_entity_id)
    if owner is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if owner.archived:
        message = "The legal entity is archived: bring it back first, by `status` of `legalEntity.updateLegalEntity`."
        raise invalid_state(message, "archived", ("active",))
    taxpayer = taxpayers.of_entity(tx, request.legal_entity_id)
    numbers = {"vat": taxpayer.vrn, "income_tax": taxpayer.nino}
    if not any(numbers.values()):
        message = "The legal entity has neither a VAT registration number nor a National Insurance number."
        raise invalid_field("legalEntityId", "required", message)
    for index, tax in enumerate(request.taxes or ()):
        if numbers[tax] is None:
            raise invalid_field(f"taxes[{index}]", "required", "The legal entity has no number for this tax.")
    return taxpayer


def _compare(
    tx: ReadTx, request: SyncObligations, taxpayer: Taxpayer, told: list[AuthorityObligation]
) -> ObligationSync:
    """The answer to a dry run."""
    matched = _match(tx, request, taxpayer, told)
    rows = [_find(tx, request.legal_entity_id, confirmed) for confirmed in matched.said]
    differences = _differences(tx, request.legal_entity_id, matched.said)
    return _answer(tx, [row for row in rows if row is not None], differences, matched.unknown)


def _take_over(
    tx: WriteTx,
    request: SyncObligations,
    taxpayer: Taxpayer,
    told: list[AuthorityObligation],
    standing: Standing | None,
) -> ObligationSync:
    """Raises `Problem` `version_conflict`; then nothing is changed."""
    matched = _match(tx, request, taxpayer, told)
    differences = _differences(tx, request.legal_entity_id, matched.said)
    after = confirmations.confirm(tx, request.legal_entity_id, matched.said)
    if standing is not None:
        status = ItsaStatus(**standing._asdict(), fetched_at=tx.now)
        legal_entities.keep_itsa_status(tx, request.legal_entity_id, status)
    return _answer(tx, after, differences, matched.unknown)


def _match(tx: ReadTx, request: SyncObligations, taxpayer: Taxpayer, told: list[AuthorityObligation]) -> _Matched:
    if _taxpayer(tx, request) != taxpayer:
        raise Problem("version_conflict", "The legal entity has changed while the tax authority was asked. Try again.")
    ours = {row.tax_business_id: row.id for row in businesses.of_entity(tx, request.legal_entity_id)}
    said: list[Confirmed] = []
    unknown: dict[str, int] = {}
    for obligation in told:
        if obligation.tax_business_id is None:
            said.append(obligation.said)
        elif obligation.tax_business_id in ours:
            said.append(obligation.said._replace(business_id=ours[obligation.tax_business_id]))
        else:
            unknown[obligation.tax_business_id] = unknown.get(obligation.tax_business_id, 0) + 1
    sources = [UnknownSource(tax_business_id=id_, obligation_count=count) for id_, count in unknown.items()]
    return _Matched(said, sources)


def _find(tx: ReadTx, legal_entity_id: str, confirmed: Confirmed) -> ObligationRow | None:
    slot = confirmations.slot_of(confirmed.kind, confirmed.due_date)
    return obligations.find(
        tx, legal_entity_id, ObligationKey(confirmed.kind, confirmed.business_id, confirmed.period_end_date, slot)
    )


def _differences(tx: ReadTx, legal_entity_id: str, said: list[Confirmed]) -> list[ObligationDifference]:
    pairs = ((_find(tx, legal_entity_id, confirmed), confirmed) for confirmed in said)
    differences = [difference for row, confirmed in pairs for difference in _differing(row, confirmed)]
    return [*differences, *_unmentioned(tx, legal_entity_id, said)]


def _unmentioned(tx: ReadTx, legal_entity_id: str, said: list[Confirmed]) -> Iterator[ObligationDifference]:
    """What the calendar predicts between periods that the authority named, and it did not name (Domain F.8).

    Chosen: of quarterly updates it is asked for whole tax years, so that each of a year counts of which it named one;
    of others what ends before the first or after the last that it named is not missing yet, or not any more.
    """
    named: dict[tuple[str, str | None], list[Confirmed]] = {}
    for confirmed in said:
        named.setdefault((confirmed.kind, confirmed.business_id), []).append(confirmed)
    for row in obligations.of_entity(tx, legal_entity_id).values():
        others = named.get((row.kind, row.business_id))
        if others is not None and row.source == "local" and row.status == "open" and _is_missing(row, others):
            yield ObligationDifference(
                obligation_id=row.id,
                kind=row.kind,
                business_id=row.business_id,
                period_end_date=row.period_end_date,
                field="status",
                local=row.status,
                remote=None,
            )


def _is_missing(row: ObligationRow, others: list[Confirmed]) -> bool:
    """Whether the authority would have named a period, where it named the others of its kind and business."""
    ends = {other.period_end_date for other in others}
    if row.period_end_date in ends:
        return False
    if row.kind != "itsa_quarterly_update":
        return min(ends) < row.period_end_date < max(ends)
    of_year = [other for other in others if tax_year_of(other.period_end_date) == tax_year_of(row.period_end_date)]
    is_met = any(other.is_fulfilled and other.period_end_date > row.period_end_date for other in of_year)  # Domain C7
    return bool(of_year) and not is_met


def _differing(row: ObligationRow | None, confirmed: Confirmed) -> Iterator[ObligationDifference]:
    """The members that differ; of one that is not in the books, all that the authority says."""
    local = (None,) * 4 if row is None else (row.period_start_date, row.due_date, row.status, row.received_date)
    status = "fulfilled" if confirmed.is_fulfilled else "open"
    remote = (confirmed.period_start_date, confirmed.due_date, status, confirmed.received_date)
    for field, ours, theirs in zip(_FIELDS, local, remote, strict=True):
        if ours != theirs:
            yield ObligationDifference(
                obligation_id=None if row is None else row.id,
                kind=confirmed.kind,
                business_id=confirmed.business_id,
                period_end_date=confirmed.period_end_date,
                field=field,
                local=ours,
                remote=theirs,
            )


def _answer(
    tx: ReadTx,
    rows: list[ObligationRow],
    differences: list[ObligationDifference],
    unknown: list[UnknownSource],
) -> ObligationSync:
    shown = [obligations.shown(row, tx.today) for row in rows]
    return ObligationSync(obligations=shown, differences=differences, unknown_sources=unknown, synced_at=tx.now)
