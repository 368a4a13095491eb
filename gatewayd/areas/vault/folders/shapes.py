"""What folders look like (Domain B7): requests, responses, and the row where it differs."""

from typing import Annotated

from msgspec import Meta

from gatewayd.areas.vault.names import VaultName
from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.wire import ExternalId, Id, Request, Response, Timestamp, Version

ParentFilter = Annotated[
    str, Meta(min_length=1, max_length=64, description="A folder's id; `root` for those at the top; absent: all.")
]


class FolderRow(Response, frozen=True, kw_only=True):
    """A folder as it is stored. `parentId` None: it is at the top."""

    id: Id
    external_id: str | None
    name: str
    """What people call it; each name is taken once in a folder, whatever its letter case."""
    parent_id: Id | None
    """The folder that it lies in. Null: at the top."""
    created_by: str
    """The user who created it, or the credential where there is no user."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Folder(FolderRow, frozen=True, kw_only=True):
    """A folder."""

    path: str
    """The names of the folders from the top down to this one; it begins with a slash, and slashes are between them."""
    depth: int
    """How deep it lies: 1 at the top, 32 at most."""
    document_count: int | None
    """How many documents lie in the folder itself. Null: `includeCounts` was not given."""
    folder_count: int | None
    """How many folders lie in the folder itself. Null: `includeCounts` was not given."""
    total_document_count: int | None
    """How many documents lie in the folder and in those below it. Null: `includeCounts` was not given."""


class GetFolders(SyncRequest, frozen=True, kw_only=True):
    """Which folders.

    With `updatedSince` they come in the order of change, and with them what was deleted since. That a folder above has
    another name or place is a change of `path`; what `includeCounts` adds is none.
    """

    parent_id: ParentFilter | None = None
    include_counts: bool = False
    """Whether each folder tells how many documents and folders it holds."""
    external_id: ExternalId | None = None


class GetFolder(Request, frozen=True, kw_only=True):
    """Which folder."""

    folder_id: Id
    """Which folder."""
    include_counts: bool = False
    """Whether it tells how many documents and folders it holds."""


class CreateFolder(Request, frozen=True, kw_only=True):
    """A new folder."""

    name: VaultName
    """What people call it, without slashes and control characters; taken once in a folder, whatever its letter case."""
    parent_id: Id | None = None
    """The folder that it is to lie in. Left out: at the top."""
    external_id: ExternalId | None = None


class UpdateFolderName(Request, frozen=True, kw_only=True):
    """The name that a folder is to have."""

    folder_id: Id
    """The folder to rename."""
    name: VaultName
    expected_version: Version | None = None


class UpdateFolderParent(Request, frozen=True, kw_only=True):
    """The folder that a folder is to lie in; null: at the top."""

    folder_id: Id
    """The folder to move."""
    parent_id: Id | None
    expected_version: Version | None = None


class DeleteFolder(Request, frozen=True, kw_only=True):
    """Which folder, with all that is in it."""

    folder_id: Id
    """The folder to delete, with those below it."""
    expected_count: Annotated[int, Meta(ge=0)] | None = None
    """How many documents you think are in it and below: another number is refused. Left out: it is not compared."""
    expected_version: Version | None = None


class DeletedFolder(Response, frozen=True, kw_only=True):
    """What went with a folder: itself and the folders below it, and their documents, which lie in the trash."""

    id: Id
    deleted_folders: int
    """How many folders were deleted: itself and those below it."""
    deleted_documents: int
    """How many documents went into the trash."""
