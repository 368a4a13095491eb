"""What metering costs: where nothing has a price, where other things have one, and where the call itself has.

Three daemons over the same books in one run, in turn: one without prices or plans, one whose organization has a plan
while something else costs credits, and one where the operations asked for cost credits.
"""

import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import trio

from gatewayd.clock import SystemClock
from gatewayd.money import MICRO
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from tests.bench.measure import Effort, Samples, Subject, interleave, ratios
from tests.bench.report import Figure, Report, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, daemon, get, post_invoice
from tests.bench.spellings import not_asked_before
from tests.support import purses

CONNECTIONS = 32
POST, GET, NEW = "POST invoice", "GET entity", "GET entity, not asked before"
NOTHING, ELSEWHERE, METERED = "no prices", "other prices", "metered"
_ORGANIZATION = "SELECT org_id FROM api_keys LIMIT 1"
_PRICED = {
    NOTHING: (),
    ELSEWHERE: ("vault.parse", "tax.forward"),
    METERED: ("accounting.createInvoice", "legalEntity.getLegalEntity"),
}


def measure_metering(bench: Bench, seeded: Seeded, effort: Effort, report: Report) -> None:
    """Writes over 32 connections and reads over one, each in the three ways."""
    with ExitStack() as stack:
        subjects = []
        for way, names in _PRICED.items():
            data = _copy(seeded, bench.scratch / f"metering-{way.replace(' ', '-')}", names)
            server = stack.enter_context(daemon(bench, data))
            post = post_invoice("/api/rpc/invoices", data)
            path = f"/api/rpc/legalEntity/getLegalEntity?id={data.entity_id}"
            subjects += [
                Subject(name=f"{POST}, {way}", server=server, request=post, connections=CONNECTIONS),
                Subject(name=f"{GET}, {way}", server=server, request=get(path, data.key)),
                Subject(name=f"{NEW}, {way}", server=server, request=not_asked_before(path, data.key)),
            ]
        samples = interleave(subjects, effort)
    report.add("Metering", samples, _figures(samples))


def _figures(samples: Samples) -> list[Figure]:
    def ratio(what: str, way: str) -> list[float]:
        return ratios(samples, f"{what}, {way}", f"{what}, {NOTHING}")

    return [
        Figure(f"{POST}: {ELSEWHERE} / {NOTHING}", ratio(POST, ELSEWHERE), at_most(1.05)),
        Figure(f"{GET}: {ELSEWHERE} / {NOTHING}", ratio(GET, ELSEWHERE), at_most(1.05)),
        Figure(f"{NEW}: {ELSEWHERE} / {NOTHING}", ratio(NEW, ELSEWHERE), at_most(1.05)),
        Figure(f"{POST}: {METERED} / {NOTHING}", ratio(POST, METERED), at_most(1.3)),
        Figure(f"{GET}, durable: {METERED} / {NOTHING}", ratio(GET, METERED)),
    ]


def _copy(seeded: Seeded, directory: Path, names: tuple[str, ...]) -> Seeded:
    """The same books, with prices for what is named, and a plan and more credits than a run can spend."""
    shutil.copytree(seeded.directory, directory)
    if names:
        trio.run(_meter, directory, names)
    return replace(seeded, directory=directory)


async def _meter(directory: Path, names: tuple[str, ...]) -> None:
    def work(tx: WriteTx) -> None:
        tx.bind(str(tx.value(_ORGANIZATION)))
        for name in names:
            purses.price(tx, name, MICRO // 100)
        purses.put_on_plan(tx)
        purses.grant(tx, 100_000_000 * MICRO)

    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        await store.write(work)
