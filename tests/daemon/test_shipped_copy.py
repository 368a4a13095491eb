"""The way back from a database that another program shipped, command by command as docs/growth.md has it."""

import re
import shlex
import shutil
from pathlib import Path

import apsw
import pytest

from gatewayd.cli import main
from gatewayd.ledger.named_files import NAMING
from gatewayd.store.backups.named_blobs import named_in
from gatewayd.store.files.restored import find_restored
from tests.daemon.instance import ROOT, Firm, Instance, serving
from tests.daemon.test_parsing import upload

pytestmark = pytest.mark.sqlite_only("its file is shipped; a PostgreSQL has standbys")

INVOICE = {"status": "issued", "lines": [{"description": "Door", "unitPrice": "10.00"}]}
LAST_SEEN = 1500
"""The number that the page has in its `--numbers-after`."""
# What Litestream 0.5 keeps in the database that it ships.
SHIPPER = """
CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
CREATE TABLE _litestream_lock (id INTEGER);
INSERT INTO _litestream_seq (id, seq) VALUES (1, 7);
"""


class Rescue:
    """An instance that is lost, what was shipped of it, and the machine that goes on."""

    def __init__(self, folder: Path, output: pytest.CaptureFixture[str]) -> None:
        self.folder, self.output = folder, output
        (folder / "lost").mkdir()
        (folder / "new").mkdir()
        self.lost, self.new = Instance(folder / "lost"), Instance(folder / "new")
        self.firm: Firm = self.lost.firm()

    def make_invoice(self, instance: Instance) -> str:
        made = instance.do(self.firm.org_id, "accounting.createInvoice", clientId=self.firm.client_id, **INVOICE)
        return str(made["number"])

    def ship(self) -> None:
        """As a shipper leaves it: with its tables, and a log that is to be written on."""
        rescued = self.folder / "rescued"
        rescued.mkdir(mode=0o700)
        source, copy = apsw.Connection(str(self.lost.database)), apsw.Connection(str(rescued / "gatewayd.db"))
        with copy.backup("main", source, "main") as backup:
            backup.step()
        copy.execute(SHIPPER)
        copy.pragma("journal_mode", "wal")
        source.close()
        copy.close()
        blobs = self.lost.database.parent / "blobs"
        if blobs.exists():
            shutil.copytree(blobs, rescued / "blobs")
        (self.folder / "rescued.toml").write_text(f'[store]\ndirectory = "{rescued}"\n')

    def words(self, name: str) -> list[str]:
        """A command of the page, with our places for its own."""
        page = (ROOT / "docs" / "growth.md").read_text("utf-8")
        found = re.findall(rf"^gatewayd {name} .*$", page, re.MULTILINE)
        assert len(found) == 1
        line = found[0].replace("/root/rescued.toml", str(self.folder / "rescued.toml"))
        return shlex.split(line.replace("/var/lib/rescued.backup", str(self.folder / "backup")))[1:]

    def run(self, name: str, *more: str) -> tuple[int, str]:
        words = [*self.words(name), *more]
        if "--config" not in words:
            words += ["--config", str(self.new.config)]
        self.output.readouterr()
        return main(words), self.output.readouterr().err

    def put_key(self) -> None:
        shutil.copy2(self.lost.database.parent / "instance.key", self.new.database.parent / "instance.key")


@pytest.fixture
def rescue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Rescue:
    return Rescue(tmp_path, capsys)


def test_a_shipped_database_goes_on_where_nobody_saw_a_number_beyond(rescue: Rescue) -> None:
    assert rescue.make_invoice(rescue.lost) == "INV-000001"
    rescue.ship()
    rescue.make_invoice(rescue.lost)  # in the seconds that are lost
    assert rescue.run("backup")[0] == 0
    assert rescue.run("restore")[0] == 0
    rescue.put_key()
    mark = find_restored(rescue.new.database.parent)
    assert mark is not None
    assert mark.decision is not None
    assert (mark.decision.access, mark.decision.numbers_after) == ("end", LAST_SEEN)
    with serving(rescue.new) as running:
        assert running.call(rescue.firm.key, "GET", "/api/rpc/invoices").status_code == 401
    assert rescue.make_invoice(rescue.new) == f"INV-{LAST_SEEN + 1:06}"
    assert rescue.new.run("verify").returncode == 0


def test_a_document_that_was_not_shipped_yet_is_named_and_the_rest_comes_back(rescue: Rescue) -> None:
    with serving(rescue.lost) as running:
        documents = [upload(running, rescue.firm.key, f"{text}.bin", text.encode()) for text in ("shipped", "young")]
    named = {file.named_by: sha for sha, file in named_in(rescue.lost.database, NAMING, is_copy=False).items()}
    rescue.ship()
    young = named[documents[1]]
    (rescue.folder / "rescued" / "blobs" / young[:2] / young).unlink()
    code, said = rescue.run("backup")
    assert code == 1
    assert f"the bytes of {documents[1]} are lost" in said
    assert documents[0] not in said
    assert rescue.run("restore")[0] == 1
    assert rescue.run("restore", "--damaged")[0] == 0
    rows = dict(rescue.new.seen("SELECT id, sha256 FROM vault_documents"))
    assert sorted(rows) == sorted(documents)
    place = rescue.new.database.parent / "blobs"
    assert [(place / rows[one][:2] / rows[one]).exists() for one in documents] == [True, False]
