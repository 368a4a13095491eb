"""Documents found by their words, and by what they are about (Domain A7, C9)."""

from gatewayd.search.operations import HANDLERS

__all__ = ["HANDLERS"]
