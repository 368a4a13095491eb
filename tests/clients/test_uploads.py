"""Somebody else's client of tus uploads a document, also across a daemon that is killed in between."""

import hashlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.programs import HERE, needed_node
from tests.clients.provider import Address, reserved
from tests.daemon.instance import SECONDS, Firm, Running, environment, serving, until

CHUNK = 1 << 20
SIZE = 24 * CHUNK + 17


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Address]:
    with reserved(tmp_path) as address:
        yield address


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    path.write_bytes(bytes(range(251)) * (SIZE // 251) + bytes(SIZE % 251))
    return path


def created(running: Running, firm: Firm, **values: object) -> tuple[str, str]:
    """The id of a new document, and its upload URL."""
    made = running.call(firm.key, "POST", "/api/rpc/vault/documents", {"name": "scan.pdf", **values}).json()
    return made["document"]["id"], made["upload"]["url"]


def begin(address: Address, **given: object) -> "subprocess.Popen[str]":
    program = subprocess.Popen(
        [needed_node(), str(HERE / "upload_by_tus.mjs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE,
        env=environment(NODE_EXTRA_CA_CERTS=str(address.ca_file)),
    )
    assert program.stdin is not None
    program.stdin.write(json.dumps(given))
    program.stdin.close()
    return program


def end(program: "subprocess.Popen[str]") -> dict[str, Any]:
    assert program.wait(SECONDS) == 0
    assert program.stdout is not None
    told: dict[str, Any] = json.loads(program.stdout.read())
    program.stdout.close()
    return told


def require_confirmed(running: Running, firm: Firm, document_id: str, file: Path) -> None:
    path = f"/api/rpc/vault/documents/{document_id}/confirm-upload"
    document = running.call(firm.key, "POST", path, {}).json()
    assert document["status"] == "uploaded"
    assert document["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_tus_js_client(address: Address, file: Path) -> None:
    firm = address.instance.firm()
    with address.serving() as running:
        document_id, url = created(running, firm, sizeBytes=SIZE)
        told = end(begin(address, url=url, path=str(file), chunkSize=10 * CHUNK, size=SIZE, pause=0))
        assert told == {"errors": 0, "requests": 4}, "where it is, and three parts"
        require_confirmed(running, firm, document_id, file)


def test_tus_js_client_that_does_not_know_the_length_yet(address: Address, file: Path) -> None:
    firm = address.instance.firm()
    with address.serving() as running:
        document_id, url = created(running, firm)
        end(begin(address, url=url, path=str(file), chunkSize=10 * CHUNK, size=None, pause=0))
        require_confirmed(running, firm, document_id, file)


def test_tus_js_client_goes_on_after_a_kill(address: Address, file: Path) -> None:
    firm = address.instance.firm()
    with serving(address.instance, descriptors=(address.listener.fileno(),)) as running:
        document_id, url = created(running, firm, sizeBytes=SIZE)
        program = begin(address, url=url, path=str(file), chunkSize=CHUNK, size=SIZE, pause=20)
        partial = address.instance.directory / "data" / "uploads" / document_id
        until(lambda: partial.exists() and partial.stat().st_size > 4 * CHUNK)
        running.process.kill()
        running.process.wait(SECONDS)
        at_kill = partial.stat().st_size
    assert 4 * CHUNK < at_kill < SIZE
    with address.serving() as running:
        end(program)  # with errors, unless the kill fell between two requests: the next then waited for the new daemon
        assert partial.exists() is False
        require_confirmed(running, firm, document_id, file)
