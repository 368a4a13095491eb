"""What is examined: an instance by its settings, from where a command or the daemon itself stands."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gatewayd.clock import Clock
from gatewayd.config import ROOT, Config, require_credentials

if TYPE_CHECKING:
    from gatewayd.store import ReadTx
    from gatewayd.store.settings import StoreSettings

T = TypeVar("T")


class OutOfReach(Exception):
    """There is no database, or it is out of this user's reach; the reason in one line."""


class Examined(ABC):
    """An instance. `root` is where /etc and /var/lib are: another folder than / is for looking at it from outside."""

    def __init__(self, environ: Mapping[str, str], clock: Clock, root: Path = ROOT) -> None:
        self.environ = environ
        self.clock = clock
        self.root = root

    @property
    @abstractmethod
    def config(self) -> Config:
        """The settings. Raises `ConfigError`."""

    @abstractmethod
    def read(self, work: "Callable[[ReadTx], T]", org_id: str | None = None) -> T:
        """Run a read, and wait for it. Raises what `work` raises, `StoreFailure`, `MigrationError` or `OutOfReach`."""

    @property
    def store_settings(self) -> "StoreSettings":
        """Where the store of these settings is."""
        from gatewayd.store.settings import StoreSettings

        return StoreSettings.of(self.config.store)

    @property
    def key_file(self) -> Path:
        """The instance key of these settings. Raises `ConfigError` for a credential that is not to be found."""
        require_credentials(self.config, "store.key_file")
        return Path(self.config.store.key_file)

    def has_database(self) -> bool:
        """Whether a database is there. Raises `OutOfReach` where that is out of this user's reach."""
        if self.store_settings.url:
            return True  # whoever opens it finds out
        path = self.store_settings.path
        try:
            path.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise OutOfReach(f"{path} is out of reach: {error.strerror}") from None
        return True
