"""What a tenancy is on a day (Domain B4). Pure, of dates alone, so that no job can be late.

    upcoming  before startDate
    active    from startDate on
    notice    from noticeServedDate to the last day, or for as long as it goes on, within the tenancy
    ended     from the day after the last day on
    cancelled called off while it was upcoming

Days are ISO texts, which compare as the days do.
"""

from typing import Final

from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow, TenancyStatus, TenancyType
from gatewayd.ledger.rents import stored_terms

PERIODIC_FROM: Final = stored_terms.FIRST_DAY
"""In England assured tenancies are periodic from this day on, and what was assured shorthold became so (Domain 0.1)."""


CONTINUED: Final = frozenset[TenancyType](
    {
        "assured_periodic",
        "assured_shorthold",
        "occupation_contract",
        "private_residential_tenancy",
        "private_tenancy_ni",
        "regulated",
        "commercial_lease",
    }
)
"""Types that go on when their term is over, until somebody leaves: by which law, Domain B4 tells."""


HELD_UNTIL_LEFT: Final = frozenset[TenancyType](
    {
        "assured_periodic",
        "assured_shorthold",
        "occupation_contract",
        "private_residential_tenancy",
        "private_tenancy_ni",
        "regulated",
    }
)
"""Types that a landlord's notice does not end: a court or tribunal does, or the tenant who leaves (Domain B4)."""


def ends_by_notice(row: TenancyRow) -> bool:
    """Whether the tenancy ends on the day on which a notice expires, or goes on until somebody has left.

    Chosen: a notice of which nobody said whose it is counts as the landlord's, so that no rent is lost unseen.
    """
    return row.notice_by == "tenant" or row.type not in HELD_UNTIL_LEFT


def last_day(row: TenancyRow) -> str | None:
    """The last day of the tenancy, come or to come; None: it goes on. It is the same whichever day asks.

    It is the end that somebody said, else the expiry of a notice that ends the tenancy, else the end of a term that no
    law continues.
    """
    if row.end_date is not None:
        return row.end_date
    if row.notice_expiry_date is not None and ends_by_notice(row):
        return row.notice_expiry_date
    return None if row.type in CONTINUED else row.term_end_date


def expected_end(row: TenancyRow) -> str | None:
    """The day to look out for; None: there is none.

    That is the last day, else the expiry of a notice, else the end of a term, after which the tenancy goes on.
    """
    end = last_day(row) or row.notice_expiry_date
    return row.term_end_date if end is None and not _term_falls_away(row) else end


def is_past_term(row: TenancyRow, day: str) -> bool:
    """Whether the term is over on a day, and the tenancy goes on without an end or a notice."""
    if row.notice_expiry_date is not None:
        return False
    return _is_past(row, day)


def is_past_notice(row: TenancyRow, day: str) -> bool:
    """Whether a notice has expired before a day, and the tenancy goes on because nobody said that it ended."""
    return row.notice_expiry_date is not None and _is_past(row, day)


def _is_past(row: TenancyRow, day: str) -> bool:
    if row.cancelled_at is not None or last_day(row) is not None:
        return False
    expected = expected_end(row)
    return expected is not None and expected < day


def status_of(row: TenancyRow, day: str) -> TenancyStatus:
    """The state on a day. The first and the last day are days of the tenancy.

    Chosen: who stays past the expiry of a notice, because a later end was agreed or the notice ends nothing, is under
    notice until then.
    """
    if row.cancelled_at is not None:
        return "cancelled"
    if day < row.start_date:
        return "upcoming"
    end = last_day(row)
    if end is not None and end < day:
        return "ended"
    return "active" if row.notice_served_date is None or day < row.notice_served_date else "notice"


def type_of(row: TenancyRow, day: str) -> tuple[TenancyType, TenancyType | None]:
    """What the law makes of the agreement on a day, and what it was before; None: nothing changed it.

    An assured shorthold lies in England, or it would not have been taken.
    """
    return ("assured_periodic", row.type) if day >= PERIODIC_FROM and _is_converted(row) else (row.type, None)


def _is_converted(row: TenancyRow) -> bool:
    """Whether an assured shorthold ran on the day of the change."""
    if row.type != "assured_shorthold" or row.cancelled_at is not None:
        return False
    end = last_day(row)
    return row.start_date < PERIODIC_FROM and (end is None or end >= PERIODIC_FROM)


def _term_falls_away(row: TenancyRow) -> bool:
    """Whether the law undid the term of an assured shorthold before it was over.

    Chosen: a term whose last day is the day of the change itself was undone too, since the tenancy ran that day.
    """
    return row.type == "assured_shorthold" and row.term_end_date is not None and row.term_end_date >= PERIODIC_FROM
