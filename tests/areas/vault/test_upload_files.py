"""Which file an upload is and who appends to it: who claimed last has it, and an earlier claim does not count."""

import pytest

from gatewayd.areas.vault.documents import upload_files
from gatewayd.areas.vault.documents.upload_files import UploadFile, UploadLost
from gatewayd.clock import DAY
from gatewayd.store import WriteTx
from tests.areas.vault.cabinet import Cabinet

FIRST, SECOND = "0000000000000001", "0000000000000002"


def begun(cabinet: Cabinet) -> str:
    return str(cabinet.record()["document"]["id"])


def found(cabinet: Cabinet, document_id: str) -> UploadFile:
    return cabinet.store.read(lambda tx: upload_files.find(tx, document_id), cabinet.org_id)


def claimed(cabinet: Cabinet, document_id: str, writer: str) -> UploadFile:
    return cabinet.store.write(lambda tx: upload_files.claim(tx, document_id, writer), cabinet.org_id)


def moved(cabinet: Cabinet, document_id: str, file: UploadFile) -> None:
    cabinet.store.write(lambda tx: upload_files.move(tx, document_id, file), cabinet.org_id)


def required(cabinet: Cabinet, document_id: str, file: UploadFile) -> None:
    cabinet.store.read(lambda tx: upload_files.require(tx, document_id, file), cabinet.org_id)


def released(cabinet: Cabinet, document_id: str, writer: str) -> None:
    cabinet.store.write(lambda tx: upload_files.release(tx, document_id, writer), cabinet.org_id)


def test_who_lets_it_go_leaves_the_file_to_the_next(cabinet: Cabinet) -> None:
    document_id = begun(cabinet)
    assert found(cabinet, document_id) == (document_id, None)
    assert claimed(cabinet, document_id, FIRST) == (document_id, None)
    required(cabinet, document_id, UploadFile(document_id, FIRST))
    released(cabinet, document_id, FIRST)
    assert claimed(cabinet, document_id, SECOND) == (document_id, None)
    released(cabinet, document_id, FIRST)
    assert found(cabinet, document_id) == (document_id, SECOND), "it was let go already, by this one"


def test_who_claimed_last_has_it(cabinet: Cabinet) -> None:
    document_id = begun(cabinet)
    copy, another = f"{document_id}.{FIRST}", f"{document_id}.{SECOND}"
    claimed(cabinet, document_id, FIRST)
    assert claimed(cabinet, document_id, SECOND) == (document_id, FIRST)
    with pytest.raises(UploadLost):
        required(cabinet, document_id, UploadFile(document_id, FIRST))
    with pytest.raises(UploadLost):
        moved(cabinet, document_id, UploadFile(copy, FIRST))
    moved(cabinet, document_id, UploadFile(another, SECOND))
    assert found(cabinet, document_id) == (another, SECOND)
    with pytest.raises(UploadLost):
        required(cabinet, document_id, UploadFile(document_id, SECOND))
    released(cabinet, document_id, FIRST)
    required(cabinet, document_id, UploadFile(another, SECOND))
    released(cabinet, document_id, SECOND)
    with pytest.raises(UploadLost):
        required(cabinet, document_id, UploadFile(another, SECOND))
    assert claimed(cabinet, document_id, FIRST) == (another, None)


def test_an_upload_that_is_over_is_nobodys(cabinet: Cabinet) -> None:
    document_id = begun(cabinet)
    claimed(cabinet, document_id, FIRST)
    cabinet.store.write(lambda tx: upload_files.forget(tx, document_id), cabinet.org_id)
    with pytest.raises(UploadLost):
        required(cabinet, document_id, UploadFile(document_id, FIRST))


def test_those_of_which_nothing_is_awaited_are_forgotten(cabinet: Cabinet) -> None:
    """Of any organization: bytes came, their time is over, or the document is gone."""
    received = cabinet.record()
    document_id, awaited = str(received["document"]["id"]), begun(cabinet)
    claimed(cabinet, document_id, FIRST)
    claimed(cabinet, awaited, FIRST)
    moved(cabinet, awaited, UploadFile(f"{awaited}.{FIRST}", FIRST))
    assert not cabinet.store.read(upload_files.is_any_over)
    cabinet.land(received)
    assert cabinet.store.read(upload_files.is_any_over)
    assert awaited_of(cabinet, document_id) is None
    assert awaited_of(cabinet, awaited) == f"{awaited}.{FIRST}"
    assert awaited_of(cabinet, begun(cabinet)) is not None
    cabinet.store.write(_forget_over)
    assert found(cabinet, document_id).writer is None
    assert found(cabinet, awaited).writer == FIRST
    cabinet.store.clock.advance(DAY)
    assert awaited_of(cabinet, awaited) is None
    cabinet.store.write(_forget_over)
    assert found(cabinet, awaited).writer is None
    assert not cabinet.store.read(upload_files.is_any_over)


def _forget_over(tx: WriteTx) -> None:
    upload_files.forget_over(tx)


def awaited_of(cabinet: Cabinet, document_id: str) -> str | None:
    return cabinet.store.read(lambda tx: upload_files.awaited_of_any(tx, document_id))


def test_another_organization_has_claims_of_its_own(cabinet: Cabinet) -> None:
    document_id, other = begun(cabinet), cabinet.store.org("Birch")
    claimed(cabinet, document_id, FIRST)
    cabinet.store.write(lambda tx: upload_files.release(tx, document_id, FIRST), other)
    cabinet.store.write(lambda tx: upload_files.forget(tx, document_id), other)
    required(cabinet, document_id, UploadFile(document_id, FIRST))
