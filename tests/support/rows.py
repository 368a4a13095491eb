"""The rows of areas as a daemon with default settings has them: each with its handler."""

from gatewayd import catalogue
from gatewayd.contract.operation import Area, Operation
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks.schedule import MAX_ATTEMPTS
from gatewayd.webhooks.subscribers.time_range import RETENTION_DAYS

CATALOGUE = catalogue.build(Policy(), MAX_ATTEMPTS, RETENTION_DAYS)


def served(*areas: Area) -> tuple[Operation, ...]:
    """Their rows, in the order of the areas."""
    rows = {area.name: area.operations for area in CATALOGUE.areas}
    return tuple(row for area in areas for row in rows[area.name])
