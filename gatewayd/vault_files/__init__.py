"""The bytes of documents: URLs to read them from for a while, and links to give away (Domain A7)."""

from gatewayd.vault_files.operations import HANDLERS

__all__ = ["HANDLERS"]
