"""`gatewayd doctor`, where mail is sent: whether the server lets us in, and whether it has taken what there was."""

from collections.abc import Iterator
from typing import Final

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding, missing_finding
from gatewayd.doctor.stored import read_stored

LOOKED_BACK_DAYS: Final = 7  # Chosen
SECONDS: Final = 5.0  # Chosen: for one answer


def mail(examined: Examined) -> Iterator[Finding]:
    """Nothing where no mail is sent. No mail is sent for it: a session is opened, and ended."""
    if not examined.config.mail.host:
        return
    yield (
        missing_finding(examined, "mail.password_file")
        or missing_finding(examined, "mail.ca_file")
        or _server(examined)
    )
    yield from _failed(examined)


def _server(examined: Examined) -> Finding:
    from dataclasses import replace

    import trio

    from gatewayd.mail.settings import settings_from
    from gatewayd.mail.smtp import SmtpError, SmtpServer

    settings = settings_from(examined.config.mail, examined.config.server.public_url)
    assert settings is not None
    about, where = "mail server", f"{settings.host}:{settings.port}"
    try:
        trio.run(SmtpServer(replace(settings, timeout_seconds=min(SECONDS, settings.timeout_seconds))).greet)
    except SmtpError as error:
        code = "" if error.result.code is None else f"{error.result.code} "
        return Finding(about, False, f"{where} does not let us in. {code}{error.result.answer}")
    return Finding(about, True, f"{where} lets us in{f' as {settings.user}' if settings.user else ''}.")


def _failed(examined: Examined) -> Iterator[Finding]:
    from gatewayd.clock import DAY, Instant
    from gatewayd.mail import outbox

    since = Instant(examined.clock.now() - LOOKED_BACK_DAYS * DAY)
    count = read_stored(examined, lambda tx: outbox.count_failed(tx, since))
    if count:
        sentence = f"{count} were not taken in {LOOKED_BACK_DAYS} days: gatewayd mail list says why."
        yield Finding("mail", False, sentence)
