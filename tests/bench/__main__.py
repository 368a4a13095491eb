"""`python -m tests.bench`: everything side by side in one run. See docs/benchmarks.md."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench import (
    assets,
    backlog,
    banking,
    broker_import,
    deliveries,
    durable,
    engines,
    flatness,
    footprint,
    isolation,
    latency,
    lets,
    metering,
    oauth,
    reading,
    search,
    servers,
    speed,
    tax,
    uploads,
)
from tests.bench.banking_import import ImportSize
from tests.bench.broker_import import TradesSize
from tests.bench.measure import Effort
from tests.bench.processes import pick_cores
from tests.bench.report import Report
from tests.bench.seeding import Seeded, seed

PARTS = (
    *("reads", "writes", "flat", "footprint", "oauth", "tax", "deliveries", "latency", "isolation", "backlog"),
    *("assets", "banking", "lets", "uploads", "metering", "reading", "search", "engines"),
)
SMALL = 1_000
BYTES_PER_INVOICE = 5_500  # on disk, indexes included
BYTES_PER_DELIVERY = 1_500
BYTES_PER_LINE = 2_500  # with its allocation
RESULTS = servers.ROOT / "build" / "bench.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookScale:
    """How much is delivered: events, or deliveries that wait, and rounds; `hang_seconds` is the length of a round."""

    events: int
    event_rounds: int
    single_events: int
    hang_rounds: int
    hang_seconds: float
    backlog: int
    backlog_delivered: int
    backlog_rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How thorough a run is."""

    effort: Effort
    large: int
    listed: int
    starts: int
    redeemed: int  # codes, and refresh tokens, of one sample at most
    webhooks: WebhookScale
    banking: banking.BankingSize
    trades: TradesSize
    uploads: uploads.UploadSize
    documents: int
    search: search.SearchSize


FULL = Scale(
    effort=Effort(rounds=7, cpu_seconds=1.2),
    large=1_000_000,
    listed=100_000,
    starts=9,
    redeemed=2_500,
    webhooks=WebhookScale(
        events=10_000,
        event_rounds=5,
        single_events=500,
        hang_rounds=6,
        hang_seconds=10.0,
        backlog=1_000_000,
        backlog_delivered=10_000,
        backlog_rounds=9,
    ),
    banking=banking.BankingSize(
        lines=1_000_000,
        effort=Effort(rounds=5, cpu_seconds=0.12),
        reports=20,
        imports=ImportSize(rows=30_000, rounds=3, quiet_seconds=6.0),
    ),
    trades=TradesSize(rows=10_000, quiet_seconds=6.0),
    uploads=uploads.UploadSize(rounds=5, seconds=10.0),
    documents=200,
    search=search.SearchSize(documents=100_000, questions=40, rounds=5),
)
QUICK = Scale(
    effort=Effort(rounds=3, cpu_seconds=0.3, wall_seconds=1.5),
    large=50_000,
    listed=20_000,
    starts=3,
    redeemed=700,
    webhooks=WebhookScale(
        events=2_000,
        event_rounds=2,
        single_events=100,
        hang_rounds=2,
        hang_seconds=4.0,
        backlog=100_000,
        backlog_delivered=2_000,
        backlog_rounds=5,
    ),
    banking=banking.BankingSize(
        lines=50_000,
        effort=Effort(rounds=3, cpu_seconds=0.1, wall_seconds=1.5),
        reports=5,
        imports=ImportSize(rows=10_000, rounds=1, quiet_seconds=3.0),
    ),
    trades=TradesSize(rows=1_000, quiet_seconds=3.0),
    uploads=uploads.UploadSize(rounds=2, seconds=5.0),
    documents=40,
    search=search.SearchSize(documents=5_000, questions=40, rounds=3),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write the results. 0 however the figures are; 2 where the run cannot be made."""
    options = _parser().parse_args(arguments)
    scale = QUICK if options.quick else FULL
    if options.statement_rows is not None:
        scale = _with_statement(scale, options.statement_rows)
    if options.trade_rows is not None:
        scale = replace(scale, trades=replace(scale.trades, rows=options.trade_rows))
    parts = options.only or PARTS
    parent = servers.ROOT / "build"
    parent.mkdir(exist_ok=True)
    if (complaint := _complaint(parent, scale, parts)) is not None:
        print(complaint, file=sys.stderr)
        return 2
    cores = pick_cores()
    os.sched_setaffinity(0, {cores.client})
    scratch = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    report = Report({"quick": options.quick, "parts": list(parts), "one_core_only": cores.server == cores.client})
    try:
        _run(parts, scale, servers.Bench(scratch, cores.server, cores.client), report)
    finally:
        shutil.rmtree(scratch)
    report.write(options.json)
    print(f"\nwritten to {options.json}")
    return 0


def _with_statement(scale: Scale, rows: int) -> Scale:
    """One import of so many rows in the place of several."""
    imports = replace(scale.banking.imports, rows=rows, rounds=1)
    return replace(scale, banking=replace(scale.banking, imports=imports))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Ratios measured side by side.")
    parser.add_argument("--quick", action="store_true", help="less of everything: for a look, not for a judgement")
    parser.add_argument("--only", action="append", choices=PARTS, help="one part; may be repeated")
    parser.add_argument("--statement-rows", type=int, metavar="N", help="of banking: one import of so many rows")
    parser.add_argument("--trade-rows", type=int, metavar="N", help="of assets: a broker's file of so many rows")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go (default: build/bench.json)")
    return parser


def _complaint(parent: Path, scale: Scale, parts: Sequence[str]) -> str | None:
    """Why the run cannot be made; None when it can."""
    needed = 1 << 30
    if {"flat", "footprint"} & set(parts):
        needed += scale.large * BYTES_PER_INVOICE
    if "backlog" in parts:
        needed += scale.webhooks.backlog * BYTES_PER_DELIVERY
    if "banking" in parts:
        needed += scale.banking.lines * BYTES_PER_LINE + scale.banking.imports.rows * BYTES_PER_LINE
    if "uploads" in parts:
        needed += round(scale.uploads.rounds * scale.uploads.seconds * uploads.BYTES_PER_SECOND)
    free = shutil.disk_usage(parent).free
    if free < needed:
        return f"{parent} has {free >> 20} MiB free, {needed >> 20} MiB are needed: try --quick"
    return None


def _run(parts: Sequence[str], scale: Scale, bench: servers.Bench, report: Report) -> None:
    if set(parts) & {"reads", "writes", "metering", "flat", "footprint"}:
        _run_requests(parts, scale, bench, report)
    if "oauth" in parts:
        oauth.measure_oauth(bench, scale.effort, scale.redeemed, report)
    if "tax" in parts:
        tax.measure_tax(bench, scale.effort, report)
    webhooks = scale.webhooks
    if "deliveries" in parts:
        deliveries.measure_deliveries(bench, webhooks.event_rounds, webhooks.events, report)
    if "latency" in parts:
        latency.measure_latency(bench, webhooks.single_events, report)
    if "isolation" in parts:
        isolation.measure_isolation(bench, webhooks.hang_rounds, webhooks.hang_seconds, report)
    if "backlog" in parts:
        size = backlog.Size(webhooks.backlog, webhooks.backlog_delivered, webhooks.backlog_rounds)
        backlog.measure_backlog(bench, size, report)
    if "assets" in parts:
        assets.measure_assets(scale.effort, report)
        broker_import.measure_broker_imports(bench, seed(bench.scratch / "trades", SMALL), scale.trades, report)
    if "lets" in parts:
        lets.measure_lets(scale.effort, report)
    if "banking" in parts:
        banking.measure_banking(bench, scale.banking, report)
    if "uploads" in parts:
        uploads.measure_uploads(bench, seed(bench.scratch / "uploads", SMALL), scale.uploads, report)
    if "reading" in parts:
        reading.measure_reading(bench, scale.documents, scale.effort.rounds, report)
    if "engines" in parts:
        engines.measure_engines(bench, scale.effort, report)
    if "search" in parts:
        search.measure_search(bench.scratch, scale.search, report)


def _run_requests(parts: Sequence[str], scale: Scale, bench: servers.Bench, report: Report) -> None:
    scratch = bench.scratch
    small = seed(scratch / "small", SMALL)
    if {"reads", "writes"} & set(parts):
        servers.prepare_peers()
        report.settings["peers"] = dict(servers.versions_of_peers())
        peer_data = servers.seed_peer(scratch / "peer.db", SMALL)
        if "reads" in parts:
            speed.measure_reads(bench, small, peer_data, scale.effort, report)
        if "writes" in parts:
            written = seed(scratch / "written", SMALL)
            durable.measure_writes(bench, written, peer_data, scale.effort, report)
    if "metering" in parts:
        metering.measure_metering(bench, small, scale.effort, report)
    if {"flat", "footprint"} & set(parts):
        large = _large(scratch, scale)
        if "flat" in parts:
            flatness.measure_flatness(bench, small, large, scale.effort, report)
        if "footprint" in parts:
            footprint.measure_footprint(bench, large, scale.listed, scale.starts, report)
        shutil.rmtree(large.directory)


def _large(scratch: Path, scale: Scale) -> Seeded:
    print(f"\nseeding {scale.large:,} invoices", flush=True)
    return seed(scratch / "large", scale.large)


if __name__ == "__main__":
    sys.exit(main())
