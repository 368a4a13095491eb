"""The harness works: a few requests to a real server, copies that are what they say, arithmetic. Nothing about time."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from tests.bench import servers
from tests.bench.load import fetch
from tests.bench.measure import Effort, Sample, Subject, interleave, ratios
from tests.bench.processes import BenchError, pick_cores, resident_mib, running
from tests.bench.report import Figure, Report, at_least, at_most
from tests.bench.seeding import seed
from tests.bench.servers import Bench, daemon, floor, get

TINY = Effort(rounds=2, cpu_seconds=0.0, wall_seconds=0.0)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, pick_cores().server)


def test_a_subject_is_sampled_in_every_round(bench: Bench) -> None:
    with floor(bench) as server:
        subjects = [Subject(name=name, server=server, request=get("/", "none"), connections=2) for name in "ab"]
        samples = interleave(subjects, TINY)
        assert resident_mib(server.pid) > 1
    assert {name: len(taken) for name, taken in samples.items()} == {"a": 2, "b": 2}
    assert all(sample.requests == 64 for taken in samples.values() for sample in taken)
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_seeded_invoices_differ_in_what_they_should(bench: Bench) -> None:
    seeded = seed(bench.scratch / "data", 300)
    with daemon(bench, seeded) as server:
        status, body = fetch(server.address, get("/api/rpc/invoices?limit=100", seeded.key))
    assert status == 200
    page = msgspec.json.decode(body)["data"]
    newest_first = range(300, 200, -1)
    assert [invoice["id"] for invoice in page] == [seeded.invoice_id(n) for n in newest_first]
    assert [invoice["createdAt"] for invoice in page] == [seeded.updated_at(n) for n in newest_first]
    issued = {n: invoice for n, invoice in zip(newest_first, page, strict=True) if invoice["status"] == "issued"}
    assert all(invoice["number"] == f"X-{n:08d}" and len(invoice["lines"]) == 2 for n, invoice in issued.items())
    # Each special kind has a hundred of the 300.
    assert {n for n in newest_first if n not in issued} == {n for n in newest_first if n % 3 == 1}
    assert {n for n in issued if issued[n]["clientId"] == seeded.small_client_id} == {n for n in issued if n % 3 == 0}


def test_an_answer_that_is_no_success_ends_the_run(bench: Bench) -> None:
    seeded = seed(bench.scratch / "data", 300)
    with daemon(bench, seeded) as server, pytest.raises(BenchError, match="401"):
        interleave([Subject(name="x", server=server, request=get("/api/rpc/invoices", "wrong"))], TINY)


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", "echo no such thing; exit 3"]
    with pytest.raises(BenchError, match=r"ended with 3:\nno such thing"), running("x", command, tmp_path / "log", 0):
        pass


def test_ratios_are_taken_within_rounds() -> None:
    def sample(cpu_us: float) -> Sample:
        return Sample(requests=1, user_us=cpu_us, system_us=0.0, requests_per_second=1.0)

    samples = {"a": [sample(10), sample(40)], "b": [sample(5), sample(10)]}
    assert ratios(samples, "a", "b") == [2.0, 4.0]


def test_the_report_says_what_is_met(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report({"quick": True})
    figures = [Figure("low", [1.0, 3.0, 2.0], at_most(1.9)), Figure("high", [5.0], at_least(5), "/s")]
    report.add("Title", {}, figures, ["a note"])
    report.write(tmp_path / "made" / "bench.json")
    printed = capsys.readouterr().out
    assert "MISSED" in printed.splitlines()[3]
    assert printed.splitlines()[4].endswith("met")
    written = json.loads((tmp_path / "made" / "bench.json").read_text())
    assert [(figure["median"], figure["met"]) for figure in written["figures"]] == [(2.0, False), (5.0, True)]


def test_the_peers_lock_has_hashes_and_no_index() -> None:
    lines = (servers.PEERS / "requirements.txt").read_text().splitlines()
    assert not [line for line in lines if "://" in line or line.startswith("-")]
    named = [line for line in lines if line[:1].isalpha()]
    assert named
    assert all("==" in line and line.endswith("\\") for line in named)
