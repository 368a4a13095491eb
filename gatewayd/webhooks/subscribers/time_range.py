"""Ranges of time as ranges of ids. Pure.

Ids sort by the time they were made, so an index that ends in an id serves "since" without an index on the instant.
"""

from datetime import datetime
from typing import Final, NamedTuple

from gatewayd.clock import DAY, MINUTE, Instant, from_moment
from gatewayd.errors import invalid_field
from gatewayd.ids import first_at

RETENTION_DAYS: Final = 30  # as the setting `webhooks.retention_days` says where it is left alone
ID_SLACK: Final = MINUTE  # Chosen: how far an id and `created_at` of its row may lie apart
OPEN_END: Final = Instant((1 << 48) * 1000)


class TimeRange(NamedTuple):
    """From `since` to before `until`."""

    since: Instant
    until: Instant = OPEN_END

    def within_retention(self, now: Instant, days: int) -> "TimeRange":
        """The part of it that is no older than the days for which finished deliveries are kept.

        Of older events it is not known what has arrived.
        """
        return self._replace(since=max(self.since, Instant(now - days * DAY)))

    def bounds(self, prefix: str) -> dict[str, str | int]:
        """What a statement binds: rows from `:from_id` to before `:to_id`, and exactly `:since` to before `:until`."""
        return {
            "from_id": first_at(prefix, self.since - ID_SLACK),
            "to_id": first_at(prefix, self.until + ID_SLACK),
            "since": self.since,
            "until": self.until,
        }


def requested_range(since: datetime | None, until: datetime | None) -> TimeRange:
    """The range that a request names; None is open. Raises `Problem` `validation_failed` for one that holds nothing."""
    if since is not None and until is not None and until <= since:
        raise invalid_field("until", "date_order", "It is not later than since: expected a later moment.")
    return TimeRange(
        Instant(0) if since is None else from_moment(since),
        OPEN_END if until is None else from_moment(until),
    )
