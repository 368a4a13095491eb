"""The harness works: a few requests to a real server, copies that are what they say, arithmetic. Nothing about time."""

import json
import os
import sys
from pathlib import Path

import msgspec
import pytest

from tests.bench import delivery_peers, oauth, outbox, servers, tax, tax_service
from tests.bench.backlog import FEW, SUBSCRIPTIONS, Backlog, seed_backlog
from tests.bench.load import fetch, run_load
from tests.bench.measure import Effort, Sample, Subject, interleave, ratios
from tests.bench.processes import BenchError, cpu_time, pick_cores, resident_mib, running, tree_cpu_time
from tests.bench.report import Figure, Report, at_least, at_most, percentile
from tests.bench.seeding import seed
from tests.bench.servers import Bench, daemon, floor, get, serving
from tests.bench.spellings import SPELLINGS_MAX, spellings
from tests.bench.steppers import Place, stepping
from tests.support.sink import arrivals, path_of

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


def test_a_question_has_thousands_of_spellings_and_one_answer(bench: Bench) -> None:
    seeded = seed(bench.scratch / "data", 300)
    page = spellings("/api/rpc/invoices?limit=2")
    entity = spellings(f"/api/rpc/legalEntity/getLegalEntity?id={seeded.entity_id}")
    assert (len(set(page)), len(set(entity))) == (2**6 - 1, SPELLINGS_MAX)
    with daemon(bench, seeded) as server:
        for written in (page[:5], entity[:5]):
            answers = {fetch(server.address, get(path, seeded.key)) for path in written}
            ((status, body),) = {(status, body.split(b"nextCursor")[0]) for status, body in answers}
            assert status == 200
            assert seeded.entity_id.encode() in body or seeded.client_id.encode() in body


def test_an_answer_that_is_no_success_ends_the_run(bench: Bench) -> None:
    seeded = seed(bench.scratch / "data", 300)
    with daemon(bench, seeded) as server, pytest.raises(BenchError, match="401"):
        interleave([Subject(name="x", server=server, request=get("/api/rpc/invoices", "wrong"))], TINY)


def test_requests_that_differ_are_each_sent_once(bench: Bench) -> None:
    sent = 64 * 5 + 2 * 64
    with floor(bench) as server:
        numbered = (get(f"/{number}", "none") for number in range(sent))
        (taken,) = interleave([Subject(name="x", server=server, request=numbered, connections=2)], TINY).values()
        assert [sample.requests for sample in taken] == [64, 64]
        assert next(numbered, None) is None
        with pytest.raises(ValueError, match="1 requests are wanted, 0 are left"):
            run_load(server.address, numbered, requests=1)


def test_codes_and_refresh_tokens_that_were_prepared_serve_once(bench: Bench) -> None:
    prepared = oauth.prepare(bench.scratch / "oauth", 3)
    assert len({*prepared.codes, *prepared.refresh_tokens}) == 6
    with serving(bench, prepared.directory) as server:
        issuer = oauth.issuer_of(server)
        for make in (oauth.exchanges, oauth.refreshes):
            sent = list(make(prepared, issuer))
            answers = [fetch(server.address, request) for request in sent]
            assert [status for status, _ in answers] == [200] * 3
            assert all(msgspec.json.decode(body).keys() >= {"id_token", "refresh_token"} for _, body in answers)
        assert fetch(server.address, next(oauth.exchanges(prepared, issuer)))[0] == 400


def test_a_tax_call_has_the_same_answer_forwarded_and_from_one_httpx_call(bench: Bench) -> None:
    prepared = tax.prepare(bench.scratch / "tax")
    assert 900 < len(tax_service.BODY) < 1300
    with tax.tax_service(bench) as service:
        with tax.forwarding(bench, prepared, service) as ours, tax.calling(bench, service) as caller:
            for server in (ours, caller):
                assert fetch(server.address, tax.asking(prepared.key)) == (200, tax_service.BODY), server.name
            # Who is asked for, and which headers are there, is checked on the way.
            assert fetch(ours.address, tax.asking("none"))[0] == 401
            assert fetch(ours.address, get(tax.TARGET, prepared.key))[0] == 400
        with tax.calls(bench, service, 20) as alone:
            assert [alone(number).requests for number in tax.AT_ONCE] == [20, 20]


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


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(200, 0, -1)]
    assert (percentile(values, 50), percentile(values, 99), percentile([3.0], 99)) == (100.0, 198.0, 3.0)


def test_what_was_enqueued_is_delivered_once_the_subscriptions_are_on(bench: Bench) -> None:
    with outbox.receiving(bench) as sink:
        made = outbox.make_outbox(bench.scratch / "outbox", [[sink.url + path_of(n)] for n in range(2)])
        outbox.enqueue(made, 10)
        outbox.switch(made, enabled=False)
        with outbox.delivering(bench, made):
            assert (outbox.pending(made), sink.arrived()) == (10, 0)
            outbox.switch(made, enabled=True)
            sink.wait_for(10)
            outbox.wait_until(lambda: outbox.pending(made) == 0, "recorded")
        received = arrivals(sink.file)
    assert sorted(arrival.receiver for arrival in received) == [0] * 5 + [1] * 5
    assert len({arrival.delivery for arrival in received}) == len({arrival.lead for arrival in received}) == 10


def test_a_seeded_backlog_is_one_that_can_be_delivered(bench: Bench) -> None:
    with outbox.receiving(bench) as sink:
        backlog: Backlog = seed_backlog(bench.scratch / "backlog", sink, FEW)
        assert outbox.pending(backlog.outbox) == FEW
        with outbox.delivering(bench, backlog.outbox):
            sink.wait_for(FEW)
            outbox.wait_until(lambda: outbox.pending(backlog.outbox) == 0, "recorded")
        received = arrivals(sink.file)
    assert len({arrival.delivery for arrival in received}) == len(received) == FEW
    assert {arrival.receiver for arrival in received} == set(range(SUBSCRIPTIONS))


def test_the_bare_sender_does_a_step_when_it_is_told(bench: Bench, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.bench.bare_sender")
    with outbox.receiving(bench) as sink:
        given = {"url": sink.url, "receivers": 2, "count": 40}
        with stepping("bare", command, given, Place(core=bench.core, directory=tmp_path)) as stepper:
            assert sink.arrived() == 0
            sample = stepper.step("deliver").sample(40)
        assert (sink.arrived(), sample.requests) == (40, 40)


def test_a_stepper_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    place = Place(core=pick_cores().server, directory=tmp_path)
    command = ["/bin/sh", "-c", "echo no such thing >&2; exit 3"]
    with pytest.raises(BenchError, match=r"x said '' instead of 'ready':\nno such thing"):
        stepping("x", command, {}, place).__enter__()


def test_the_cpu_of_a_family_holds_that_of_its_head() -> None:
    before = cpu_time(os.getpid())
    assert tree_cpu_time(os.getpid()).total >= before.total


def test_peers_that_cannot_be_measured_are_named() -> None:
    found = delivery_peers.Found([], {"Celery, Redis": "redis-server is not installed"})
    assert found.notes() == ["not measured: Celery, Redis, because redis-server is not installed"]
    assert len({peer.name for peer in delivery_peers.ALL}) == len(delivery_peers.ALL) == 6


@pytest.mark.parametrize("folder", [servers.PEERS, delivery_peers.FOLDER], ids=lambda folder: folder.name)
def test_the_peers_lock_has_hashes_and_no_index(folder: Path) -> None:
    lines = (folder / "requirements.txt").read_text().splitlines()
    assert not [line for line in lines if "://" in line or line.startswith("-")]
    named = [line for line in lines if line[:1].isalpha()]
    assert named
    assert all("==" in line and line.endswith("\\") for line in named)


def test_the_peers_lock_of_node_has_hashes_and_no_registry() -> None:
    packages = json.loads((delivery_peers.FOLDER / "package-lock.json").read_text())["packages"]
    installed = {name: package for name, package in packages.items() if name}
    assert "node_modules/bullmq" in installed
    assert [name for name, package in installed.items() if "integrity" not in package or "resolved" in package] == []
