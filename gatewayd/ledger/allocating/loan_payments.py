"""Payments of mortgages, split into interest and capital when they are entered (Domain C2). Reads only.

What was split stays as it is, whatever becomes of the loan: figures of a year do not change with a rate of the next.
A payment takes the oldest instalment that is not met (`amortising`). What no instalment takes is capital of a loan
that is repaid, and `other` of an interest-only one that has not come to its end, until somebody says what it was; the
`reason` of its part tells so.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gatewayd.ledger.allocating import lets
from gatewayd.ledger.allocating.allocation_shapes import Allocation, Part
from gatewayd.ledger.allocating.categories import NOT_PNL
from gatewayd.ledger.allocating.lets import LetMortgage, Place
from gatewayd.ledger.loans import amortising, loans
from gatewayd.ledger.loans.amortising import Borne, InterestEntered
from gatewayd.ledger.taxpayers import owners
from gatewayd.ledger.taxpayers.businesses import Business
from gatewayd.store import ReadTx

_SELECT_ENTERED = """
SELECT date, sum(CASE WHEN direction = 'out' THEN amount ELSE -amount END), interest_source FROM allocations
WHERE org_id = :org_id AND mortgage_id = :mortgage_id AND interest_source IS NOT NULL AND currency = :currency
GROUP BY date, interest_source ORDER BY date, interest_source
"""
_ROUNDING: Final = 100  # Chosen: a hundredth of a payment is how lenders round, and is not told

OVER_REPAID: Final = (
    "It is more than the instalments of the mortgage that were due, and was taken for capital: if it is not, say what"
    " it was, or correct the rate."
)
OVER_INTEREST: Final = (
    "It is more than the interest of the mortgage that was due, and an interest-only loan repays nothing before its"
    " end: say whether it was interest, loan_capital or something else, or correct the rate."
)


def is_payment(category: str, purpose: str | None) -> bool:
    """Whether it is to be split."""
    return category == NOT_PNL and purpose == "loan_payment"


def told(row: Allocation) -> Iterator[tuple[str, str]]:
    """The code and the message of what an allocation of a payment leaves open."""
    reason = row.reason or ""
    for code, message in (("loan_overpaid", OVER_REPAID), ("loan_payment_over", OVER_INTEREST)):
        if row.mortgage_id is not None and reason.endswith(message):
            yield code, message


class Paid(NamedTuple):
    """When something is paid, ISO, and in which currency; `before` is what is entered with it, of the same day."""

    date: str
    currency: str
    before: Sequence[Allocation]


def parts_of(tx: ReadTx, part: Part, paid: Paid, place: Place, business: Business | None) -> list[Part]:
    """The parts that a payment is split into; the part itself where it is no payment, or one that does not fit.

    Its amount and direction are known, and its names are filled.
    """
    mortgage, let = place.mortgage, place.property
    if not is_payment(part.category, part.purpose) or mortgage is None or let is None or business is None:
        return [part]
    amount = part.amount or 0
    bears = part.vat_code or part.vat_amount or part.disallowable_amount or part.wholly_disallowable
    fits = (let.id, paid.currency, part.direction) == (mortgage.property_id, mortgage.currency, "out")
    if not fits or amount <= 0 or bears:
        return [part]
    owner = owners.find(tx, business.legal_entity_id)
    assert owner is not None  # a foreign key
    borne = _borne(tx, mortgage, paid, amount)
    line = lets.interest_category(let, business.type, owner, part.document_date or paid.date)
    capital = part._replace(purpose="loan_capital", amount=borne.capital, disallowable_amount=None)
    parts = [
        part._replace(category=line, purpose=None, amount=borne.interest, interest_source="computed"),
        *_not_interest(capital, borne, amount),
    ]
    first, *others = [split for split in parts if split.amount]
    return [first, *(split._replace(external_id=None) for split in others)]


def _not_interest(capital: Part, borne: Borne, amount: int) -> list[Part]:
    """What of a payment is capital, and what is over of it."""
    if not borne.repays:
        return [capital, capital._replace(purpose="other", amount=borne.over, reason=OVER_INTEREST)]
    if borne.over * _ROUNDING <= amount:
        return [capital._replace(amount=borne.capital + borne.over)]
    return [capital, capital._replace(amount=borne.over, reason=OVER_REPAID)]


def _borne(tx: ReadTx, mortgage: LetMortgage, paid: Paid, amount: int) -> Borne:
    """What a payment bears, minor units of the mortgage's currency."""
    loan = loans.find(tx, mortgage.id)
    assert loan is not None  # the mortgage was found
    of_mortgage = {"mortgage_id": mortgage.id, "currency": mortgage.currency}
    entered = [
        InterestEntered(date, signed, source == "statement")
        for date, signed, source in tx.rows(_SELECT_ENTERED, **of_mortgage)
    ]
    before = (row for row in paid.before if row.interest_source is not None and row.mortgage_id == mortgage.id)
    entered += [InterestEntered(row.date, -row.signed, row.interest_source == "statement") for row in before]
    return amortising.borne(loan, sorted(entered), paid.date, amount)
