"""Rows made for testing the dispatch, with handlers that do as they are told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Kind, Operation
from gatewayd.contract.pages import Listing, Page, PageRequest
from gatewayd.contract.received_file import ReceivedFile
from gatewayd.contract.wire import Request, Response
from gatewayd.errors import not_found
from gatewayd.http1.request import Request as HttpRequest
from gatewayd.store import ReadTx, WriteTx

_RENAME = "UPDATE organizations SET name = name || :name WHERE id = :org_id"
_NAME = "SELECT name FROM organizations WHERE id = :org_id"
_COUNT_FOR_LONG = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :upto)
SELECT COUNT(*) FROM numbers
"""


class Word(Request, frozen=True, kw_only=True):
    """One word to do something with."""

    word: Annotated[str, Meta(min_length=1, max_length=20)]
    count: int = 0


class Said(Response, frozen=True, kw_only=True):
    """What became of it."""

    said: str
    org: str


class ListWords(PageRequest, frozen=True, kw_only=True):
    """A page of words."""

    like: str | None = None


class Target(Request, frozen=True, kw_only=True):
    """A thing under a path parameter."""

    thing_id: str
    word: str | None = None


async def _say(caller: Caller, request: Word) -> Said:
    return Said(said=request.word, org=caller.org_id)


@dataclass
class Deps:
    """What call rows are given: what they do, and how often they did it."""

    act: Callable[[Caller, Word], Awaitable[Said]] = _say
    calls: list[str] = field(default_factory=list)


def read(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Read a word."""
    return Said(said=request.word, org=tx.org_id)


def long_read(tx: ReadTx, caller: Caller, request: Word) -> Said:
    """Read a word, after a while."""
    counted = tx.value(_COUNT_FOR_LONG, upto=max(1, request.count))
    return Said(said=f"{request.word}{counted}", org=tx.org_id)


def write(tx: WriteTx, caller: Caller, request: Word) -> Said:
    """Add a word to the organization's name."""
    tx.run(_RENAME, name=request.word)
    if request.word == "raise":
        raise LookupError("the word was raise")
    if request.word == "missing":
        raise not_found("word")
    return Said(said=str(tx.value(_NAME)), org=tx.org_id)


async def call(deps: Deps, caller: Caller, request: Word) -> Said:
    """Say a word to somebody else."""
    deps.calls.append(request.word)
    return await deps.act(caller, request)


async def overhear(deps: Deps, caller: Caller, request: Word, incoming: HttpRequest) -> Said:
    """Say which header field of the request is named by the word."""
    deps.calls.append(request.word)
    value = dict(incoming.headers).get(request.word.encode(), b"nothing")
    return Said(said=f"{value.decode('latin-1')} {incoming.id}", org=caller.org_id)


async def take(deps: Deps, caller: Caller, request: Word, file: ReceivedFile) -> Said:
    """Take a file."""
    deps.calls.append(f"{request.word} {file.size_bytes} {file.sha256} {file.path.read_bytes()[:20]!r}")
    return await deps.act(caller, request)


def list_words(tx: ReadTx, caller: Caller, request: ListWords) -> Listing[Said]:
    """List words; there is always one more."""
    return Listing.of([b'{"said":"a","org":"b"}'], "bmV4dA==")


def get_thing(tx: ReadTx, caller: Caller, request: Target) -> Said:
    """Get a thing."""
    return Said(said=request.thing_id, org=tx.org_id)


def change_thing(tx: WriteTx, caller: Caller, request: Target) -> Said:
    """Change a thing."""
    return Said(said=f"{request.thing_id} {request.word}", org=tx.org_id)


def row(id_: str, kind: Kind, handler: Callable[..., Any], path: str, **values: Any) -> Operation:
    """An operation with the defaults of its kind."""
    defaults: dict[str, Any] = {
        "method": "GET" if kind == "read" else "POST",
        "scopes": ("entities:read",) if kind == "read" else ("entities:write",),
        "request": Word,
        "response": Said,
    }
    return Operation(id=id_, kind=kind, handler=handler, path=path, **{**defaults, **values})


OPERATIONS = (
    row("probe.read", "read", read, "/probe/read"),
    row("probe.write", "write", write, "/probe/write"),
    row("probe.call", "call", call, "/probe/call"),
    row("probe.overhear", "call", overhear, "/probe/overhear", takes_incoming=True),
    row("probe.take", "call", take, "/probe/take", takes_file=True),
    row("probe.secret", "write", write, "/probe/secret", secret=True),
    row("probe.secretCall", "call", call, "/probe/secretCall", secret=True),
    row("probe.dear", "read", read, "/probe/dear", cost=5),
    row("probe.busy", "read", long_read, "/probe/busy"),
    row("probe.long", "read", long_read, "/probe/long", long=True),
    row("probe.search", "read", read, "/probe/search", method="POST"),
    row("probe.longSearch", "read", long_read, "/probe/longSearch", method="POST", long=True),
    row("probe.both", "read", read, "/probe/both", scopes=("entities:read", "tax:read")),
    row("landlord.narrow", "read", read, "/landlord/narrow", scopes=("accounting:read",)),
    row("probe.list", "read", list_words, "/words", request=ListWords, response=Page[Said]),
    row("probe.getThing", "read", get_thing, "/things/:thingId", request=Target),
    row("probe.changeThing", "write", change_thing, "/things/:thingId", request=Target, method="PATCH"),
    row("probe.recent", "read", read, "/things/recent"),
)


def said(reply_body: bytes) -> str:
    """The word of an answer."""
    return msgspec.json.decode(reply_body, type=Said).said
