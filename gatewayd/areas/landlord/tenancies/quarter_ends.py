"""A tenancy whose end cuts a quarter, of rent that is due in advance on quarter days (Domain C3). Pure.

At common law such rent is due whole, and nothing of it is given back: Ellis v Rowbotham [1900] 1 QB 740; Marks and
Spencer plc v BNP Paribas [2015] UKSC 72. It is counted by days where the lease says so, as most do of their last
quarter. What the lease says nobody told, and so what is counted is told.
"""

from collections.abc import Iterator

from gatewayd.areas.landlord.register import rent_terms
from gatewayd.areas.landlord.register.tenancy_shapes import TenancyRow
from gatewayd.areas.landlord.tenancies.shapes import TenancyWarning
from gatewayd.ledger.rents import schedule
from gatewayd.money import Money


def warnings(before: TenancyRow | None, after: TenancyRow) -> Iterator[TenancyWarning]:
    """What there is to say of a last rent that the change has made a part of one. `before` None: it is new."""
    its = rent_terms.of_row(after)
    if its.end is None or after.rent_quarter_days is None or after.cancelled_at is not None:
        return
    if before is not None and rent_terms.of_row(before) == its:
        return
    begins = schedule.latest_due(its, its.end)
    if begins is None or schedule.rent_on(its, begins).quarter_days is None:
        return
    last, whole = next(schedule.dues(its, begins, begins)), next(schedule.dues(its._replace(end=None), begins, begins))
    if last.amount < whole.amount:
        counted, full = Money(last.amount, after.currency), Money(whole.amount, after.currency)
        message = (
            f"It ends on {last.last}, within a quarter: {counted} is counted for its days. All of {full} is owed since"
            f" {begins} unless the lease has the last rent by days."
        )
        yield TenancyWarning(code="rent_apportioned", message=message)
