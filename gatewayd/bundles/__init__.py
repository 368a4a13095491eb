"""Signed bundles of closed periods (Domain F.14): what is in them, how they are checked, and how two of them differ."""

from gatewayd.bundles.operations import HANDLERS

__all__ = ["HANDLERS"]
