"""The engine of imports: files come in, are read apart, staged, compared, and applied or undone (domain model E)."""

from typing import Final

from gatewayd.contract.operation import Handlers
from gatewayd.importing import operations, prices

HANDLERS: Final[Handlers] = {**operations.HANDLERS, **prices.HANDLERS}
