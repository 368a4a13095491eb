"""CPU of reads: the daemon between an empty driver and FastAPI + SQLAlchemy, each in turn."""

from contextlib import ExitStack

from tests.bench.load import fetch
from tests.bench.measure import Effort, Samples, Subject, interleave, ratios
from tests.bench.report import Bound, Figure, Report, at_least, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, PeerData, daemon, floor, get, peer
from tests.bench.spellings import not_asked_before

PAGE = "/api/rpc/invoices?limit=50"
ENTITY = "/api/rpc/legalEntity/getLegalEntity?id="
FLOOR, GET_PAGE, GET_ENTITY = "empty driver", "invoice page", "legal entity"
NEW_PAGE, NEW_ENTITY = "invoice page, not asked before", "legal entity, not asked before"
PEER_EMPTY, PEER_ENTITY, PEER_LEAN_ENTITY = "FastAPI empty", "FastAPI entity, usual", "FastAPI entity, lean"
PEER_PAGES = {
    "FastAPI page, usual": "/invoices?limit=50",
    "FastAPI page, lean": "/lean/invoices?limit=50",
    "FastAPI page, without models": "/bare/invoices?limit=50",
}


def measure_reads(bench: Bench, seeded: Seeded, peer_data: PeerData, effort: Effort, report: Report) -> None:
    """The invoice page and the single entity."""
    with ExitStack() as stack:
        empty = stack.enter_context(floor(bench))
        ours = stack.enter_context(daemon(bench, seeded))
        peer_empty = stack.enter_context(peer(bench, PEER_EMPTY, "empty"))
        theirs = stack.enter_context(peer(bench, "FastAPI accounting", "accounting", peer_data.database))
        page = get(PAGE, seeded.key)
        pages = {name: get(path, peer_data.key) for name, path in PEER_PAGES.items()}
        subjects = [
            Subject(name=FLOOR, server=empty, request=get("/", seeded.key)),
            Subject(name=GET_ENTITY, server=ours, request=get(ENTITY + seeded.entity_id, seeded.key)),
            Subject(name=GET_PAGE, server=ours, request=page),
            Subject(name=NEW_ENTITY, server=ours, request=not_asked_before(ENTITY + seeded.entity_id, seeded.key)),
            Subject(name=NEW_PAGE, server=ours, request=not_asked_before(PAGE, seeded.key)),
            Subject(name=PEER_EMPTY, server=peer_empty, request=get("/", peer_data.key)),
            Subject(
                name=PEER_LEAN_ENTITY,
                server=theirs,
                request=get(f"/lean/entities/{peer_data.entity_id}", peer_data.key),
            ),
            Subject(name=PEER_ENTITY, server=theirs, request=get(f"/entities/{peer_data.entity_id}", peer_data.key)),
            *(Subject(name=name, server=theirs, request=request) for name, request in pages.items()),
        ]
        samples = interleave(subjects, effort)
        sizes = [f"{GET_PAGE}: {len(fetch(ours.address, page)[1]):,} bytes"]
        sizes += [f"{name}: {len(fetch(theirs.address, request)[1]):,} bytes" for name, request in pages.items()]
    report.add("Reads", samples, _figures(samples), sizes)


def _figures(samples: Samples) -> list[Figure]:
    def ratio(over: str, under: str, bound: Bound | None = None) -> Figure:
        return Figure(f"{over} / {under}", ratios(samples, over, under), bound)

    usual, lean, bare = PEER_PAGES
    return [
        ratio(GET_PAGE, FLOOR, at_most(4)),
        ratio(GET_ENTITY, FLOOR, at_most(2.5)),
        ratio(NEW_PAGE, FLOOR),
        ratio(NEW_ENTITY, FLOOR),
        ratio(lean, NEW_PAGE, at_least(30)),
        ratio(usual, NEW_PAGE, at_least(30)),
        ratio(bare, NEW_PAGE),
        ratio(PEER_LEAN_ENTITY, GET_ENTITY),
        ratio(PEER_ENTITY, GET_ENTITY),
        ratio(PEER_EMPTY, FLOOR),
        ratio(GET_PAGE, PEER_EMPTY),
    ]
