"""A daemon that meters: many callers and the last credits, a kill in the midst of them, and commands beside it."""

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.daemon.instance import Firm, Instance, Running, plain_client, serving
from tests.support import purses

ROUNDS = int(os.environ.get("GATEWAYD_METERING_KILLS", "2"))
"""`make soak` asks for more."""
CALLERS = 32
CALLS_EACH = 6
SETTINGS = "[limits]\nrequests_per_minute = 0\n"
LEADS, LIST = "/api/rpc/crm/createLead", "/api/rpc/crm/listLeads"
_MADE = "SELECT count(*) FROM leads WHERE org_id = :org_id"


@dataclass
class Answers:
    """What callers were answered: statuses by path; `cut` counts the calls that nobody answered."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    cut: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, path: str, status: int) -> None:
        with self.lock:
            self.statuses[(path, status)] += 1

    @property
    def answered(self) -> int:
        with self.lock:
            return sum(count for (_, status), count in self.statuses.items() if status == 200)


def metered(directory: Path, credits_given: int) -> tuple[Instance, Firm]:
    """A firm whose leads cost a millionth each, and so do lists of them."""
    instance = Instance(directory, SETTINGS)
    firm = instance.firm()
    for name in ("crm.createLead", "crm.listLeads"):
        instance.write(lambda tx, name=name: purses.price(tx, name, 1))
    instance.write(purses.put_on_plan, firm.org_id)
    instance.write(lambda tx: purses.grant(tx, credits_given), firm.org_id)
    return instance, firm


def call_on(running: Running, firm: Firm, told: Answers, number: int) -> None:
    """One caller: writes and reads in turn."""
    with plain_client(running.url) as client:
        for turn in range(CALLS_EACH):
            path = (LEADS, LIST)[(number + turn) % 2]
            try:
                told.note(path, _ask(client, firm, path).status_code)
            except httpx.TransportError:
                told.cut += 1
                return


def _ask(client: httpx.Client, firm: Firm, path: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {firm.key}"}
    if path == LIST:
        return client.get(path, headers=headers, params={"limit": 1})
    return client.post(path, headers={**headers, "Idempotency-Key": str(uuid4())}, json={"source": "fair"})


def test_the_last_credits_are_spent_exactly(tmp_path: Path) -> None:
    given = CALLERS * CALLS_EACH // 2
    instance, firm = metered(tmp_path, given)
    told = Answers()
    with serving(instance) as running, ThreadPoolExecutor(CALLERS) as callers:
        for done in [callers.submit(call_on, running, firm, told, number) for number in range(CALLERS)]:
            done.result()
    assert {status for _, status in told.statuses} == {200, 402}
    assert told.answered == given
    charged = Counter(name for name, _ in instance.read(purses.charged, firm.org_id))
    assert charged == {"crm.createLead": told.statuses[(LEADS, 200)], "crm.listLeads": told.statuses[(LIST, 200)]}
    assert instance.read(purses.balance, firm.org_id) == 0
    assert instance.read(lambda tx: tx.value(_MADE), firm.org_id) == charged["crm.createLead"]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_kill_leaves_what_was_done_and_its_charge_or_neither(tmp_path: Path, round_: int) -> None:
    given = 10 * CALLERS * CALLS_EACH
    instance, firm = metered(tmp_path, given)
    told = Answers()
    with serving(instance) as running, ThreadPoolExecutor(CALLERS) as callers:
        waiting = [callers.submit(call_on, running, firm, told, number) for number in range(CALLERS)]
        while told.answered < CALLERS * (1 + round_ % 3):
            threading.Event().wait(0.005)
        running.process.kill()
        for done in waiting:
            done.result()
    assert told.cut
    charged = Counter(name for name, _ in instance.read(purses.charged, firm.org_id))
    assert instance.read(lambda tx: tx.value(_MADE), firm.org_id) == charged["crm.createLead"]
    assert charged["crm.createLead"] >= told.statuses[(LEADS, 200)]
    assert charged["crm.listLeads"] >= told.statuses[(LIST, 200)]
    assert instance.read(purses.balance, firm.org_id) == given - charged.total()
    verified = instance.run("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with serving(instance) as running:
        assert _ask(running.client, firm, LEADS).status_code == 200


def test_prices_plans_and_credits_of_commands_count_with_the_next_call(tmp_path: Path) -> None:
    instance = Instance(tmp_path, SETTINGS)
    firm = instance.firm()
    with serving(instance) as running:

        def answers(*command: str) -> list[int]:
            if command:
                ran = instance.run(*command)
                assert ran.returncode == 0, ran.stderr
            return [_ask(running.client, firm, path).status_code for path in (LIST, LEADS)]

        assert answers() == [200, 200]
        assert answers("cost", "set", "crm.createLead", "--credits", "2") == [200, 200]
        assert answers("plan", "create", "shared", "--name", "Shared", "--included", "3") == [200, 200]
        assert answers("plan", "set", "--org", firm.org_id, "shared") == [200, 200]
        assert answers() == [200, 402]
        assert answers("credits", "grant", "--org", firm.org_id, "--amount", "1") == [200, 200]
        assert answers() == [200, 402]
        assert answers("cost", "set", "crm.createLead", "--credits", "0") == [200, 200]
        assert answers("cost", "set", "crm.listLeads", "--credits", "5") == [402, 200]
        assert answers("plan", "set", "--org", firm.org_id, "none") == [200, 200]
    assert instance.read(purses.charged, firm.org_id) == [("crm.createLead", 2_000_000)] * 2
