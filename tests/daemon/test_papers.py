"""Papers of a real daemon: the process behind them, kills while they are made, and what stays."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.daemon.instance import Firm, Instance, Running, serving

API = "/api/rpc"
KILLS = 3
AT_ONCE = 6


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path, "[limits]\nrequests_per_minute = 0\n")


def issued(running: Running, firm: Firm) -> str:
    line = {"description": "Joinery", "unitPrice": "100.00"}
    body = {"clientId": firm.client_id, "status": "issued", "lines": [line]}
    made = running.call(firm.key, "POST", f"{API}/invoices", body)
    assert made.status_code == 200, made.text
    return str(made.json()["id"])


def paper(running: Running, firm: Firm, invoice_id: str) -> httpx.Response:
    return running.call(firm.key, "GET", f"{API}/invoices/{invoice_id}/pdf", None)


def test_a_paper_is_the_same_after_a_restart(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        invoice_id = issued(running, firm)
        first = paper(running, firm, invoice_id)
        assert (first.status_code, first.content[:5]) == (200, b"%PDF-"), first.text[:300]
    with serving(instance) as running:
        assert paper(running, firm, invoice_id).content == first.content


def test_kills_while_papers_are_made_leave_one_of_each(instance: Instance) -> None:
    """What was answered stays as it was; what was not is made again, and nothing is there twice."""
    firm = instance.firm()
    answered: dict[str, bytes] = {}
    invoices: list[str] = []
    for _ in range(KILLS):
        with serving(instance) as running, ThreadPoolExecutor(AT_ONCE) as callers:
            invoices += [issued(running, firm) for _ in range(AT_ONCE)]

            def ask(invoice_id: str, running: Running = running) -> None:
                with suppress(httpx.TransportError):
                    reply = paper(running, firm, invoice_id)
                    assert reply.status_code == 200, reply.text
                    assert answered.setdefault(invoice_id, reply.content) == reply.content

            asked = [callers.submit(ask, invoice_id) for invoice_id in invoices]
            asked[0].result()
            running.process.kill()
            for one in asked:
                one.result()
    with serving(instance) as running:
        for invoice_id in invoices:
            made = paper(running, firm, invoice_id)
            assert made.status_code == 200
            assert answered.setdefault(invoice_id, made.content) == made.content
        listed = running.call(firm.key, "GET", f"{API}/vault/documents?limit=100", None).json()["data"]
        assert sorted(document["links"][0]["id"] for document in listed) == sorted(invoices)
