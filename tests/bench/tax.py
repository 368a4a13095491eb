"""CPU of a forwarded tax call, beside the driver that makes one httpx call, and each half of that alone."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from gatewayd.cli.demo import firm as demo_firm
from gatewayd.clock import SystemClock
from gatewayd.identity import audit
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.settings import StoreSettings
from gatewayd.tax import approvals
from gatewayd.tax.connections import connections
from tests.bench.load import fetch, request_bytes
from tests.bench.measure import Effort, Sample, Samples, Subject, interleave, ratios
from tests.bench.processes import BenchError, ServerProcess, running
from tests.bench.report import Figure, Report, at_most
from tests.bench.servers import Bench, command, floor
from tests.bench.steppers import Place, Stepper, stepping
from tests.tax.conftest import HEADERS, OBLIGATIONS

AT_ONCE = (1, 16)
TIMES_AT_MOST = 3
TARGET = f"{OBLIGATIONS}?vrn=980780684&from=2025-01-01&to=2025-12-31"
DRIVER, CALL, BOTH, OURS = "empty driver", "one httpx call", "driver with one httpx call", "tax.forward"
_CALL_US = 400  # about, of one call: how many make a sample
_SETTINGS = """
[tax]
mode = "forward"
upstream = "{upstream}"
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A data directory with a key that was approved, of an organization that is connected to the authority."""

    directory: Path
    key: str


def measure_tax(bench: Bench, effort: Effort, report: Report) -> None:
    """Each round: the driver, the driver with a call, and the daemon, at one connection and at several; calls alone."""
    prepared = prepare(bench.scratch / "tax")
    request = asking(prepared.key)
    once = Effort(rounds=1, cpu_seconds=effort.cpu_seconds, wall_seconds=effort.wall_seconds)
    samples: Samples = {}
    with (
        tax_service(bench) as service,
        floor(bench) as empty,
        calling(bench, service) as caller,
        forwarding(bench, prepared, service) as ours,
        calls(bench, service, max(64, int(effort.cpu_seconds * 1e6 / _CALL_US))) as alone,
    ):
        subjects = [
            Subject(name=_named(name, number), server=server, request=request, connections=number)
            for number in AT_ONCE
            for name, server in ((DRIVER, empty), (BOTH, caller), (OURS, ours))
        ]
        body = fetch(ours.address, request)[1]
        if body != fetch(caller.address, request)[1]:
            raise BenchError(f"they answer differently: {body[:300].decode()}")
        for _ in range(effort.rounds):
            for name, taken in interleave(subjects, once).items():
                samples.setdefault(name, []).extend(taken)
            for number in AT_ONCE:
                samples.setdefault(_named(CALL, number), []).append(alone(number))
    report.add(f"Forwarding of tax calls, {len(body):,} bytes", samples, _figures(samples))


def prepare(directory: Path) -> Prepared:
    """Fill a new data directory."""
    return trio.run(_prepare, directory)


async def _prepare(directory: Path) -> Prepared:
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        firm = await store.write(demo_firm.seed)
        return Prepared(directory, await store.write(_approved_key, firm.org_id))


def _approved_key(tx: WriteTx) -> str:
    user_id = memberships.list_members(tx)[0].user_id
    new = api_keys.NewKey(name="Tax", user_id=user_id, scopes=("tax:read",))
    made = api_keys.create(tx, new, secrets.token_bytes(32), audit.OPERATOR)
    approvals.approve(tx, approvals.Subject("key", made.id), None, audit.OPERATOR)
    connections.save(tx, connections.Tokens(secrets.token_hex(16), secrets.token_hex(16), "read:vat", None), "bench")
    return made.key


def asking(key: str) -> bytes:
    """The request that everybody gets: authenticated, with all the fraud-prevention headers of a web application."""
    fields = {name.decode().title(): value.decode() for name, value in HEADERS}
    return request_bytes("GET", TARGET, {"Authorization": f"Bearer {key}", **fields})


@contextmanager
def tax_service(bench: Bench) -> Iterator[ServerProcess]:
    """What is forwarded to, on the client's core."""
    run = (sys.executable, "-m", "tests.bench.tax_service")
    with running("tax service", run, bench.scratch / "tax-service.log", bench.client_core) as server:
        yield server


@contextmanager
def calling(bench: Bench, service: ServerProcess) -> Iterator[ServerProcess]:
    """The driver that makes one httpx call."""
    run = (sys.executable, "-m", "tests.bench.one_call", url_of(service))
    with running(BOTH, run, bench.scratch / "one-call.log", bench.core) as server:
        yield server


@contextmanager
def forwarding(bench: Bench, prepared: Prepared, service: ServerProcess) -> Iterator[ServerProcess]:
    """`gatewayd serve` in mode `forward`, fraud-prevention headers required."""
    run = command(prepared.directory, _SETTINGS.format(upstream=url_of(service)))
    with running("gatewayd tax", run, prepared.directory.with_suffix(".log"), bench.core) as server:
        yield server


class Calls:
    """A program that makes httpx calls and nothing else."""

    def __init__(self, stepper: Stepper, count: int) -> None:
        self._stepper = stepper
        self._count = count

    def __call__(self, at_once: int) -> Sample:
        return self._stepper.step(str(at_once)).sample(self._count)


@contextmanager
def calls(bench: Bench, service: ServerProcess, count: int) -> Iterator[Calls]:
    """So many calls in a sample."""
    directory = bench.scratch / "calls"
    directory.mkdir()
    run = (sys.executable, "-m", "tests.bench.bare_calls")
    given = {"url": url_of(service) + TARGET, "count": count, "at_once": AT_ONCE}
    with stepping(CALL, run, given, Place(core=bench.core, directory=directory)) as stepper:
        yield Calls(stepper, count)


def url_of(service: ServerProcess) -> str:
    """The origin of a server."""
    return "http://{}:{}".format(*service.address)


def _named(name: str, at_once: int) -> str:
    return f"{name}, {at_once} at once" if at_once > 1 else f"{name}, alone"


def _figures(samples: Samples) -> list[Figure]:
    figures: list[Figure] = []
    for number in AT_ONCE:
        driver, call, both, ours = (_named(name, number) for name in (DRIVER, CALL, BOTH, OURS))
        halves = [a.cpu_us + b.cpu_us for a, b in zip(samples[driver], samples[call], strict=True)]
        parted = [sample.cpu_us / half for sample, half in zip(samples[ours], halves, strict=True)]
        figures.append(Figure(f"{ours} / {BOTH}", ratios(samples, ours, both), at_most(TIMES_AT_MOST)))
        figures.append(Figure(f"{ours} / the two halves measured apart", parted))
    return figures
