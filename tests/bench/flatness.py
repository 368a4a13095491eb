"""Whether reads stay flat: the same pages of a small database and of a large one, in turn.

Each is asked for at addresses that have no answer yet: an answer that is kept would be flat for nothing.
"""

from collections.abc import Mapping

import msgspec

from gatewayd.areas.accounting.invoices.shapes import ListInvoices
from gatewayd.contract.pages import next_cursor
from tests.bench.load import fetch
from tests.bench.measure import Effort, Samples, Subject, interleave, ratios
from tests.bench.processes import BenchError, ServerProcess
from tests.bench.report import Figure, Report, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, daemon, get
from tests.bench.speed import ENTITY
from tests.bench.spellings import not_asked_before

LIMIT = 50


def measure_flatness(bench: Bench, small: Seeded, large: Seeded, effort: Effort, report: Report) -> None:
    """One ratio per kind of page."""
    samples: Samples = {}
    figures: list[Figure] = []
    with daemon(bench, small) as few, daemon(bench, large) as many:
        for kind, path in _paths(small).items():
            other = _paths(large)[kind]
            names = (f"{kind}, {small.invoices:,}", f"{kind}, {large.invoices:,}")
            subjects = [
                Subject(name=names[0], server=few, request=not_asked_before(path, small.key)),
                Subject(name=names[1], server=many, request=not_asked_before(other, large.key)),
            ]
            for server, request in ((few, get(path, small.key)), (many, get(other, large.key))):
                _require_full_page(server, request, kind)
            taken = interleave(subjects, effort)
            samples |= taken
            figures.append(Figure(f"{kind}: large / small", ratios(taken, names[1], names[0]), at_most(1.3)))
    report.add(f"Flat reads: {small.invoices:,} and {large.invoices:,} invoices", samples, figures)


def _paths(seeded: Seeded) -> Mapping[str, str]:
    """The pages by what they are; deep ones start in the middle."""
    middle = seeded.invoices // 2
    request = ListInvoices(limit=LIMIT)
    cursor = next_cursor(request, (seeded.invoice_id(middle),))
    page = f"/api/rpc/invoices?limit={LIMIT}"
    return {
        "one entity": ENTITY + seeded.entity_id,
        "first page": page,
        "deep page": f"{page}&cursor={cursor}",
        "summaries": f"{page}&summaryOnly=true",
        "small client": f"{page}&clientId={seeded.small_client_id}",
        "large client": f"{page}&clientId={seeded.client_id}",
        "rare status": f"{page}&status=draft",
        "two statuses": f"{page}&status=draft&status=issued",
        "updatedSince": f"{page}&updatedSince={seeded.updated_at(middle)}",
        "issueDateFrom": f"{page}&issueDateFrom=2020-01-01",
    }


def _require_full_page(server: ServerProcess, request: bytes, kind: str) -> None:
    """A page that is empty would be flat for nothing."""
    status, body = fetch(server.address, request)
    if status != 200:
        raise BenchError(f"{kind} of {server.name} answered {status}: {body[:300].decode()}")
    data = msgspec.json.decode(body).get("data", [])
    if kind != "one entity" and len(data) != LIMIT:
        raise BenchError(f"{kind} of {server.name} has {len(data)} invoices instead of {LIMIT}")
