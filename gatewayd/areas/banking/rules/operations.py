"""Rules of allocation: their operations."""

from msgspec import UNSET

from gatewayd.areas.banking.rules import checks
from gatewayd.areas.banking.rules.shapes import (
    AppliedRule,
    ApplyRules,
    CreateRule,
    DeletedRule,
    DeleteRule,
    LearnRule,
    ListRules,
    UpdateRule,
)
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, cursor_key, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger import allocation_history, references
from gatewayd.ledger.allocating import allocation_rules, bank_lines
from gatewayd.ledger.allocating.allocation_rules import RULES, AllocationRule, Applied, RuleConditions
from gatewayd.ledger.allocating.allocation_shapes import Direction
from gatewayd.ledger.allocating.bank_lines import Position
from gatewayd.ledger.lists import table_page
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.money import Money
from gatewayd.store import ReadTx, WriteTx

FEWEST_CHOICES = 2  # Chosen: one line says nothing of the next
MOST_OF = 2 / 3  # Chosen: of the lines, that the choice was the same


def create_rule(tx: WriteTx, caller: Caller, request: CreateRule) -> AllocationRule:
    """Create a rule that says what bank transactions are for.

    One of mode `propose` speaks in proposals; one of mode `apply` is applied to what is imported, and by
    `banking.applyRules` to what there is.
    """
    errors = checks.mistakes(tx, request.conditions, request.outcome)
    if errors:
        raise invalid(*errors)
    return allocation_rules.add(tx, RULES.new(tx, request))


def list_rules(tx: ReadTx, caller: Caller, request: ListRules) -> Listing[AllocationRule]:
    """List rules of allocation."""
    filters = {
        "mode = :mode": request.mode,
        "enabled = 1": request.enabled or None,
        "enabled = 0": True if request.enabled is False else None,
    }
    return table_page(tx, request, RULES, filters)


def update_rule(tx: WriteTx, caller: Caller, request: UpdateRule) -> AllocationRule:
    """Change the given fields of a rule. What it allocated stays as it is."""
    before = RULES.get(tx, request.rule_id, request.expected_version)
    after = RULES.changed(before, request)
    if request.conditions is not UNSET or request.outcome is not UNSET:
        errors = checks.mistakes(tx, after.conditions, after.outcome)
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
    rest. What a rule may not have, such as a day of a closed period, is told in `refusal` and stays.
    """
    errors = list(references.unknown(tx, [Reference("accountId", "bank_account", request.account_id)]))
    rule = None if request.rule_id is None else RULES.find(tx, request.rule_id)
    if request.rule_id is not None and rule is None:
        errors.append(unknown_reference("ruleId", "rule"))
    if errors:
        raise invalid(*errors)
    rules = [rule] if rule else [one for one in allocation_rules.in_force(tx) if one.mode == "apply"]
    key = cursor_key(request, str, str, str) or (request.account_id or "", "", "")
    after = Position(*map(str, key))
    lines = bank_lines.unallocated(tx, after, request.limit + 1, one_account=request.account_id is not None)
    looked, more = lines[: request.limit], len(lines) > request.limit
    applied = allocation_rules.apply(tx, looked, rules, dry_run=request.dry_run)
    cursor = next_cursor(request, looked[-1].position) if more else None
    return Listing.of([encode(_shown(one)) for one in applied], cursor)


def learn_rule(tx: WriteTx, caller: Caller, request: LearnRule) -> AllocationRule:
    """Make a rule of what was chosen for bank transactions with the same counterparty.

    At least two of the latest, and two in three, have to be for the same thing.
    """
    match_key, direction, path = _subject(tx, request)
    choice = allocation_history.choice_for(tx, match_key, direction)
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
    """Whose lines, which way the money went, and the field that says so. Raises `Problem` `validation_failed`."""
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
        errors=("limit_reached",),
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
        response=Page[AllocationRule],
        handler=list_rules,
        extension=True,
        example={"enabled": True, "limit": 20},
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
        errors=("version_conflict",),
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
        example={"accountId": "bac_01k0000000000000000000000m", "dryRun": True, "limit": 20},
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
        errors=("limit_reached",),
        extension=True,
        example={"bankTransactionId": "btx_01k0000000000000000000000a", "mode": "propose"},
    ),
)
