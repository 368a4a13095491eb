"""What settings name outside of themselves, as far as this user sees it: a certificate, a folder, who can listen in."""

import os
from collections.abc import Iterator
from pathlib import Path

from gatewayd.clock import Instant, to_wire
from gatewayd.config import Config, Problem, TcpBind, is_loopback, missing_credentials, parse_bind


def mistakes(config: Config, now: Instant) -> Iterator[Problem]:
    """What the daemon would refuse, or do nothing with."""
    yield from _of_certificate(config, now)
    yield from _of_consume_directory(config)


def remarks(config: Config) -> Iterator[str]:
    """What is no mistake and should be known."""
    for path in _unreadable(config):
        yield f"{path} is not for this user to read, and was not looked at."
    if (sentence := plain_http(config)) is not None:
        yield sentence


def plain_http(config: Config) -> str | None:
    """That others could read passwords and keys on their way; None: they could not, as far as is known here."""
    server = config.server
    open_to = [bind for bind in server.bind if isinstance(parsed := parse_bind(bind), TcpBind) and _is_open(parsed)]
    if server.tls_certificate or not open_to:
        return None
    return (
        f"server.bind: {', '.join(open_to)} is plain HTTP to other machines, which can read passwords and keys on their"
        " way: set server.tls_certificate, or listen on 127.0.0.1 behind a reverse proxy."
    )


def _is_open(bind: TcpBind) -> bool:
    return not is_loopback(bind.host)


def _of_certificate(config: Config, now: Instant) -> Iterator[Problem]:
    from gatewayd.http1.certificates import CertificateError, load_certificate

    server, path = config.server, "server.tls_certificate"
    absent = {problem.path for problem in missing_credentials(config)}
    if not server.tls_certificate or absent & {path, "server.tls_key"} or [*_unreadable(config)]:
        return
    try:
        leaf = load_certificate(server.tls_certificate, server.tls_key).leaf
    except CertificateError as error:
        yield Problem(path, str(error))
        return
    if now > leaf.ends_at:
        yield Problem(path, f"{server.tls_certificate} expired on {to_wire(Instant(leaf.ends_at))[:10]}")
    elif now < leaf.begins_at:
        begins = to_wire(Instant(leaf.begins_at))
        yield Problem(path, f"{server.tls_certificate} is not good before {begins}")


def _unreadable(config: Config) -> Iterator[str]:
    """Files of TLS that are there, and another user's to read: the daemon's, perhaps."""
    for path in (config.server.tls_certificate, config.server.tls_key):
        if path and Path(path).exists() and not os.access(path, os.R_OK):
            yield path


def _of_consume_directory(config: Config) -> Iterator[Problem]:
    folder = config.vault.consume_directory
    if not folder:
        return
    path, watched = "vault.consume_directory", Path(folder).resolve()
    from gatewayd.store.settings import StoreSettings

    place = StoreSettings.of(config.store).place
    for data in {each.resolve() for each in (Path(config.store.directory), place.folder)}:
        if watched == data or watched in data.parents or data in watched.parents:
            yield Problem(path, f"{folder} and the data directory {data} may not lie in each other")
            return
    if not watched.exists():
        yield Problem(path, f"{folder} is not there: make it, or mount it")
    elif not watched.is_dir():
        yield Problem(path, f"{folder} is no directory")
