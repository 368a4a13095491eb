"""One organization's vault beside a folder of files that are to become its documents."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gatewayd.areas import vault
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.documents.shapes import DocumentRow
from gatewayd.areas.vault.folders.rows import Tree
from gatewayd.contract.caller import Caller
from gatewayd.store import ReadTx
from gatewayd.store.files.blobs import Blobs
from gatewayd.vault_files.filing import Filed, Filing
from tests.support.api import TestedApi, Tuning, open_api
from tests.support.rows import served
from tests.support.store import make_caller

ORG = "org_a"
MAX_BYTES = 20_000_000
_EVERY = f"{DOCUMENTS.select} AND status = 'uploaded' ORDER BY name"


@dataclass
class Shelf:
    """The folder and the vault."""

    api: TestedApi
    root: Path
    blobs: Blobs
    filing: Filing

    @property
    def caller(self) -> Caller:
        return make_caller(ORG)

    def put(self, path: str, content: bytes = b"paper") -> Path:
        """A file of the folder."""
        found = self.root / path
        found.parent.mkdir(parents=True, exist_ok=True)
        found.write_bytes(content)
        return found

    async def file(self, top: str | None = None) -> list[Filed]:
        """File everything; what became of each."""
        told: list[Filed] = []
        await self.filing.file_tree(self.caller, self.root, top, told.append)
        return told

    async def documents(self, org_id: str = ORG) -> dict[str, DocumentRow]:
        """Every document by its path in the vault."""

        def every(tx: ReadTx) -> dict[str, DocumentRow]:
            tree = Tree(tx)
            found = [DOCUMENTS.read(tx, row) for row in tx.rows(_EVERY)]
            return {f"{tree.place(one.folder_id).path if one.folder_id else ''}/{one.name}": one for one in found}

        return await self.api.store.read(every, org_id)


@asynccontextmanager
async def open_shelf(tmp_path: Path, image: bytes, *, quota: int = 0) -> AsyncIterator[Shelf]:
    """A shelf whose folder is empty."""
    root = tmp_path / "scans"
    root.mkdir()
    (tmp_path / "data").mkdir()
    async with open_api(tmp_path / "data", image, served(vault.AREA), Tuning()) as api:
        blobs = Blobs(tmp_path / "data")
        filing = Filing(api.store, blobs, vault.Settings("http://127.0.0.1:8080", MAX_BYTES, quota))
        yield Shelf(api, root, blobs, filing)
