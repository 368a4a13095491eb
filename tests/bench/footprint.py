"""Memory and readiness: what the daemon takes when it starts, idles, and lists everything page by page."""

import time

import msgspec

from tests.bench.load import fetch, request_bytes
from tests.bench.processes import START_SECONDS, BenchError, resident_mib, running
from tests.bench.report import Figure, Report, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, configure, daemon, get

PAGE_LIMIT = 100
IDLE_SECONDS = 3.0
IDLE_MEBIBYTES = 80
READY_SECONDS = 1.0
# A page under way and what the allocator keeps of it; a leak of 50 bytes per listed invoice would be above.
GROWTH_MEBIBYTES = 4


def measure_footprint(bench: Bench, seeded: Seeded, listed: int, starts: int, report: Report) -> None:
    """`listed` invoices are paged through twice."""
    ready = [_seconds_to_ready(bench, seeded) for _ in range(starts)]
    with daemon(bench, seeded) as server:
        time.sleep(IDLE_SECONDS)  # what is looked at is a daemon that does nothing
        sizes = [resident_mib(server.pid)]
        for _ in range(2):
            _page_through(server.address, seeded.key, listed // PAGE_LIMIT)
            sizes.append(resident_mib(server.pid))
    figures = [
        Figure("ready after", ready, at_most(READY_SECONDS), "s"),
        Figure("RSS idle", sizes[:1], at_most(IDLE_MEBIBYTES), "MiB"),
        Figure(f"RSS after listing {listed:,} invoices", sizes[1:2], None, "MiB"),
        Figure("RSS after listing them again", sizes[2:], None, "MiB"),
        Figure("growth from the first listing to the second", [sizes[2] - sizes[1]], at_most(GROWTH_MEBIBYTES), "MiB"),
    ]
    report.add(f"Footprint with {seeded.invoices:,} invoices", {}, figures)


def _page_through(address: tuple[str, int], key: str, pages: int) -> None:
    """Follow the cursors. Raises `BenchError` when the list is shorter."""
    cursor = ""
    for page in range(1, pages + 1):
        status, body = fetch(address, get(f"/api/rpc/invoices?limit={PAGE_LIMIT}{cursor}", key))
        if status != 200:
            raise BenchError(f"page {page} answered {status}: {body[:300].decode()}")
        following = msgspec.json.decode(body)["nextCursor"]
        if following is None and page < pages:
            raise BenchError(f"the list ended after {page} pages")
        cursor = f"&cursor={following}"


def _seconds_to_ready(bench: Bench, seeded: Seeded) -> float:
    """From the start of the process to the first 200 of /readyz."""
    log = seeded.directory.with_suffix(".log")
    began = time.perf_counter()
    with running("gatewayd", configure(seeded), log, bench.core) as server:
        while time.perf_counter() - began < START_SECONDS:
            try:
                status, _ = fetch(server.address, request_bytes("GET", "/readyz"))
            except OSError:
                continue
            if status == 200:
                return time.perf_counter() - began
    raise BenchError("the daemon did not become ready")
