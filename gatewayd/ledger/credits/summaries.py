"""Usage by civil day of a time zone, or by operation. The days may have 23 or 25 hours."""

import datetime
import zoneinfo

from gatewayd import clock
from gatewayd.errors import invalid_field
from gatewayd.ledger.credits import usage
from gatewayd.ledger.credits.shapes import UsageDay, UsageTotals, UsedCredits
from gatewayd.ledger.credits.usage import Sums
from gatewayd.money import Credits
from gatewayd.store import ReadTx

_DAY = datetime.timedelta(days=1)


def time_zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of a name such as `Europe/London`. Raises `Problem` `validation_failed` where there is no such one."""
    zone = clock.time_zone(name)
    if zone is None:
        raise invalid_field("timezone", "invalid_format", "There is no such time zone: see the IANA names.")
    return zone


def by_day(tx: ReadTx, first: datetime.date, last: datetime.date, zone: zoneinfo.ZoneInfo) -> list[tuple[str, Sums]]:
    """What was used on each day of a range, both inclusive, those without use too."""
    days = [first + number * _DAY for number in range((last - first).days + 1)]
    found = usage.between(tx, [clock.midnight(day, zone) for day in (*days, last + _DAY)])
    return [(day.isoformat(), sums) for day, sums in zip(days, found, strict=True)]


def of_days(tx: ReadTx, first: datetime.date, last: datetime.date, zone: zoneinfo.ZoneInfo) -> Sums:
    """What was used in a range of days, both inclusive."""
    (sums,) = usage.between(tx, [clock.midnight(first, zone), clock.midnight(last + _DAY, zone)])
    return sums


def day_of(date: str, sums: Sums) -> UsageDay:
    """One day of the answer."""
    used, operations = _total(sums)
    return UsageDay(date=date, credits=used, operations=operations, by_operation=_by_operation(sums))


def totals_of(sums: Sums) -> UsageTotals:
    """The totals of the answer."""
    used, operations = _total(sums)
    return UsageTotals(credits=used, operations=operations, by_operation=_by_operation(sums))


def _total(sums: Sums) -> tuple[Credits, int]:
    return Credits(sum(used.credits for used in sums.values())), sum(used.operations for used in sums.values())


def _by_operation(sums: Sums) -> dict[str, UsedCredits]:
    ordered = sorted(sums.items())
    return {name: UsedCredits(credits=Credits(used.credits), count=used.operations) for name, used in ordered}
