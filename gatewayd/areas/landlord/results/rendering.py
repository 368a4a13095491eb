"""From figures of properties in minor units to what is served."""

from collections.abc import Iterable
from typing import Any

from gatewayd.areas.landlord.results import figures
from gatewayd.areas.landlord.results.counting import Counted
from gatewayd.areas.landlord.results.figures import Part
from gatewayd.areas.landlord.results.shapes import (
    MortgageInterest,
    PropertyAccount,
    PropertyStatement,
    PropertyTotals,
    RestOfBusiness,
    Share,
)
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.results import reports
from gatewayd.ledger.results.allocated_money import Evidence
from gatewayd.money import Money, canonical


def members(part: Part, currency: str) -> dict[str, Any]:
    """Lines and totals of an account, by the names that responses have for them."""
    found = figures.of_part(part)._asdict()
    return {
        "income": reports.lines(part.statement.income, currency),
        "expenses": reports.expenses(part.statement.expenses, currency),
        "memoranda": reports.lines(part.statement.memoranda, currency),
        "totals": PropertyTotals(**{name: Money(amount, currency) for name, amount in found.items()}),
    }


def statement(counted: Iterable[Counted], share: Share, days: DateRange, currency: str) -> PropertyStatement:
    """The account of some days of all properties."""
    part = figures.together(one.part(share, days) for one in counted)
    return PropertyStatement(from_date=days.first, to_date=days.last, **members(part, currency))


def account(one: Counted, share: Share) -> PropertyAccount:
    """The account of one of several properties."""
    currency = one.result.account.currency
    return PropertyAccount(
        property_id=one.let.id,
        business_id=one.let.business_id,
        owner_share_percent=canonical(one.shares.on(one.result.whole.last)),
        **members(one.part(share, one.result.whole), currency),
        mortgage_interest=mortgage_interest([one]),
    )


def rest(business_id: str, part: Part, currency: str) -> RestOfBusiness:
    """What a business has that names no property of it."""
    return RestOfBusiness(business_id=business_id, **members(part, currency))


def mortgage_interest(counted: Iterable[Counted]) -> list[MortgageInterest]:
    """The interest on each mortgage, by where it comes from."""
    return [
        MortgageInterest(
            mortgage_id=mortgage_id, interest_source=source, interest=Money(amount, one.result.account.currency)
        )
        for one in counted
        for (mortgage_id, source), amount in sorted(one.financing.interest.items())
    ]


def evidence(counted: Iterable[Counted]) -> Evidence:
    """How far the expenses of all are documented."""
    whole = Evidence()
    for one in counted:
        found = one.result.evidence
        whole.add(found.expenses, found.documented, found.missing)
    return whole
