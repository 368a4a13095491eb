"""`gatewayd verify` reads the bytes of documents, and a backup has them."""

import hashlib
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import DIGEST, SCAN, Run


def executed(database: Path, sql: str) -> None:
    """Change a database behind the program's back."""
    connection = apsw.Connection(str(database))
    connection.execute(sql)
    connection.close()


def again(run: Run, org_id: str, tmp_path: Path) -> None:
    run("document", "import", str(tmp_path / "scans"), "--org", org_id, "--json")


def test_what_is_well(run: Run, stored: Path) -> None:
    assert run("verify", "--json").document["files"] == 1
    assert stored.read_bytes() == SCAN


def test_lost_bytes_are_told_and_come_back(run: Run, org_id: str, stored: Path, tmp_path: Path) -> None:
    stored.unlink()
    told = run("verify")
    assert (told.code, "are lost" in told.err, "doc_" in told.err) == (1, True, True)
    again(run, org_id, tmp_path)
    assert run("verify").code == 0


@pytest.mark.parametrize("damaged", [b"%PDF-2", b"%PDF", b""])
def test_damaged_bytes_are_told_set_aside_and_replaced(
    run: Run, org_id: str, stored: Path, tmp_path: Path, damaged: bytes
) -> None:
    stored.write_bytes(damaged)
    told = run("verify")
    assert (told.code, "are not those that were stored\n" in told.err) == (1, True)
    assert stored.exists(), "nothing was asked to be done"
    repaired = run("verify", "--repair")
    aside = tmp_path / "data" / "damaged" / DIGEST
    assert (repaired.code, str(aside) in repaired.err) == (1, True)
    assert (stored.exists(), aside.read_bytes()) == (False, damaged)
    again(run, org_id, tmp_path)
    assert run("verify").code == 0


def test_what_is_kept_is_counted_anew(run: Run, org_id: str, stored: Path, tmp_path: Path) -> None:
    assert stored.exists()
    executed(tmp_path / "data" / "gatewayd.db", "UPDATE vault_usage SET bytes = 7")
    told = run("verify", "--repair")
    assert (told.code, f"{org_id} keeps 6 bytes of documents, and 7 are noted" in told.err) == (1, True)
    assert run("verify").code == 0


def test_a_backup_has_the_bytes(run: Run, stored: Path, tmp_path: Path) -> None:
    """And what is made of documents, which lies beside them."""
    variant = hashlib.sha256(b"RIFF").hexdigest()
    made = stored.parent.parent / variant[:2] / variant
    made.parent.mkdir(exist_ok=True)
    made.write_bytes(b"RIFF")
    executed(
        tmp_path / "data" / "gatewayd.db",
        "INSERT INTO vault_variants SELECT org_id, id, 'thumbnail', 1, 320, 320, 200, 'image/webp', 4, "
        f"'{variant}', created_at FROM vault_documents",
    )
    copy = tmp_path / "copy"
    assert run("backup", str(copy), "--with-key", "--json").document["files"] == 4
    (tmp_path / "data").rename(tmp_path / "before")
    assert run("restore", str(copy), "--keep-access", "--json").code == 0
    assert run("verify", "--json").document["files"] == 2
    made.unlink()
    assert "are lost" in run("verify").err
