"""What folders look like (Domain B7): requests, responses, and the row where it differs."""

from typing import Annotated

from msgspec import Meta

from gatewayd.areas.vault.names import VaultName
from gatewayd.contract.pages import PageRequest
from gatewayd.contract.wire import ExternalId, Id, Request, Response, Timestamp, Version

ParentFilter = Annotated[
    str, Meta(min_length=1, max_length=64, description="A folder's id; `root` for those at the top; absent: all.")
]


class FolderRow(Response, frozen=True, kw_only=True):
    """A folder as it is stored. `parentId` None: it is at the top."""

    id: Id
    external_id: str | None
    name: str
    parent_id: Id | None
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Folder(FolderRow, frozen=True, kw_only=True):
    """A folder. `path` begins and is divided by slashes; a folder at the top has depth 1.

    The counts are null unless `includeCounts` asks for them: of documents and folders in the folder itself, and of the
    documents in it and below it.
    """

    path: str
    depth: int
    document_count: int | None
    folder_count: int | None
    total_document_count: int | None


class GetFolders(PageRequest, frozen=True, kw_only=True):
    """Which folders."""

    parent_id: ParentFilter | None = None
    include_counts: bool = False
    external_id: ExternalId | None = None


class CreateFolder(Request, frozen=True, kw_only=True):
    """A new folder. `parentId` null or absent: at the top."""

    name: VaultName
    parent_id: Id | None = None
    external_id: ExternalId | None = None


class UpdateFolderName(Request, frozen=True, kw_only=True):
    """The name that a folder is to have."""

    folder_id: Id
    name: VaultName
    expected_version: Version | None = None


class UpdateFolderParent(Request, frozen=True, kw_only=True):
    """The folder that a folder is to lie in; null: at the top."""

    folder_id: Id
    parent_id: Id | None
    expected_version: Version | None = None


class DeleteFolder(Request, frozen=True, kw_only=True):
    """Which folder, with all that is in it. `expectedCount`: how many documents the caller thinks that are."""

    folder_id: Id
    expected_count: Annotated[int, Meta(ge=0)] | None = None


class DeletedFolder(Response, frozen=True, kw_only=True):
    """What went with a folder: itself and the folders below it, and their documents, which lie in the trash."""

    id: Id
    deleted_folders: int
    deleted_documents: int
