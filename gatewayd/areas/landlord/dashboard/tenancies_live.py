"""The tenancies that run on a day: what they occupy, bring in and secure (Domain C3). Reads only."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from gatewayd.areas.landlord.dashboard.properties_held import share_of
from gatewayd.areas.landlord.tenancies.deposit_law import PROTECTED
from gatewayd.ledger.rents import schedule, stored_terms
from gatewayd.ledger.rents.schedule import Frequency
from gatewayd.money import half_up
from gatewayd.store import ReadTx

_SELECT_UNITS = "SELECT id, property_id FROM property_units WHERE org_id = :org_id AND archived_at IS NULL"
_OF_DAY = """
SELECT id, property_id, unit_id, CASE WHEN notice_served_date <= :day THEN 1 ELSE 0 END,
    CASE WHEN last_day IS NULL AND notice_expiry_date < :day THEN 1 ELSE 0 END,
    CASE WHEN last_rent_from <= :day THEN last_rent END, last_rent_frequency, tenancies.currency, start_date, last_day,
    rent_frequency, rent_due_day, CASE WHEN last_rent_from <= :day THEN NULL ELSE rent_history END, tenancies.type,
    rent_quarter_days
FROM tenancies
WHERE org_id = :org_id AND cancelled_at IS NULL
""".strip()  # the last of it is `stored_terms.COLUMNS`; few are those whose last rent is still to come
# coalesce: those that end are found by their last day, and no start is null
_SELECT_LIVE = f"""
{_OF_DAY} AND last_day IS NULL AND start_date <= :day
UNION ALL {_OF_DAY} AND last_day >= :day AND coalesce(start_date, '') <= :day
"""
_SELECT_HELD = """
SELECT property_id, currency, type, deposit_scheme, deposit_protected_date, deposit_amount
FROM tenancies
WHERE org_id = :org_id AND deposit_amount IS NOT NULL AND start_date <= :day AND cancelled_at IS NULL
"""
_SELECT_DEPOSITS = f"""
{_SELECT_HELD} AND deposit_returned_date IS NULL UNION ALL {_SELECT_HELD} AND deposit_returned_date > :day
"""


class LiveTenancy(NamedTuple):
    """A tenancy that runs on a day. `unit_id` None: it is of the whole property.

    `past_notice`: its notice has expired, and nobody said that somebody left.
    """

    id: str
    property_id: str
    unit_id: str | None
    currency: str
    frequency: Frequency
    rent: int
    under_notice: bool
    past_notice: bool


class Occupancy(NamedTuple):
    """Of the units of some properties: how many there are, and how many are let."""

    units: int
    let: int

    @property
    def percent_tenths(self) -> int | None:
        """Tenths of a percent; None where there is nothing to let."""
        return half_up(1000 * self.let, self.units) if self.units else None


class Deposits(NamedTuple):
    """What is held, minor units, and how many deposits are in no scheme although the law asks for one."""

    held: int
    unprotected: int


def read(tx: ReadTx, day: str, property_ids: Collection[str]) -> list[LiveTenancy]:
    """The tenancies of properties that run on an ISO day, with the rent of that day."""
    live = []
    for id_, property_id, unit_id, noticed, expired, rent, frequency, *terms in tx.rows(_SELECT_LIVE, day=day):
        if property_id not in property_ids:
            continue
        if rent is None:
            _, rent, frequency, *_ = schedule.rent_on(stored_terms.terms_of(*terms), day)
        let = id_, property_id, unit_id, terms[0], frequency, rent
        live.append(LiveTenancy(*let, under_notice=bool(noticed), past_notice=bool(expired)))
    return live


def occupancy(tx: ReadTx, live: Iterable[LiveTenancy], property_ids: Collection[str]) -> Occupancy:
    """How many units properties have, and how many are let.

    A property without units counts as one unit; a tenancy of the whole property lets all its units.
    """
    units: dict[str, list[str]] = defaultdict(list)
    for unit_id, property_id in tx.rows(_SELECT_UNITS):
        units[property_id].append(unit_id)
    let_whole, single = set(), set()
    for tenancy in live:
        if tenancy.unit_id is None:
            let_whole.add(tenancy.property_id)
        else:
            single.add(tenancy.unit_id)
    count = let = 0
    for property_id in property_ids:
        own = units.get(property_id)
        count += len(own or "1")
        if property_id in let_whole:
            let += len(own or "1")
        elif own:
            let += sum(unit_id in single for unit_id in own)
    return Occupancy(count, let)


def monthly_rent(live: Iterable[LiveTenancy], percents: Mapping[str, str]) -> Fraction:
    """What counts of the rent of a month, minor units, not rounded. `percents` says what counts of each property."""
    rents: dict[tuple[Frequency, str], int] = defaultdict(int)
    for tenancy in live:
        rents[tenancy.frequency, percents[tenancy.property_id]] += tenancy.rent
    months = (
        schedule.monthly_rent(rent, frequency) * Fraction(Decimal(percent)) / 100
        for (frequency, percent), rent in rents.items()
    )
    return sum(months, Fraction())


def deposits(tx: ReadTx, day: str, currency: str, percents: Mapping[str, str]) -> Deposits:
    """What is held for tenancies that have begun by a day, ended ones too.

    `percents` says what counts of the amounts of each property; how many deposits there are does not depend on it.
    Chosen: from the day on which a deposit is given back, nothing of it is held: what was kept is income (Domain C2).
    """
    held = unprotected = 0
    for property_id, of, type_, scheme, protected, amount in tx.rows(_SELECT_DEPOSITS, day=day):
        if property_id not in percents or of != currency:
            continue
        held += share_of(amount, percents[property_id])
        if type_ in PROTECTED:
            unprotected += scheme in (None, "none") or protected is None or protected > day
    return Deposits(held, unprotected)


def of_currency(live: Sequence[LiveTenancy], currency: str) -> list[LiveTenancy]:
    """Those whose rent is in a currency."""
    return [tenancy for tenancy in live if tenancy.currency == currency]
