"""Whether anything gives texts their vectors on this machine, by its settings."""

import importlib.util

from gatewayd.config import Config
from gatewayd.store.sqlite import vectors


def missing(config: Config) -> str | None:
    """Why nothing gives texts their vectors here; None: something does."""
    if config.vault.embeddings == "off":
        return "search by meaning is switched off (vault.embeddings)"
    if config.vault.embeddings == "wordllama" and importlib.util.find_spec("wordllama") is None:
        return "the package wordllama is not installed"
    return vectors.fault()
