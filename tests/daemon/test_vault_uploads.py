"""Documents come in and go out of a real daemon: in little memory, whoever breaks off, and across kills."""

import hashlib
import os
import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from gatewayd.clock import Instant, SystemClock
from gatewayd.ledger import named_files
from gatewayd.store.files.blobs import Blobs
from tests.daemon.instance import SECONDS, Firm, Instance, Running, serving, until

SETTINGS = "[limits]\nrequests_per_minute = 0\n[vault]\nmax_upload_bytes = 4000000000\n"
LARGE = int(os.environ.get("GATEWAYD_UPLOAD_BYTES", 200 << 20))
ROUNDS = int(os.environ.get("GATEWAYD_KILL_ROUNDS", 4))
PART = bytes(range(256)) * 4096
MEMORY_KB_MAX = 120 * 1024
DOCUMENTS = "/api/rpc/vault/documents"


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    return Instance(tmp_path, SETTINGS)


def created(running: Running, firm: Firm, **values: object) -> tuple[str, str]:
    """The id of a new document, and the path of its upload URL."""
    made = running.call(firm.key, "POST", DOCUMENTS, {"name": "a.bin", **values}).json()
    return made["document"]["id"], urlsplit(made["upload"]["url"]).path


def confirm(running: Running, firm: Firm, document_id: str) -> httpx.Response:
    return running.call(firm.key, "POST", f"{DOCUMENTS}/{document_id}/confirm-upload", {})


def body(size: int) -> Iterator[bytes]:
    for start in range(0, size, len(PART)):
        yield PART[: size - start]


def digest(size: int) -> str:
    found = hashlib.sha256()
    for part in body(size):
        found.update(part)
    return found.hexdigest()


def test_large_documents_take_little_memory(instance: Instance, capsys: pytest.CaptureFixture[str]) -> None:
    firm = instance.firm()
    with serving(instance, anew=True) as running, httpx.Client(base_url=running.url, timeout=300) as client:
        document_id, path = created(running, firm, sizeBytes=LARGE)
        sent = client.put(path, content=body(LARGE), headers={"Content-Length": str(LARGE)})
        after_upload = running.memory_kb("VmHWM")
        assert sent.json()["sha256"] == digest(LARGE)
        confirm(running, firm, document_id)
        url = running.call(firm.key, "GET", f"{DOCUMENTS}/{document_id}/download").json()["url"]
        got = hashlib.sha256()
        with client.stream("GET", urlsplit(url).path) as response:
            for chunk in response.iter_bytes(1 << 20):
                got.update(chunk)
        most = running.memory_kb("VmHWM")
        assert got.hexdigest() == digest(LARGE)
        assert running.end() == 0
    with capsys.disabled():
        print(
            f"\n{LARGE >> 20} MiB: {after_upload / 1024:.0f} MB after the upload, {most / 1024:.0f} after the download"
        )
    assert most < MEMORY_KB_MAX


def test_ten_uploads_at_once_take_little_memory(instance: Instance) -> None:
    firm, size = instance.firm(), 20 << 20
    with serving(instance, anew=True) as running:
        paths = [created(running, firm)[1] for _ in range(10)]

        def send(path: str) -> int:
            return httpx.put(running.url + path, content=body(size), timeout=SECONDS).status_code

        with ThreadPoolExecutor(10) as pool:
            assert set(pool.map(send, paths)) == {200}
        assert running.memory_kb("VmHWM") < MEMORY_KB_MAX
        assert len(stored(instance)) == 1, "they are the same bytes"
        assert running.end() == 0


def stored(instance: Instance) -> list[Path]:
    """The files among the blobs, drafts included."""
    return [path for path in (instance.directory / "data" / "blobs").rglob("*") if path.is_file()]


def head(method: str, path: str, length: int | str, *fields: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *fields, "", ""]
    return "\r\n".join(lines).encode()


def answer(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.readline()


def test_who_breaks_off_leaves_nothing_and_may_begin_anew(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        document_id, path = created(running, firm)
        with running.connect() as reset:
            reset.sendall(head("PUT", path, 10_000_000) + PART)
            until(lambda: stored(instance))
            reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        until(lambda: not stored(instance))
        with running.connect() as short:
            short.sendall(head("PUT", path, 100) + b"short")
            short.shutdown(socket.SHUT_WR)
            assert answer(short).split()[1] == b"400"
        with running.connect() as long:  # what is more than it says is the next request, which is none
            long.sendall(head("PUT", path, 4) + b"1234567\r\n\r\n")
            assert answer(long).split()[1] == b"200"
        assert confirm(running, firm, document_id).json()["sizeBytes"] == 4
        assert running.end() == 0


def test_a_chunked_body_ends_at_the_limit(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        _, path = created(running, firm, sizeBytes=len(PART))
        with running.connect() as connection:
            chunked = head("PUT", path, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
            piece = b"%x\r\n%b\r\n" % (len(PART), PART)
            connection.sendall(chunked + piece + piece)
            assert answer(connection).split()[1] == b"413"
        assert stored(instance) == []
        assert running.end() == 0


def test_of_two_at_once_one_is_taken(instance: Instance) -> None:
    firm = instance.firm()
    with serving(instance) as running:
        document_id, path = created(running, firm)

        def send(content: bytes) -> int:
            return httpx.put(running.url + path, content=content * 3_000_000, timeout=SECONDS).status_code

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(send, (b"a", b"b"))) == [200, 404]
        document = confirm(running, firm, document_id).json()
        assert document["sha256"] in {hashlib.sha256(each * 3_000_000).hexdigest() for each in (b"a", b"b")}
        assert running.end() == 0


@dataclass
class Uploading:
    """Programs that upload and confirm until the daemon is gone.

    `steps` has an entry for each request that was answered; `confirmed` are hashes by document, of those that were told
    to be there.
    """

    running: Running
    firm: Firm
    confirmed: dict[str, str]
    steps: list[int] = field(default_factory=list)

    def work(self, seed: int) -> None:
        chances = random.Random(seed + len(self.confirmed) * 7)
        fields = {"Authorization": f"Bearer {self.firm.key}"}
        with httpx.Client(base_url=self.running.url, timeout=SECONDS, trust_env=False, headers=fields) as client:
            client.event_hooks = {"response": [lambda response: self.steps.append(response.status_code)]}
            with suppress(httpx.TransportError):
                while True:
                    self._upload(client, chances)

    def _upload(self, client: httpx.Client, chances: random.Random) -> None:
        content = chances.randbytes(chances.choice((10, 200_000, 1_500_000)))
        sha256 = hashlib.sha256(content).hexdigest()
        made = client.post(DOCUMENTS, json={"name": "a.bin", "sizeBytes": len(content)}).json()
        _send(client, urlsplit(made["upload"]["url"]).path, content, in_parts=chances.random() < 0.5)
        path = f"{DOCUMENTS}/{made['document']['id']}/confirm-upload"
        assert client.post(path, json={"sha256": sha256}).status_code == 200
        self.confirmed[made["document"]["id"]] = sha256


def test_kills_at_any_moment(instance: Instance) -> None:
    """Uploads in both ways and their confirming, and a kill among them: what is confirmed has its bytes."""
    firm, chances = instance.firm(), random.Random(15)
    confirmed: dict[str, str] = {}
    for number in range(ROUNDS):
        with serving(instance) as running, ThreadPoolExecutor(4) as pool:
            uploading = Uploading(running, firm, confirmed)
            programs = [pool.submit(uploading.work, seed) for seed in range(4)]
            most = 20 + chances.randrange(40)
            until(lambda at=most, now=uploading: len(now.steps) >= at)
            running.process.kill()
            running.process.wait(SECONDS)
            for program in programs:
                program.result(SECONDS)
        _require_whole(instance, firm, confirmed)
        assert len(confirmed) > number
    with serving(instance) as running:
        assert running.end() == 0
    _require_nothing_left_over(instance)


def _send(client: httpx.Client, path: str, content: bytes, *, in_parts: bool) -> None:
    if not in_parts:
        client.put(path, content=content)
        return
    step = max(1, len(content) // 3)
    for start in range(0, len(content), step):
        fields = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(start)}
        fields["Content-Type"] = "application/offset+octet-stream"
        client.patch(path, content=content[start : start + step], headers=fields)


def _require_whole(instance: Instance, firm: Firm, confirmed: dict[str, str]) -> None:
    select = "SELECT id, sha256, size_bytes FROM vault_documents WHERE org_id = :org_id AND status = 'uploaded'"
    found = {row[0]: (row[1], row[2]) for row in instance.read(lambda tx: tx.rows(select), firm.org_id)}
    assert confirmed.items() <= {id_: sha256 for id_, (sha256, _) in found.items()}.items(), "acknowledged is durable"
    blobs = Blobs(instance.directory / "data")
    for sha256, size in found.values():
        content = blobs.path(sha256).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (sha256, size)


def _require_nothing_left_over(instance: Instance) -> None:
    """After the sweep, which does not wait here until what it finds is old."""
    blobs, later = Blobs(instance.directory / "data"), Instant(SystemClock().now() + 10**9)
    instance.read(lambda tx: blobs.sweep(lambda sha256: named_files.is_named(tx, sha256), later))
    select = "SELECT DISTINCT sha256 FROM vault_documents WHERE sha256 IS NOT NULL"
    named = {row[0] for row in instance.read(lambda tx: tx.rows(select))}
    assert {path.name for path in stored(instance)} == named
