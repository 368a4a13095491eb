"""The firm of `gatewayd demo`, made by the demo's own scenes in this process, on days of its own."""

import shutil
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from email.message import Message
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final, Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec

from gatewayd.areas.accounting import paper_links
from gatewayd.cli.demo.books import BooksScene, Line, statement
from gatewayd.cli.demo.credits import CreditsScene
from gatewayd.cli.demo.desk import DeskScene
from gatewayd.cli.demo.documents import DocumentsScene
from gatewayd.cli.demo.firm import Firm, seed
from gatewayd.cli.demo.http import ApiClient, HttpClient, Response
from gatewayd.cli.demo.lets import LetsScene
from gatewayd.cli.demo.papers import PapersScene
from gatewayd.cli.demo.quarters import QuartersScene
from gatewayd.cli.demo.shares import SharesScene
from gatewayd.cli.demo.shop import ShopScene
from gatewayd.clock import SECOND, Instant, from_wire, london_date
from gatewayd.console.components import words
from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.extraction.reader import ReaderSettings, open_reader
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import WriteTx
from gatewayd.store.settings import DATABASE_NAME
from gatewayd.webhooks.queue import attempts, delivery_queue
from gatewayd.webhooks.sender import AttemptResult
from tests.contract.conftest import RealReading, Seeded, engines_of, read_documents
from tests.contract.demo_ids import ids_of
from tests.contract.rows import OPERATIONS, bounced_mail
from tests.http.vault_door import ORIGIN, Door
from tests.support.api import Body, TestedApi, Tuning, reopen_api
from tests.support.document_reading import FakeReader
from tests.support.engines import Engines
from tests.support.inline_reading import read_inline
from tests.support.store import START, make_caller

PRACTICE: Final = ("billing.", "organizations.")
"""What begins so is asked for by the practice, which has credits."""
MOUNT: Final = f"{ORIGIN}/api/rpc"
HOOK: Final = "https://shop.oakandson.example/hooks"
FILES: Final[Mapping[str, bytes]] = {
    "banking.importStatement": statement(
        "2026-11-20", (Line("-38.40", "OTLEY ROAD SERVICES", "DIESEL"),), "6003.95", 301
    ),
    "assets.importTransactions": b"Date,Type,Symbol,Name,Quantity,Price,Amount,Currency\n"
    b"2026-11-18,Buy,LRCH,Larch Group,50,4.80,-240.00,GBP\n",
    "assets.importPrices": b"date,symbol,price,currency\n2026-11-18,LRCH,4.79,GBP\n2026-11-19,LRCH,4.82,GBP\n",
}
"""What is sent where an operation takes a file."""
PAUSE: Final = 7 * SECOND
"""What passes between two requests that change something."""


class InProcess(HttpClient):
    """Hands the demo's requests to the API and the vault's doors, without a socket."""

    def __init__(self, api: TestedApi, door: Door, settle: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._api, self._door, self._settle = api, door, settle

    async def send(self, request: urllib.request.Request) -> Response:
        method, parts = request.get_method(), urlsplit(request.full_url)
        headers = [(name.lower().encode(), value.encode()) for name, value in request.header_items()]
        content = request.data if isinstance(request.data, bytes) else b""
        if method != "GET":
            self._api.clock.advance(PAUSE)
        if method == "PUT":
            reply = await self._door.put(request.full_url, Body(content), *headers)
        elif not request.full_url.startswith(MOUNT):
            reply = await self._door.get(request.full_url, *headers)
        else:
            reply = await self._api(method, parts.path, token=None, query=parts.query, body=content, headers=headers)
        if parts.path.endswith("/confirm-upload"):
            await self._settle()
        return Response(method, request.full_url, reply.status, Message(), reply.body)


class Stranger(HttpClient):
    """Opens the links of papers: what the pages do, without their looks."""

    def __init__(self, api: TestedApi, papers: PublicPapers) -> None:
        super().__init__()
        self._api, self._papers = api, papers

    async def send(self, request: urllib.request.Request) -> Response:
        method, url = request.get_method(), request.full_url
        token = urlsplit(url).path.split("/")[2]
        shown = await self._papers.look(token)
        assert shown is not None
        self._api.clock.advance(PAUSE)
        if method == "POST":
            assert isinstance(request.data, bytes)
            await self._papers.accept(shown, dict(parse_qsl(request.data.decode()))["name"])
            return Response(method, url, HTTPStatus.SEE_OTHER, Message(), b"")
        await self._papers.note_view(shown)
        due = "" if shown.due is None else words.money(shown.due.minor, shown.due.currency)
        page = f'<form action="{paper_links.PATH}{token}/accept"><input name="name"></form>{due}'
        return Response(method, url, HTTPStatus.OK, Message(), page.encode())


def _silent(text: str) -> None:
    """What the scenes say is the demo's."""


_REFUSED: Final = AttemptResult(
    response_code=503,
    error="http_5xx",
    body_error=None,
    detail="",
    headers=(("retry-after", "60"),),
    body_excerpt=b"Back in a minute.",
    retry_after="60",
    duration_ms=41,
    timings=(("dns", 1_900), ("connect", 8_200), ("tls", 16_400), ("send", 60), ("headers", 14_100), ("body", 340)),
    reused=False,
)
_TAKEN: Final = replace(
    _REFUSED,
    response_code=204,
    error=None,
    headers=(),
    body_excerpt=b"",
    retry_after=None,
    duration_ms=19,
    timings=(("send", 50), ("headers", 18_200), ("body", 0)),
    reused=True,
)


MAX_ATTEMPTS: Final = 8
_WAIT: Final = 30 * SECOND
"""Twice as much is waited after the first attempt, and again twice as much after each one that follows."""


async def deliver(api: TestedApi, ended: Literal["succeeded", "exhausted"]) -> None:
    """The one delivery that waits arrives with the second attempt, or with none."""
    last = 2 if ended == "succeeded" else MAX_ATTEMPTS
    for number in range(1, last):
        await api.store.write(partial(_attempt, number=number, result=_REFUSED, status="retrying"))
        api.clock.advance(_WAIT << number)
    result = _TAKEN if ended == "succeeded" else _REFUSED
    await api.store.write(partial(_attempt, number=last, result=result, status=ended))


def _attempt(tx: WriteTx, number: int, result: AttemptResult, status: str) -> None:
    """Begin an attempt and record how it ended, as the dispatcher does."""
    head = delivery_queue.next_head(tx, "")
    assert head is not None
    (delivery,) = delivery_queue.due_deliveries(tx, head, tx.now, 1)
    delivery_queue.begin_attempts(tx, [(head.org_id, delivery.id)], tx.now, Instant(tx.now + 30 * SECOND))
    completion = delivery_queue.Completion(
        delivery_id=delivery.id,
        org_id=head.org_id,
        attempt=number,
        status=status,
        due_at=Instant(tx.now + (_WAIT << number)) if status == "retrying" else None,
        response_code=result.response_code,
        error=result.error,
        duration_ms=result.duration_ms,
        interrupted=False,
    )
    assert delivery_queue.complete(tx, completion, tx.now)
    wire = attempts.render_completed(number, tx.now, result, ())
    attempts.insert(tx, [(delivery.id, number, head.org_id, wire)])


async def play(api: TestedApi, http: HttpClient, firm: Firm, stranger: HttpClient) -> None:
    """The scenes of the demo, each on a day of its own."""

    def until(moment: str) -> str:
        api.clock.advance(from_wire(moment) - api.clock.now())
        return london_date(api.clock.now())

    mine, practice = ApiClient(MOUNT, firm.key, http), ApiClient(MOUNT, firm.practice_key, http)
    shop = ShopScene(mine, firm)
    await mine.get("/events?event=invoice.*&event=lead.*")  # who asks is told of what comes from then on
    until("2026-11-03T10:05:00Z")
    await shop.issue(_silent)
    until("2026-11-04T13:40:00Z")
    await shop.subscribe(HOOK, _silent)
    until("2026-11-05T16:12:00Z")
    await shop.lead()
    await deliver(api, "succeeded")
    until("2026-11-06T09:48:00Z")
    await shop.lead("Max Aspen", "max.aspen@example.net")
    await deliver(api, "exhausted")
    await BooksScene(mine, firm).run(until("2026-11-09T08:30:00Z"), _silent)
    await SharesScene(mine, firm).run(until("2026-11-11T19:20:00Z"), _silent)
    await LetsScene(mine, firm).run(until("2026-11-16T11:00:00Z"), _silent)
    documents = DocumentsScene(mine, firm, meaning_seconds=0.0)
    await documents.run(until("2026-11-17T09:15:00Z"), _silent)
    await PapersScene(mine, firm, stranger).run(until("2026-11-17T14:20:00Z"), _silent)
    await QuartersScene(mine, firm).run(until("2026-11-18T09:05:00Z"), _silent)
    until("2026-11-18T14:00:00Z")
    await CreditsScene(practice, firm, api.store).run(_silent)
    await DeskScene(mine, firm, documents).run(until("2026-11-19T15:30:00Z"), _silent)
    until("2026-11-19T16:20:00Z")
    await api.store.write(_bounce, firm.org_id)  # the demo has no server for mail
    until("2026-11-20T09:30:00Z")


_CALLERS: Final = "SELECT org_id, id, user_id FROM api_keys ORDER BY id"
_ADMINISTER: Final = "UPDATE users SET instance_admin = 1"


_FIRST_PAID: Final = "SELECT min(id) FROM invoices WHERE org_id = :org_id AND status = 'paid'"


async def give_keys(api: TestedApi) -> dict[str, Caller]:
    """A caller with every scope for each of the demo's keys, by the organization."""
    found = await api.store.read(lambda tx: tx.rows(_CALLERS))
    callers = {}
    for org_id, key_id, user_id in found:
        caller = make_caller(str(org_id), scopes=frozenset(ALL_SCOPES), user_id=str(user_id))
        callers[str(org_id)] = msgspec.structs.replace(caller, credential_id=str(key_id))
    return callers


async def make_demo(directory: Path, image: bytes) -> Seeded:
    """The firm in a directory, and the ids by the keys that examples name them with."""
    (directory / DATABASE_NAME).write_bytes(image)
    engines = Engines()
    async with (
        open_reader(ReaderSettings(ocr="off")) as reader,
        reopen_api(directory, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines, real=RealReading(reader, read_inline)),
    ):
        api.clock.advance(from_wire("2026-11-02T08:40:00Z") - START)
        firm = await api.store.write(seed)
        callers = await give_keys(api)
        api.authenticator.callers |= {firm.key: callers[firm.org_id], firm.practice_key: callers[firm.practice_id]}
        assert engines.vault_files is not None
        assert engines.papers is not None
        door = Door(api, directory, engines.vault_files)
        papers = PublicPapers(api.store, engines.papers, RateLimits(0, 100))
        http = InProcess(api, door, lambda: read_documents(api, engines, firm.org_id))
        await play(api, http, firm, Stranger(api, papers))
        await api.store.write(lambda tx: tx.run(_ADMINISTER))
        return Seeded(directory, await api.store.read(ids_of))


def _bounce(tx: WriteTx) -> None:
    bounced_mail(tx, str(tx.value(_FIRST_PAID)))


@asynccontextmanager
async def opened_demo(demo: Seeded, directory: Path) -> AsyncIterator[tuple[TestedApi, dict[str, str]]]:
    """The API over a copy of it in another directory. The owner of the firm calls, or of the practice."""
    shutil.copytree(demo.directory, directory, dirs_exist_ok=True)
    engines = Engines()
    async with (
        reopen_api(directory, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines, real=RealReading(FakeReader(), read_inline)),
    ):
        callers = await give_keys(api)
        practice = callers.pop(demo.ids["org"])
        (owner,) = callers.values()
        api.authenticator.callers |= {"good": owner, "practice": practice}
        yield api, dict(demo.ids)


def token_of(operation_id: str) -> str:
    """Whose example it is."""
    return "practice" if operation_id.startswith(PRACTICE) else "good"
