"""What rows of kind `call` are given in tests, and the log of the engines behind them."""

from dataclasses import dataclass, field

from gatewayd.bundles.engine import Bundles
from gatewayd.importing.engine import Importing
from gatewayd.importing.prices import PriceImporting
from gatewayd.papers.engine import Papers
from gatewayd.parsing.engine import Parsing
from gatewayd.search.engine import Search
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.vault_files.engine import VaultFiles
from gatewayd.webhooks.feeds.event_log import EventLog


@dataclass
class Engines:
    """The engines; set once the store is open."""

    tax: Proxy | None = None
    importing: Importing | None = None
    prices: PriceImporting | None = None
    bundles: Bundles | None = None
    vault_files: VaultFiles | None = None
    papers: Papers | None = None
    parsing: Parsing | None = None
    search: Search | None = None
    event_log: EventLog | None = None


@dataclass
class TaxLog:
    """What the tax engine told the operator."""

    warnings: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    errors: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    infos: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def debug(self, event: str, **values: object) -> None:
        """Say nothing."""

    def info(self, event: str, **values: object) -> None:
        self.infos.append((event, values))

    def warning(self, event: str, **values: object) -> None:
        self.warnings.append((event, values))

    def error(self, event: str, **values: object) -> None:
        self.errors.append((event, values))

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.warnings]

    @property
    def error_events(self) -> list[str]:
        return [event for event, _ in self.errors]
