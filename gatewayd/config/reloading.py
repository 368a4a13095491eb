"""Settings that a running daemon takes anew, and those that wait for a restart."""

import dataclasses
from collections.abc import Iterator

from gatewayd.config.keys import Config, name_of

RELOADED = frozenset(
    {
        "server.trusted_proxies",
        "server.tls_certificate",
        "server.tls_key",
        "server.cors_origins",
        "webhooks.allow_networks",
        "limits.requests_per_minute",
        "limits.sign_in_attempts",
        "limits.concurrent_requests",
        "log.level",
    }
)
"""By key path. A test changes each of them in a daemon that serves, and sees it act."""
_TLS = ("server.tls_certificate", "server.tls_key")


def after_reload(running: Config, loaded: Config) -> Config:
    """What holds after a reload: of `loaded` the keys that are reloaded, of `running` all others.

    Another certificate is taken, but TLS is neither begun nor ended: an address cannot change its scheme while it is
    open.
    """
    sections = {}
    for section in dataclasses.fields(running):
        before, after = getattr(running, section.name), getattr(loaded, section.name)
        taken = {
            key.name: getattr(after, key.name)
            for key in dataclasses.fields(before)
            if _is_reloaded(f"{section.name}.{name_of(key)}", running, loaded)
        }
        sections[section.name] = dataclasses.replace(before, **taken)
    return dataclasses.replace(running, **sections)


def differing(running: Config, loaded: Config) -> tuple[str, ...]:
    """The key paths whose loaded value is another than the one that holds: after a reload they wait for a restart."""
    return tuple(path for path, before, after in _pairs(running, loaded) if before != after)


def _is_reloaded(path: str, running: Config, loaded: Config) -> bool:
    if path in _TLS:
        return bool(running.server.tls_certificate and loaded.server.tls_certificate)
    return path in RELOADED


def _pairs(running: Config, loaded: Config) -> Iterator[tuple[str, object, object]]:
    for section in dataclasses.fields(running):
        before, after = getattr(running, section.name), getattr(loaded, section.name)
        for key in dataclasses.fields(before):
            yield f"{section.name}.{name_of(key)}", getattr(before, key.name), getattr(after, key.name)
