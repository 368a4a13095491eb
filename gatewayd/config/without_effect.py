"""Settings that are read and validated, but that this version does not use yet."""

from collections.abc import Sequence

from gatewayd.config.keys import Config

WITHOUT_EFFECT: frozenset[str] = frozenset()
"""By key path. An implemented key is removed here; a test compares this with what the program reads."""


def without_effect(config: Config) -> tuple[str, ...]:
    """The key paths that were changed and have no effect, in alphabetical order."""
    defaults = Config()
    return tuple(path for path in sorted(WITHOUT_EFFECT) if _value(config, path) != _value(defaults, path))


def without_effect_sentence(paths: Sequence[str]) -> str:
    """The same for people: `tax.mode and vault.ocr have no effect yet.` There is one path at least."""
    *others, last = paths
    if not others:
        return f"{last} has no effect yet."
    return f"{', '.join(others)} and {last} have no effect yet."


def _value(config: Config, path: str) -> object:
    section, _, key = path.partition(".")
    return getattr(getattr(config, section), key)
