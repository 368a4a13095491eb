"""What rows of kind `call` are given in tests, and the log of the engines behind them."""

from dataclasses import dataclass, field

from gatewayd.tax.proxy import Proxy


@dataclass
class Engines:
    """The engines; set once the store is open."""

    tax: Proxy | None = None


@dataclass
class TaxLog:
    """What the tax engine told the operator."""

    warnings: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def warning(self, event: str, **values: object) -> None:
        self.warnings.append((event, values))

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.warnings]
