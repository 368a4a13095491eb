"""What `gatewayd verify` looks at beside the database: the bytes of documents and bundles, and how much there is.

And of holdings: what is not what transactions bring, and what doesn't follow from that.
"""

import sys
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.cli.context import Context
from gatewayd.cli.progress import Progress

if TYPE_CHECKING:
    from gatewayd.store import Store
    from gatewayd.store.backups.named_blobs import NamedFile
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gatewayd.areas.assets.pools.reconciling import Faults, Stale
    from gatewayd.store import Store, WriteTx

CHUNK: Final = 20  # holdings that one read computes: seconds, where each has thousands of days


class VerifiedFiles(NamedTuple):
    """How many files were looked at, and a sentence for each fault."""

    files: int
    faults: list[str]


def verify_files(context: Context, *, repairs: bool) -> VerifiedFiles:
    """Read every file that is named. `repairs`: what is damaged is set aside, and what is kept is counted anew."""

    async def work(store: "Store") -> VerifiedFiles:
        from gatewayd.ledger import named_files

        named = {file.sha256: file for file in await store.read_later(lambda tx: [*named_files.every(tx)], None)}
        faults = _look(store, [*named.values()], repairs=repairs)
        return VerifiedFiles(len(named), faults + await _miscounted(store, repairs=repairs))

    return context.run(work)


def _look(store: "Store", named: "list[NamedFile]", *, repairs: bool) -> list[str]:
    from gatewayd.store.files.at_place import blobs_at, require_marked

    require_marked(store.place)
    blobs, faults = blobs_at(store.place), []
    with Progress(sys.stderr, len(named), sum(file.size_bytes for file in named)) as progress:
        for file in named:
            fault = blobs.fault_of(file.sha256, file.size_bytes)
            if fault == "lost":
                faults.append(f"the bytes of {file.named_by} are lost: import or upload them again")
            elif fault == "damaged":
                aside = f", and lie in {blobs.set_aside(store.place.folder, file.sha256)} now" if repairs else ""
                faults.append(f"the bytes of {file.named_by} are not those that were stored{aside}")
            progress.advance(file.size_bytes, file.named_by)
    return faults


async def _miscounted(store: "Store", *, repairs: bool) -> list[str]:
    """Organizations of which it is known otherwise than it is how much they keep."""
    from gatewayd.areas.vault.documents import usage
    from gatewayd.identity.people import organizations

    faults = []
    for org in await store.read(organizations.list_all):
        known, counted = await store.read_later(lambda tx: (usage.of_organization(tx), usage.counted(tx)), org.id)
        if known != counted:
            faults.append(f"{org.id} keeps {counted.bytes} bytes of documents, and {known.bytes} are noted")
            if repairs:
                await store.write(usage.count_anew, org.id)
    return faults


def holdings_at_fault(context: Context, *, repairs: bool) -> list[str]:
    """A sentence for each sum and holding that is not what it is made of. `repairs`: it is made so."""

    async def work(store: "Store") -> list[str]:
        from gatewayd.areas.assets.pools import reconciling
        from gatewayd.identity.people import organizations

        faults = []
        for org in await store.read(organizations.list_all):
            faults += await _not_brought(store, org.id, repairs=repairs)
            faults += await _sums(store, org.id, repairs=repairs)
            stale = await _stale(store, org.id)
            if stale and repairs:
                await store.write(partial(reconciling.compute_anew, keys=[holding.key for holding in stale]), org.id)
            faults += [_sentence(holding, repaired=repairs) for holding in stale]
        return faults

    return context.run(work)


async def _not_brought(store: "Store", org_id: str, *, repairs: bool) -> list[str]:
    """What is not as transactions bring it: days of holdings, and splits."""
    from gatewayd.areas.assets.pools import reconciling

    sentences: list[str] = []
    last: str | None = ""
    while last is not None:
        look = partial(reconciling.faults, after=last, count=CHUNK)
        faults = await store.read_later(look, org_id)
        if repairs and (faults.days or faults.splits):
            await store.write(partial(_enter_anew, after=last), org_id)
        sentences += _sentences(faults, _mended("entered", repaired=repairs))
        last = faults.last
    return sentences


def _enter_anew(tx: "WriteTx", after: str) -> None:
    from gatewayd.areas.assets.pools import reconciling

    reconciling.enter_anew(tx, reconciling.faults(tx, after, CHUNK))


def _sentences(faults: "Faults", mended: str) -> list[str]:
    """One for each holding, from its first day on."""
    since: dict[tuple[str, str], str] = {}
    for day in faults.days:
        since.setdefault(day.key, day.stored.date)
    splits = [f"{id_} has other splits than its transactions tell{mended}" for id_ in faults.splits]
    days = [
        f"what {scope} holds of {instrument} is not what its transactions bring from {date} on{mended}"
        for (scope, instrument), date in since.items()
    ]
    return splits + days


async def _sums(store: "Store", org_id: str, *, repairs: bool) -> list[str]:
    from gatewayd.areas.assets.pools import cash, income_years

    balances = await store.read_later(cash.missing, org_id)
    earned = await store.read_later(income_years.missing, org_id)
    if repairs:
        await store.write(cash.add_missing, org_id)
        await store.write(income_years.add_missing, org_id)
    mended = _mended("added up", repaired=repairs)
    cash_of = [
        f"the cash of {account} in {of} is not what its transactions come to{mended}" for account, of in balances
    ]
    return cash_of + [
        f"the income of {account} since 6 April {year} is not that of its transactions{mended}"
        for account, year in earned
    ]


async def _stale(store: "Store", org_id: str) -> "list[Stale]":
    from gatewayd.areas.assets.pools import reconciling

    holdings, after = await store.read_later(
        partial(reconciling.stale, after=reconciling.BEFORE_ALL, count=CHUNK), org_id
    )
    while after is not None:
        more, after = await store.read_later(partial(reconciling.stale, after=after, count=CHUNK), org_id)
        holdings += more
    return holdings


def _sentence(holding: "Stale", *, repaired: bool) -> str:
    since = f"from {holding.since} on" if holding.since else "today"
    mended = _mended("computed", repaired=repaired)
    return (
        f"what {holding.key.scope_id} holds of {holding.key.instrument_id} is not what its days come to {since}{mended}"
    )


def _mended(how: str, *, repaired: bool) -> str:
    return f", and was {how} anew" if repaired else ""
