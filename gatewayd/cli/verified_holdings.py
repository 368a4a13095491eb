"""What `gatewayd verify` finds of holdings: days whose lots, pools and gains are not what their inputs come to."""

from functools import partial
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import Context

if TYPE_CHECKING:
    from gatewayd.areas.assets.pools.checking import Stale
    from gatewayd.store import Store

CHUNK: Final = 20  # holdings that one read computes: seconds, where each has thousands of days


def stale_holdings(context: Context, *, repairs: bool) -> list[str]:
    """A sentence for each holding that is stale. `repairs`: it is computed anew."""

    async def work(store: "Store") -> list[str]:
        from gatewayd.areas.assets.pools import recording
        from gatewayd.identity import organizations

        faults = []
        for org in await store.read(organizations.list_all):
            stale = await _stale(store, org.id)
            if stale and repairs:
                await store.write(partial(recording.compute_anew, keys=[one.key for one in stale]), org.id)
            faults += [_sentence(one, repaired=repairs) for one in stale]
        return faults

    return context.run(work)


async def _stale(store: "Store", org_id: str) -> "list[Stale]":
    from gatewayd.areas.assets.pools import checking

    found, after = await store.read_later(partial(checking.stale, after=checking.BEFORE_ALL, count=CHUNK), org_id)
    while after is not None:
        more, after = await store.read_later(partial(checking.stale, after=after, count=CHUNK), org_id)
        found += more
    return found


def _sentence(one: "Stale", *, repaired: bool) -> str:
    since = f"from {one.since} on" if one.since else "today"
    mended = ", and was computed anew" if repaired else ""
    return f"what {one.key.scope_id} holds of {one.key.instrument_id} is not what its days come to {since}{mended}"
