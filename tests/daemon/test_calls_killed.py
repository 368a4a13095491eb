"""A kill in the midst of a call that others are asked in: under its key it is never made again."""

import threading
from pathlib import Path

import httpx

from gatewayd.clock import SECOND
from tests.daemon.hooks import make_authority
from tests.daemon.instance import Instance, Running, serving, until
from tests.daemon.tax_upstream import tax_settings, taxing
from tests.tax.conftest import HEADERS
from tests.tax.recording import hang

SYNC = "/api/rpc/businesses/syncTaxBusiness"
_LEASE = "SELECT lease_until FROM idempotency_keys"
_END_LEASES = "UPDATE idempotency_keys SET lease_until = :now"


def sync(running: Running, key: str, entity_id: str) -> httpx.Response:
    fields = {name.decode(): value.decode() for name, value in HEADERS} | {"Idempotency-Key": "first"}
    return running.call(key, "POST", SYNC, {"legalEntityId": entity_id}, fields)


def test_a_call_that_a_kill_cut_short_is_not_made_again(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    with taxing(authority) as service:
        service.script = hang
        instance = Instance(tmp_path, tax_settings("forward", service, ca_file))
        firm = instance.firm()
        person = {"name": "Ann Oak", "type": "individual", "nino": "AA123456A"}
        entity = instance.do(firm.org_id, "legalEntity.createLegalEntity", **person)["id"]
        made = instance.key(firm.org_id, firm.user_id, ["tax:read", "entities:write"])
        assert instance.run("tax", "approve", "--key", made.id).returncode == 0
        with serving(instance) as running:
            broken: list[str] = []

            def first() -> None:
                try:
                    sync(running, made.key, entity)
                except httpx.TransportError as error:
                    broken.append(type(error).__name__)

            asking = threading.Thread(target=first)
            asking.start()
            until(lambda: service.requests)
            running.process.kill()
            asking.join()
        assert broken
        asked = len(service.requests)
        with serving(instance) as running:
            pending = sync(running, made.key, entity)
            assert (pending.status_code, pending.json()["outcome"]) == (409, "pending")
            lease: int = instance.read(lambda tx: tx.value(_LEASE) - tx.now)
            assert 0 < lease <= 120 * SECOND
            instance.write(lambda tx: tx.run(_END_LEASES))
            for _ in range(2):
                unknown = sync(running, made.key, entity)
                assert (unknown.status_code, unknown.json()["code"]) == (409, "idempotency_conflict")
                assert unknown.json()["outcome"] == "unknown"
            assert running.end() == 0
        assert len(service.requests) == asked
