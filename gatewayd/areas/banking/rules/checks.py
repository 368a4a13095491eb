"""What a rule of allocation must keep. Reads only."""

from collections.abc import Iterator
from decimal import Decimal

from msgspec.structs import replace

from gatewayd.errors import FieldError
from gatewayd.ledger import references
from gatewayd.ledger.allocating import categories, lets, loan_payments
from gatewayd.ledger.allocating.allocation_rules import RuleConditions, RuleOutcome
from gatewayd.ledger.allocating.categories import NOT_PNL, expenses_of, income_of
from gatewayd.ledger.allocating.lets import Place
from gatewayd.ledger.references import Kind, Reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.vat.vat_rates import PURCHASES_ONLY, SALES_ONLY
from gatewayd.store import ReadTx

_REFERENCES: tuple[tuple[str, str, Kind], ...] = (
    ("outcome.businessId", "business_id", "business"),
    ("outcome.propertyId", "property_id", "property"),
    ("outcome.unitId", "unit_id", "unit"),
    ("outcome.tenancyId", "tenancy_id", "tenancy"),
    ("outcome.mortgageId", "mortgage_id", "mortgage"),
)


def mistakes(tx: ReadTx, conditions: RuleConditions, outcome: RuleOutcome) -> list[FieldError]:
    """What is wrong with a rule."""
    named = [Reference(path, kind, getattr(outcome, field)) for path, field, kind in _REFERENCES]
    named.append(Reference("conditions.accountId", "bank_account", conditions.account_id))
    place = lets.place_of(tx, outcome)
    outcome = replace(outcome, **place.filled(outcome))
    return [
        *_condition_mistakes(conditions),
        *_purpose_mistakes(outcome),
        *_percent_mistakes(outcome),
        *_business_mistakes(tx, outcome),
        *_place_mistakes(outcome, place),
        *references.unknown(tx, named),
    ]


def _condition_mistakes(conditions: RuleConditions) -> Iterator[FieldError]:
    if conditions == RuleConditions():
        yield FieldError("conditions", "required", "A rule without conditions would fit everything.")
    least, most = conditions.min_amount, conditions.max_amount
    for path, amount in (("minAmount", least), ("maxAmount", most)):
        if amount is not None and Decimal(amount) < 0:
            yield FieldError(f"conditions.{path}", "out_of_range", "Amounts are compared without their sign.")
    if least is not None and most is not None and Decimal(most) < Decimal(least):
        yield FieldError("conditions.maxAmount", "out_of_range", "It is below `minAmount`.")


def _purpose_mistakes(outcome: RuleOutcome) -> Iterator[FieldError]:
    if outcome.category != NOT_PNL:
        if outcome.purpose is not None:
            yield FieldError("outcome.purpose", "conflict", "It is for what is `not_pnl`.")
    elif outcome.purpose is None:
        yield FieldError("outcome.purpose", "required", "It is neither income nor an expense: what is it?")
    elif outcome.purpose == "invoice_payment":
        yield FieldError("outcome.purpose", "conflict", "Payments are recorded with their invoice.")
    elif outcome.purpose == "rent_written_off":
        yield FieldError("outcome.purpose", "conflict", "No money moves where rent is written off.")
    elif loan_payments.is_payment(outcome.category, outcome.purpose) and outcome.mortgage_id is None:
        yield FieldError("outcome.mortgageId", "required", "Of which mortgage is it a payment?")
    if outcome.vat_code is not None and outcome.purpose not in (None, "other"):
        yield FieldError("outcome.vatCode", "conflict", "Only what was bought or sold has one.")


def _percent_mistakes(outcome: RuleOutcome) -> Iterator[FieldError]:
    if outcome.vat_code is not None and outcome.vat_percent is not None:
        yield FieldError("outcome.vatPercent", "conflict", "`vatCode` says it already.")
    for path, percent in (("vatPercent", outcome.vat_percent), ("disallowablePercent", outcome.disallowable_percent)):
        if percent is not None and not 0 <= Decimal(percent) <= 100:
            yield FieldError(f"outcome.{path}", "out_of_range", "Expected a percentage from 0 to 100.")


def _place_mistakes(outcome: RuleOutcome, place: Place) -> Iterator[FieldError]:
    for path, message in place.conflicts(outcome):
        yield FieldError(f"outcome.{path}", "conflict", message)
    if place.property is not None and place.property.archived:
        yield FieldError("outcome.propertyId", "conflict", "The property is archived.")


def _business_mistakes(tx: ReadTx, outcome: RuleOutcome) -> Iterator[FieldError]:
    business = None if outcome.business_id is None else businesses.find(tx, outcome.business_id)
    if business is None:
        return
    if business.archived:
        yield FieldError("outcome.businessId", "conflict", "The business is archived.")
    if outcome.category not in {NOT_PNL} | income_of(business.type) | expenses_of(business.type):
        yield FieldError("outcome.category", "conflict", f"A business of type {business.type} has no such line.")
    elif outcome.vat_code is not None and outcome.category != NOT_PNL:
        kind = categories.kind_of(outcome.category, business.type)
        if outcome.vat_code in {"income": PURCHASES_ONLY, "expense": SALES_ONLY}.get(kind, {outcome.vat_code}):
            yield FieldError("outcome.vatCode", "conflict", "It is not for what that category holds.")
