"""`gatewayd document`: documents and how far their reading has come, on a store in a file."""

import hashlib
from functools import partial
from pathlib import Path

import pytest

from gatewayd.areas.vault.documents import index_queue, uploads
from gatewayd.areas.vault.documents.operations import confirm_upload, create_document_record
from gatewayd.areas.vault.documents.shapes import ConfirmUpload, CreateDocumentRecord
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.areas.vault.parses import rows, texts
from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.extraction.shapes import Page
from gatewayd.store import WriteTx
from tests.cli.conftest import Run
from tests.support.document_reading import NOTHING_FOUND
from tests.support.store import make_caller


@pytest.fixture
def ids(config_file: Path, org_id: str) -> tuple[str, str]:
    """A document that was read, and one that could not be."""

    def make(tx: WriteTx) -> tuple[str, str]:
        good, bad = (_uploaded(tx, org_id, name) for name in ("good.txt", "bad.pdf"))
        n, retries = rows.begin(tx, good)
        rows.succeed(tx, good, n, 5, ("plain", "en", NOTHING_FOUND))
        texts.replace(tx, good, [Page(number=1, text="hello")])
        n, retries = rows.begin(tx, bad)
        rows.fail(tx, bad, n, retries, Failure("damaged", "It is damaged.", False))
        return good, bad

    return Context(str(config_file), {}, SystemClock()).write(make, org_id)


def _uploaded(tx: WriteTx, org_id: str, name: str) -> str:
    caller, settings = make_caller(org_id), Settings("http://127.0.0.1:8080", 100)
    made = create_document_record(tx, caller, CreateDocumentRecord(name=name), settings=settings)
    token = made.upload.url.rpartition("/")[2]
    partial(uploads.receive, tx, token)(1, hashlib.sha256(b"x").hexdigest())
    return confirm_upload(tx, caller, ConfirmUpload(document_id=made.document.id)).id


def test_documents_are_listed_with_what_became_of_their_reading(run: Run, org_id: str, ids: tuple[str, str]) -> None:
    lines = [line.split("\t") for line in run("document", "list", "--org", org_id).out.splitlines()]
    assert lines == [
        ["id", "name", "type", "bytes", "read", "why", "kind"],
        [ids[1], "bad.pdf", "application/pdf", "1", "failed", "damaged", ""],
        [ids[0], "good.txt", "text/plain", "1", "succeeded", "", "other"],
    ]
    assert [one["id"] for one in run("document", "failed", "--org", org_id, "--json").document] == [ids[1]]
    found = run("document", "list", "--org", org_id, "--parse-status", "succeeded", "--json").document
    assert [one["id"] for one in found] == [ids[0]]
    assert run("document", "list", "--org", org_id, "--recursive").code == 2
    assert run("document", "list", "--org", org_id, "--folder", "fld_x").code == 1


def test_a_document_is_shown_with_its_attempts_and_its_text(run: Run, ids: tuple[str, str]) -> None:
    shown = run("document", "show", ids[1], "--json").document
    assert (shown["name"], shown["parse"]["status"]) == ("bad.pdf", "failed")
    assert [(one["n"], one["errorMessage"]) for one in shown["parseAttempts"]] == [(1, "It is damaged.")]
    assert run("document", "text", ids[0]).out == "hello\n"
    assert (run("document", "text", ids[1]).code, run("document", "show", "doc_x").code) == (1, 1)


def test_documents_are_queued_to_be_read_anew(run: Run, org_id: str, ids: tuple[str, str]) -> None:
    queued = run("document", "reparse", "--failed", "--org", org_id, "--json").document
    assert [(one["id"], one["parse"]["status"], one["parse"]["attempt"]) for one in queued] == [(ids[1], "queued", 2)]
    assert run("document", "reparse", "--failed", "--org", org_id, "--json").document == []
    assert [one["id"] for one in run("document", "reparse", *ids, "--json").document] == list(ids)
    for wrong in (["--failed"], [], [ids[0], "--org", org_id], [ids[0], "--failed", "--org", org_id]):
        assert run("document", "reparse", *wrong).code == 2


def test_the_index_is_made_anew_by_the_daemon(run: Run, org_id: str, ids: tuple[str, str], config_file: Path) -> None:
    context = Context(str(config_file), {}, SystemClock())

    def take_out(tx: WriteTx) -> int:
        taken = index_queue.waiting(tx, 100)
        for one in taken:
            index_queue.take_out(tx, one)
        return len(taken)

    assert context.write(take_out, org_id) == 2, "since their upload"
    assert run("document", "reindex", "--org", org_id).document == {org_id: 2}
    assert context.write(take_out, org_id) == 2
    assert run("document", "reindex", "--json").document == {org_id: 2}
    assert run("document", "reindex", "--org", "org_x").code == 1
