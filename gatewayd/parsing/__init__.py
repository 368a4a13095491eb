"""The engine that reads documents: their text, facts and pictures, in a queue that outlives the process (Domain B7)."""

from gatewayd.parsing.metering import PRICED
from gatewayd.parsing.thumbnails import OPERATIONS

__all__ = ["OPERATIONS", "PRICED"]
