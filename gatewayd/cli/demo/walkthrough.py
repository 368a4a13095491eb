"""The main job, step by step, over real HTTP: sign-in, key, invoice, lead, webhook, taxes, books, and more."""

import io
import secrets
import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import msgspec
import trio

from gatewayd.cli.demo.books import BooksScene
from gatewayd.cli.demo.credits import CreditsScene
from gatewayd.cli.demo.desk import DeskScene
from gatewayd.cli.demo.documents import DocumentsScene
from gatewayd.cli.demo.firm import Firm, seed
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.cli.demo.lets import LetsScene
from gatewayd.cli.demo.papers import PapersScene
from gatewayd.cli.demo.quarters import QuartersScene
from gatewayd.cli.demo.receiver import Receiver
from gatewayd.cli.demo.shares import SharesScene
from gatewayd.cli.demo.shop import ShopScene
from gatewayd.cli.demo.sign_in import AppConnection
from gatewayd.cli.demo.tax import TaxScene
from gatewayd.clock import Clock, london_date
from gatewayd.config import Config, Log, Server, Tax, Webhooks
from gatewayd.config import Store as StoreSection
from gatewayd.console.addresses import ACCOUNT, APPS, SIGN_IN
from gatewayd.daemon.daemon import STOP_SIGNALS, Daemon, Running, Surroundings
from gatewayd.identity.people import organizations
from gatewayd.identity.sign_in.passwords import Hasher
from gatewayd.logs import make_logger

MOUNT = "/api/rpc"
STEP_SECONDS = 20.0  # Chosen: longest time for one step of the play


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What the demo runs with. `directory` exists and is empty; `port` is free. `url` is of a PostgreSQL."""

    directory: Path
    port: int
    once: bool
    clock: Clock
    output: TextIO
    receiver: Receiver
    url: str = ""
    password_file: Path | None = None
    step_seconds: float = STEP_SECONDS


async def run_demo(options: DemoOptions) -> None:
    """Start the receiver and the daemon, seed, walk through, and serve on until a signal. Raises `DemoFailed`."""
    completed = False
    with _log_stream(options) as log_stream, trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_on_signal, signals, nursery.cancel_scope)
            log = make_logger("json", "warning", log_stream)
            hook_url = await nursery.start(options.receiver.serve, log)
            daemon = Daemon(_config(options), Surroundings(log_stream=log_stream, clock=options.clock, gallery=True))
            running = await nursery.start(daemon.run)
            password = secrets.token_hex(8)
            password_hash = await trio.to_thread.run_sync(Hasher().hash, password)
            if await running.store.read(organizations.list_all):
                raise DemoFailed("the database is not empty: the demo seeds a new instance")
            firm = await running.store.write(lambda tx: seed(tx, password_hash))
            await _Walkthrough(options, running, firm, password).run(hook_url)
            completed = True
            if not options.once:
                await trio.sleep_forever()  # may last: until Ctrl-C
            daemon.stop()
            with trio.move_on_after(options.step_seconds):
                await daemon.ended.wait()
            nursery.cancel_scope.cancel()
    if not completed:
        raise DemoFailed("it was interrupted")
    if options.once and not daemon.ended.is_set():
        raise DemoFailed("the daemon did not end")


def _log_stream(options: DemoOptions) -> TextIO:
    """The daemon's log: it would only stand between the lines of the demo."""
    return io.StringIO() if options.once else (options.directory / "demo.log").open("w", encoding="utf-8")


async def _cancel_on_signal(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


def _config(options: DemoOptions) -> Config:
    return Config(
        server=replace(
            Server(), bind=(f"127.0.0.1:{options.port}",), public_url=_public_url(options), drain_seconds=2.0
        ),
        store=replace(
            StoreSection(),
            directory=str(options.directory),
            key_file=str(options.directory / "instance.key"),
            url=options.url,
            password_file=str(options.password_file or ""),
        ),
        webhooks=replace(Webhooks(), allow_networks=("127.0.0.0/8",), ca_file=str(options.receiver.ca_file)),
        tax=replace(Tax(), mode="sandbox"),
        log=replace(Log(), format="json", level="warning"),
    )


def _public_url(options: DemoOptions) -> str:
    """By a name: browsers make no passkey for an address."""
    return f"http://localhost:{options.port}"


class _Walkthrough:
    """Acts as the shop of a firm; `password` is everybody's."""

    def __init__(self, options: DemoOptions, running: Running, firm: Firm, password: str) -> None:
        self._output = options.output
        self._base_url = _public_url(options)
        self._firm = firm
        self._password = password
        api = ApiClient(f"{self._base_url}{MOUNT}", firm.key)
        practice = ApiClient(api.base, firm.practice_key)
        self._api = api
        self._receiver = options.receiver
        self._step_seconds = options.step_seconds
        self._clock = options.clock
        self._shop = ShopScene(api, firm)
        self._books = BooksScene(api, firm)
        self._shares = SharesScene(api, firm)
        self._lets = LetsScene(api, firm)
        self._documents = DocumentsScene(api, firm)
        self._papers = PapersScene(api, firm)
        self._quarters = QuartersScene(api, firm)
        self._desk = DeskScene(api, firm, self._documents)
        self._credits = CreditsScene(practice, firm, running.store)
        self._taxes = TaxScene(self._base_url, firm, running.store, options.directory)

    async def run(self, hook_url: str) -> None:
        firm = self._firm
        self._say(f"gatewayd serves {firm.org_name} at {self._base_url}\n")
        ready = (await self._api.http.get(f"{self._base_url}/readyz")).expect().json()
        self._say(f"1. The daemon is {ready['status']}: its store answers and its dispatcher runs.")
        await AppConnection(self._base_url, firm, self._password, self._say).run()
        await self._shop.issue(self._say)
        subscription = await self._shop.subscribe(hook_url, self._say)
        self._receiver.secret = subscription["secret"]
        await self._lead(subscription["id"])
        await self._taxes.run(self._clock, self._say)
        today = london_date(self._clock.now())
        await self._books.run(today, self._say)
        await self._shares.run(today, self._say)
        await self._lets.run(today, self._say)
        await self._documents.run(today, self._say)
        await self._papers.run(today, self._say)
        await self._quarters.run(today, self._say)
        await self._credits.run(self._say)
        await self._desk.run(today, self._say)
        people = "\n".join(f"  {each.email:<23} {each.name}, {each.place}" for each in firm.people)
        pages = _PAGES.format(base=self._base_url, password=self._password, people=people)
        headers = shlex.quote(f"@{self._taxes.headers_file.absolute()}")
        self._say(
            pages
            + _EPILOGUE.format(
                base=self._base_url,
                key=firm.key,
                entity=firm.entity_id,
                client=firm.client_id,
                taxes=self._taxes.url,
                headers=headers,
            )
        )

    async def _lead(self, subscription_id: str) -> None:
        lead_id = await self._shop.lead()
        try:
            with trio.fail_after(self._step_seconds):
                received = await self._receiver.received.receive()
        except trio.TooSlowError:
            raise DemoFailed("no webhook arrived") from None
        body = msgspec.json.decode(received.body)
        if body["event"] != "lead.created" or body["data"]["lead_id"] != lead_id:
            raise DemoFailed(f"the webhook tells of something else: {received.body!r}")
        self._say(f"5. A lead comes in ({lead_id}), and the receiver gets, over TLS and signed:")
        self._say(f"     X-Service-Signature: {received.signature[:40]}…\n     {received.body.decode()}")
        delivery = await self._wait_for_record(subscription_id)
        self._say(
            f"6. The delivery {delivery['id']} is recorded: {delivery['status']}, HTTP {delivery['responseCode']},"
            f" attempt {delivery['attempts']} of {delivery['maxAttempts']}."
        )

    async def _wait_for_record(self, subscription_id: str) -> Mapping[str, Any]:
        """The delivery once its success is durable: the receiver may know a moment before the record does."""
        path = f"/webhooks/subscriptions/{subscription_id}/deliveries"
        with trio.move_on_after(self._step_seconds):
            while True:
                delivery: Mapping[str, Any] = (await self._api.get(path))["data"][0]
                if delivery["status"] == "succeeded":
                    return delivery
                await trio.sleep(0.02)
        raise DemoFailed("the delivery was not recorded as succeeded")

    def _say(self, text: str) -> None:
        print(text, file=self._output, flush=True)


_PAGES = f"""
Go on yourself. Sign in at {{base}}{SIGN_IN} with the password {{password}} as one of

{{people}}

and find the connected apps at {{base}}{APPS}, your account at {{base}}{ACCOUNT}.
"""
_EPILOGUE = """
The key of the demo is {key}

  curl -s {base}/api/rpc/invoices?limit=2 -H 'Authorization: Bearer {key}'

  curl -s {base}/api/rpc/invoices -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\
       -d '{{"legalEntityId": "{entity}", "clientId": "{client}",
            "lines": [{{"description": "Oak shelf", "unitPrice": "95.00"}}]}}'

  curl -s '{taxes}' -H 'Authorization: Bearer {key}' \\
       -H {headers}

  curl -s {base}/openapi.json
"""
