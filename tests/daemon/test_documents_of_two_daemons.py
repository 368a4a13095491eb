"""Two daemons with one PostgreSQL and one folder of documents: either takes the next part; a kill loses nothing."""

import hashlib
import os
import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.daemon.instance import SECONDS, Instance, Running, serving, until
from tests.daemon.test_daemons_on_one_database import Pair, made_pair
from tests.daemon.test_vault_uploads import created
from tests.support.postgres import Server

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")

ROUNDS = int(os.environ.get("GATEWAYD_KILL_ROUNDS", 3))
PIECE = 1 << 18
FIELDS = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}


def served_by(pair: Pair, number: int) -> Running:
    running = pair.running[number]
    assert running is not None
    return running


def url_of(pair: Pair, number: int) -> str:
    return f"http://127.0.0.1:{pair.listeners[number].getsockname()[1]}"


class Sending:
    """A request that sends a piece, and nothing more until its daemon has been killed."""

    def __init__(self, url: str, content: bytes, offset: int) -> None:
        self._killed = threading.Event()
        self._thread = threading.Thread(target=self._send, args=(url, content, offset))
        self._thread.start()

    def _send(self, url: str, content: bytes, offset: int) -> None:
        fields = {**FIELDS, "Upload-Offset": str(offset), "Content-Length": str(len(content) - offset)}
        with suppress(httpx.HTTPError):
            httpx.patch(url, content=self._body(content[offset:]), headers=fields, timeout=SECONDS, trust_env=False)

    def _body(self, content: bytes) -> Iterator[bytes]:
        yield content[:PIECE]
        assert self._killed.wait(SECONDS)
        yield content[PIECE:]

    def end(self) -> None:
        self._killed.set()
        self._thread.join(SECONDS)


def size_of(share: Path, document_id: str) -> int:
    """Of the largest file of an upload."""
    with suppress(FileNotFoundError):  # it is moved or deleted in this moment
        return max((path.stat().st_size for path in (share / "uploads").glob(f"{document_id}*")), default=0)
    return 0


def test_a_part_at_one_the_next_at_the_other_though_either_is_killed(tmp_path: Path, postgresql: Server) -> None:
    chance, share = random.Random(7), tmp_path / "share"
    with made_pair(tmp_path, postgresql.url(postgresql.new_database()), "", ("gatewayd", "gatewayd")) as pair:
        for _ in range(ROUNDS):
            content = chance.randbytes(5 * PIECE)
            victim = chance.randrange(2)
            other = 1 - victim
            document_id, path = created(served_by(pair, other), pair.firm, sizeBytes=len(content))
            told = 0
            for number in (victim, other):
                reply = served_by(pair, number).client.patch(
                    path, content=content[told : told + PIECE], headers={**FIELDS, "Upload-Offset": str(told)}
                )
                assert (reply.status_code, reply.headers["upload-offset"]) == (204, str(told + PIECE))
                told += PIECE
            sending = Sending(url_of(pair, victim) + path, content, told)
            until(lambda id_=document_id, told=told: size_of(share, id_) > told)
            pair.kill(victim)
            sending.end()
            stands = int(served_by(pair, other).client.head(path, headers=FIELDS).headers["upload-offset"])
            assert told < stands < len(content), "what came outlasts the kill"
            rest = served_by(pair, other).client.patch(
                path, content=content[stands:], headers={**FIELDS, "Upload-Offset": str(stands)}
            )
            assert (rest.status_code, rest.headers["upload-offset"]) == (204, str(len(content)))
            sha256 = hashlib.sha256(content).hexdigest()
            assert (share / "blobs" / sha256[:2] / sha256).read_bytes() == content
            pair.start(victim)
            for number in range(2):
                head = served_by(pair, number).client.head(path, headers=FIELDS)
                assert head.headers["upload-offset"] == str(len(content))
            rows = pair.instances[0].seen(f"SELECT sha256, size_bytes FROM vault_documents WHERE id = '{document_id}'")
            assert rows == [(sha256, len(content))]
        assert list((share / "uploads").iterdir()) == []
        pair.end()


def test_what_one_confirms_the_other_has_read_found_and_given_out(tmp_path: Path, postgresql: Server) -> None:
    """A document of which each daemon does a part, whoever reads it; and it is gone for both when one deletes it."""
    content, query = b"Boiler service, paid in full.\n", {"q": "boiler", "mode": "text"}
    with made_pair(tmp_path, postgresql.url(postgresql.new_database()), "", ("gatewayd", "gatewayd")) as pair:

        def call(number: int, method: str, path: str, body: object = None) -> dict[str, Any]:
            answer = served_by(pair, number).call(pair.firm.key, method, f"/api/rpc{path}", body)
            assert answer.status_code == 200, answer.text
            return dict(answer.json())

        for number in range(2):
            other = 1 - number
            document_id, path = created(served_by(pair, number), pair.firm, name=f"bill-{number}.txt")
            document = f"/vault/documents/{document_id}"
            assert served_by(pair, other).client.put(path, content=content).status_code == 200
            assert call(number, "POST", f"{document}/confirm-upload", {})["status"] == "uploaded"
            call(other, "POST", f"{document}/confirm-upload", {})  # asked again, as by who lost the answer
            until(lambda at=other, document=document: call(at, "GET", document)["parse"]["status"] == "succeeded")
            for at in range(2):
                until(
                    lambda at=at, id_=document_id: (
                        id_ in {hit["document"]["id"] for hit in call(at, "POST", "/vault/search", query)["data"]}
                    )
                )
                given = urlsplit(str(call(at, "GET", f"{document}/download")["url"])).path
                assert served_by(pair, 1 - at).client.get(given).content == content
            call(other, "DELETE", document)
            assert served_by(pair, number).client.get(given).status_code == 404
            found = call(number, "POST", "/vault/search", query)["data"]
            assert document_id not in {hit["document"]["id"] for hit in found}
        seen = pair.instances[0].seen
        assert seen("SELECT DISTINCT status, attempt FROM vault_parses") == [("succeeded", 1)], "each is read once"
        pair.end()


def test_a_second_data_directory_is_refused(tmp_path: Path, postgresql: Server) -> None:
    """Without a folder that both have, each would tell that the other's documents are gone."""
    url, instances = postgresql.url(postgresql.new_database()), []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        instances.append(Instance(tmp_path / name, url=url, key_file=str(tmp_path / "instance.key")))
    one, two = instances
    one.firm()
    with serving(one) as running:
        ran = two.run("serve")
        assert (ran.returncode, len(ran.stderr.splitlines())) == (1, 1)
        assert f"{two.data / 'gatewayd.files'} is not there" in ran.stderr
        assert running.end() == 0
    with serving(one) as running:
        assert running.end() == 0
