"""The landlord's dashboard (Spec §4, Domain A4 and C3): its operation."""

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from gatewayd.areas.landlord.certificates import counting
from gatewayd.areas.landlord.certificates import rows as certificates
from gatewayd.areas.landlord.dashboard import earnings, properties_held, tenancies_live
from gatewayd.areas.landlord.dashboard.earnings import Counting, Earned
from gatewayd.areas.landlord.dashboard.properties_held import HeldProperty, Scope, share_of
from gatewayd.areas.landlord.dashboard.shapes import (
    ArrearsSummary,
    CertificateSummary,
    DashboardWarning,
    GetDashboardSummary,
    LandlordDashboard,
    RateEnding,
    TenancyArrears,
)
from gatewayd.areas.landlord.dashboard.tenancies_live import LiveTenancy
from gatewayd.areas.landlord.rents import arrears
from gatewayd.areas.landlord.tenancies import efficiency
from gatewayd.clock import days_after
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.errors import invalid
from gatewayd.ledger.calendar.report_ranges import check_date
from gatewayd.ledger.loans import loans
from gatewayd.ledger.obligations import obligations
from gatewayd.ledger.obligations.obligations import OBLIGATIONS, Obligation
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.taxpayers import businesses, owners
from gatewayd.money import Money, half_up
from gatewayd.store import ReadTx

SHOWN: Final = 10  # Chosen: of what comes next
OWING_SHOWN: Final = 100  # Chosen
DEFAULT_CURRENCY: Final = "GBP"  # of an organization as a whole

_SELECT_RATES_ENDING = """
SELECT id, property_id, lender, interest_rate, reversion_rate, rate_end_date FROM mortgages
WHERE org_id = :org_id AND rate_end_date BETWEEN :day AND :until
    AND start_date <= :day AND (redeemed_date IS NULL OR redeemed_date > :day)
ORDER BY rate_end_date, id
"""
_SELECT_NEXT = f"""{OBLIGATIONS.select} AND status = 'open'
    AND (CAST(:legal_entity_id AS TEXT) IS NULL OR legal_entity_id = :legal_entity_id)
    AND (CAST(:business_id AS TEXT) IS NULL OR business_id IS NULL OR business_id = :business_id)
ORDER BY due_date, id LIMIT :count"""


def get_dashboard_summary(tx: ReadTx, caller: Caller, request: GetDashboardSummary) -> LandlordDashboard:
    """Get what is let on a day, what it brings and owes, and what has to be done.

    The figures are of the properties of a business, of a legal entity, or of the whole organization. Amounts are in the
    currency of that business or legal entity, and in GBP for the organization; money in other currencies is left out,
    and `warnings` say so. The result of the tax year includes what names no property.
    """
    scope, currency = _scope_of(tx, request)
    day, until, by_share = scope.day, days_after(scope.day, request.window_days), request.basis == "share"
    every = properties_held.read(tx, scope, by_share=by_share)
    percents = {property_.id: property_.share_percent for property_ in every}
    held = [property_ for property_ in every if property_.currency == currency]
    valued = {property_.id for property_ in held if property_.value is not None}
    live = tenancies_live.read(tx, day, percents)
    let = tenancies_live.occupancy(tx, live, percents)
    paying = tenancies_live.of_currency(live, currency)
    month = tenancies_live.monthly_rent(paying, percents)
    of_valued = tenancies_live.monthly_rent([tenancy for tenancy in paying if tenancy.property_id in valued], percents)
    deposits = tenancies_live.deposits(tx, day, currency, percents)
    worth = properties_held.worth(held)
    owed = _owed(tx, held, day)
    owed_on_valued = sum(balance for id_, balance in owed.items() if id_ in valued)
    earned = earnings.up_to(tx, scope, currency, Counting(by_share, valued))

    def money(amount: int) -> Money:
        return Money(amount, currency)

    return LandlordDashboard(
        as_of_date=day,
        basis=request.basis,
        currency=currency,
        property_count=len(every),
        unit_count=let.units,
        let_unit_count=let.let,
        vacant_unit_count=let.units - let.let,
        occupancy_percent=_tenths(100 * let.let, let.units),
        active_tenancies=len(live),
        tenancies_under_notice=sum(tenancy.under_notice for tenancy in live),
        monthly_rent_roll=money(_rounded(month)),
        annual_rent_roll=money(_rounded(month * 12)),
        arrears=_arrears(tx, day, currency, percents),
        deposits_held=money(deposits.held),
        unprotected_deposits=deposits.unprotected,
        portfolio_value=money(worth.value),
        valued_at_cost=worth.at_cost,
        unvalued=worth.unvalued,
        mortgage_balance=money(sum(owed.values())),
        mortgage_balance_unvalued=money(sum(owed.values()) - owed_on_valued),
        equity=money(worth.value - owed_on_valued),
        ltv_percent=_tenths(100 * owed_on_valued, worth.value),
        gross_yield_percent=_tenths(100 * _rounded(of_valued * 12), worth.value),
        net_yield_percent=_tenths(100 * earned.operating_income, worth.value),
        income_tax_year_to_date=money(earned.income),
        expenses_tax_year_to_date=money(earned.expenses),
        net_tax_year_to_date=money(earned.income - earned.expenses),
        certificates=_certificates(tx, scope, request.window_days),
        mortgages_rate_ending=_rates_ending(tx, percents, day, until),
        next_obligations=_next_obligations(tx, scope),
        warnings=[*_warnings(every, held, earned, currency), *_poor_homes(tx, percents, day), *_past_notice(live)],
    )


def _scope_of(tx: ReadTx, request: GetDashboardSummary) -> tuple[Scope, str]:
    """Whose properties, and the currency. Raises `Problem` `validation_failed`."""
    day = tx.today if request.as_of_date is None else request.as_of_date.isoformat()
    check_date(day, "asOfDate")
    scope, currency = Scope(request.business_id, request.legal_entity_id, day), DEFAULT_CURRENCY
    if request.legal_entity_id is not None:
        owner = owners.find(tx, request.legal_entity_id)
        if owner is None:
            raise invalid(unknown_reference("legalEntityId", "legal_entity"))
        currency = owner.base_currency
    if request.business_id is not None:
        business = businesses.find(tx, request.business_id)
        if business is None or request.legal_entity_id not in (None, business.legal_entity_id):
            raise invalid(unknown_reference("businessId", "business"))
        scope, currency = scope._replace(legal_entity_id=business.legal_entity_id), business.currency
    return scope, currency


def _owed(tx: ReadTx, held: Sequence[HeldProperty], day: str) -> dict[str, int]:
    """What counts of the mortgages of properties of one currency, by property: what lenders said last, else computed.

    Chosen: whoever borrowed, a loan is shared as its property is.
    """
    percents = {property_.id: property_.share_percent for property_ in held}
    owed: dict[str, int] = {}
    for property_id, balance in loans.balances_on(tx, day):
        if property_id in percents:
            owed[property_id] = owed.get(property_id, 0) + share_of(balance, percents[property_id])
    return owed


def _arrears(tx: ReadTx, day: str, currency: str, percents: Mapping[str, str]) -> ArrearsSummary:
    owing = [
        tenancy._replace(arrears=share_of(tenancy.arrears, percents[tenancy.property_id]))
        for tenancy in arrears.of_all(tx, day)
        if tenancy.property_id in percents and tenancy.currency == currency
    ]
    shown = [
        TenancyArrears(
            tenancy_id=tenancy.tenancy_id,
            property_id=tenancy.property_id,
            amount=Money(tenancy.arrears, currency),
            days_oldest=tenancy.days_oldest(day),
        )
        for tenancy in heapq.nsmallest(OWING_SHOWN, owing, key=lambda tenancy: (-tenancy.arrears, tenancy.tenancy_id))
    ]
    return ArrearsSummary(
        total=Money(sum(tenancy.arrears for tenancy in owing), currency), count=len(owing), tenancies=shown
    )


def _certificates(tx: ReadTx, scope: Scope, window_days: int) -> CertificateSummary:
    whose = (tx, scope.business_id, scope.legal_entity_id, scope.day)
    states = counting.counts(*whose, window_days)
    upcoming = counting.next_to_expire(*whose, SHOWN)
    return CertificateSummary(
        **states._asdict(), next=[certificates.shown(row, scope.day, window_days) for row in upcoming]
    )


def _rates_ending(tx: ReadTx, property_ids: Collection[str], day: str, until: str) -> list[RateEnding]:
    return [
        RateEnding(
            mortgage_id=id_,
            property_id=property_id,
            lender=lender,
            interest_rate=rate,
            reversion_rate=reversion,
            rate_end_date=ends,
        )
        for id_, property_id, lender, rate, reversion, ends in tx.rows(_SELECT_RATES_ENDING, day=day, until=until)
        if property_id in property_ids
    ]


def _next_obligations(tx: ReadTx, scope: Scope) -> list[Obligation]:
    whose = {"legal_entity_id": scope.legal_entity_id, "business_id": scope.business_id}
    rows = tx.rows(_SELECT_NEXT, count=SHOWN, **whose)
    return [obligations.shown(OBLIGATIONS.read(tx, row), tx.today) for row in rows]


def _warnings(
    every: Sequence[HeldProperty], held: Sequence[HeldProperty], earned: Earned, currency: str
) -> Iterator[DashboardWarning]:
    others = len(every) - len(held)
    if others:
        message = f"Of the properties, {others} count in another currency than {currency}: their money is left out."
        yield DashboardWarning(code="other_currency", message=message)
    unvalued = sum(property_.value is None for property_ in held)
    if unvalued:
        message = (
            f"Of the properties, {unvalued} have neither a valuation nor a price: yields, equity and ltvPercent are"
        )
        yield DashboardWarning(code="unvalued", message=f"{message} of the others, with their rents and loans alone.")
    if earned.left_out:
        message = "Money without a rate of exchange keeps a business's result out of the figures."
        yield DashboardWarning(code="no_exchange_rate", message=message)


def _poor_homes(tx: ReadTx, property_ids: Collection[str], day: str) -> Iterator[DashboardWarning]:
    count = efficiency.count_below(tx, property_ids, day)
    if count:
        message = f"Of the homes that are let, {count} have an EPC of F or G and no exemption: they may not be let."
        yield DashboardWarning(code="epc_below_minimum", message=message)


def _past_notice(live: Sequence[LiveTenancy]) -> Iterator[DashboardWarning]:
    count = sum(tenancy.past_notice for tenancy in live)
    if count:
        message = (
            f"Of the tenancies, {count} have a notice that has expired, and nobody said that the tenants left: they go"
            " on, and rent is due. Give `endedDate` where they did."
        )
        yield DashboardWarning(code="notice_expired", message=message)


def _rounded(amount: Fraction) -> int:
    return half_up(amount.numerator, amount.denominator)


def _tenths(numerator: int, denominator: int) -> str | None:
    """The quotient to one place; None: it has none."""
    if denominator <= 0:
        return None
    tenths = half_up(10 * numerator, denominator)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{abs(tenths) // 10}.{abs(tenths) % 10}"


OPERATIONS = (
    Operation(
        id="landlord.getDashboardSummary",
        kind="read",
        method="GET",
        path="/landlord/getDashboardSummary",
        scopes=("accounting:read",),
        request=GetDashboardSummary,
        response=LandlordDashboard,
        handler=get_dashboard_summary,
        held=HeldBy(entity="legal_entity_id", leads={"business_id": "business"}),
        errors=("out_of_range",),
        long=True,
        example={"businessId": "biz_01k0000000000000000000000b", "basis": "share", "windowDays": 90},
    ),
)
