"""A whole firm from SQLite to a PostgreSQL and back, by the command, and what its lists answer before and after.

What the server writes is on disk.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import psycopg
import trio

from gatewayd.areas.banking.accounts.operations import make
from gatewayd.areas.banking.accounts.shapes import CreateAccount
from gatewayd.areas.businesses import operations as businesses
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.vault.documents import uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import texts
from gatewayd.cli.run_operation import operator_of
from gatewayd.clock import SystemClock
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.extraction.shapes import Page
from gatewayd.search import passages
from gatewayd.store import WriteTx
from gatewayd.store.database import open_store
from gatewayd.store.files.manifests import BLOBS_NAME
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from tests.bench import bank_books
from tests.bench.bank_books import BankBooks
from tests.bench.report import Figure, Report
from tests.bench.seeding import Seeded, seed
from tests.contract.rows import OPERATIONS
from tests.support import postgres
from tests.support.api import Tuning, reopen_api
from tests.support.engines import Engines
from tests.support.store import make_caller

LISTS: Final = {
    "/accounting/listInvoices": "invoices",
    "/banking/listTransactions": "lines",
    "/banking/listAllocations": "allocations",
    "/vault/listDocuments": "documents",
}
"""Which are read to their ends."""
_PAGE: Final = 100
_AT_ONCE: Final = 500
_SETTINGS: Final = Settings("http://127.0.0.1:8080", 1 << 20)
_CALLER: Final = """
SELECT e.org_id, k.id, k.user_id, (SELECT min(b.id) FROM businesses b WHERE b.legal_entity_id = e.id)
FROM legal_entities e JOIN api_keys k ON k.org_id = e.org_id WHERE e.id = :entity_id ORDER BY k.id LIMIT 1
"""
_CHUNK: Final = """
INSERT INTO vault_chunks (org_id, document_id, n, page, start, length, digest, model, vector, code)
VALUES (:org_id, :document_id, 0, 1, 0, :length, :digest, 'known', :vector, :code)
"""


class CopySize(NamedTuple):
    """How much the firm has."""

    invoices: int
    lines: int
    documents: int

    @property
    def size_bytes(self) -> int:
        """About so much of disk."""
        return self.invoices * 5_500 + self.lines * 2_500 + self.documents * 15_000


class Turn(NamedTuple):
    """What a command took."""

    seconds: float
    cpu_seconds: float
    resident_bytes: int
    document: dict[str, object]


def measure_copies(scratch: Path, size: CopySize, report: Report) -> None:
    """There and back; the lists of both are compared, and each is verified."""
    print(f"\nseeding {size.invoices:,} invoices, {size.lines:,} bank lines, {size.documents:,} documents", flush=True)
    first, back = scratch / "copied", scratch / "back"
    seeded = seed(first, size.invoices)
    org_id = trio.run(_seed_more, seeded, size)
    with postgres.running(postgres.require_programs(), durable=True) as server:
        database = server.new_database()
        url = server.url(database)
        there = _copy(first, "", url)
        with_url = _copy(first, url, str(back))
        on_server = _size(server, database)
    assert there.document["tables"] == with_url.document["tables"]
    shutil.copytree(first / BLOBS_NAME, back / BLOBS_NAME)
    shutil.copy2(first / "instance.key", back / "instance.key")
    read = [trio.run(_lists, directory, org_id) for directory in (first, back)]
    assert read[0] == read[1]
    for directory in (first, back):
        _run(directory, "", "verify")
    report.add(
        f"Copying {there.document['rows']:,} rows of {len(list(LISTS))} long lists and all else",
        {},
        [
            *_figures("to PostgreSQL", there),
            *_figures("back to SQLite", with_url),
            Figure("SQLite", [(first / DATABASE_NAME).stat().st_size / 1e6], unit="MB"),
            Figure("PostgreSQL", [on_server / 1e6], unit="MB"),
            Figure("SQLite, when it is back", [(back / DATABASE_NAME).stat().st_size / 1e6], unit="MB"),
        ],
        [f"{name}: {count:,}, each page the same byte for byte" for name, (count, _) in read[0].items()],
    )


def _figures(name: str, turn: Turn) -> list[Figure]:
    return [
        Figure(name, [turn.seconds], unit="s"),
        Figure(f"{name}: CPU of the command", [turn.cpu_seconds], unit="s"),
        Figure(f"{name}: resident memory at most", [turn.resident_bytes / (1 << 20)], unit="MiB"),
    ]


def _size(server: postgres.Server, database: str) -> int:
    with psycopg.connect(server.address(database)) as connection:
        return int(connection.execute("SELECT pg_database_size(current_database())").fetchall()[0][0])


def _copy(directory: Path, url: str, to: str) -> Turn:
    return _run(directory, url, "store", "copy", "--to", to)


def _run(directory: Path, url: str, *words: str) -> Turn:
    settings = directory.with_suffix(".toml")
    settings.write_text(f'[store]\ndirectory = "{directory}"\nurl = "{url}"\n')
    began = time.perf_counter()
    command = [sys.executable, "-m", "gatewayd", *words, "--json", "--config", str(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    seconds = time.perf_counter() - began
    return Turn(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, msgspec.json.decode(out))


async def _seed_more(seeded: Seeded, size: CopySize) -> str:
    """Lines and documents beside the invoices; answers whose they are."""
    async with open_store(StoreSettings(directory=seeded.directory), SystemClock()) as store:
        entity_id = seeded.entity_id
        org_id, _, _, business_id = await store.read(lambda tx: tx.row(_CALLER, entity_id=entity_id))  # type: ignore[misc]

        def books(tx: WriteTx) -> tuple[str, str]:
            account = make(tx, CreateAccount(name="Current", legal_entity_id=entity_id), tx.new_id("bac"))
            small = CreateBusiness(legal_entity_id=entity_id, type="company_trade", name="Gates")
            return account.id, businesses.create_business(tx, operator_of(org_id), small).id

        account_id, small_business_id = await store.write(books, org_id)
        for first in range(0, size.documents, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, size.documents))
            await store.write(partial(_add_documents, directory=seeded.directory, numbers=numbers), org_id)
    bank_books.fill(
        BankBooks(
            directory=seeded.directory,
            lines=size.lines,
            org_id=org_id,
            key=seeded.key,
            entity_id=entity_id,
            business_id=business_id,
            small_business_id=small_business_id,
            account_id=account_id,
            client_id=seeded.client_id,
            began=seeded.began,
        )
    )
    return str(org_id)


def _add_documents(tx: WriteTx, *, directory: Path, numbers: range) -> None:
    """A page of two thousand letters each, with a vector, and its bytes."""
    caller = make_caller(tx.org_id)
    for number in numbers:
        text = f"Letter {number}. " + " ".join(f"word{number * 7919 * n % 20_000}" for n in range(1, 240))
        content = text.encode()
        digest = hashlib.sha256(content).hexdigest()
        request = CreateDocumentRecord(name=f"letter-{number:05}.txt")
        made = create_document_record(tx, caller, request, settings=_SETTINGS)
        uploads.receive(tx, made.upload.url.rpartition("/")[2], len(content), digest)
        confirm_upload(tx, caller, ConfirmUpload(document_id=made.document.id))
        texts.replace(tx, made.document.id, [Page(number=1, text=text)])
        (passage, *_) = passages.passages(request.name, [Page(number=1, text=text)])
        vector = hashlib.shake_128(content).digest(1_024)
        chunk = {"document_id": made.document.id, "length": passage.length, "digest": passage.digest}
        tx.run(_CHUNK, **chunk, vector=vector, code=vector[:32])
        folder = directory / BLOBS_NAME / digest[:2]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / digest).write_bytes(content)


async def _lists(directory: Path, org_id: str) -> dict[str, tuple[int, str]]:
    """How many each list has, and the digest of all its pages."""
    found = {}
    async with reopen_api(directory, OPERATIONS, Tuning(deps=Engines())) as api:
        api.authenticator.callers["good"] = make_caller(org_id, scopes=frozenset(ALL_SCOPES))
        for path, name in LISTS.items():
            digest, count, cursor = hashlib.sha256(), 0, ""
            while cursor is not None:
                query = f"limit={_PAGE}" + (f"&cursor={cursor}" if cursor else "")
                reply = await api("GET", f"/api/rpc{path}", token="good", query=query)
                assert reply.status == 200, reply.body
                digest.update(reply.body)
                page = msgspec.json.decode(reply.body)
                count += len(page["data"])
                cursor = page["nextCursor"]
            found[name] = (count, digest.hexdigest())
    return found
