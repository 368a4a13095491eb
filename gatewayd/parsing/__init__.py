"""The engine that reads documents: their text, facts and pictures, in a queue that outlives the process (Domain B7)."""

from gatewayd.parsing.metering import PRICED
from gatewayd.parsing.thumbnails import HANDLERS

__all__ = ["HANDLERS", "PRICED"]
