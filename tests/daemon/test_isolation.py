"""Receivers that hang hold their own deliveries back and nobody else's."""

import signal
from collections import Counter
from pathlib import Path

from tests.daemon.instance import SECONDS, Instance, serving, until
from tests.support import sink
from tests.support.receivers import receiving
from tests.support.tenants import LOOPBACK_SETTINGS, add_tenants, emit

HANGING, HEALTHY = 20, 5
EVENTS = 100  # for each receiver
CONCURRENCY, RESERVE = 64, 16
PER_SUBSCRIPTION = 4
# An attempt lasts longer than the test: whoever hangs, hangs until the end.
SETTINGS = f"{LOOPBACK_SETTINGS}timeout_seconds = 600\n"


def test_more_receivers_hang_than_there_are_slots_and_the_others_get_everything(tmp_path: Path) -> None:
    """Twenty times four attempts would fill the 64 slots; a quarter is kept for who has nothing in flight."""
    file = tmp_path / "received"
    with receiving(file) as url:
        instance = Instance(tmp_path, SETTINGS)
        places = [url + sink.path_of(n, 600_000 if n < HANGING else 0) for n in range(HANGING + HEALTHY)]
        tenants = instance.write(lambda tx: add_tenants(tx, [[place] for place in places]))
        instance.write(lambda tx: [emit(tx, tenant.org_id, EVENTS) for tenant in tenants])
        with serving(instance) as running:
            until(lambda: healthy(file).total() == HEALTHY * EVENTS)
            running.terminate(signal.SIGKILL)
            running.process.wait(SECONDS)
    assert healthy(file) == {HANGING + n: EVENTS for n in range(HEALTHY)}
    hung = Counter(arrival.receiver for arrival in sink.arrivals(file) if arrival.receiver < HANGING)
    assert set(hung) == set(range(HANGING))
    assert max(hung.values()) <= PER_SUBSCRIPTION
    assert hung.total() <= CONCURRENCY - RESERVE


def healthy(file: Path) -> Counter[int]:
    """How much each of them has received."""
    return Counter(arrival.receiver for arrival in sink.arrivals(file) if arrival.receiver >= HANGING)
