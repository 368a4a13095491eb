"""The main job, step by step, over real HTTP: a key, an invoice, a lead, a signed webhook."""

import io
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import msgspec
import trio

from gatewayd.cli.demo_firm import Firm, seed
from gatewayd.cli.demo_receiver import Receiver
from gatewayd.clock import Clock
from gatewayd.config import Config, Log, Server, Webhooks
from gatewayd.config import Store as StoreSection
from gatewayd.daemon import STOP_SIGNALS, Daemon, Surroundings
from gatewayd.logs import make_logger

STEP_SECONDS = 20.0  # Chosen: longest time for one step of the play


class DemoFailed(Exception):
    """A step did not do its work."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What the demo was asked for. `directory` is there and empty; `port` is free."""

    directory: Path
    port: int
    once: bool
    clock: Clock
    output: TextIO
    receiver: Receiver
    step_seconds: float = STEP_SECONDS


async def perform(stage: Stage) -> None:
    """Raise the receiver and the daemon, seed, play, and serve on until a signal. Raises `DemoFailed`."""
    played = False
    with _log_stream(stage) as log_stream, trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_on_signal, signals, nursery.cancel_scope)
            log = make_logger("json", "warning", log_stream)
            hook_url = await nursery.start(stage.receiver.serve, log)
            daemon = Daemon(_config(stage), Surroundings(log_stream=log_stream, clock=stage.clock))
            running = await nursery.start(daemon.run)
            firm = await running.store.write(seed)
            await _Play(stage, running.addresses[0], firm).run(hook_url)
            played = True
            if not stage.once:
                await trio.sleep_forever()  # may last: until Ctrl-C
            daemon.stop()
            with trio.move_on_after(stage.step_seconds):
                await daemon.ended.wait()
            nursery.cancel_scope.cancel()
    if not played:
        raise DemoFailed("it was interrupted")
    if stage.once and not daemon.ended.is_set():
        raise DemoFailed("the daemon did not end")


def _log_stream(stage: Stage) -> TextIO:
    """What the daemon says would only stand between the lines of the play."""
    return io.StringIO() if stage.once else (stage.directory / "demo.log").open("w", encoding="utf-8")


async def _cancel_on_signal(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


def _config(stage: Stage) -> Config:
    address = f"127.0.0.1:{stage.port}"
    return Config(
        server=replace(Server(), bind=(address,), public_url=f"http://{address}", drain_seconds=2.0),
        store=replace(StoreSection(), directory=str(stage.directory), key_file=str(stage.directory / "instance.key")),
        webhooks=replace(Webhooks(), allow_networks=("127.0.0.0/8",), ca_file=str(stage.receiver.ca_file)),
        log=replace(Log(), format="json", level="warning"),
    )


class _Play:
    """Acts as the app of a firm; the base URL is the daemon's own."""

    def __init__(self, stage: Stage, base_url: str, firm: Firm) -> None:
        self._output = stage.output
        self._base_url = base_url
        self._firm = firm
        self._receiver = stage.receiver
        self._step_seconds = stage.step_seconds

    async def run(self, hook_url: str) -> None:
        firm = self._firm
        self._say(f"gatewayd serves {firm.org_name} at {self._base_url}\n")
        ready = await self._call("GET", "/readyz")
        self._say(f"1. The daemon is {ready['status']}: its store answers and its dispatcher runs.")
        await self._invoice()
        subscription = await self._call(
            "POST", "/api/rpc/webhooks/subscriptions", {"url": hook_url, "events": ["lead.created"]}
        )
        self._receiver.secret = subscription["secret"]
        self._say(f"3. The app subscribes to lead.created at {hook_url}; the secret is shown this once.")
        await self._lead(subscription["id"])
        self._say(_EPILOGUE.format(base=self._base_url, key=firm.key, client=firm.client_id))

    async def _invoice(self) -> None:
        lines = [
            {"description": "Oak front door", "unitPrice": "1240.00"},
            {"description": "Fitting", "quantity": "6.5", "unit": "hours", "unitPrice": "42.50"},
        ]
        request = {"clientId": self._firm.client_id, "status": "issued", "lines": lines}
        invoice = await self._call("POST", "/api/rpc/invoices", request, {"Idempotency-Key": "demo-1"})
        again = await self._call("POST", "/api/rpc/invoices", request, {"Idempotency-Key": "demo-1"})
        listed = await self._call("GET", "/api/rpc/invoices?status=issued")
        if again != invoice or [row["id"] for row in listed["data"]].count(invoice["id"]) != 1:
            raise DemoFailed("the invoice was not made exactly once")
        self._say(
            f"2. With its key, the app issues {invoice['number']}: {invoice['netTotal']} + VAT {invoice['vatTotal']}"
            f" = {invoice['grossTotal']} {invoice['currency']}. Sent twice by mistake, it is made once."
        )

    async def _lead(self, subscription_id: str) -> None:
        lead = await self._call("POST", "/api/rpc/crm/createLead", {"source": "website", "name": "B. Birch"})
        try:
            with trio.fail_after(self._step_seconds):
                arrival = await self._receiver.arrivals.receive()
        except trio.TooSlowError:
            raise DemoFailed("no webhook arrived") from None
        body = msgspec.json.decode(arrival.body)
        if body["event"] != "lead.created" or body["data"]["lead_id"] != lead["id"]:
            raise DemoFailed(f"the webhook tells of something else: {arrival.body!r}")
        self._say(f"4. A lead comes in ({lead['id']}), and the receiver gets, over TLS and signed:")
        self._say(f"     X-Service-Signature: {arrival.signature[:40]}…\n     {arrival.body.decode()}")
        delivery = await self._recorded(subscription_id)
        self._say(
            f"5. The delivery {delivery['id']} is recorded: {delivery['status']}, HTTP {delivery['responseCode']},"
            f" attempt {delivery['attempts']} of {delivery['maxAttempts']}."
        )

    async def _recorded(self, subscription_id: str) -> Mapping[str, Any]:
        """The delivery once its success is durable: the receiver may know a moment before the record does."""
        path = f"/api/rpc/webhooks/subscriptions/{subscription_id}/deliveries"
        with trio.move_on_after(self._step_seconds):
            while True:
                delivery: Mapping[str, Any] = (await self._call("GET", path))["data"][0]
                if delivery["status"] == "succeeded":
                    return delivery
                await trio.sleep(0.02)
        raise DemoFailed("the delivery was not recorded as succeeded")

    async def _call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        request = urllib.request.Request(
            self._base_url + path,
            method=method,
            data=None if body is None else msgspec.json.encode(body),
            headers={
                "Authorization": f"Bearer {self._firm.key}",
                "Content-Type": "application/json",
                **(headers or {}),
            },
        )
        answer: dict[str, Any] = msgspec.json.decode(await trio.to_thread.run_sync(_send, request))
        return answer

    def _say(self, text: str) -> None:
        print(text, file=self._output, flush=True)


def _send(request: urllib.request.Request) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=STEP_SECONDS) as response:
            return bytes(response.read())
    except urllib.error.HTTPError as error:
        with error:
            raise DemoFailed(f"{request.method} {request.full_url}: {error.code} {error.read()!r}") from None
    except urllib.error.URLError as error:
        raise DemoFailed(f"{request.method} {request.full_url}: {error.reason}") from None


_EPILOGUE = """
Go on yourself. The key of the demo is {key}

  curl -s {base}/api/rpc/invoices?limit=2 -H 'Authorization: Bearer {key}'

  curl -s {base}/api/rpc/invoices -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
       -d '{{"clientId": "{client}", "lines": [{{"description": "Oak shelf", "unitPrice": "95.00"}}]}}'

  curl -s {base}/openapi.json
"""
