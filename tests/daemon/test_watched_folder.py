"""A folder that the daemon watches: what a scanner puts there becomes a document of the one organization."""

import os
from pathlib import Path

from tests.daemon.instance import Instance, serving, until

LONG_AGO = 1_600_000_000


def test_a_file_that_appears_becomes_a_document(tmp_path: Path) -> None:
    watched = tmp_path / "scans"
    watched.mkdir()
    instance = Instance(tmp_path, f'[vault]\nconsume_directory = "{watched}"\n')
    firm = instance.firm()
    scan = watched / "Bills" / "scan.pdf"
    scan.parent.mkdir()
    scan.write_bytes(b"%PDF-1")
    os.utime(scan, (LONG_AGO, LONG_AGO))
    with serving(instance) as running:
        until(lambda: not scan.exists())
        (folder,) = running.call(firm.key, "GET", "/api/rpc/vault/folders").json()["data"]
        (document,) = running.call(firm.key, "GET", f"/api/rpc/vault/folders/{folder['id']}/documents").json()["data"]
        assert (folder["name"], document["name"], document["status"]) == ("Bills", "scan.pdf", "uploaded")
        assert running.end() == 0


def test_the_data_itself_is_not_watched(tmp_path: Path) -> None:
    instance = Instance(tmp_path, f'[vault]\nconsume_directory = "{tmp_path}"\n')
    instance.firm()
    ended = instance.run("serve")
    assert ended.returncode != 0
    assert "may not lie in each other" in ended.stderr
