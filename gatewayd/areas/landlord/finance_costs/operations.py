"""Relief for residential finance costs (Domain A4 and C2): its operation."""

from collections.abc import Iterator, Mapping, Sequence

from gatewayd.areas.landlord.finance_costs import books, relief
from gatewayd.areas.landlord.finance_costs.books import CURRENCY, FromBooks
from gatewayd.areas.landlord.finance_costs.relief import FIRST_YEAR, Terms
from gatewayd.areas.landlord.finance_costs.shapes import FinanceCostRelief, GetFinanceCostRelief
from gatewayd.contract.caller import Caller
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import Operation
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger.calendar import report_ranges
from gatewayd.ledger.dates.date_ranges import DateRange
from gatewayd.ledger.references import unknown_reference
from gatewayd.ledger.results.report_shapes import PnlWarning
from gatewayd.ledger.taxpayers import owners
from gatewayd.money import Money, to_minor
from gatewayd.store import ReadTx

_AMOUNTS = ("adjustedTotalIncome", "financeCostsBroughtForward", "lossesBroughtForward", "financeCosts", "profits")
_OF_THE_UNITED_KINGDOM = (
    "Property in the United Kingdom and abroad are relieved each by itself: what was brought forward was taken for that"
    " of the United Kingdom."
)
_INCOME_UNKNOWN = (
    "Nobody said how much adjusted total income there is above the personal allowance: it limits the relief, and was"
    " taken for enough."
)


def get_finance_cost_relief(tx: ReadTx, caller: Caller, request: GetFinanceCostRelief) -> FinanceCostRelief:
    """Get the relief for what it cost a person to finance dwellings, which is taken off their Income Tax.

    It is a percentage of the least of three: finance costs of the year and brought forward; profits of property, after
    losses brought forward; and adjusted total income above the personal allowance. It is rounded half up to the penny,
    and what is not used is carried forward. Finance costs and profits are the person's own part of all their businesses
    with property, unless the request has them. Property in the United Kingdom and property abroad are relieved each by
    itself; what is brought forward is then taken for that of the United Kingdom.
    """
    year = _tax_year_days(request.tax_year)
    _refuse_others(tx, request.legal_entity_id)
    income, costs_before, losses_before, costs, profits = _amounts(request)
    by_type: dict[str, FromBooks] = {}
    if costs is None or profits is None:
        by_type = books.of_person(tx, request.legal_entity_id, year)
    own = [
        (of_type.costs, of_type.profits) for _, of_type in sorted(by_type.items(), reverse=True)
    ]  # the United Kingdom
    if costs is not None or profits is not None:
        in_all = [sum(amounts) for amounts in zip((0, 0), *own, strict=True)]
        own = [(in_all[0] if costs is None else costs, in_all[1] if profits is None else profits)]
    first, *others = own or [(0, 0)]
    each = [
        Terms(first[0], costs_before or 0, first[1], losses_before or 0),
        *(Terms(more_costs, 0, more_profits, 0) for more_costs, more_profits in others),
    ]
    got = relief.of_year(request.tax_year, each, income)
    return FinanceCostRelief(
        legal_entity_id=request.legal_entity_id,
        tax_year=request.tax_year,
        currency=CURRENCY,
        rate_percent=str(got.percent),
        finance_costs=Money(sum(terms.costs for terms in each), CURRENCY),
        profits=Money(sum(terms.profits for terms in each), CURRENCY),
        losses_used=Money(got.losses_used, CURRENCY),
        relief=Money(got.relief, CURRENCY),
        finance_costs_carried_forward=Money(got.costs_carried_forward, CURRENCY),
        losses_carried_forward=Money(got.losses_carried_forward, CURRENCY),
        warnings=[*_book_warnings(by_type), *_of_several(each), *_of_income(income)],
    )


def _tax_year_days(tax_year: str) -> DateRange:
    year = report_ranges.of_tax_year(tax_year)
    if tax_year < FIRST_YEAR:
        message = f"Before {FIRST_YEAR} a part of the finance costs was deducted: look the years up one by one."
        raise invalid_field("taxYear", "out_of_range", message)
    return year


def _refuse_others(tx: ReadTx, legal_entity_id: str) -> None:
    """Raises `Problem` `validation_failed` for who is no person."""
    owner = owners.find(tx, legal_entity_id)
    if owner is None:
        raise invalid(unknown_reference("legalEntityId", "legal_entity"))
    if not owner.is_person:
        raise invalid_field("legalEntityId", "conflict", "The relief is for persons: partners have it by themselves.")


def _amounts(request: GetFinanceCostRelief) -> list[int | None]:
    """The amounts of a request in the order above, minor units."""
    texts = (
        request.adjusted_total_income,
        request.finance_costs_brought_forward,
        request.losses_brought_forward,
        request.finance_costs,
        request.profits,
    )
    amounts: list[int | None] = []
    errors: list[FieldError] = []
    for path, text in zip(_AMOUNTS, texts, strict=True):
        try:
            amount = None if text is None else to_minor(text, CURRENCY)
        except ValueError as error:
            errors.append(FieldError(path, "invalid_decimal", f"{error}."))
            continue
        if amount is not None and amount < 0 and path != "profits":
            errors.append(FieldError(path, "out_of_range", "Expected 0 or more."))
        amounts.append(amount)
    if errors:
        raise invalid(*errors)
    return amounts


def _book_warnings(by_type: Mapping[str, FromBooks]) -> Iterator[PnlWarning]:
    for of_type in by_type.values():
        yield from of_type.warnings


def _of_several(each: Sequence[Terms]) -> Iterator[PnlWarning]:
    first, *others = each
    has_more = any(terms.costs or terms.profits for terms in others)
    if has_more and (first.costs_brought_forward or first.losses_brought_forward):
        yield PnlWarning(code="brought_forward_of_uk_property", message=_OF_THE_UNITED_KINGDOM)


def _of_income(income: int | None) -> Iterator[PnlWarning]:
    if income is None:
        yield PnlWarning(code="adjusted_total_income_unknown", message=_INCOME_UNKNOWN)


OPERATIONS = (
    Operation(
        id="landlord.getFinanceCostRelief",
        kind="read",
        method="GET",
        path="/landlord/getFinanceCostRelief",
        scopes=("accounting:read",),
        request=GetFinanceCostRelief,
        response=FinanceCostRelief,
        handler=get_finance_cost_relief,
        held=HeldBy(entity="legal_entity_id"),
        errors=("currency_mismatch",),
        long=True,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000b", "taxYear": "2026-27"},
    ),
)
