"""What `gatewayd verify` looks at beside the database: the bytes of documents and bundles, and how much there is."""

import sys
from typing import TYPE_CHECKING, NamedTuple

from gatewayd.cli.context import Context
from gatewayd.cli.progress import Progress

if TYPE_CHECKING:
    from gatewayd.store import Store
    from gatewayd.store.backups.named_blobs import NamedFile


class VerifiedFiles(NamedTuple):
    """How many files were looked at, and a sentence for each fault."""

    files: int
    faults: list[str]


def verify_files(context: Context, *, repairs: bool) -> VerifiedFiles:
    """Read every file that is named. `repairs`: what is damaged is set aside, and what is kept is counted anew."""

    async def work(store: "Store") -> VerifiedFiles:
        from gatewayd.ledger import named_files

        named = {file.sha256: file for file in await store.read_later(lambda tx: [*named_files.every(tx)], None)}
        faults = _look(store, [*named.values()], repairs=repairs)
        return VerifiedFiles(len(named), faults + await _miscounted(store, repairs=repairs))

    return context.run(work)


def _look(store: "Store", named: "list[NamedFile]", *, repairs: bool) -> list[str]:
    from gatewayd.store.files.blobs import Blobs
    from gatewayd.store.files.checked_blobs import fault_of, set_aside

    blobs, faults = Blobs(store.directory), []
    with Progress(sys.stderr, len(named), sum(file.size_bytes for file in named)) as progress:
        for file in named:
            fault = fault_of(blobs, file.sha256, file.size_bytes)
            if fault == "lost":
                faults.append(f"the bytes of {file.named_by} are lost: import or upload them again")
            elif fault == "damaged":
                aside = f", and lie in {set_aside(blobs, store.directory, file.sha256)} now" if repairs else ""
                faults.append(f"the bytes of {file.named_by} are not those that were stored{aside}")
            progress.advance(file.size_bytes, file.named_by)
    return faults


async def _miscounted(store: "Store", *, repairs: bool) -> list[str]:
    """Organizations of which it is known otherwise than it is how much they keep."""
    from gatewayd.areas.vault.documents import usage
    from gatewayd.identity.people import organizations

    faults = []
    for org in await store.read(organizations.list_all):
        known, counted = await store.read_later(lambda tx: (usage.of_organization(tx), usage.counted(tx)), org.id)
        if known != counted:
            faults.append(f"{org.id} keeps {counted.bytes} bytes of documents, and {known.bytes} are noted")
            if repairs:
                await store.write(usage.count_anew, org.id)
    return faults
