"""`gatewayd doctor`, for modes that ask a tax authority: its address, our client secret, the connections."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gatewayd.cli.context import Context
from gatewayd.cli.findings import Finding
from gatewayd.config import missing_client, missing_credentials

if TYPE_CHECKING:
    from gatewayd.identity.organizations import Organization
    from gatewayd.store import ReadTx
    from gatewayd.tax.settings import TaxSettings

REACH_SECONDS: Final = 5.0  # Chosen
EVERYBODY: Final = 0o007  # permission bits
REFUSED: Final = "tax_reauthorisation_required"


def taxes(context: Context) -> Iterator[Finding]:
    """Nothing in the other modes. No request is sent: a connection is opened, and closed."""
    from gatewayd.tax.settings import settings_from

    settings = settings_from(context.config.tax)
    if settings.mode not in ("forward", "hmrc"):
        return
    absent = {problem.path: problem for problem in missing_credentials(context.config)}
    if problem := absent.get("tax.ca_file"):
        yield Finding("tax upstream", True, f"Not looked at. {problem}.")
    else:
        yield _upstream(settings)
    if problem := absent.get("tax.client_secret_file"):
        yield Finding("tax client secret", True, f"Not looked at. {problem}.")
    elif settings.client_secret_file:
        yield _secret(Path(settings.client_secret_file))
    if lacking := missing_client(context.config):
        yield Finding("tax client", False, f"{lacking.path} {lacking.message}.")
    yield from _connections(context)


def _upstream(settings: "TaxSettings") -> Finding:
    """Whether the service answers, with a certificate that is good for its name."""
    import ssl

    import trio

    from gatewayd.outbound.errors import OutboundError
    from gatewayd.outbound.targets import parse_target
    from gatewayd.outbound.transport import GuardedTransport

    about, url = "tax upstream", settings.upstream

    async def reach() -> None:
        with trio.fail_after(REACH_SECONDS):
            target = parse_target(url, allow_http=settings.policy.allow_http)
            stream = await GuardedTransport(settings.policy).connect(target)
            await trio.aclose_forcefully(stream)

    try:
        trio.run(reach)
    except trio.TooSlowError:
        return Finding(about, False, f"{url} does not answer within {REACH_SECONDS:g} seconds.")
    except OutboundError as error:
        return Finding(about, False, f"{url} cannot be reached: {error.detail}.")
    except (OSError, ssl.SSLError) as error:
        return Finding(about, False, f"{settings.ca_file} cannot be used: {error}.")
    good = ", with a good certificate" if url.startswith("https:") else ""
    return Finding(about, True, f"{url} can be reached{good}.")


def _secret(path: Path) -> Finding:
    about = "tax client secret"
    try:
        text, mode = path.read_text("utf-8"), path.stat().st_mode
    except (OSError, UnicodeError) as error:
        return Finding(about, False, f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.")
    if not text.strip():
        return Finding(about, False, f"{path} is empty.")
    if mode & EVERYBODY:
        return Finding(about, False, f"{path} can be read by everybody.")
    return Finding(about, True, f"{path} can be read.")


def _connections(context: Context) -> Iterator[Finding]:
    from gatewayd.identity import organizations
    from gatewayd.store.backup import is_current
    from gatewayd.store.failures import MigrationError, StoreFailure

    about = "tax connections"
    if not os.access(context.store_settings.path, os.F_OK):
        return
    try:
        if not is_current(context.store_settings.path):
            yield Finding(about, True, "They are looked at once a start has brought the database up to date.")
            return
        found = context.read(lambda tx: [(org, _connection_finding(tx, org)) for org in organizations.list_all(tx)])
    except (MigrationError, StoreFailure):
        return  # the check of the database says so
    yield from (finding for _, finding in found if finding is not None)
    without = [org.id for org, finding in found if finding is None]
    if without:
        yield Finding(about, True, f"Not connected: {', '.join(without)}.")


def _connection_finding(tx: "ReadTx", org: "Organization") -> Finding | None:
    """How an organization's connection is; None: it is not connected."""
    from gatewayd.clock import to_wire
    from gatewayd.tax import call_log, connections

    tx.bind(org.id)
    standing = connections.standing(tx)
    if standing is None:
        return None
    about, again = f"tax connection of {org.id}", f"gatewayd tax connect --org {org.id}"
    end = standing.granted.expires_at
    if end <= tx.now:
        return Finding(about, False, f"It ended on {to_wire(end)[:10]}: {again}")
    last = next(iter(call_log.list_calls(tx, 1)), None)
    if last is not None and last.at > standing.since and last.call.code == REFUSED:
        return Finding(about, False, f"The tax authority refused it on {to_wire(last.at)[:10]}: {again}")
    return Finding(about, True, f"It lasts until {to_wire(end)[:10]}.")
