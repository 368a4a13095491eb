"""Durable writes: POST of an invoice with two lines over 32 connections, beside FastAPI and a bare fsync for each."""

from contextlib import ExitStack

from tests.bench.measure import Effort, Samples, Subject, interleave, rate_ratios, ratios
from tests.bench.one_fsync_each import commits_per_second
from tests.bench.report import Figure, Report, at_least, at_most
from tests.bench.seeding import Seeded
from tests.bench.servers import Bench, PeerData, daemon, peer, post_invoice

CONNECTIONS = 32
POST, POST_ALONE = "POST invoice", "POST invoice, 1 connection"
PEER_LEAN, PEER_USUAL = "FastAPI POST, lean", "FastAPI POST, usual"


def measure_writes(bench: Bench, seeded: Seeded, peer_data: PeerData, effort: Effort, report: Report) -> None:
    """In rounds like everything else; the loop of single commits has a turn in each."""
    once = Effort(rounds=1, cpu_seconds=effort.cpu_seconds, wall_seconds=effort.wall_seconds)
    samples: Samples = {}
    single: list[float] = []
    with ExitStack() as stack:
        ours = stack.enter_context(daemon(bench, seeded))
        theirs = stack.enter_context(peer(bench, "FastAPI accounting", "accounting", peer_data.database))
        subjects = [
            Subject(name=name, server=server, request=post_invoice(path, data), connections=at_once)
            for name, server, path, data, at_once in (
                (POST, ours, "/api/rpc/invoices", seeded, CONNECTIONS),
                (POST_ALONE, ours, "/api/rpc/invoices", seeded, 1),
                (PEER_LEAN, theirs, "/lean/invoices", peer_data, CONNECTIONS),
                (PEER_USUAL, theirs, "/invoices", peer_data, CONNECTIONS),
            )
        ]
        for _ in range(effort.rounds):
            for name, taken in interleave(subjects, once).items():
                samples.setdefault(name, []).extend(taken)
            single.append(commits_per_second(bench.scratch / "single.db", effort.cpu_seconds))
    report.add("Durable writes, 32 connections", samples, _figures(samples, single))


def _figures(samples: Samples, single: list[float]) -> list[Figure]:
    def rates(name: str) -> list[float]:
        return [sample.requests_per_second for sample in samples[name]]

    return [
        Figure("one insert and one fsync at a time, nothing else", single, None, "/s"),
        Figure("POST rate / that rate", [a / b for a, b in zip(rates(POST), single, strict=True)], at_least(5)),
        Figure("POST rate / over one connection, each its own fsync", rate_ratios(samples, POST, POST_ALONE)),
        Figure(f"POST rate / {PEER_LEAN}, each its own fsync", rate_ratios(samples, POST, PEER_LEAN)),
        Figure(f"{POST} / {PEER_LEAN}", ratios(samples, POST, PEER_LEAN), at_most(0.25)),
        Figure(f"{POST} / {PEER_USUAL}", ratios(samples, POST, PEER_USUAL), at_most(0.25)),
    ]
