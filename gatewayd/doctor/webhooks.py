"""`gatewayd doctor`: whether webhooks were switched off because their receivers took nothing."""

import os
from collections.abc import Iterator

from gatewayd.doctor.examined import Examined
from gatewayd.doctor.findings import Finding


def webhooks(examined: Examined) -> Iterator[Finding]:
    """Nothing where none was, or where the database cannot be read: its own check says so."""
    from gatewayd.store.failures import MigrationError, StoreFailure
    from gatewayd.webhooks.dispatch.backlog import read_backlog

    if not examined.store_settings.url and not os.access(examined.store_settings.path, os.F_OK):
        return
    try:
        disabled = examined.read(read_backlog).disabled
    except (MigrationError, StoreFailure):
        return
    count = disabled.get("failing", 0) + disabled.get("receiver_gone", 0)
    if count:
        off = (
            "1 was switched off, for its receiver" if count == 1 else f"{count} were switched off, for their receivers"
        )
        yield Finding("webhooks", False, f"{off} took nothing: see gatewayd webhook list --org ID.")
