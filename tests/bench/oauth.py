"""CPU of the identity provider: a code and a refresh token for tokens, a registration, the key set, and their use.

A code or a refresh token serves once, so all that will be sent is prepared first, by the operations of the domain.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import msgspec
import trio

from gatewayd.cli.demo import firm as demo_firm
from gatewayd.clock import SystemClock
from gatewayd.identity.clients import client_metadata, oauth_clients
from gatewayd.identity.clients.oauth_clients import Client
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.tokens.authorization_codes import Consent
from gatewayd.store import WriteTx
from gatewayd.store.database import Store, open_store
from gatewayd.store.settings import StoreSettings
from tests.bench.load import fetch, request_bytes
from tests.bench.measure import WARMING_REQUESTS, Effort, Samples, Subject, interleave, ratios
from tests.bench.processes import BenchError, ServerProcess
from tests.bench.report import Figure, Report, at_most
from tests.bench.servers import Bench, floor, get, serving
from tests.bench.speed import ENTITY, FLOOR
from tests.bench.spellings import not_asked_before
from tests.support.consents import REDIRECT, VERIFIER, code_for, refresh_token_for

CONNECTIONS = 32
CODE, REFRESH, REGISTER = "code exchange", "refresh", "registration"
KEYS, WITH_KEY, WITH_TOKEN = "key set", "legal entity, API key", "legal entity, JWT"
WANTED = {CODE: 900, REFRESH: 600, REGISTER: 400, KEYS: 60}
TIMES_AT_MOST = 1.5

SCOPES = "openid offline_access entities:read accounting:read accounting:write"
_CHUNK = 250  # of one transaction
_REGISTRATION = {
    "client_name": "Ledger Sync",
    "redirect_uris": ["https://app.example/callback", "http://127.0.0.1/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
    "scope": SCOPES,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A data directory in which somebody consented often, and what requests to it need."""

    directory: Path
    key: str
    entity_id: str
    client_id: str
    codes: list[str]
    refresh_tokens: list[str]


def measure_oauth(bench: Bench, effort: Effort, most: int, report: Report) -> None:
    """Each endpoint beside the empty driver; at most `most` codes and refresh tokens in a sample."""
    prepared = prepare(bench.scratch / "oauth", WARMING_REQUESTS + effort.rounds * most + 1)
    with floor(bench) as empty, serving(bench, prepared.directory) as ours:
        use = Subject(name=FLOOR, server=empty, request=get("/", prepared.key))
        samples = interleave([use, *_subjects(ours, prepared, most)], effort)
    report.add(f"Identity provider, {CONNECTIONS} connections", samples, _figures(samples))


def prepare(directory: Path, count: int) -> Prepared:
    """Fill a new data directory with a firm and so many codes and refresh tokens; the codes live for ten minutes."""
    return trio.run(_prepare, directory, count)


async def _prepare(directory: Path, count: int) -> Prepared:
    async with open_store(StoreSettings(directory=directory), SystemClock()) as store:
        firm = await store.write(demo_firm.seed)
        client = await store.write(lambda tx: oauth_clients.register(tx, client_metadata.validate(_REGISTRATION)))
        consent = await store.write(lambda tx: _signed_in(tx, firm.org_id))
        entity_id = store.read_now(lambda tx: tx.value("SELECT id FROM legal_entities ORDER BY id LIMIT 1"), None)
        return Prepared(
            directory=directory,
            key=firm.key,
            entity_id=entity_id,
            client_id=client.id,
            refresh_tokens=await _many(store, refresh_token_for, (client, consent), count),
            codes=await _many(store, code_for, (client, consent), count),
        )


def _signed_in(tx: WriteTx, org_id: str) -> Consent:
    user_id = tx.value("SELECT user_id FROM memberships WHERE org_id = :of ORDER BY user_id LIMIT 1", of=org_id)
    _, session = sessions.start(tx, user_id, ["pwd"], sessions.Visitor(user_agent="Firefox", address="192.0.2.1"))
    return Consent(
        user_id=user_id,
        org_id=org_id,
        session_id=session.id,
        scopes=frozenset(SCOPES.split()),
        authenticated_at=session.authenticated_at,
        methods=session.methods,
    )


async def _many(
    store: Store, make: Callable[[WriteTx, Client, Consent], str], whose: tuple[Client, Consent], count: int
) -> list[str]:
    made: list[str] = []
    for first in range(0, count, _CHUNK):
        made += await store.write(functools.partial(_some, make, whose, min(_CHUNK, count - first)))
    return made


def _some(
    make: Callable[[WriteTx, Client, Consent], str], whose: tuple[Client, Consent], count: int, tx: WriteTx
) -> list[str]:
    return [make(tx, *whose) for _ in range(count)]


def _subjects(server: ServerProcess, prepared: Prepared, most: int) -> list[Subject]:
    resource = issuer_of(server)
    codes = exchanges(prepared, resource)
    token = msgspec.json.decode(_answered(server, next(codes)))["access_token"]
    entity = ENTITY + prepared.entity_id

    def subject(name: str, request: bytes | Iterator[bytes]) -> Subject:
        return Subject(name=name, server=server, request=request, connections=CONNECTIONS)

    def once(name: str, requests: Iterator[bytes]) -> Subject:
        return Subject(name=name, server=server, request=requests, connections=CONNECTIONS, most=most)

    registration = _post("register", "application/json", msgspec.json.encode(_REGISTRATION))
    return [
        once(CODE, codes),
        once(REFRESH, refreshes(prepared, resource)),
        once(REGISTER, itertools.repeat(registration)),  # no more: the daemon counts them by address and minute
        subject(KEYS, request_bytes("GET", "/api/auth/jwks")),
        subject(WITH_KEY, not_asked_before(entity, prepared.key)),
        subject(WITH_TOKEN, not_asked_before(entity, token)),
    ]


def issuer_of(server: ServerProcess) -> str:
    """Which is also the resource that tokens are for."""
    metadata = _answered(server, request_bytes("GET", "/.well-known/oauth-authorization-server"))
    return str(msgspec.json.decode(metadata)["issuer"])


def exchanges(prepared: Prepared, resource: str) -> Iterator[bytes]:
    """Each code as its client sends it (RFC 6749 §4.1.3)."""
    rest = {
        "grant_type": "authorization_code",
        "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER,
        "client_id": prepared.client_id,
        "resource": resource,
    }
    return (_form({**rest, "code": code}) for code in prepared.codes)


def refreshes(prepared: Prepared, resource: str) -> Iterator[bytes]:
    """Each refresh token as its client sends it (RFC 6749 §6)."""
    rest = {"grant_type": "refresh_token", "client_id": prepared.client_id, "resource": resource}
    return (_form({**rest, "refresh_token": token}) for token in prepared.refresh_tokens)


def _form(fields: dict[str, str]) -> bytes:
    return _post("token", "application/x-www-form-urlencoded", urlencode(fields).encode())


def _post(endpoint: str, content_type: str, body: bytes) -> bytes:
    return request_bytes("POST", f"/api/auth/oauth2/{endpoint}", {"Content-Type": content_type}, body)


def _answered(server: ServerProcess, request: bytes) -> bytes:
    status, body = fetch(server.address, request)
    if status != 200:
        raise BenchError(f"{server.name} answered {status}: {body[:300].decode()}")
    return body


def _figures(samples: Samples) -> Sequence[Figure]:
    figures = [Figure(name, [one.cpu_us for one in samples[name]], at_most(us), "us") for name, us in WANTED.items()]
    figures += [Figure(f"{name} / {FLOOR}", ratios(samples, name, FLOOR)) for name in WANTED]
    return [*figures, Figure(f"{WITH_TOKEN} / API key", ratios(samples, WITH_TOKEN, WITH_KEY), at_most(TIMES_AT_MOST))]
