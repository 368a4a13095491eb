"""A row made ready to be run many times: its decoder, and the scopes that open it."""

from dataclasses import dataclass

from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.contract.scopes import narrower


@dataclass(frozen=True, slots=True)
class PreparedOperation:
    """An operation with what is derived from its row once."""

    operation: Operation
    decoder: RequestDecoder
    needed: frozenset[str]
    narrow: frozenset[str]
    """The scopes needed, and the narrower ones that are enough as well; the same where there are none."""
    priced_as: tuple[str, ...]

    def allows(self, scopes: frozenset[str]) -> bool:
        """True where `scopes` open the row."""
        return self.needed <= scopes or self.narrow <= scopes


def prepare(operation: Operation) -> PreparedOperation:
    """The operation with all that its row says."""
    narrow = frozenset(narrower(operation.area, scope) or scope for scope in operation.scopes)
    return PreparedOperation(
        operation, RequestDecoder(operation), frozenset(operation.scopes), narrow, operation.priced_as
    )
