"""Where a store lies, and how patient it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from gatewayd import config
from gatewayd.config.forms import OBJECTS

DATABASE_NAME: Final = "gatewayd.db"
PLACE_MARK: Final = "gatewayd.files"
FETCHED: Final = "fetched"
"""The folder in the data directory for what is kept of a bucket."""


class Bucket(NamedTuple):
    """Objects of an S3-compatible store: those of a bucket whose keys begin with `prefix`, which ends with a slash.

    `endpoint` is an origin; `secret_file` has the secret of the access key in its first line. `cache_bytes` is the most
    that is kept of them on this machine.
    """

    endpoint: str
    region: str
    name: str
    prefix: str
    key_id: str
    secret_file: Path
    cache_bytes: int

    @property
    def url(self) -> str:
        """As the settings name it."""
        return f"s3://{self.name}/{self.prefix}".rstrip("/")


class Place(NamedTuple):
    """Where the bytes of documents lie: a folder, and whether daemons of several data directories share it.

    `bucket`: they lie there, all daemons share it, and the folder has what was fetched from it; None: in the folder.
    """

    folder: Path
    is_shared: bool
    bucket: Bucket | None = None

    @property
    def mark_file(self) -> Path:
        """What says whose it is, where it is a folder that is shared."""
        return self.folder / PLACE_MARK

    @property
    def name(self) -> str:
        """Where it is, for people."""
        return str(self.folder) if self.bucket is None else self.bucket.url

    @property
    def mark_name(self) -> str:
        """What says whose it is, for people."""
        return f"{self.name}/{PLACE_MARK}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the database is and how patient the store is. `directory` has what stands beside it, wherever that is."""

    directory: Path
    files: Path | Bucket | None = None
    """Where the bytes of documents lie; None: in `directory`."""
    read_budget_ms: float = 2.0
    busy_timeout_seconds: float = 5.0
    url: str = ""
    """Of a PostgreSQL, without a password; empty: SQLite in `directory`."""
    password_file: Path | None = None

    @property
    def path(self) -> Path:
        return self.directory / DATABASE_NAME

    @property
    def place(self) -> Place:
        """Where the bytes of documents lie."""
        if isinstance(self.files, Bucket):
            return Place(self.directory / FETCHED, is_shared=True, bucket=self.files)
        return Place(self.directory if self.files is None else self.files, self.files is not None)

    @classmethod
    def of(cls, store: config.Store) -> "StoreSettings":
        """The `[store]` table of a loaded configuration."""
        return cls(
            directory=Path(store.directory),
            files=_files_of(store),
            read_budget_ms=store.read_budget_ms,
            busy_timeout_seconds=store.busy_timeout_seconds,
            url=store.url,
            password_file=Path(store.password_file) if store.password_file else None,
        )


def _files_of(store: config.Store) -> Path | Bucket | None:
    if not store.files.startswith(OBJECTS):
        return Path(store.files) if store.files else None
    name, _, prefix = store.files.removeprefix(OBJECTS).partition("/")
    prefix = prefix.rstrip("/")
    return Bucket(
        endpoint=store.files_endpoint or f"https://s3.{store.files_region}.amazonaws.com",
        region=store.files_region,
        name=name,
        prefix=f"{prefix}/" if prefix else "",
        key_id=store.files_key_id,
        secret_file=Path(store.files_secret_file),
        cache_bytes=store.files_cache_bytes,
    )
