"""`gatewayd doctor`, of what is around the daemon: room on the disk, a proxy in front, the way to the public URL."""

import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding

FREE_BYTES_MIN: Final = 512 * 2**20  # Chosen: backups, logs and the database's own log want room
REACH_SECONDS: Final = 5.0  # Chosen


def disk(examined: Examined) -> Iterator[Finding]:
    """Where the data directory is, or will be."""
    place = Path(examined.config.store.directory)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free >= FREE_BYTES_MIN
    yield Finding("disk", enough, f"{free // 2**20} MiB are free at {place}{'' if enough else ', which is little'}.")


def proxy(examined: Examined) -> Iterator[Finding]:
    """Where the public URL is https and TLS is not ours, something in front ends it, and speaks for everybody."""
    server = examined.config.server
    if server.tls_certificate or not server.public_url.startswith("https://"):
        return
    trusted = ", ".join(server.trusted_proxies)
    sentence = (
        f"Whoever comes through {trusted} is told by X-Forwarded-For."
        if trusted
        else "A proxy ends TLS, and server.trusted_proxies names none: all who come through it count as one network."
    )
    yield Finding("proxy", bool(trusted), sentence)


def public_url(examined: Examined) -> Iterator[Finding]:
    """Whether the public URL leads to this service."""
    url = examined.config.server.public_url
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/healthz", timeout=REACH_SECONDS) as answer:
            well = b'"status":"ok"' in answer.read(1024)
    except urllib.error.HTTPError as error:
        with error:
            yield Finding("public URL", False, f"{url}/healthz answers {error.code}: does the proxy lead here?")
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        yield Finding("public URL", False, f"Nothing answers at {url} ({reason}): is the daemon running?")
        return
    yield Finding("public URL", well, f"{url} {'leads to this service' if well else 'leads to something else'}.")
