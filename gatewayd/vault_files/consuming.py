"""The folder that is watched: files that appear there become documents, and then are deleted from it.

DIRECTORY/ORGANIZATION/...   files of an organization, by its id; folders below become folders of the vault
DIRECTORY/...                the same, where the instance has a single organization
DIRECTORY/failed/...         what was refused, each with a file beside it that says why

It is looked at every few seconds, so that network shares work too. A file is taken when it has not changed between two
looks; it is deleted once its document is durable, so that a kill at any point takes it anew, and finds its bytes known.
"""

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

import trio

from gatewayd.clock import SECOND
from gatewayd.contract.caller import Caller
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.http1.log import Log
from gatewayd.identity import audit
from gatewayd.identity.people import organizations
from gatewayd.store import Store, StoreFailure
from gatewayd.vault_files import found_files
from gatewayd.vault_files.filing import Filed, Filing
from gatewayd.vault_files.found_files import FoundFile, Identity

LOOK_SECONDS: Final = 5.0  # Chosen
SETTLED_SECONDS: Final = 10  # Chosen: for how long a file was not written to
AFTER_FAILURE_SECONDS: Final = 60.0  # Chosen: a full disk is not asked again at once
FILES_PER_LOOK: Final = 500  # Chosen: what is known of them stands in memory
FAILED: Final = "failed"
REASON: Final = ".reason.txt"


class _Place(NamedTuple):
    """Whose a file is, and how many names of its path say so."""

    org_id: str
    above: int


class WatchedFolder:
    """The watch over one folder, until it is cancelled."""

    def __init__(self, store: Store, filing: Filing, directory: Path, log: Log) -> None:
        self._store = store
        self._filing = filing
        self._directory = directory
        self._log = log
        self._seen: dict[tuple[str, ...], Identity] = {}
        self._left: dict[tuple[str, ...], Identity] = {}

    async def run(self) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
                await trio.sleep(LOOK_SECONDS)
            except (OSError, StoreFailure) as error:
                self._log.warning("watched_folder_failed", directory=str(self._directory), error=str(error))
                await trio.sleep(AFTER_FAILURE_SECONDS)

    async def look(self) -> None:
        """Take what has not changed since the last look. Raises `OSError` or `StoreFailure`."""
        before, self._seen = self._seen, {}
        known = {org.id for org in await self._store.read(organizations.list_all)}
        with closing(found_files.walk(self._directory)) as files:
            while (file := await self._filing.run(next, files, None)) is not None:
                if len(self._seen) >= FILES_PER_LOOK:
                    return
                if (
                    not isinstance(file, FoundFile)
                    or file.parts[0] == FAILED
                    or self._left.get(file.parts) == file.identity
                ):
                    continue
                if before.get(file.parts) == file.identity and self._is_settled(file.identity):
                    await self._take(file, known)
                else:
                    self._seen[file.parts] = file.identity

    def _is_settled(self, identity: Identity) -> bool:
        age = self._store.now() - identity.modified_ns // 1_000
        return age < 0 or age >= SETTLED_SECONDS * SECOND  # the clock of a network share may be ahead

    async def _take(self, file: FoundFile, known: set[str]) -> None:
        place = _place(file.parts, known)
        if place is None:
            self._leave(file, "its first folder is the id of no organization")
            return
        filed = await self._filing.file_one(_caller(place.org_id), file, None, place.above)
        if filed.outcome == "refused":
            await self._set_aside(file, filed)
            return
        self._log.info("document_filed", path=filed.path, document=filed.document_id, outcome=filed.outcome)
        if found_files.is_still(file):
            try:
                await self._filing.run(lambda: os.unlink(file.parts[-1], dir_fd=file.folder))
            except OSError as error:
                self._leave(file, f"it is a document now, and cannot be deleted: {error.strerror}")

    async def _set_aside(self, file: FoundFile, filed: Filed) -> None:
        reason = filed.reason or ""
        try:
            await self._filing.run(_move_to_failed, self._directory, file, reason)
        except OSError as error:
            self._leave(file, f"{reason}; and it cannot be moved away: {error.strerror}")
        else:
            self._log.warning("document_refused", path=filed.path, reason=reason)

    def _leave(self, file: FoundFile, reason: str) -> None:
        """It stays where it is, and is looked at again when it has changed."""
        if len(self._left) >= FILES_PER_LOOK:
            self._left.clear()
        self._left[file.parts] = file.identity
        self._log.warning("document_refused", path=file.path, reason=reason)


def _place(parts: tuple[str, ...], known: set[str]) -> _Place | None:
    if len(parts) > 1 and parts[0] in known:
        return _Place(parts[0], 1)
    return _Place(next(iter(known)), 0) if len(known) == 1 else None


def _caller(org_id: str) -> Caller:
    return Caller(
        kind="operator",
        credential_id=audit.OPERATOR,
        org_id=org_id,
        user_id=None,
        role="owner",
        scopes=frozenset(ALL_SCOPES),
    )


def _move_to_failed(directory: Path, file: FoundFile, reason: str) -> None:
    """Move a file aside under a name that is free there, with its reason. Raises `OSError`."""
    folder = directory / FAILED
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise OSError(0, f"{FAILED} is a symbolic link")
    name = file.parts[-1]
    stem, dot, ending = name.rpartition(".")
    number = 1
    while (folder / name).exists() or (folder / name).is_symlink():
        number += 1
        name = f"{stem} ({number}).{ending}" if dot and stem else f"{file.parts[-1]} ({number})"
    os.rename(file.parts[-1], folder / name, src_dir_fd=file.folder)
    with suppress(OSError):  # a full disk
        (folder / (name + REASON)).write_text(f"{file.path}: {reason}\n", "utf-8")
