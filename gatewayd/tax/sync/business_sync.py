"""`businesses.syncTaxBusiness`: businesses of a person compared with the tax authority's (domain model A2, B2).

    who is asked about -> what the authority has -> compared and written in one transaction

Nothing of ours is held while the authority is asked: what it said is compared with the rows as they are afterwards.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from msgspec.structs import replace

from gatewayd.areas.businesses import rows, tax_sync
from gatewayd.areas.businesses.rows import BUSINESSES
from gatewayd.areas.businesses.shapes import Business, BusinessRow, TaxSync, TaxSyncStatus
from gatewayd.areas.businesses.tax_sync import SyncTaxBusiness, TaxBusinessChange, TaxBusinessSync
from gatewayd.contract.caller import Caller
from gatewayd.errors import Problem, invalid_field, invalid_state, not_found
from gatewayd.http1.request import Request as HttpRequest
from gatewayd.ledger.taxpayers import owners
from gatewayd.store import ReadTx, Store, WriteTx
from gatewayd.tax.forwarding import taxpayers
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.tax.sync.business_details import (
    TYPES,
    Difference,
    Inquiry,
    ListedSource,
    Source,
    differences,
    match_sources,
)

ID: Final = "businesses.syncTaxBusiness"
_WIRE_NAMES: Final = dict(zip(Business.__struct_fields__, Business.__struct_encode_fields__, strict=True))
_FAILED: Final = frozenset({"tax_upstream_error", "tax_upstream_timeout", "tax_reauthorisation_required"})
"""What is left on the businesses as a comparison that failed; of other refusals the authority knows nothing."""


class Deps(Protocol):
    """What the row is given to work with."""

    @property
    def tax(self) -> Proxy: ...


class _Subject(NamedTuple):
    """Who is asked about. `business_id` None: all of the entity's."""

    legal_entity_id: str
    nino: str
    business_id: str | None
    businesses: list[BusinessRow]  # as they were before the authority was asked


class _Remote(NamedTuple):
    """What the authority said, by its ids. A source that is listed and has no details is gone."""

    listed: Mapping[str, ListedSource]
    sources: Mapping[str, Source]


class _Pair(NamedTuple):
    """One source of income: ours, theirs, or both."""

    row: BusinessRow | None
    source: Source | None


async def sync_tax_business(
    deps: Deps, caller: Caller, request: SyncTaxBusiness, incoming: HttpRequest
) -> TaxBusinessSync:
    """Compare businesses with the tax authority, and take over what it says.

    With `id` one business, with `legalEntityId` every source of income of a person: those that are not kept here are
    added. A business is known by its taxBusinessId; one that has none yet by its type and name, or by its type where
    there is one of it on both sides. Two things are told and not taken over: that a business goes on which has ceased
    here, and another accounting basis under closed books. Needs fraud-prevention headers, as every request that
    reaches the authority does.
    """
    if (request.id is None) == (request.legal_entity_id is None):
        code = "required" if request.id is None else "conflict"
        raise invalid_field("legalEntityId", code, "Give id, of a business, or legalEntityId: one of the two.")
    async with deps.tax.open_session(ID, caller, incoming) as session:
        store, org_id = deps.tax.store, caller.org_id
        subject = await store.read(lambda tx: _subject(tx, request), org_id)
        session.legal_entity_id = subject.legal_entity_id
        try:
            remote = await _fetch(Inquiry(session, subject.nino), subject)
        except Problem as problem:
            if not request.dry_run:
                await _note_failure(store, org_id, subject, problem)
            raise
        if request.dry_run:
            return await store.read(lambda tx: _compare(tx, subject, remote), org_id)
        return await store.write(lambda tx: _take_over(tx, subject, remote), org_id)


# -- before the authority is asked


def _subject(tx: ReadTx, request: SyncTaxBusiness) -> _Subject:
    """Raises `Problem`: `not_found`, `invalid_state`, `validation_failed` with `nino_required`."""
    entity_id = request.legal_entity_id
    if request.id is not None:
        entity_id = BUSINESSES.get(tx, request.id).legal_entity_id
    assert entity_id is not None
    nino = _nino(tx, entity_id)
    if nino is None:
        path = "id" if request.id is not None else "legalEntityId"
        raise invalid_field(path, "nino_required", "The legal entity has no National Insurance number.")
    return _Subject(entity_id, nino, request.id, rows.of_entity(tx, entity_id))


def _nino(tx: ReadTx, legal_entity_id: str) -> str | None:
    owner = owners.find(tx, legal_entity_id)
    if owner is None:
        raise not_found("legal entity")
    if owner.archived:
        message = "The legal entity is archived: bring it back first, by `status` of `legalEntity.updateLegalEntity`."
        raise invalid_state(message, "archived", ("active",))
    return taxpayers.of_entity(tx, legal_entity_id).nino


# -- the authority


async def _fetch(inquiry: Inquiry, subject: _Subject) -> _Remote:
    """Raises `Problem`."""
    if subject.business_id is not None:
        return await _fetch_one(inquiry, subject)
    listed = await inquiry.list_sources()
    sources = {}
    for tax_business_id in listed:
        try:
            sources[tax_business_id] = await inquiry.get_source(tax_business_id)
        except Problem as problem:
            if problem.code != "not_found":
                raise
    return _Remote(listed, sources)


async def _fetch_one(inquiry: Inquiry, subject: _Subject) -> _Remote:
    (mine,) = (row for row in subject.businesses if row.id == subject.business_id)
    tax_business_id = mine.tax_business_id
    if tax_business_id is not None:
        source = await inquiry.get_source(tax_business_id)
        return _Remote({tax_business_id: ListedSource(tax_business_id, mine.type, None)}, {tax_business_id: source})
    listed = await inquiry.list_sources()
    pairs = match_sources(subject.businesses, listed)
    source_id = next((id_ for id_, row in pairs.items() if row.id == mine.id), None)
    if source_id is None:
        raise Problem("not_found", "None of the person's businesses at the tax authority can be told to be this one.")
    return _Remote(listed, {source_id: await inquiry.get_source(source_id)})


async def _note_failure(store: Store, org_id: str, subject: _Subject, problem: Problem) -> None:
    """Record the failure on the businesses that were asked about."""
    if problem.code != "not_found" and problem.code not in _FAILED:
        return
    upstream = problem.extra.get("upstream")
    code = upstream.get("code") if isinstance(upstream, dict) else None

    def work(tx: WriteTx) -> None:
        for row in rows.of_entity(tx, subject.legal_entity_id):
            if row.id == subject.business_id or (subject.business_id is None and _is_comparable(row)):
                tax_sync.take_over(tx, row.id, {}, _failure(tx, row, problem.code, code))

    await store.write(work, org_id)


def _failure(tx: WriteTx, row: BusinessRow, problem_code: str, upstream_code: str | None) -> TaxSync:
    """The record of a comparison that failed, and why."""
    if problem_code == "not_found":
        return _missing(tx, row, upstream_code)
    return replace(row.tax_sync, status="failed", error=upstream_code or problem_code)


def _missing(tx: ReadTx, row: BusinessRow, code: str | None = None) -> TaxSync:
    return replace(row.tax_sync, status="not_found", synced_at=tx.now, error=code)


# -- after it has answered


def _compare(tx: ReadTx, subject: _Subject, remote: _Remote) -> TaxBusinessSync:
    """The answer to a dry run."""
    pairs = _pairs(tx, subject, remote)
    changes = [change for pair in pairs for change in _changes(pair.row, pair)]
    return _answer(tx, subject, [pair.row for pair in pairs if pair.row is not None], changes)


def _take_over(tx: WriteTx, subject: _Subject, remote: _Remote) -> TaxBusinessSync:
    """Raises `Problem`: `not_found`, `version_conflict`, `already_exists`, `limit_reached`; then nothing is changed."""
    pairs = _pairs(tx, subject, remote)
    after = [_apply(tx, subject, pair) for pair in pairs]
    changes = [change for row, pair in zip(after, pairs, strict=True) for change in _changes(row, pair)]
    return _answer(tx, subject, after, changes)


def _pairs(tx: ReadTx, subject: _Subject, remote: _Remote) -> list[_Pair]:
    """What is to be compared, with our side as it is now."""
    if _nino(tx, subject.legal_entity_id) != subject.nino:
        raise _changed_meanwhile()
    businesses = rows.of_entity(tx, subject.legal_entity_id)
    known = match_sources(businesses, remote.listed)
    pairs = [_Pair(known.get(tax_business_id), source) for tax_business_id, source in remote.sources.items()]
    if subject.business_id is not None:
        if subject.business_id not in {row.id for row in businesses}:
            raise not_found(BUSINESSES.kind)
        if [pair.row.id for pair in pairs if pair.row is not None] != [subject.business_id]:
            raise _changed_meanwhile()
        return pairs
    met = {pair.row.id for pair in pairs if pair.row is not None}
    return [*pairs, *(_Pair(row, None) for row in businesses if row.id not in met and _is_comparable(row))]


def _apply(tx: WriteTx, subject: _Subject, pair: _Pair) -> BusinessRow:
    """The business once the authority's word is taken over."""
    row, source = pair
    if source is None:
        assert row is not None
        return tax_sync.take_over(tx, row.id, {}, _missing(tx, row))
    if row is None:
        return tax_sync.adopt(tx, subject.legal_entity_id, source.values, _record(tx, source, "in_sync"))
    differing = differences(row, source)
    taken = {difference.field: difference.remote for difference in differing if not _is_left(tx, row, difference)}
    return tax_sync.take_over(
        tx, row.id, taken, _record(tx, source, "in_sync" if len(taken) == len(differing) else "differs")
    )


def _is_left(tx: ReadTx, row: BusinessRow, difference: Difference) -> bool:
    """Chosen: the authority may not have been told of a cessation yet; and what closed books rest on stays."""
    if difference.field == "accounting_basis":
        return rows.is_basis_fixed(tx, row)
    return difference.remote is None


def _record(tx: ReadTx, source: Source, status: TaxSyncStatus) -> TaxSync:
    return TaxSync(
        status=status,
        synced_at=tx.now,
        error=None,
        latency=source.latency,
        year_of_migration=source.year_of_migration,
    )


def _is_comparable(row: BusinessRow) -> bool:
    """Whether the authority should have it."""
    return row.archived_at is None and row.type in TYPES


def _changed_meanwhile() -> Problem:
    return Problem("version_conflict", "The business has changed while the tax authority was asked. Try again.")


def _changes(named: BusinessRow | None, pair: _Pair) -> list[TaxBusinessChange]:
    """The differences of a pair; `named` is the business that they are told of."""
    if pair.source is None:
        return []
    return [
        TaxBusinessChange(
            business_id=None if named is None else named.id,
            tax_business_id=pair.source.tax_business_id,
            field=_WIRE_NAMES[difference.field],
            local=difference.local,
            remote=difference.remote,
        )
        for difference in differences(pair.row, pair.source)
    ]


def _answer(
    tx: ReadTx, subject: _Subject, businesses: list[BusinessRow], changes: list[TaxBusinessChange]
) -> TaxBusinessSync:
    shown = [rows.shown(row, tx.today) for row in sorted(businesses, key=lambda row: row.id)]
    if subject.business_id is None:
        return TaxBusinessSync(businesses=shown, changes=changes, synced_at=tx.now)
    return TaxBusinessSync(business=shown[0], changes=changes, synced_at=tx.now)
