"""`gatewayd doctor`, of the daemon that answers: whether it is ready, and works with the database of the command line.

The key set of the provider is public, and every database has keys of its own. A copy of a database has the same ones,
but nobody works with it: the lock tells.
"""

import contextlib
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Final

from gatewayd.doctor.database import is_readable
from gatewayd.doctor.examined import Examined, OutOfReach
from gatewayd.doctor.findings import Finding

REACH_SECONDS: Final = 5.0  # Chosen
ANSWER_BYTES_MAX: Final = 65_536  # Chosen: thirty times what is published


def daemon(examined: Examined) -> Iterator[Finding]:
    """Nothing where no key set is to be had: another check tells whether anybody answers."""
    from gatewayd.store.failures import MigrationError, StoreFailure
    from gatewayd.store.files.directory import is_worked_with

    about, url, directory = "daemon", examined.config.server.public_url, examined.store_settings.directory
    served = _served(url)
    if not served:
        return
    if troubles := _troubles(url):
        yield Finding("readiness", False, f"The daemon is not ready: {'; '.join(troubles)}.")
    try:
        held, locked = _held(examined), is_worked_with(directory)
    except (OutOfReach, MigrationError, StoreFailure):
        return  # the check of the database says so
    if held is None or not served & held:
        where = f"in {directory}: see store.directory and $STATE_DIRECTORY"
        yield Finding(about, False, f"What answers at {url} works with another database than the one {where}.")
    elif not locked:
        yield Finding(about, False, f"Nobody works with {directory}: what answers at {url} has a copy of it.")
    else:
        yield Finding(about, True, f"What answers at {url} works with {directory}.")


def _served(url: str) -> set[str]:
    """The ids of the signing keys that are published at `url`; empty where none are."""
    import msgspec

    from gatewayd.oauth.addresses import JWKS

    try:
        with _opener().open(url + JWKS, timeout=REACH_SECONDS) as answer:
            key_set = msgspec.json.decode(answer.read(ANSWER_BYTES_MAX), type=dict[str, list[dict[str, object]]])
    except (OSError, ValueError, msgspec.MsgspecError):
        return set()
    return {str(key.get("kid")) for key in key_set.get("keys", [])}


def _troubles(url: str) -> list[str]:
    """What of the daemon is not well, as `/readyz` tells it; empty where all is, or that cannot be found out."""
    try:
        _opener().open(url + "/readyz", timeout=REACH_SECONDS).close()
    except urllib.error.HTTPError as error:
        with error, contextlib.suppress(OSError):
            return _unwell(error.read(ANSWER_BYTES_MAX))
    except (OSError, ValueError):
        pass
    return []


def _unwell(answer: bytes) -> list[str]:
    import msgspec

    try:
        checks = msgspec.json.decode(answer, type=dict[str, str | dict[str, str]]).get("checks")
    except msgspec.MsgspecError:
        return []
    return [f"{part} {state}" for part, state in checks.items() if state != "ok"] if isinstance(checks, dict) else []


def _opener() -> urllib.request.OpenerDirector:
    """By no proxy of the environment: it is this machine, or near it."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _held(examined: Examined) -> set[str] | None:
    """The ids of the signing keys in our database; None: there is none, or it is older. Raises as `Context.read`."""
    from gatewayd.identity.signing import signing_keys

    return set(examined.read(signing_keys.published)) if is_readable(examined) else None
