"""Proposals for bank transactions of which something is unallocated: what they probably are, and the operation.

They follow from rules, past choices, open invoices and bills, rents and the other ends of transfers. Of each of them no
more than a fixed number is looked at, so that a line costs no more in large books.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from gatewayd.areas.banking.allocations import history
from gatewayd.areas.banking.allocations.history import Choice, Habit
from gatewayd.areas.banking.proposals import invoices, transfers
from gatewayd.areas.banking.proposals.invoices import OpenInvoice
from gatewayd.areas.banking.proposals.rents import Rents
from gatewayd.areas.banking.proposals.shapes import (
    ListProposals,
    Proposal,
    ProposalKind,
    ProposedAllocation,
    ProposedFor,
    ProposedPart,
)
from gatewayd.areas.banking.proposals.transfers import Account, Exchanges
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, cursor_key, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.allocating import allocation_rules, bank_lines, lets
from gatewayd.ledger.allocating.allocation_rules import AllocationRule, RuleOutcome, part_of
from gatewayd.ledger.allocating.allocation_shapes import Direction, Part
from gatewayd.ledger.allocating.bank_lines import BankLine, Position
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.ledger.taxpayers import businesses
from gatewayd.money import Money
from gatewayd.store import ReadTx

MOST_PER_LINE = 5  # Chosen: nobody reads the sixth
_BY_RULE = 95


class _Draft(NamedTuple):
    """A proposal before it is shown. `amount` None: all that is left of the line."""

    kind: ProposalKind
    score: int
    reason: str
    amount: Money | None = None
    rule_id: str | None = None
    allocation: ProposedAllocation | None = None
    parts: list[ProposedPart] | None = None
    invoice_id: str | None = None
    bill_id: str | None = None
    counterpart_id: str | None = None
    counterpart_amount: Money | None = None
    implied_rate: str | None = None


def list_proposals(tx: ReadTx, caller: Caller, request: ListProposals) -> Listing[ProposedFor]:
    """List bank transactions of which something is unallocated, with what they probably are.

    Proposals follow from a rule, from what was chosen for such lines before, from an open invoice or bill, from the
    rent of a tenancy, or from the other end of a transfer. Each has a score and a reason, and nothing is done by
    itself. The lines are those of an account, latest first, or the one that is named.
    """
    lines, cursor = _requested_lines(tx, request)
    proposer = Proposer(tx)
    return Listing.of([encode(proposer.proposed_for(line)) for line in lines], cursor)


def _requested_lines(tx: ReadTx, request: ListProposals) -> tuple[list[BankLine], str | None]:
    key = cursor_key(request, str, str) or (LAST_DATE, MAX_KEY)
    if (request.account_id is None) == (request.bank_transaction_id is None):
        raise invalid_field("accountId", "required", "Give either `accountId` or `bankTransactionId`.")
    if request.account_id is None:
        line = bank_lines.find(tx, request.bank_transaction_id or "")
        if line is None:
            raise invalid(unknown_reference("bankTransactionId", "bank_transaction"))
        return ([line] if line.unallocated and line.status == "booked" else []), None
    errors = list(references.unknown(tx, [Reference("accountId", "bank_account", request.account_id)]))
    if errors:
        raise invalid(*errors)
    before = Position(request.account_id, *map(str, key))
    latest = bank_lines.latest_unallocated(tx, before, request.limit + 1)
    lines = latest[: request.limit]
    return lines, next_cursor(request, (lines[-1].date, lines[-1].id)) if len(latest) > request.limit else None


class Proposer:
    """Says what bank lines probably are. For all lines of one answer it looks everything up once."""

    def __init__(self, tx: ReadTx) -> None:
        self._tx = tx
        self._rules: list[AllocationRule] | None = None
        self._invoices: list[OpenInvoice] | None = None
        self._bills: list[OpenInvoice] | None = None
        self._choices: dict[tuple[str, Direction], Choice | None] = {}
        self._habits: dict[tuple[str, Direction], Habit | None] = {}
        self._accounts: dict[str, list[Account]] = {}
        self._rents = Rents(tx)
        self._exchanges = Exchanges(tx)

    def proposed_for(self, line: BankLine) -> ProposedFor:
        """A line with what it probably is."""
        known = (self._by_rule, self._by_history, self._by_split)
        expected = (self._by_invoice, self._by_bill, self._by_rent, self._by_transfer, self._by_exchange)
        proposals = [proposal for way in (*known, *expected) for proposal in way(line)]
        proposals.sort(key=lambda proposal: -proposal.score)
        return ProposedFor(
            bank_transaction_id=line.id,
            account_id=line.account_id,
            date=line.date,
            description=line.description,
            match_key=line.match_key,
            unallocated_amount=Money(line.unallocated, line.currency),
            currency=line.currency,
            proposals=[_proposal(line, proposal) for proposal in proposals[:MOST_PER_LINE]],
        )

    def _by_rule(self, line: BankLine) -> Iterator[_Draft]:
        if self._rules is None:
            self._rules = allocation_rules.in_force(self._tx)
        rule = allocation_rules.first_fit(self._rules, line)
        outcome = None if rule is None else self._filled(rule.outcome)
        if rule is not None and outcome is not None and self._may(line, outcome):
            yield _Draft(
                kind="rule",
                score=_BY_RULE,
                reason=allocation_rules.reason(rule),
                rule_id=rule.id,
                allocation=_allocation(line, outcome),
            )

    def _by_history(self, line: BankLine) -> Iterator[_Draft]:
        key = (line.match_key, line.direction)
        if key not in self._choices:
            self._choices[key] = history.choice_for(self._tx, *key)
        choice = self._choices[key]
        if choice is not None and self._may(line, choice.outcome):
            yield _Draft(
                kind="history",
                score=100 * choice.times // (choice.lines + 1),
                reason=f"{choice.described(line.match_key)}.",
                allocation=_allocation(line, choice.outcome),
            )

    def _by_split(self, line: BankLine) -> Iterator[_Draft]:
        if line.allocated:
            return
        key = (line.match_key, line.direction)
        if key not in self._habits:
            self._habits[key] = history.habit_for(self._tx, *key)
        habit = self._habits[key]
        parts = [] if habit is None else habit.parts_of(line.amount)
        if habit is not None and parts and all(self._may(line, part.outcome) for part in parts):
            yield _Draft(
                kind="split",
                score=100 * habit.times // (habit.lines + 1),
                reason=f"{habit.described(line.match_key)}.",
                parts=[_part(line, *part) for part in parts],
            )

    def _by_invoice(self, line: BankLine) -> Iterator[_Draft]:
        if line.amount < 0:
            return
        if self._invoices is None:
            self._invoices = invoices.latest(self._tx)
        candidates = {invoice.id: invoice for invoice in self._invoices}
        candidates |= {invoice.id: invoice for invoice in invoices.of_balance(self._tx, line.rest)}
        for invoice in candidates.values():
            match = invoices.match(line, invoice)
            if match is not None:
                yield _Draft(
                    kind="invoice",
                    score=match.score,
                    reason=match.reason,
                    amount=match.amount,
                    invoice_id=invoice.id,
                )

    def _by_bill(self, line: BankLine) -> Iterator[_Draft]:
        if line.amount > 0:
            return
        if self._bills is None:
            self._bills = invoices.latest_bills(self._tx)
        candidates = {bill.id: bill for bill in self._bills}
        candidates |= {bill.id: bill for bill in invoices.bills_of_balance(self._tx, line.rest)}
        for bill in candidates.values():
            match = invoices.match(line, bill)
            if match is not None:
                yield _Draft("bill", match.score, match.reason, amount=match.amount, bill_id=bill.id)

    def _by_rent(self, line: BankLine) -> Iterator[_Draft]:
        for match in self._rents.matches(line):
            yield _Draft("rent", match.score, match.reason, allocation=_allocation(line, match.outcome))

    def _by_transfer(self, line: BankLine) -> Iterator[_Draft]:
        if line.currency not in self._accounts:
            self._accounts[line.currency] = transfers.accounts_in(self._tx, line.currency)
        for match in transfers.matches(self._tx, line, self._accounts[line.currency]):
            yield _Draft("transfer", match.score, match.reason, counterpart_id=match.counterpart.id)

    def _by_exchange(self, line: BankLine) -> Iterator[_Draft]:
        for match in self._exchanges.matches(line):
            yield _Draft(
                kind="transfer",
                score=match.score,
                reason=match.reason,
                counterpart_id=match.counterpart.id,
                counterpart_amount=match.counterpart.rest,
                implied_rate=transfers.implied_rate(line, match.counterpart),
            )

    def _filled(self, outcome: RuleOutcome) -> RuleOutcome:
        """The outcome with the property, unit and business that follow from what it names."""
        return replace(outcome, **lets.place_of(self._tx, outcome).filled(outcome))

    def _may(self, line: BankLine, outcome: RuleOutcome) -> bool:
        """Whether the line could be allocated so: to a business of the account's owner, and to nothing archived."""
        let = None if outcome.property_id is None else lets.find(self._tx, outcome.property_id)
        if let is not None and let.archived:
            return False
        if outcome.business_id is None:
            return outcome.category == "not_pnl" or len(line.business_ids) == 1
        business = businesses.find(self._tx, outcome.business_id)
        if business is None or business.archived:
            return False
        return line.legal_entity_id in (None, business.legal_entity_id)


def _proposal(line: BankLine, proposal: _Draft) -> Proposal:
    return Proposal(
        kind=proposal.kind,
        score=proposal.score,
        reason=proposal.reason,
        amount=proposal.amount or line.rest,
        currency=line.currency,
        rule_id=proposal.rule_id,
        allocation=proposal.allocation,
        parts=proposal.parts,
        invoice_id=proposal.invoice_id,
        bill_id=proposal.bill_id,
        counterpart_id=proposal.counterpart_id,
        counterpart_amount=proposal.counterpart_amount,
        counterpart_currency=None if proposal.counterpart_amount is None else proposal.counterpart_amount.currency,
        implied_rate=proposal.implied_rate,
    )


def _allocation(line: BankLine, outcome: RuleOutcome) -> ProposedAllocation:
    return ProposedAllocation(**_members(line, part_of(outcome, line)))


def _part(line: BankLine, signed: int, outcome: RuleOutcome) -> ProposedPart:
    part = part_of(outcome, line, signed)
    direction = part.direction or line.direction
    return ProposedPart(**_members(line, part), direction=direction, amount=Money(abs(signed), line.currency))


def _members(line: BankLine, part: Part) -> dict[str, Any]:
    """The members of a proposed part, without its amount and direction."""
    business_id = part.business_id
    if business_id is None and part.category != "not_pnl":
        (business_id,) = line.business_ids
    disallowable = part.disallowable_amount
    return {
        "category": part.category,
        "purpose": part.purpose,
        "business_id": business_id,
        "vat_code": part.vat_code,
        "vat_amount": Money(part.vat_amount or 0, line.currency),
        "disallowable_amount": None if disallowable is None else Money(disallowable, line.currency),
        "property_id": part.property_id,
        "unit_id": part.unit_id,
        "tenancy_id": part.tenancy_id,
        "mortgage_id": part.mortgage_id,
    }


OPERATIONS = (
    Operation(
        id="banking.listProposals",
        kind="read",
        method="GET",
        path="/allocations/proposals",
        scopes=("accounting:read",),
        request=ListProposals,
        response=Page[ProposedFor],
        handler=list_proposals,
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000a", "limit": 20},
    ),
)
