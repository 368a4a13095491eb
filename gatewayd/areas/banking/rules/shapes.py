"""Requests and responses of the rules of allocation."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import PageRequest, SyncRequest
from gatewayd.contract.wire import Amount, DateText, Id, Name, Request, Response, Version
from gatewayd.ledger.allocating.allocation_rules import Mode, RuleConditions, RuleOutcome, Words
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction

Priority = Annotated[int, Meta(ge=0, le=1_000_000, description="The lowest decides first.")]


class CreateRule(Request, frozen=True, kw_only=True):
    """A new rule: at least one condition, and what follows."""

    name: Name
    mode: Mode = "propose"
    priority: Priority = 100
    enabled: bool = True
    conditions: RuleConditions
    outcome: RuleOutcome


class ListRules(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    mode: Mode | None = None
    enabled: bool | None = None


class UpdateRule(Request, frozen=True, kw_only=True):
    """The fields to change. Conditions and outcome are each given whole."""

    rule_id: Id
    expected_version: Version | None = None
    name: Name | UnsetType = UNSET
    mode: Mode | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    conditions: RuleConditions | UnsetType = UNSET
    outcome: RuleOutcome | UnsetType = UNSET


class DeleteRule(Request, frozen=True, kw_only=True):
    """Which rule to delete."""

    rule_id: Id
    expected_version: Version | None = None


class DeletedRule(Response, frozen=True, kw_only=True):
    """The rule that was deleted."""

    id: Id
    deleted: Literal[True]


class ApplyRules(PageRequest, frozen=True, kw_only=True):
    """To which bank transactions rules are applied: of one account or of all, `limit` of them looked at.

    `ruleId` applies that rule alone, whatever its mode. A dry run tells what would be done.
    """

    account_id: Id | None = None
    rule_id: Id | None = None
    dry_run: bool = False


class AppliedRule(Response, frozen=True, kw_only=True):
    """A bank transaction that a rule fits: what was allocated, or would be, or why it could not.

    `allocations` are several where a payment of a mortgage is split, and `allocation` is the first of them.
    """

    bank_transaction_id: Id
    rule_id: Id
    date: DateText
    amount: Amount
    currency: str
    reason: str
    allocation: Allocation | None
    allocations: list[Allocation]
    refusal: str | None


class LearnRule(Request, frozen=True, kw_only=True):
    """Whose lines to learn from: those with the counterparty of a bank transaction, or with a `matchKey`."""

    bank_transaction_id: Id | None = None
    match_key: Words | None = None
    direction: Direction | None = None
    name: Name | None = None
    mode: Mode = "propose"
    priority: Priority = 100
