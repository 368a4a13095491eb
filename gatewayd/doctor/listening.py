"""`gatewayd doctor`, of where the daemon listens: its certificate, in the files and as served; who may use a socket."""

import grp
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gatewayd.clock import DAY, Instant, to_wire
from gatewayd.config import Server, TcpBind, UnixBind, parse_bind
from gatewayd.doctor.configured_files import plain_http
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding, missing_finding
from gatewayd.http1.certificates import CertificateError, Leaf, leaf_of, load_certificate

REACH_SECONDS: Final = 5.0  # Chosen
MARGIN_DAYS: Final = 14  # Chosen: by then every way to renew one has had its turn
MARGIN_SHARE: Final = 6  # Chosen: of a short life, less than a sixth of it is too little
EVERYBODY: Final = 0o007  # permission bits
OTHERS_MAY_CONNECT: Final = 0o002  # unix(7): it takes permission to write
_LOOPBACK: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # the address that stands for all, and a way there


def listening(examined: Examined) -> Iterator[Finding]:
    """Nothing where there is neither TLS nor a unix socket, nor plain HTTP to other machines."""
    server = examined.config.server
    if missing := missing_finding(examined, "server.tls_certificate", "server.tls_key"):
        yield missing
    elif server.tls_certificate:
        yield from _certificates(server, examined.clock.now())
    if (sentence := plain_http(examined.config)) is not None:
        yield Finding("plain HTTP", bool(server.trusted_proxies), sentence)
    for bind in map(parse_bind, server.bind):
        if isinstance(bind, UnixBind):
            yield from _socket(Path(bind.path))


def _socket(path: Path) -> Iterator[Finding]:
    """Nothing where it is not there: another check tells that nobody answers."""
    try:
        status = path.stat()
    except OSError:
        return
    mode = stat.S_IMODE(status.st_mode)
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    proxy = (
        f"a reverse proxy's user must be in group {group}" if not mode & OTHERS_MAY_CONNECT else "everybody may use it"
    )
    yield Finding("unix socket", True, f"{path} has mode {mode:03o}: {proxy}.")


def _certificates(server: Server, now: Instant) -> Iterator[Finding]:
    """What the files hold may be broken while the daemon serves what they held before."""
    files = None
    try:
        files = load_certificate(server.tls_certificate, server.tls_key).leaf
    except CertificateError as error:
        yield Finding("TLS", False, f"{error}.")
    else:
        yield _finding("TLS", f"{server.tls_certificate} and its key belong together", files, now)
        if Path(server.tls_key).stat().st_mode & EVERYBODY:
            yield Finding("TLS key", False, f"{server.tls_key} can be read by everybody.")
    served = _served(server)
    if served is None:
        return
    if files is not None and served != files:
        sentence = "The certificate is not the one of the files: the daemon's log says why, or reload it."
        yield Finding("TLS, as served", False, sentence)
    else:
        same = "is the one of the files" if served == files else "is not the one of the files"
        yield _finding("TLS, as served", f"The certificate {same}", served, now)


def _finding(about: str, fact: str, leaf: Leaf, now: Instant) -> Finding:
    if now < leaf.begins_at:
        return Finding(about, False, f"{fact}, but it is not good before {to_wire(Instant(leaf.begins_at))}.")
    if now > leaf.ends_at:
        return Finding(about, False, f"{fact}, but it expired on {to_wire(Instant(leaf.ends_at))[:10]}.")
    left = leaf.ends_at - now
    well = left >= min(MARGIN_DAYS * DAY, (leaf.ends_at - leaf.begins_at) // MARGIN_SHARE)
    days = f"{left // DAY} days are left, until {to_wire(Instant(leaf.ends_at))[:10]}"
    return Finding(about, well, f"{fact}; {days}{'' if well else ': it should have been renewed'}.")


def _served(server: Server) -> Leaf | None:
    """The certificate that the first fixed address shows; None where nobody answers, which another check tells."""
    for bind in map(parse_bind, server.bind):
        if not isinstance(bind, TcpBind) or not bind.port:
            continue
        try:
            pem = ssl.get_server_certificate((_LOOPBACK.get(bind.host, bind.host), bind.port), timeout=REACH_SECONDS)
            return leaf_of(pem.encode())
        except (OSError, ValueError):
            return None
    return None
