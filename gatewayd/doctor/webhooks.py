"""`gatewayd doctor`: whether webhooks were switched off because their receivers took nothing."""

from collections.abc import Iterator

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding
from gatewayd.doctor.stored import read_stored


def webhooks(examined: Examined) -> Iterator[Finding]:
    """Nothing where none was, or where the database cannot be read: its own check says so."""
    from gatewayd.webhooks.dispatch.backlog import read_backlog

    backlog = read_stored(examined, read_backlog)
    if backlog is None:
        return
    count = backlog.disabled.get("failing", 0) + backlog.disabled.get("receiver_gone", 0)
    if count:
        off = (
            "1 was switched off, for its receiver" if count == 1 else f"{count} were switched off, for their receivers"
        )
        yield Finding("webhooks", False, f"{off} took nothing: see gatewayd webhook list --org ID.")
