"""The API as an ASGI callable over a real store: requests without a socket, callers without a key."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import trio

from gatewayd.clock import SettableClock
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import FULL_ACCESS
from gatewayd.errors import Problem
from gatewayd.following import reactions
from gatewayd.http.api import Api, ApiCall, ApiParts
from gatewayd.http.render import PROBLEM_JSON
from gatewayd.http.uploads import Uploads
from gatewayd.http1.cors import Cors
from gatewayd.http1.request import Request
from gatewayd.http1.response import Response
from gatewayd.identity.keys.key_uses import KeyUses
from gatewayd.identity.tokens.authentication import Authenticate, Possession
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import ReadTx, Store
from gatewayd.store.database import open_store
from gatewayd.store.files.incoming_files import incoming_folder
from gatewayd.store.settings import DATABASE_NAME, Bucket, StoreSettings
from tests.support import given_fields, outcomes
from tests.support.scopes import request_of, scope_of
from tests.support.store import START, make_caller

ANSWER_SECONDS = 30.0  # the longest that anything here waits; nothing is measured with it
_ADD_ORG = "INSERT INTO organizations (id, name, created_at) VALUES (:id, :id, :now)"

Fields = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Reply:
    """What the API answered."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def __getitem__(self, name: str) -> str:
        """The one value of a header field; fails where there are several."""
        values = [value for key, value in self.headers if key == name.encode()]
        assert len(values) == 1, (name, self.headers)
        return values[0].decode("ascii")

    def __contains__(self, name: str) -> bool:
        return any(key == name.encode() for key, _ in self.headers)

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The `code` of a problem."""
        assert self["content-type"] == "application/problem+json", (self.status, self.body)
        return str(self.json()["code"])


class FakeAuthenticator:
    """A stand-in for the identity floor: knows the tokens that the test gave out."""

    def __init__(self) -> None:
        self.callers: dict[str, Caller] = {}
        self.asked: list[tuple[str, str | None]] = []

    def __call__(self, tx: ReadTx, token: str, peer: str | None, possession: Possession | None = None) -> Caller:
        self.asked.append((token, peer))
        caller = self.callers.get(token)
        if caller is None:
            raise Problem("invalid_token", "The API key is unknown, revoked or expired.")
        return caller


@dataclass
class Errors:
    """The log. Errors that the test does not claim fail it when the API is closed."""

    logged: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def error(self, event: str, **values: Any) -> None:
        self.logged.append((event, values))

    def claim(self, event: str) -> dict[str, Any]:
        """The one error of this name, which then is no fault."""
        matching = [values for name, values in self.logged if name == event]
        assert len(matching) == 1, self.logged
        self.logged = [entry for entry in self.logged if entry[0] != event]
        return matching[0]


class Body:
    """A request body as a server hands it over, in pieces. `read` counts how often it was asked for."""

    def __init__(self, *pieces: bytes, broken_off: bool = False) -> None:
        self._messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": piece, "more_body": broken_off or index + 1 < len(pieces)}
            for index, piece in enumerate(pieces)
        ]
        if broken_off:
            self._messages.append({"type": "http.disconnect"})
        self.read = 0

    async def receive(self) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        self.read += 1
        return self._messages.pop(0)


@dataclass
class TestedApi:
    """The API, its store, and what a test does with them."""

    __test__ = False
    api: Api
    store: Store
    clock: SettableClock
    authenticator: FakeAuthenticator
    errors: Errors
    limits: RateLimits
    observed: list[tuple[ApiCall, Response]]
    key_uses: KeyUses = field(default_factory=KeyUses)

    async def org(self, org_id: str, token: str, scopes: Iterable[str] = FULL_ACCESS) -> Caller:
        """An organization and a token of it."""
        await self.store.write(lambda tx: tx.run(_ADD_ORG, id=org_id))
        return self.token(org_id, token, scopes)

    def token(self, org_id: str, token: str, scopes: Iterable[str] = FULL_ACCESS) -> Caller:
        """One more token of an organization, a credential of its own."""
        caller = msgspec.structs.replace(make_caller(org_id, scopes=frozenset(scopes)), credential_id=f"key_{token}")
        self.authenticator.callers[token] = caller
        return caller

    async def __call__(
        self,
        method: str,
        path: str,
        *,
        token: str | None = "good",
        query: Mapping[str, object] | str = "",
        json: object = msgspec.UNSET,
        body: Body | bytes | None = None,
        headers: Fields = (),
    ) -> Reply:
        """One request. `json` is encoded; `query` as a string is sent as it is."""
        fields = [(b"host", b"api.example.com"), (b"accept", b"*/*")]
        if token is not None:
            fields.append((b"authorization", b"Bearer " + token.encode()))
        if json is not msgspec.UNSET:
            fields.append((b"content-type", b"application/json"))
            body = msgspec.json.encode(json)
        source = body if isinstance(body, Body) else Body(body or b"")
        text = query if isinstance(query, str) else urlencode({k: _parameter_text(v) for k, v in query.items()})
        named = {name for name, _ in headers}
        given_fields.note_request(method, path, text, body if isinstance(body, bytes) else b"")
        request = request_of(
            method,
            path,
            raw_path=quote(path).encode(),
            query=text.encode("utf-8", "surrogateescape"),
            headers=[*(field for field in fields if field[0] not in named), *headers],
        )
        return await self.send(request, source)

    async def send(self, request: Request, body: Body) -> Reply:
        """A request as a server would pass it on."""
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        with trio.fail_after(ANSWER_SECONDS):
            await self.api(scope_of(request), body.receive, send)
        start, *parts = sent
        return Reply(start["status"], start["headers"], b"".join(part["body"] for part in parts))


def _parameter_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What tests vary."""

    per_minute: int = 0
    concurrent: int = 64
    origins: tuple[str, ...] = ()
    json_body_bytes: int = 1 << 20
    read_budget_ms: float = 2.0
    busy_timeout_seconds: float = 5.0
    deps: object = None
    authenticate: Authenticate | None = None
    files: Path | Bucket | None = None


@asynccontextmanager
async def open_api(
    directory: Path,
    image: bytes,
    operations: Iterable[Operation],
    tuning: Tuning = Tuning(),
) -> AsyncIterator[TestedApi]:
    """The API over an empty migrated store in `directory`, with one organization `org_a` and its token `good`."""
    (directory / DATABASE_NAME).write_bytes(image)
    async with reopen_api(directory, operations, tuning) as tested:
        await tested.org("org_a", "good")
        yield tested


@asynccontextmanager
async def reopen_api(
    directory: Path, operations: Iterable[Operation], tuning: Tuning = Tuning()
) -> AsyncIterator[TestedApi]:
    """The API over the store that `directory` holds. No token is given out yet."""
    clock = SettableClock(START)
    authenticator, errors, uses = FakeAuthenticator(), Errors(), KeyUses()
    observed: list[tuple[ApiCall, Response]] = []

    def observe(call: ApiCall, response: Response) -> None:
        observed.append((call, response))
        if call.route is not None and PROBLEM_JSON in response.headers:
            outcomes.note_answered(call.route.operation.id, response.body)

    settings = StoreSettings(
        directory=directory,
        read_budget_ms=tuning.read_budget_ms,
        busy_timeout_seconds=tuning.busy_timeout_seconds,
        files=tuning.files,
    )
    limits = RateLimits(tuning.per_minute, tuning.concurrent)
    async with open_store(settings, clock, reactions=reactions) as store:
        parts = ApiParts(
            operations=operations,
            store=store,
            authenticate=tuning.authenticate or authenticator,
            limits=limits,
            cors=Cors(tuning.origins),
            log=errors,
            observe=observe,
            deps=tuning.deps,
            json_body_bytes=tuning.json_body_bytes,
            key_uses=uses,
            uploads=Uploads(folder=incoming_folder(directory), max_bytes={"banking": 1 << 20, "probe": 4_000}),
        )
        tested = TestedApi(Api(parts), store, clock, authenticator, errors, limits, observed, uses)
        yield tested
        assert errors.logged == []
