"""What another choice would make of the same books: basis, quarters, ownership, VAT scheme (Domain F.11).

It only reads. VAT that was charged, and VAT in what was bought, is what the books hold; nobody knows what a client
would have paid under another scheme.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from msgspec.structs import replace

from gatewayd.areas.businesses import rules
from gatewayd.areas.businesses.profit_and_loss import rendering
from gatewayd.areas.businesses.profit_and_loss.operations import Owned, form_of, owned_by
from gatewayd.areas.businesses.profit_and_loss.rendering import Form
from gatewayd.areas.businesses.profit_and_loss.shapes import Alternative, GetWhatIf, PnlTotals, WhatIf
from gatewayd.areas.businesses.rows import BUSINESSES
from gatewayd.areas.businesses.shapes import BusinessRow
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import Days, HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.errors import FieldError, invalid
from gatewayd.ledger.allocating.categories import PROPERTY_TYPES
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates import date_ranges
from gatewayd.ledger.dates.date_ranges import DateRange, GroupBy, QuarterlyType
from gatewayd.ledger.results import profit_and_loss, reports, results
from gatewayd.ledger.results.allocated_money import Account
from gatewayd.ledger.results.owner_shares import OwnerShares
from gatewayd.ledger.results.profit_and_loss import Statement
from gatewayd.ledger.results.results import Result
from gatewayd.ledger.taxpayers import quarter_choices
from gatewayd.ledger.vat.vat_standing import VatStanding
from gatewayd.money import canonical
from gatewayd.store import ReadTx


class _Outcome(NamedTuple):
    """An account under one set of choices."""

    result: Result
    form: Form
    quarterly_type: QuarterlyType
    buckets: list[DateRange]
    forbidding_year: str | None


def get_what_if(tx: ReadTx, caller: Caller, request: GetWhatIf) -> WhatIf:
    """Ask what the profit of a business would be under another choice.

    Another basis, other quarters, another owner's share of property, or another VAT scheme of who is registered: the
    flat rate by its percentage or by its category. Nothing is changed; `difference` is what would be more.
    """
    row = BUSINESSES.get(tx, request.id)
    days = report_ranges.range_of(tx, request, row)
    actual = rendering.account_of(tx, row, None)
    errors = [*_share_mistakes(row, request), *_scheme_mistakes(request, actual.vat, days)]
    if errors:
        raise invalid(*errors)
    supposed = actual._replace(basis=request.basis or actual.basis, vat=_standing(request, actual.vat))
    owned = owned_by(tx, row)
    kept = quarter_choices.of_business(tx, row.id).type_in
    before = _outcome(tx, row, actual, owned, days, date_ranges.buckets(days, request.group_by, kept))
    if request.owner_share_percent is not None:  # as of the scheme, what is supposed is so of closed days too
        owned = owned._replace(shares=OwnerShares(request.owner_share_percent))
    other = request.quarterly_period_type  # Chosen: of every year, as though it had always been so
    buckets = date_ranges.buckets(days, request.group_by, kept if other is None else lambda year: other)
    after = _outcome(tx, _supposed_row(row, request), supposed, owned, days, buckets)
    own = rendering.share_of(before.result, before.form), rendering.share_of(after.result, after.form)
    return WhatIf(
        business_id=row.id,
        from_date=days.first,
        to_date=days.last,
        currency=row.currency,
        actual=_alternative(row, before, request.group_by),
        what_if=_alternative(row, after, request.group_by),
        difference=_difference(
            rendering.statement_of(after.result, after.form),
            rendering.statement_of(before.result, before.form),
            row.currency,
        ),
        owner_share_difference=None if own[0] is None or own[1] is None else _difference(own[1], own[0], row.currency),
    )


def _outcome(
    tx: ReadTx, row: BusinessRow, account: Account, owned: Owned, days: DateRange, buckets: list[DateRange]
) -> _Outcome:
    result = results.compute(tx, account, days, [*buckets, *owned.spans(days)])
    form, forbidding_year = form_of(tx, row, result, owned)
    return _Outcome(result, form, row.quarterly_period_type, buckets, forbidding_year)


def _alternative(row: BusinessRow, outcome: _Outcome, group_by: GroupBy) -> Alternative:
    result, form = outcome.result, outcome.form
    account = result.account
    return Alternative(
        basis=account.basis,
        quarterly_period_type=outcome.quarterly_type,
        vat_scheme=account.vat.terms_on(result.date_range.first).scheme,
        flat_rate_percent=_flat_rate(account.vat, result.date_range.first),
        **rendering.members(rendering.statement_of(result, form), account.currency),
        owner_share=rendering.owner_share(result, form),
        buckets=[rendering.statement(result, form, part) for part in outcome.buckets if group_by != "total"],
        warnings=[*reports.of_choices(result, row.accounting_basis, outcome.forbidding_year)],
    )


def _flat_rate(vat: VatStanding, date: str) -> str | None:
    """The percentage before any discount."""
    percent = vat.full_percent_on(date) if vat.terms_on(date).scheme == "flat_rate" else None
    return None if percent is None else canonical(str(percent))


def _difference(after: Statement, before: Statement, currency: str) -> PnlTotals:
    return rendering.totals(profit_and_loss.difference(after.totals, before.totals), currency)


def _supposed_row(row: BusinessRow, request: GetWhatIf) -> BusinessRow:
    """The business as it would be; what is not asked about stays."""
    return replace(row, quarterly_period_type=request.quarterly_period_type or row.quarterly_period_type)


def _standing(request: GetWhatIf, vat: VatStanding) -> VatStanding:
    """The standing as it would be: a percentage or a category that is given goes before what the entity has.

    What is supposed is so of closed days too.
    """
    terms = vat.terms
    if request.flat_rate_percent is not None:
        terms = terms._replace(percent=request.flat_rate_percent)
    elif request.flat_rate_category is not None:
        terms = terms._replace(percent=None, category=request.flat_rate_category)
    if request.vat_scheme is not None:
        terms = terms._replace(scheme=request.vat_scheme, flat_from=None)
    return vat if terms == vat.terms and request.vat_scheme is None else vat._replace(terms=terms, former=())


def _share_mistakes(row: BusinessRow, request: GetWhatIf) -> Iterator[FieldError]:
    if request.owner_share_percent is None:
        return
    if row.type not in PROPERTY_TYPES:
        yield FieldError("ownerSharePercent", "conflict", "It is for property: others are their owner's own.")
    yield from rules.share_mistakes(request.owner_share_percent)


def _scheme_mistakes(request: GetWhatIf, vat: VatStanding, days: DateRange) -> Iterator[FieldError]:
    rates = {"flatRateCategory": request.flat_rate_category, "flatRatePercent": request.flat_rate_percent}
    if request.vat_scheme is not None and not _is_ever_registered(vat, days):
        message = "The entity is not registered for VAT in these days: leave this out."
        yield FieldError("vatScheme", "vat_not_registered", message)
    if (request.vat_scheme or vat.terms.scheme) != "flat_rate":
        for path, value in rates.items():
            if value is not None:
                yield FieldError(path, "conflict", "Only the flat_rate scheme has this: leave it out.")
        return
    if all(rates.values()):
        yield FieldError("flatRateCategory", "conflict", "Give the category or the percentage, not both.")
    if request.flat_rate_percent is not None and not 0 <= Decimal(request.flat_rate_percent) <= 100:
        yield FieldError("flatRatePercent", "out_of_range", "Expected a percentage from 0 to 100.")
    if not any(rates.values()) and vat.terms.percent is None and vat.terms.category is None:
        yield FieldError("flatRatePercent", "required", "At what percentage? Or give flatRateCategory.")


def _is_ever_registered(vat: VatStanding, days: DateRange) -> bool:
    return any(vat.seller.registered_on(span.first) for span in date_ranges.cut(days, vat.changes()))


OPERATIONS = (
    Operation(
        id="businesses.whatIf",
        kind="read",
        method="GET",
        path="/businesses/whatIf",
        scopes=("accounting:read",),
        request=GetWhatIf,
        response=WhatIf,
        handler=get_what_if,
        held=HeldBy(
            leads={"id": "business", "period_id": "period"},
            days=Days(sums=True, tax_year="tax_year", refused=("period_id",)),
        ),
        errors=("currency_mismatch", "date_order", "range_too_long", "vat_not_registered"),
        long=True,
        extension=True,
        example={"id": "biz_01k0000000000000000000000c", "taxYear": "2026-27", "basis": "accruals"},
    ),
)
