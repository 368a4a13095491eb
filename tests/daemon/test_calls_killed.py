"""A kill in the midst of a call that others are asked in: it costs nothing, and under its key is never made again."""

import http.client
import threading
from contextlib import suppress
from pathlib import Path

import httpx

from gatewayd.clock import SECOND
from tests.daemon.hooks import make_authority
from tests.daemon.instance import Instance, Running, serving, until
from tests.daemon.tax_upstream import approved_key, ask, tax_settings, taxing
from tests.support import purses
from tests.tax.conftest import HEADERS
from tests.tax.recording import answer, hang, saying

SYNC = "/api/rpc/businesses/syncTaxBusiness"
_LEASE = "SELECT lease_until FROM idempotency_keys"
_END_LEASES = "UPDATE idempotency_keys SET lease_until = :now"
_HOLDS = "SELECT status, most, expires_at - :now FROM credit_holds WHERE org_id = :org_id ORDER BY created_at"
_END_HOLDS = "UPDATE credit_holds SET expires_at = :now WHERE org_id = :org_id AND status = 'open'"
OBLIGATIONS = "/api/rpc/tax/vat/getObligations?vrn=980780684"
PRICE = 5


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


def test_what_a_call_held_that_a_kill_cut_short_is_given_back_and_never_charged(tmp_path: Path) -> None:
    authority, ca_file = make_authority(tmp_path)
    with taxing(authority) as service:
        service.script = hang
        instance = Instance(tmp_path, tax_settings("forward", service, ca_file))
        firm = instance.firm()
        key = approved_key(instance, firm.org_id, firm.user_id)
        instance.write(lambda tx: purses.price(tx, "tax.forward", PRICE))
        instance.write(purses.put_on_plan, firm.org_id)
        instance.write(lambda tx: purses.grant(tx, PRICE), firm.org_id)

        def holds() -> list[tuple[str, int, int]]:
            return instance.read(lambda tx: list(tx.rows(_HOLDS)), firm.org_id)

        def standing() -> tuple[list[tuple[str, int]], int, int]:
            return instance.read(lambda tx: (purses.charged(tx), purses.balance(tx), purses.held(tx)), firm.org_id)

        with serving(instance) as running:

            def first() -> None:
                with suppress(OSError, http.client.HTTPException):
                    ask(running, key, OBLIGATIONS)
                    broken.append("it was answered")

            broken: list[str] = []
            asking = threading.Thread(target=first)
            asking.start()
            until(lambda: service.requests)
            running.process.kill()
            asking.join()
        assert broken == []
        ((status, most, left),) = holds()
        assert (status, most, standing()) == ("open", PRICE, ([], PRICE, PRICE))
        assert 0 < left <= 120 * SECOND
        service.script = saying(answer())
        with serving(instance) as running:
            assert ask(running, key, OBLIGATIONS).status == 402, "it is held for as long as the call could have lasted"
            instance.write(lambda tx: tx.run(_END_HOLDS), firm.org_id)
            assert standing() == ([], PRICE, 0)
            assert ask(running, key, OBLIGATIONS).status == 200
        assert [status for status, *_ in holds()] == ["expired", "settled"]
        assert standing() == ([("tax.forward", PRICE)], 0, 0)
        assert instance.run("verify").returncode == 0
