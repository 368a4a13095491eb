"""Rules of allocation: what they look like, what they must keep, and their operations."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from gatewayd.areas.banking.allocations import history
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, SyncPage, SyncRequest, cursor_key, next_cursor
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import Amount, DateText, ExternalId, Id, Name, Request, Response, Version, encode
from gatewayd.errors import FieldError, invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.allocating import allocation_rules, bank_lines, categories, lets, loan_payments
from gatewayd.ledger.allocating.allocation_rules import (
    RULES,
    AllocationRule,
    Applied,
    Mode,
    RuleConditions,
    RuleOutcome,
    Words,
)
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction
from gatewayd.ledger.allocating.bank_lines import Position
from gatewayd.ledger.allocating.categories import NOT_PNL, expenses_of, income_of
from gatewayd.ledger.allocating.lets import Place
from gatewayd.ledger.lists import table_page
from gatewayd.ledger.references import Kind, Reference, unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.ledger.vat.vat_rates import PURCHASES_ONLY, SALES_ONLY
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

FEWEST_CHOICES = 2  # Chosen: one line says nothing of the next
MOST_OF = 2 / 3  # Chosen: of the lines, that the choice was the same
_REFERENCES: tuple[tuple[str, str, Kind], ...] = (
    ("outcome.businessId", "business_id", "business"),
    ("outcome.propertyId", "property_id", "property"),
    ("outcome.unitId", "unit_id", "unit"),
    ("outcome.tenancyId", "tenancy_id", "tenancy"),
    ("outcome.mortgageId", "mortgage_id", "mortgage"),
)

Priority = Annotated[int, Meta(ge=0, le=1_000_000, description="The lowest decides first.")]


class CreateRule(Request, frozen=True, kw_only=True):
    """A new rule: at least one condition, and what follows."""

    name: Name
    mode: Mode = "propose"
    priority: Priority = 100
    enabled: bool = True
    conditions: RuleConditions
    outcome: RuleOutcome
    external_id: ExternalId | None = None


class ListRules(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    mode: Mode | None = None
    enabled: bool | None = None
    external_id: ExternalId | None = None


class GetRule(Request, frozen=True, kw_only=True):
    """Which rule."""

    rule_id: Id
    """Which rule."""


@updates(CreateRule, of=AllocationRule)
class UpdateRule(Request, frozen=True, kw_only=True):
    """The fields to change. Conditions and outcome are each given whole."""

    rule_id: Id
    """The rule to change."""
    expected_version: Version | None = None
    conditions: RuleConditions | UnsetType = UNSET
    outcome: RuleOutcome | UnsetType = UNSET


class DeleteRule(Request, frozen=True, kw_only=True):
    """Which rule to delete."""

    rule_id: Id
    """Which rule."""
    expected_version: Version | None = None


class DeletedRule(Response, frozen=True, kw_only=True):
    """The rule that was deleted."""

    id: Id
    deleted: Literal[True]
    """Always true."""


class ApplyRules(PageRequest, frozen=True, kw_only=True):
    """To which bank transactions which rules are applied; `limit` is how many of them are looked at."""

    account_id: Id | None = None
    """Only bank transactions of this account; by default of all."""
    rule_id: Id | None = None
    """Apply this rule alone, whatever its mode; by default all enabled ones of mode `apply`."""
    dry_run: bool = False
    """True: only tell what would be done."""


class AppliedRule(Response, frozen=True, kw_only=True):
    """A bank transaction that a rule fits: what was allocated, or would be, or why it could not."""

    bank_transaction_id: Id
    """The bank transaction that the rule fits."""
    rule_id: Id
    """The rule that decides of it."""
    date: DateText
    """The day of the money."""
    amount: Amount
    """The whole bank transaction, positive for money in and negative for money out."""
    currency: str
    """The currency of the bank transaction."""
    reason: str
    """Which conditions of the rule it meets, for people."""
    allocation: Allocation | None
    """The first of `allocations`. Null: the rule was refused."""
    allocations: list[Allocation]
    """What was made of it, or would be in a dry run: several where a payment of a mortgage is split, none where the
    rule was refused."""
    refusal: str | None
    """Why the rule could not have it, for people. Null: it could."""


class LearnRule(Request, frozen=True, kw_only=True):
    """Whose lines to learn from: those with the counterparty of a bank transaction, or with a `matchKey`."""

    bank_transaction_id: Id | None = None
    """Learn from the lines with the counterparty of this one. Give this or `matchKey`."""
    match_key: Words | None = None
    """Learn from the lines with this counterparty, written exactly as `matchKey` of proposals. Give this or
    `bankTransactionId`."""
    direction: Direction | None = None
    """Which way the money of these lines went; by default as that of the bank transaction, with a `matchKey` out."""
    name: Name | None = None
    """What people call the rule; by default who the lines are with."""
    mode: Mode = "propose"
    priority: Priority = 100
    external_id: ExternalId | None = None


def create_rule(tx: WriteTx, caller: Caller, request: CreateRule) -> AllocationRule:
    """Create a rule that says what bank transactions are for.

    One of mode `propose` speaks in proposals alone; one of mode `apply` is also applied to what is imported, and by
    `banking.applyRules` to transactions that are there already.
    """
    errors = _mistakes(tx, request.conditions, request.outcome)
    if errors:
        raise invalid(*errors)
    return allocation_rules.add(tx, RULES.new(tx, request))


def list_rules(tx: ReadTx, caller: Caller, request: ListRules) -> Listing[AllocationRule]:
    """List rules of allocation."""
    filters = {
        "mode = :mode": request.mode,
        "enabled = 1": request.enabled or None,
        "enabled = 0": True if request.enabled is False else None,
        "external_id = :external_id": request.external_id,
    }
    return table_page(tx, request, RULES, filters)


def get_rule(tx: ReadTx, caller: Caller, request: GetRule) -> AllocationRule:
    """Get one rule of allocation."""
    return RULES.get(tx, request.rule_id)


def update_rule(tx: WriteTx, caller: Caller, request: UpdateRule) -> AllocationRule:
    """Change the given fields of a rule. What it allocated stays as it is."""
    before = RULES.get(tx, request.rule_id, request.expected_version)
    after = RULES.changed(before, request)
    if request.conditions is not UNSET or request.outcome is not UNSET:
        errors = _mistakes(tx, after.conditions, after.outcome)
        if errors:
            raise invalid(*errors)
    return RULES.update(tx, after)


def delete_rule(tx: WriteTx, caller: Caller, request: DeleteRule) -> DeletedRule:
    """Delete a rule. What it allocated stays, and goes on naming it."""
    rule = RULES.get(tx, request.rule_id, request.expected_version)
    allocation_rules.delete(tx, rule)
    return DeletedRule(id=rule.id, deleted=True)


def apply_rules(tx: WriteTx, caller: Caller, request: ApplyRules) -> Listing[AppliedRule]:
    """Apply rules of mode `apply`, or the one that is named, to bank transactions of which nothing is allocated.

    `limit` of them are looked at, oldest first; the answer has those that a rule fits, and `nextCursor` leads to the
    rest. Where a rule may not allocate one, such as of a closed period, it stays as it is, and `refusal` tells why.
    """
    errors = list(references.unknown(tx, [Reference("accountId", "bank_account", request.account_id)]))
    rule = None if request.rule_id is None else RULES.find(tx, request.rule_id)
    if request.rule_id is not None and rule is None:
        errors.append(unknown_reference("ruleId", "rule"))
    if errors:
        raise invalid(*errors)
    rules = [rule] if rule else [enabled for enabled in allocation_rules.in_force(tx) if enabled.mode == "apply"]
    key = cursor_key(request, str, str, str) or (request.account_id or "", "", "")
    after = Position(*map(str, key))
    lines = bank_lines.unallocated(tx, after, request.limit + 1, one_account=request.account_id is not None)
    looked, more = lines[: request.limit], len(lines) > request.limit
    applied = allocation_rules.apply(tx, looked, rules, dry_run=request.dry_run)
    cursor = next_cursor(request, looked[-1].position) if more else None
    return Listing.of([encode(_shown(fitted)) for fitted in applied], cursor)


def learn_rule(tx: WriteTx, caller: Caller, request: LearnRule) -> AllocationRule:
    """Make a rule of what was chosen for bank transactions with the same counterparty.

    At least two of the latest, and two in three, have to be for the same thing.
    """
    match_key, direction, path = _subject(tx, request)
    choice = history.choice_for(tx, match_key, direction)
    if choice is None:
        raise invalid_field(path, "conflict", "Nothing was chosen for such lines yet.")
    learned_from = choice.described(match_key)
    if choice.times < FEWEST_CHOICES or choice.times < MOST_OF * choice.lines:
        raise invalid_field(path, "conflict", f"{learned_from}: no rule follows from that.")
    values = {
        "name": request.name or match_key.title()[:160],
        "enabled": True,
        "conditions": RuleConditions(match_key=match_key, direction=direction),
        "outcome": choice.outcome,
        "learned_from": f"{learned_from}.",
    }
    return allocation_rules.add(tx, RULES.new(tx, request, **values))


def _subject(tx: ReadTx, request: LearnRule) -> tuple[str, Direction, str]:
    """Whose lines to learn from: match key, direction, and the field that names them.

    Raises `Problem` `validation_failed`.
    """
    if (request.bank_transaction_id is None) == (request.match_key is None):
        raise invalid_field("matchKey", "required", "Give either `bankTransactionId` or `matchKey`.")
    if request.match_key is not None:
        return request.match_key, request.direction or "out", "matchKey"
    line = bank_lines.find(tx, request.bank_transaction_id or "")
    if line is None:
        raise invalid(unknown_reference("bankTransactionId", "bank_transaction"))
    return line.match_key, request.direction or line.direction, "bankTransactionId"


def _shown(applied: Applied) -> AppliedRule:
    line, rule, rows, refusal = applied
    return AppliedRule(
        bank_transaction_id=line.id,
        rule_id=rule.id,
        date=line.date,
        amount=Money(line.amount, line.currency),
        currency=line.currency,
        reason=allocation_rules.reason(rule),
        allocation=rows[0] if rows else None,
        allocations=rows,
        refusal=refusal,
    )


# -- what a rule must keep


def _mistakes(tx: ReadTx, conditions: RuleConditions, outcome: RuleOutcome) -> list[FieldError]:
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
        message = "A rule without conditions would fit everything: give one, such as `text`."
        yield FieldError("conditions", "required", message)
    least, most = conditions.min_amount, conditions.max_amount
    for path, amount in (("minAmount", least), ("maxAmount", most)):
        if amount is not None and Decimal(amount) < 0:
            message = "Amounts are compared without their sign: expected 0 or more."
            yield FieldError(f"conditions.{path}", "out_of_range", message)
    if least is not None and most is not None and Decimal(most) < Decimal(least):
        yield FieldError("conditions.maxAmount", "out_of_range", "It is less than `minAmount`: expected that or more.")


def _purpose_mistakes(outcome: RuleOutcome) -> Iterator[FieldError]:
    if outcome.category != NOT_PNL:
        if outcome.purpose is not None:
            yield FieldError("outcome.purpose", "conflict", "It is for the category not_pnl: leave this out.")
    elif outcome.purpose is None:
        message = "This field is required: it is neither income nor an expense, so what is it?"
        yield FieldError("outcome.purpose", "required", message)
    elif outcome.purpose == "invoice_payment":
        yield FieldError("outcome.purpose", "conflict", "Payments are recorded with their invoice.")
    elif outcome.purpose == "rent_written_off":
        yield FieldError("outcome.purpose", "conflict", "No money moves where rent is written off.")
    elif loan_payments.is_payment(outcome.category, outcome.purpose) and outcome.mortgage_id is None:
        yield FieldError("outcome.mortgageId", "required", "This field is required: of which mortgage is it a payment?")
    if outcome.vat_code is not None and outcome.purpose not in (None, "other"):
        yield FieldError("outcome.vatCode", "conflict", "Only what was bought or sold has one: leave this out.")


def _percent_mistakes(outcome: RuleOutcome) -> Iterator[FieldError]:
    if outcome.vat_code is not None and outcome.vat_percent is not None:
        yield FieldError("outcome.vatPercent", "conflict", "`vatCode` says it already: leave this out.")
    for path, percent in (("vatPercent", outcome.vat_percent), ("disallowablePercent", outcome.disallowable_percent)):
        if percent is not None and not 0 <= Decimal(percent) <= 100:
            yield FieldError(f"outcome.{path}", "out_of_range", "Expected a percentage from 0 to 100.")


def _place_mistakes(outcome: RuleOutcome, place: Place) -> Iterator[FieldError]:
    for path, message in place.conflicts(outcome):
        yield FieldError(f"outcome.{path}", "conflict", message)
    if place.property is not None and place.property.archived:
        yield FieldError(
            "outcome.propertyId", "conflict", "The property is archived: bring it back first, or choose another."
        )


def _business_mistakes(tx: ReadTx, outcome: RuleOutcome) -> Iterator[FieldError]:
    business = None if outcome.business_id is None else businesses.find(tx, outcome.business_id)
    if business is None:
        return
    if business.archived:
        yield FieldError(
            "outcome.businessId", "conflict", "The business is archived: bring it back first, or choose another."
        )
    if outcome.category not in {NOT_PNL} | income_of(business.type) | expenses_of(business.type):
        yield FieldError("outcome.category", "conflict", f"A business of type {business.type} has no such line.")
    elif outcome.vat_code is not None and outcome.category != NOT_PNL:
        kind = categories.kind_of(outcome.category, business.type)
        if outcome.vat_code in {"income": PURCHASES_ONLY, "expense": SALES_ONLY}.get(kind, {outcome.vat_code}):
            yield FieldError("outcome.vatCode", "conflict", "It is not for what that category holds.")


_EXAMPLE_OUTCOME = {"category": "adminCosts", "vatCode": "standard"}
OPERATIONS = (
    Operation(
        id="banking.createRule",
        kind="write",
        method="POST",
        path="/allocations/rules",
        scopes=("accounting:write",),
        request=CreateRule,
        response=AllocationRule,
        handler=create_rule,
        errors=("already_exists", "limit_reached"),
        extension=True,
        example={
            "name": "Stationery",
            "mode": "apply",
            "conditions": {"text": "paper mill", "direction": "out", "maxAmount": "250.00"},
            "outcome": _EXAMPLE_OUTCOME,
        },
    ),
    Operation(
        id="banking.listRules",
        kind="read",
        method="GET",
        path="/allocations/rules",
        scopes=("accounting:read",),
        request=ListRules,
        response=SyncPage[AllocationRule],
        handler=list_rules,
        extension=True,
        example={"enabled": True, "limit": 20},
    ),
    Operation(
        id="banking.getRule",
        kind="read",
        method="GET",
        path="/allocations/rules/:ruleId",
        scopes=("accounting:read",),
        request=GetRule,
        response=AllocationRule,
        handler=get_rule,
        extension=True,
        example={"ruleId": "rule_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.updateRule",
        kind="write",
        method="PATCH",
        path="/allocations/rules/:ruleId",
        scopes=("accounting:write",),
        request=UpdateRule,
        response=AllocationRule,
        handler=update_rule,
        errors=("already_exists", "version_conflict"),
        extension=True,
        example={"ruleId": "rule_01k0000000000000000000000a", "priority": 10, "expectedVersion": 1},
    ),
    Operation(
        id="banking.deleteRule",
        kind="write",
        method="DELETE",
        path="/allocations/rules/:ruleId",
        scopes=("accounting:write",),
        request=DeleteRule,
        response=DeletedRule,
        handler=delete_rule,
        errors=("version_conflict",),
        extension=True,
        example={"ruleId": "rule_01k0000000000000000000000a"},
    ),
    Operation(
        id="banking.applyRules",
        kind="write",
        method="POST",
        path="/allocations/rules/apply",
        scopes=("accounting:write",),
        request=ApplyRules,
        response=Page[AppliedRule],
        handler=apply_rules,
        takes_override=True,
        extension=True,
        example={"ruleId": "rule_01k0000000000000000000000b", "dryRun": True, "limit": 20},
    ),
    Operation(
        id="banking.learnRule",
        kind="write",
        method="POST",
        path="/allocations/rules/learn",
        scopes=("accounting:write",),
        request=LearnRule,
        response=AllocationRule,
        handler=learn_rule,
        errors=("already_exists", "limit_reached"),
        extension=True,
        example={"bankTransactionId": "btx_01k0000000000000000000000e", "mode": "propose"},
    ),
)
