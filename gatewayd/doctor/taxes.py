"""`gatewayd doctor`, for modes that ask a tax authority: its address, our client secret, the connections."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gatewayd.config import missing_client, missing_credentials
from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding
from gatewayd.doctor.stored import is_outdated, read_stored

if TYPE_CHECKING:
    from gatewayd.clock import Instant
    from gatewayd.identity.people.organizations import Organization
    from gatewayd.store import ReadTx
    from gatewayd.tax.connections.connections import Standing
    from gatewayd.tax.settings import TaxSettings

REACH_SECONDS: Final = 5.0  # Chosen
EVERYBODY: Final = 0o007  # permission bits


def taxes(examined: Examined) -> Iterator[Finding]:
    """Nothing in the other modes. No request is sent: a connection is opened, and closed."""
    from gatewayd.tax.settings import settings_from

    settings = settings_from(examined.config.tax)
    if settings.mode not in ("forward", "hmrc"):
        return
    absent = {problem.path: problem for problem in missing_credentials(examined.config)}
    if problem := absent.get("tax.ca_file"):
        yield Finding("tax upstream", True, f"Not looked at. {problem}.")
    else:
        yield _upstream(settings)
    if problem := absent.get("tax.client_secret_file"):
        yield Finding("tax client secret", True, f"Not looked at. {problem}.")
    elif settings.client_secret_file:
        yield _secret(Path(settings.client_secret_file))
    if lacking := missing_client(examined.config):
        yield Finding("tax client", False, f"{lacking.path} {lacking.message}.")
    yield from _connections(examined, settings)


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


def _connections(examined: Examined, settings: "TaxSettings") -> Iterator[Finding]:
    from gatewayd.clock import to_wire

    about = "tax connections"
    stored = read_stored(examined, partial(_stored, examined))
    if stored is None:
        if is_outdated(examined):
            yield Finding(about, True, "They are looked at once a start has brought the database up to date.")
        return
    yield from (finding for findings in stored.by_org.values() for finding in findings)
    if stored.refused is not None and stored.refused > _changed(settings):
        told = "The tax authority does not accept tax.client_id with its secret, or the secret cannot be read"
        yield Finding("tax client", False, f"{told}: so it was on {to_wire(stored.refused)[:10]}.")
    without = [org_id for org_id, findings in stored.by_org.items() if not findings]
    if without:
        yield Finding(about, True, f"Not connected: {', '.join(without)}.")


class _Stored(NamedTuple):
    """Findings of connections by organization, and when the authority was last found not to know this service."""

    by_org: dict[str, list[Finding]]
    refused: "Instant | None"


def _stored(examined: Examined, tx: "ReadTx") -> _Stored:
    """Raises `StoreFailure`."""
    from gatewayd.clock import from_wire
    from gatewayd.identity.people import organizations
    from gatewayd.store.files.restored import find_restored

    restored = find_restored(examined.store_settings.directory)
    restored_at = None if restored is None else from_wire(restored.restored_at)
    by_org = {org.id: _findings_of(tx, org, restored_at) for org in organizations.list_all(tx)}
    return _Stored(by_org, _last_not_known(tx))


def _last_not_known(tx: "ReadTx") -> "Instant | None":
    """When the authority was last found not to know this service, over connections that have not worked since."""
    from gatewayd.identity.people import organizations
    from gatewayd.tax.connections import connections
    from gatewayd.tax.sessions import call_log

    instants = []
    for org in organizations.list_all(tx):
        tx.bind(org.id)
        for of in (None, *(each.legal_entity_id for each in connections.list_standings(tx) if each.legal_entity_id)):
            last = call_log.find_last(tx, of)
            if last is not None and last.call.code == call_log.NOT_KNOWN:
                instants.append(last.at)
    return max(instants, default=None)


def _changed(settings: "TaxSettings") -> int:
    """When the secret was changed, microseconds: of one that is newer than its refusal nothing is known yet."""
    try:
        return int(Path(settings.client_secret_file).stat().st_mtime * 1_000_000) if settings.client_secret_file else 0
    except OSError:
        return 0  # told elsewhere


def _findings_of(tx: "ReadTx", org: "Organization", restored_at: "Instant | None") -> list[Finding]:
    """How each connection of an organization is. `restored_at`: when a backup was restored; None: never."""
    from gatewayd.tax.connections import connections

    tx.bind(org.id)
    return [_connection_finding(tx, org, standing, restored_at) for standing in connections.list_standings(tx)]


def _connection_finding(
    tx: "ReadTx", org: "Organization", standing: "Standing", restored_at: "Instant | None"
) -> Finding:
    from gatewayd.clock import to_wire
    from gatewayd.tax.connections import connections
    from gatewayd.tax.sessions import call_log

    about, again = f"tax connection of {org.id}", f"gatewayd tax connect --org {org.id}"
    if standing.legal_entity_id is not None:
        about, again = f"tax connection of {standing.legal_entity_id}", f"{again} --entity {standing.legal_entity_id}"
    end = standing.granted.expires_at
    if end <= tx.now:
        return Finding(about, False, f"It ended on {to_wire(end)[:10]}: {again}")
    if restored_at is not None and connections.is_spent(tx, restored_at, standing.legal_entity_id):
        why = f"It is of the backup that was restored on {to_wire(restored_at)[:10]}, and was probably renewed since"
        return Finding(about, False, f"{why}: {again}")
    last = call_log.find_last(tx, standing.legal_entity_id)
    if last is not None and last.at > standing.since and last.call.code == call_log.REFUSED:
        return Finding(about, False, f"The tax authority refused it on {to_wire(last.at)[:10]}: {again} --replace")
    return Finding(about, True, f"It lasts until {to_wire(end)[:10]}.")
