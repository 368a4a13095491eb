"""The vault's doors over a real store: where bytes come in and go out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trio

from gatewayd.areas import vault
from gatewayd.http import tus
from gatewayd.http.vault_files import VaultFilesDoor
from gatewayd.http.vault_thumbnails import thumbnails
from gatewayd.http.vault_uploads import VaultUploads
from gatewayd.http1.asgi import App
from gatewayd.http1.cors import Cors
from gatewayd.leases.holder import Holder
from gatewayd.parsing.engine import open_parsing
from gatewayd.parsing.parts import ParseParts
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.settings import Bucket
from gatewayd.vault_files import places
from gatewayd.vault_files.engine import VaultFiles
from gatewayd.vault_files.giving import Giving
from gatewayd.vault_files.receiving import Receiving
from tests.importing.conftest import ImportLog
from tests.support.api import ANSWER_SECONDS, Body, Fields, Reply, TestedApi, Tuning, open_api
from tests.support.document_reading import FakeReader
from tests.support.engines import Engines
from tests.support.rows import served
from tests.support.scopes import request_of, scope_of

MAX_BYTES = 3_000_000
ORIGIN = "http://127.0.0.1:8080"


class Door:
    """The API with its vault, and the doors beside it."""

    def __init__(self, api: TestedApi, directory: Path, files: VaultFiles) -> None:
        self.api, self.directory, self.files = api, directory, files
        self.blobs = blobs_at(api.store.place)
        self.limits = RateLimits(0, 64)
        self.restart()
        giving = Giving(api.store, files)
        door = VaultFilesDoor(giving, self.limits)
        self.apps: dict[str, App] = {
            "/vault/files/": door.downloads("/vault/files/"),
            "/l/": door.links("/l/"),
            "/vault/thumbnails/": thumbnails(giving),
        }

    def restart(self, organization_bytes: int = 0) -> None:
        """Forget what is in memory, as a daemon that was killed does."""
        limits = vault.Settings(ORIGIN, MAX_BYTES, organization_bytes)
        self.partials = partials_at(self.api.store.place)
        self.receiving = Receiving(self.api.store, self.blobs, self.partials, limits)
        cors = Cors(["https://app.example.com"], tus.FROM_PAGES, tus.TO_PAGES)
        self.uploads = VaultUploads(self.receiving, cors, "/vault/uploads/")

    async def tus(self, method: str, url: str, body: Body | bytes = b"", **fields: object) -> Reply:
        """A request of tus; `fields` are header fields, spelled with underscores."""
        given = {"tus_resumable": "1.0.0", **fields}
        if method == "PATCH":
            given.setdefault("content_type", "application/offset+octet-stream")
        headers = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in given.items()]
        source = body if isinstance(body, Body) else Body(body)
        return await call(self.uploads, method, url, source, headers)

    async def post(self, path: str, method: str = "POST", **values: object) -> dict[str, Any]:
        reply = await self.api(method, path, json=values)
        assert reply.status == 200, reply.body
        return dict(reply.json())

    async def put(self, url: str, body: Body, *headers: tuple[bytes, bytes], method: str = "PUT") -> Reply:
        return await call(self.uploads, method, url, body, headers)

    async def get(self, url: str, *headers: tuple[bytes, bytes], method: str = "GET", body: bytes = b"") -> Reply:
        path = urlsplit(url).path
        app = next(app for start, app in self.apps.items() if path.startswith(start))
        return await call(app, method, url, Body(body), headers)

    async def document(self, content: bytes = b"0123456789", name: str = "a.txt", **values: object) -> str:
        made = await self.post("/vault/documents", name=name, **values)
        sent = await self.put(made["upload"]["url"], Body(content))
        assert sent.status == 200, sent.body
        document_id = made["document"]["id"]
        await self.post(f"/vault/documents/{document_id}/confirm-upload")
        return str(document_id)

    async def parsed(self, document_id: str) -> dict[str, Any]:
        """The document once it was read."""
        with trio.fail_after(ANSWER_SECONDS):
            while True:
                shown = (await self.api("GET", f"/vault/documents/{document_id}")).json()
                if shown["parse"]["status"] not in ("queued", "running"):
                    return dict(shown)
                await self.api.store.write_behind(lambda tx: None)

    async def url(self, document_id: str, query: str = "") -> str:
        reply = await self.api("GET", f"/vault/documents/{document_id}/download", query=query)
        assert reply.status == 200, reply.body
        return str(reply.json()["url"])

    async def link(self, document_id: str, **values: object) -> str:
        made = await self.post(f"/vault/documents/{document_id}/temporal-link", **values)
        return str(made["url"])

    def kept(self) -> list[Path]:
        """Every file among the blobs, drafts included."""
        return [path for path in self.blobs.folder.rglob("*") if path.is_file()]


async def call(app: App, method: str, url: str, body: Body, headers: Fields) -> Reply:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    parts = urlsplit(url)
    request = request_of(method, parts.path, headers=headers)
    with trio.fail_after(ANSWER_SECONDS):
        await app(scope_of(request), body.receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return Reply(sent[0]["status"], sent[0]["headers"], content)


@asynccontextmanager
async def open_door(
    tmp_path: Path, image: bytes, *, gives_links: bool = True, files: Path | Bucket | None = None
) -> AsyncIterator[Door]:
    """`files`: a folder that several daemons share; None: the data directory has the bytes."""
    engines = Engines()
    async with open_api(tmp_path, image, served(vault.AREA), Tuning(deps=engines, files=files)) as api:
        await places.claim(api.store)
        blobs = blobs_at(api.store.place)
        parts = ParseParts(store=api.store, holder=Holder(api.store), blobs=blobs, reader=FakeReader(), log=ImportLog())
        async with open_parsing(parts) as engines.parsing:
            made_files = engines.parsing.made_files
            engines.vault_files = VaultFiles(api.store, blobs, ORIGIN, made_files, gives_links=gives_links)
            yield Door(api, tmp_path, engines.vault_files)
