"""Rules that say what bank lines are for: when one fits, and what follows. Owns the table `allocation_rules`.

A rule proposes, or is applied by itself where its `mode` says so: to the lines of an import, and when it is asked to.
"""

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from gatewayd.contract.wire import AmountText, DecimalText, Id, Name, Part, Response, Timestamp
from gatewayd.errors import Problem
from gatewayd.ledger.allocating import allocation_shapes as shapes
from gatewayd.ledger.allocating import allocations
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Direction, Origin
from gatewayd.ledger.allocating.bank_lines import BankLine, LineType
from gatewayd.ledger.allocating.categories import Category, Purpose
from gatewayd.ledger.vat import vat_rates
from gatewayd.ledger.vat.vat_rates import AllocationVatCode
from gatewayd.money import exponent
from gatewayd.store import ReadTx, RemovableTable, WriteTx

MAX_PER_ORGANIZATION = 200  # Chosen: all of them are held against each line
Mode = Literal["propose", "apply"]
Words = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Percent = Annotated[DecimalText, Meta(description="A percentage.", examples=["25"])]


class RuleConditions(Part, frozen=True, kw_only=True):
    """When a rule fits a line: where all that is given is so. Null asks for nothing."""

    account_id: Id | None = None
    """The line is on this bank account."""
    direction: Direction | None = None
    """The money went this way."""
    text: Words | None = None
    """These words stand in the line's description, reference or name of the counterparty, in any letter case."""
    counterparty: Words | None = None
    """These words stand in the name of the counterparty, in any letter case."""
    reference: Words | None = None
    """These words stand in the reference, in any letter case."""
    match_key: Words | None = None
    """Who the line is with, exactly as `matchKey` of proposals has it, in lower case."""
    min_amount: AmountText | None = None
    """The amount without its sign is at least this, in the currency of the line."""
    max_amount: AmountText | None = None
    """The amount without its sign is at most this, in the currency of the line."""
    type: LineType | None = None
    """How the money moved."""


class RuleOutcome(Part, frozen=True, kw_only=True):
    """What a rule makes of a line."""

    category: Category
    """A line of the business's profit and loss account, or `not_pnl` with a `purpose`."""
    purpose: Purpose | None = None
    """What `not_pnl` money is; null for income and expenses. A `loan_payment` of a `mortgageId` is split into interest
    and capital."""
    business_id: Id | None = None
    """Whose income or expense it is. Null: the property's business, else the only one that the account names."""
    vat_code: AllocationVatCode | None = None
    """What VAT is in the amount, at the rate of the line's day. Null: `vatPercent` says it, or there is none."""
    vat_percent: Percent | None = None
    """The percentage of VAT that is in the amount, instead of a `vatCode`: 20 of 120.00 is 20.00. Null: none."""
    disallowable_percent: Percent | None = None
    """How much of the amount tax does not allow, in percent. Null: as it is for the category by default."""
    property_id: Id | None = None
    """The property that it is for; it follows from a unit, a tenancy or a mortgage. Null: none."""
    unit_id: Id | None = None
    """The unit that it is for; it follows from a tenancy. Null: none."""
    tenancy_id: Id | None = None
    """The tenancy that it is for, such as the one whose rent it pays. Null: none."""
    mortgage_id: Id | None = None
    """The mortgage whose payment, interest or capital it is. Null: none."""


class AllocationRule(Response, frozen=True, kw_only=True):
    """A rule that says what bank transactions are for."""

    id: Id
    external_id: str | None
    name: Name
    """What people call it; the reasons for its choices quote it."""
    mode: Mode
    """`propose`: it speaks in proposals; `apply`: it allocates imported lines by itself as well."""
    priority: int
    """Of the rules that fit a line the lowest decides, and of equal ones the oldest."""
    enabled: bool
    """False: it is kept, and does nothing until it is enabled."""
    conditions: RuleConditions
    """When it fits a line: where all that is given is so."""
    outcome: RuleOutcome
    """What it makes of a line."""
    learned_from: str | None
    """The choices that it follows, for people. Null: somebody wrote it."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class Applied(NamedTuple):
    """A line that a rule fits: the allocations it made, or why it could not."""

    line: BankLine
    rule: AllocationRule
    rows: list[Allocation]
    refusal: str | None


RULES = RemovableTable("allocation_rules", AllocationRule, kind="rule", prefix="rule")
_SELECT_IN_FORCE = f"{RULES.select} AND enabled = 1 ORDER BY priority, id LIMIT :count"
_COUNT = "SELECT count(id) FROM allocation_rules WHERE org_id = :org_id"


def in_force(tx: ReadTx) -> list[AllocationRule]:
    """The rules that are enabled, in the order in which they decide."""
    return [RULES.read(tx, row) for row in tx.rows(_SELECT_IN_FORCE, count=MAX_PER_ORGANIZATION)]


def apply_by_themselves(tx: ReadTx) -> bool:
    """Whether there are rules that apply without being asked."""
    return any(rule.mode == "apply" for rule in in_force(tx))


def add(tx: WriteTx, rule: AllocationRule) -> AllocationRule:
    """Store a new rule. Raises `Problem` `limit_reached`."""
    if int(tx.value(_COUNT)) >= MAX_PER_ORGANIZATION:
        raise Problem("limit_reached", f"An organization has at most {MAX_PER_ORGANIZATION} rules.")
    return RULES.insert(tx, rule)


def delete(tx: WriteTx, rule: AllocationRule) -> None:
    """Delete a rule; what it allocated stays, and names it still."""
    RULES.delete(tx, rule.id)


def apply_rules(tx: WriteTx, lines: Iterable[BankLine]) -> list[Applied]:
    """Apply the rules that apply by themselves to lines of which nothing is allocated; an import calls it.

    A line that a rule may not have, such as one of a closed period, stays as it is.
    """
    return apply(tx, lines, [rule for rule in in_force(tx) if rule.mode == "apply"])


def apply(
    tx: WriteTx, lines: Iterable[BankLine], rules: Sequence[AllocationRule], *, dry_run: bool = False
) -> list[Applied]:
    """Apply the first of `rules` that fits each line of which nothing is allocated. A dry run stores nothing."""
    act = allocations.planned if dry_run else allocations.allocate
    applied: list[Applied] = []
    for line in lines:
        rule = None if line.allocated else first_fit(rules, line)
        if rule is None:
            continue
        try:
            rows = act(tx, line, [part_of(rule.outcome, line)], Origin("rule", rule.id, reason(rule)))
        except Problem as problem:  # it raises before anything is stored
            applied.append(Applied(line, rule, [], problem.message))
        else:
            applied.append(Applied(line, rule, rows, None))
    return applied


def first_fit(rules: Sequence[AllocationRule], line: BankLine) -> AllocationRule | None:
    """The first of the rules that fits a line."""
    text = line.text  # once for all of them: it is most of the work
    return next((rule for rule in rules if _fits(rule.conditions, line, text)), None)


def _fits(conditions: RuleConditions, line: BankLine, text: str) -> bool:
    """Whether all that a rule asks for is so of a line, whose whole text is `text`."""
    wanted = (
        (conditions.account_id, line.account_id),
        (conditions.direction, line.direction),
        (conditions.type, line.type),
        (conditions.match_key, line.match_key),
    )
    return (
        all(want is None or want == its for want, its in wanted)
        and _contains(text, conditions.text)
        and _contains(line.counterparty_name, conditions.counterparty)
        and _contains(line.reference, conditions.reference)
        and _in_range(conditions, line)
    )


def _contains(text: str | None, words: str | None) -> bool:
    """Whether `words`, in any letter case, stand in `text`. No words stand everywhere."""
    return words is None or (text is not None and words.casefold() in text.casefold())


def reason(rule: AllocationRule) -> str:
    """Why a rule chose what it chose, for people."""
    return f'The rule "{rule.name}": {", ".join(_described(rule.conditions))}.'


def part_of(outcome: RuleOutcome, line: BankLine, signed: int | None = None) -> shapes.Part:
    """What an outcome makes of an amount of a line, signed minor units; None: of all that is left of it."""
    signed = line.unallocated if signed is None else signed
    amount, disallowable = abs(signed), outcome.disallowable_percent
    return shapes.Part(
        category=outcome.category,
        purpose=outcome.purpose,
        business_id=outcome.business_id,
        direction="in" if signed > 0 else "out",
        amount=amount,
        vat_code=outcome.vat_code,
        vat_amount=_vat(outcome, amount, line.date),
        disallowable_amount=None if disallowable is None else share(amount, Decimal(disallowable), Decimal(100)),
        property_id=outcome.property_id,
        unit_id=outcome.unit_id,
        tenancy_id=outcome.tenancy_id,
        mortgage_id=outcome.mortgage_id,
    )


def share(amount: int, part: Decimal, total: Decimal) -> int:
    """`amount * part / total` in whole minor units, half up."""
    return int((amount * part / total).quantize(Decimal(1), ROUND_HALF_UP))


def _vat(outcome: RuleOutcome, amount: int, date: str) -> int:
    if outcome.vat_code is not None:
        return vat_rates.vat_within(outcome.vat_code, amount, date) or 0
    percent = Decimal(outcome.vat_percent or 0)
    return share(amount, percent, 100 + percent)


def _in_range(conditions: RuleConditions, line: BankLine) -> bool:
    if conditions.min_amount is None and conditions.max_amount is None:
        return True
    amount = Decimal(abs(line.amount)).scaleb(-exponent(line.currency))
    least, most = conditions.min_amount, conditions.max_amount
    return (least is None or Decimal(least) <= amount) and (most is None or amount <= Decimal(most))


def _described(conditions: RuleConditions) -> Iterable[str]:
    if conditions.text is not None:
        yield f'the text contains "{conditions.text}"'
    if conditions.counterparty is not None:
        yield f'the counterparty contains "{conditions.counterparty}"'
    if conditions.reference is not None:
        yield f'the reference contains "{conditions.reference}"'
    if conditions.match_key is not None:
        yield f"it is with {conditions.match_key.upper()}"
    if conditions.direction is not None:
        yield "money came in" if conditions.direction == "in" else "money went out"
    if conditions.type is not None:
        yield f"it is a {conditions.type.replace('_', ' ')}"
    if conditions.account_id is not None:
        yield "it is on that account"
    if conditions.min_amount is not None:
        yield f"at least {conditions.min_amount}"
    if conditions.max_amount is not None:
        yield f"at most {conditions.max_amount}"
