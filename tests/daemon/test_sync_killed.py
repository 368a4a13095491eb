"""A kill between what the tax authority answered and the write of it: nothing of it is in the books, or all of it."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import trio

from gatewayd.areas.periods import AREA
from gatewayd.cli.run_operation import operation_of, run_operation
from tests.daemon.hooks import make_authority
from tests.daemon.instance import SECONDS, Instance, Running, serving
from tests.daemon.tax_upstream import tax_settings, taxing
from tests.tax.conftest import HEADERS
from tests.tax.recording import Recorded, Stream, answer

SYNC = "/api/rpc/obligations/sync"
DECLARED = [
    {"periodStartDate": f"{year}-04-06", "periodEndDate": f"{year + 1}-04-05", "dueDate": due, "status": "fulfilled"}
    for year, due in ((2024, "2026-02-01"), (2025, "2027-02-01"))
]
NOTHING = answer(b'{"code":"NO_OBLIGATIONS_FOUND","message":"x"}', "404 Not Found")


def sync(running: Running, key: str, entity_id: str) -> httpx.Response:
    fields = {name.decode(): value.decode() for name, value in HEADERS}
    return running.call(key, "POST", SYNC, {"legalEntityId": entity_id}, fields)


def test_a_kill_before_the_write_leaves_the_books_as_they_were(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    asked, held, told = threading.Event(), threading.Event(), threading.Event()

    async def script(stream: Stream, request: Recorded) -> None:
        """The last question is answered once nobody can write any more."""
        if "crystallisation" not in request.target:
            await stream.send_all(NOTHING)
            return
        asked.set()
        await trio.to_thread.run_sync(held.wait, SECONDS)
        await stream.send_all(answer(json.dumps({"obligations": DECLARED}).encode()))
        told.set()

    with taxing(authority) as service:
        service.script = script
        instance = Instance(tmp_path, tax_settings("forward", service, ca_file))
        firm = instance.firm()
        person = {"name": "Ann Oak", "type": "individual", "nino": "AA123456A"}
        entity = instance.do(firm.org_id, "legalEntity.createLegalEntity", **person)["id"]
        trade = {"legalEntityId": entity, "type": "self_employment", "name": "Joinery"}
        instance.do(firm.org_id, "businesses.create", **trade, commencementDate="2020-05-01")
        made = instance.key(firm.org_id, firm.user_id, ["tax:read", "periods:write"])
        assert instance.run("tax", "approve", "--key", made.id).returncode == 0

        def books() -> list[dict[str, Any]]:
            values = {"legalEntityId": entity, "limit": 100}
            operation = operation_of(AREA, "obligations.list")
            found: list[dict[str, Any]] = run_operation(instance.context, operation, firm.org_id, values)["data"]
            return found

        before = books()
        with serving(instance) as running:
            broken: list[str] = []

            def first() -> None:
                try:
                    sync(running, made.key, entity)
                except httpx.TransportError as error:
                    broken.append(type(error).__name__)

            asking = threading.Thread(target=first)
            asking.start()
            assert asked.wait(SECONDS)
            with instance.locked():  # the daemon's write waits for this
                held.set()
                assert told.wait(SECONDS)
                running.process.kill()
                asking.join()
        assert broken
        assert books() == before
        with serving(instance) as running:
            done = sync(running, made.key, entity)
            assert done.status_code == 200, done.text
            assert running.end() == 0
        fulfilled = [one for one in books() if one["kind"] == "itsa_final_declaration" and one["status"] == "fulfilled"]
        assert [one["dueDate"] for one in fulfilled] == ["2026-02-01", "2027-02-01"]
